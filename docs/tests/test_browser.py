"""The rendered guide in a real browser, from the file system, as a reader opens it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pypdfium2 as pdfium
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

ROOT = Path(__file__).resolve().parents[2]
GUIDE = Path(os.environ.get("GUIDE_HTML", ROOT / "build" / "guide")).resolve()

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]

CHAPTER = "chapters/chapter02_smem"
#: With a picture in front of all questions.
PICTURED = "chapters/chapter03_divergence"
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
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(reduced_motion="reduce")
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    made = context.new_page()
    yield made
    made.close()


#: A window's new width and a fold's opening reach the page's scripts some frames later.
SETTLED = """() => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


def unfolded(page: Page, name: str) -> None:
    """Opens a page with all its folded passages open."""
    page.goto(address(name))
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.evaluate(SETTLED)


def as_wide_as(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(SETTLED)


#: On a phone it is not the document that would scroll, but what all of the page's content is in.
SIDEWAYS = """[document.documentElement, ...document.querySelectorAll(".content")]
  .some(one => one.scrollWidth > one.clientWidth)"""
#: The words of code in a line of text, short or long, that end on another line than they begin. Two
#: kinds of table break their code anywhere.
BROKEN = """short => [...document.querySelectorAll(`article code.literal${short} .pre`)]
  .filter(one => !one.closest("table"))
  .filter(one => new Set([...one.getClientRects()].map(each => Math.round(each.top))).size > 1)
  .map(one => one.textContent)"""


@pytest.mark.parametrize("width", WIDTHS)
def test_what_scrolls_sideways_is_seen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address(CHAPTER))
    assert not page.evaluate(SIDEWAYS)
    page.add_style_tag(content="article p { width: 200% }")
    assert page.evaluate(SIDEWAYS)


def test_short_code_stays_on_a_line_and_long_code_does_not(page: Page) -> None:
    """That short code does, on all pages: test_a_page_is_sound."""
    page.set_viewport_size({"width": 360, "height": 900})
    unfolded(page, "embedded_use")
    assert page.evaluate(BROKEN, ":not(.short)")
    page.add_style_tag(content="code.short .pre { white-space: normal !important }")
    assert any(text.startswith("--") for text in page.evaluate(BROKEN, ".short"))


#: Tables whose last columns have to be scrolled to.
WIDE = """() => [...document.querySelectorAll(".table-wrapper")]
  .filter(one => one.scrollWidth > one.clientWidth).length"""


@pytest.mark.parametrize("width", WIDTHS)
def test_verdicts_are_seen_beside_their_claims(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address("claims"))
    assert page.locator(".claim-verdict").count() > 0
    assert page.evaluate(WIDE) == 0
    page.add_style_tag(content="table.claims :is(code, code *) { white-space: nowrap !important }")
    assert page.evaluate(WIDE) > 0


def test_what_was_checked_opens_with_the_focus_and_closes_with_escape(page: Page) -> None:
    page.goto(address(CHAPTER))
    claim = page.locator(".claim").first
    proof = claim.locator(".claim-proof")
    assert not proof.is_visible()
    claim.focus()
    assert proof.is_visible()
    page.keyboard.press("Escape")
    assert not proof.is_visible()
    claim.blur()
    claim.focus()
    assert proof.is_visible()


# ------------------------------------------------------------------ barriers

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
#: What costs most of axe's time, and is the same for all elements of a kind.
COLOURS = ["color-contrast", "link-in-text-block"]
#: Furo opens its drawers on a phone by two check boxes before all landmarks: its style needs them
#: there.
ACCEPTED = ("region", "sidebar-toggle")
#: Leaves of each kind of element one, from the leaves up: a kind has the same names above it, too.
ONE_OF_A_KIND = """() => {
  const kinds = new Set();
  const kind = one => one
    ? `${kind(one.parentElement)} ${one.localName}.${one.getAttribute("class")}` : "";
  for (const one of [...document.body.querySelectorAll("*")].reverse()) {
    if (one.childElementCount) continue;
    if (kinds.has(kind(one))) one.remove();
    else kinds.add(kind(one));
  }
}"""


