"""Chapter 1: a tree in global memory."""

from figures.chapters.chapter01_gmem import diagrams, plots, walks
from figures.chapters.chapter01_gmem.kernels import gmem, gmem_interleaved
from figures.kit.chapter import Chapter
from figures.kit.costs import each_block

CHAPTER = Chapter(
    "chapter01_gmem",
    spine={"gmem_interleaved_sum": "a tree in global memory"},
    plots={"chapter01_players": plots.players, "chapter01_in_place": plots.in_place},
    diagrams={
        "primer_machine": diagrams.primer_machine,
        "grid_to_elements": diagrams.grid_to_elements,
        "tree_gmem": diagrams.tree_gmem,
        "tournament": diagrams.tournament,
        "tree_walks": walks.tree_walks,
    },
    patterns={
        **dict.fromkeys(("gmem", "gmem_unrolled", "gmem_early_exit"), each_block(gmem)),
        "gmem_interleaved": each_block(gmem_interleaved),
    },
)
