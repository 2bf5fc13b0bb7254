"""Which files a page was made from, so that an edit rebuilds just the pages that show it.

Sphinx's own dependencies compare times of modification. That misses a file that appears (a reader's
first local recording), so contents are compared as well, with "absent" as a content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ABSENT = "absent"


@cache
def _digest(path: Path) -> str:
    if path.is_dir():
        return " ".join(sorted(entry.name for entry in path.iterdir()))
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ABSENT


def _inputs(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    if not hasattr(env, "ladder_inputs"):
        env.ladder_inputs = {}  # type: ignore[attr-defined]
    return env.ladder_inputs  # type: ignore[attr-defined, no-any-return]


def note(env: BuildEnvironment, paths: Iterable[Path]) -> None:
    """Records that the page being read depends on ``paths``, whether or not they exist.

    Of a folder, the names in it count.
    """
    seen = _inputs(env).setdefault(env.docname, {})
    for path in paths:
        seen[str(path)] = _digest(path)
        if path.is_file():
            env.note_dependency(str(path))


def _forget_digests(app: Sphinx) -> None:
    _digest.cache_clear()


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    return [
        page
        for page, seen in _inputs(env).items()
        if any(_digest(Path(path)) != digest for path, digest in seen.items())
    ]


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _inputs(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    theirs = _inputs(other)
    _inputs(env).update({page: theirs[page] for page in docnames if page in theirs})


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _forget_digests)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
