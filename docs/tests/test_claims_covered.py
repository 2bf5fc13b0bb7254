"""No sentence of the guide gains a number or a comparison that nothing covers (docs/lint)."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from docs import page_source as pages
from docs.lint import figures, prose, waivers
from docs.lint.prose import Sentence
from docs.lint.waivers import Waiver
from docs.lint.words import claiming


@pytest.fixture(scope="module")
def guide() -> list[Sentence]:
    return waivers.guide()


@pytest.fixture(scope="module")
def needed(guide: list[Sentence]) -> list[Waiver]:
    return waivers.uncovered(guide)


@pytest.fixture(scope="module")
def kept() -> list[Waiver]:
    return waivers.parse(waivers.FILE.read_text(encoding="utf-8"))


def test_nothing_new_is_stated_uncovered(
    guide: list[Sentence], needed: list[Waiver], kept: list[Waiver]
) -> None:
    new = waivers.new(needed, kept)
    assert not new, "\n".join(waivers.message(one, guide) for one in new)


def test_no_waiver_is_stale(needed: list[Waiver], kept: list[Waiver]) -> None:
    stale = waivers.stale(needed, kept)
    listed = "\n".join(map(str, stale))
    assert not stale, f"covered or gone; run `python -m docs.lint claims --renew`:\n{listed}"


def test_the_file_is_as_it_would_be_written(kept: list[Waiver]) -> None:
    assert waivers.FILE.read_text(encoding="utf-8") == waivers.text_of(kept)


def test_the_guide_is_read_whole(guide: list[Sentence]) -> None:
    read = {one.page for one in guide}
    assert {path.relative_to(pages.ROOT).as_posix() for path in pages.CHAPTERS} <= read
    assert "docs/index.rst" in read
    assert any(page.startswith("figures/chapters/") for page in read)
    assert len(guide) > 1000


# ------------------------------------------------------------------ what a page states


def found(text: str) -> list[str]:
    """The claiming words of a page's body that nothing covers."""
    tree = pages.parse("Page\n====\n\n" + textwrap.dedent(text))
    return [word.text for one in prose.sentences("page.rst", tree) for word in one.open_words()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # numbers
        ("It moves 69 sectors.", ["69"]),
        ("It moves 4 521 984 sectors.", ["4 521 984"]),
        ("69 × 65 536 = 4 521 984", ["69", "65 536", "4 521 984"]),
        ("It takes 1.2× as long, 18.8 % of the peak.", ["1.2×", "18.8 %"]),
        ("It takes 10\\ :sup:`6` cycles.", ["106"]),
        ("A warp has thirty-two lanes.", ["thirty-two"]),
        ("It takes half the time, or a third of it.", ["half", "a third"]),
        ("A third load follows.", []),
        # comparisons
        ("The larger grid is faster, the bigger one the slowest.",
         ["larger", "faster", "bigger", "slowest"]),
        ("It needs fewer barriers and the most registers.", ["fewer", "most"]),
        ("It is as fast as CUB; the rate doubles; the two tie.", ["as fast as", "doubles", "tie"]),
        ("It no longer waits, rather than spins.", []),
        ("From 2²⁰ on it sinks.", ["From 2²⁰ on"]),
        ("It holds up to 1024 threads.", ["up to 1024"]),
        ("Is it twice as fast?", []),
        ("Why is it twice as fast?", ["twice", "as fast"]),
        # names and structure
        ("Chapters 1 to 6 and chapter 8, in Part 2.", []),
        ("Lane 0 adds, lanes 0 to 15 wait, and threads 1, 2 and 3 leave.", []),
        ("With blocks of 256, or 64 threads per block, on a 32×32 tile.", []),
        ("At 2²⁴ elements, or 2^28.", []),
        ("It reads n/2 and 2\\ *n*, where n = 0 and ``i`` < 4.", []),
        ("The H200 runs reduce1 of CUDA 13.0 for compute capability 9.0, in C++20.", []),
        ("A 32-bit word and a 16-byte load.", []),
        ("Recorded on 2026-11-21; known since 2017.", []),
        ("These two kernels, and the other three.", []),
        ("These two kernels, and three others.", ["three"]),
        ("*n* and ``4 * k`` and :math:`2^4`.", []),
        # coverage
        ("It takes :measured:`chapter02_smem smem median`.", []),
        (":ratio:`chapter02_smem a / chapter02_smem b` faster", ["faster"]),
        ("It is :claim:`twice as fast <a 2x faster than b>` and 3 shorter.", ["3", "shorter"]),
        ("It makes :calc:`69 * 65536` sectors.", []),
        ("He had :published:`face2ai gmem` ms.", []),
        ("It was twice as fast [face2ai]_. It moves 3 sectors.", ["3"]),
        ("It was twice as fast. [face2ai]_ It moves 3 sectors.", ["3"]),
        ("A limit of 48 KiB, says `the guide <https://example.com>`__.", []),
        (".. claim:: a 2x faster than b\n   c < 3 us\n\n   Faster.\n\nIt is slower.", ["slower"]),
        # where it stands
        (".. predict:: Is it faster?\n\n   It moves 2 sectors.", ["2"]),
        (".. exercise:: Save 3 barriers\n\n   .. answer::\n\n      It takes 5.", ["3", "5"]),
        (".. plot:: time\n   :alt: The first is faster.\n\n   Seven kernels.", ["faster", "Seven"]),
        (".. rung:: x\n   :predicted: twice the speed\n   :gained: 3 µs", ["twice", "3"]),
        (".. code-block:: console\n\n   $ run 3 faster", []),
        (".. list-table:: The 5 kernels\n\n   * - a\n     - 7", ["5", "7"]),
        (".. comment: 7 is faster", []),
        ("Further reading\n---------------\n\n- M. Harris, *7 ways*, 2007.", []),
    ],
)  # fmt: skip
def test_what_is_stated(text: str, words: list[str]) -> None:
    assert found(text) == words


