"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import Expected

EXPECTED = Expected(
    few_shapes=True,
    # A word has 54 bits for the sum. So the compiler leaves out what is above them, and no element
    # is in the sum with all of its bits.
    unfollowed=("few_blocks",),
)
