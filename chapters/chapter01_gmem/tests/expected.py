"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import (
    EVERYWHERE,
    ILLEGAL,
    NS,
    Expected,
    last_warp,
)

EXPECTED = Expected(
    findings={
        "gmem_classic": {
            # Its last block has no threads' worth of input left.
            (ILLEGAL, "if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];"): {
                (n, 1024) for n in NS
            },
            (ILLEGAL, "if (blockDim.x >= 256 && t < 128) tile[t] += tile[t + 128];"): {
                (n, 256) for n in NS
            },
            (ILLEGAL, "v[t] = v[t] + v[t + 32];"): {(n, 64) for n in NS},
            **last_warp("v", EVERYWHERE - {(1000, 1024)}),
        },
    },
    in_step={
        "gmem_classic": "gmem_unrolled",
    },
    copied=("gmem_unrolled",),
)
