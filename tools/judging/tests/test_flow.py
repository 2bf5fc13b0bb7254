"""What follows from what in PTX."""

from __future__ import annotations

import pytest

from tools.judging import flow, form

pytestmark = pytest.mark.all

HEAD = ".visible .entry k(\n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"


def code(*lines: str) -> str:
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


CLOCK = "mov.u64 %rd1, %globaltimer;"


@pytest.mark.parametrize(
    ("lines", "uses"),
    [
        ([CLOCK], []),  # and nothing comes of it
        ([CLOCK, "nanosleep.u32 %r1;"], ["sleep"]),
        ([CLOCK, "cvt.u32.u64 %r1, %rd1;", "nanosleep.u32 %r1;"], []),
        ([CLOCK, "cvt.u32.u64 %r1, %rd1;", "add.u32 %r2, %r1, 1;", "st.global.u32 [%rd2], %r2;"],
         ["clock"]),
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "@%p1 st.global.u32 [%rd2], 1;"], ["clock"]),
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "selp.u32 %r1, 1, 2, %p1;", "bar.sync %r1;"],
         ["clock"]),
        # A branch that both ways come back from, to sleep or not.
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "@%p1 bra L;", "mov.u32 %r1, 7;",
          "nanosleep.u32 %r1;", "L:", "st.global.u32 [%rd2], 1;"], []),
        # What is set on one way alone has the clock in it.
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "@%p1 bra L;", "mov.u32 %r1, 7;",
          "L:", "st.global.u32 [%rd2], %r1;"], ["clock"]),
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "@%p1 bra L;", "bar.sync 0;", "L:"], ["clock"]),
        ([CLOCK, "setp.gt.u64 %p1, %rd1, 9;", "@%p1 ret;", "bar.sync 0;"], ["clock"]),
        # A loop that only time ends.
        (["L:", CLOCK, "setp.lt.u64 %p1, %rd1, 9;", "@%p1 bra L;"], ["clock"]),
        # The same without a clock; and a sleep that no loop of that kind needs.
        (["L:", "ld.volatile.u32 %r2, [%rd2];", "setp.ne.u32 %p1, %r2, 0;", "@%p1 bra E;",
          "nanosleep.u32 20;", "bra L;", "E:"], []),
        (["ld.volatile.u32 %r2, [%rd2];", "setp.ne.u32 %p1, %r2, 0;", "@%p1 bra E;",
          "nanosleep.u32 20;", "E:"], ["sleep"]),
        (["L:", "nanosleep.u32 20;", "setp.ne.u32 %p1, %r1, 0;", "@%p1 bra L;",
          "ld.global.u32 %r2, [%rd2];"], ["sleep"]),
        # A loop that looks at memory, and sleeps meanwhile.
        (["L:", CLOCK, "cvt.u32.u64 %r1, %rd1;", "nanosleep.u32 %r1;",
          "ld.volatile.u32 %r2, [%rd2];", "setp.eq.u32 %p1, %r2, 0;", "@%p1 bra L;"], []),
        # In an assembly block's own registers, and in a vector.
        (["{ .reg .u64 c; mov.u64 c, %clock64; mov.b64 {%r1, %r2}, c; }",
          "st.global.u32 [%rd2], %r2;"], ["clock"]),
        (["{ .reg .u64 c; mov.u64 c, %clock64; }", "{ .reg .u64 c; mov.u64 c, 1;",
          "st.global.u64 [%rd2], c; }"], []),
        (["call (%r1), f, (%rd1);", CLOCK], ["clock"]),
        (["st.shared.u64 [%r1], %rd1;", CLOCK], ["clock"]),
    ],
)  # fmt: skip
def test_clocks(lines: list[str], uses: list[str]) -> None:
    assert [what for _line, what in flow.clock_uses(code(*lines))] == uses


