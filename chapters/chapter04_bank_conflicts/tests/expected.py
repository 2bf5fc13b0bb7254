"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import (
    MISALIGNED,
    Expected,
)

EXPECTED = Expected(
    findings={
        "tile_misaligned": {
            (
                MISALIGNED,
                "const float4 q = *reinterpret_cast<const float4*>(cols + Layout::at(x, k));",
            ): {(33, 1024), (100, 1024)},
        },
    },
    checked=(100, 1000),  # rows of matrices
    apart=256,
)
