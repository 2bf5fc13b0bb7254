"""Run it here on a phone: fingers in place of a pointer, 360 px wide."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from docs.tests.test_browser import GUIDE, SCHEMES, SIDEWAYS, address
from docs.tests.test_run_here import PANEL, STORY, at_step, looked, opened, outcome

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]

WIDE, HIGH = 360, 740
#: As high as a finger needs, in px.
FINGER = 40
#: What is to be touched in a panel, and is lower than that.
SMALL = f"""panel => {{
  const touched = "button, summary, select, input[type=text], label:has(input)";
  const high = one => one.getBoundingClientRect().height;
  return [...panel.querySelectorAll(touched)]
    .filter(one => one.offsetParent && high(one) < {FINGER} - 0.5)
    .map(one => `${{one.tagName}} ${{one.textContent.trim().slice(0, 30)}} ${{high(one)}}`);
}}"""


@pytest.fixture(params=SCHEMES)
def phone(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    options = {
        "viewport": {"width": WIDE, "height": HIGH},
        "has_touch": True,
        "is_mobile": True,
        "device_scale_factor": 2,
        "color_scheme": request.param,
    }
    with looked(browser, **options) as made:
        yield made


def tapped(page: Page, panel: str = PANEL) -> Locator:
    """A panel that a finger has opened."""
    page.goto(address(STORY))
    found = page.locator(f"#{panel}")
    found.locator("> summary").tap()
    expect(found.locator(".run-form .run-go")).to_be_visible()
    return found


def sweep(page: Page, row: Locator, by: int) -> None:
    """One finger, over a row of the grid."""
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)
    points = [[{"x": x + by * part / 4, "y": y}] for part in range(5)]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[0]})
    for each in points[1:]:
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": each})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    touch.detach()


def test_it_runs_and_steps_by_finger(phone: Page) -> None:
    assert phone.evaluate("matchMedia('(pointer: coarse)').matches")
    panel = tapped(phone)
    panel.locator(".run-form .run-go").tap()
    assert outcome(panel).endswith("as expected.")
    panel.get_by_label("warp instructions").tap()
    assert phone.locator(".line.warm").count() > 0
    panel.get_by_role("button", name="Step through it").tap()
    expect(panel.locator(".step-body")).to_be_visible()
    here, last = at_step(panel)
    panel.get_by_role("button", name="One step forward").tap()
    assert at_step(panel)[0] == here + 1
    panel.get_by_role("button", name="Next access to memory").tap()
    expect(panel.locator(".step-said")).to_contain_text("memory")
    panel.get_by_role("button", name=re.compile(r"^warp 3\b")).tap()
    expect(panel.locator(".step-said")).to_contain_text("Warp 3")
    panel.get_by_role("button", name="Last step").tap()
    assert at_step(panel)[0] == last
    panel.get_by_role("button", name="Close").tap()
    expect(panel.locator(".run-steps")).to_be_hidden()


def test_a_sweep_over_the_grid_steps(phone: Page) -> None:
    panel = tapped(phone)
    panel.get_by_role("button", name="Step through it").tap()
    expect(panel.locator(".step-body")).to_be_visible()
    here, _last = at_step(panel)
    row = panel.locator(".step-grid .step-row").nth(1)
    sweep(phone, row, -120)
    assert at_step(panel)[0] == here + 1
    sweep(phone, row, 120)
    assert at_step(panel)[0] == here
    sweep(phone, row, 20)  # a tap that slips
    assert at_step(panel)[0] == here


def test_what_is_touched_is_as_high_as_a_finger(phone: Page) -> None:
    panel = tapped(phone)
    panel.locator(".run-presets button").last.tap()
    outcome(panel)
    panel.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert panel.evaluate(SMALL) == []
    panel.get_by_role("button", name="Step through it").tap()
    expect(panel.locator(".step-body")).to_be_visible()
    panel.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert panel.evaluate(SMALL) == []
    assert not phone.evaluate(SIDEWAYS)
    # A lower one is seen.
    phone.add_style_tag(content="body .run-here .step-row button { min-height: 0; height: 30px; }")
    assert len(panel.evaluate(SMALL)) == 8


def test_a_pointer_has_rows_of_its_own_height(browser: Browser) -> None:
    with looked(browser, viewport={"width": WIDE, "height": HIGH}) as page:
        panel = opened(page)
        panel.get_by_role("button", name="Step through it").click()
        row = panel.locator(".step-grid .step-row").first
        expect(row).to_be_visible()
        box = row.bounding_box()
        assert box and box["height"] < FINGER / 1.5