def test_a_clock_where_nothing_is_followed_is_refused() -> None:
    assert list(flow.clock_uses(f"{CLOCK}\n")) == [(0, "clock")]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r2, [%rd1+4];"], 0),
        (["ld.global.u32 %r1, [%rd1];", "cvt.u64.u32 %rd2, %r1;", "ld.global.u32 %r2, [%rd2];"], 1),
        (["L:", "ld.global.u64 %rd1, [%rd1];", "@%p1 bra L;"], 1),
        (["ld.global.u32 %r1, [%rd1];", "setp.eq.u32 %p1, %r1, 0;", "@%p1 bra L;",
          "ld.global.u32 %r2, [%rd1+4];", "L:", "ld.global.u32 %r3, [%rd1+8];"], 1),
        (["ld.global.u32 %r1, [%rd1];", "setp.eq.u32 %p1, %r1, 0;",
          "@%p1 ld.global.u32 %r2, [%rd1+4];"], 1),
        (["ld.global.u32 %r1, [%rd1];", "st.shared.u32 [%r9], %r1;", "ld.shared.u32 %r2, [%r9];",
          "cvt.u64.u32 %rd2, %r2;", "ld.global.u32 %r3, [%rd2];"], 1),
        (["ld.param.u64 %rd1, [k_param_0];", "ld.global.u32 %r1, [%rd1];"], 0),
        (["cp.async.ca.shared.global [%r1], [%rd1], 4;", "ld.shared.u64 %rd2, [%r1];",
          "ld.global.u32 %r2, [%rd2];"], 1),
    ],
)  # fmt: skip
def test_dependent_loads(lines: list[str], count: int) -> None:
    assert flow.dependent_loads(code(*lines)) == count


@pytest.mark.parametrize(
    ("lines", "alone"),
    [
        (["mbarrier.init.shared.b64 [%r1], %r2;", "atom.shared.add.u32 %r3, [%r4], 1;"], True),
        (["atom.shared.add.u32 %r3, [%r4], 1;"], False),
        (["mbarrier.init.shared.b64 [%r1], %r2;", "ld.global.u32 %r5, [%rd1];",
          "red.shared.add.u32 [%r4], %r5;"], False),
        (["mbarrier.init.shared.b64 [%r1], %r2;", "cp.async.ca.shared.global [%r1], [%rd1], 4;",
          "ld.shared.u32 %r5, [%r1];", "red.shared.add.u32 [%r4], %r5;"], False),
    ],
)  # fmt: skip
def test_atomics_of_a_pipeline(lines: list[str], alone: bool) -> None:
    assert form.counts_in_pipelines(code(*lines), "k") == alone


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("membar.sys;", 0),
        ("membar.gl;", 1),
        ("fence.acq_rel.sys;", 0),
        ("fence.acq_rel.gpu;", 1),
        ("fence.sc.cta;", 1),
        ("st.release.sys.global.u32 [%rd1], %r1;", 0),
        ("st.release.gpu.global.u32 [%rd1], %r1;", 1),
        ("ld.acquire.sys.u32 %r1, [%rd1];", 0),
        ("ld.relaxed.cluster.u32 %r1, [%rd1];", 1),
        ("ld.volatile.global.u32 %r1, [%rd1];", 0),
        ("ld.acquire.cta.shared.u32 %r1, [%r2];", 0),
        ("ld.shared::cluster.u32 %r1, [%r2];", 0),
        ("atom.global.add.u32 %r1, [%rd1], 1;", 1),
        ("red.relaxed.sys.global.add.u32 [%rd1], 1;", 0),
        ("atom.shared.add.u32 %r1, [%r2], 1;", 0),
        ("bar.warp.sync -1;", 0),
    ],
)
def test_what_reaches_no_other_gpu(line: str, near: int) -> None:
    assert form.below_system_scope(code(line), "k") == near


def test_where_ways_meet() -> None:
    ways = "@%p1 bra A;", "mov.u32 %r1, 1;", "bra B;", "A:", "mov.u32 %r1, 2;", "B:", "bar.sync 0;"
    (function,) = flow.functions(code(*ways))
    said = " ".join(step.op for step in function.steps)
    assert said == "bra mov.u32 bra mov.u32 bar.sync ret"
    assert function.decided_by(0) == {1, 2, 3}
    (endless,) = flow.functions(code("L:", "@%p1 bra L;", "bra L;"))
    assert endless.decided_by(0) >= {0, 1}
