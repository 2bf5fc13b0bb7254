"""What the guide was built with, as it was when it was built."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess

from docutils import nodes
from docutils.nodes import system_message
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from . import report
from .strings import _

#: How programs are asked for their version; the first number in the answer is taken.
PROGRAMS = {
    "cmake": ["cmake", "--version"],
    "doxygen": ["doxygen", "--version"],
    "g++": ["g++", "--version"],
    "nvcc": ["nvcc", "--version"],
}


def program_version(name: str, path: str | None = None) -> str | None:
    """The version of a program, None where it is not to be found."""
    command = PROGRAMS[name]
    program = path or shutil.which(command[0])
    if not program:
        return None
    try:
        said = subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, check=False, timeout=20
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    # nvcc says "release 13.0, V13.0.88"; the others say it at the end of their first line.
    numbers = re.findall(r"(?<=V)\d+(?:\.\d+)+", said) or re.findall(r"\d+(?:\.\d+)+", said)
    return numbers[0] if numbers else None


class Version(SphinxRole):
    """``:version:`furo``` of a Python package, or of one of the programs above."""

    def run(self) -> tuple[list[nodes.Node], list[system_message]]:
        if self.text in PROGRAMS:
            found = program_version(self.text, self.config.ladder_programs.get(self.text))
            return [nodes.inline("", found or _("not on this machine"))], []
        try:
            return [nodes.inline("", importlib.metadata.version(self.text))], []
        except importlib.metadata.PackageNotFoundError:
            message = f"version: no Python package '{self.text}' is installed"
            return [report.lost(self.env, self.rawtext, message, self.get_location())], []


def setup(app: Sphinx) -> None:
    app.add_config_value("ladder_programs", {}, "env", types=[dict])
    app.add_role("version", Version())
