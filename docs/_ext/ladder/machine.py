"""What the compiler made of a kernel: an extract of its recorded machine code."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from common.records import machine_code

from . import inputs
from .blocks import block
from .book import Book, Lost
from .directive import LookupDirective
from .names import BadName
from .strings import _


class MachineCode(LookupDirective):
    """``.. machine-code:: CHAPTER KERNEL``: its first loop, or what ``:from:`` and ``:to:`` name.

    Both are patterns: the first instruction that matches the one, to the next that matches the
    other. ``:mark:`` is a pattern of instructions to stress.
    """

    option_spec: ClassVar = {
        "from": directives.unchanged_required,
        "to": directives.unchanged_required,
        "mark": directives.unchanged_required,
    }

    def show(self, book: Book) -> list[nodes.Node]:
        chapter, kernel = self.words("CHAPTER", "KERNEL")
        inputs.note(self.env, [book.root / machine_code.FILE])
        if ("from" in self.options) != ("to" in self.options):
            raise BadName("takes :from: and :to: together")
        try:
            recorded = machine_code.load(book.root)
            code = recorded.kernel(chapter, kernel)
            if "from" in self.options:
                shown = machine_code.between(code, self.options["from"], self.options["to"])
            else:
                shown = machine_code.loop(code)
        except (machine_code.NoSuchCode, ValueError) as error:
            raise Lost(str(error)) from None
        caption = _("Machine code of {kernel} for {arch}, by nvcc {version}: {part}").format(
            kernel=kernel,
            arch=recorded.arch,
            version=recorded.nvcc,
            part=_("an extract") if "from" in self.options else _("its loop"),
        )
        made = block("\n".join(map(str, shown)), "none", [nodes.Text(caption)], "machine-code")
        if "mark" in self.options:
            marked = [
                line
                for line, each in enumerate(shown, start=1)
                if re.search(self.options["mark"], each.text)
            ]
            if not marked:
                raise Lost(f"no instruction shown matches '{self.options['mark']}'")
            literal: Any = made.children[-1]
            literal["highlight_args"] = {"hl_lines": marked}
        return [made]


def setup(app: Sphinx) -> None:
    app.add_directive("machine-code", MachineCode)
