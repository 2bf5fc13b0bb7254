"""Draws the book's pictures.

``python -m figures.draw --out DIR`` writes, for every picture that there are data for,
NAME-light.svg, NAME-dark.svg and NAME.json: its alt text, caption, provenance and data. Files whose
contents would stay the same are left alone, so that what depends on them need not be made again;
drawings are not even made where neither their data nor their code has changed since.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from common.files import named_folder, write_all, write_whole
from common.records.naming import LOCAL
from common.records.reading import DataError
from common.records.recordings import RecordedRun, Recordings, is_stale
from common.records.regions import RegionError
from common.records.sets import NoSuchRun
from figures import catalogue, marks, readme
from figures.kit import style
from figures.kit.pictures import Picture, View
from figures.spine import spine

ROOT = Path(__file__).resolve().parent.parent
COVER = "spine"
DATA = Path("figures/data")


class UnknownFigure(Exception):
    """A name that is not in the registry."""


def _plot(make: Callable[[View], Picture], recordings: Recordings) -> tuple[Picture, str]:
    """The picture from the local set where it has all that is needed, else from the reference.

    A local picture compares on the local device; what the reference says follows, with its name.
    Beside a local card stands the reference's, beside that the second: never three in a picture.
    """
    second = None if recordings.local else next(iter(recordings.second.values()), None)
    reference: Picture | NoSuchRun
    try:
        reference = make(View(recordings, recordings.reference, second))
    except NoSuchRun as missing:
        reference = missing
    if recordings.local:
        try:
            local = make(View(recordings, recordings.local, recordings.reference))
        except NoSuchRun:
            pass
        else:
            said = "" if isinstance(reference, NoSuchRun) else f" The book's own: {reference.alt}"
            return Picture(
                local.draw, local.alt + said, local.caption, local.table, local.runs
            ), LOCAL
    if isinstance(reference, NoSuchRun):
        raise reference
    return reference, recordings.reference.name


def _recorded(founds: Sequence[RecordedRun]) -> str:
    return "; ".join(dict.fromkeys(found.provenance.text for found in founds))


def _provenance(founds: Sequence[RecordedRun]) -> str:
    text = _recorded(founds)
    earlier = dict.fromkeys(found.run["variant"] for found in founds if is_stale(found))
    if earlier:
        text += f"; measured on an earlier form of {', '.join(earlier)}"
    return text


def drawings(name: str, picture: Picture) -> dict[str, str]:
    """The picture in each theme, by file name."""
    files = {}
    for theme in style.THEMES:
        with style.look(theme):
            files[f"{name}-{theme.name}.svg"] = style.to_svg(picture.draw(theme))
    return files


def words(picture: Picture, drawn_from: str | None) -> dict[str, Any]:
    """What is said of a picture."""
    return {
        "kind": "plot" if drawn_from else "diagram",
        "set": drawn_from,
        "alt": picture.alt,
        "caption": picture.caption,
        "provenance": _provenance(picture.runs) if drawn_from else None,
        "table": {"columns": picture.table.columns, "rows": picture.table.rows},
    }


def maker(name: str, root: Path) -> Callable[..., Picture]:
    """What makes a picture of the registry: a plot of a view, a diagram of nothing."""
    diagrams, plots = catalogue.diagrams(), catalogue.plots(root)
    if name not in diagrams and name not in plots:
        near = difflib.get_close_matches(name, [*plots, *diagrams])
        raise UnknownFigure(
            f"no figure '{name}'" + (f"; nearest: {', '.join(near)}" if near else "")
        )
    return diagrams.get(name) or plots[name]


def make(name: str, root: Path, recordings: Recordings) -> tuple[Picture, str | None]:
    """One picture of the registry, and the set that it is drawn from."""
    made = maker(name, root)
    if name in catalogue.diagrams():
        return made(), None
    chapter, _ = catalogue.plots_by_chapter(root)[name]
    return _plot(made, recordings.of(chapter))


def cover(recordings: Recordings) -> dict[str, str]:
    """The README's picture: always of the reference."""
    return drawings(COVER, spine(View(recordings, recordings.reference)))


