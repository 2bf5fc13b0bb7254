"""Puzzles for ``tools/judge``, from the chapters' folders: all of them, or links to a chapter's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx

from figures.kit.chapter import number_of
from tools.judging import Failure
from tools.judging import puzzles as judged
from tools.judging.puzzles import Puzzle

from . import inputs
from .book import Book, Lost
from .directive import LookupDirective
from .folded import fold
from .strings import _

PAGE = "puzzles"  #: the page that shows them all


def read(book: Book) -> list[Puzzle]:
    """All puzzles, in the book's order."""
    files = [path for path in book.root.glob("chapters/*/puzzles/*/*") if path.is_file()]
    folders = {path.parents[1] for path in files}
    inputs.note(book.env, [*sorted(folders), *sorted(files)])
    try:
        return judged.all_puzzles(book.root)
    except Failure as failure:
        raise Lost(str(failure)) from None


def anchor(puzzle: Puzzle) -> str:
    return f"puzzle-{puzzle.key.replace('/', '-')}"


def _by_chapter(every: list[Puzzle]) -> dict[str, list[Puzzle]]:
    chapters: dict[str, list[Puzzle]] = {}
    for puzzle in every:
        chapters.setdefault(puzzle.folder.parents[1].name, []).append(puzzle)
    return chapters


def _code(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="cuda")


def _item(label: str, content: list[nodes.Node]) -> list[nodes.Node]:
    return [nodes.paragraph("", "", nodes.strong("", label), nodes.Text(" "), *content)]


class Puzzles(LookupDirective):
    """``.. puzzles:: all``: a section per chapter, with each puzzle's task, goal, skeleton, hint
    and answer. ``.. puzzles:: list``: a line per chapter that leads to its puzzles.
    ``.. puzzles:: chapter04``: one line that leads to a chapter's."""

    def show(self, book: Book) -> list[nodes.Node]:
        (asked,) = self.words("CHAPTER")
        every = read(book)
        if asked == "all":
            return list(self._sections(every))
        if asked == "list":
            return [self._list(every)]
        those = [puzzle for puzzle in every if puzzle.key.startswith(f"{asked}/")]
        if not those:
            raise Lost(f"no puzzles in '{asked}'")
        return [self._links(those)]

    def _list(self, every: list[Puzzle]) -> nodes.bullet_list:
        made = nodes.bullet_list(classes=["puzzle-list"])
        for chapter, those in _by_chapter(every).items():
            line = nodes.paragraph("", _("Chapter {number}: ").format(number=number_of(chapter)))
            line += self._titles(those)
            made += nodes.list_item("", line)
        return made

    def _sections(self, every: list[Puzzle]) -> Iterable[nodes.Node]:
        for chapter, those in _by_chapter(every).items():
            section = nodes.section(ids=[f"puzzles-{chapter}"])
            title = nodes.title("", "")
            # Its number is its name, which the list of contents shows too.
            title += self.chapter_link(chapter, str(_("Chapter {number}")))
            section += title
            for puzzle in those:
                section += self._puzzle(puzzle)
            yield section

    def _puzzle(self, puzzle: Puzzle) -> nodes.section:
        section = nodes.section(ids=[anchor(puzzle)])
        section += nodes.title("", f"{puzzle.key}: {puzzle.title}")
        section += nodes.paragraph("", "", *self.inline(_literal(puzzle, puzzle.task)))
        goals = "; ".join(goal.says for goal in puzzle.goals)
        section += _item(_("Goal:"), [nodes.Text(f"{goals}.")])
        section += _item(_("Right for:"), [nodes.Text(f"{puzzle.promise}.")])
        section += _item(_("Launched with:"), [nodes.Text(f"{puzzle.launch}.")])
        command = f"$ ./tools/judge new {puzzle.key}"
        section += nodes.literal_block(command, command, language="console")
        section += fold(_("The skeleton"), [_code(puzzle.skeleton())])
        hint = nodes.paragraph("", "", *self.inline(_literal(puzzle, puzzle.hint)))
        section += fold(_("Hint"), [hint])
        answer = judged.solution(puzzle.answer)
        section += fold(_("Answer"), [_code(answer)], "answer")
        return section

    def _links(self, those: list[Puzzle]) -> nodes.paragraph:
        made = nodes.paragraph("", _("Puzzles that tools/judge checks: "), classes=["puzzle-links"])
        made += self._titles(those)
        return made

    def _titles(self, those: list[Puzzle]) -> Iterable[nodes.Node]:
        target = self.env.app.builder.get_relative_uri(self.env.docname, PAGE)
        for number, puzzle in enumerate(those):
            if number:
                yield nodes.Text(" · ")
            yield nodes.reference(
                "", puzzle.title, refuri=f"{target}#{anchor(puzzle)}", internal=True
            )


def _literal(puzzle: Puzzle, text: str) -> str:
    """A text with its code as code: parameters behind a star, and what has a bracket or an ==."""
    code = re.compile(
        r"(?<!`)(\*\w+\b(?!\*)|\b[\w.:]+\([^()]*\)(?: = [\w.]+\([^()]*\))?|__\w+|\w+\[[^\]]*\])"
    )
    return code.sub(r"``\1``", " ".join(text.split()))


def setup(app: Sphinx) -> None:
    app.add_directive("puzzles", Puzzles)
