"""Every chapter's page has every part of the anatomy, and links its words to the glossary."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from docutils import nodes

from docs.tests import pages
from docs.tests.pages import CHAPTERS, DOCS, Page, Section
from figures import chapters
from figures.climb import last_rung
from figures.kit.chapter import Rung, number_of

#: What a page may lack. The measuring page has no kernel of its own that adds up, and all of it is
#: about what goes wrong, before our way that answers it.
EXEMPT = {
    "chapter00_timing": {
        "section 'The kernel'",
        "section 'Why'",
        "sections in order",
        "an earlier chapter linked in the question",
        "changed",
        "plot in Measure",
        "numbers in Measure",
        "counters in Why",
        "pitfall",
        "rung",
    },
}
LEAST_WORDS, MOST_WORDS = 1500, 3000

#: The sections that a page has, in this order, others between them; the first words are enough.
SECTIONS = (
    "The question",
    "The kernel",
    "Run it",
    "Measure",
    "Why",
    "What goes wrong",
    "The same idea elsewhere",
    "Exercises",
    "Recap",
    "Further reading",
)
RUNG = {"before", "after", "predicted", "gained", "counter"}
EVIDENCE = ("sanitizer", "output", "counters", "numbers", "message", "plot", "machine-code")


def _section(page: Page, name: str) -> list[Section]:
    return [one for one in page.sections() if re.match(rf"{name}(s?$|[:?])", one.name)]


def _links(node: nodes.Node, *names: str) -> list[str]:
    return [found["target"] for found in node.findall(pages.role) if found["name"] in names]


def _follower(page: Page) -> str | None:
    """The page of the next chapter there is."""
    names = [path.stem for path in CHAPTERS]
    place = names.index(page.name) + 1
    return names[place] if place < len(names) else None


def _ending(recap: Section) -> list[nodes.Node]:
    """What follows the recap's last box."""
    children = recap.node.children
    boxes = [place for place, one in enumerate(children) if isinstance(one, pages.directive)]
    return children[boxes[-1] + 1 :] if boxes else []


def _is(name: str) -> Callable[[nodes.Node], bool]:
    return lambda node: isinstance(node, pages.directive) and node["name"] == name


def faults(page: Page) -> list[str]:
    """What a page lacks."""
    exempt = EXEMPT.get(page.name, set())
    found: list[str] = []

    def want(holds: object, what: str) -> None:
        if not holds and what not in exempt:
            found.append(what)

    def inside(name: str, *wanted: str) -> list[pages.directive]:
        return [one for section in _section(page, name) for one in section.directives(*wanted)]

    want(page.fields.get("summary", "").strip(), ":summary:")
    want(page.fields.get("question", "").endswith("?"), ":question:")
    sections = page.sections()
    places = []
    for name in SECTIONS:
        here = _section(page, name)
        want(here, f"section '{name}'")
        places += [sections.index(here[0])] if here else []
    want(places == sorted(places), "sections in order")

    beginning = sections[: next((at for at, one in enumerate(sections) if one.name == "Run it"), 0)]
    want(any(one.directives("predict") for one in beginning), "predict before the run")
    chapters = [
        target
        for one in beginning
        for target in _links(one.node, "doc")
        if target.startswith("chapter") and number_of(target) < number_of(page.name)
    ]
    want(chapters, "an earlier chapter linked in the question")
    want(page.directives("listing"), "listing")
    want(page.directives("changed"), "changed")
    want(f"make {page.name} && ./run" in page.source, "make and run")
    want(page.name in [one["argument"] for one in inside("Run it", "output")], "output")
    want(inside("Measure", "plot"), "plot in Measure")
    want(inside("Measure", "numbers"), "numbers in Measure")
    want(inside("Why", "counters"), "counters in Why")
    want(inside("What goes wrong", "pitfall"), "pitfall")
    want(inside("What goes wrong", *EVIDENCE), "evidence of what goes wrong")
    for one in _section(page, "The same idea elsewhere"):
        want(len(one.text.split()) >= 60, "a passage on the same idea elsewhere")

    exercises = inside("Exercises", "exercise")
    want(len(exercises) >= 3, "three exercises")
    want(all(list(one.findall(_is("answer"))) for one in exercises), "an answer to each exercise")
    code = [one["argument"] for each in exercises for one in each.findall(_is("listing"))]
    want(any(f"{page.name} answer-" in argument for argument in code), "an answer in code")

    want(inside("Recap", "recap"), "recap")
    rungs = [one for one in inside("Recap", "rung") if one["argument"] == page.name]
    want(rungs, "rung")
    want(all(one["options"].keys() >= RUNG for one in rungs), "the rung's options")
    follower = _follower(page)
    for one in _section(page, "Recap"):
        ends = [link for last in _ending(one) for link in _links(last, "doc")]
        want(not follower or follower in ends, f"the next chapter, {follower}, at the end")

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

    words = page.words()
    want(LEAST_WORDS <= words <= MOST_WORDS, f"{LEAST_WORDS} to {MOST_WORDS} words: {words}")
    return found


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_page_has_every_part(path: pages.Path) -> None:
    assert faults(pages.page(path)) == []


