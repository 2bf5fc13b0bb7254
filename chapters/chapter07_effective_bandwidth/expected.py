"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    ILLEGAL,
    NS,
    Expected,
    last_warp,
)

EXPECTED = Expected(
    findings={
        "reduce7_classic": {
            (ILLEGAL, "tile[t] += in[i] + in[i + Block];"): {
                (n, block) for n in NS for block in (128, 256, 1024)
            },
            # A tile of 64 slots, and a template of 128: the first block's tree leaves it.
            (ILLEGAL, "if (t < half) tile[t] += tile[t + half];"): {(n, 64) for n in NS},
            **last_warp("v", {(n, block) for n in NS for block in (128, 256, 1024)}),
        },
    },
)
