"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    EVERYWHERE,
    ILLEGAL,
    Expected,
    Shapes,
    last_warp,
)


def past_the_end(half: int) -> Shapes:
    """Where the step that adds what lies `half` further leaves the array: in the last block."""
    found = set()
    for n, block in EVERYWHERE:
        left = n % block or block  # elements, and threads that didn't return
        last = min(max(half, 32), left) - 1  # thread that takes the step
        if block >= 2 * half and last + half >= left:
            found.add((n, block))
    return found


EXPECTED = Expected(
    findings={
        "gmem_classic": {
            # Its last block has no threads' worth of input left.
            **{
                (
                    ILLEGAL,
                    f"if (blockDim.x >= {2 * half} && t < {half}) tile[t] += tile[t + {half}];",
                ): past_the_end(half)
                for half in (512, 256, 128, 64)
            },
            **{
                (ILLEGAL, f"v[t] = v[t] + v[t + {half}];"): past_the_end(half)
                for half in (32, 16, 8, 4, 2, 1)
            },
            **last_warp("v", EVERYWHERE),
        },
    },
    in_step={
        "gmem_classic": "gmem_unrolled",
    },
    copied=("gmem_unrolled",),
)
