"""Every chapter has its story and its notebook, with all their parts and their words linked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from docutils import nodes

from docs import page_source as pages
from docs.page_source import CHAPTERS, DOCS, NOTEBOOKS, Page, Section
from figures import chapters
from figures.kit.chapter import number_of

#: What a story may lack. The measuring page is no rung, and its programs are all about what goes
#: wrong; nothing comes before the first kernel.
EXEMPT = {
    "chapter00_timing": {
        "an earlier chapter linked", "changed", "rung", "pitfall", "the next chapter at the end",
    },
    "chapter01_gmem": {"an earlier chapter linked", "changed"},
    # GPUs that wait for each other aren't counted. Its exercises are sums on paper, and about code
    # that the program has.
    "chapter14_many_gpus": {"the rung's options", "an answer in code"},
}  # fmt: skip
LEAST_WORDS, MOST_WORDS = 900, 1800
#: The book's first kernel stands within so many words.
SOON = 500

#: The sections that a story ends in, in this order.
SECTIONS = ("What goes wrong", "Exercises", "Recap")
RUNG = {"before", "after", "predicted", "gained", "counter"}
#: What shows measured data: a guess comes before it.
SHOWS = ("plot", "numbers", "counters", "floors", "matrix", "finished", "output")
#: A result as a heading or a card would give it away.
RESULT = re.compile(r"\d\s*(\u00d7|%|GB/s|TB/s|\u00b5s|ms\b|times\b)|:(ratio|measured):")


def _section(page: Page, name: str) -> list[Section]:
    return [one for one in page.sections() if one.name == name]


def _links(node: nodes.Node, *names: str) -> list[str]:
    return [found["target"] for found in node.findall(pages.role) if found["name"] in names]


def _follower(page: Page) -> str | None:
    """The page of the next chapter there is."""
    names = [path.stem for path in CHAPTERS]
    place = names.index(page.name) + 1
    return names[place] if place < len(names) else None


def _played(page: Page) -> list[pages.directive]:
    return [one for one in page.directives("predict") if one["options"]]


def _titles(page: Page) -> Iterator[str]:
    for title in page.tree.findall(nodes.title):
        yield title.astext()


def faults(page: Page) -> list[str]:
    """What a story lacks."""
    exempt = EXEMPT.get(page.name, set())
    found: list[str] = []

    def want(holds: object, what: str) -> None:
        if not holds and what not in exempt:
            found.append(what)

    def inside(name: str, *wanted: str) -> list[pages.directive]:
        return [one for section in _section(page, name) for one in section.directives(*wanted)]

    want(page.fields.get("summary", "").strip(), ":summary:")
    want(page.fields.get("question", "").endswith("?"), ":question:")
    want(page.fields.get("goal", "").strip(), ":goal:")
    want(re.fullmatch(r"\d+(\.5)?", page.fields.get("hours", "")), ":hours:")
    fields = [page.fields.get(name, "") for name in ("summary", "question", "goal")]
    for said in (*fields, *_titles(page)):
        want(not RESULT.search(said), f"no result given away: {said}")
    sections = page.sections()
    places = []
    for name in SECTIONS:
        here = _section(page, name)
        want(here, f"section '{name}'")
        places += [sections.index(here[0])] if here else []
    want(places == sorted(places), "sections in order")

    order = [one["name"] for one in page.directives("predict", *SHOWS)]
    want(order and order[0] == "predict", "predict before anything measured")
    played = _played(page)
    want(len(played) >= 2, "two predictions that are played")
    spine = list(chapters.known()[page.name].spine) if page.name in chapters.known() else []
    rungs = [one["options"]["rung"] for one in played if "rung" in one["options"]]
    want(sorted(rungs) == sorted(spine), f"a prediction for each rung: {', '.join(spine)}")

    linked = [
        target
        for target in _links(page.tree, "doc")
        if target.startswith("chapter") and number_of(target) < number_of(page.name)
    ]
    want(linked, "an earlier chapter linked")
    want(page.directives("listing"), "listing")
    want(page.directives("changed"), "changed")
    want(f"make {page.name} && ./run" in page.source, "make and run")
    want(page.directives("plot"), "a plot")
    want(len(page.directives("plot", "diagram")) >= 2, "a picture beside the plot")
    want(inside("What goes wrong", "pitfall"), "pitfall")

    exercises = inside("Exercises", "exercise")
    want(len(exercises) >= 2, "two exercises")
    for one in exercises:
        answers = [each for each in one.findall(pages.directive) if each["name"] == "answer"]
        want(answers, "an answer to each exercise")
    code = [
        each["argument"]
        for one in exercises
        for each in one.findall(pages.directive)
        if each["name"] == "listing"
    ]
    want(any(f"{page.name} answer-" in argument for argument in code), "an answer in code")

    want(inside("Recap", "recap"), "recap")
    rows = [one for one in inside("Recap", "rung") if one["argument"] == page.name]
    want(rows, "rung")
    want(all(one["options"].keys() >= RUNG for one in rows), "the rung's options")
    follower = _follower(page)
    ends = [link for one in _section(page, "Recap") for link in _links(one.node, "doc")]
    want(not follower or follower in ends, "the next chapter at the end")
    want(f"/notebooks/{page.name}" in _links(page.tree, "doc"), "its notebook linked")

    words = page.words()
    want(LEAST_WORDS <= words <= MOST_WORDS, f"{LEAST_WORDS} to {MOST_WORDS} words: {words}")
    return found


def notebook_faults(page: Page) -> list[str]:
    """What a notebook lacks."""
    found: list[str] = []

    def want(holds: object, what: str) -> None:
        if not holds:
            found.append(what)

    want(page.fields.get("summary", "").strip(), ":summary:")
    want(f"/chapters/{page.name}" in _links(page.tree, "doc"), "its story linked")
    want(page.name in [one["argument"] for one in page.directives("output")], "output")
    want(page.directives("numbers", "matrix", "finished"), "a table of times")
    for one in _section(page, "The same idea elsewhere"):
        want(len(one.text.split()) >= 60, "a passage on the same idea elsewhere")
    entries = [
        entry
        for one in _section(page, "Further reading")
        for entry in one.node.findall(nodes.list_item)
    ]
    want(len(entries) >= 2, "two sources")
    for entry in entries:
        text = entry.astext()
        exact = list(entry.findall(nodes.emphasis)) and re.search(r"\b(19|20)\d\d\b", text)
        want(exact and list(entry.findall(nodes.reference)), f"an exact source: {text[:40]}")
    return found


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_story_has_every_part(path: pages.Path) -> None:
    assert faults(pages.page(path)) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_notebook_has_every_part(path: pages.Path) -> None:
    beside = DOCS / "notebooks" / path.name
    assert beside in NOTEBOOKS, f"{path.stem} has no notebook"
    assert notebook_faults(pages.page(beside)) == []


def test_the_first_kernel_comes_soon() -> None:
    """Within the first five hundred words of the book's first chapter."""
    text = (DOCS / "chapters" / "chapter01_gmem.rst").read_text(encoding="utf-8")
    before = text[: text.index(".. listing::")]
    assert Page("before", before, pages.parse(before)).words() <= SOON