def test_fields_are_read() -> None:
    tree = pages.parse(":summary: Twice the speed.\n:question: Why is it 3 times?\n\nX\n=\n")
    said = [word.text for one in prose.sentences("x", tree) for word in one.open_words()]
    assert said == ["Twice", "3"]


def test_adjectives_are_compared_as_english_has_it() -> None:
    text = "big bigger biggest busy busier large larger steep steeper steepest tight tighter"
    assert [word.text for word in claiming(text)] == [
        "bigger", "biggest", "busier", "larger", "steeper", "steepest", "tighter"
    ]  # fmt: skip


def test_a_figures_own_words_are_read() -> None:
    source = """\
        def tree(view):
            alt = f"{view.name} is faster by {view.gain}"
            return Picture(
                draw, alt=alt + ".", caption="Four trees." if view.many else f"{view.n}, 7 up."
            )
        """
    said = [
        (one.section, word.text)
        for one in figures.sentences("x.py", textwrap.dedent(source))
        for word in one.open_words()
    ]
    assert said == [("tree", "faster"), ("tree", "Four"), ("tree", "7")]


# ------------------------------------------------------------------ planted faults

PAGE = """\
:summary: The tree, one level nearer.

A tree
======

The question
------------

It reads :measured:`chapter02_smem smem grid` partial sums, 32 to a
warp, and is faster than the first. One more sentence that
holds half of it.

Why
---

Each of the 69 sectors is full. It is slower without.
"""


def _page(old: str = "", new: str = "") -> list[Sentence]:
    assert old in PAGE
    return list(prose.sentences("docs/page.rst", pages.parse(PAGE.replace(old, new, 1))))


@pytest.fixture(scope="module")
def waived() -> list[Waiver]:
    """The waivers of the page as it stands."""
    return waivers.uncovered(_page())


@pytest.mark.parametrize(
    ("planted", "word"),
    [
        ("It takes 17 barriers per block.", "'17'"),
        ("Shared memory is slower.", "'slower'"),
        ("It moves a dozen sectors.", "'dozen'"),
    ],
)
def test_a_planted_sentence_is_named(waived: list[Waiver], planted: str, word: str) -> None:
    now = _page("holds half of it.\n", f"holds half of it.\n{planted}\n")
    (new,) = waivers.new(waivers.uncovered(now), waived)
    said = waivers.message(new, now)
    assert said.startswith(f"docs/page.rst:12: nothing covers {word} in: {planted}\n")
    assert "claim" in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("69", "96", ("96",)),
        ("slower", "faster", ("faster",)),
        ("is slower", "isn't slower", ("slower",)),
    ],
)
def test_a_sentence_that_is_turned_round_loses_its_waiver(
    waived: list[Waiver], old: str, new: str, words: tuple[str, ...]
) -> None:
    needed = waivers.uncovered(_page(old, new))
    assert [one.words for one in waivers.new(needed, waived)] == [words]
    assert len(waivers.stale(needed, waived)) == 1


def test_a_sentence_that_moves_keeps_its_waiver(waived: list[Waiver]) -> None:
    needed = waivers.uncovered(_page("Each of", "A sentence goes\nbefore it.\n\nEach\nof"))
    assert waivers.new(needed, waived) == waivers.stale(needed, waived) == []


def test_a_word_that_is_covered_leaves_its_waiver_stale(waived: list[Waiver]) -> None:
    needed = waivers.uncovered(_page("69", ":calc:`64 + 5`"))
    assert [one.words for one in waivers.stale(needed, waived)] == [("69",)]


def test_a_waiver_that_is_taken_out_is_missed(waived: list[Waiver]) -> None:
    for place in (0, len(waived) // 2, -1):
        without = [one for one in waived if one is not waived[place]]
        assert waivers.new(waived, without) == [waived[place]]


def test_a_stale_waiver_is_named_and_renewed(waived: list[Waiver]) -> None:
    gone = Waiver("docs/index.rst", "Gone", "00000000", "opinion", ("best",), "The best.")
    assert waivers.stale(waived, [*waived, gone]) == [gone]
    assert waivers.renewed(waived, [*waived, gone]) == waived
    partly = replace(waived[0], words=(*waived[0].words, "seven"))
    assert [one.words for one in waivers.stale(waived, [partly, *waived[1:]])] == [("seven",)]
    assert waivers.renewed(waived, [partly, *waived[1:]]) == waived


def test_a_word_may_be_waived_once_for_each_time_that_it_stands_there() -> None:
    sentences = list(prose.sentences("x", pages.parse("It takes 3 or 3.\n\nIt takes 3 or 3.\n")))
    (needed,) = waivers.uncovered(sentences)
    assert needed.words == ("3",) * 4
    (new,) = waivers.new([needed], [replace(needed, words=("3",))])
    assert new.words == ("3",) * 3


def test_the_file_reads_back() -> None:
    one = Waiver("docs/x.rst", "Why: so", "0a1b2c3d", "arithmetic", ("2", "half"), "A | b…")
    assert waivers.parse(waivers.text_of([one])) == [one]


@pytest.mark.parametrize(
    "line", ["docs/x.rst | s | h | maybe | 2 | b", "docs/x.rst", "a|b|c|open|2|b"]
)
def test_a_line_that_is_no_waiver_is_refused(line: str) -> None:
    with pytest.raises(waivers.Malformed, match="line 1 is no waiver"):
        waivers.parse(line)
