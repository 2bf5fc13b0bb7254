"""What the shared tests are to find in this chapter."""

from chapters.expected import Expected

#: Two floats side by side, which `slot[t / 32]` holds: ptxas makes one load of them.
PAIRS = ("kahan_uniform", "neumaier_uniform")

EXPECTED = Expected(few_shapes=True, inferred=PAIRS)
