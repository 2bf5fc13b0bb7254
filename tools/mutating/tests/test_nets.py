"""What a trace says of a block's accesses to shared memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from common.records.counters import OF_BOTH, OF_PTX
from common.records.traces import Instruction, Part, Trace
from tools.mutating.nets import HIDDEN, MEMORY, WORK, names_of, places_in

pytestmark = pytest.mark.all


def traced(*accesses: tuple[str, str, Sequence[int]]) -> Trace:
    """A block whose warps make these accesses: space, direction and each lane's word."""
    made = []
    for number, (space, direction, words) in enumerate(accesses):
        lanes = tuple(range(len(words)))
        part = Part(space, direction, 4, lanes, tuple(4 * word for word in words), 0)
        made.append(Instruction(number, 0, 1, "", "", 0, lanes, (part,), {}))
    return Trace("k()", (1, 1, 1), (32, 1, 1), (0, 0, 0), "together", "complete", made)


def places(*accesses: tuple[str, str, Sequence[int]]) -> tuple[int, ...]:
    """Words asked for, words touched, and lanes at a bank that is taken, of atomics."""
    found = places_in(traced(*accesses))
    of_atomics = [found.get(name, 0) for name in found if "atomic" in name]
    return *of_atomics, found.get("lanes at a bank that is taken", 0)


def test_lanes_that_share_or_meet_are_seen() -> None:
    apart = ("shared", "atomic", range(32))
    one_word = ("shared", "atomic", [7] * 32)
    one_bank = ("shared", "atomic", [32 * lane for lane in range(32)])
    assert places(apart) == (32, 32, 0)
    assert places(one_word) == (1, 1, 31)
    assert places(one_bank) == (32, 32, 31)
    assert places(apart, apart) == (64, 32, 0)  # a copy for each warp would be 64, 64
    assert places(("global", "atomic", [7] * 32)) == (0,)


def test_which_words_doesnt_matter() -> None:
    turned = [(lane + 1) % 32 for lane in range(32)]
    for direction in ("load", "store", "atomic"):
        one, other = (("shared", direction, words) for words in (range(32), turned))
        assert places_in(traced(one)) == places_in(traced(other)) != {}


def test_a_kernel_is_known_by_the_name_in_its_source() -> None:
    mangled = ("_ZN9chapter0914count_per_laneILj4EEEvPKhPjm", "_ZN9chapter0711stride_walkEPjmj")
    assert names_of(mangled) == {"chapter09::count_per_lane", "chapter07::stride_walk"}


def test_the_counters_are_the_tables() -> None:
    """They stand in the nets' code by name, as it is a part of the record which nets were used."""
    assert {*MEMORY} == {*OF_BOTH}
    assert {*WORK, *HIDDEN} == {*OF_PTX}
