"""``python -m docs.editions pdf|epub|slides --out FILE``: one edition of a rendered guide."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from common.files import named_file, named_folder
from docs.editions import Failure, put, stories
from tools.terminal import Parser, complain

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    wanted = Parser(prog="docs.editions", description=__doc__)
    wanted.add_argument("kind", choices=("pdf", "epub", "slides"))
    wanted.add_argument("--paper", choices=("a4", "letter"), default="a4")
    wanted.add_argument("--guide", type=named_folder, default=ROOT / "build" / "guide")
    wanted.add_argument("--out", type=named_file, required=True)
    given = wanted.parse_args()
    try:
        put(given.out)  # said before the minute that it takes
        found = stories.read(given.guide, os.environ.get("LADDER_URL", ""))
        if given.kind == "pdf":
            from docs.editions import paper

            paper.write(found, given.paper, given.out)
        elif given.kind == "slides":
            from docs.editions import slides

            slides.write(found, given.out)
        else:
            from docs.editions import ebook

            ebook.write(found, given.out)
    except Failure as failure:
        complain("error", str(failure))
        return failure.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