PLANTED = "chapter02_smem"


def _changed(old: str, new: str, count: int = 1) -> Page:
    """Chapter 2's story with something else in a place."""
    path = next(path for path in CHAPTERS if path.stem == PLANTED)
    text = path.read_text(encoding="utf-8")
    assert old in text
    return Page(PLANTED, text, pages.parse(text.replace(old, new, count)))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (":question:", ":query:", ":question:"),
        (":goal: ", ":aim: ", ":goal:"),
        (":hours: 2", ":hours: two", ":hours:"),
        (":summary: ", ":summary: Now 1.15\u00d7 as fast. ", "no result given away"),
        ("Recap\n-----", "So\n--", "section 'Recap'"),
        ("Exercises\n---------", "Sixty questions\n---------------", "two exercises"),
        ("What goes wrong\n---------------", "Recap\n-----", "sections in order"),
        (".. predict::", ".. note::", "predict before anything measured"),
        ("   :rung: interleaved_sum\n", "", "a prediction for each rung"),
        (".. plot::", ".. note::", "a plot"),
        (".. pitfall::", ".. note::", "pitfall"),
        (".. answer::", ".. note::", "an answer to each exercise"),
        (" answer-", " reply-", "an answer in code"),
        (".. recap::", ".. note::", "recap"),
        (".. rung:: chapter02_smem", ".. rung:: chapter01_gmem", "rung"),
        ("   :gained:", "   :won:", "the rung's options"),
        ("<chapter03_divergence>`", "<chapter05_unroll4>`", "the next chapter at the end"),
        ("/notebooks/chapter02_smem>`", "/data>`", "its notebook linked"),
        ("\nRecap\n", "\n" + "word " * 1500 + "\n\nRecap\n", "900 to 1800 words"),
    ],
)  # fmt: skip
def test_a_part_that_is_missed_is_named(old: str, new: str, fault: str) -> None:
    found = faults(_changed(old, new, -1))
    assert any(one.startswith(fault) for one in found), found


