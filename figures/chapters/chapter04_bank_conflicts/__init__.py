"""Chapter 4: banks of shared memory, and what their conflicts cost."""

from figures.chapters.chapter04_bank_conflicts import diagrams, plots
from figures.chapters.chapter04_bank_conflicts.kernels import PADDED, strided_padded
from figures.kit.chapter import Chapter
from figures.kit.costs import tiles

#: The trees, whose size is the book's; walks and tiles have sizes of their own.
TREES = ("strided", "strided_padded", "smem")

CHAPTER = Chapter(
    plots.NAME,
    spine={"smem_sum": "neighbouring threads add"},
    swept=TREES,
    timed=TREES,
    counted=TREES,
    plots={"chapter04_strides": plots.stride_sweep, "chapter04_tiles": plots.tile_times},
    diagrams={
        "bank_strides": diagrams.bank_strides,
        "bank_steps": diagrams.bank_steps,
        "tile_banks": diagrams.tile_banks,
        "tile_swizzles": diagrams.tile_swizzles,
    },
    patterns={"strided_padded": tiles(PADDED, strided_padded)},
)
