"""Chapter 14: an array that lies on several GPUs."""

from figures.chapters.chapter14_many_gpus.plots import NAME, all_ways, last_steps, model, over_n
from figures.kit.chapter import Chapter

CHAPTER = Chapter(
    NAME,
    usual=False,
    plots={
        "chapter14_time": over_n,
        "chapter14_ways": all_ways,
        "chapter14_last": last_steps,
        "chapter14_model": model,
    },
)
