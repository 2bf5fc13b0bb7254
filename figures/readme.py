"""The README's recorded parts: its picture's words, and what programs printed.

They stand between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``: NAME is ``climb``, or a
chapter whose console output is shown. ``python -m figures.draw --readme`` writes them anew.
"""

from __future__ import annotations

import html
import re

from common.records.recordings import Recordings

_PART = re.compile(
    r"(?P<begin><!-- begin (?P<name>\w+) -->\n).*?(?P<end><!-- end (?P=name) -->)", re.DOTALL
)
_PICTURE = """\
<picture>
  <source media="(prefers-color-scheme: dark)" srcset="figures/spine-dark.svg">
  <img alt="{alt}" src="figures/spine-light.svg">
</picture>

*{provenance}*
"""


def filled(text: str, recordings: Recordings, alt: str, provenance: str) -> str:
    """README.md with every part as the reference set has it."""

    def fill(part: re.Match[str]) -> str:
        if part["name"] == "climb":
            body = _PICTURE.format(alt=html.escape(alt), provenance=provenance)
        else:
            body = f"```console\n{recordings.reference.consoles[part['name']].rstrip()}\n```\n"
        return part["begin"] + body + part["end"]

    return _PART.sub(fill, text)
