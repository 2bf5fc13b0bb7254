"""What the page gets to run a chapter's kernels: ``_static/device/<chapter>.js``.

``python -m tools.measuring.page BUILD CHAPTER FILE`` writes it: the kernels' PTX, out of this
build's program; what is launched, out of ``figures/data/embedded/launches``; what
the program says of its variants; what hardware counted at shapes that the page can run; and the
chapter's ``page.js``, which has its inputs and its check.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from common.files import write_whole
from common.records import columns
from common.records.counters import COUNTERS, OF_BOTH
from tools.measuring import ROOT, Failure
from tools.measuring.embedded import Device
from tools.measuring.launches import DEFAULT_N, FOLDER, Listed, listed, printed_ptx
from tools.measuring.plans import Recipe, kernels_of, without_lists
from tools.measuring.programs import Program, find_programs
from tools.measuring.ptx import cut, of_program

HARDWARE = "nvidia-h200"


def committed(chapter: str, root: Path = ROOT) -> dict[str, Any]:
    """A chapter's recipes; none where it has no file."""
    file = root / FOLDER / f"{chapter}.json"
    if not file.is_file():
        return {"words": {}, "lists": [], "variants": {}}
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def chapter_data(build: Path, program: Program) -> dict[str, Any] | None:
    """All that the page knows of a chapter; nothing where no variant has a recipe."""
    recorded = committed(program.chapter)
    recipes: dict[str, Recipe] = recorded["variants"]
    there = [each for each in listed(program) if each.name in recipes]
    if not there:
        return None
    ptx = of_program(program.path) or printed_ptx(Device(build), program.path)
    whole = without_lists(recorded["lists"], recipes)
    kernels = {name for each in there for name in kernels_of(whole[each.name])}
    return {
        "words": recorded["words"],
        "lists": recorded["lists"],
        "ptx": cut(ptx, kernels),
        "variants": [_variant(each, recipes[each.name]) for each in there],
        "counters": {each.name: each.ncu for each in COUNTERS.values() if each.embedded != "no"},
        "hardware": list(
            hardware(program.chapter, {each.name: recipes[each.name] for each in there})
        ),
    }


def _variant(variant: Listed, recipe: Recipe) -> dict[str, Any]:
    told = variant.told
    kept = ("name", "region", "from", "legacy", "problem", "params", "blocks", "findings")
    return {
        **{key: told[key] for key in kept},
        "default_block": told["block"],
        # At least one row of a table.
        "default_n": max(min(DEFAULT_N, told["sizes"]["usual"]), recipe.get("columns", 1)),
        "most": variant.most,
        "recipe": recipe,
    }


Run = tuple[str, int, int, list[int | None]]


def hardware(chapter: str, recipes: Mapping[str, Recipe]) -> Iterator[Run]:
    """What hardware counted of these variants at shapes that a panel offers, each once: variant, n,
    block, and a count of each metric; none of one that differed between two launches."""
    seen = set()
    for variant, n, block, counts in (*_small_runs(chapter), *_recorded_runs(chapter)):
        recipe = recipes.get(variant)
        if not recipe or n not in recipe["sizes"] or block not in recipe["blocks"]:
            continue
        if (variant, n, block) not in seen:
            seen.add((variant, n, block))
            yield variant, n, block, counts


def _small_runs(chapter: str) -> Iterator[Run]:
    lines = (ROOT / "chapters/tests" / f"{HARDWARE}.csv").read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["chapter"] != chapter:
            continue
        words = row["case"].split()
        variant, n, block = (words[words.index(o) + 1] for o in ("--variant", "--n", "--block"))
        differed = row["differed"].split()
        counts = [None if m in differed else int(row[m]) for m in OF_BOTH]
        yield variant, int(n), int(block), counts


def _recorded_runs(chapter: str) -> Iterator[Run]:
    for run in columns.read(ROOT / "figures/data" / HARDWARE / "counters.json")["runs"]:
        if run["chapter"] == chapter:
            launched = [launch["metrics"] for launch in run["launches"]]
            sums = [int(sum(metrics[m] for metrics in launched)) for m in OF_BOTH]
            yield run["variant"], run["n"], run["block"], list[int | None](sums)


def script(build: Path, program: Program) -> str:
    """The file of a chapter; empty where it has nothing to run."""
    data = chapter_data(build, program)
    if data is None:
        return ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    own = ROOT / "chapters" / program.chapter / "page.js"
    more = own.read_text(encoding="utf-8") if own.is_file() else ""
    return f'LadderPlans.add("{program.chapter}", {text});\n{more}'


def main(arguments: list[str]) -> int:
    build, chapter, file = Path(arguments[0]).resolve(), arguments[1], Path(arguments[2])
    try:
        with tempfile.TemporaryDirectory(prefix="page-") as folder:
            (program,) = find_programs([chapter], build, Path(folder), rebuild=False)
        write_whole(file, script(build, program))
    except Failure as failure:
        print(failure, file=sys.stderr)
        return failure.status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
