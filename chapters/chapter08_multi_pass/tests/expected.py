"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import (
    Expected,
)

EXPECTED = Expected(
    findings={
        # What one block does and another sees is no thread's to check, and a sum that wraps is no
        # access.
        "no_fence": {},
        "ramp_int": {},
        "stale": {},
    },
    shown=("last_block",),
)
