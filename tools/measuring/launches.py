"""What each variant's host code asks of the device, for the page that runs the kernels.

The embedded device writes down what a program's host code does (``tools/emulate --host-log``). A
variant is run at each size and block that a panel offers. Its plans (:mod:`tools.measuring.plans`)
are all that the page launches. ``figures/data/embedded/launches/`` has them, a file per chapter,
with the words in which the program refuses what it can't run.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from tools.measuring import ROOT, Failure
from tools.measuring.embedded import SET, Device
from tools.measuring.plans import (
    NoPlan,
    Plan,
    Recipe,
    kernels_of,
    plan_in,
    recipe_of,
    with_lists,
)
from tools.measuring.programs import (
    Program,
    chapter_names,
    find_programs,
    json_of,
)
from tools.measuring.ptx import Module, modules

FOLDER = f"figures/data/{SET}/launches"
RECIPES_VERSION = 3  # of the files there
WRONG = 1
BAD_ARGUMENTS = 2
SEED = 2018  # the programs' own
OTHER_SEED = 7
MOST_N = 2**20  # of the page
DEFAULT_N = 2**16
#: What a panel offers where a variant takes it, with the size and the block that are its own: edges
#: of warps, blocks and vectors, and much of what hardware's counts were recorded at.
SIZES = (1, 31, 33, 1000, 2**10, 2**12, 10_007, 2**14, 2**16, 2**16 + 1, 2**16 + 3, 2**17, 2**18,
         MOST_N - 1, MOST_N)  # fmt: skip
BLOCKS = (32, 64, 100, 128, 256, 512, 1024)
#: Of a table with rows of several elements also so many rows.
ROWS = (1, 2, 3, 10, 20)


class NoLaunch(NoPlan):
    """It launches nothing."""


@dataclass(frozen=True)
class Listed:
    """A variant as ``--list --json`` has it, as far as a page needs it."""

    name: str
    told: dict[str, Any] = field(compare=False)

    @property
    def most(self) -> int:
        most = self.told["sizes"]["most"]
        return min(most, MOST_N) if most is not None else MOST_N

    def takes(self, block: int) -> bool:
        blocks = self.told["blocks"]
        within = blocks["low"] <= block <= blocks["high"] and block % blocks["multiple_of"] == 0
        return within and not (blocks["powers_of_two"] and block & (block - 1))

    @property
    def block(self) -> int:
        """A block that it takes."""
        return int(self.told["checked"]["block"])

    def sizes(self, columns: int) -> list[int]:
        """Those that a panel offers; of a table, from its first row on."""
        rows = {few * columns for few in ROWS} if columns > 1 else set()
        own = {min(DEFAULT_N, self.told["sizes"]["usual"]), self.most}
        return sorted(n for n in {*SIZES, *rows, *own} if columns <= n <= self.most)

    def blocks(self) -> list[int]:
        return sorted({self.told["block"], *filter(self.takes, (*BLOCKS, self.block))})


def listed(program: Program) -> list[Listed]:
    """All its variants."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "list.json")
        told, _ = json_of(program.path, ["--list", "--json", file.name], file)
    return [Listed(each["name"], each) for each in told["variants"]]


# ----------------------------------------------------------------------------------------- one run


@dataclass(frozen=True)
class Ran:
    """One run of a program: what its host code asked for, and what it said."""

    events: list[dict[str, Any]]
    status: int
    out: str
    err: str

    @property
    def refusal(self) -> str | None:
        """Why the program didn't run it, without its own name."""
        if self.status != BAD_ARGUMENTS or any(e["event"] == "launch" for e in self.events):
            return None
        return self.err.splitlines()[-1].partition(": ")[2]


def run(device: Device, command: list[Path | str], log: Path, **settings: str) -> Ran:
    log.unlink(missing_ok=True)
    done = device.host_log(command, log, settings)
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    return Ran(
        [json.loads(x) for x in text.splitlines()], done.returncode, done.stdout, done.stderr
    )


# --------------------------------------------------------------------------------- a whole chapter


