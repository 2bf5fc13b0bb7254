"""The guide's own sources: what -W cannot see."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.rst"))


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def names(found: list[Path]) -> set[str]:
    assert found
    return {path.stem for path in found}


def test_every_chapter_has_its_page() -> None:
    folders = names([path for path in ROOT.glob("chapters/chapter*") if path.is_dir()])
    assert folders == names(list(DOCS.glob("chapters/chapter*.rst")))


def test_every_chapter_says_what_it_is_for_on_its_card() -> None:
    for path in DOCS.glob("chapters/chapter*.rst"):
        assert re.match(r":summary: \S", text(path)), f"{path.name} opens with no :summary:"


def test_every_header_of_common_is_in_the_api() -> None:
    headers = {path.name for path in (ROOT / "common/include/book").glob("*.hpp")}
    shown = re.findall(r"^\.\. header:: (\S+)$", text(DOCS / "api.rst"), re.MULTILINE)
    assert headers
    assert sorted(shown) == sorted(headers)


def test_every_source_is_cited_somewhere() -> None:
    keys = re.findall(r"^\.\. \[([\w-]+)\]", text(DOCS / "colophon.rst"), re.MULTILINE)
    assert {"face2ai", "shared-intro", "slides-ru", "seven-ways"} <= set(keys)
    everything = "".join(text(page) for page in PAGES)
    for key in keys:
        assert f"[{key}]_" in everything, f"{key} is never cited"


def test_colophon_names_every_extension() -> None:
    known = {"breathe": "breathe", "sphinx_copybutton": "sphinx-copybutton"}
    listed = re.search(r"^extensions = \[(.*)\]$", text(DOCS / "conf.py"), re.MULTILINE)
    assert listed
    used = {name.strip(' "') for name in listed[1].split(",")} - {"ladder"}
    for name in used:
        assert f":version:`{known[name]}`" in text(DOCS / "colophon.rst")


def test_no_page_links_by_hand_what_a_directive_knows() -> None:
    for page in PAGES:
        for directive in ("literalinclude", "figure", "image", "raw"):
            assert f".. {directive}::" not in text(page), f"{page.name} uses {directive}"


def test_the_citation_file_says_what_the_page_says() -> None:
    """What reference managers read, in the Citation File Format."""
    lines = text(ROOT / "CITATION.cff").splitlines()
    said = {
        key.strip(" -"): value.strip().strip('"')
        for key, _, value in (line.partition(":") for line in lines)
    }
    # Those that the format asks for, and those that we give: https://citation-file-format.github.io
    assert {"cff-version", "message", "title", "authors"} <= set(said)
    assert (said["cff-version"], said["type"]) == ("1.2.0", "software")
    released = date.fromisoformat(said["date-released"])
    page = " ".join(text(DOCS / "teaching.rst").split())
    assert f"{said['name']}, *{said['title']}*, {released.year}." in page
    assert f"under the {said['license']} licence below" in text(ROOT / "LICENSE")
