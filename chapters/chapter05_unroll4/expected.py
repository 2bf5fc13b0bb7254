"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    ILLEGAL,
    UNWRITTEN,
    Expected,
    last_warp,
)

EXPECTED = Expected(
    findings={
        "last_warp_classic": {
            (ILLEGAL, "tile[t] = i < n ? in[i] + in[i + blockDim.x] : 0;"): EVERYWHERE,
            **last_warp("tile", EVERYWHERE),
        },
        "unroll4_classic": {
            # <= n is one too many only where n is a multiple of what a thread's loads are apart.
            (
                ILLEGAL,
                "sum = in[idx] + in[idx + blockDim.x] + in[idx + 2 * blockDim.x]"
                " + in[idx + 3 * blockDim.x];",
            ): {(1000, 64), (1000, 256)},
            (UNWRITTEN, "if (t < half) tile[t] += tile[t + half];"): {(1000, 1024)},
            **last_warp("tile", EVERYWHERE),
        },
    },
    in_step={
        "last_warp_classic": "last_warp_sync",
        "unroll4_classic": "last_warp_sync",
    },
)
