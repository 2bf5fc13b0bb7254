"""Lies planted in a copy of the recorded data, each caught by a check that names it.

Each is told twice: by someone who edits the files, and by a forger who then writes the manifest
anew. The manifest catches the first. What catches the forger is written beside the lie: another
file of the sitting, arithmetic, git, the programs or the embedded device.

Against a forger there is no check where a number is recorded once and bounded by nothing else.
Only a GPU can measure again:

- the samples of a run in a sweep, moved together (where they stay slower than the floors, and below
  the peak);
- a counter that neither the embedded device counts nor another counter bounds closely, such as the
  instructions of a kernel that waits for memory;
- a log of a litmus test, and a transcript of a classic form's wrong sum.

They are planted here too, and seen to pass a forged manifest, so that this list stays true. What is
checked against programs and git is checked of the committed sets in ``--quick`` as well.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from common.records import checks, columns, comparison, consoles, history, manifest, regions
from common.records.checks import load_set
from common.records.comparison import Reason
from common.records.counters import NCU
from common.records.naming import EMBEDDED, REFERENCE
from common.records.reading import DataError
from common.records.recordings import Recordings
from common.records.sets import RecordedSet, read_set
from common.records.transcripts import Transcript, transcripts
from tools.measuring import embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]


ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools")).resolve()
Json = dict[str, Any]
Lie = Callable[["Scratch"], None]


@dataclass
class Scratch:
    """A copy of the reference set, with the transcripts that its device printed."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "figures/data" / REFERENCE

    def edit(self, name: str, change: Callable[[Json], None]) -> None:
        path = self.folder / name
        data = columns.read(path)
        change(data)
        columns.write(path, data)

    def rewrite(self, name: str, change: Callable[[str], str]) -> None:
        path = manifest.paths(self.folder)[name]
        text = path.read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        path.write_text(changed, encoding="utf-8")

    def forge(self) -> None:
        manifest.write(self.folder)

    def load(self) -> RecordedSet:
        return load_set(self.folder)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path)
    shutil.copytree(
        ROOT / "figures/data" / REFERENCE, made.folder, ignore=shutil.ignore_patterns(".partial")
    )
    for name, path in manifest.paths(ROOT / "figures/data" / REFERENCE).items():
        if name.startswith("chapters/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / name)
    git = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--absolute-git-dir"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if git.returncode == 0:  # the history, so that commits can be looked up
        (tmp_path / ".git").write_text(f"gitdir: {git.stdout.strip()}\n", encoding="utf-8")
    return made


# -------------------------------------------------------------------- what is changed, and how

SMEM, RUNG5 = "chapter02_smem.json", "chapter05_unroll4.json"
STRIDE_CLASSIC = "chapters/chapter02_smem/transcripts/nvidia-h200/stride_classic.txt"


def _slowed(run: Json, factor: float) -> None:
    run["samples_us"] = [round(sample * factor, 3) for sample in run["samples_us"]]


def _times(file: str, variant: str, n: int, block: int, factor: float) -> Lie:
    def lie(scratch: Scratch) -> None:
        def change(data: Json) -> None:
            runs = [r for r in data["runs"] if (r["variant"], r["n"], r["block"]) ==
                    (variant, n, block)]  # fmt: skip
            assert len(runs) > 1
            for run in runs:
                _slowed(run, factor)

        scratch.edit(file, change)

    return lie


def _without_a_repeat(scratch: Scratch) -> None:
    scratch.edit(SMEM, lambda data: data["runs"].pop())


def _one_pass(scratch: Scratch) -> None:
    def change(data: Json) -> None:
        data["runs"] = [run for run in data["runs"] if run["repeat"] == 0]

    for path in scratch.folder.glob("chapter*.json"):
        scratch.edit(path.name, change)


def _text(name: str, old: str, new: str) -> Lie:
    return lambda scratch: scratch.rewrite(name, lambda text: text.replace(old, new, 1))


def _one_more(name: str, line: str, before: str) -> Lie:
    """One more than the number that follows *before*, in the first line that has *line*."""
    number = re.compile(rf"({re.escape(line)}.*?{re.escape(before)})(\d+)")
    return lambda scratch: scratch.rewrite(
        name, lambda text: number.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", text, 1)
    )


#: A console's columns, as ``consoles.Row`` names them.
COLUMNS = [field.name for field in fields(consoles.Row)][1:10]


def _doubled(name: str, variant: str, column: str) -> Lie:
    """Twice the number that a console has in a variant's first row."""

    def change(text: str) -> str:
        row = next(row for row in consoles.rows(text) if row.variant == variant)
        lines = text.splitlines(keepends=True)
        cells = re.split(r"(\s+$| {2,})", lines[row.line - 1])
        at = 2 * COLUMNS.index(column)
        cells[at] = f"{2 * (consoles.count(cells[at]) or float(cells[at])):g}"
        lines[row.line - 1] = "".join(cells)
        return "".join(lines)

    return lambda scratch: scratch.rewrite(name, change)


def _counted(chapter: str, variant: str, n: int, factor: float, *metrics: str) -> Lie:
    def lie(scratch: Scratch) -> None:
        def change(data: Json) -> None:
            runs = [
                run
                for run in data["runs"]
                if (run["chapter"], run["variant"], run["n"]) == (chapter, variant, n)
            ]
            assert runs
            for launch in (launch for run in runs for launch in run["launches"]):
                for metric in metrics:
                    launch["metrics"][NCU.get(metric, metric)] *= factor

        scratch.edit("counters.json", change)

    return lie


def _devices(change: Callable[[Json], None]) -> Lie:
    """The device's attributes, in every file."""

    def lie(scratch: Scratch) -> None:
        for path in scratch.folder.glob("*.json"):
            if path.name != manifest.NAME:
                scratch.edit(path.name, lambda data: change(data["device"]))

    return lie


def _double_clock(device: Json) -> None:
    device["memory_clock_khz"] *= 2


def _commit(commit: str, *names: str) -> Lie:
    def lie(scratch: Scratch) -> None:
        for path in scratch.folder.glob("*.json"):
            if path.name != manifest.NAME and (not names or path.name in names):
                scratch.edit(path.name, lambda data: data["source"].update(commit=commit))

    return lie


def _double_bytes(file: str, variant: str) -> Lie:
    def lie(scratch: Scratch) -> None:
        def change(data: Json) -> None:
            for run in data["runs"]:
                if run["variant"] == variant:
                    run["bytes_read"] *= 2
                    run["bytes_written"] *= 2

        scratch.edit(file, change)

    return lie


def _finding(**fields: Any) -> Lie:
    def lie(scratch: Scratch) -> None:
        def change(data: Json) -> None:
            (run,) = [
                run
                for run in data["runs"]
                if (run["variant"], run["tool"]) == ("smem_classic", "racecheck")
            ]
            run.update(fields)

        scratch.edit("sanitizer.json", change)

    return lie


#: A lie, the file in which its honest manifest names it, and what is said where the manifest is
#: forged too; None where only a GPU could tell.
LIES: dict[str, tuple[Lie, str, str | None]] = {
    "samples moved by 3 %, in the run that the console shows": (
        _times(SMEM, "smem", 2**24, 256, 1.03), SMEM, "chapter02_smem.txt: line 9, smem: median",
    ),
    "samples moved by 3 %, in a sweep": (
        _times(SMEM, "smem", 2**28, 256, 1.03), SMEM, None,
    ),
    "times halved, below what issuing the instructions takes": (
        _times(SMEM, "smem", 2**28, 256, 0.5), SMEM, "below the floor of",
    ),
    "times cut, above the memory's peak": (
        _times(RUNG5, "unroll16", 2**28, 256, 0.9), RUNG5, "above the peak of",
    ),
    "a repeat dropped": (_without_a_repeat, SMEM, "field 'repeat': has [0"),
    "the second pass dropped, everywhere": (_one_pass, SMEM, "`int` >= 2"),
    "a console's median edited": (
        _doubled("chapter02_smem.txt", "smem", "median"), "chapter02_smem.txt",
        "smem: median ",
    ),
    "a console's registers edited": (
        _doubled("chapter08_multi_pass.txt", "passes", "registers"), "chapter08_multi_pass.txt",
        "passes: registers ",
    ),
    "a console of another device": (
        _text("chapter02_smem.txt", "device  NVIDIA H200", "device  NVIDIA H100"),
        "chapter02_smem.txt", "where the set is of the NVIDIA H200",
    ),
    "a console's row dropped": (
        _text("chapter01_gmem.txt", "\ngmem ", "\ngmem_ "), "chapter01_gmem.txt",
        "is not among the recorded runs",
    ),
    "a classic form's transcript edited, its grid": (
        _doubled(STRIDE_CLASSIC, "stride_classic", "grid"), "stride_classic.txt",
        "stride_classic: grid ",
    ),
    "a classic form's transcript edited, its registers": (
        _doubled(STRIDE_CLASSIC, "stride_classic", "registers"), "stride_classic.txt",
        "stride_classic: registers ",
    ),
    "a classic form's transcript edited, its wrong sum": (
        _one_more(STRIDE_CLASSIC, "WRONG RESULT: stride_classic", ": sum is "),
        "stride_classic.txt", None,
    ),
    "a litmus log edited": (
        _one_more("chapters/chapter08_multi_pass/transcripts/nvidia-h200/fences.txt",
                  "litmus grid", ": "),
        "fences.txt", None,
    ),
    "DRAM's reads doubled, in each of their counters": (
        _counted("chapter02_smem", "smem", 2**24, 2, "dram_read_bytes", "dram__sectors_read.sum",
                 "dram__bytes_read.sum.per_second"),
        "counters.json", "dram__",
    ),
    "DRAM's reads doubled, and the share of the peak made to fit": (
        _counted("chapter05_unroll4", "unroll2", 2**20, 2, "dram_read_bytes", "dram_write_bytes",
                 "dram__sectors_read.sum", "dram__bytes_read.sum.per_second",
                 "dram_throughput_pct"),
        "counters.json", "above the",
    ),
    "DRAM's reads halved": (
        _counted("chapter02_smem", "smem", 2**20, 0.5, "dram_read_bytes",
                 "dram__sectors_read.sum"),
        "counters.json", "useful bytes",
    ),
    "DRAM's bytes doubled, and not its sectors": (
        _counted("chapter02_smem", "smem", 2**20, 2, "dram_read_bytes"), "counters.json",
        "sectors were read",
    ),
    "load sectors halved": (
        _counted("chapter02_smem", "smem", 2**24, 0.5, "global_load_sectors"), "counters.json",
        "can't bring",
    ),
    "load sectors and requests out of proportion": (
        _counted("chapter02_smem", "smem", 2**24, 16, "global_load_sectors"), "counters.json",
        "allows",
    ),
    "instructions doubled, of a kernel that issues most of the time": (
        _counted("chapter02_smem", "smem", 2**24, 2, "instructions"), "counters.json",
        "below the floor of",
    ),
    "instructions doubled, of a kernel that waits for memory": (
        _counted("chapter08_multi_pass", "whole", 2**24, 2, "instructions"), "counters.json", None,
    ),
    "conflicts above wavefronts": (
        _counted("chapter04_bank_conflicts", "stride32", 2**14, 2, "shared_load_conflicts"),
        "counters.json", "allows",
    ),
    "a finding erased, and its status left": (
        _finding(findings=0, messages=[]), "sanitizer.json", "field 'exit': 4 with 0 findings",
    ),
    "a finding's messages erased": (
        _finding(messages=[]), "sanitizer.json", "field 'messages'",
    ),
    "the memory's clock doubled in every file": (
        _devices(_double_clock), SMEM, "peak 4814 where 9628",
    ),
    "a commit of all f": (
        _commit("f" * 40), SMEM, "is a placeholder, not a commit",
    ),
    "a commit of another repository": (
        _commit("0123456789abcdef0123456789abcdef01234567"), SMEM, "is not in this repository",
    ),
    "the sanitizer's findings of another repository": (
        _commit("0123456789abcdef0123456789abcdef01234567", "sanitizer.json"), "sanitizer.json",
        "is not in this repository",
    ),
    "one file of another commit": (
        _commit("0123456789abcdef0123456789abcdef01234567", SMEM), SMEM, "a set is of one commit",
    ),
    "useful bytes doubled, where the memory couldn't move them": (
        _double_bytes(RUNG5, "unroll16"), RUNG5, "above the peak of",
    ),
}  # fmt: skip


def _said(scratch: Scratch) -> list[str]:
    """What reading the set says: every check's first fault."""
    return [str(fault) for fault in checks.faults(scratch.folder, read_set(scratch.folder))]


def test_the_copy_is_sound(scratch: Scratch) -> None:
    """Else every lie would be caught by whatever is wrong already."""
    assert _said(scratch) == []
    scratch.forge()
    assert _said(scratch) == []


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught(scratch: Scratch, name: str) -> None:
    lie, file, words = LIES[name]
    lie(scratch)
    loaded = read_set(scratch.folder)
    with pytest.raises(DataError, match=r"was changed after it was recorded|commit|passes"):
        checks.check_manifest(scratch.folder, loaded)
    assert [edited for edited in _edited(scratch) if file in edited]

    scratch.forge()
    said = [str(fault) for fault in checks.faults(scratch.folder, loaded)]
    if words is None:
        assert said == [], "a check knows better than that only a GPU can tell: say so in LIES"
    elif "repository" in words and not (scratch.root / ".git").exists():
        pytest.skip("there is no git here to know commits")
    else:
        assert any(words in line for line in said), said


def _edited(scratch: Scratch) -> list[str]:
    told = json.loads((scratch.folder / manifest.NAME).read_text(encoding="utf-8"))["files"]
    found = manifest.hashes(scratch.folder)
    return [name for name in found if found[name] != told[name]]


def test_a_missing_manifest_is_no_way_out(scratch: Scratch) -> None:
    (scratch.folder / manifest.NAME).unlink()
    (scratch.root / "CMakeLists.txt").write_text(
        "", encoding="utf-8"
    )  # the book, not a made-up set
    with pytest.raises(DataError, match="nothing vouches"):
        scratch.load()


@pytest.mark.parametrize("change", ["gone", "new"])
def test_a_file_too_few_or_too_many_is_named(scratch: Scratch, change: str) -> None:
    path = scratch.folder / "chapter01_gmem.txt"
    if change == "gone":
        path.unlink()
    else:
        shutil.copy(path, scratch.folder / "chapter99_new.txt")
    (said,) = _said(scratch)
    assert "'chapter01_gmem.txt': is not there" in said or "'chapter99_new.txt': is not in" in said


# --------------------------------------------------------------- told by what is not in the files


def test_a_counter_doubled_is_not_what_the_embedded_device_counts(scratch: Scratch) -> None:
    _counted("chapter02_smem", "smem", 2**24, 2, "shared_load_wavefronts")(scratch)
    scratch.forge()
    assert _said(scratch) == []  # nothing in the set bounds it
    (scratch.root / "figures/data" / EMBEDDED).symlink_to(ROOT / "figures/data" / EMBEDDED)
    for chapter in (ROOT / "chapters").glob("chapter*"):
        (scratch.root / "chapters" / chapter.name).mkdir(parents=True, exist_ok=True)
        for source in chapter.glob("*.cu*"):
            shutil.copy(source, scratch.root / "chapters" / chapter.name)
    unknown = [
        tally.name
        for tally in comparison.chapters(Recordings(scratch.root))
        if Reason.UNKNOWN in tally.reasons
    ]
    assert unknown == ["chapter02_smem"]


def _kernels_then(folder: Path) -> dict[str, regions.Region]:
    """The kernels at the commit that a set was recorded at."""
    source = next(iter(read_set(folder).chapters.values())).data["source"]
    assert source
    found = history.regions_at(ROOT, source["commit"])
    if found is None:
        pytest.skip("there is no git here, or no history in it")
    return found


@pytest.fixture(scope="module")
def then() -> dict[str, regions.Region]:
    return _kernels_then(ROOT / "figures/data" / REFERENCE)


def test_recorded_hashes_are_of_the_kernels_at_the_commit() -> None:
    for folder in _committed():
        history.check_hashes(folder, read_set(folder), _kernels_then(folder))


def test_a_hash_forged_is_not_of_the_kernel_at_the_commit(
    scratch: Scratch, then: dict[str, regions.Region]
) -> None:
    """As of a kernel that was edited, and its hash with it, so that it looks as it was measured."""
    edited = regions.region_hash(then["smem-loop"].text.replace("+=", "-="))
    assert edited != then["smem-loop"].hash

    def change(data: Json) -> None:
        for run in data["runs"]:
            if run["region"] == "smem-loop":
                run["kernel_hash"] = edited

    scratch.edit(SMEM, change)
    scratch.forge()
    with pytest.raises(DataError, match=r"smem, region 'smem-loop'.*is not the kernel's at commit"):
        history.check_hashes(scratch.folder, read_set(scratch.folder), then)


def _committed() -> Iterator[Path]:
    for path in sorted((ROOT / "figures/data").iterdir()):
        if (path / manifest.NAME).exists() and path.name not in ("local", EMBEDDED):
            yield path


def _program(chapter: str) -> Path:
    path = BUILD / "chapters" / chapter / chapter
    assert path.is_file(), f"no build in {BUILD}: tools/test makes it"
    return path


def _recheck(record: Path) -> subprocess.CompletedProcess[str]:
    chapter = record.stem
    return subprocess.run(
        [_program(chapter), "--recheck", record], capture_output=True, text=True, check=False
    )


def test_recorded_bytes_are_what_the_formulas_make() -> None:
    for folder in _committed():
        for record in sorted(folder.glob("chapter*.json")):
            done = _recheck(record)
            assert (done.returncode, done.stderr) == (0, ""), record


@pytest.mark.parametrize(
    ("file", "variant"),
    [
        (SMEM, "smem"),
        ("chapter04_bank_conflicts.json", "tile"),
        ("chapter07_effective_bandwidth.json", "reduce1"),
        ("chapter08_multi_pass.json", "passes"),
        ("chapter09_histogram.json", "shared_uniform"),
        ("chapter10_coalescing.json", "load_stride3"),
    ],
)
def test_useful_bytes_doubled_are_not_what_the_formula_makes(
    scratch: Scratch, file: str, variant: str
) -> None:
    _double_bytes(file, variant)(scratch)
    scratch.forge()
    done = _recheck(scratch.folder / file)
    assert done.returncode == 1
    assert f"{variant}, n = " in done.stderr and ", the formula makes " in done.stderr
    assert "bytes_read is " in done.stderr


def _declared() -> dict[tuple[str, str], list[str]]:
    """The findings that each variant declares."""
    told = {}
    for main in sorted(ROOT.glob("chapters/chapter*/main.cu")):
        chapter = main.parent.name
        command = [str(_program(chapter)), "--list", "--json", "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for variant in json.loads(done.stdout)["variants"]:
            told[chapter, variant["name"]] = variant["findings"]
    return told


def test_recorded_findings_are_those_declared() -> None:
    for folder in _committed():
        checks.check_findings(folder, read_set(folder), _declared())


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (_finding(findings=0, exit=0, messages=[]), "declares findings, and none are recorded"),
        (_finding(findings=None, exit=3, messages=["stopped"]), None),
    ],
)
def test_a_finding_erased_is_not_as_the_variant_declares(
    scratch: Scratch, lie: Lie, words: str | None
) -> None:
    lie(scratch)
    scratch.forge()
    assert _said(scratch) == []
    if words is None:  # memcheck found something there: racecheck may have been stopped
        checks.check_findings(scratch.folder, read_set(scratch.folder), _declared())
        return
    with pytest.raises(DataError, match=f"chapter02_smem/smem_classic racecheck: {words}"):
        checks.check_findings(scratch.folder, read_set(scratch.folder), _declared())


