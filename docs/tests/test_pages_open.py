"""Every page opens in a browser from the file system, and none of its scripts fails."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from docs.tests.test_browser import EVERY_PAGE, GUIDE, SETTLED, address

pytestmark = [
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]


def opened(browser: Browser) -> tuple[Page, list[str]]:
    """A page, and what goes wrong in it from now on."""
    page, wrong = browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on("requestfailed", lambda request: wrong.append(f"{page.url}: no {request.url}"))
    page.on(
        "console", lambda said: said.type == "error" and wrong.append(f"{page.url}: {said.text}")
    )
    return page, wrong


def test_no_script_fails(browser: Browser) -> None:
    page, wrong = opened(browser)
    for name in EVERY_PAGE:
        page.goto(address(name))
        page.evaluate(SETTLED)
    page.close()
    assert len(EVERY_PAGE) > 40
    assert wrong == []


def test_a_script_that_fails_is_seen(browser: Browser) -> None:
    page, wrong = opened(browser)
    page.goto(address(EVERY_PAGE[0]))
    page.add_script_tag(content="addEventListener('load', nothing)")
    page.evaluate("setTimeout(() => { throw new Error('planted') })")
    page.evaluate(SETTLED)
    page.close()
    assert any("planted" in one for one in wrong) and any("nothing" in one for one in wrong)
