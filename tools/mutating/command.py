"""The command line.

    python -m tools.mutating list FILE              writes the mutants of all kernel files
    python -m tools.mutating list --left FILE       writes those that got through in the record, and
                                                    those of files new or changed since
    python -m tools.mutating run LIST RESULTS       tries them; run again, it goes on
    python -m tools.mutating record RESULTS         puts the results into figures/data
    python -m tools.mutating record --again RESULTS puts those of `list --left` into the record
    python -m tools.mutating try FILE:LINE [TEXT]   tries those of a line, and says what rejects

``list`` and ``try`` need tree-sitter. ``run`` needs Python alone, nvcc, and the matrix programs of
a build (``--build``, a folder like build/tools). RESULTS has a line of JSON per mutant.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import tempfile
import time
from itertools import groupby
from pathlib import Path

from common.files import named_file, write_whole
from common.records.mutants import FILE, digest, read, unchanged
from tools.mutating import ROOT, Failure
from tools.mutating.mutant import Mutant
from tools.mutating.nets import digest_of_nets
from tools.mutating.shapes import Program
from tools.mutating.sources import chapter_of, digests, kernel_files
from tools.mutating.trial import Bench, Outcome, programs_of
from tools.terminal import Parser, complain

CHUNK = 12  # mutants that one process tries in a row: neighbours are often the same code
FEW = 2  # the same, where each differs from all others

_benches: dict[str, Bench] = {}
_programs: dict[str, list[Program]] = {}


def listed() -> list[Mutant]:
    from tools.mutating.operators import mutants

    return [
        mutant for file in kernel_files() for mutant in mutants(file, (ROOT / file).read_bytes())
    ]


def _list(path: Path, left: bool) -> None:
    found, again = listed(), set[str]()
    if left:
        kept = unchanged(read((ROOT / FILE).read_text(encoding="utf-8")), ROOT)
        again = set(kept.sources)
        newer = [mutant for mutant in found if mutant.file not in again]
        found = [*(Mutant.read(vars(each)) for each in kept.passed), *newer]
    sources = digests()
    told = {"sources": sources, "again": sorted(again), "mutants": [m.told() for m in found]}
    write_whole(path, json.dumps(told, ensure_ascii=False, indent=0) + "\n")
    print(f"{len(found)} mutants of {len(sources)} files in {path}")


def _try_chunk(
    chunk: list[Mutant], build: Path, work: Path, again: list[str]
) -> list[tuple[Mutant, Outcome]]:
    done: dict[str, Outcome] = {}
    found = []
    for mutant in chunk:
        chapter = chapter_of(mutant.file)
        if chapter not in _benches:
            _benches[chapter] = Bench(chapter, build, work, _programs[chapter])
        found.append((mutant, _benches[chapter].judge(mutant, done, again=mutant.file in again)))
    return found


def _know(programs: dict[str, list[Program]]) -> None:
    _programs.update(programs)


def _run(path: Path, results: Path, build: Path, jobs: int, every: int) -> int:
    told = json.loads(path.read_text(encoding="utf-8"))
    for file, was in told["sources"].items():
        if digest((ROOT / file).read_bytes()) != was:
            raise Failure(f"{file} has changed since {path} was written: list its mutants again")
    all_of = [Mutant.read(each) for each in told["mutants"]][::every]
    seen = set()
    if results.exists():
        lines = results.read_text(encoding="utf-8").splitlines()
        seen = {Mutant.read(json.loads(line)).name for line in lines if line.endswith("}")}
    left = [mutant for mutant in all_of if mutant.name not in seen]
    chunks = []
    for file, group in groupby(left, key=lambda m: m.file):
        of_file, size = list(group), FEW if file in told["again"] else CHUNK
        chunks += [of_file[at : at + size] for at in range(0, len(of_file), size)]
    # Those of long files first: what is left at the end should be short.
    chunks.sort(key=lambda chunk: ("chapter04" not in chunk[0].file, "08" not in chunk[0].file))
    begin = time.monotonic()
    nets = digest_of_nets()
    work = Path(tempfile.mkdtemp(prefix="mutating."))
    try:
        chapters = sorted({chapter_of(mutant.file) for mutant in left})
        with concurrent.futures.ThreadPoolExecutor(jobs) as few:
            programs = dict(
                zip(chapters, few.map(lambda c: programs_of(c, build), chapters), strict=True)
            )
        print(f"{len(left)} of {len(all_of)} mutants to try, {jobs} at a time", flush=True)
        tried, passed = 0, 0
        with (
            results.open("a", encoding="utf-8") as out,
            concurrent.futures.ProcessPoolExecutor(
                jobs, initializer=_know, initargs=(programs,)
            ) as pool,
        ):
            for done in concurrent.futures.as_completed(
                pool.submit(_try_chunk, chunk, build, work, told["again"]) for chunk in chunks
            ):
                for mutant, outcome in done.result():
                    line = {**mutant.told(), **outcome.told(), "nets": nets}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    tried += 1
                    passed += outcome.state == "passed"
                out.flush()
                spent = time.monotonic() - begin
                rest = spent / tried * (len(left) - tried)
                print(
                    f"{tried} of {len(left)} tried, {passed} passed all nets, "
                    f"{spent:.0f} s, about {rest:.0f} s left",
                    flush=True,
                )
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def _try(place: str, text: str, build: Path) -> int:
    file, _, line = place.rpartition(":")
    found = [m for m in listed() if m.file == file and str(m.line) == line and text in m.after]
    if not found:
        raise Failure(f"there is no mutant of {place}")
    with tempfile.TemporaryDirectory() as work:
        chapter = chapter_of(file)
        bench = Bench(chapter, build, Path(work), programs_of(chapter, build))
        for mutant in found:
            outcome = bench.judge(mutant)
            print(f"{place}: {mutant.before}  becomes  {mutant.after}\n    {outcome.state}")
            for net, how in outcome.by.items():
                print(f"    {net}: {how}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        prog="python -m tools.mutating",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build/tools",
        metavar="FOLDER",
        help="where the matrix programs and the embedded device are",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("list", help="write the mutants of all kernel files")
    one.add_argument("file", type=named_file)
    one.add_argument(
        "--left",
        action="store_true",
        help="those that passed in the record, and those of files new or changed since",
    )
    two = commands.add_parser("run", help="try all that RESULTS lacks")
    two.add_argument("list", type=Path)
    two.add_argument("results", type=Path)
    two.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    two.add_argument("--every", type=int, default=1, metavar="K", help="try each K-th only")
    four = commands.add_parser("record", help="put the results into figures/data")
    four.add_argument("results", type=Path)
    four.add_argument(
        "--again", action="store_true", help="keep the record of those that RESULTS lacks"
    )
    three = commands.add_parser("try", help="try the mutants of one line")
    three.add_argument("place", metavar="FILE:LINE")
    three.add_argument("text", nargs="?", default="", help="part of what the code becomes")
    given = parser.parse_args(arguments)
    try:
        if given.command == "list":
            _list(given.file, given.left)
            return 0
        if given.command == "record":
            from tools.mutating.record import record

            text = record(given.results, given.build, again=given.again)
            write_whole(ROOT / FILE, text)
            return 0
        if given.command == "run":
            return _run(given.list, given.results, given.build, given.jobs, given.every)
        return _try(given.place, given.text, given.build)
    except Failure as failure:
        complain("tools.mutating", str(failure))
        return 1
