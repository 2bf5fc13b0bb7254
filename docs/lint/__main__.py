"""The command; `python -m docs.lint --help` says what it takes."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator

from ladder.claims import words

from docs.lint import texts, tics, typed
from docs.lint.texts import Paragraph
from docs.page_source import ROOT


def changed(since: str) -> dict[str, set[int]]:
    """The lines that differ from a commit, by file."""
    diff = subprocess.run(
        ["git", "diff", "--unified=0", "--no-color", since],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    lines: dict[str, set[int]] = {}
    path = ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))?", line):
            first, count = int(found[1]), int(found[2] or 1)
            lines.setdefault(path, set()).update(range(first, first + count))
    return lines


def advice(paragraph: Paragraph) -> Iterator[str]:
    yield from map(str, tics.tics(paragraph))
    where = f"{paragraph.path}:{paragraph.line}"
    if paragraph.prose:
        for one in words.asked(" ".join(paragraph.text.split())):
            yield f"{where}: does a role or a claim cover \u201c{one.text}\u201d?"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.lint", description=__doc__)
    parser.add_argument("--since", metavar="COMMIT", help="advise on what has changed since then")
    asked = parser.parse_args()
    faults = list(typed.everywhere(ROOT))
    print("\n".join(faults))
    if asked.since:
        touched = changed(asked.since)
        for one in texts.everything(ROOT):
            span = range(one.line, one.line + one.text.count("\n") + 1)
            if touched.get(one.path, set()) & set(span):
                print("\n".join(advice(one)))
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
