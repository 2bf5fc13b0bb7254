"""The command line of tools/measure, and its work from start to end."""

from __future__ import annotations

import argparse
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from common.files import named_file, write_all, write_whole
from common.records import columns, derived, exported, manifest
from common.records.counters import OF_HARDWARE
from common.records.naming import REFERENCE, SECOND
from tools.measuring import (
    CUDA_ERROR,
    ROOT,
    Failure,
    children,
    embedded,
    launches,
    notices,
    profilers,
)
from tools.measuring.plan import (
    PASSES,
    READERS_PASSES,
    CountersRefused,
    Plan,
    Tool,
    find_tool,
    timing_name,
)
from tools.measuring.programs import Program, Variant, chapter_names, find_programs, probe
from tools.measuring.provenance import Source, source_of, write_stamp
from tools.measuring.set_files import Record, collected, merged, refuse_change
from tools.measuring.steps import Parts, Result, Step, Worker, duration
from tools.terminal import Parser, complain

INTERRUPTED = 130
#: They are not timed, so they may share the GPU; each takes a part of its memory.
SANITIZERS_AT_ONCE = min(8, max(4, (os.cpu_count() or 1) // 2))

DESCRIPTION = """\
Measures every chapter on this machine's GPU and writes what it finds into figures/data/local/,
which then takes the place of the recorded numbers in your copy of the guide.

Each chapter's program runs plainly, for the text that the guide shows, and then at every other
size and block of its variants. All of it is done in two passes, the second in reverse order, so
that a card that warms up or drifts shows itself; --record makes three. A run is named by its
variant, n, block and parameters.

Stop it with Ctrl-C whenever you like: what is finished is kept, and the same command goes on from
there, as long as neither the programs nor the source have changed. The files of an earlier
recording are replaced only when the new one is complete."""

EPILOG = """\
On a machine with several GPUs, CUDA_VISIBLE_DEVICES chooses one.

Exit status: 0 done; 1 a program failed, or compute-sanitizer was not clean; 2 a wrong option, a
source that differs from its commit or stamp, a folder that can't be written; 77 no GPU, or a tool
that isn't installed; 130 stopped by Ctrl-C."""


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    kept = "finished steps are kept, and the same command goes on from there"
    again = f"{kept} (--fresh starts over)"
    if options.stamp or options.dry_run or options.export or options.record == embedded.SET:
        kept = again = "nothing was written"
    try:
        if options.stamp:
            said = write_stamp(ROOT)
            kept = "the stamp was written"
            print(said, flush=True)
            return 0
        if options.dry_run:
            return _show_steps(options)
        if options.export:
            return _export(options.record or "local", options.export)
        if options.record == embedded.SET:
            return _record_embedded(options.build.absolute())
        return _measure(options)
    except Failure as failure:
        status, line = failure.status, str(failure)
    except KeyboardInterrupt:
        children.stop_all()
        status, line = INTERRUPTED, f"stopped; {again}"
    except OSError as error:
        full = error.errno == errno.ENOSPC
        line = "the disk is full" if full else f"{error.strerror or error}"
        if error.filename:
            line = f"{error.filename}: {line}"
        status, line = 1, f"{line}; {kept}"
    complain("tools/measure", line)
    return status


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="tools/measure",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--chapters",
        nargs="+",
        metavar="CHAPTER",
        help="only these; with --record, those about several GPUs, which are measured if named",
    )
    add("--counters", action="store_true", help="also read hardware counters, with ncu")
    add(
        "--sanitizers",
        action="store_true",
        help="also run compute-sanitizer's four tools on every variant, the classic faulty forms "
        "included",
    )
    add(
        "--no-times",
        action="store_true",
        help="with --sanitizers: measure nothing else, and leave the times and counters that are "
        "recorded; what the tools find may be of a later commit",
    )
    add(
        "--build",
        metavar="DIR",
        type=_build_folder,
        default=_guides_build(),
        help="where the programs are, or are to be built (default: where tools/guide builds them, "
        "or build)",
    )
    add("--fresh", action="store_true", help="start over: forget finished steps")
    add(
        "--record",
        metavar="NAME",
        help="write the committed set figures/data/NAME/ instead; `embedded` is the embedded "
        "device's, counters and text without times, and needs no GPU",
    )
    add(
        "--allow-dirty",
        action="store_true",
        help="with --record: also where the source differs from its commit; the files say so",
    )
    add(
        "--dry-run",
        action="store_true",
        help="measure nothing, and list the steps that would be taken; needs no GPU",
    )
    add(
        "--stamp",
        action="store_true",
        help="measure nothing, but write down the commit and its files' hashes, for a machine that "
        "has no git",
    )
    add(
        "--export",
        metavar="FILE",
        type=named_file,
        help="measure nothing, but pack what is recorded (with --record NAME that set) into one "
        "file, to send to others; tools/compare reads it",
    )
    options = parser.parse_args(arguments)
    name = options.record
    if options.export:
        _refuse_beside_export(parser, options)
        return options
    if name is not None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            parser.error(f"--record {name!r}: a set's name is a-z, 0-9 and hyphens: nvidia-h200")
        if name == embedded.SET and (options.counters or options.sanitizers):
            parser.error("--record embedded: it counts by itself, and has nothing to sanitize")
        if name == "local":
            parser.error("--record local: that set is what is measured without --record")
        if options.chapters and name == embedded.SET:
            parser.error("--chapters: that recording is of all chapters; leave it or --record out")
    elif options.allow_dirty:
        parser.error("--allow-dirty: only with --record")
    if options.dry_run and name == embedded.SET:
        parser.error("--dry-run: recording the embedded device takes one step, and no GPU")
    if options.no_times and (not options.sanitizers or options.counters):
        parser.error("--no-times: goes with --sanitizers, and without --counters")
    known = chapter_names()
    for chapter in options.chapters or []:
        if chapter not in known:
            parser.error(f"--chapters {chapter}: no such chapter; there are {', '.join(known)}")
    return options


def _refuse_beside_export(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    asked = {
        "--chapters": options.chapters,
        "--counters": options.counters,
        "--sanitizers": options.sanitizers,
        "--no-times": options.no_times,
        "--fresh": options.fresh,
        "--allow-dirty": options.allow_dirty,
        "--dry-run": options.dry_run,
        "--stamp": options.stamp,
    }
    for name in (name for name, given in asked.items() if given):
        parser.error(f"--export: packs what is already recorded, so {name} has no part in it")
    if options.record is not None and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", options.record):
        parser.error(f"--record {options.record!r}: a set's name is a-z, 0-9 and hyphens")
    if options.record == embedded.SET:
        parser.error("--record embedded: that set has no times, so there is nothing to compare")


def _export(set_name: str, file: Path) -> int:
    """One file of what a set's folder holds."""
    folder = ROOT / "figures" / "data" / set_name
    if not folder.is_dir():
        again = "run tools/measure first" if set_name == "local" else "there is no such set"
        raise Failure(f"figures/data/{set_name}/ is not there: {again}", 2)
    try:
        packed = exported.pack(folder)
    except exported.BadExport as error:
        raise Failure(f"--export: {error}") from None
    try:
        write_whole(file, packed)
    except OSError as error:
        raise Failure(f"--export: {file} can't be written ({error.strerror})", 2) from None
    print(f"{file}: the recording in figures/data/{set_name}/, {len(packed) / 1e6:.1f} MB")
    print(f"next: tools/compare {file} puts it beside the book's own")
    return 0


def _build_folder(text: str) -> Path:
    """A folder that CMake may fill."""
    if not text.strip() or Path(text).resolve() in (ROOT, *ROOT.parents):
        raise argparse.ArgumentTypeError("name a folder of its own to build in, such as build")
    return Path(text)


def _guides_build() -> Path:
    """The build folder of tools/guide, where it has been run."""
    build = ROOT / "build" / "tools"
    return build if (build / "CMakeCache.txt").is_file() else ROOT / "build"


def _passes(options: argparse.Namespace) -> int:
    return PASSES if options.record else READERS_PASSES


def _show_steps(options: argparse.Namespace) -> int:
    """What `_measure` would do, a line each."""
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        work = Path(folder)
        programs = _programs(options, work)
        plan = Plan(
            programs,
            Source(None),
            work,
            Tool("ncu", "") if options.counters else None,
            Tool("compute-sanitizer", "") if options.sanitizers else None,
            _passes(options),
        )
        steps = [*_timings(plan, options), *plan.counters(), *plan.sanitizers()]
    for step in steps:
        print(step.label)
    chapters = ", ".join(program.chapter for program in programs)
    print(f"{len(steps)} steps of {chapters}; nothing was measured")
    return 0


def _timings(plan: Plan, options: argparse.Namespace) -> list[Step]:
    """The timed steps; without times the first alone, which says what machine and build it is."""
    return plan.timings()[: 1 if options.no_times else None]


def _programs(options: argparse.Namespace, work: Path) -> list[Program]:
    """Those of the chapters that were named, or of all for which one GPU will do.

    What is recorded of several GPUs is a set of its own, as is what is recorded of another card.
    """
    named = sorted(set(options.chapters or []))
    if not named and not chapter_names():
        raise Failure("there is no chapter under chapters/ to measure")
    programs = find_programs(named or chapter_names(), options.build.absolute(), work)
    if not named:
        return [program for program in programs if not program.takes_several]
    for program in programs:
        if options.record and not program.takes_several:
            raise Failure(
                f"--chapters {program.chapter}: a recording is of all chapters that one GPU will "
                "do for; leave it or --record out",
                2,
            )
    return programs


def _measure(options: argparse.Namespace) -> int:
    start = time.monotonic()
    set_name = options.record or "local"
    folder = ROOT / "figures" / "data" / set_name
    source = source_of(ROOT, set_name)  # before anything is written
    notes = _source_notes(source, options)
    ncu = find_tool("ncu", "--counters") if options.counters else None
    sanitizer = find_tool("compute-sanitizer", "--sanitizers") if options.sanitizers else None
    work = folder / ".partial"
    with _work_folder(work):
        if options.fresh:
            for part in work.glob("*.part"):
                part.unlink()
        programs = _programs(options, work)
        hashes = _kernel_hashes(programs, notes)
        probe(programs[0], work)

        plan = Plan(programs, source, work, ncu, sanitizer, _passes(options))
        timings, counters, checks = _timings(plan, options), plan.counters(), plan.sanitizers()
        with Worker(Parts(work), [*timings, *counters, *checks]) as worker:
            timed = worker.do(timings)
            if options.no_times:  # before what takes minutes
                records = _of_the_same_card(folder, programs, timed[timings[0].name], source)
            try:
                counted = list(worker.do(counters, together=plan.count_together).values())
            except CountersRefused:
                worker.drop(counters)
                counted = []
                notes.append(
                    "no counters: this machine lets only its administrator read them "
                    f"({profilers.NO_PERMISSION}); the guide's page 'Troubleshooting' says how to "
                    "allow it"
                )
            checked = list(
                worker.do(checks, at_once=SANITIZERS_AT_ONCE, together=plan.check_together).values()
            )

        left_out = dict.fromkeys(run["skipped"] for run in checked if "skipped" in run)
        notes += [f"compute-sanitizer didn't look at {what}" for what in left_out]
        checked = [run for run in checked if "skipped" not in run]

        files = dict[str, bytes]()
        if not options.no_times:
            records = [merged(program, timed, source, hashes, plan.passes) for program in programs]
            for record in records[1:]:
                refuse_change(records[0], record)
            for record in records:
                files |= _files(f"{record['chapter']}.json", record)
            for chapter in (program.chapter for program in programs):
                console = timed[timing_name(chapter, "default", 0)]["console"]
                files[f"{chapter}.txt"] = f"$ ./run\n{console}".encode()
        if ncu and counted:
            notes += _counter_notes(counted, plan.unknown)
            runs = [run for run in counted if "skipped" not in run]
            launches = [launch for run in runs for launch in run["launches"]]
            seen = {metric for launch in launches for metric in launch["metrics"]}
            metrics = [metric for metric in OF_HARDWARE if metric in seen]
            extra = {"ncu": ncu.version, "metrics": metrics}
            old = folder / "counters.json"
            record, note = collected(old, records, chapter_names(), extra, runs)
            files |= _files(old.name, record)
            notes += [note] if note else []
        if sanitizer and checked:
            extra = {"compute_sanitizer": sanitizer.version}
            old = folder / "sanitizer.json"
            record, note = collected(old, records, chapter_names(), extra, checked)
            files |= _files(old.name, record)
            notes += [note] if note else []
        passes, commit = plan.passes, source.commit
        if options.no_times:
            passes, commit = manifest.told(folder)
        files[manifest.NAME] = manifest.text(folder, files, passes, commit).encode()
        write_all({folder / name: content for name, content in files.items()})
        # They are in the set's files now: the next start measures anew.
        done = [Parts(work).path(step) for step in [*timings, *counters, *checks]]
        for part in done if options.chapters or options.no_times else work.glob("*.part"):
            part.unlink(missing_ok=True)

    unclean, differing = _verdict(programs, checked)
    for line in [*notes, *differing]:
        print(f"note: {line}")
    for line in unclean:
        print(f"not clean: {line}")
    kept = f" ({worker.reused} of them at an earlier start)" if worker.reused else ""
    print(f"{worker.done} steps{kept}; this took {duration(time.monotonic() - start)}")
    print(f"written to {folder.relative_to(ROOT)}/: {', '.join(sorted(files))}")
    for line in [] if options.no_times else _noticed(records):
        print(f"note: {line}")
    print("next: tools/guide puts these numbers into the guide")
    return 1 if unclean else 0


def _files(name: str, record: Record) -> dict[str, bytes]:
    """A record's files."""
    try:
        return columns.files(name, record)
    except ValueError as error:
        raise Failure(f"{name} can't be written: {error}") from None


def _of_the_same_card(
    folder: Path, programs: list[Program], first: Result, source: Source
) -> list[Record]:
    """What the files' heads say for a recording whose times stay; a Failure where these are of
    another card, or aren't there."""
    now = {**first["record"], "source": source.record(), "date": first["date"], "runs": []}
    name = f"{now['chapter']}.json"
    if not (folder / manifest.NAME).exists() or not (folder / name).exists():
        raise Failure(f"--no-times: {folder.relative_to(ROOT)}/ has no recording whose times stay")
    told = json.loads((folder / name).read_text(encoding="utf-8"))
    if told["schema"] != columns.SCHEMA_VERSION:
        raise Failure("--no-times: the recording is an older book's: measure its times, too")
    was = told["device"]["name"]
    if was != now["device"]["name"]:
        raise Failure(f"--no-times: the recording is of {was}, and this is {now['device']['name']}")
    return [{**now, "chapter": program.chapter} for program in programs]


def _noticed(records: list[Record]) -> list[str]:
    """What to know of the card before its numbers, a line each, as tools/compare says it too."""
    recorded = {str(record["chapter"]): derived.completed(record) for record in records}
    book: dict[str, Record] = {}
    for chapter in recorded:
        for name in (REFERENCE, *SECOND):  # the first of the book's sets that has it
            with suppress(OSError, ValueError, columns.Torn):
                path = ROOT / "figures" / "data" / name / f"{chapter}.json"
                book[chapter] = columns.read(path)
                break
    found = [*notices.of_the_card(recorded), *notices.sizes_left_out(recorded, book)]
    return [f"{each.name}: {each.text}" for each in found if each.is_warning]


def _record_embedded(build: Path) -> int:
    """The embedded device's set, whole; it needs no GPU and gives the same bytes everywhere."""
    start = time.monotonic()
    folder = ROOT / embedded.FOLDER
    texts = {**embedded.record(build), **launches.record(build)}
    files = {name: text.encode() for name, text in texts.items()}
    with _work_folder(folder / ".partial"):
        write_all({ROOT / name: content for name, content in files.items()})
        for old in [*folder.glob("*.*"), *(ROOT / launches.FOLDER).glob("*.*")]:
            if old.is_file() and str(old.relative_to(ROOT)) not in files:
                old.unlink()
    print(f"recorded in {duration(time.monotonic() - start)}")
    print("written:", *sorted(files), sep="\n  ")
    return 0


def _source_notes(source: Source, options: argparse.Namespace) -> list[str]:
    """What is to be said of the source; refuses one that a recording can't name."""
    if source.commit is None:
        if options.record:
            raise Failure(f"--record needs to know the commit, but {source.note}", 2)
        return [f"the recording names no commit: {source.note}"]
    if options.record and source.dirty and not options.allow_dirty:
        names = ", ".join(source.changed[:5]) or "so says the stamp"
        more = f" and {len(source.changed) - 5} more" if len(source.changed) > 5 else ""
        raise Failure(
            f"--record wants a clean commit, and the source differs from {source.commit[:12]} "
            f"({names}{more}): commit it, or record it as it is with --allow-dirty",
            2,
        )
    return []


@contextmanager
def _work_folder(work: Path) -> Iterator[None]:
    """The folder of finished steps, ours alone for as long as this lasts."""
    try:
        work.mkdir(parents=True, exist_ok=True)
        (work / ".gitignore").write_text("*\n")
        lock = (work / "lock").open("w")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise Failure(f"{work.parent} can't be written: {error.strerror}", 2) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(f"another tools/measure is at work on {work.parent}") from None
        try:
            yield
        finally:
            if not any(work.glob("*.part")):
                shutil.rmtree(work, ignore_errors=True)
                with suppress(OSError):  # it holds a recording
                    work.parent.rmdir()


def _kernel_hashes(programs: list[Program], notes: list[str]) -> dict[str, str]:
    """The hash of every region's code, by the region's name."""
    from common.records import regions

    try:
        known = {name: region.hash for name, region in regions.regions(ROOT).items()}
    except regions.RegionError as error:
        raise Failure(str(error)) from None
    for program in programs:
        for variant in program.variants:
            if variant.region and variant.region not in known:
                notes.append(
                    f"{program.chapter}/{variant.name}: there is no region '{variant.region}', so "
                    "nothing will tell when the kernel has changed (kernel_hash is null)"
                )
    return known


def _counter_notes(counted: list[Result], unknown: list[str]) -> list[str]:
    notes = [f"this ncu doesn't know the metric {metric}: it is left out" for metric in unknown]
    notes += [f"no counters of {run['skipped']}" for run in counted if "skipped" in run]
    launches = [launch for run in counted for launch in run.get("launches", [])]
    lacking = [
        metric
        for metric in OF_HARDWARE
        if metric not in unknown and any(metric not in launch["metrics"] for launch in launches)
    ]
    if lacking:
        notes.append(f"ncu had no number for every launch of: {', '.join(lacking)}")
    return notes


def _stopped(variant: Variant, run: Result) -> bool:
    """Whether a faulty kernel was stopped by the device before this tool could say anything.

    Another tool must be expected to name the fault.
    """
    others = set(variant.findings) - {run["tool"]}
    return variant.legacy and run["exit"] == CUDA_ERROR and bool(others)


def _verdict(programs: list[Program], checked: list[Result]) -> tuple[list[str], list[str]]:
    """What keeps the recording from being clean, and where a classic form surprises."""
    unclean, differing = [], []
    for program in programs:
        for variant in program.variants:
            whose = f"{program.chapter}/{variant.name}"
            ours = [
                run
                for run in checked
                if (run["chapter"], run["variant"]) == (program.chapter, variant.name)
            ]
            for run in ours:
                said = f" ({run['messages'][0]})" if run["messages"] else ""
                if run["findings"] is None and _stopped(variant, run):
                    continue
                if run["findings"] is None:
                    unclean.append(f"{run['tool']} did not do its work on {whose}{said}")
                elif run["tool"] in variant.findings:
                    continue  # compared below
                elif not variant.legacy and run["findings"]:
                    unclean.append(f"{run['tool']} on {whose}: {run['findings']} found{said}")
                elif not variant.legacy and run["exit"] != 0:
                    unclean.append(f"{run['tool']} on {whose}: it ended with status {run['exit']}")
            expected = sorted(variant.findings)
            found = sorted(run["tool"] for run in ours if run["findings"])
            if ours and (variant.legacy or expected) and found != expected:
                differing.append(
                    f"{whose} expects findings of {' and '.join(expected) or 'no tool'}; here they "
                    f"came from {' and '.join(found) or 'none'}"
                )
    return unclean, differing
