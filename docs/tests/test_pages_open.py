"""Every page opens in a browser, with its folds, a kernel runs in one, and no script fails."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, Request

from docs.tests import test_run_here as panels
from docs.tests.test_browser import EVERY_PAGE, GUIDE, SETTLED, address, unfolded

pytestmark = [
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]


def missed(request: Request) -> bool:
    """Not what ended because the page was left."""
    return request.failure != "net::ERR_ABORTED"


def opened(browser: Browser) -> tuple[Page, list[str]]:
    """A page, and what goes wrong in it from now on."""
    page, wrong = browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on("requestfailed", lambda request: missed(request) and wrong.append(request.url))
    page.on(
        "console", lambda said: said.type == "error" and wrong.append(f"{page.url}: {said.text}")
    )
    return page, wrong


def test_no_script_fails(browser: Browser) -> None:
    page, wrong = opened(browser)
    for name in EVERY_PAGE:
        unfolded(page, name)
        page.wait_for_load_state("networkidle")  # what a fold loads when it opens
    page.close()
    assert len(EVERY_PAGE) > 40
    assert wrong == []


def test_a_kernel_runs_in_a_page(browser: Browser) -> None:
    with panels.looked(browser) as page:
        panel = panels.opened(page)
        assert panels.run(panel, n="2^14", block="256").endswith("as expected.")


def test_a_script_that_fails_is_seen(browser: Browser) -> None:
    page, wrong = opened(browser)
    page.goto(address(EVERY_PAGE[0]))
    page.add_script_tag(content="addEventListener('load', nothing)")
    page.evaluate("setTimeout(() => { throw new Error('planted') })")
    page.evaluate(SETTLED)
    page.close()
    assert any("planted" in one for one in wrong) and any("nothing" in one for one in wrong)
