"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    ILLEGAL,
    MISALIGNED,
    NS,
    Expected,
)

EXPECTED = Expected(
    findings={
        "too_few_bytes": {
            (ILLEGAL, "tile[t] = i < n ? in[i] : 0;"): EVERYWHERE,
        },
        "ints_first": {
            (MISALIGNED, "square[t] = static_cast<long long>(value) * value;"): {
                (n, 255) for n in NS
            },
        },
    },
    # Of its 8-byte sum it stores the lower half: one lane's load, one wavefront either way.
    narrowed={"typed_sumIxE": ("shared load 8", "shared load 4")},
)
