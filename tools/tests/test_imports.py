"""Who uses whom, file by file: nothing outside a tests folder uses what is in one, no two files use
each other, and the recorded runs' room uses no other.

Python's imports count wherever they stand, in a function too, and so does the path of a Python file
in a tests folder, which is there to be run. Of C++ the includes in quotes count, and of JavaScript
what is imported, required or loaded by its path.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from tools.tests.conftest import ROOT, tracked_files

Graph = Mapping[str, set[str]]

_CXX = re.compile(r"\.(cu|cuh|c|h|cpp|hpp|inc)$")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
_SCRIPT = re.compile(
    r"""\b(?:from|import|require|importScripts)\b\s*\(?\s*["']([^"'\n]+\.m?js)["']"""
)
#: Where `import ladder` and the like begin, besides the root and the folder of a script.
_PYTHON_PATHS = ("", "docs/_ext/")


def graph(texts: Mapping[str, str]) -> Graph:
    """The files that each of these uses, among these."""
    return {name: set(_used(name, text, texts)) - {name} for name, text in texts.items()}


def _used(name: str, text: str, known: Mapping[str, str]) -> Iterator[str]:
    here = PurePosixPath(name).parent
    if name.endswith(".py") or text.startswith("#!/usr/bin/env python"):
        yield from _python(here, text, known)
    elif _CXX.search(name):
        for included in _INCLUDE.findall(text):
            near = _joined(here, included)
            ends = [each for each in known if each.endswith(f"/{included}")]
            yield from [near] if near in known else ends
    elif name.endswith(".js"):
        yield from (
            path for asked in _SCRIPT.findall(text) if (path := _joined(here, asked)) in known
        )


def _python(here: PurePosixPath, text: str, known: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = here.parts[: len(here.parts) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            named = [f"{module}.{each.name}" for each in node.names]
            inner = [each for each in named if any(_modules(each, here, known))]
            names = inner if len(inner) == len(named) else [module, *inner]
        elif isinstance(node, ast.Constant) and re.search(r"\btests/\w+\.py$", str(node.value)):
            yield from (each for each in known if each.endswith(str(node.value)))
        for each in names:
            yield from _modules(each, here, known)


def _modules(name: str, here: PurePosixPath, known: Mapping[str, str]) -> Iterator[str]:
    path = name.replace(".", "/")
    for before in (*_PYTHON_PATHS, *([] if "/" in path else [f"{here}/"])):
        for end in (".py", "/__init__.py"):
            if (file := f"{before}{path}{end}") in known:
                yield file
                return


def _joined(here: PurePosixPath, path: str) -> str:
    parts: list[str] = []
    for part in (here / path).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


# -------------------------------------------------------------------------------- what is refused


def is_test(name: str) -> bool:
    return "tests" in PurePosixPath(name).parts


#: What says which tests run.
RUNNER = "tools/tiers.py"


def of_tests(uses: Graph) -> list[str]:
    """Where something that is no test uses a test's file. A conftest.py is a test's."""
    return [
        f"{name} uses {used}"
        for name, all_used in sorted(uses.items())
        if not is_test(name) and not name.endswith("conftest.py") and name != RUNNER
        for used in sorted(all_used)
        if is_test(used)
    ]


def circles(uses: Graph) -> list[list[str]]:
    """Files that use each other, by way of others or not: each circle's, in order."""
    reached: dict[str, set[str]] = {}
    for name in uses:
        found, following = set[str](), [name]
        while following:
            for used in uses.get(following.pop(), ()):
                if used not in found:
                    found.add(used)
                    following.append(used)
        reached[name] = found
    made = {
        tuple(sorted(other for other in found if name in reached[other]))
        for name, found in reached.items()
        if name in found
    }
    return sorted(map(list, made))


def of_other_rooms(uses: Graph, room: str) -> list[str]:
    """What a room's files, tests apart, use outside it."""
    return [
        f"{name} uses {used}"
        for name, all_used in sorted(uses.items())
        if name.startswith(f"{room}/") and not is_test(name)
        for used in sorted(all_used)
        if not used.startswith(f"{room}/")
    ]


@pytest.fixture(scope="module")
def uses() -> Graph:
    texts = {}
    for name in tracked_files():
        path = ROOT / name
        is_code = name.endswith((".py", ".js")) or _CXX.search(name)
        if is_code or (not path.suffix and path.read_bytes()[:23] == b"#!/usr/bin/env python3\n"):
            texts[name] = path.read_text(encoding="utf-8")
    return graph(texts)


def test_nothing_uses_what_is_a_tests(uses: Graph) -> None:
    assert of_tests(uses) == []


def test_no_two_files_use_each_other(uses: Graph) -> None:
    assert circles(uses) == []


def test_the_records_know_no_other_room(uses: Graph) -> None:
    assert of_other_rooms(uses, "common/records") == []


# ------------------------------------------------------------------------------- each kind, planted

BOOK = {
    "a/one.py": "",
    "a/tests/fake.py": "",
    "a/tests/test_one.py": "from a import one\nfrom a.tests import fake\n",
    "common/records/sets.py": "",
    "common/include/book/x.hpp": "",
    "common/tests/support.hpp": "",
    "page/run.js": "",
    "page/tests/fake.js": "",
    "figures/draw.py": "from common.records import sets\n",
}


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("a/two.py", "from a.tests import fake\n", "a/tests/fake.py"),
        ("a/two.py", "def late():\n    from a.tests.fake import x\n", "a/tests/fake.py"),
        ("a/two.py", "from .tests import fake\n", "a/tests/fake.py"),
        ("a/two.py", "import a.tests.fake\n", "a/tests/fake.py"),
        ("a/two.py", 'runpy.run_path("tests/fake.py")\n', "a/tests/fake.py"),
        ("common/src/x.cpp", '#include "../tests/support.hpp"\n', "common/tests/support.hpp"),
        ("common/src/x.cpp", '#include "tests/support.hpp"\n', "common/tests/support.hpp"),
        ("page/more.js", 'import { x } from "./tests/fake.js";\n', "page/tests/fake.js"),
        ("page/more.js", 'const x = require("./tests/fake.js");\n', "page/tests/fake.js"),
    ],
)
def test_a_use_of_a_test_is_found(name: str, text: str, used: str) -> None:
    assert of_tests(graph(BOOK)) == []
    assert of_tests(graph({**BOOK, name: text})) == [f"{name} uses {used}"]


