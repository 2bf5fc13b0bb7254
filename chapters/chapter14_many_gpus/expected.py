"""What the shared tests are to find in this chapter."""

from chapters.expected import Expected

EXPECTED = Expected(few_shapes=True)
