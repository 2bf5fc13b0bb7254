"""The files of a recorded set: what they hold, and how they replace those before them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common.records import columns
from tools.measuring import Failure
from tools.measuring.plan import run_name, timing_name
from tools.measuring.programs import Program
from tools.measuring.provenance import Source
from tools.measuring.steps import Result

Record = dict[str, Any]

#: What all files of a set must have in common: a recording is of one build on one machine.
COMMON = ("device", "driver", "toolkit", "host_compiler", "flags", "architectures")


def merged(
    program: Program,
    timed: dict[str, Result],
    source: Source,
    hashes: dict[str, str],
    passes: int,
) -> Record:
    """One chapter's record out of its invocations' records; *timed* has all steps' results, in
    the order of time.

    Runs are taken in the order of the invocations, whatever order they were measured in; of one
    that a pass has twice, the first.
    """
    chapter = program.chapter
    in_time = [timed[name] for name in timed if timed[name]["record"]["chapter"] == chapter]
    first, last = in_time[0], in_time[-1]
    before, after = first["clocks"]["before"], last["clocks"]["after"]
    record = {key: value for key, value in first["record"].items() if key != "runs"}
    record |= {
        "commands": [command for result in in_time for command in result["record"]["commands"]],
        "source": source.record(),
        "date": first["date"],
        "clocks": {"before": before, "after": after} if before and after else None,
    }
    runs: list[dict[str, Any]] = []
    for repeat in range(passes):
        seen = set()
        for kind in program.invocations(repeat):
            part = timed[timing_name(chapter, kind, repeat)]["record"]
            refuse_change(first["record"], part)
            for run in part["runs"]:
                if run_name(run) in seen:
                    continue
                seen.add(run_name(run))
                kernel_hash = hashes.get(str(run.get("region")))
                runs.append({**run, "repeat": repeat, "kernel_hash": kernel_hash})
    return {**record, "runs": runs}


def refuse_change(one: Record, other: Record) -> None:
    """Refuses a recording of two machines, or of two builds."""
    for key in COMMON:
        if one.get(key) != other.get(key):
            raise Failure(
                f"{key} was {json.dumps(one.get(key))} when {one['chapter']} was measured, and "
                f"{json.dumps(other.get(key))} for {other['chapter']}; a recording is of one "
                "build on one machine: start over with --fresh"
            )


def collected(
    old: Path, records: list[Record], every_chapter: list[str], extra: Record, runs: list[Result]
) -> tuple[Record, str]:
    """What counters.json or sanitizer.json holds, one file for all chapters, and a note.

    Where only some chapters were measured, the others' runs in *old* stay, if they come from the
    same machine and source.
    """
    keys = ("schema", "device", "driver", "toolkit", "source")
    fresh = {key: records[0][key] for key in (*keys, "date")} | extra
    measured = {record["chapter"] for record in records}
    note = ""
    if measured != set(every_chapter):
        try:
            before = columns.read(old)
            others = [run for run in before["runs"] if run["chapter"] not in measured]
        except (OSError, ValueError, KeyError, TypeError, columns.Torn):
            before, others = {}, []
        if all(before.get(key) == fresh[key] for key in keys):
            runs = sorted([*others, *runs], key=lambda run: str(run["chapter"]))
        elif others:
            note = f"{old.name}: the other chapters' runs were of another source or machine, and "
            note += "are left out"
    return {**fresh, "runs": runs}, note
