"""Chapter 9's diagram shows what its kernels do."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.input import SEED, input_value
from common.records.recordings import Recordings
from figures.chapters import chapter09_histogram as histogram
from figures.kit.patterns import WARP
from figures.kit.pictures import View
from figures.tests.test_traces import trace

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]


@pytest.mark.parametrize(
    ("variant", "layout"),
    [*zip(("warps_uniform", "lanes_uniform"), histogram.LAYOUTS.values(), strict=True)],
)
def test_a_lane_adds_where_the_diagram_has_it(
    variant: str, layout: histogram.Layout, tmp_path: Path
) -> None:
    traced = trace(tmp_path, "chapter09_histogram", variant, 4096, 64, 0)
    atomics = [
        part
        for instruction in traced.of_warp(0)
        for part in instruction.parts
        if (part.space, part.direction) == ("shared", "atomic")
    ]
    assert len(atomics) == histogram.LOAD_BYTES
    for offset, part in enumerate(atomics):
        values = [input_value(SEED, histogram.LOAD_BYTES * lane + offset) for lane in range(WARP)]
        words = [layout(lane, value) for lane, value in enumerate(values)]
        assert [address // 4 for address in part.addresses] == words
        banks = histogram.by_bank(layout, values)
        assert sum(map(len, banks)) == len(set(words))


def test_only_copies_side_by_side_keep_the_lanes_apart() -> None:
    values = histogram.first_bytes()
    most = [max(map(len, histogram.by_bank(each, values))) for each in histogram.LAYOUTS.values()]
    assert most[0] > 1 and most[1] == 1
    # Lanes that want the same word don't conflict.
    assert max(map(len, histogram.by_bank(next(iter(histogram.LAYOUTS.values())), [7] * WARP))) == 1


def test_both_plots_have_their_rows_in_the_order_of_the_page(repository: Path) -> None:
    recordings = Recordings(repository)
    view = View(recordings, recordings.reference)
    for n, fewest in ((2**24, 7), (2**28, 5)):
        rows = [str(row[0]) for row in histogram.histogram_methods(view, n).table.rows]
        methods = list(dict.fromkeys(rows))
        assert len(methods) == fewest
        assert methods == sorted(methods, key=histogram.METHODS.index)
