"""Chapter 10: how the accesses of a warp become requests and sectors."""

from figures.chapters.chapter10_coalescing import diagrams, sweeps
from figures.chapters.chapter10_coalescing.kernels import PATTERNS
from figures.kit.chapter import Chapter

#: The vectors; strides, offsets and widths have plots of their own.
VECTORS = ("vec3_packed", "vec3_aligned", "vec3_arrays", "vec3_staged")

CHAPTER = Chapter(
    sweeps.NAME,
    swept=VECTORS,
    timed=VECTORS,
    plots={
        "chapter10_strides": sweeps.strides,
        "chapter10_offsets": sweeps.offsets,
        "chapter10_widths": sweeps.widths,
    },
    diagrams={
        "four_generations": diagrams.four_generations,
        "coalescing_rules": diagrams.coalescing_rules,
        "vec3_layouts": diagrams.vec3_layouts,
    },
    patterns=PATTERNS,
)
