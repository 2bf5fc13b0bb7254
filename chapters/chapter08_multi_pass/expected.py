"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    Expected,
)

UNORDERED = "race: read after another block's write"
#: Where there is more than one block.
SEVERAL = EVERYWHERE - {(1000, 1024)}
READS = "for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];"

EXPECTED = Expected(
    findings={
        "no_fence": {
            (UNORDERED, READS, "partial[blockIdx.x] = sum;"): SEVERAL,
        },
        "ramp_int": {},  # a sum that wraps is no access
        "stale": {
            (UNORDERED, "rest += partial[b];", "partial[blockIdx.x] += sum;"): SEVERAL,
        },
    },
    shown=("last_block",),
)
