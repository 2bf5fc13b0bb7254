"""Run it here: a fold under a kernel's listing, which a script turns into the device in the page.

The fold says which chapter's variants run the kernel, and which presets lead to the point in one
click. It has the listings that the page doesn't show, too: what the kernel calls, and kernels that
only a preset runs. ``_static/device/`` does the rest. Without JavaScript the fold is the command
line that does the same, and a still picture of the step that the stepper starts at.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from common.records.regions import Region

from .blocks import region_block
from .book import Book, Lost, nearest
from .directive import LookupDirective
from .folded import fold, summary
from .names import BadName, chapter_of, whole
from .provenance import short_device
from .stills import still
from .strings import _

#: What a preset may set beside its variant, and how it is read.
NUMBERS = ("n", "block", "seed", "apart", "in")
WORDS = ("checks", "heat", "step")
CHECKS = ("all", "race", "memory", "init", "sync")
HEATS = ("instructions", "sectors", "wavefronts")
#: Steps by name (_static/device/starts.js); "global:2" is the second such step. A number is a step
#: of the trace, counted from 0.
STEPS = ("conflict", "branch", "global", "shared", "shared-load", "atomic", "shuffle", "barrier",
         "warp-barrier", "race", "first", "last")  # fmt: skip
#: What a directive takes that has a panel. Its stepper starts at ``:step:``.
PANEL_OPTIONS: dict[str, Callable[[str], Any]] = {
    "presets": directives.unchanged_required,
    "step": directives.unchanged_required,
    "open": directives.flag,
}
#: Not what a kernel is made of, but what launches it.
CODE = ("kernels", "legacy", "answers")


class run_here(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """The fold; ``data`` is what the script works with."""


@dataclass(frozen=True)
class Preset:
    """``LABEL :: VARIANT [n=2^16] [block=100] [checks=race] ...``, one click."""

    label: str
    variant: str
    given: dict[str, Any]

    def data(self) -> dict[str, Any]:
        return {"label": self.label, "variant": self.variant, **self.given}

    @classmethod
    def read(cls, line: str) -> Preset:
        label, colons, asked = line.partition(" :: ")
        words = asked.split()
        plain = [word for word in words if "=" not in word]
        if not colons or len(plain) != 1:
            raise BadName(f"preset '{line.strip()}' should read LABEL :: VARIANT [n=...] ...")
        given = dict(word.split("=", 1) for word in words if "=" in word)
        return cls(label.strip(), plain[0], {key: _value(key, given[key]) for key in given})


def _value(key: str, text: str) -> int | str:
    if key in NUMBERS:
        return whole(text)
    if key not in WORDS:
        raise BadName(f"a preset has no '{key}'{nearest(key, [*NUMBERS, *WORDS])}")
    if key == "step":
        return step(text)
    allowed = {"checks": CHECKS, "heat": HEATS}[key]
    for word in text.split(",") if key == "checks" else [text]:
        if word not in allowed:
            raise BadName(f"a preset's {key}= is one of {', '.join(allowed)}, not '{word}'")
    return text


def step(text: str) -> int | str:
    """Where the stepper starts: a number, or the name of a step."""
    if text.isdigit():
        return int(text)
    name, colon, which = text.partition(":")
    if name not in STEPS or (colon and not which.isdigit()):
        raise BadName(f"a step is one of {', '.join(STEPS)}, not '{text}'")
    return text


def presets(text: str) -> list[Preset]:
    return [Preset.read(line) for line in text.splitlines() if line.strip()]


def panel(
    book: Book, region: Region, options: Mapping[str, Any], is_listed: bool = False
) -> list[nodes.Node]:
    """The fold for a region; nothing if no variant runs it, or the page has its fold already.

    It brings the listing with it, unless that ``is_listed`` above it.
    """
    given = presets(options.get("presets", ""))
    chapter, names = _runs(book, region)
    if not names:
        if given or "step" in options:
            raise Lost(f"no variant runs '{region.name}' in the page, so it can't have presets")
        return []
    shown = book.env.temp_data.setdefault("ladder_run_here", [])
    assert isinstance(shown, list)
    shown.append(region.name)
    times = shown.count(region.name)
    if times > 1 and not given:
        return []
    known = book.launched(chapter)
    unknown = [one.variant for one in given if one.variant not in known]
    if unknown:
        raise Lost(f"{chapter} runs no '{unknown[0]}' in the page{nearest(unknown[0], known)}")
    for one in given:
        for key, offered in (("n", "sizes"), ("block", "blocks")):
            there = known[one.variant][offered]
            if one.given.get(key, there[0]) not in there:
                all_there = ", ".join(map(str, there))
                raise BadName(f"preset '{one.label}': {one.variant} has {key}= one of {all_there}")
    variants = list(dict.fromkeys([*names, *(one.variant for one in given)]))
    made = run_here(classes=["folded", "run-here"])
    made["ids"].append(nodes.make_id(f"run {region.name}") + (f"-{times}" if times > 1 else ""))
    made["data"] = {
        "chapter": chapter,
        "region": region.name,
        "device": short_device(book.reference_name()),
        "variants": [{"name": name, "region": known[name]["region"]} for name in variants],
        "presets": [one.data() for one in given],
    }
    if "step" in options:
        made["data"]["step"] = step(options["step"])
    if "open" in options:
        made["open"] = True
    made += summary("", "", nodes.Text(options.get("label") or _("Run it here")))
    made += nodes.container(
        "",
        _command(chapter, given[0] if given else Preset("", names[0], {})),
        *still(book, made["ids"][0]),
        classes=["run-without"],
    )
    made += _code(book, region.name, [known[name]["region"] for name in variants], is_listed)
    return [made]


def _runs(book: Book, region: Region) -> tuple[str, list[str]]:
    """The chapter whose variants run the region, of the page's if there are any; and these."""
    for chapter in filter(None, (chapter_of(book.env.docname), region.chapter)):
        known = book.launched(chapter).items()
        names = [name for name, one in known if one["region"] == region.name]
        if names:
            return chapter, names
    return region.chapter, []


