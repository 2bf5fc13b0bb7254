"""The pieces of tools/measure that read other programs' words, and its progress bar."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import files
from tools.measuring import embedded, plan, profilers, programs, set_files
from tools.measuring.programs import Program, Variant
from tools.measuring.provenance import Source
from tools.measuring.steps import Estimate, Progress, Step, duration

pytestmark = pytest.mark.all


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("smem(const int *, int *, unsigned long)", "smem"),
        ("chapter02::smem(const int *, int *, unsigned long)", "smem"),
        ("chapter02::legacy::smem_classic(int *)", "smem_classic"),
        ("void chapter05::unroll<4>(const int *, int *)", "unroll<4>"),
        ("void chapter05::unroll<(unsigned int)16>(const int *, int *)", "unroll<16>"),
        ("(anonymous namespace)::spin(long)", "spin"),
        ("void a::f<b::c::d<int>::e, (anonymous namespace)::g>(b::h *)", "f<d<int>::e, g>"),
        ("smem", "smem"),
        ("void f<std::pair<int, g(int)>>(int)", "f<pair<int, g>>"),
    ],
)
def test_kernel_names(demangled: str, name: str) -> None:
    assert profilers.kernel_name(demangled) == name


def test_no_table_is_no_launch() -> None:
    assert (
        profilers.ncu_launches("==PROF== Connected\n==WARNING== No kernels were profiled.\n") == []
    )


RACES = "========= RACECHECK SUMMARY: "


@pytest.mark.parametrize(
    ("tool", "text", "status", "findings"),
    [
        ("memcheck", "========= ERROR SUMMARY: 0 errors", 0, 0),
        ("memcheck", "========= ERROR SUMMARY: 1 error", 4, 1),
        # A wrong sum is the program's own finding: the tool still did its work.
        ("memcheck", "========= ERROR SUMMARY: 0 errors", 1, 0),
        # The limit's second line counts what was not printed; it isn't a total.
        (
            "memcheck",
            "========= ERROR SUMMARY: 137 errors\n========= ERROR SUMMARY: 37 errors were not "
            "printed. Use --print-limit option to adjust the number of printed errors",
            4,
            137,
        ),
        ("racecheck", RACES + "0 hazards displayed (0 errors, 0 warnings)", 0, 0),
        ("racecheck", RACES + "1 hazard displayed (0 errors, 1 warning)", 0, 1),
        ("racecheck", RACES + "100 hazards displayed (0 errors, 1037 warnings)", 0, 1037),
        # None of these is clean.
        ("memcheck", "", 0, None),
        ("memcheck", "without a summary", 0, None),
        ("racecheck", "========= ERROR SUMMARY: 0 errors", 0, None),
        ("memcheck", "========= ERROR SUMMARY: 0 errors", 2, None),
        ("memcheck", "========= ERROR SUMMARY: 0 errors", 77, None),
        ("memcheck", "========= ERROR SUMMARY: 0 errors", -9, None),
        (
            "memcheck",
            "========= Error: Device not supported\n========= ERROR SUMMARY: 1 error",
            3,
            None,
        ),
    ],
)
def test_sanitizer_verdicts(tool: str, text: str, status: int, findings: int | None) -> None:
    assert profilers.sanitizer_verdict(tool, text, status)[0] == findings


def test_messages_are_few_distinct_and_without_folders() -> None:
    lines = [
        f"========= Invalid read {k % 7} in /home/me/x y/kernels.cuh:{k % 7}" for k in range(20)
    ]
    lines += ["=========     by thread (0,0,0)", "========= ERROR SUMMARY: 20 errors"]
    findings, messages = profilers.sanitizer_verdict("memcheck", "\n".join(lines), 4)
    assert findings == 20 and len(messages) == 5
    assert messages[0].startswith("Invalid read 0 in ") and "/home" not in "".join(messages)


def variant(name: str, region: str, **more: Any) -> Variant:
    settings: dict[str, Any] = {
        **{
            "legacy": False,
            "findings": (),
            "counters": "exact",
            "compared": True,
            "profiled": True,
        },
        **{"low": 1, "high": 1024, "powers_of_two": False, "multiple_of": 1},
        **{"counted": ((2**24, 256),), "checked": (1_048_573, 256)},
    }
    return Variant(name=name, region=region, **settings | more)


def test_of_a_swept_kernel_one_is_checked() -> None:
    swept = [variant(f"stride{s}", "load", params={"stride": s}) for s in (1, 2, 4)]
    others = [
        variant("plain", "load"),  # no parameter: another way to launch it
        variant("also", "load"),
        variant("offset1", "load", params={"offset": 1}),
        variant("found", "load", params={"stride": 8}, findings=("memcheck",)),
        variant("faulty", "load", params={"stride": 9}, legacy=True),
        variant("stores", "store", params={"stride": 2}),
    ]
    assert plan.without_twins([*swept, *others]) == [swept[0], *others]


def test_a_variant_that_is_not_checked_hides_no_twin() -> None:
    alone = variant("alone", "store", params={"gpus": 1}, profiled=False)
    program = Program(
        "chapter01_one", Path("run"), "", (alone, variant("pair", "store", params={"gpus": 2}))
    )
    steps = plan.Plan(
        [program], Source(None), Path(), None, plan.Tool("sanitizer", "1")
    ).sanitizers()
    assert {step.variant.name for step in steps} == {"pair"}


def test_a_chapter_is_measured_at_every_shape_of_its_variants() -> None:
    def kinds(repeat: int, *variants: Variant) -> list[str]:
        return list(Program("chapter01_one", Path("run"), "", variants).invocations(repeat))

    along_n, along_both = {"n": (2**28,)}, {"block": (32, 64), "n": (2**10, 2**11)}
    swept = variant("stride2", "load", axes={"stride": (1, 2)})
    for repeat in (0, 1):
        assert kinds(repeat, swept) == ["default"], "another axis is one of variants"
        legacy = variant("c", "c", axes=along_both, legacy=True)
        assert kinds(repeat, swept, legacy) == ["default"]
    for axes in (along_n, along_both):
        both = swept, variant("a", "a", axes=axes)
        assert kinds(0, *both) == ["default", "sweep-rest"], "its text is kept"
        assert kinds(1, *both) == kinds(2, *both) == ["sweep-all"]


def test_the_blocks_that_a_variant_takes() -> None:
    def taken(**blocks: Any) -> list[int]:
        return [b for b in range(1025) if variant("a", "a", **blocks).takes(b)]

    assert taken() == list(range(1, 1025))
    assert taken(high=1) == [1]
    assert taken(low=64, powers_of_two=True) == [64, 128, 256, 512, 1024]
    assert taken(multiple_of=256) == [256, 512, 768, 1024]


def test_durations() -> None:
    assert [duration(s) for s in (0.04, 9.94, 59.4, 59.6, 125)] == [
        "0.0 s",
        "9.9 s",
        "59 s",
        "1 min 00 s",
        "2 min 05 s",
    ]


def step(name: str, *alike: str) -> Step:
    return Step(name, name, "", alike, lambda: {})


def test_time_left_comes_from_the_steps_most_alike() -> None:
    estimate = Estimate()
    assert estimate.of([step("a", "x")]) is None
    estimate.learn(step("a", "one default", "default"), 2)
    estimate.learn(step("b", "two default", "default"), 4)
    estimate.learn(step("c", "one sweep", "sweep"), 30)
    assert estimate.of([step("d", "one default", "default")]) == 2
    assert estimate.of([step("d", "three default", "default")]) == 3
    assert estimate.of([step("d", "one ncu", "ncu")]) == 12
    assert estimate.of([step("d", "one default"), step("e", "two default")]) == 6


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    terminal, plain = Terminal(), io.StringIO()
    for out in (terminal, plain):
        progress = Progress(out)
        progress.show(6, 12, "chapter01_one --sweep n", 65)
        progress.step(7, 12, "chapter01_one --sweep n", 1.25, 65)
        progress.clear()
    shown = terminal.getvalue().split("\x1b[K")[1]
    assert (
        shown.startswith("██████████░░░░░░░░░░ 6/12 chapter01_one")
        and len(shown.rstrip("\r")) == 49
    )
    assert plain.getvalue() == "[7/12] chapter01_one --sweep n: 1.2 s, 1 min 05 s left\n"


def test_all_files_of_a_set_are_replaced_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / ".partial"
    set_files.publish(tmp_path, work, {"a.json": b"old", "b.json": b"old"})

    def full_after_a(path: Path, content: bytes) -> None:
        if path.name != "a.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        files.write_whole(path, content)

    monkeypatch.setattr(set_files, "write_whole", full_after_a)
    with pytest.raises(OSError, match="No space"):
        set_files.publish(tmp_path, work, {"a.json": b"new", "b.json": b"new"})
    assert [(tmp_path / name).read_text() for name in ("a.json", "b.json")] == ["old", "old"]
    monkeypatch.undo()
    set_files.publish(tmp_path, work, {"a.json": b"new", "b.json": b"new"})
    assert [(tmp_path / name).read_text() for name in ("a.json", "b.json")] == ["new", "new"]


def test_a_measuring_machine_needs_the_standard_library_alone() -> None:
    """-S leaves out all that is installed."""
    path = "import sys; sys.path.insert(0, sys.argv[1]); "
    for module in ("measure", "notices"):
        code = f"{path}import tools.measuring.{module}"
        root = str(Path(__file__).resolve().parents[2])
        done = subprocess.run(
            [sys.executable, "-ISB", "-c", code, root], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_program_built_twice_is_the_same(tmp_path: Path) -> None:
    """nvcc names its passes' files after its process, and the table of symbols has those names."""

    def loaded(name: str, code: str, *options: str) -> bytes:
        source, program = tmp_path / name, tmp_path / "program"
        source.write_text(code)
        subprocess.run(["g++", *options, "-o", program, source], check=True)
        assert name.encode() in program.read_bytes()
        return programs._loaded(program.read_bytes())

    once = loaded("tmpxft_00001a2b.cpp", "int main() { return 1; }")
    assert len(once) > 1000
    assert loaded("tmpxft_00001a2c.cpp", "int main() { return 1; }") == once
    assert loaded("tmpxft_00001a2b.cpp", "int main() { return 2; }") != once
    assert programs._loaded(b"#!/bin/sh\n") == b"#!/bin/sh\n"


def test_the_embedded_device_counts_what_a_cpu_can() -> None:
    shapes = ((2**24, 256), (2**20, 256), (2**24, 128), (2**28, 128))
    counted = variant("plain", "load", counted=shapes)
    assert embedded.all_shapes(counted) == list(shapes[:3])
    assert embedded.shapes_shown(counted) == list(shapes[:2]), "each n once"