#: Most of a page's elements are words of listings, each with a colour. Only rules on colours look
#: at them: for the others they become text, and `COLOURED` has them back.
UNCOLOURED = """() => {
  window.listings = [...document.querySelectorAll("pre, code")]
    .filter(one => !one.parentElement.closest("pre, code"))
    .map(coloured => {
      const plain = coloured.cloneNode(true);
      const shown = coloured.querySelectorAll("span");
      plain.querySelectorAll("span").forEach((word, at) => {
        const silent = word.getAttributeNames().every(name => name === "class");
        if (silent && !word.childElementCount && getComputedStyle(shown[at]).display === "inline")
          word.replaceWith(...word.childNodes);
      });
      plain.normalize();
      return {coloured, plain};
    });
  for (const {coloured, plain} of listings) coloured.replaceWith(plain);
}"""
COLOURED = "() => { for (const {coloured, plain} of listings) plain.replaceWith(coloured); }"


def barriers(page: Page, rules: dict[str, object]) -> list[str]:
    """What axe, which the page has, finds by some of its rules: the rule and what breaks it."""
    found = page.evaluate("rules => axe.run({resultTypes: ['violations'], ...rules})", rules)
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found["violations"]
        for node in one["nodes"]
        if one["id"] != ACCEPTED[0] or ACCEPTED[1] not in node["html"]
    ]


def all_barriers(page: Page) -> set[str]:
    """At both widths, and in both colour schemes what depends on colours.

    From the top of the page: further down, while a page scrolls up, the theme offers to go there.
    """
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(".back-to-top")).to_be_hidden()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = []
    page.evaluate(UNCOLOURED)
    for width in reversed(WIDTHS):  # a page is mostly as wide as this when it comes here
        as_wide_as(page, width)
        found += barriers(page, {"rules": {rule: {"enabled": False} for rule in COLOURS}})
    page.evaluate(COLOURED)
    page.evaluate(ONE_OF_A_KIND)
    for width in WIDTHS:
        as_wide_as(page, width)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found += [f"{scheme}, {one}" for one in barriers(page, {"runOnly": COLOURS})]
    return set(found)


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_a_page_is_sound(page: Page, name: str) -> None:
    """All that is looked at on every page: to open it takes as long as to look."""
    page.set_viewport_size({"width": 360, "height": 900})
    unfolded(page, name)
    assert not page.evaluate(SIDEWAYS), "the page scrolls sideways on a phone"
    assert page.evaluate(BROKEN, ".short") == [], "short code is on two lines"
    assert small_letters(page) == [], "letters in a picture can't be read on a phone"
    as_wide_as(page, 1440)
    assert not page.evaluate(SIDEWAYS), "the page scrolls sideways"
    assert all_barriers(page) == set()


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("one => [...one.querySelectorAll('img')].find(i => i.offsetParent).removeAttribute('alt')",
         "image-alt"),
        ("one => one.querySelector('h1').remove()", "page-has-heading-one"),
        ("one => [...one.querySelectorAll('th')].find(t => t.offsetParent).textContent = ''",
         "empty-table-header"),
        ("one => one.insertAdjacentHTML('beforeend', '<p role=list><b role=note>x</b></p>')",
         "aria-required-children"),
        ("one => one.insertAdjacentHTML('beforeend', '<input>')", "label"),
        ("() => document.querySelectorAll('aside').forEach(a => a.removeAttribute('aria-label'))",
         "landmark-unique"),
        ("one => one.querySelector('pre span').setAttribute('aria-hidden', 'maybe')",
         "aria-valid-attr-value"),
        ("one => one.querySelectorAll('pre span').forEach(w => w.style.color = '#999')",
         "light, color-contrast"),
        ("one => one.querySelector('p').style.color = 'light-dark(#999, #aaa)'",
         "light, color-contrast"),
        ("one => one.querySelector('p').style.color = 'light-dark(#555, #666)'",
         "dark, color-contrast"),
    ],
)  # fmt: skip
def test_a_barrier_is_named(page: Page, fault: str, rule: str) -> None:
    unfolded(page, PICTURED)
    page.eval_on_selector("article", fault)
    assert rule in {one.split(": ")[0] for one in all_barriers(page)}


# ------------------------------------------------------------------ how it works


def test_nothing_comes_from_elsewhere_and_nothing_fails(page: Page) -> None:
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    for name in [*PAGES, "search"]:
        # A panel that stands open fetches its scripts afterwards; leaving the page would end that.
        page.goto(address(name), wait_until="networkidle")
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert failed == []


