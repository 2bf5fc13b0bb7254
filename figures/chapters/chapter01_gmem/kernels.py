"""Which thread of chapter 1's kernels touches what."""

from __future__ import annotations

from collections.abc import Iterator

from figures.kit.patterns import (
    GLOBAL,
    LOAD,
    STORE,
    Access,
    Recorder,
    halving_tree,
    tree_levels,
)


def _result(record: Recorder, block: int) -> Iterator[Access]:
    last = tree_levels(block) + 1
    yield from record(last, GLOBAL, LOAD, "data", [(0, record.block * block)])
    yield from record(last, GLOBAL, STORE, "partial", [(0, record.block)])


def gmem(n: int, block: int, index: int) -> Iterator[Access]:
    """In place in global memory; `gmem_unrolled` and `gmem_early_exit` touch the same."""
    record = Recorder(index)
    yield from halving_tree(record, GLOBAL, "data", index * block, n, block)
    yield from _result(record, block)


def gmem_interleaved(n: int, block: int, index: int) -> Iterator[Access]:
    """In place, the nearest neighbours first."""
    record = Recorder(index)
    first = index * block
    for level in range(1, tree_levels(block) + 1):
        s = 1 << (level - 1)
        near = [
            (t, first + t) for t in range(0, block, 2 * s) if t + s < block and first + t + s < n
        ]
        yield from record(level, GLOBAL, LOAD, "data", near)
        yield from record(level, GLOBAL, LOAD, "data", [(t, i + s) for t, i in near])
        yield from record(level, GLOBAL, STORE, "data", near)
    yield from _result(record, block)