def _command(chapter: str, one: Preset) -> nodes.Node:
    words = ["../tools/emulate", "./run", "--once", "--variant", one.variant]
    words += [f"--{key}={one.given[key]}" for key in ("n", "block", "seed") if key in one.given]
    checks = one.given.get("checks")
    words[1:1] = ["--check", str(checks)] if checks else []
    words[1:1] = ["--schedule", f"apart:{one.given['apart']}"] if "apart" in one.given else []
    command = f"make {chapter} && {shlex.join(words)}"
    text = _("This needs JavaScript. On your own machine, in the build folder, run ")
    return nodes.paragraph("", "", nodes.Text(text), nodes.literal(command, command))


def _code(book: Book, kernel: str, others: Iterable[str], is_listed: bool) -> list[nodes.Node]:
    """Listings of what runs and the page may not show; the script hides those that it does."""
    wanted: dict[str, Region] = {}
    for name in dict.fromkeys([kernel, *others]):
        run = book.any_region(name)
        for each in (name, *run.uses):
            used = book.any_region(each)
            if used.kind in CODE:
                wanted[each] = used
    own = wanted.pop(kernel, None)
    folds: list[nodes.Node] = []
    if own and not is_listed:
        folds.append(fold(_("The whole kernel"), [region_block(own)], "run-code"))
    if wanted:
        rest = [region_block(one) for one in wanted.values()]
        folds.append(fold(_("More of the code that runs"), rest, "run-code"))
    return folds


class RunHere(LookupDirective):
    """``.. run-here:: CHAPTER REGION``: the fold where it stands, with ``:presets:``.

    ``:label:`` is what its line says, ``:step:`` where its stepper starts, and ``:open:`` opens it
    from the start.
    """

    option_spec: ClassVar = {**PANEL_OPTIONS, "label": directives.unchanged_required}

    def show(self, book: Book) -> list[nodes.Node]:
        region = book.region(*self.words("CHAPTER", "REGION"))
        made = panel(book, region, self.options)
        if not made:
            raise Lost(f"no variant runs '{region.name}' in the page, or it has its line already")
        return made


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    attributes: Any = {"data-run": json.dumps(node["data"], ensure_ascii=False)}
    if node.get("open"):
        attributes["data-open"] = "yes"
    self.body.append(self.starttag(node, "details", **attributes))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.add_node(run_here, html=(_visit, _depart))
    app.add_directive("run-here", RunHere)
