"""Chapter 8: until one value is left."""

from figures.chapters.chapter08_multi_pass.diagrams import one_word, passes_tree
from figures.chapters.chapter08_multi_pass.hand_over import missing_fence
from figures.chapters.chapter08_multi_pass.plots import FORMS, NAME, cub_ratio, whole_times
from figures.kit.chapter import Chapter

CHAPTER = Chapter(
    NAME,
    spine={"whole_sum": "one launch, to the end"},
    library="cub_sum",
    swept=FORMS,
    timed=(*FORMS, "atomic_thread", "atomic_block"),
    plots={"chapter08_small": whole_times, "chapter08_ratio": cub_ratio},
    diagrams={"passes_tree": passes_tree, "one_word": one_word, "missing_fence": missing_fence},
)
