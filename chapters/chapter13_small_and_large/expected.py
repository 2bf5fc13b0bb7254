"""What the shared tests are to find in this chapter."""

from chapters.expected import EVERYWHERE, Expected

BEFORE = "race: read after the kernel before's write"

EXPECTED = Expected(
    findings={
        "two_unwaited": {
            (BEFORE, "if (threadIdx.x == 0) partial[blockIdx.x] = sum;", "sum += partial[i];"): (
                EVERYWHERE
            ),
        },
    },
    few_shapes=True,
    # A word has 54 bits for the sum. So the compiler leaves out what is above them, and no element
    # is in the sum with all of its bits.
    unfollowed=("few_blocks",),
)
