"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    RAW,
    Expected,
)

EXPECTED = Expected(
    findings={
        "in_step_classic": {
            # One line: another lane loads its sums next, and no lane stores there again.
            (RAW, "if (t < half) v[t] = v[t] + v[t + half];"): EVERYWHERE,
        },
    },
    in_step={
        "in_step_classic": "smem",  # with __syncthreads, for that matter
    },
    shown=("interleaved", "interleaved_mask", "strided", "smem", "mixed"),
)
