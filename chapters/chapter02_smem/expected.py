"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    ILLEGAL,
    SAME,
    UNWRITTEN,
    Expected,
    last_warp,
)

EXPECTED = Expected(
    findings={
        "smem_classic": {
            (ILLEGAL, "tile[t] = in[blockIdx.x * blockDim.x + t];"): EVERYWHERE - {(1000, 1024)},
            # The threads past n have returned and written nothing.
            (UNWRITTEN, "if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];"): {
                (1000, 1024)
            },
            **last_warp("v", EVERYWHERE),
        },
        "stride_classic": {
            (UNWRITTEN, "tile[t] += in[i];"): EVERYWHERE,
            (UNWRITTEN, "if (t < half) tile[t] += tile[t + half];"): EVERYWHERE,
            (SAME, "partial[blockIdx.x] = tile[0];"): EVERYWHERE,
        },
    },
    in_step={
        "smem_classic": "smem_unrolled",
    },
    copied=("smem_unrolled",),
)
