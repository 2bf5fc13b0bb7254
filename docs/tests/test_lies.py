"""Lies that a page could tell, planted one by one; what the build says of each names its kind.

A lie is an edit of a real page, puzzle or source. The page as it stands says nothing, so what is
said of the edit is said of the lie.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from docs import page_source as pages
from docs.lint import texts, typed
from docs.tests.test_claims_hold import faults

NUMBER, WORD, SAME = "a number that no claim has", "a word that no claim says", "identical sides"
FAR, BELOW, FALSE = "a bound far from", "'as fast' beside a ratio below one", "is false on"
QUANTITY, FACT = typed.QUANTITY, typed.FACT
GIVEN = " is "  # what the arithmetic comes to


class Lie(NamedTuple):
    said: str
    file: str
    true: str
    false: str


def of(number: str, *lies: tuple[str, str, str], folder: str = "chapters") -> list[Lie]:
    (path,) = (pages.DOCS / folder).glob(f"chapter{number}_*.rst")
    return [Lie(said, path.relative_to(pages.ROOT).as_posix(), *edit) for said, *edit in lies]


WORDS_AND_NUMBERS = [
    *of(
        "01",
        (WORD, "The speed has about doubled", "The speed is about level"),
        (NUMBER, "and moves 104 sectors", "and moves 140 sectors"),
    ),
    *of(
        "02",
        (NUMBER, "13 % less", "31 % less"),
        (WORD, "13 % less", "13 % more"),
        (
            NUMBER,
            "than three quarters of the measured time",
            "than nine tenths of the measured time",
        ),
        (NUMBER, "three times this kernel's", "thirteen times this kernel's"),
        (WORD, "fewer instructions take less time", "more instructions take less time"),
        (WORD, "it costs eight store", "it costs the fewest, eight store"),
        (NUMBER, "it costs eight store", "it costs nine store"),
        (NUMBER, "an eighth of the loaded sectors", "a quarter of the loaded sectors"),
        (NUMBER, "Early exit saves 18 %", "Early exit saves 81 %"),
    ),
    *of(
        "04",
        (WORD, "stride 33, is as fast as", "stride 33, is faster than"),
        (WORD, "waits less for a turn", "waits more for a turn"),
        (WORD, "is ahead of both", "is behind ◇ and slower than both"),
        (NUMBER, "take less than half of its time", "take less than a tenth of its time"),
        (WORD, "and is the faster kernel", "and is the slower kernel"),
        (NUMBER, "adds an eighth to the instructions", "adds a third to the instructions"),
        (WORD, "here the time nearly follows", "here the time is level, and follows"),
        (NUMBER, "follows, 4.9 times", "follows, 9.4 times"),
    ),
    *of(
        "05",
        (NUMBER, "more than four fifths of the first pass", "more than half of the first pass"),
        (NUMBER, "puts about 9 kB in flight", "puts about 19 kB in flight"),
        (WORD, ":claim:`draw level", ":claim:`tie"),
        (WORD, ":claim:`draw level", ":claim:`are clearly ahead"),
        (NUMBER, ":claim:`More than five times", ":claim:`More than nine times"),
        (WORD, "costs more than its instructions", "costs less than its instructions"),
        (NUMBER, "gains less than 3 %", "gains less than 30 %"),
    ),
    *of(
        "06",
        (NUMBER, "Six times, not eight.", "Three times, not eight."),
        (WORD, "it makes nothing faster", "it ties with the slowest"),
    ),
    *of(
        "07",
        (
            WORD,
            ":claim:`less than half of the instructions",
            ":claim:`more instructions, over half",
        ),
        (NUMBER, ":claim:`a quarter of the load instructions <", ":claim:`a third of the load <"),
        (NUMBER, "come within 4 % of the read roof", "come within 14 % of the read roof"),
    ),
    *of(
        "09",
        (WORD, "all-equal bytes faster than", "all-equal bytes slower than"),
        (WORD, "draw level again", "tie again"),
    ),
    *of(
        "10",
        (WORD, "A scattered store costs more", "A scattered store costs less"),
        (NUMBER, "asks for three times the sectors", "asks for twice the sectors"),
        (WORD, "the other two cures are slower than", "the other two cures are faster than"),
        (
            NUMBER,
            "Padding makes memory deliver a third more",
            "Padding makes memory deliver half more",
        ),
    ),
    *of(
        "11",
        (
            NUMBER,
            ":claim:`The sum takes half the time",
            ":claim:`The sum takes a third of the time",
        ),
        (NUMBER, "costs less than two per cent", "costs less than one per cent"),
    ),
    *of(
        "12",
        (NUMBER, ":claim:`Four times the speed", ":claim:`Eight times the speed"),
        (WORD, "and the two are level", "and the two tie"),
        (
            NUMBER,
            ":claim:`from an eighth of the sectors",
            ":claim:`from a sixteenth of the sectors",
        ),
    ),
    *of(
        "05",
        (GIVEN, "`seven <256 / 32 - 1>`", "`six <256 / 32 - 1>`"),
        (NUMBER, "With half as many trees, the first", "With a third as many trees, the first"),
        (NUMBER, "away nearly half of the", "away nearly two thirds of the"),
        (WORD, "got faster by issuing less", "got faster by issuing more"),
        (WORD, "The faster kernel waits *more*", "The slower kernel waits *more*"),
    ),
    *of("06", (NUMBER, "can't make that 8 × 14 %", "can't make that 8 × 24 %")),
    *of(
        "07",
        (WORD, "even a little slower than", "even a little faster than"),
        (NUMBER, "stands at a quarter of the read roof", "stands at half of the read roof"),
    ),
    *of("10", (NUMBER, "*A million blocks, 16 bytes", "*Two million blocks, 16 bytes")),
    *of(
        "13",
        (NUMBER, "some five million here", "some nine million here"),
        (WORD, "That is our fastest sum", "That is our slowest sum"),
    ),
    *of(
        "08",
        (NUMBER, "528 more requests", "582 more requests"),
        (NUMBER, "differ by less than 22 %", "differ by less than 2 %"),
        folder="notebooks",
    ),
    *of("10", (NUMBER, "about half a per cent", "about two per cent"), folder="notebooks"),
    *of(
        "14",
        (GIVEN, "`28 million <", "`38 million <"),
        (WORD, "all-reduce is level with our store", "all-reduce takes longer than our store"),
        (WORD, "a second GPU pays from 2²⁶ on", "a second GPU pays only from 2²⁶ on"),
        (NUMBER, "At 2³¹ two are nearly twice", "At 2²⁸ two are nearly twice"),
    ),
]

EXPRESSIONS = [
    *of(
        "02",
        (FALSE, "1.7x faster than interleaved at 2^28", "2.7x faster than interleaved at 2^28"),
        (QUANTITY, "9: time of interleaved / time of", "8: time of interleaved / time of"),
        (SAME, "gmem_early_exit 1.9x faster than chapter01 gmem,",
         "gmem 1.9x faster than chapter01 gmem,"),
        (FAR, "gmem_early_exit 1.9x faster than", "gmem_early_exit 1.1x faster than"),
    ),
    *of(
        "04",
        (FALSE, "smem faster than strided_padded at", "strided_padded faster than smem at"),
        (SAME, "shared_load_wavefronts of width8 = 2x that of width4",
         "shared_load_wavefronts of width8 = shared_load_wavefronts of width8"),
        ("says of which of the", "1: tile_padded between 4x", "tile_padded between 4x"),
        ("there is no sentence 9", "4: stride33 within", "9: stride33 within"),
    ),
    *of(
        "05",
        (FALSE, "registers of unroll16 - registers of unroll8 = 2",
         "registers of unroll16 - registers of unroll8 = 3"),
        ("nearest: faster", "by_warps8_sum more than 5x faster",
         "by_warps8_sum more than 5x fastr"),
    ),
    *of("07", (FAR, "instructions of wide4 < 50 %", "instructions of wide4 < 99 %")),
    *of(
        "09",
        (BELOW, ":said:`as fast: chapter09_histogram lanes1 n=2^28 / ", ":ratio:`"
         "chapter09_histogram lanes1 n=2^28 / chapter09_histogram warps_uniform n=2^28` as fast "
         ":said:`as fast: chapter09_histogram lanes1 n=2^28 / "),
        ("has no variant", ":said:`as fast: chapter09_histogram lanes1", ":said:`as fast: "
         "chapter09_histogram lane1"),
    ),
]  # fmt: skip

TYPED = [
    *of(
        "04",
        (FACT, "It is 32 narrow ones", "It has 16 banks, narrow ones"),
        (FACT, "each of them 4 bytes wide", "each of them 8 bytes wide"),
        (FACT, "A pass brings 128 bytes", "A pass brings 256 bytes"),
        (QUANTITY, "Shared memory is not one memory.", "It takes 84.3 µs. It is not one memory."),
    ),
    *of("10", (QUANTITY, "That explains stride 8, too", "That is 1.3× more. It explains stride 8")),
    *of("02", (QUANTITY, "We stay with the sl", "It runs at 1980 MHz. We stay with the sl")),
    *of("02", (FACT, "We stay with the sl", "An SM is full at 1024 threads. We stay with the sl")),
    Lie(QUANTITY, "README.md", "**CUDA performance from one sum.**", "It is 13× faster."),
    Lie(FACT, "README.md", "**CUDA performance from one sum.**", "A warp has 64 threads."),
    Lie(QUANTITY, "chapters/chapter02_smem/puzzles/1_load/puzzle.toml", "", "  It takes 84 µs."),
    Lie(FACT, "chapters/chapter02_smem/puzzles/1_load/puzzle.toml", "", "  A warp is 16 threads."),
    Lie(QUANTITY, "chapters/chapter02_smem/kernels.cuh", "", "// It reaches 4100 GB/s.\n"),
    Lie(QUANTITY, "chapters/chapter02_smem/kernels.cuh", "", "// It is 13 % faster.\n"),
    Lie(QUANTITY, "chapters/chapter05_unroll4/kernels.cuh", "", "// That is 1.9x of the tree.\n"),
    Lie(FACT, "chapters/chapter04_bank_conflicts/kernels.cuh", "", "// The SM has 64 banks.\n"),
    Lie(QUANTITY, "common/src/report.cpp", "", 'auto x = "runs at 1980 MHz";\n'),
]  # fmt: skip

LIES = [*WORDS_AND_NUMBERS, *EXPRESSIONS, *TYPED]


@cache
def _true(file: str) -> tuple[str, ...]:
    return tuple(said_of(file, (pages.ROOT / file).read_text(encoding="utf-8")))


def said_of(file: str, text: str) -> list[str]:
    """What is said of a file with this text."""
    path = pages.ROOT / file
    if path.suffix == ".rst":
        return faults(path, text)
    if path.suffix == ".toml":
        return [fault for one in texts.of_puzzle(file, text) for fault in typed.of_text(one)]
    reader = texts.of_markdown if path.suffix == ".md" else texts.of_cxx
    return [fault for one in reader(file, text) for fault in typed.of_text(one)]


def planted(lie: Lie) -> str:
    text = (pages.ROOT / lie.file).read_text(encoding="utf-8")
    if not lie.true:
        quoted = lie.file.endswith(".toml")
        return text + (f'\nhint = "{lie.false.strip()}"\n' if quoted else lie.false)
    true = r"\s+".join(map(re.escape, lie.true.split()))
    edited, count = re.subn(true, lambda _: lie.false, text, count=1)
    assert count, f"{lie.file} no longer says: {lie.true}"
    return edited


def test_there_are_lies_enough() -> None:
    assert len(LIES) >= 60


@pytest.mark.parametrize(
    "lie", LIES, ids=lambda lie: f"{Path(lie.file).stem[:9]}: {lie.false[:40]}"
)
def test_a_lie_is_caught_for_its_meaning(lie: Lie) -> None:
    assert _true(lie.file) == ()
    said = said_of(lie.file, planted(lie))
    assert any(lie.said in one for one in said), said