@pytest.fixture
def searcher(browser: Browser) -> Iterator[Page]:
    """A page of its own store: what was searched for is marked on the pages read next."""
    made = browser.new_context()
    yield made.new_page()
    made.close()


def test_search_works_from_the_file_system(searcher: Page) -> None:
    searcher.goto(address("index"))
    searcher.get_by_role("searchbox").or_(searcher.get_by_placeholder("Search")).first.fill("warp")
    searcher.keyboard.press("Enter")
    # Sphinx lists what it has found one by one.
    found = "[...document.querySelectorAll('ul.search li a')].some(a => a.href.includes('{}'))"
    searcher.wait_for_function(found.format("glossary.html"))
    searcher.wait_for_function(found.format("chapters/chapter"))


@pytest.mark.parametrize(
    ("words", "answer"),
    [("warp", r"found \d+ pages matching"), ("nosuchword", "did not match any documents")],
)
def test_search_page_says_what_it_found(searcher: Page, words: str, answer: str) -> None:
    searcher.goto(address("search"))
    status = searcher.get_by_role("status")  # there before anything is said in it
    assert status.text_content() == ""
    assert searcher.get_by_role("heading", level=1).text_content() == "Search"
    field = searcher.locator("article").get_by_label("Search")
    field.fill(words)
    field.press("Enter")
    expect(status).to_have_text(re.compile(answer))
    expect(field).to_have_value(words)
    said_twice = searcher.get_by_text(re.compile(answer)).filter(visible=True)
    assert said_twice.count() == 1


