"""Chapter 13: very few and very many."""

from functools import partial as bind

from figures.chapters.chapter13_small_and_large.plots import (
    NAME,
    in_flight,
    over_all,
    rivals,
    small,
    steady,
)
from figures.chapters.chapter13_small_and_large.ring import ring_of_copies, where_stages_lie
from figures.kit.chapter import Chapter

CHAPTER = Chapter(
    NAME,
    usual=False,
    plots={
        "chapter13_curve": over_all,
        "chapter13_small": small,
        "chapter13_in_flight": bind(in_flight, n=2**28),
        "chapter13_rivals": rivals,
        "chapter13_steady": steady,
        "chapter13_where": where_stages_lie,
    },
    diagrams={"ring_of_copies": ring_of_copies},
)
