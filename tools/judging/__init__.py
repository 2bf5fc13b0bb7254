"""What tools/judge is made of. The standard library alone, so that it runs wherever nvcc does.

- ``__main__``: the start, and ``command``: the command line
- ``puzzles``: the folders that puzzles are, and the skeletons made from their answers
- ``files``: a folder for the time it takes
- ``compiler``: nvcc, and what it says
- ``flow``: what follows from what in a kernel's PTX
- ``form``: what the reader's file must have, and what it must not
- ``problems``: inputs, and what is right
- ``counts``: what is counted
- ``shapes``: which n and block are tried
- ``device``: the embedded device, in this process
- ``limited``: work that is stopped when its time is over
- ``trial``: one launch and what came of it
- ``explain``: what a checker has found, in the reader's terms
- ``judge``: all trials of a file, and the verdict
- ``verdict``: how it is told
- ``progress``: what the judge has accepted in a folder
- ``timing``: the time on a GPU, where there is one
- ``prepare``: compiles what the tests judge
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Exit statuses, as the chapter programs and tools/emulate have them.
ACCEPTED, WRONG, BAD_ARGUMENT, REFUSED, FOUND, NOT_AVAILABLE = 0, 1, 2, 3, 4, 77


class Failure(Exception):
    """What stops the work: one sentence for the reader, and the status to leave with."""

    def __init__(self, message: str, status: int = BAD_ARGUMENT) -> None:
        super().__init__(message, status)  # both, so that it can be sent to another process
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])