def test_answers_open_by_keyboard(page: Page) -> None:
    page.goto(address(CHAPTER))
    fold = ".box-exercise details.answer"
    answer = page.locator(fold).first
    for _press in range(400):
        page.keyboard.press("Tab")
        if page.evaluate(
            "document.activeElement.matches('.box-exercise details.answer > summary')"
        ):
            break
    else:
        pytest.fail("no answer is reached by Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline not in ("none", "")
    assert answer.get_attribute("open") is None
    page.keyboard.press("Enter")
    assert answer.get_attribute("open") is not None


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
    answer.locator("> summary").click()
    assert hidden.is_visible()
    # Others are in folds that are closed.
    drawings = [one for one in page.locator("figure.picture").all() if one.is_visible()]
    assert drawings
    for drawing in drawings:
        shown = [image for image in drawing.locator("img").all() if image.is_visible()]
        assert len(shown) == 1
        assert re.search(r"\S", shown[0].get_attribute("alt") or "")
    context.close()


# ------------------------------------------------------------------ predictions


@pytest.fixture
def player(browser: Browser) -> Iterator[Page]:
    """A page of its own store, on a phone."""
    made = browser.new_context(viewport={"width": 360, "height": 740})
    yield made.new_page()
    made.close()


def _guess(page: Page, at: int) -> bool:
    """Locks in the box's first choice, or its slider's middle; whether that was right."""
    box = page.locator("[data-guess]").nth(at)
    assert not box.locator("details.answer").is_visible(), "the answer is hidden until then"
    choices = box.get_by_role("radio")
    if choices.count():
        choices.first.check()
    else:
        box.get_by_role("button", name="Lock in my guess").click()
        expect(box.locator(".guess-hint")).to_have_text("Move the slider first.")
        box.get_by_role("slider").fill("200")
    box.get_by_role("button", name="Lock in my guess").click()
    assert box.locator("details.answer > :not(summary)").first.is_visible()
    expect(box.locator(".guess-result")).to_contain_text("You said")
    return bool(box.locator(".guess-result.won").count())


def test_a_chapter_is_played_and_the_score_is_kept(player: Page) -> None:
    player.goto(address(CHAPTER))
    count = player.locator("[data-guess]").count()
    assert count >= 2
    blank = player.locator("#you-are-here .blank")
    assert blank.count() > 0
    for end in (".climb-strip", ".climb-reached"):
        assert not player.locator(f"{end} .blank .measured").first.is_visible()
        assert not player.locator(f"{end} .blank .climb-change").first.is_visible()
    assert not player.locator(".rung").is_visible()
    won = sum(_guess(player, at) for at in range(count))
    assert player.locator(".climb-strip .blank").count() == 0
    assert player.locator(".rung").is_visible()
    score = f"You {won} : {count - won} H200"
    expect(player.locator(".guess-score").first).to_contain_text(score)

    player.reload()
    expect(player.locator(".guess-score").first).to_contain_text(score)
    assert player.locator("form.guess-form:visible").count() == 0
    player.goto(address("index"))
    expect(player.locator(".guess-score")).to_contain_text(score)
    own = player.locator(f".climb-bar[data-rung^='{CHAPTER.removeprefix('chapters/')}/']")
    assert own.count() and "blank" not in (own.first.get_attribute("class") or "")

    forget = player.get_by_role("button", name="Forget all my guesses")
    forget.click()
    expect(player.locator(".guess-score")).to_contain_text("No guesses yet")
    player.get_by_role("button", name="Undo").click()
    expect(player.locator(".guess-score")).to_contain_text(score)
    forget.click()
    player.goto(address(CHAPTER))
    expect(player.locator(".guess-score").first).to_contain_text("No guesses yet")
    assert player.locator("form.guess-form:visible").count() == count


def test_a_slider_shows_no_guess_until_there_is_one(player: Page) -> None:
    """And its lowest value can be one."""
    player.goto(address(CHAPTER))
    box = player.locator("[data-guess]").first
    slider, value = box.get_by_role("slider"), box.locator(".guess-value")
    expect(value).to_have_text("Tap or drag to guess")
    expect(slider).to_have_class("unset")
    box.get_by_role("button", name="Lock in my guess").click()
    expect(box.locator(".guess-hint")).to_have_text("Move the slider first.")
    slider.press("Home")
    expect(value).to_have_text("0.5×")
    expect(slider).not_to_have_class("unset")
    expect(box.locator(".guess-hint")).to_have_text("")
    player.reload()
    place = slider.bounding_box()
    assert place
    player.mouse.click(place["x"] + 2, place["y"] + place["height"] / 2)
    expect(slider).not_to_have_class("unset")


def test_faster_is_no_guess_for_slower(player: Page) -> None:
    """However near to each other the two are: chapter 4's sum is 1.05 times as fast."""
    player.goto(address("chapters/chapter04_bank_conflicts"))
    box = player.locator("[data-guess]:has(.guess-scale)").first
    for step, won in ((120, False), (140, True)):  # 0.93 and 1.04 times
        box.get_by_role("slider").fill(str(step))
        box.get_by_role("button", name="Lock in my guess").click()
        expect(box.locator(".guess-result")).to_have_class(
            "guess-result won" if won else "guess-result lost"
        )
        box.get_by_role("button", name="Guess again").click()
    expect(box.locator("form")).to_be_visible()
    expect(player.locator(".guess-score").first).to_contain_text("No guesses yet")


def test_a_question_that_is_answered_shows_what_there_was_to_choose(player: Page) -> None:
    player.goto(address(CHAPTER))
    box = player.locator("[data-guess]:has(input[type=radio])").first
    texts = [one.inner_text().strip() for one in box.locator("label").all()]
    box.get_by_role("radio").first.check()
    box.get_by_role("button", name="Lock in my guess").click()
    shown = box.locator(".guess-shown li")
    assert shown.all_inner_texts() == [f"{texts[0]} (your guess)", *texts[1:]]
    assert box.locator(".guess-shown li.right").count() == 1


def test_the_score_stands_beneath_the_first_question_and_the_answered_ones(player: Page) -> None:
    player.goto(address(CHAPTER))
    scores = player.locator(".guess-score")
    assert [one.is_visible() for one in scores.all()] == [True] + [False] * (scores.count() - 1)
    _guess(player, 1)
    assert [one.is_visible() for one in scores.all()][:3] == [True, True, False]


def test_the_list_of_pages_shows_the_one_that_is_open(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 600})
    for name in ("colophon", "notebooks/chapter14_many_gpus", "index"):
        page.goto(address(name))
        line = page.locator(".sidebar-scroll li.current-page > a")
        box = line.bounding_box() if line.count() else None
        assert name == "index" or (box and 0 <= box["y"] < 600), name
        assert page.evaluate("scrollY") == 0
    page.close()


