"""What each variant's host code asks of the device, for the page that runs the kernels.

The embedded device writes down what a program's host code does (``tools/emulate --host-log``). From
a few runs of a variant a recipe is fitted (:mod:`tools.measuring.recipes`), and then held to what
the program does at other shapes. ``figures/data/embedded/launches/`` has the recipes, a file per
chapter, with the words in which the program refuses what it can't run.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from tools.measuring import ROOT, Failure
from tools.measuring.embedded import SET, Device
from tools.measuring.programs import (
    Program,
    Shape,
    chapter_names,
    find_programs,
    json_of,
)
from tools.measuring.ptx import Module, modules
from tools.measuring.recipes import (
    NoFit,
    Plan,
    Recipe,
    Written,
    fitted,
    kernels_of,
    plan_of,
    whole,
    with_buffers,
)

FOLDER = f"figures/data/{SET}/launches"
RECIPES_VERSION = 2  # of the files there
WRONG = 1
BAD_ARGUMENTS = 2
SEED = 2018  # the programs' own
OTHER_SEED = 7
MOST_N = 2**20  # of the page
#: Where a recipe is fitted …
SIZES = (1, 33, 1000, 4097, 65_536, 300_001, MOST_N)
BLOCKS = (1, 2, 32, 96, 100, 255, 512, 1000, 1024)
POWERS = tuple(2**k for k in range(11))  # of which each may have a kernel of its own
BY_BLOCK = (1000, MOST_N, 4097, 300_001)
#: … and where it is held to what the program does.
OTHER_SIZES = (1, 31, 33, 1023, 1025, 4096, 10_007, 65_535, 65_537, MOST_N - 3)
OTHER_BLOCKS = (3, 33, 37, 160, 250, 384, 992)
#: Rows of a table at which a recipe is fitted, and others at which it is held to the program.
ROWS = (1, 2, 3, 7, 33, 1000, 4097)
OTHER_ROWS = (1, 2, 4, 5, 6, 31, 127, 1025, 10_007)


class NoLaunch(NoFit):
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

    def fitted_at(self, columns: int | None = None) -> list[Shape]:
        usual = POWERS if self.told["blocks"]["powers_of_two"] else BLOCKS
        blocks = sorted({self.block, *filter(self.takes, usual)})
        all_sizes, sizes = self.scaled(SIZES), self.scaled(BY_BLOCK)
        if columns:
            all_sizes = sizes = self.with_rows(columns, ROWS)
        shapes = [(n, self.block) for n in all_sizes]
        shapes += [(sizes[i % len(sizes)], block) for i, block in enumerate(blocks)]
        # The most passes, and one pass, where passes follow each other.
        shapes += [(n, blocks[0]) for n in sizes]
        shapes += [(columns or 1, blocks[0]), (columns or 1, blocks[-1])]
        return list(dict.fromkeys(shapes))

    def held_at(self, columns: int | None = None) -> list[Shape]:
        blocks = [self.block, *filter(self.takes, OTHER_BLOCKS)]
        sizes = self.with_rows(columns, OTHER_ROWS) if columns else self.scaled(OTHER_SIZES)
        shapes = [(n, blocks[i % len(blocks)]) for i, n in enumerate(sizes)]
        shapes += [(columns or 2, blocks[-1]), (sizes[-1], blocks[1 % len(blocks)])]
        return list(dict.fromkeys(shapes))

    def with_rows(self, columns: int, counts: Iterable[int]) -> list[int]:
        """Sizes of tables of so many rows, as far as it takes them, and of the most that it takes;
        some with elements that make no row."""
        rows = {min(count, self.most // columns) for count in counts} | {self.most // columns}
        return sorted({min(n * columns + 5 * n % columns, self.most) for n in rows})

    def scaled(self, sizes: Iterable[int]) -> list[int]:
        """Those sizes where it takes them all; else as many, as far apart, that it takes."""
        if self.most >= MOST_N:
            return list(sizes)
        return sorted({max(1, n * self.most // MOST_N) for n in sizes} | {min(31, self.most)})


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


def plan_in(events: Sequence[dict[str, Any]]) -> Plan:
    """What was asked of the device: the buffers, what is in them before the first launch, the
    launches with what happens between them, and what is read in the end."""
    sizes: dict[int, int] = {}
    launches = [i for i, event in enumerate(events) if event["event"] == "launch"]
    if not launches:
        raise NoFit("it launches nothing")
    if any("3cub" in events[i]["kernel"] for i in launches):
        raise NoFit("CUB chooses its own kernels and launches")
    for event in events[: launches[-1] + 1]:
        if event["event"] == "allocate" and event["name"] == "cudaMalloc":
            sizes[event["buffer"]] = event["bytes"]
    reads: list[dict[str, Any]] = []
    for event in events[launches[-1] + 1 :]:
        if event["event"] != "read":
            break
        # Of a wrong result the program looks at the first wrong element again.
        if not any(_within(event, earlier) for earlier in reads):
            reads.append(event)
    number = {buffer: i for i, buffer in enumerate(sorted(sizes))}

    buffers: list[dict[str, Any]] = [{"bytes": sizes[each], "writes": []} for each in number]
    steps: list[dict[str, Any]] = []
    for i, event in enumerate(events[: launches[-1] + 1]):
        if event["event"] == "launch":
            steps.append(_launch(event, number))
        elif event["event"] == "write" and event["buffer"] in number:
            if i < launches[0]:
                if _holds_addresses(event.get("data", "")):
                    raise NoFit("its input is addresses, which are the program's own")
                _add_write(buffers[number[event["buffer"]]], event)
            else:
                steps.append(_set(event, number))
        elif event["event"] == "copy":
            raise NoFit("it copies on the device")
    return {
        "buffers": buffers,
        "steps": steps,
        "read": [
            {"buffer": number[e["buffer"]], "offset": e["offset"], "bytes": e["bytes"]}
            for e in reads
        ],
    }


_ADDRESSES = range(0x2100 << 32, 0x2500 << 32)  # of global memory: emu/memory.hpp


def _holds_addresses(data: str) -> bool:
    words = [
        int.from_bytes(bytes.fromhex(data[i : i + 16]), "little") for i in range(0, len(data), 16)
    ]
    return bool(words) and all(word in _ADDRESSES for word in words)


def _add_write(buffer: dict[str, Any], event: dict[str, Any]) -> None:
    content = {"repeats": event["repeats"]} if "repeats" in event else {"crc32": event["crc32"]}
    if event["offset"] == 0 and event["bytes"] == buffer["bytes"]:
        buffer["writes"] = [content]  # nothing is left of what was there
    else:
        buffer["writes"].append({"offset": event["offset"], "bytes": event["bytes"], **content})


def _within(event: dict[str, Any], other: dict[str, Any]) -> bool:
    end, other_end = (each["offset"] + each["bytes"] for each in (event, other))
    begins_within: bool = event["offset"] >= other["offset"]
    return event["buffer"] == other["buffer"] and begins_within and end <= other_end


def _set(event: dict[str, Any], number: dict[int, int]) -> dict[str, Any]:
    if len(event.get("repeats", "")) != 2:
        raise NoFit("it copies to the device between launches")
    return {
        "set": number[event["buffer"]],
        "offset": event["offset"],
        "bytes": event["bytes"],
        "value": int(event["repeats"], 16),
    }


def _launch(event: dict[str, Any], number: dict[int, int]) -> dict[str, Any]:
    arguments = []
    for each in event["arguments"]:
        if "buffer" not in each:
            arguments.append({"bytes": each["bytes"]})
        elif each["buffer"] in number:
            arguments.append({"buffer": number[each["buffer"]], "offset": each["offset"]})
        else:
            raise NoFit("a kernel is given the address of a variable")
    kept = {key: event[key] for key in ("kernel", "grid", "block", "shared", "cooperative")}
    return {**kept, "arguments": arguments}


def like(recipe: Recipe, plan: Plan) -> Plan:
    """A plan that was written down, with the recipe's buffers alone, and the numbers of its inputs
    for their contents."""
    plan = with_buffers(plan, recipe["allocations"])
    buffers = []
    for made, buffer in zip(recipe["buffers"], plan["buffers"], strict=True):
        writes = []
        for how, write in zip(made["writes"], buffer["writes"], strict=True):
            kept = {key: value for key, value in write.items() if key != "crc32"}
            if "offset" in how:
                kept = whole(kept, buffer)
            if "input" in how:
                kept = {key: value for key, value in kept.items() if key != "repeats"}
                kept["input"] = how["input"]
            writes.append(kept)
        buffers.append({"bytes": buffer["bytes"], "writes": writes})
    return {**plan, "buffers": buffers}


# --------------------------------------------------------------------------------- a whole chapter


class Chapter:
    """One chapter's program, and what its variants were seen to do."""

    def __init__(self, device: Device, program: Program, work: Path) -> None:
        self.device, self.program, self.work = device, program, work
        self.variants = listed(program)

    def ran(
        self, variant: str, n: int | str, block: int | str, seed: int = SEED, **settings: str
    ) -> Ran:
        """One run; *settings* are the embedded device's."""
        log = self.work / f"{variant}-{n}-{block}-{seed}.json"
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

    def written(self, variant: Listed, shapes: Sequence[Shape]) -> list[Written]:
        """What it asks for at these shapes, and at the first of them with another seed."""
        found = []
        n, block = shapes[len(shapes) // 2]
        runs = [(*shape, SEED) for shape in shapes] + [(n, block, OTHER_SEED)]
        for n, block, seed in runs:
            done = self.ran(variant.name, n, block, seed)
            if done.refusal is not None:
                raise NoFit(f"n = {n}, block {block} is refused: {done.refusal}")
            if not any(event["event"] == "launch" for event in done.events):
                if done.status == 0:
                    raise NoLaunch(f"n = {n}, block {block}: it launches nothing")
                raise Failure(f"{variant.name}, n = {n}, block {block}: {done.err.strip()}")
            plan = plan_in(done.events)
            found.append((n, block, {**plan, "wrong": True} if done.status == WRONG else plan))
        return found

    def recipe(self, variant: Listed) -> Recipe:
        """Fitted, and held to what the program does elsewhere. NoFit where that fails."""
        columns: int | None = variant.told["params"].get("columns")
        try:
            plans = self.written(variant, variant.fitted_at(columns))
        except NoLaunch:  # a table, of which so few elements make no row
            columns = self.least(variant)
            plans = self.written(variant, variant.fitted_at(columns))
        while columns and (between := blocks_between(variant, plans)):
            plans += self.written(variant, [(columns, block) for block in between])
        recipe = fitted(plans, columns)
        for n, block, plan in self.written(variant, variant.held_at(columns)):
            different = differences(recipe, n, block, plan)
            if different:
                raise NoFit(f"n = {n}, block {block}: {different}")
        if columns and columns > 1 and self.launches(variant, columns - 1):
            recipe["least"] = columns
        return recipe

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


def blocks_between(variant: Listed, plans: Sequence[Written]) -> list[int]:
    """Of each two blocks with different kernels one that it takes and that lies halfway: somewhere
    there the kernel changes."""
    kernels: dict[int, list[str]] = {}
    for _, block, plan in plans:
        kernels[block] = [step["kernel"] for step in plan["steps"] if "kernel" in step]
    found = []
    for low, high in pairwise(sorted(kernels)):
        between = [block for block in range(low + 1, high) if variant.takes(block)]
        if between and kernels[low][:1] != kernels[high][:1]:
            found.append(between[len(between) // 2])
    return found


def differences(recipe: Recipe, n: int, block: int, plan: Plan) -> str:
    """Where a recipe gives something else than what was written down; empty for nowhere."""
    try:
        theirs = like(recipe, plan)
        ours = plan_of(recipe, n, block)
    except (KeyError, ValueError) as error:
        return f"the recipe has no such plan: {error}"
    for part in ("buffers", "steps", "read"):
        if part == "read" and not (theirs[part] and ours[part]):
            continue  # a fault has ended the run, or ended another that the recipe is from
        if part == "read" and plan.get("wrong"):
            ours = {**ours, part: ours[part][: len(theirs[part])]}
        if ours[part] != theirs[part]:
            return f"{part}: {ours[part]} where the program has {theirs[part]}"
    return ""


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
            except NoFit as why:
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
    left_out = {name: why for name, (_, why) in zip(names, made, strict=True) if why}
    return text_of(program.chapter, words=words, left_out=left_out, variants=recipes)


def read_by_another(
    variant: Listed,
    recipe: Recipe,
    variants: Iterable[Listed],
    made: Iterable[tuple[Recipe | None, str]],
) -> list[dict[str, Any]]:
    """What the check reads of a variant that a fault ends: as of one with the same problem and
    buffers."""
    for other, (its, _) in zip(variants, made, strict=True):
        same_problem = other.told["problem"] == variant.told["problem"]
        if its and its["read"] and same_problem and _sizes(its) == _sizes(recipe):
            read: list[dict[str, Any]] = its["read"]
            return read
    raise Failure(f"{variant.name}: no variant tells what its check reads")


def _sizes(recipe: Recipe) -> list[Any]:
    return [buffer["bytes"] for buffer in recipe["buffers"]]


def text_of(chapter: str, **objects: dict[str, Any]) -> str:
    """The file: a recipe per line, so that a change shows which."""
    parts = [f' "schema": {RECIPES_VERSION}', f' "chapter": {json.dumps(chapter)}']
    for name, members in objects.items():
        lines = [
            f"  {json.dumps(key)}: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}"
            for key, value in members.items()
        ]
        parts.append(
            f" {json.dumps(name)}: " + ("{\n" + ",\n".join(lines) + "\n }" if lines else "{}")
        )
    return "{\n" + ",\n".join(parts) + "\n}\n"
