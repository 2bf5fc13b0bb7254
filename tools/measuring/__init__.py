"""What tools/measure is made of. The standard library alone: measuring machines may have no more.

- ``measure``: the command line, and the work from start to end
- ``plan``: the chapters' programs, and the steps that measuring them takes
- ``steps``: doing steps once, however often the work is interrupted
- ``records``: the files of a recorded set
- ``notices``: what a recording shows of its card: throttling, drift, too little memory
- ``embedded``: the embedded device's set, which needs no GPU
- ``made_of``: what that set was made of, so that the same is not run twice
- ``launches``, ``plans``: what each variant launches at the sizes and blocks that a page offers
- ``libraries``: what PyTorch and CuPy make of the same problems; needs both
- ``page``, ``ptx``: what a page gets to run a chapter's kernels
- ``profilers``: what ncu and compute-sanitizer print
- ``provenance``: which source is being measured
- ``children``: the programs that are started, and their end
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUDA_ERROR = 3  # status of a chapter program that a CUDA call failed in
NOT_AVAILABLE = 77  # status: what is needed is not there; chapter programs say it so too


class Failure(Exception):
    """What stops the work: one line for the reader, and the status to leave with."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