def test_a_guess_is_locked_in_by_keyboard(player: Page) -> None:
    player.goto(address(CHAPTER))
    form = player.locator("form.guess-form").first
    (form.get_by_role("slider").or_(form.get_by_role("radio"))).first.focus()
    player.keyboard.press("Space")
    player.keyboard.press("ArrowRight")
    player.keyboard.press("Tab")
    assert player.evaluate("document.activeElement.textContent") == "Lock in my guess"
    player.keyboard.press("Enter")
    said = player.evaluate("document.activeElement.textContent")
    assert said.startswith("You said"), "what came of it is where the keyboard is, and is read out"


def test_who_only_looks_sees_the_climb_grow_and_scores_nothing(player: Page) -> None:
    player.goto(address(CHAPTER))
    player.get_by_role("button", name="Just show me").first.click()
    player.reload()
    assert player.locator("details.answer:visible").count() >= 1
    assert player.locator("#you-are-here .blank").count() == 0
    expect(player.locator(".guess-score").first).to_contain_text("No guesses yet")


def test_everything_is_shown_without_playing(player: Page) -> None:
    player.goto(address(CHAPTER))
    player.get_by_role("button", name="Show all answers").click()
    assert player.locator("form.guess-form:visible").count() == 0
    assert player.locator("#you-are-here .blank").count() == 0
    assert player.locator("[data-guess] details.answer:visible").count() >= 2
    expect(player.locator(".guess-score").first).to_contain_text("No guesses yet")


def test_a_broken_store_stops_nothing(player: Page) -> None:
    player.goto(address(CHAPTER))
    for kept in ("{", "null", "7", '{"guesses": 1}', '{"guesses": {"x": null}}'):
        player.evaluate("kept => localStorage.setItem('reduction-ladder', kept)", kept)
        player.reload()
        assert player.locator("form.guess-form:visible").count() >= 2, kept


#: CSS pixels that letters in a picture have at least, on the narrowest phone.
LEAST_LETTER = 11
#: Each drawing that is shown: its file, and its width on the page.
SHOWN_WIDTHS = """() => [...document.querySelectorAll("figure.picture img")]
  .filter(one => one.offsetParent)
  .map(one => [decodeURIComponent(new URL(one.src).pathname), one.clientWidth])"""


def smallest_letter(svg: str, width: float) -> float:
    """In CSS pixels, of a drawing that is so wide on the page."""
    (own,) = re.findall(r'viewBox="0 0 ([\d.]+)', svg)
    sizes = re.findall(r"font: (?:[a-z]+ )*([\d.]+)px|font-size: ?([\d.]+)px", svg)
    return min(float(one or other) for one, other in sizes) * width / float(own)


def small_letters(page: Page) -> list[str]:
    """The drawings with letters that are too small at the page's width."""
    shown = page.evaluate(SHOWN_WIDTHS)
    return [
        f"{Path(path).name}: {letter:.1f} px"
        for path, width in shown
        if (letter := smallest_letter(Path(path).read_text(encoding="utf-8"), width)) < LEAST_LETTER
    ]


