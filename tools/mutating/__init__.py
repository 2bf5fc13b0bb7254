"""Mutation testing of the chapters' kernels: every operator, constant, barrier, fence, mask and
index is changed, one at a time, and the book's own checks have to reject each change.

- ``mutant``: one change
- ``operators``: the changes, found in a parsed source (needs tree-sitter; the rest doesn't)
- ``sources``: a kernel file, its changed forms, and how they are compiled to PTX
- ``shapes``: which variants launch which kernels, and the sizes and blocks that they are tried at
- ``nets``: the checks that a changed kernel runs through
- ``trial``: one changed kernel, from its source to what rejects it
- ``command``: the command line: list, run, show
- ``mistakes``: those that are made by hand
- ``record``: the file of results that the guide reads (``common/records/mutants.py``)
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Failure(Exception):
    """What stops the work: one line for the reader."""
