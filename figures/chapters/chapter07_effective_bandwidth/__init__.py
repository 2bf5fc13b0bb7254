"""Chapter 7: how close to what the memory can give."""

from figures.chapters.chapter07_effective_bandwidth.kernels import NAME, kernels_and_roofs
from figures.chapters.chapter07_effective_bandwidth.methods import finished, methods
from figures.chapters.chapter07_effective_bandwidth.roof import roof
from figures.chapters.chapter07_effective_bandwidth.roofline import roofline
from figures.chapters.chapter07_effective_bandwidth.sweeps import grid_sweep, l2_step
from figures.kit.chapter import Chapter

CHAPTER = Chapter(
    NAME,
    spine={"wide4_sum": "16 bytes per load"},
    usual=False,
    plots={
        "chapter07_roof": roof,
        "chapter07_kernels": kernels_and_roofs,
        "chapter07_l2": l2_step,
        "chapter07_grid": grid_sweep,
        "chapter07_methods": methods,
        "chapter07_finished": finished,
        "chapter07_roofline": roofline,
    },
)