# ------------------------------------------------------------------ words and their glossary

#: CUDA's own words, and this book's. Each has an entry, and each page links its first use of it.
TERMS = """
    alignment, atomic operation, bank, bank conflict, barrier, block, block size, broadcast,
    coalescing, compute capability, confidence interval, cooperative groups, CUB, device,
    divergence, DRAM, dynamic shared memory, effective bandwidth, embedded device, event, fat
    binary, fence, global memory, grid, grid-stride loop, histogram, host, independent thread
    scheduling, kernel, L1, L2, lane, latency, launch, Little's law, local memory, machine code,
    occupancy, occupancy calculator, padding, partial sum, pointer chase, predicate,
    predication, privatisation, program counter, PTX, race, register, request, roof, roofline,
    SASS, sector, shared memory, shuffle, SM, speedup, spill, stream, swizzle, thread,
    unrolling, vector load, warp, wavefront
"""
NAMES = sorted(" ".join(term.split()) for term in TERMS.split(","))


def _glossary() -> list[str]:
    text = (DOCS / "glossary.rst").read_text(encoding="utf-8")
    return re.findall(r"^   (\S.*)$", text.split(".. glossary::")[1], re.MULTILINE)[1:]


def _used(term: str, text: str) -> bool:
    """Whether a piece of text has the term, also in the plural or at a sentence's beginning."""
    stem = re.escape(term)
    if term.islower() or term == "Little's law":
        stem = f"[{term[0].lower()}{term[0].upper()}]{stem[1:]}"
    return bool(re.search(rf"(?<![\w-]){stem}(s|es)?(?![\w-])", text))


def unlinked(page: Page) -> list[str]:
    """Terms that a page uses before it links them, with the words around the first use."""
    runs = list(page.runs())
    found = []
    for term in NAMES:
        for text, linked in runs:
            if linked == term:
                break
            if linked or not _used(term, text):
                continue
            if _used(term, _without_longer(term, text)):
                found.append(f"{term}: …{_around(term, text)}…")
                break
    return found


def _without_longer(term: str, text: str) -> str:
    """The text without the terms that contain this one: a 'bank conflict' is no use of 'bank'."""
    for other in NAMES:
        if other != term and re.search(rf"\b{re.escape(term)}\b", other):
            text = re.sub(rf"{re.escape(other)}s?", "", text, flags=re.IGNORECASE)
    return text


def _around(term: str, text: str) -> str:
    place = text.lower().find(term.lower())
    return " ".join(text[max(0, place - 30) : place + len(term) + 20].split())


def test_every_term_has_an_entry() -> None:
    assert [term for term in NAMES if term not in _glossary()] == []


#: Pages that a reader may come to first.
LINKED = [
    *CHAPTERS,
    *NOTEBOOKS,
    *(DOCS / f"{name}.rst" for name in ("index", "ladder", "embedded", "embedded_use")),
]


@pytest.mark.parametrize("path", LINKED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_first_use_of_a_term_links_to_the_glossary(path: pages.Path) -> None:
    assert unlinked(pages.page(path)) == []


def test_a_term_without_its_link_is_named() -> None:
    found = unlinked(_changed(":term:`shared memory`", "shared memory", -1))
    assert "shared memory" in [one.split(":")[0] for one in found]


def test_a_longer_term_is_no_use_of_a_shorter_one() -> None:
    page = Page("x", "", pages.parse("X\n=\n\nA :term:`bank conflict`, then a bank.\n"))
    assert [one.split(":")[0] for one in unlinked(page)] == ["bank"]
    page = Page("x", "", pages.parse("X\n=\n\nTwo :term:`bank conflicts <bank conflict>`.\n"))
    assert unlinked(page) == []
