"""The table of the chapters' faulty forms: none is missing, and what rejects each is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import Tag
from ladder import faults
from ladder.faults import BadFaults, Classic

from chapters.expected import CHAPTERS, Expected, expected
from chapters.tests.programs import run, variants
from common.records.mutants import NETS
from common.records.regions import regions
from docs.tests.conftest import Book, Built
from docs.tests.test_rendered import GUIDE, _parsed, guide_is_there

pytestmark = [pytest.mark.all, pytest.mark.built("guide")]

ROOT = Path(__file__).resolve().parents[2]
REGIONS = regions(ROOT)
ROWS = faults.classics(ROOT, REGIONS)
#: Which no program ships: the compiler refuses it.
REFUSED = {"typed-clash"}
#: Elements at which each form whose result alone is wrong shows it.
MANY = 65_536


def net_of(finding: str) -> str:
    return finding.split(":")[0]


def nets(told: Expected, variant: str) -> set[str]:
    """What rejects a form, as the chapter tells the tests of the embedded device."""
    if variant in told.wrong:
        return {"result"}
    found = {net_of(what) for what, *_lines in told.findings[variant]} or {"result"}
    return found | ({"schedule"} if variant in told.in_step else set())


def reported(row: Classic) -> set[str]:
    """The messages of a row, as findings have them."""
    return {f"{each.net}: {said}" for each in row.by for said in each.says}


def cells(page: Tag) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """By chapter and variant what a page's table says is wrong, and what rejects it."""
    found = {}
    for row in page.select("table.classics tbody tr"):
        form, wrong, by = row.select("th, td")
        (link,) = form.select("a")
        (name,) = form.select("code")
        key = (Path(str(link["href"])).stem, name.get_text())
        lines = [each.get_text() for each in by.select(".code-line")]
        assert key not in found
        found[key] = (wrong.get_text(" ", strip=True), lines)
    return found


def test_every_legacy_variant_has_a_row() -> None:
    shipped = {
        (chapter, name)
        for chapter in CHAPTERS
        for name, variant in variants(chapter).items()
        if variant.legacy
    }
    assert {(row.chapter, row.variant) for row in ROWS} == shipped
    assert len(ROWS) == len(shipped)


def test_the_words_are_of_the_code_that_runs() -> None:
    for row in ROWS:
        launched = f"run-{row.variant.replace('_', '-')}"
        assert row.region in (launched, variants(row.chapter)[row.variant].region), row


def test_every_faulty_region_is_in_a_row() -> None:
    shown = {row.region for row in ROWS}
    used = {name for region in shown for name in REGIONS[region].uses}
    kept = {name for name, region in REGIONS.items() if region.kind == "legacy"}
    assert kept - shown - used == REFUSED


def test_every_comment_of_a_fault_is_in_a_row() -> None:
    for row in ROWS:
        text = REGIONS[row.region].text
        said = len(re.findall(r"// (?:the )?fault\b", text)) - text.count(f": {faults.SAME}\n")
        assert len(row.faults) == said > 0, row
        assert not any(fault.words in (faults.ABOVE, faults.SAME) for fault in row.faults), row


def test_what_rejects_a_form_is_what_its_chapter_tells_the_tests() -> None:
    for row in ROWS:
        told = expected(row.chapter)
        assert {each.net for each in row.by} == nets(told, row.variant), row
        assert reported(row) == {what for what, *_lines in told.findings.get(row.variant, ())}, row


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.by[0].net == "result"],
    ids=lambda row: f"{row.chapter}-{row.variant}",
)
def test_a_form_that_no_checker_rejects_has_a_wrong_result(row: Classic) -> None:
    shape = ("--variant", row.variant, "--n", str(MANY), "--once")
    done = run(row.chapter, "--device", "embedded", *shape)
    assert done.returncode == 1, done.stderr
    assert re.search(rf"WRONG RESULT: {row.variant}\b", done.stderr), done.stderr


@guide_is_there
def test_the_page_shows_them_all() -> None:
    shown = cells(_parsed(GUIDE / "mutants.html"))
    assert {*shown} == {(row.chapter, row.variant) for row in ROWS}
    for row in ROWS:
        wrong, by = shown[row.chapter, row.variant]
        wrong = wrong.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        assert all(fault.words in wrong for fault in row.faults), row
        told = nets(expected(row.chapter), row.variant)
        assert {line.split(":")[0] for line in by} == {NETS[net] for net in told}, row


# ------------------------------------------------------------------------------- a made-up book

EXPECTED = """
from types import SimpleNamespace
EXPECTED = SimpleNamespace(findings={"smem_classic": {("race: read after write", "x"): set()}},
                           in_step={"smem_classic": "smem"}, wrong=())
"""
LEGACY = """
namespace chapter02::legacy {
// begin smem-classic
__global__ void smem_classic(int* v) {
  v[0] += v[1];  // fault 1: reads too far
  // fault 2: one lane
  // is ahead of another
  v[2] = 0;
}
// end smem-classic
}
"""
SOURCE = "Page\n====\n\n.. classic-faults:: all\n"


def chapter(book: Book, expected: str = EXPECTED, legacy: str = LEGACY) -> Built:
    folder = book.root / "chapters/chapter02_smem"
    (folder / "expected.py").write_text(expected, encoding="utf-8")
    (folder / "legacy.cuh").write_text(legacy, encoding="utf-8")
    page = ":orphan:\n\nTwo\n===\n"
    return book.build(index=SOURCE, chapters__chapter02_smem=page)


def test_a_row_has_the_comments_and_the_reports(recorded_book: Book) -> None:
    built = chapter(recorded_book)
    assert not built.warnings
    ((wrong, by),) = cells(built.page()).values()
    assert wrong == "v[0] += v[1]; // reads too far // one lane is ahead of another"
    assert by == ["race check: read after write", "wrong result with lanes apart"]

    told = EXPECTED.replace("race: read after write", "init: never written")
    ((_, by),) = cells(chapter(recorded_book, told).page()).values()
    assert by == ["check of unwritten memory: never written", "wrong result with lanes apart"]


@pytest.mark.parametrize(
    ("expected", "legacy", "said"),
    [
        (EXPECTED.replace("race:", "luck:"), LEGACY, "'luck' is none of result, stopped, race"),
        (EXPECTED, LEGACY.replace("fault", "fact"), "smem_classic: no comment"),
        (EXPECTED, LEGACY.replace("reads too far", "as above"), "no line above says how"),
    ],
)
def test_what_is_missing_is_told(
    recorded_book: Book, expected: str, legacy: str, said: str
) -> None:
    assert said in str(chapter(recorded_book, expected, legacy).warnings)


def test_a_fault_above_lends_its_words(recorded_book: Book) -> None:
    """To the same line of code alone."""
    again = LEGACY.replace("smem_classic", "first").replace("smem-classic", "first")
    chapter(recorded_book, legacy=again + LEGACY.replace("reads too far", "as above"))
    (row,) = faults.classics(recorded_book.root, regions(recorded_book.root))
    assert row.faults[0].words == "reads too far"
    other = LEGACY.replace(
        "v[0] += v[1];  // fault 1: reads too far", "v[3] = 0;  // fault: as above"
    )
    chapter(recorded_book, legacy=again + other)
    with pytest.raises(BadFaults, match=re.escape("'v[3] = 0;' is wrong as above")):
        faults.classics(recorded_book.root, regions(recorded_book.root))
