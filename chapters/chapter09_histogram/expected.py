"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    ILLEGAL,
    NS,
    RAW,
    SAME_SHARED,
    UNWRITTEN,
    WAR,
    WAW,
    Expected,
)

#: Of a histogram in shared memory, how it begins and what it does most.
ZEROES = "for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;"
COUNTS = "atomicAdd(&mine[in[i]], 1u);"

EXPECTED = Expected(
    few_shapes=True,
    findings={
        "classic_256": {
            (UNWRITTEN, COUNTS): {(n, 64) for n in NS},
            (ILLEGAL, "mine[threadIdx.x] = 0;"): {(n, 1024) for n in NS},
        },
        "no_barrier": {
            # The first warp counts in bins that the others have yet to zero, and do.
            (UNWRITTEN, COUNTS): EVERYWHERE,
            (WAW, COUNTS, ZEROES): EVERYWHERE,
            (WAW, ZEROES, COUNTS): EVERYWHERE,
        },
        "no_atomic": {
            (RAW, "++mine[in[i]];"): EVERYWHERE,
            (WAR, "++mine[in[i]];"): EVERYWHERE,
            (WAW, "++mine[in[i]];"): EVERYWHERE,
            (SAME_SHARED, "++mine[in[i]];"): EVERYWHERE,
        },
    },
    apart=1024,
    shown=("count_shared",),
    stopped=("classic_256",),
)
