"""The rendered guide in a real browser, from the file system, as a reader opens it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
GUIDE = Path(os.environ.get("GUIDE_HTML", ROOT / "build" / "guide")).resolve()
CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
    pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine"),
]

CHAPTER = "chapters/chapter02_smem"
PAGES = ["index", CHAPTER, "embedded", "setup", "glossary"]
EVERY_PAGE = sorted(
    str(path.relative_to(GUIDE).with_suffix(""))
    for path in GUIDE.rglob("*.html")
    if "_static" not in path.parts
) or ["index"]
WIDTHS = [360, 1440]
SCHEMES = ["light", "dark"]


def address(page: str) -> str:
    return (GUIDE / f"{page}.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # No sandbox: containers that run as root have none. The pages are our own.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    wide = []
    for name in EVERY_PAGE:
        page.goto(address(name))
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    assert wide == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_no_serious_barrier(browser: Browser, name: str, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address(name))
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page).response["violations"]
    context.close()
    barriers = [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert barriers == []


def test_nothing_comes_from_elsewhere_and_nothing_fails(page: Page) -> None:
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    for name in [*PAGES, "search"]:
        page.goto(address(name))
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert failed == []


def test_search_works_from_the_file_system(page: Page) -> None:
    page.goto(address("index"))
    page.get_by_role("searchbox").or_(page.get_by_placeholder("Search")).first.fill("warp")
    page.keyboard.press("Enter")
    # Sphinx lists what it has found one by one.
    found = "[...document.querySelectorAll('ul.search li a')].some(a => a.href.includes('{}'))"
    page.wait_for_function(found.format("glossary.html"))
    page.wait_for_function(found.format("chapters/chapter"))


def test_answers_open_by_keyboard(page: Page) -> None:
    page.goto(address(CHAPTER))
    answer = page.locator("details.answer").first
    for _press in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('details.answer') !== null"):
            break
    else:
        pytest.fail("no answer is reached by Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline not in ("none", "")
    assert answer.get_attribute("open") is None
    page.keyboard.press("Enter")
    assert answer.get_attribute("open") is not None


def test_paper_has_the_answers(page: Page) -> None:
    page.goto(address(CHAPTER))
    folded = page.locator("details.answer > :not(summary)").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()


def test_skip_link_comes_first(page: Page) -> None:
    page.goto(address(CHAPTER))
    page.keyboard.press("Tab")
    reached = [page.evaluate("document.activeElement.className")]
    page.keyboard.press("Tab")
    reached.append(page.evaluate("document.activeElement.className"))
    assert any("skip-to-content" in name for name in reached)
    assert page.get_attribute("html", "lang") == "en"


def test_what_scrolls_is_reached_by_keyboard(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    page.goto(address(CHAPTER))
    unreached = page.eval_on_selector_all(
        ".highlight pre, .table-wrapper",
        "all => all.filter(one => one.scrollWidth > one.clientWidth && one.tabIndex !== 0).length",
    )
    scrolling = page.eval_on_selector_all(
        ".highlight pre", "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
    )
    assert scrolling > 0
    assert unreached == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_reads_without_scripts(browser: Browser, scheme: str) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address(CHAPTER))
    answer = page.locator("details.answer").first
    hidden = answer.locator("> :not(summary)").first
    assert not hidden.is_visible()
    answer.locator("summary").click()
    assert hidden.is_visible()
    for drawing in page.locator("figure.picture").all():
        shown = [image for image in drawing.locator("img").all() if image.is_visible()]
        assert len(shown) == 1
        assert re.search(r"\S", shown[0].get_attribute("alt") or "")
    context.close()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_ladder_prints_on_one_sheet(page: Page, paper: str) -> None:
    page.goto(address("ladder"))
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=paper))) == 1
