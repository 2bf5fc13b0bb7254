"""What to know of a recording before its numbers: said first, and never averaged away."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping

from common.records.manifest import NAME as MANIFEST
from common.records.manifest import hashes
from common.records.naming import SECOND
from common.records.reading import DataError, read_manifest
from common.records.recordings import Recordings
from common.records.sets import ChapterRecord, RecordedSet
from common.records.verdict import ENOUGH_PASSES, WIDENED_BY
from figures.kit.words import listed, significant
from tools.comparing import ROOT
from tools.comparing.opening import Opened
from tools.measuring.notices import Notice, Records, chapters_text, of_the_card, sizes_left_out

_MADE_UP = re.compile(r"made[- ]up", re.IGNORECASE)


def made_up(known: RecordedSet) -> bool:
    """Whether the data say of themselves that they were not measured."""
    said = [known.device_name]
    for record in known.chapters.values():
        said += [record.data[key] for key in ("driver", "toolkit", "host_compiler")]
    return any(_MADE_UP.search(each) for each in said)


def notices(one: Opened, recordings: Recordings) -> list[Notice]:
    """All there is to say of one recording, what weighs most first."""
    known = one.known
    found = list(of_the_card(_records(known.chapters)))
    found += _passes(known)
    found += [Notice("left out", text) for text in one.left_out]
    found += _missing(known, recordings)
    found += _source(known, recordings)
    found += _manifest(known)
    found += [Notice("a check of the recording failed", text) for text in one.doubts]
    return found


# ------------------------------------------------------------------------------ the passes


def _passes(known: RecordedSet) -> Iterator[Notice]:
    counts = [len(runs) for record in known.chapters.values() for runs in record.passes]
    fewest = min(counts)
    if fewest < ENOUGH_PASSES:
        us, share = WIDENED_BY[fewest]
        yield Notice(
            "few passes",
            f"Recorded in {fewest} pass{'es' if fewest > 1 else ''}, where the book's own sets "
            f"have {ENOUGH_PASSES}. What counts as faster therefore has to be ahead by "
            f"{significant(us, 1)} µs and {100 * share:g} % more at each end.",
        )


# ------------------------------------------------------------------------- what isn't there


def book_chapters(recordings: Recordings) -> dict[str, ChapterRecord]:
    """Every chapter that the book has recorded, by the first of its sets that has it."""
    found: dict[str, ChapterRecord] = {}
    for known in _book_sets(recordings):
        found = {**known.chapters, **found}
    return found


def one_gpu_chapters(recordings: Recordings) -> list[str]:
    """Those of them for which one GPU will do, in order: no card is complete without them.

    What is about several GPUs lies in a set of its own, which shares no chapter with the reference.
    """
    reference = recordings.reference.chapters.keys()
    sets = [each for each in _book_sets(recordings) if reference & each.chapters.keys()]
    return sorted({name for each in sets for name in each.chapters})


def _book_sets(recordings: Recordings) -> list[RecordedSet]:
    second = recordings.second
    return [recordings.reference, *(second[name] for name in SECOND if name in second)]


def _missing(known: RecordedSet, recordings: Recordings) -> Iterator[Notice]:
    """Chapters, sizes and counters that the book's own sets have."""
    absent = [name for name in one_gpu_chapters(recordings) if name not in known.chapters]
    if absent:
        yield Notice("chapters missing", f"Nothing is there of {chapters_text(absent)}.")
    if known.counters is None:
        yield Notice("no counters", "Claims about hardware counters can't be told.")
    yield from sizes_left_out(_records(known.chapters), _records(book_chapters(recordings)))


def _records(chapters: Mapping[str, ChapterRecord]) -> Records:
    return {name: record.data for name, record in chapters.items()}


# ------------------------------------------------------------------------------- the source


def _source(known: RecordedSet, recordings: Recordings) -> Iterator[Notice]:
    """Which commit was measured, and what has changed since."""
    sources = {file: source for file, source in known.sources()}
    commits = {source["commit"] if source else None for source in sources.values()}
    if len(commits) > 1:
        yield Notice("several commits", "Its files come from more than one commit.")
    if None in commits:
        yield Notice("commit unknown", "The recording doesn't say which source was measured.")
    if any(source and source["dirty"] for source in sources.values()):
        yield Notice("changed source", "The source that was measured differed from its commit.")
    changed = _changed_kernels(known, recordings)
    behind = [_behind(commit) for commit in commits if commit]
    if changed:
        shown = listed(changed[:8]) if len(changed) <= 8 else f"{', '.join(changed[:8])} and more"
        few = "kernel has changed since it was"
        said = "kernels have changed since they were" if changed[1:] else few
        yield Notice("older kernels", f"{len(changed)} {said} timed there: {shown}.")
    for text in dict.fromkeys(behind):
        if text:
            same = "" if changed else " Every kernel that it timed is as it is here."
            yield Notice("another commit", text + same, is_warning=bool(changed))


def _changed_kernels(known: RecordedSet, recordings: Recordings) -> list[str]:
    """Variants whose kernel was another when they were timed."""
    found: dict[str, None] = {}
    for record in known.chapters.values():
        for run in record.runs:
            if run["kernel_hash"] is None:
                continue
            region = recordings.regions.get(str(run["region"]))
            if region is None or region.hash != run["kernel_hash"]:
                found[run["variant"]] = None
    return list(found)


def _behind(commit: str) -> str:
    """How far this copy is from the measured commit; empty where it is the same, or git is not
    there to ask."""
    head = _git("rev-parse", "HEAD")
    if head is None or head == commit:
        return ""
    if _git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return f"Recorded at commit {commit[:7]}, which this copy's history doesn't have."
    count = _git("rev-list", "--count", f"{commit}..HEAD")
    return f"Recorded at commit {commit[:7]}; this copy is {count} commits further."


def _git(*arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _manifest(known: RecordedSet) -> Iterator[Notice]:
    """Files that are not as ``tools/measure`` left them."""
    folder = next(iter(known.chapters.values())).path.parent
    path = folder / MANIFEST
    if not path.is_file():
        yield Notice("no manifest", "Nothing vouches for the files: there is no manifest.")
        return
    try:
        told = read_manifest(path)["files"]
    except DataError as error:
        yield Notice("no manifest", f"{path.name} {error.what}.")
        return
    here = hashes(folder)
    for name in sorted(name for name in told if "/" not in name):
        if name not in here:
            yield Notice("file missing", f"{name} is in the manifest and not there.")
        elif here[name] != told[name]:
            yield Notice("changed by hand", f"{name} was changed after it was recorded.")