def _side(rung: pages.directive, side: str) -> tuple[str, int]:
    """The kernel on one side of a rung, and its block."""
    _chapter, kernel, *more = rung["options"][side].split()
    return kernel, next((int(one[6:]) for one in more if one.startswith("block=")), 256)


def test_the_ladders_figure_has_the_rungs_of_the_pages() -> None:
    rungs = {
        path.stem: Rung(_side(rung, "before")[0], *_side(rung, "after"))
        for path in CHAPTERS
        for rung in pages.page(path).directives("rung")
        if number_of(path.stem) <= last_rung()
    }
    assert {name: chapter.rung for name, chapter in chapters.rungs().items()} == rungs


def _changed(old: str, new: str, count: int = 1) -> Page:
    """Chapter 2's page with something else in a place."""
    path = next(path for path in CHAPTERS if path.stem == PLANTED)
    text = path.read_text(encoding="utf-8")
    assert old in text
    return Page(PLANTED, text, pages.parse(text.replace(old, new, count)))


PLANTED = "chapter02_smem"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (":question:", ":query:", ":question:"),
        ("Recap\n-----", "So\n--", "section 'Recap'"),
        ("Exercises\n---------", "Sixty questions\n---------------", "three exercises"),
        ("The same idea elsewhere\n", "Elsewhere\n", "section 'The same idea elsewhere'"),
        ("Measure\n-------", "Why\n---\n\nMeasure\n-------", "sections in order"),
        (".. predict::", ".. note::", "predict before the run"),
        (".. output:: chapter02_smem", ".. output:: chapter01_gmem", "output"),
        (".. pitfall::", ".. note::", "pitfall"),
        (".. answer::\n\n      .. listing::", ".. note::\n\n      .. listing::",
         "an answer to each exercise"),
        (" answer-", " reply-", "an answer in code"),
        (".. recap::", ".. note::", "recap"),
        (".. rung:: chapter02_smem", ".. rung:: chapter01_gmem", "rung"),
        ("   :gained:", "   :won:", "the rung's options"),
        ("<chapter03_divergence>` asks that next", "<chapter05_unroll4>` asks that next",
         "the next chapter, chapter03_divergence, at the end"),
        ("Technical Blog, 2013", "Technical Blog", "an exact source: M. Harris, Using Shared"),
        ("\nRun it\n", "\n" + "word " * 1500 + "\n\nRun it\n", "1500 to 3000 words"),
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
    *(DOCS / f"{name}.rst" for name in ("index", "ladder", "embedded", "embedded_use")),
]


@pytest.mark.parametrize("path", LINKED, ids=lambda path: path.stem)
def test_first_use_of_a_term_links_to_the_glossary(path: pages.Path) -> None:
    assert unlinked(pages.page(path)) == []


def test_a_term_without_its_link_is_named() -> None:
    found = unlinked(_changed(":term:`shared memory`", "shared memory", -1))
    assert [one.split(":")[0] for one in found] == ["shared memory"]


def test_a_longer_term_is_no_use_of_a_shorter_one() -> None:
    page = Page("x", "", pages.parse("X\n=\n\nA :term:`bank conflict`, then a bank.\n"))
    assert [one.split(":")[0] for one in unlinked(page)] == ["bank"]
    page = Page("x", "", pages.parse("X\n=\n\nTwo :term:`bank conflicts <bank conflict>`.\n"))
    assert unlinked(page) == []