@pytest.mark.parametrize(
    ("name", "text", "other", "back"),
    [
        ("a/two.py", "from a import one\n", "a/one.py", "def late():\n    from a import two\n"),
        ("a/two.py", "from .one import x\n", "a/one.py", "import a.two\n"),
        ("common/src/y.hpp", '#include "book/x.hpp"\n', "common/include/book/x.hpp",
         '#include "../../src/y.hpp"\n'),
        ("page/more.js", 'import "./run.js";\n', "page/run.js", 'import "./more.js";\n'),
    ],
)  # fmt: skip
def test_a_circle_is_found(name: str, text: str, other: str, back: str) -> None:
    assert circles(graph({**BOOK, name: text})) == []
    assert circles(graph({**BOOK, name: text, other: back})) == [sorted([name, other])]


def test_a_longer_circle_is_found() -> None:
    files = {"a/x.py": "from a import y\n", "a/y.py": "from a import z\n"}
    assert circles(graph({**files, "a/z.py": "import a.x\n"})) == [["a/x.py", "a/y.py", "a/z.py"]]


def test_a_room_that_the_records_know_is_found() -> None:
    planted = {**BOOK, "common/records/sets.py": "def late():\n    import figures.draw\n"}
    assert of_other_rooms(graph(BOOK), "common/records") == []
    assert of_other_rooms(graph(planted), "common/records") == [
        "common/records/sets.py uses figures/draw.py"
    ]
