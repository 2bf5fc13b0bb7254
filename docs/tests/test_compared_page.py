"""The page of tools/compare in a browser: nothing stands in a reader's way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

import docs.tests.conftest  # noqa: F401  finds the extension
from docs.page_source import DOCS
from docs.tests.test_browser import (
    AXE,
    COLOURS,
    ONE_OF_A_KIND,
    SCHEMES,
    WIDTHS,
    as_wide_as,
    barriers,
)
from tools.comparing.command import book, compare
from tools.comparing.comparison_page import html
from tools.comparing.tests import made_up

pytestmark = [pytest.mark.all, pytest.mark.built()]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a page with all that a page can have: a made-up card with warnings, and the book's."""
    folder = tmp_path_factory.mktemp("page")
    laptop = made_up.write(folder / "laptop", made_up.LAPTOP)
    asked = [str(laptop), "nvidia-h100", "nvidia-h200"]
    file = folder / "page.html"
    file.write_text(html(compare(asked, book(), [DOCS / "your_card.rst"])), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    # The page lets no script run; axe is the test's own.
    made = browser.new_page(bypass_csp=True)
    made.goto(address)
    made.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield made
    made.close()


def found(page: Page) -> set[str]:
    """What axe finds, at a phone's width what doesn't depend on colours."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    as_wide_as(page, WIDTHS[0])
    said = barriers(page, {"rules": {rule: {"enabled": False} for rule in COLOURS}})
    page.evaluate(ONE_OF_A_KIND)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        said += [f"{scheme}, {one}" for one in barriers(page, {"runOnly": COLOURS})]
    return set(said)


def test_no_barrier(page: Page) -> None:
    assert found(page) == set()


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("one => one.querySelectorAll('.light svg').forEach(s => s.removeAttribute('aria-label'))",
         "svg-img-alt"),
        ("one => one.querySelectorAll('figcaption').forEach(c => c.style.color = '#999')",
         "light, color-contrast"),
        ("one => one.querySelectorAll('.warning').forEach(w => w.style.color = '#a00')",
         "dark, color-contrast"),
        ("one => one.querySelector('h1').remove()", "page-has-heading-one"),
    ],
)  # fmt: skip
def test_a_barrier_is_named(page: Page, fault: str, rule: str) -> None:
    page.eval_on_selector("main", fault)
    assert any(rule in one for one in found(page))


@pytest.mark.parametrize("width", [390, *WIDTHS])
def test_the_page_does_not_scroll_sideways(page: Page, width: int) -> None:
    as_wide_as(page, width)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.eval_on_selector("main", "one => one.style.minWidth = '200vw'")
    assert page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_each_scheme_shows_its_own_drawings(page: Page) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        shown = page.eval_on_selector_all(
            "figure div", "all => all.filter(one => one.offsetParent).map(one => one.className)"
        )
        assert {one for one in shown if one in SCHEMES} == {scheme}
