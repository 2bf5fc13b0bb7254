"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import (
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
)