@pytest.mark.parametrize("name", ["unwritten", "race_global"])
def test_an_embedded_transcript_edited_is_not_what_is_typed_again(
    name: str, tmp_path: Path
) -> None:
    device = embedded.Device(BUILD)

    def again(told: Transcript) -> str:
        program = _program(told.chapter) if told.chapter else None
        return embedded.replayed(device, tmp_path / told.name, program, told.commands)

    told = transcripts(ROOT)[name]
    printed = again(told)
    assert printed == told.text, "tools/measure --record embedded"
    digit = next(each for each in reversed(told.text) if each.isdigit())
    head, tail = told.text.rsplit(digit, 1)
    assert printed != head + str((int(digit) + 1) % 10) + tail


def test_a_marker_moved_past_its_comment_is_refused(tmp_path: Path) -> None:
    chapter = tmp_path / "chapters/chapter02_smem"
    chapter.mkdir(parents=True)
    text = (ROOT / "chapters/chapter02_smem/kernels.cuh").read_text(encoding="utf-8")
    marker = next(
        f"{line}\n{after}\n"
        for line, after in zip(text.splitlines(), text.splitlines()[1:], strict=False)
        if line.startswith("// begin ") and after.startswith("//")
    )
    begin, comment = marker.splitlines()
    (chapter / "kernels.cuh").write_text(text.replace(marker, f"{comment}\n{begin}\n"))
    with pytest.raises(regions.RegionError, match=r"the comment above '.*' is not in it"):
        regions.regions(tmp_path)
