"""tools/emulate --check sum: right sums are proved, each planted fault is named as it is, and what
isn't a sum is described and not accused.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[2] / "emulate"
SOURCES = Path(__file__).parent / "sums"


def lines_marked(name: str) -> dict[str, str]:
    """The lines of a program that comments name."""
    source = SOURCES / f"{name}.cu"
    return {
        mark: f"{source.name}:{number}"
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1)
        for mark in re.findall(r"// @(\w+)$", line)
    }


def built(name: str, folder: Path) -> Path:
    options = ["-std=c++20", "-lineinfo", "-cudart", "shared", "-arch=compute_90"]
    command = [nvcc(), *options, "-o", folder / name, SOURCES / f"{name}.cu"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / name


MARKS = lines_marked("sums")

ALL = "each of {} elements is in {} once, for all data"
#: By case: what is said of it, and lines of what is said beside that.
RIGHT = {
    "right": (ALL.format(1000, "them"), "each is the sum of 104 to 128 elements; at most 7 add"),
    "shuffled": (ALL.format(1000, "it"), "at most 36 additions one after another"),
    "reduced": (ALL.format(1000, "it"), "modulo the range of the type"),
    "floats": ("in them 0.5 times, for all data", "added in this order; how they round is"),
    "gathered": (ALL.format(1000, "it"), "inlined at {gathered} (PTX line "),
    "products": (ALL.format(1000, "it"), "each times an element of argument 2 at sums.cu:"),
    "squares": (ALL.format(1000, "it"), "not the elements themselves, but what is made of each"),
    "absolute_values": (ALL.format(1000, "it"), "but what is made of each at sums.cu:"),
    "negative": ("each of 1000 elements is subtracted, for all data", "proved"),
    "narrowed": (ALL.format(1000, "it"), "at most 999 additions one after another"),
    "positive": ("in it once, in this run", "what {positive} (PTX line "),
    "swapped": ("in it once, in this run", "what device_atomic_functions.hpp:"),
    "rows": (ALL.format(1000, "them"), "with what is in argument 2"),
    "bytes": (ALL.format(4000, "it"), "proved"),
    "dotted": (ALL.format(4000, "it"), "proved"),
    "staged": (ALL.format(1000, "them"), "proved"),
    "waited": (ALL.format(1000, "them"), "the order in which blocks ran here"),
    "sent": (ALL.format(1000, "them"), "the order in which blocks ran here"),
    "last_block": (ALL.format(4000, "it"), "the order in which blocks ran here, which {last} "),
    "fence_and_volatile": (ALL.format(1000, "it"), "the order in which blocks ran here"),
    "made_there": (ALL.format(1000, "them"), "proved"),
    "managed": (ALL.format(1000, "them"), "proved"),
    "copied_first": ("sums of cudaMalloc number ", "proved"),
    "room_behind": (ALL.format(1000, "them"), "proved"),
    "fewer": (ALL.format(300, "them"), "proved"),
}
#: By case: the fault, and what is said of where it is.
FAULTS = {
    "lost_tail": ("elements 896 … 999 are missing", "no thread reads them"),
    "last_element": ("element 999 is missing", "no thread reads it"),
    "twice": ("elements 128, 256 … 896 are in it twice", "in argument 2[0, 1]"),
    "reduced_again": ("elements 32 … 63 are in it twice", "inlined at {again} (PTX line "),
    "sign": ("elements 1, 3 … 999 are subtracted", "turned round at {sign} (PTX line "),
    "wrong_tree": (
        "elements 64 … 127, 192 … 255, 320 … 383, 448 … 511 and 232 others are missing",
        "elements 64 … 127: last seen in tile[64 … 127] of block (0, 0, 0), put there at {put} ",
    ),
    "overwritten": (
        "elements 96 … 127, 224 … 255, 352 … 383, 480 … 511 and 104 others are missing",
        "elements 224 … 255: last seen in tile[96 … 127] of block (1, 0, 0), put there at {put} ",
        ", overwritten at {overwritten} (PTX line ",
    ),
    "sent_unawaited": (
        "elements 128 … 255, 384 … 511, 640 … 767, 896 … 999 are missing",
        "elements 128 … 255: read at {sent} (PTX line ",
        ", and not used after that",
    ),
    "doubled": ("elements 128 … 999 are in it twice", "in argument 2[0], made of argument 1"),
    "doubled_mean": ("elements 128 … 999 are in it twice", "in argument 2[0], made of argument 1"),
    "without_a_byte": ("element 501 is missing", "element 501: no thread reads it"),
    "without_a_short": ("element 501 is missing", "element 501: no thread reads it"),
    "without_a_half": ("element 501 is missing", "element 501: no thread reads it"),
    "products_short": ("element 501 is missing", "element 501: no thread reads it"),
    "squares_short": ("element 501 is missing", "element 501: no thread reads it"),
    "shuffled_short": ("elements 1, 3 … 63 are missing", "last added at {shuffled} (PTX line "),
}
#: What else kernels do, and what is said of it.
OTHERS = {
    "copy": "argument 2[0 … 999] are elements of argument 1, not sums",
    "stencil": "argument 2[1 … 998] are made of elements of argument 1, many of which are in",
    "scanned": "argument 2[64 … 127] are made of elements of argument 1, many of which are in",
    "weighted": "is a sum of elements of argument 1 with different weights",
    "in_bytes": "1 value of argument 2 that the host reads isn't made of its data by additions "
    "alone",
    "least_of_17": "argument 2[0] is an element of argument 1, not sums",
    "largest": "1 value of argument 2 that the host reads isn't made of its data by additions "
    "alone",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sums", tmp_path_factory.mktemp("sums"))


def run(
    program: Path, folder: Path, *cases: str, checks: str = "sum"
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    file = folder / "findings.json"
    done = subprocess.run(
        [EMULATE, "--check", checks, "--findings", file, program, *cases],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_every_case_is_expected(program: Path) -> None:
    listed = subprocess.run([EMULATE, program], capture_output=True, text=True, check=True)
    assert set(listed.stdout.split()) == {*RIGHT, *FAULTS, *OTHERS, "volatile"}


@pytest.mark.parametrize("case", RIGHT)
def test_right_sums_are_proved(program: Path, case: str, tmp_path: Path) -> None:
    what, beside = RIGHT[case]
    done, said = run(program, tmp_path, case)
    assert done.returncode == 0, done.stderr
    assert [(one["check"], one["fault"]) for one in said] == [("sum", False)], done.stderr
    assert what in said[0]["what"]
    assert beside.format(**MARKS) in "\n".join(said[0]["details"])
    assert said[0]["what"] in done.stderr
    assert "finding" not in done.stderr


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_named(program: Path, case: str, tmp_path: Path) -> None:
    what, *beside = FAULTS[case]
    done, said = run(program, tmp_path, case)
    assert done.returncode == 4, done.stderr
    assert [one["what"] for one in said] == [what]
    assert said[0]["check"] == "sum"
    assert "fault" not in said[0]
    for text in beside:
        assert text.format(**MARKS) in "\n".join(said[0]["details"])
    assert done.stderr.endswith("1 finding\n")


def test_an_older_value_is_read_where_no_fence_orders_volatile_accesses(
    program: Path, tmp_path: Path
) -> None:
    done, said = run(program, tmp_path, "volatile")
    assert done.returncode == 4, done.stderr
    wrong, older = said
    assert wrong["what"].startswith("elements 0 … 895 are missing")
    assert older["what"].startswith("an older value may be read: nothing orders the read after")
    assert older["places"] == [MARKS["late"], MARKS["early"]]
    story = "\n".join(older["details"])
    assert f"block (0, 0, 0), thread (0, 0, 0) writes it at {MARKS['late']} (PTX line " in story
    assert f"block (7, 0, 0), thread (0, 0, 0) reads it at {MARKS['early']} (PTX line " in story
    assert "put a fence (__threadfence), or a release, between" in story


def test_what_is_no_sum_is_not_accused(program: Path, tmp_path: Path) -> None:
    for case, what in OTHERS.items():
        done, said = run(program, tmp_path, case)
        assert done.returncode == 0, done.stderr
        assert len(said) == 1, done.stderr
        assert what in said[0]["what"]
        assert said[0]["fault"] is False


def test_why_it_is_no_sum_is_said_as_it_is(program: Path, tmp_path: Path) -> None:
    _, said = run(program, tmp_path, "in_bytes")
    assert re.search(
        r"^sums\.cu:\d+ \(PTX line \d+\) narrows them to 8 bits$", said[0]["details"][0]
    )


def test_a_program_of_many_sums(program: Path, tmp_path: Path) -> None:
    done, said = run(program, tmp_path, "right", "twice", "copy", "right", "sign")
    assert done.returncode == 4
    assert [one["what"] for one in said if one.get("fault", True)] == [
        FAULTS[case][0] for case in ("twice", "sign")
    ]
    assert done.stderr.endswith("2 findings\n")
    # A race is found along with it; other checks are only made where they are asked for.
    done, said = run(program, tmp_path, "right", checks="sum,init,memory,sync")
    assert done.returncode == 0, done.stderr
    assert [one["check"] for one in said] == ["sum"]
    done, said = run(program, tmp_path, "right", checks="all")
    assert (done.returncode, said) == (0, [])


#: By case: what nothing has made enters the sum, and the line where it does.
UNDEFINED = {
    "shared_memory": ("memory that was never written", "tile[128 … 159] of block (0, 0, 0)"),
    "dynamic_shared": ("memory that was never written", "dynamic shared memory[0 … 127] of block"),
    "bytes_of_words": ("memory that was never written", "bytes[0 … 31] of block (1, 0, 0)"),
    "local_memory": ("memory that was never written", "a thread's local memory: nothing had "),
    "a_register": ("an undefined value", "a register that nothing had set when it was used at "),
    "global_memory": ("memory that was never written", "argument 2[0 … 255]: nothing had written"),
    "from_a_pool": ("memory that was never written", "argument 2[0 … 255]: nothing had written"),
    "copied_by_the_host": ("memory that was never written", "argument 2[0 … 255]: nothing had"),
    "copied_by_a_kernel": ("memory that was never written", "argument 1 of copy_words[0 … 255]"),
    "copied_aside": ("memory that was never written", "argument 2[0 … 255]: nothing had written"),
    "copied_in_bulk": ("memory that was never written", "argument 2[0 … 255]: nothing had written"),
    "a_texture": ("memory that was never written", "[0 … 255]: nothing had written it when it"),
    "a_matrix": ("memory that was never written", "room[0 … 28] of block (0, 0, 0)"),
    "of_the_cluster": ("memory that was never written", "slot[0 … 127] of block (1, 0, 0)"),
    "the_heap": ("memory that was never written", "the heap of malloc in kernels"),
    "an_accumulator": ("memory that was never written", "argument 2[0]: nothing had written it"),
    "a_shared_accumulator": ("memory that was never written", "total[0] of block (0, 0, 0)"),
    "results_beside": ("memory that was never written", "nothing had written it when the host"),
    "lanes_outside_the_mask": ("an undefined value", "takes from lanes 4 … 7, which its mask"),
    "lanes_that_have_left": ("an undefined value", "takes from lanes 16 … 31, which its mask"),
    "redux_without_its_lane": ("an undefined value", "which PTX leaves undefined"),
    "vote_without_its_lane": ("an undefined value", "which PTX leaves undefined"),
    "match_of_nothing": ("memory that was never written", "tile[0 … 31] of block (0, 0, 0)"),
}
#: By case of those: the line that it names.
MARKED = {
    "shared_memory": "shared",
    "dynamic_shared": "dynamic",
    "bytes_of_words": "bytes",
    "local_memory": "local",
    "a_register": "register",
    "global_memory": "another",
    "copied_aside": "copied",
    "lanes_outside_the_mask": "mask",
}
#: What else keeps a sum from being proved, and what is said then: all of it, and the exit status.
NOT_PROVED = {
    "a_decision": (4, ("does depends on memory that was never written", "in this run")),
    "a_race": (4, ("read after write in shared memory", "in this run")),
    "past_the_end": (3, ("the kernel was stopped",)),
    "from_infinity": (0, ("adds infinity, or what is no number, to them",)),
    "stopped": (0, ("the kernel was stopped",)),
    "other_data": (4, ("elements 128 … 255 are missing", "elements 0 … 127 are missing")),
}
#: What is said of the sum without the fault.
TWINS = {
    "lanes_that_have_left": (16, "it"),
    **{
        case: (32, "it")
        for case in (
            "lanes_outside_the_mask",
            "redux_without_its_lane",
            "vote_without_its_lane",
            "match_of_nothing",
        )
    },
    **{case: (256, "it") for case in ("an_accumulator", "from_infinity", "other_data")},
}


@pytest.fixture(scope="module")
def undefined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("undefined", tmp_path_factory.mktemp("sums"))


def test_every_undefined_case_is_expected(undefined: Path) -> None:
    listed = subprocess.run([EMULATE, undefined], capture_output=True, text=True, check=True)
    assert set(listed.stdout.split()) == {*UNDEFINED, *NOT_PROVED, "a_call", "the_clock"}


@pytest.mark.parametrize("case", UNDEFINED)
def test_what_nothing_has_made_is_a_term_of_its_own(
    undefined: Path, case: str, tmp_path: Path
) -> None:
    what, where = UNDEFINED[case]
    for checks in ("sum", "all,sum"):
        done, said = run(undefined, tmp_path, case, checks=checks)
        assert done.returncode == 4, done.stderr
        first = next(one for one in said if one["check"] == "sum")
        assert re.fullmatch(rf"{what} is in argument [23]\[[0-9, ]+\]", first["what"])
        assert where in "\n".join(first["details"])
        if case in MARKED:
            line = lines_marked("undefined")[MARKED[case]] + " (PTX"
            assert line in "\n".join(first["details"])
        assert "for all data" not in done.stderr
    done, said = run(undefined, tmp_path, case, "clean")
    assert (done.returncode, len(said)) == (0, 1), done.stderr
    number, in_ = TWINS.get(case, (256, "them"))
    assert ALL.format(number, in_) in said[0]["what"]
    # Two of the pairs are in memory that nothing frees.
    done, said = run(undefined, tmp_path, case, "clean", checks="race,init,sync,sum")
    assert [one["check"] for one in said] == ["sum"], done.stderr


@pytest.mark.parametrize("case", NOT_PROVED)
def test_what_else_keeps_a_sum_from_being_proved(
    undefined: Path, case: str, tmp_path: Path
) -> None:
    status, texts = NOT_PROVED[case]
    done, said = run(undefined, tmp_path, case)
    assert done.returncode == status, done.stderr
    assert len(said) == len(texts), done.stderr
    for one, text in zip(said, texts, strict=True):
        assert text in "\n".join([one["what"], *one["details"]])
    assert "for all data" not in done.stderr
    done, said = run(undefined, tmp_path, case, "clean")
    assert (done.returncode, len(said)) == (0, 1), done.stderr
    number, in_ = TWINS.get(case, (256, "them"))
    assert ALL.format(number, in_) in said[0]["what"]


def test_what_an_illegal_load_gives_is_undefined(undefined: Path, tmp_path: Path) -> None:
    done, said = run(undefined, tmp_path, "past_the_end", checks="memory,sum")
    assert done.returncode == 4
    undefined_one = next(one for one in said if one["check"] == "sum")
    assert undefined_one["what"] == "an undefined value is in argument 2[0, 1]"
    assert "reads outside all memory" in undefined_one["details"][0]
    assert "for all data" not in done.stderr


def test_values_keep_their_places_through_a_call(undefined: Path, tmp_path: Path) -> None:
    done, said = run(undefined, tmp_path, "a_call")
    assert "each of 256 elements is subtracted, for all data" in said[0]["what"], done.stderr
    done, said = run(undefined, tmp_path, "a_call", "clean")
    assert ALL.format(256, "them") in said[0]["what"], done.stderr


def test_a_clock_is_named_where_it_decides(undefined: Path, tmp_path: Path) -> None:
    done, said = run(undefined, tmp_path, "the_clock")
    assert f"which {lines_marked('undefined')['clock']} (PTX" in said[0]["details"][-1], done.stderr
    done, said = run(undefined, tmp_path, "the_clock", "clean")
    assert "order in which blocks ran" not in said[0]["details"][-1], done.stderr


UNFOLLOWED = ("carry", "half_precision", "recursion", "pointer", "cluster")


@pytest.fixture(scope="module")
def unfollowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("unfollowed", tmp_path_factory.mktemp("sums"))


@pytest.mark.parametrize("case", UNFOLLOWED)
def test_of_what_is_not_followed_nothing_is_proved_and_nothing_accused(
    unfollowed: Path, case: str, tmp_path: Path
) -> None:
    for more, sum_ in (([], 64 * 65 // 2), (["short"], 63 * 64 // 2)):
        done, said = run(unfollowed, tmp_path, case, *more)
        assert (done.returncode, done.stdout) == (0, f"{sum_}\n"), done.stderr
        assert said, "and that it isn't followed is said"
        for one in said:
            assert one["fault"] is False
            assert "for all data" not in one["what"], one
            assert not any(line.startswith("proved") for line in one["details"]), one