def preview(picture: Picture) -> bytes:
    """The cover as link previews show it: 1200 by 630 points, light."""
    with style.look(style.LIGHT):
        figure = picture.draw(style.LIGHT)
        figure.set_size_inches(8, 4.2)
        return style.to_png(figure, dpi=150)


def readme_files(root: Path, recordings: Recordings) -> dict[str, str]:
    """README.md and its picture, by path under the root."""
    picture = spine(View(recordings, recordings.reference))
    text = (root / "README.md").read_text(encoding="utf-8")
    # Not whether a kernel has changed since: the README shows a recording, whatever came later.
    words = readme.filled(text, recordings, picture.alt, _recorded(picture.runs))
    pictures = {f"figures/{name}": svg for name, svg in drawings(COVER, picture).items()}
    return {**pictures, "README.md": words}


def _draw(folder: Path, name: str, root: Path, recordings: Recordings) -> None:
    picture, drawn_from = make(name, root, recordings)
    mark = marks.mark(picture, maker(name, root), root / DATA)
    said = {"name": name, **words(picture, drawn_from), "fingerprint": mark}
    if _mark_of(folder, name) != mark:
        _write(folder, drawings(name, picture))
    _write(folder, {f"{name}.json": json.dumps(said, indent=1, ensure_ascii=False) + "\n"})


def _mark_of(folder: Path, name: str) -> str | None:
    """The fingerprint of the drawings that are there, if both are."""
    if not all((folder / f"{name}-{theme.name}.svg").exists() for theme in style.THEMES):
        return None
    try:
        mark: str = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["fingerprint"]
    except (OSError, ValueError, KeyError):
        return None
    return mark


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)


def _write_preview(folder: Path, root: Path, recordings: Recordings) -> None:
    """Always of the reference, as the README's picture. The mark of what is there lies beside."""
    path, marked = folder / "preview.png", folder / "preview.mark"
    try:
        picture = spine(View(recordings, recordings.reference))
    except NoSuchRun:
        path.unlink(missing_ok=True)
        return
    mark = marks.mark(picture, spine, root / DATA)
    if path.exists() and marked.exists() and marked.read_text(encoding="utf-8") == mark:
        return
    write_all({path: preview(picture), marked: mark})


def _remove(folder: Path, name: str) -> None:
    # A picture that can no longer be drawn must not live on from an earlier time.
    for end in ("-light.svg", "-dark.svg", ".json"):
        (folder / f"{name}{end}").unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m figures.draw", description="Draws the book's pictures."
    )
    parser.add_argument("--out", type=named_folder, metavar="DIR", help="where the pictures go")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--strict", action="store_true", help="fail where data are missing")
    parser.add_argument(
        "--readme", action="store_true", help="write the README's picture and what it quotes"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if not (asked.out or asked.readme):
        parser.error("say where with --out DIR, or --readme")
    try:
        recordings = Recordings(asked.root)
        if asked.readme:
            _write(asked.root, readme_files(asked.root, recordings))
        if not asked.out:
            return 0
        skipped = 0
        if not asked.only:
            _write_preview(asked.out, asked.root, recordings)
        for name in asked.only or (*catalogue.plots(asked.root), *catalogue.diagrams()):
            try:
                _draw(asked.out, name, asked.root, recordings)
            except NoSuchRun as missing:
                print(f"figures: {name} not drawn: {missing}", file=sys.stderr)
                _remove(asked.out, name)
                skipped += 1
        return 1 if skipped and asked.strict else 0
    except (DataError, RegionError, UnknownFigure, NoSuchRun) as error:
        print(f"figures: {error}", file=sys.stderr)
    except OSError as error:
        print(f"figures: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
