"""Writes the file of results that the guide reads."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from common.records import mutants as recorded
from tools.mutating import ROOT, Failure
from tools.mutating.mistakes import chapters, mistakes
from tools.mutating.nets import digest_of_nets
from tools.mutating.operators import mutants
from tools.mutating.sources import digests, kernel_files, nvcc_of
from tools.mutating.trial import Bench, programs_of


def _said(command: list[str], pattern: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    found = re.search(pattern, done.stdout)
    if not found:
        raise Failure(f"{command[0]} says {done.stdout[:80]!r}")
    return found[1]


def _changes(results: Path) -> tuple[recorded.Change, ...]:
    found = []
    for line in results.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        by = told["by"] if told["state"] == "caught" else {}
        order = [net for net in recorded.NETS if net in by]
        kept = recorded.Change.__dataclass_fields__.keys() - {"by", "leaves"}
        facts = {name: told[name] for name in kept}
        found.append(recorded.Change(**facts, by=tuple(order)))
    return tuple(sorted(found, key=recorded.place))


def _mistakes(build: Path, of: Collection[str]) -> tuple[recorded.Mistake, ...]:
    found = []
    with tempfile.TemporaryDirectory() as work:
        for chapter in sorted(of):
            bench = Bench(chapter, build, Path(work), programs_of(chapter, build))
            for each in mistakes(chapter):
                how = bench.rejected(each.mutant, each.net)
                if how is None or each.says not in how:
                    raise Failure(f"{chapter}: {each.net} doesn't say {each.says!r} of {each.name}")
                m = each.mutant
                found.append(
                    recorded.Mistake(
                        chapter, each.name, each.what, m.function, m.before, m.after, each.net, how
                    )
                )
    return tuple(found)


def _nets(results: Path) -> str:
    """The digest of the nets that all results are of."""
    lines = results.read_text(encoding="utf-8").splitlines()
    found: set[str] = {json.loads(line).get("nets", "") for line in lines}
    if found != {digest_of_nets()}:
        raise Failure(f"the nets have changed since {results} was begun: run it afresh")
    return found.pop()


def together(
    kept: tuple[recorded.Change, ...], tried: tuple[recorded.Change, ...]
) -> tuple[recorded.Change, ...]:
    """Those kept, with what became of those tried again, and all of files that had none. What came
    to the same code shares its outcome; a Failure where one tried again isn't among those that had
    passed."""
    outcomes = {}
    of = {recorded.place(each): each for each in kept}
    files = {each.file for each in kept}
    for each in tried:
        if each.file not in files:
            continue
        was = of.get(recorded.place(each))
        if was is None or was.state != "passed":
            raise Failure(f"{each.file}:{each.line} {each.after!r} hadn't passed in the record")
        outcomes[was.file, was.code] = each
    found = []
    for was in kept:
        new = outcomes.get((was.file, was.code)) if was.state == "passed" else None
        if new:
            was = replace(was, state=new.state, by=new.by, code=new.code, leaves="")
        found.append(was)
    found += [each for each in tried if each.file not in files]
    return tuple(sorted(found, key=recorded.place))


def _with_line(change: recorded.Change) -> recorded.Change:
    return replace(change, leaves=change.changed_line((ROOT / change.file).read_bytes()))


def record(results: Path, build: Path, *, again: bool = False) -> str:
    """The record's text; a Failure where the results are of other kernels. *again*: the results are
    of changes that had passed, and of all those of files that the record lacks or that have changed
    since, or of some of these files. The others stay as they were recorded, and so do their
    chapters' mistakes."""
    sources = digests()
    listed = {file: len(mutants(file, (ROOT / file).read_bytes())) for file in kernel_files()}
    tried = _changes(results)
    commit = _said(["git", "rev-parse", "--short", "HEAD"], r"(\w+)")
    run = recorded.Run(datetime.date.today().isoformat(), commit, len(tried), _nets(results))
    runs: tuple[recorded.Run, ...] = (run,)
    changes, planted = tried, tuple[recorded.Mistake, ...]()
    if again:
        kept = recorded.read((ROOT / recorded.FILE).read_text(encoding="utf-8"))
        old = recorded.unchanged(kept, ROOT)
        newer = {each.file for each in tried} - old.sources.keys()
        for file in newer:
            if sum(each.file == file for each in tried) < listed[file]:
                raise Failure(f"{results} lacks some of the {listed[file]} changes to {file}")
        sources = {file: was for file, was in sources.items() if file in newer | old.sources.keys()}
        runs = (*old.runs, run)
        changes, planted = together(old.changes, tried), old.mistakes
    changes = tuple(_with_line(each) if each.state == "passed" else each for each in changes)
    made = recorded.Mutants(
        runs,
        "CUDA " + _said([str(nvcc_of(build)), "--version"], r"V([\d.]+)"),
        sum(listed.values()),
        sources,
        changes,
        (*planted, *_mistakes(build, set(chapters()) - {each.chapter for each in planted})),
    )
    for each in made.changes:
        text = (ROOT / each.file).read_bytes()[each.begin : each.end]
        if text.decode(errors="replace") != each.before:
            raise Failure(f"{each.file} has changed since {results} was written")
    return recorded.written(made)
