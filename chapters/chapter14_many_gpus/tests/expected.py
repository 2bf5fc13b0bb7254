"""What the shared tests are to find in this chapter."""

from chapters.tests.expected import Expected

EXPECTED = Expected(few_shapes=True)
