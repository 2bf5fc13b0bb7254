"""The still pictures of the steppers: they are what the steppers show, and need no script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common.records import columns
from docs.tests import stills
from docs.tests.test_browser import (
    GUIDE,
    SCHEMES,
    SETTLED,
    SIDEWAYS,
    WIDTHS,
    address,
    all_barriers,
    as_wide_as,
)
from docs.tests.test_run_here import OPEN, looked

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]

KEPT: dict[str, dict[str, Any]] = json.loads(columns.unpacked(stills.FILE))
RENEW = "python -m docs.tests.stills writes docs/stills.json.gz anew"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with looked(browser) as made:
        yield made


def test_every_panel_of_a_story_has_one() -> None:
    assert {name: sorted(panels) for name, panels in KEPT.items()} == {
        name: sorted(panels) for name, panels in stills.wanted().items()
    }, RENEW
    assert len(KEPT) > 10


@pytest.mark.parametrize("name", KEPT)
def test_they_are_what_the_steppers_show(page: Page, name: str) -> None:
    page.goto(address(name))
    shown = stills.read(page, stills.wanted()[name])
    assert shown == KEPT[name], RENEW
    # One lane more would be seen.
    panel, one = next(iter(KEPT[name].items()))
    spoiled = {**one, "warps": [[one["warps"][0][0], 32 * "?"], *one["warps"][1:]]}
    assert shown != {**KEPT[name], panel: spoiled}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_without_scripts_they_stand_where_the_panel_would(
    browser: Browser, width: int, scheme: str
) -> None:
    context = browser.new_context(
        java_script_enabled=False,
        color_scheme=scheme,  # type: ignore[arg-type]
        viewport={"width": width, "height": 900},
    )
    page = context.new_page()
    page.goto(address("chapters/chapter04_bank_conflicts"))
    panel = page.locator("#run-smem-loop")
    expect(panel.locator(".run-still")).to_be_hidden()
    panel.locator("> summary").click()
    still = panel.locator(".run-still")
    expect(still).to_be_visible()
    expect(still.locator(".step-grid .step-row")).to_have_count(8)
    cell = still.locator(".step-grid i.on").first
    box = cell.bounding_box()
    assert box and box["width"] > 3 and box["height"] > 8
    for one in (still, still.locator(".step-lanes"), still.locator(".step-grid")):
        found = one.bounding_box()
        assert found and found["x"] >= 0 and found["x"] + found["width"] <= width
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_they_have_no_barriers(page: Page, width: int) -> None:
    """As they stand where the panel's script can't be loaded."""
    as_wide_as(page, width)
    page.route("**/run.js", lambda route: route.abort())
    page.goto(address("chapters/chapter03_divergence"))
    panel = page.locator("#run-strided-index")
    panel.evaluate(OPEN)
    expect(panel.locator(".run-still")).to_be_visible()
    page.evaluate(SETTLED)
    assert not page.evaluate(SIDEWAYS)
    assert all_barriers(page) == set()