class Chapter:
    """One chapter's program, and what its variants were seen to do."""

    def __init__(self, device: Device, program: Program, work: Path) -> None:
        self.device, self.program, self.work = device, program, work
        self.variants = listed(program)
        self.logs = count()

    def ran(
        self, variant: str, n: int | str, block: int | str, seed: int = SEED, **settings: str
    ) -> Ran:
        """One run; *settings* are the embedded device's."""
        log = self.work / f"{next(self.logs)}.json"  # two may run the same at once
        shape = ["--n", str(n), "--block", str(block), "--seed", str(seed)]
        command: list[Path | str] = [self.program.path, "--once", "--variant", variant, *shape]
        try:
            return run(self.device, command, log, **settings)
        finally:
            log.unlink(missing_ok=True)

    def least(self, variant: Listed) -> int:
        """The smallest n at which it launches something."""
        few, enough = 1, variant.most
        while enough - few > 1:
            n = (few + enough) // 2
            few, enough = (few, n) if self.launches(variant, n) else (n, enough)
        return enough

    def launches(self, variant: Listed, n: int) -> bool:
        ran = self.ran(variant.name, n, variant.block)
        return ran.status != 0 or any(event["event"] == "launch" for event in ran.events)

    def plan(self, variant: Listed, n: int, block: int, seed: int = SEED) -> Plan:
        """What it asks for; ``ended`` where a wrong result or a fault ends what is read."""
        done = self.ran(variant.name, n, block, seed)
        if done.refusal is not None:
            raise NoPlan(f"n = {n}, block {block} is refused: {done.refusal}")
        if not any(event["event"] == "launch" for event in done.events):
            if done.status == 0:
                raise NoLaunch(f"n = {n}, block {block}: it launches nothing")
            raise Failure(f"{variant.name}, n = {n}, block {block}: {done.err.strip()}")
        return {**plan_in(done.events), "ended": done.status != 0}

    def recipe(self, variant: Listed) -> Recipe:
        """All that a panel offers of it. NoPlan where a page can't do what it does."""
        columns: int | None = variant.told["params"].get("columns")
        try:
            self.plan(variant, columns or 1, variant.block)
        except NoLaunch:  # a table, of which so few elements make no row
            columns = self.least(variant)
        sizes, blocks = variant.sizes(columns or 1), variant.blocks()
        plans = [self.plan(variant, n, block) for n in sizes for block in blocks]
        other = self.plan(variant, sizes[len(sizes) // 2], blocks[0], OTHER_SEED)
        recipe = recipe_of(plans, sizes, blocks, other)
        return {"columns": columns, **recipe} if columns else recipe

    def refusals(self, variant: Listed) -> dict[str, str]:
        """What it says of a block or an n that it doesn't take, with a name for the number."""
        said = {}
        wrong = next((b for b in (100, 1000, 512, 1, 2) if not variant.takes(b)), None)
        if wrong is not None:
            said["block"] = self._refusal(variant, 1, wrong).replace(str(wrong), "{block}", 1)
        if variant.most < MOST_N:
            wrong = variant.most + 1
            text = self._refusal(variant, wrong, variant.block)
            said["n"] = re.sub(r"^--n [^:]+:", "--n {n}:", text)
        return said

    def _refusal(self, variant: Listed, n: int | str, block: int | str) -> str:
        refusal = self.ran(variant.name, n, block).refusal
        if refusal is None:
            raise Failure(
                f"{variant.name} runs with n = {n} and block {block}, which it doesn't take"
            )
        return refusal

    def words(self) -> dict[str, str]:
        """What the program says of numbers that no variant takes, and of n = 0."""
        variant = self.variants[0]
        nothing = self.ran(variant.name, 0, variant.block)
        return {
            "no_n": self._refusal(variant, "-1", variant.block).replace('"-1"', '"{n}"'),
            "no_block": self._refusal(variant, 1, 0).replace('"0"', '"{block}"'),
            "no_elements": nothing.out.splitlines()[-1],
        }


def printed_ptx(device: Device, program: Path) -> str:
    done = device.run([ROOT / "tools" / "emulate", "--print-ptx", program], ROOT)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return done.stdout


#: Instructions that the page's device leaves out: tools/emulator/page/left_out.cpp.
_LEFT_OUT = re.compile(
    r"(?<![\w.%$])(?:mma|wmma|wgmma|ldmatrix|stmatrix|movmatrix|mapa|getctarank|tex|tld4|suld|sust)"
    r"\.[\w.:]+"
)


#: What a kernel says of programmatic dependent launches: the next may begin, and wait for the last.
_NEXT_MAY_BEGIN = "griddepcontrol.launch_dependents"
_WAITS_FOR_LAST = "griddepcontrol.wait"


def left_out_of_pages(ptx: Sequence[Module], recipe: Recipe) -> str:
    """Why the page's device can't show what the recipe's kernels do; empty where it can."""
    texts = {
        kernel: [module.items[name] for name in module.with_all(kernel)]
        for module in ptx
        for kernel in module.items.keys() & kernels_of(recipe)
    }
    for text in chain.from_iterable(texts.values()):
        if found := _LEFT_OUT.search(text):
            return f"the page's device leaves out {found[0]}"
    said = {
        name: [kernel for kernel, of in texts.items() if any(name in text for text in of)]
        for name in (_NEXT_MAY_BEGIN, _WAITS_FOR_LAST)
    }
    if said[_NEXT_MAY_BEGIN] and not said[_WAITS_FOR_LAST]:
        return "a page's launches run one after another, and its fault is not to wait for the last"
    return ""


def record(build: Path) -> dict[str, str]:
    """The chapters' files, by their path from the repository's root. Chapter 0 times what the
    others run, and has none."""
    device = Device(build)
    with tempfile.TemporaryDirectory(prefix="launches-") as folder:
        programs = find_programs(chapters(), build, Path(folder))
    return {f"{FOLDER}/{each.chapter}.json": recorded(device, each) for each in programs}


def chapters() -> list[str]:
    return [name for name in chapter_names() if not name.startswith("chapter00_")]


def recorded(device: Device, program: Program) -> str:
    """A chapter's file: recipes, and why variants have none."""
    ptx = modules(printed_ptx(device, program.path))
    with tempfile.TemporaryDirectory(prefix="launches-") as folder:
        chapter = Chapter(device, program, Path(folder))

        def one(variant: Listed) -> tuple[Recipe | None, str]:
            if program.takes_several:
                return None, "a page has one GPU"
            try:
                recipe = chapter.recipe(variant)
            except NoPlan as why:
                return None, str(why)
            if not recipe["buffers"]:
                return None, "it computes nothing"
            if missing := left_out_of_pages(ptx, recipe):
                return None, missing
            region = {"region": variant.told["region"]}
            return {**region, **recipe, "refusals": chapter.refusals(variant)}, ""

        # Two at once: much of a short run is the start of a process.
        with ThreadPoolExecutor(2) as pool:
            made = list(pool.map(one, chapter.variants))
        words = chapter.words()
    names = [variant.name for variant in chapter.variants]
    for variant, (recipe, _) in zip(chapter.variants, made, strict=True):
        if recipe and not recipe["read"]:
            recipe["read"] = read_by_another(variant, recipe, chapter.variants, made)
    recipes = {name: recipe for name, (recipe, _) in zip(names, made, strict=True) if recipe}
    lists, recipes = with_lists(recipes)
    left_out = {name: why for name, (_, why) in zip(names, made, strict=True) if why}
    return text_of(program.chapter, words=words, left_out=left_out, lists=lists, variants=recipes)


def read_by_another(
    variant: Listed,
    recipe: Recipe,
    variants: Iterable[Listed],
    made: Iterable[tuple[Recipe | None, str]],
) -> list[dict[str, Any]]:
    """What the check reads of a variant that a fault ends: as of one with the same problem and as
    many buffers."""
    for other, (its, _) in zip(variants, made, strict=True):
        same_problem = other.told["problem"] == variant.told["problem"]
        if its and its["read"] and same_problem and len(its["buffers"]) == len(recipe["buffers"]):
            read: list[dict[str, Any]] = its["read"]
            return read
    raise Failure(f"{variant.name}: no variant tells what its check reads")


def text_of(chapter: str, **objects: dict[str, Any] | list[Any]) -> str:
    """The file: a recipe per line, so that a change shows which."""

    def text(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    parts = [f' "schema": {RECIPES_VERSION}', f' "chapter": {json.dumps(chapter)}']
    for name, members in objects.items():
        if isinstance(members, dict):
            begin, end = "{}"
            lines = [f"  {json.dumps(key)}: {text(value)}" for key, value in members.items()]
        else:
            begin, end = "[]"
            lines = [f"  {text(value)}" for value in members]
        inside = "\n" + ",\n".join(lines) + "\n " if lines else ""
        parts.append(f" {json.dumps(name)}: {begin}{inside}{end}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
