"""All that the book says to a reader: pages, READMEs, and what sources say in strings and comments.

Pages are read as trees, Python by its parser and tokens, C++ and shell by their quotes and comment
signs. Pieces of code within a text become `CODE`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from ladder.claims.sentences import plain
from ladder.claims.words import CODE, VALUE

from docs import page_source as pages

#: Where the texts are. Tests and recorded data say nothing to a reader.
PAGES = ("docs/*.rst", "docs/chapters/*.rst", "docs/notebooks/*.rst")
PUZZLES = ("chapters/*/puzzles/*/puzzle.toml",)
MARKDOWN = ("*.md", "docs/**/*.md", "tools/**/*.md", "chapters/**/*.md", "figures/**/*.md")
PYTHON = ("docs/conf.py", "docs/_ext/ladder/*.py", "figures/**/*.py", "tools/**/*.py")
CXX = (
    "common/src/*.[ch]*",
    "common/include/book/*.hpp",
    "chapters/*/*.cu",
    "chapters/*/*.cuh",
    "tools/emulator/**/*.[ch]*",
)
SHELL = ("tools/*", ".ci/*")
_LEFT_OUT = {"tests", "data", "build", "fuzz", "probes"}


@dataclass(frozen=True)
class Paragraph:
    """A piece of running text; ``prose`` where it is a paragraph of a page or of a README."""

    path: str
    line: int
    text: str
    prose: bool = False


def of_page(name: str, text: str) -> Iterator[Paragraph]:
    for block in pages.read(Path(name).stem, text).tree.findall(nodes.paragraph):
        yield Paragraph(name, block.line or 1, plain(block), prose=True)


def of_puzzle(name: str, text: str) -> Iterator[Paragraph]:
    for found in re.finditer(r'"""(?P<long>.*?)"""|"(?P<said>[^"\n]*)"', text, re.DOTALL):
        said = found["long"] or found["said"] or ""
        if " " in said.strip():
            yield Paragraph(name, 1 + text.count("\n", 0, found.start()), said)


_FENCED = re.compile(r"^( *```).*?^\1 *$|<!--.*?-->|^ *<[^>]*>$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`]*`")
_NEW = re.compile(r"\n[ ]*(?:\n|(?=- |\d+\. |\||#))")


def _blank(found: re.Match[str]) -> str:
    """Nothing in place of the match, and its line ends kept."""
    return CODE + "\n" * found[0].count("\n")


def of_markdown(name: str, text: str) -> Iterator[Paragraph]:
    text = _SPAN.sub(_blank, _FENCED.sub(lambda found: "\n" * found[0].count("\n"), text))
    start = 0
    for end in [*(found.end() for found in _NEW.finditer(text)), len(text)]:
        part = text[start:end]
        if part.strip():
            line = 1 + text.count("\n", 0, start) + (len(part) - len(part.lstrip("\n")))
            yield Paragraph(name, line, part.strip("\n"), prose=True)
        start = end


def _comments(lines: list[tuple[int, str, bool]], name: str) -> Iterator[Paragraph]:
    """Comments as paragraphs, one for lines that follow one another with nothing but comment."""
    gathered: list[str] = []
    first = last = 0
    joins = False
    for line, text, alone in [*lines, (0, "", False)]:
        if gathered and not (joins and alone and line == last + 1):
            yield Paragraph(name, first, "\n".join(gathered))
            gathered = []
        if not gathered:
            first = line
        gathered.append(_SPAN.sub(CODE, text.strip()))
        last, joins = line, alone


def _opens(text: str, place: int) -> bool:
    """Whether nothing stands before a place on its line."""
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()


def _string(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_string(part) or VALUE for part in node.values)
    return ""


def of_python(name: str, source: str) -> Iterator[Paragraph]:
    tree = ast.parse(source)
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inner:
            said = _SPAN.sub(_blank, _string(node).replace("``", "`"))
            line = node.lineno
            for part in re.split(r"(?<=\n)(?= *\n)", said):
                if " " in part.strip():
                    text = part.lstrip("\n")
                    yield Paragraph(name, line + len(part) - len(text), text)
                line += part.count("\n")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    remarks = [
        (token.start[0], token.string.lstrip("#: "), not token.line[: token.start[1]].strip())
        for token in tokens
        if token.type == tokenize.COMMENT
    ]
    yield from _comments(remarks, name)


_CXX = re.compile(
    r"(?P<remark>//[^\n]*)|(?P<block>/\*.*?\*/)|R\"(?P<raw>\w*)\((?:.*?)\)(?P=raw)\""
    r"|'(?:\\.|[^'\\\n])+'|(?P<said>\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*)",
    re.DOTALL,
)


def of_cxx(name: str, text: str) -> Iterator[Paragraph]:
    remarks: list[tuple[int, str, bool]] = []
    for found in _CXX.finditer(text):
        line = 1 + text.count("\n", 0, found.start())
        if found["remark"]:
            remarks.append((line, found["remark"].lstrip("/<! "), _opens(text, found.start())))
        elif found["block"]:
            said = re.sub(r"^[ /*]+|[ *]+/$", "", found["block"], flags=re.MULTILINE)
            yield Paragraph(name, line, said)
        elif found["said"]:
            said = re.sub(r"\"\s*\"", "", found["said"])[1:-1].replace(r"\n", "\n")
            if " " in said.strip():
                yield Paragraph(name, line, said.replace("\n", " "))
    yield from _comments(remarks, name)


_SHELL = re.compile(
    r"(?P<remark>(?:^|(?<=\s))#[^\n]*)|'(?P<one>[^']*)'|\"(?P<two>(?:\\.|[^\"\\])*)\"", re.MULTILINE
)


def of_shell(name: str, text: str) -> Iterator[Paragraph]:
    remarks: list[tuple[int, str, bool]] = []
    for found in _SHELL.finditer(text):
        line = 1 + text.count("\n", 0, found.start())
        said = found["one"] or found["two"] or ""
        if found["remark"]:
            remarks.append((line, found["remark"].lstrip("#! "), _opens(text, found.start())))
        elif " " in said.strip():
            yield Paragraph(name, line, said)
    yield from _comments(remarks, name)


Readers = tuple[tuple[tuple[str, ...], Callable[[str, str], Iterator[Paragraph]]], ...]


def _is_shell(path: Path) -> bool:
    first = path.read_bytes().splitlines()[:1] if path.is_file() else []
    return path.suffix == ".sh" or bool(first and first[0].startswith(b"#!") and b"sh" in first[0])


_READERS: Readers = (
    (PAGES, of_page),
    (PUZZLES, of_puzzle),
    (MARKDOWN, of_markdown),
    (PYTHON, of_python),
    (CXX, of_cxx),
    (SHELL, of_shell),
)


#: What is read like a page: README and the like, puzzles, and the chapters' programs.
TO_READERS: Readers = (
    (("*.md",), of_markdown),
    (PUZZLES, of_puzzle),
    (
        ("common/src/*.[ch]*", "common/include/book/*.hpp", "chapters/*/*.cu*",
         "chapters/*/puzzles/*/*.cu"),
        of_cxx,
    ),
)  # fmt: skip


def everything(root: Path, readers: Readers = _READERS) -> Iterator[Paragraph]:
    """All paragraphs of all files, in the files' order."""
    for patterns, reader in readers:
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            within = path.relative_to(root)
            if _LEFT_OUT & set(within.parts[:-1]) or not path.is_file():
                continue
            if reader is of_shell and not _is_shell(path):
                continue
            yield from reader(within.as_posix(), path.read_text(encoding="utf-8"))
