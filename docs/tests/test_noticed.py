"""What the timer noticed on the reader's card stands in the reader's guide, and only there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from common.records import columns
from docs.tests.conftest import GMEM, SMEM, Book, Built

pytestmark = pytest.mark.all

PAGES = {
    "index": "Home\n====\n\n.. noticed::\n",
    f"chapters__{GMEM}": f":orphan:\n\nOne\n===\n\n:measured:`{GMEM} gmem median`\n",
    f"chapters__{SMEM}": f":orphan:\n\nTwo\n===\n\n:measured:`{SMEM} smem median`\n",
    f"notebooks__{SMEM}": ":orphan:\n\nMore of two\n===========\n\nWords.\n",
}
#: Those of the chapter that the tests spoil, and the home page.
TOLD = ["index", f"chapters/{SMEM}", f"notebooks/{SMEM}"]


def clocks(after: int) -> dict[str, Any]:
    state = {"name": "a card", "memory_mhz": 3201, "power_limit_w": None, "temperature_c": None}
    return {"before": {**state, "sm_mhz": 1980}, "after": {**state, "sm_mhz": after}}


def record(book: Book, *, later: float = 1.0, mhz: int = 1980) -> None:
    """The reader's card. The second chapter's *later* pass takes so many times as long, and the
    clock is at *mhz* then."""
    local = book.local()
    local.time(GMEM, "gmem", 900.0)
    for n, us in ((2**24, 720.0), (2**28, 12000.0)):  # as far as the book's own goes
        local.time(SMEM, "smem", us, us * later, n=n)
    local.write()
    for chapter, after in ((GMEM, 1980), (SMEM, mhz)):
        path = local.folder / f"{chapter}.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(data | {"clocks": clocks(after)}), encoding="utf-8")


def told(built: Built) -> dict[str, list[str]]:
    """Each page's notices, by the page, after the title of their box."""
    assert built.warnings == []
    return {
        name: [" ".join(each.get_text().split()) for each in box.select(".admonition-title, li")]
        for name in built.html
        for box in built.page(name).select(".noticed")
    }


def test_a_clock_that_dropped_and_a_drift_are_told(recorded_book: Book) -> None:
    record(recorded_book, later=1.2, mhz=900)
    found = told(recorded_book.build(**PAGES))
    assert sorted(found) == sorted(TOLD), "and not on the pages of the other chapter"
    dropped = "Clock dropped. Right after chapter 2, nvidia-smi read an SM clock of 900 MHz: 55 %"
    drift = "Drift between passes. Chapter 2 took longer in a later pass than in the first"
    for name in TOLD:
        assert found[name][1].startswith(dropped)
        assert found[name][2].startswith(drift)
    assert found["index"][0] == "What we noticed while your GTX 1080 was measured"
    head = "Take your GTX 1080\u2019s times in this chapter with care"
    assert {found[name][0] for name in TOLD[1:]} == {head}


def test_a_drift_alone_is_told(recorded_book: Book) -> None:
    record(recorded_book, later=1.2)
    found = told(recorded_book.build(**PAGES))
    assert [line.split(".")[0] for line in found[f"chapters/{SMEM}"][1:]] == [
        "Drift between passes"
    ]


def test_what_is_of_no_chapter_stands_on_the_home_page_alone(recorded_book: Book) -> None:
    record(recorded_book)
    path = recorded_book.local().folder / f"{SMEM}.json"
    data = columns.read(path)
    for run in data["runs"]:
        run["stopped_by"] = "seconds"
    columns.write(path, data)
    found = told(recorded_book.build(**PAGES))
    assert list(found) == ["index"]
    assert "Samples far apart" in "".join(found["index"])


def test_a_steady_recording_and_none_say_nothing(recorded_book: Book) -> None:
    assert told(recorded_book.build(**PAGES)) == {}
    record(recorded_book)
    assert told(recorded_book.build()) == {}
    # The first pages that it concerns are made again as soon as there is something to tell.
    record(recorded_book, later=1.2)
    assert sorted(told(recorded_book.build())) == sorted(TOLD)
