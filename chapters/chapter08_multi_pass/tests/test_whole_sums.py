"""Chapter 8: as many passes as derived, sums of any ints, and what 32 bits hold."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest

from chapters.tests.programs import built_for_a_t4
from tools.tests.built import BUILD, nvcc, on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device", "matrices")]

ROOT = Path(__file__).resolve().parents[3]
CHAPTER = "chapter08_multi_pass"
BUILT = BUILD / "chapters" / CHAPTER / CHAPTER
PER_THREAD = 8  # kPerThread


def chapter(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return on_embedded(BUILT, "--once", *arguments, **more)


def passes(n: int, share: int) -> int:
    """The smallest p >= 1 for which share**p values or fewer are left to begin with."""
    p = 1
    while share**p < n:
        p += 1
    return p


EDGES = [
    (n, block)
    for block in (1, 2, 33, 256)
    for power in (1, 2, 3)
    for n in ((PER_THREAD * block) ** power + more for more in (-1, 0, 1))
    if n <= 2**23
]


@pytest.mark.parametrize(("n", "block"), [(1, 1), (1, 256), (2**23, 1), *EDGES])
def test_there_are_as_many_passes_as_derived(n: int, block: int, tmp_path: Path) -> None:
    page = tmp_path / "page.csv"
    shape = ["--variant", "passes", "--n", str(n), "--block", str(block)]
    done = chapter(*shape, EMU_CSV=str(page))
    assert done.returncode == 0, done.stdout + done.stderr
    with page.open(encoding="utf-8") as file:
        grids = [row["Grid Size"] for row in csv.DictReader(file) if row["ID"]]
    assert len(grids) == passes(n, PER_THREAD * block)
    assert grids[-1] == "(1, 1, 1)"


@pytest.mark.parametrize(("n", "block"), [(2**22 + 1, 256), (2**21 + 31, 32)])
def test_any_ints_fit_in_two_halves(n: int, block: int, tmp_path: Path) -> None:
    """More than one word could hold, and, with blocks of a warp, as many of them as are counted."""
    cases = tmp_path / "cases.txt"
    cases.write_text(f"--once --block {block} --n {n}\n", encoding="utf-8")
    done = on_embedded(BUILD / "chapters/tests/edges_matrix", str(cases))
    assert done.returncode == 0 and "WRONG" not in done.stderr, done.stdout + done.stderr
    assert "exit" not in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("nothing_lost_sum", None),
        ("last_block_lost_sum", r"finished sum is -\d+, expected \d+"),
        ("last_pass_lost_sum", "no sum was written"),
        ("last_value_lost_sum", r"finished sum is \d+, expected \d+"),
    ],
)
def test_what_a_pass_loses_is_missed(variant: str, said: str | None, tmp_path: Path) -> None:
    cases = tmp_path / "cases.txt"
    cases.write_text(f"--once --variant {variant} --block 32 --n 20000\n", encoding="utf-8")
    done = on_embedded(BUILD / "chapters/tests/edges_matrix", str(cases))
    assert done.returncode == 0, done.stdout + done.stderr
    if said is None:
        assert "exit" not in done.stdout, done.stdout
    else:
        assert done.stdout.startswith("exit 1 ") and re.search(said, done.stdout), done.stdout


def test_a_finished_sum_that_might_overflow_is_refused() -> None:
    most = (2**31 - 1) // 7
    done = chapter("--variant", "handed_in4_sum", "wide4_sum", "--n", str(most + 1))
    assert done.returncode == 2
    assert "handed_in4_sum takes n up to 306 783 378" in done.stderr
    assert "wide4_sum takes n up to 306 783 378" in done.stderr


TILE = 4 * 4 * 256  # elements that a block of 256 has under way at once


def any_last_tile(program: Path, profile: str) -> None:
    """One tile is a path of its own."""
    for tiles in (1, 2):
        for more in (-5, -4, -1, 0, 1, 3, 4, 5, 7, 8):
            shape = ["--variant", "whole", "whole32", "--n", str(tiles * TILE + more)]
            done = on_embedded(program, "--once", *shape, EMU_DEVICE_PROFILE=profile)
            assert done.returncode == 0, f"{shape}: {done.stdout}{done.stderr}"
            assert f"{profile.upper()})" in done.stdout


def test_a_last_tile_has_any_length() -> None:
    any_last_tile(BUILT, "h200")


@pytest.mark.release
def test_a_last_tile_has_any_length_where_warps_add_by_shuffles(tmp_path: Path) -> None:
    any_last_tile(built_for_a_t4(CHAPTER, tmp_path), "t4")


def test_an_int_holds_the_first_65535_numbers_and_no_more() -> None:
    assert 65535 * 65536 // 2 <= 2**31 - 1 < 65536 * 65537 // 2
    for n, right in ((65535, True), (65536, False)):
        done = chapter("--variant", "ramp_int", "--n", str(n))
        assert done.returncode == (0 if right else 1), done.stderr
        wide = chapter("--variant", "ramp", "--n", str(n))
        assert wide.returncode == 0 and f"sum is {n * (n + 1) // 2}\n" in wide.stdout
    assert "sum is -2147450880, expected 2147516416" in done.stderr


def test_32_unsigned_bits_wrap_as_they_should() -> None:
    """2^25 times 127.5, the mean, is 0.4 % under 2^32; a little more is over it."""
    done = chapter("--variant", "whole32", "cub32", "whole", "--n", str(2**25 + 2**20))
    assert done.returncode == 0, done.stderr
    assert "(modulo 2^32 of " in done.stdout


def test_the_hand_over_is_what_was_tried_on_hardware(tmp_path: Path) -> None:
    """fences.cu goes through the recorded forms; without caches each of them is right here."""
    here, program = Path(__file__).resolve().parent, tmp_path / "fences"
    options = ["-std=c++20", "-O3", "-arch=compute_90", "-cudart", "shared"]
    subprocess.run([nvcc(), *options, "-o", program, here / "fences.cu"], check=True)
    done = on_embedded(program, "3")
    assert done.returncode == 0, done.stderr
    log = here.parent / "transcripts/nvidia-h200/fences.txt"
    recorded = log.read_text(encoding="utf-8").splitlines()[1:]
    forms = [line.partition(":")[0] for line in recorded]
    assert done.stdout.splitlines() == [f"{form}: 0 of 3 wrong" for form in forms]
    wrong = [form for form, line in zip(forms, recorded, strict=True) if "5000 of" in line]
    assert wrong == [
        f"litmus +={busy} grid {grid}" for busy in ("", " busy") for grid in (132, 1056)
    ]