def test_small_letters_are_seen(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    unfolded(page, PICTURED)
    shown = len(page.evaluate(SHOWN_WIDTHS))
    assert shown and small_letters(page) == []
    page.add_style_tag(content="figure.picture img { width: 200px !important }")
    assert len(small_letters(page)) == shown
    seen = 0
    for name in EVERY_PAGE:
        if seen <= 20 and name.startswith("notebooks/"):
            page.goto(address(name))
            seen += len(page.evaluate(SHOWN_WIDTHS))
    assert seen > 20


def test_a_picture_opens_larger(player: Page) -> None:
    player.goto(address(PICTURED))
    picture = player.locator("figure.picture").filter(visible=True).first
    small = picture.locator("img:visible").bounding_box()
    picture.get_by_role("button", name="Larger").click()
    large = player.locator("dialog.larger[open] img").bounding_box()
    assert small and large and large["width"] > 1.5 * small["width"]
    player.keyboard.press("Escape")
    assert player.locator("dialog.larger[open]").count() == 0


# ------------------------------------------------------------------ paper

#: Browsers leave about a centimetre at each edge.
MARGIN_CM = 1.0
WIDTH_CM = {"A4": 21.0, "Letter": 21.59}
PIXELS_PER_CM = 96 / 2.54
#: How much of a page must be used, its last one apart.
LEAST_FILLED = 0.4
#: What ends beyond the page's edge, or beyond that of its own box.
CUT = """() => [...document.querySelectorAll("article :is(code, h2, img, li, p, pre, td, th)")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1
    || one.localName === "pre" && one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.localName}: ${one.textContent.trim().slice(0, 60)}`)"""


def printed(page: Page, paper: str) -> pdfium.PdfDocument:
    edges = dict.fromkeys(("top", "bottom", "left", "right"), f"{MARGIN_CM}cm")
    return pdfium.PdfDocument(page.pdf(format=paper, margin=edges))  # type: ignore[arg-type]


def unbroken(text: str) -> str:
    """Without white space and hyphens: lines break anywhere, and a hyphen there may be lost."""
    return re.sub(r"[\s\x02\ufffe-]", "", text)


def words_of(sheets: pdfium.PdfDocument) -> str:
    """What is printed, as ``unbroken`` gives it."""
    return unbroken("".join(one.get_textpage().get_text_range() for one in sheets))


def filled(sheets: pdfium.PdfDocument) -> list[float]:
    """How far down each page something is printed, as a part of its height."""
    parts = []
    for sheet in sheets:
        ink = sheet.render(scale=0.5, grayscale=True).to_numpy() < 200
        (rows,) = ink.any(axis=1).nonzero()
        parts.append((rows[-1] + 1) / len(ink) if len(rows) else 0.0)
    return parts


def half_empty(sheets: pdfium.PdfDocument) -> list[int]:
    """The pages, counted from 1, that end early: the last may."""
    return [at for at, part in enumerate(filled(sheets)[:-1], 1) if part < LEAST_FILLED]


def cut(page: Page, paper: str) -> list[str]:
    """What is cut at an edge when the page is printed."""
    width = round((WIDTH_CM[paper] - 2 * MARGIN_CM) * PIXELS_PER_CM)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="print", color_scheme="light")
    return list(page.evaluate(CUT))


def test_paper_has_the_answers(page: Page) -> None:
    page.goto(address(CHAPTER))
    folded = page.locator("details.answer > :not(summary, .run-here)")
    assert not any(one.is_visible() for one in folded.all())
    page.emulate_media(media="print")
    assert all(one.is_visible() for one in folded.all())


@pytest.mark.parametrize("paper", WIDTH_CM)
def test_a_chapter_prints_whole(page: Page, paper: str) -> None:
    page.goto(address(CHAPTER))
    # Line numbers stand beside the code.
    page.eval_on_selector_all(".linenos", "all => all.forEach(one => one.remove())")
    lines = [
        line
        for code in page.locator("article pre").all()
        for line in (code.text_content() or "").splitlines()
    ]
    widest = unbroken(max(lines, key=len))
    sheets = printed(page, paper)
    assert widest in words_of(sheets)
    assert "Skiptocontent" not in words_of(sheets)


def test_no_sheet_is_half_empty_and_nothing_is_cut(page: Page) -> None:
    empty, lost = {}, {}
    for name in EVERY_PAGE:
        page.goto(address(name))
        empty[name] = half_empty(printed(page, "A4"))
        lost[name] = cut(page, "A4")
    assert {name: sheets for name, sheets in empty.items() if sheets} == {}
    assert {name: what for name, what in lost.items() if what} == {}


def spoiled(page: Page, style: str) -> Page:
    page.goto(address(CHAPTER))
    page.add_style_tag(content=f"@media print {{ {style} }}")
    return page


def test_faults_of_paper_are_seen(page: Page) -> None:
    spoiled(page, ".skip-to-content { display: block !important }")
    assert "Skiptocontent" in words_of(printed(page, "A4"))
    spoiled(page, "article .box { break-before: page !important }")
    assert half_empty(printed(page, "A4"))
    spoiled(page, "article .highlight pre { white-space: pre !important }")
    assert any(one.startswith("pre: ") for one in cut(page, "A4"))


@pytest.mark.parametrize("paper", WIDTH_CM)
def test_the_ladder_prints_on_one_sheet(page: Page, paper: str) -> None:
    page.goto(address("ladder"))
    assert len(printed(page, paper)) == 1
