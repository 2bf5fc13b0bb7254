"""The page's plans beside what the programs do: helpers for tests of docs/_static/device."""

from __future__ import annotations

import json
import subprocess
import zlib
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import playwright

from tools.measuring import embedded, launches, page
from tools.measuring.plans import plan_in, with_buffers
from tools.measuring.programs import Program, find_programs
from tools.tests.built import BUILD, ROOT
from tools.tests.limits import LIMIT

STATIC = ROOT / "docs/_static/device"
#: Playwright brings it along.
NODE = Path(playwright.__file__).parent / "driver/node"
#: Those of which a page runs kernels.
CHAPTERS = sorted(
    path.stem
    for path in (ROOT / launches.FOLDER).glob("*.json")
    if json.loads(path.read_text(encoding="utf-8"))["variants"]
)


def committed(chapter: str) -> dict[str, Any]:
    return page.committed(chapter)


@cache
def device() -> embedded.Device:
    return embedded.Device(BUILD)


@cache
def program(chapter: str, folder: Path) -> Program:
    (found,) = find_programs([chapter], BUILD, folder, rebuild=False)
    return found


@cache
def script(chapter: str, folder: Path) -> Path:
    """The chapter's file, of this build's program."""
    file = folder / f"{chapter}.js"
    file.write_text(page.script(BUILD, program(chapter, folder)), encoding="utf-8")
    return file


def in_node(scripts: list[Path], cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What plans.js, the page's own or one given first, makes of these cases."""
    plans = [] if scripts[0].name == "plans.js" else [STATIC / "plans.js"]
    # By a file: node 26 now and then dies of a corrupted heap when it reads much from a pipe.
    with NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as asked:
        json.dump(cases, asked)
        asked.flush()
        command = [NODE, Path(__file__).with_name("device_plans.js"), asked.name, *plans, *scripts]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def rows_of(recipe: dict[str, Any]) -> int:
    """The length of a table's rows, of which a plan has one at least; 1 where there is none."""
    columns: int = recipe.get("columns", 1)
    return columns


def content(buffer: dict[str, Any]) -> int | None:
    """The check sum of what a buffer holds before the first launch."""
    writes = buffer["writes"]
    if not writes:
        return None
    if len(writes) == 1 and "crc32" in writes[0]:
        crc: int = writes[0]["crc32"]
        return crc
    held = bytearray(buffer["bytes"])
    for write in writes:
        offset, size = write.get("offset", 0), write.get("bytes", buffer["bytes"])
        unit = bytes.fromhex(write["repeats"])
        held[offset : offset + size] = unit * (size // len(unit))
    return zlib.crc32(held)


def read_so_far(ran: launches.Ran, reads: list[Any]) -> int:
    """Of a page's reads, those that the program comes to: its check ends at what is wrong."""
    if ran.status != launches.WRONG:
        return len(reads)
    return len(plan_in(ran.events)["read"])


def as_in_node(recipe: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """A plan that was written down, as `in_node` has it."""
    kept = with_buffers(plan, recipe["allocations"])
    return {
        "buffers": [{"bytes": each["bytes"], "crc32": content(each)} for each in kept["buffers"]],
        "steps": kept["steps"],
        "read": kept["read"],
    }


def read_in(ran: launches.Ran) -> list[str] | None:
    """What the host read in the end, in hexadecimal; nothing where that wasn't written out."""
    events = ran.events
    last = max(i for i, event in enumerate(events) if event["event"] == "launch")
    read = []
    for event in events[last + 1 :]:
        if event["event"] != "read":
            break
        unit = event.get("repeats")
        text = unit * (2 * event["bytes"] // len(unit)) if unit else event.get("data")
        if text is None:
            return None
        read.append(text)
    return read


def verdict_of(ran: launches.Ran) -> str:
    """What the program said of its result."""
    if ran.status == 0:
        after = ran.out.rsplit("\n\n", 1)[1]
        lines = [line for line in after.splitlines() if not line.startswith(("next: ", "note: "))]
        return "\n".join(lines)
    wrong = next(line for line in ran.err.splitlines() if "WRONG RESULT" in line)
    return wrong.split(": ", 3)[3].removesuffix("; not timed")
