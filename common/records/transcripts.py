"""Transcripts: commands, and what a terminal showed after them.

A transcript is a text file. Its lines that begin with ``$ `` were typed and the others printed, so
the file itself says how to record it again. It lies beside what it is about: a chapter's in
``chapters/chapterNN_x/transcripts/``, where ``./run`` is that chapter's program, and those of the
embedded device's examples in ``tools/emulator/examples/transcripts/``, and those of the judge's in
``tools/judging/examples/transcripts/``. What a GPU printed lies beneath, in a folder of that GPU's
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "transcripts"
EXAMPLES = Path("tools/emulator/examples")
#: Where programs lie that transcripts are of, beside the chapters' own.
ROOMS = (EXAMPLES, Path("tools/judging/examples"))
PROMPT = "$ "


@dataclass(frozen=True)
class Transcript:
    """One recorded session of the embedded device's."""

    name: str  # unique in the whole book
    path: Path  # relative to the repository's root
    chapter: str | None  # whose program `./run` is
    text: str

    @property
    def commands(self) -> list[str]:
        """What was typed, in order."""
        lines = self.text.splitlines()
        return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def transcripts(root: Path | str) -> dict[str, Transcript]:
    """Every transcript of the embedded device, by name.

    Raises ValueError for one that begins with no command, and for a name used twice.
    """
    found: dict[str, Transcript] = {}
    for each in _read(Path(root)):
        if not each.text.startswith(PROMPT):
            raise ValueError(
                f"{each.path}: line 1 is not a command: it has to begin with '{PROMPT}'"
            )
        if each.name in found:
            first = found[each.name].path
            raise ValueError(f"{each.path}: there is a transcript of that name: {first}")
        found[each.name] = each
    return found


def _read(root: Path) -> Iterator[Transcript]:
    folders: list[tuple[Path, str | None]] = [
        (folder, folder.parent.name) for folder in sorted(root.glob(f"chapters/chapter*/{FOLDER}"))
    ]
    for folder, chapter in [*folders, *((root / room / FOLDER, None) for room in ROOMS)]:
        for path in sorted(folder.glob("*.txt")):
            text = path.read_text(encoding="utf-8")
            yield Transcript(path.stem, path.relative_to(root), chapter, text)
