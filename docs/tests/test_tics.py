"""No file gains a turn of phrase that docs/lint/tics.py knows as foreign."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest

from docs.lint import texts, tics
from docs.lint.texts import Paragraph
from docs.lint.tics import Tic
from docs.page_source import ROOT


@pytest.fixture(scope="module")
def read() -> list[Paragraph]:
    return list(texts.everything(ROOT))


@pytest.fixture(scope="module")
def found(read: list[Paragraph]) -> list[Tic]:
    return [tic for one in read for tic in tics.tics(one)]


KEPT = tics.parse(tics.FILE.read_text(encoding="utf-8"))


def test_no_file_gains_a_tic(found: list[Tic]) -> None:
    risen = tics.risen(tics.counted(found), KEPT)
    shown = "\n".join(str(tic) for tic in found if (tic.path, tic.rule) in risen)
    assert not risen, f"more than docs/lint/tics.txt allows; say it in plain English:\n{shown}"


def test_what_has_fallen_stays_fallen(found: list[Tic]) -> None:
    fallen = tics.fallen(tics.counted(found), KEPT)
    assert not fallen, f"run `python -m docs.lint tics --renew`: {fallen}"


def test_every_room_is_read(read: list[Paragraph]) -> None:
    paths = {one.path for one in read}
    assert paths >= {
        "README.md",
        "CONTRIBUTING.md",
        "docs/index.rst",
        "docs/chapters/chapter02_smem.rst",
        "docs/_ext/ladder/README.md",
        "docs/_ext/ladder/tables.py",
        "figures/chapters/chapter02_smem.py",
        "common/src/cli.cpp",
        "common/include/book/timer.hpp",
        "chapters/chapter02_smem/kernels.cuh",
        "chapters/chapter02_smem/main.cu",
        "tools/measure",
        "tools/setup",
        "tools/steps.sh",
        "tools/measuring/measure.py",
        "tools/emulator/program/emulate.cpp",
    }
    assert not [path for path in paths if "/tests/" in path]


# ------------------------------------------------------------------ what is caught


def rules(text: str) -> list[str]:
    return [tic.rule for tic in tics.tics(Paragraph("x", 1, text, prose=True))]


PER = "per, not a"


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("It moves four bytes a thread.", [PER]),
        ("At a wavefront a cycle it takes longer.", [PER]),
        ("It leaves one partial sum a block.", [PER]),
        ("With □ threads a block and □ an SM.", [PER, PER]),
        ("One folder a chapter, and a row a run.", [PER, PER]),
        ("It moves four bytes per thread, twice per cycle.", []),
        ("It gives a block a name.", []),
        ("It names a run, and times a kernel.", []),
        ("Without this barrier a thread might read too early.", []),
        ("One of a block's threads; the lanes of a warp.", []),
        ("Nobody reads what somebody's thread, whoever it is, wrote.", ["nobody"] * 3),
        ("Blue words are had in the first pass.", ["had"]),
        ("The last rows are no sums at all.", ["no … at all", "is no"]),
        ("There is no sum, and it is no faster.", []),
        ("The driver belongs into Windows.", ["belongs into"]),
        ("Loads that are under way.", ["in flight"]),
        ("The ceremony around it.", ["overhead"]),
        ("What does it bring to read once?", ["what it brings"]),
        ("One; two.", []),
        ("One; two; three.", [tics.SEMICOLONS]),
    ],
)
def test_a_tic_is_told_from_plain_english(text: str, caught: list[str]) -> None:
    assert Counter(rules(text)) == Counter(caught)


def test_a_place_is_named() -> None:
    (tic,) = tics.tics(Paragraph("tools/x", 7, "Two\nlines, and nobody\nreads them."))
    assert str(tic) == "tools/x:8: nobody: …Two lines, and [nobody] reads them.…"


# ------------------------------------------------------------------ where texts are found


def said(paragraphs: object) -> list[tuple[int, str]]:
    return [(one.line, " ".join(one.text.split())) for one in paragraphs]  # type: ignore[attr-defined]


def test_python_says_in_strings_and_comments() -> None:
    source = '''\
        """What it does.

        And how, with `code`.
        """
        heading = f"{count} bytes " "per thread"  # beside it
        # above it,
        # on two lines
        key = "no-text"
        '''
    assert said(texts.of_python("x", textwrap.dedent(source))) == [
        (1, "What it does."),
        (3, "And how, with ◇."),
        (5, "□ bytes per thread"),
        (5, "beside it"),
        (6, "above it, on two lines"),
    ]


def test_cxx_says_in_strings_and_comments() -> None:
    source = r"""
        /// What it does,
        /// on two lines.
        int n = 0;  // beside it
        int m = 0;  // beside the next
        /* A block. */
        throw Error("there is "
                    "no file\n" + name + "!");  // "quoted"
        char c = '"';
        """
    assert said(texts.of_cxx("x", textwrap.dedent(source))) == [
        (6, "A block."),
        (7, "there is no file"),
        (2, "What it does, on two lines."),
        (4, "beside it"),
        (5, "beside the next"),
        (8, '"quoted"'),
    ]


def test_shell_says_in_strings_and_comments() -> None:
    source = '#!/bin/bash\n# What it does,\n# twice.\necho "no file here"; x="$y" # beside\n'
    assert said(texts.of_shell("x", source)) == [
        (4, "no file here"),
        (1, "/bin/bash What it does, twice."),
        (4, "beside"),
    ]


def test_markdown_says_all_but_code() -> None:
    source = "# Title\n\nA `name` and\nmore.\n\n```sh\nrun it; now; here\n```\n\n- one\n- two\n"
    assert said(texts.of_markdown("x", source)) == [
        (1, "# Title"),
        (3, "A ◇ and more."),
        (10, "- one"),
        (11, "- two"),
    ]


# ------------------------------------------------------------------ the counts


def test_a_planted_tic_is_missed_nowhere(found: list[Tic]) -> None:
    """In a message, in a page, in a caption: one more than there was."""
    for path in ("common/src/cli.cpp", "docs/index.rst", "figures/ladder.py"):
        planted = tics.tics(Paragraph(path, 1, "somebody asked for four bytes a thread"))
        now = tics.counted([*found, *planted])
        assert tics.risen(now, tics.counted(found)) == [(path, "nobody"), (path, PER)]


def test_counts_only_fall() -> None:
    kept = {("a", "had"): 2, ("b", "had"): 1, ("c", "had"): 3}
    now = {("a", "had"): 3, ("c", "had"): 1, ("d", "had"): 1}
    assert tics.risen(now, kept) == [("a", "had"), ("d", "had")]
    assert tics.fallen(now, kept) == [("b", "had"), ("c", "had")]
    assert tics.lowered(now, kept) == {("a", "had"): 2, ("c", "had"): 1}
    assert tics.parse(tics.text_of(kept)) == kept


def test_the_file_is_as_it_would_be_written() -> None:
    assert tics.FILE.read_text(encoding="utf-8") == tics.text_of(KEPT)
