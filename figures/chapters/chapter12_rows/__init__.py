"""Chapter 12: which threads take a row, and what a softmax costs beside a copy."""

from __future__ import annotations

from functools import partial as bind

from figures.chapters.chapter12_rows.plots import (
    NAME,
    beside_pytorch,
    floors_over_columns,
    map_of_rows,
    softmax_over_columns,
)
from figures.kit.chapter import Chapter

CHAPTER = Chapter(
    NAME,
    usual=False,
    plots={
        "chapter12_map": map_of_rows,
        "chapter12_floors": bind(floors_over_columns, n=2**28),
        "chapter12_floors_few": bind(floors_over_columns, n=2**20),
        "chapter12_pytorch": bind(beside_pytorch, n=2**28),
        "chapter12_softmax": bind(softmax_over_columns, n=2**28),
    },
)
