"""The book's own Sphinx vocabulary; README.md beside this file lists it with examples.

One concern per module: names (how a page names a run), units (how a number is written), book
(looking things up), inputs (what a page depends on); then the roles and directives by what they
show.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from . import (
    book,
    boxes,
    calc,
    checkers,
    claims,
    climbing,
    compared,
    features,
    floors_table,
    folded,
    gathering,
    given,
    headers,
    inputs,
    instructions,
    listings,
    machine,
    markup,
    methods,
    museum,
    mutants,
    noticed,
    numbers,
    pairs,
    pictures,
    playing,
    predictions,
    provenance,
    published,
    puzzles,
    rungs,
    running,
    said,
    strings,
    tables,
    teaching,
    units,
    versions,
)


def _own_digest(conf: Path) -> str:
    """Changes with the code that pages are made by, so that they follow it."""
    from common import records
    from figures import spine
    from figures.kit import style, words
    from tools.measuring import notices

    modules = (spine, style, words, notices)
    readers = [Path(module.__file__) for module in modules if module.__file__]
    readers += sorted(Path(records.__path__[0]).glob("*.py"))
    digest = hashlib.sha256()
    for path in [conf, *readers, *sorted(Path(__file__).parent.rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("ladder_root", "..", "env", types=[str])
    app.add_config_value("ladder_figures", "../build/figures", "env", types=[str])
    app.add_config_value("ladder_runs", "../build/runs", "env", types=[str])
    app.add_config_value(
        "ladder_code", _own_digest(Path(app.confdir) / "conf.py"), "env", types=[str]
    )
    app.add_message_catalog(strings.CATALOGUE, str(strings.LOCALE_DIR))
    for module in (
        inputs,
        book,
        folded,
        markup,
        boxes,
        listings,
        machine,
        numbers,
        pairs,
        gathering,
        calc,
        given,
        claims,
        said,
        playing,
        predictions,
        provenance,
        published,
        puzzles,
        pictures,
        checkers,
        museum,
        mutants,
        climbing,
        tables,
        methods,
        compared,
        features,
        floors_table,
        rungs,
        running,
        teaching,
        units,
        versions,
        instructions,
        headers,
        noticed,
    ):
        module.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
