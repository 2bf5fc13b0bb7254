"""Code on a page: a region of a chapter's source, a launch, what changed, what was printed."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Mapping
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers.shell import BashLexer
from pygments.token import Generic
from sphinx.application import Sphinx

from common.records.naming import EMBEDDED
from common.records.regions import Region

from .blocks import block, code_of, printed, region_block, source_block
from .book import Book, Lost, NotYet
from .directive import LookupDirective
from .names import BadName
from .running import PANEL_OPTIONS, panel
from .strings import _

#: A listing's fold may stand further down, behind a prediction that it would answer.
LISTING_OPTIONS = {**PANEL_OPTIONS, "later": directives.flag}

_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


class PrintedLexer(RegexLexer):
    """Commands behind a prompt; after each its output, whatever it looks like."""

    name = "Printed"
    aliases = ["printed"]  # noqa: RUF012 (Pygments declares these as plain lists)
    tokens = {  # noqa: RUF012
        "root": [
            # Pygments' stubs leave these two untyped.
            (r"(\$ )(.*\n)", bygroups(Generic.Prompt, using(BashLexer))),  # type: ignore[no-untyped-call]
            (r".*\n", Generic.Output),
        ],
    }


class Listing(LookupDirective):
    """``.. listing:: CHAPTER REGION``, or the path of a file outside the chapters, shown whole.

    If it is a kernel that runs in the page, a fold beneath it does so, with ``:presets:`` and the
    ``:step:`` where its stepper starts. With ``:later:`` it has none: a ``run-here`` further down
    is the kernel's fold.
    """

    option_spec: ClassVar = LISTING_OPTIONS

    def show(self, book: Book) -> list[nodes.Node]:
        if "/" in self.arguments[0]:
            path, text = book.file(self.arguments[0].strip())
            if path.suffix == ".txt":
                return [printed(text, str(path))]
            language = "cuda" if path.suffix == ".cu" else "cmake"
            return [source_block(path, 1, text.count("\n"), text, "kernels", language)]
        region = book.region(*self.words("CHAPTER", "REGION"))
        return [region_block(region), *_fold(book, region, self.options, is_listed=True)]


class Changed(LookupDirective):
    """``.. changed:: CHAPTER REGION -> CHAPTER REGION``: a diff, numbered as the files are.

    What it came to runs in the page, as under a listing, or ``:later:``.
    """

    option_spec: ClassVar = LISTING_OPTIONS

    def show(self, book: Book) -> list[nodes.Node]:
        sides = re.split(r"\s+(?:->|\u2192)\s+", self.arguments[0])
        if len(sides) != 2 or any(len(side.split()) != 2 for side in sides):
            raise BadName(f"'{self.arguments[0]}' should read CHAPTER REGION -> CHAPTER REGION")
        before, after = (book.region(*side.split()) for side in sides)
        text = diff(before, after)
        if not text:
            raise Lost(f"nothing changed from '{before.name}' to '{after.name}'")
        shown = block(text, "diff", [nodes.Text(_("What changed"))], "changed")
        return [shown, *_fold(book, after, self.options)]


def _fold(
    book: Book, region: Region, options: Mapping[str, Any], is_listed: bool = False
) -> list[nodes.Node]:
    if "later" not in options:
        return panel(book, region, options, is_listed)
    for option in ("presets", "step"):
        if option in options:
            raise BadName(
                f"a listing whose fold comes later has no :{option}:: it goes to its run-here"
            )
    return []


def diff(before: Region, after: Region) -> str:
    """A unified diff whose line numbers are the files' own, and whose paths are the book's."""
    (old, old_first), (new, new_first) = (code_of(region) for region in (before, after))
    lines = difflib.unified_diff(old, new, str(before.path), str(after.path), lineterm="")

    def in_file(match: re.Match[str]) -> str:
        old = int(match[1]) + old_first - 1
        new = int(match[3]) + new_first - 1
        return f"@@ -{old}{match[2] or ''} +{new}{match[4] or ''} @@"

    return "\n".join(_HUNK.sub(in_file, line) for line in lines)


class Launch(LookupDirective):
    """``.. launch:: CHAPTER VARIANT``: how main.cu launches it.

    Either the region ``run-VARIANT`` (underscores as hyphens), or the call of ``add`` that names
    the variant.
    """

    def show(self, book: Book) -> list[nodes.Node]:
        chapter, variant = self.words("CHAPTER", "VARIANT")
        path, text = book.source(chapter, "main.cu")
        if region := book.find_region(chapter, "run-" + variant.replace("_", "-")):
            first, shown = region.first_line, region.text
        else:
            first, shown = added(text, variant)
        if not shown:
            names = ", ".join(re.findall(r'\.name = "(\w+)"', text)) or "none"
            raise Lost(f"{path} adds no variant '{variant}'; it adds: {names}")
        last = first + shown.rstrip("\n").count("\n")
        return [source_block(path, first, last, textwrap.dedent(shown), "launches")]


def added(text: str, variant: str) -> tuple[int, str]:
    """The statement ``….add(…);`` of main.cu that names ``variant``, and its first line."""
    for call in re.finditer(r"^[ \t]*\w+\.add(?:<[\w:]+>)?\(", text, re.MULTILINE):
        end = _closing(text, call.end())
        statement = text[call.start() : end]
        if re.search(rf'\.name = "{re.escape(variant)}"', statement):
            return text.count("\n", 0, call.start()) + 1, statement
    return 0, ""


def _closing(text: str, start: int) -> int:
    """Just past the ``);`` that closes the parenthesis before ``start``."""
    depth = 1
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|//[^\n]*|[()]', text[start:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            end = start + token.end()
            return end + text[end:].startswith(";")
    return len(text)


class Output(LookupDirective):
    """``.. output:: CHAPTER``: what the program printed when it was recorded.

    ``:on: embedded`` takes what was printed on the embedded device, by a chapter's program or in
    one of that set's other texts. Where the reader's own build of a chapter has printed something
    else there since, for its kernel was edited, that stands beneath, or in its place.
    """

    option_spec: ClassVar = {
        "on": lambda text: directives.choice(text, (EMBEDDED,)),
        "wrap": directives.flag,  # long lines are messages, not a table's
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        if "on" in self.options:
            return [self._embedded(book, chapter)]
        return [self._recorded(book, chapter), *self._own(book, chapter)]

    def _embedded(self, book: Book, name: str) -> nodes.Node:
        text, provenance, own = book.embedded_console(name)
        where = _("Printed on the {provenance}").format(provenance=provenance.text)
        label = _("Printed by your build, on the embedded device") if own else where
        return printed(text, label, wrapped="wrap" in self.options)

    def _own(self, book: Book, chapter: str) -> list[nodes.Node]:
        try:
            _text, _provenance, own = book.embedded_console(chapter)
        except (Lost, NotYet):
            return []
        return [self._embedded(book, chapter)] if own else []

    def _recorded(self, book: Book, chapter: str) -> nodes.Node:
        text, provenance = book.console(chapter)
        label = _("Printed on {provenance}").format(provenance=provenance.text)
        return printed(text, label, wrapped=False)


class Message(LookupDirective):
    """``.. message:: CHAPTER NAME``: what nvcc says of the chapter's NAME.cu, which it refuses.

    The text lies beside it, the command first; a test compiles again and compares.
    """

    def show(self, book: Book) -> list[nodes.Node]:
        chapter, name = self.words("CHAPTER", "NAME")
        _path, text = book.source(chapter, f"{name}.txt")
        label = _("What the compiler says")
        return [printed(text, label)]


def setup(app: Sphinx) -> None:
    app.add_lexer("printed", PrintedLexer)
    app.add_directive("listing", Listing)
    app.add_directive("changed", Changed)
    app.add_directive("launch", Launch)
    app.add_directive("output", Output)
    app.add_directive("message", Message)
