"""tools/measure, with programs that only pretend to measure."""

from __future__ import annotations

import compileall
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns, exported
from common.records.counters import NCU, OF_HARDWARE, STALLS
from tools.measuring import plan, profilers, programs
from tools.measuring.measure import SANITIZERS_AT_ONCE
from tools.tests.limits import LIMIT

pytestmark = pytest.mark.all

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
_spec = importlib.util.spec_from_file_location("measure_fakes", HERE / "measure_fakes.py")
assert _spec and _spec.loader
fakes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fakes)

ONE = "chapter01_one"
TWO = "chapter02_two"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tool in a repository of two chapters, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("measure")
    root = folder / "a book"
    for name in ("tools/measuring", "figures/data", "figures/kit", "common/records"):
        (root / name).mkdir(parents=True)
    shutil.copy(REPOSITORY / "tools" / "measure", root / "tools")
    for name in ("terminal.py", "python.sh"):
        shutil.copy(REPOSITORY / "tools" / name, root / "tools")
    for file in (REPOSITORY / "tools" / "measuring").glob("*.py"):
        shutil.copy(file, root / "tools" / "measuring")
    for name in ("__init__.py", "kit/__init__.py", "kit/words.py"):
        shutil.copy(REPOSITORY / "figures" / name, root / "figures" / name)
    for name in (
        "__init__.py",
        "columns.py",
        "counters.py",
        "declarations.py",
        "derived.py",
        "exported.py",
        "manifest.py",
        "naming.py",
        "regions.py",
        "transcripts.py",
    ):
        shutil.copy(REPOSITORY / "common/records" / name, root / "common/records" / name)
    for name in ("counters.json", "files.py"):
        shutil.copy(REPOSITORY / "common" / name, root / "common")
    compileall.compile_dir(root, quiet=2)  # the tool leaves no bytecode itself; it starts quicker
    (root / "CMakeLists.txt").write_text("# nothing to build\n")
    (root / ".gitignore").write_text("/build/\n/figures/data/local/\n.stamp.json\n__pycache__/\n")
    for chapter in (ONE, TWO):
        sources = root / "chapters" / chapter
        sources.mkdir(parents=True)
        (sources / "CMakeLists.txt").write_text("# a chapter\n")
        (sources / "kernels.cuh").write_text(
            "".join(
                f"// begin {name}\nint {name[10:]};  // why\n// end {name}\n"
                for name in (
                    f"{chapter[:9]}-{kind}" for kind in ("plain", "picky", "single", "old-form")
                )
            )
        )
    for chapter in (ONE, TWO):  # newer than every source
        fakes.install_chapter(root / "build" / "chapters" / chapter / chapter)
    fakes.install(folder / "bin" / "nvidia-smi", fakes.NVIDIA_SMI)
    fakes.install(folder / "bin" / "ncu", fakes.NCU)
    (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "bin" / "python3").chmod(0o755)
    fakes.install(folder / "bin" / "compute-sanitizer", fakes.COMPUTE_SANITIZER)
    return folder


class Book:
    """One test's own copy of the template, and what a test does with it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a book"
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.data = self.root / "figures" / "data"
        self.local = self.data / "local"

    def program(self, chapter: str) -> Path:
        return self.root / "build" / "chapters" / chapter / chapter

    def environment(self, **more: str) -> dict[str, str]:
        # Only the fakes and the system's tools: a real ncu of this machine must not be found.
        paths = f"{self.bin}:/usr/bin:/bin"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE_", "CUDA_", "GIT_"))}
        return {
            **kept,
            "PATH": paths,
            "CUDA_HOME": "/nowhere",
            "FAKE_LOG": str(self.log),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **more,
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(self.root / "tools" / "measure"), *arguments]

    def measure(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(**more),
            cwd=self.bin,  # the tool works from anywhere
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )

    def calls(self, text: str = "") -> list[str]:
        return [line for line in self.log.read_text().splitlines() if text in line]

    def timed(self) -> list[str]:
        """The timed runs, as 'chapter options'."""
        lines = [line for line in self.calls("--json") if "--list" not in line]
        return [line.partition("--json")[0].strip() for line in lines]

    def record(self, chapter: str = ONE, folder: Path | None = None) -> dict[str, Any]:
        return columns.read((folder or self.local) / f"{chapter}.json")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        return subprocess.run(
            ["git", *who, "-C", str(self.root), *arguments],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def commit(self) -> str:
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all of it")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def book(template: Path, tmp_path: Path) -> Book:
    shutil.copytree(template, tmp_path / "copy")
    return Book(tmp_path / "copy")


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a failure."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_no_python_is_said(book: Book) -> None:
    """A line of ours, not one of env's; and the same for one that is too old."""
    python = book.bin / "python3"
    for script, said in (
        ("exit 127", "there is no python3"),
        ("echo Python 3.9.2; [ $1 = --version ]", "3.9.2"),
    ):
        python.unlink()
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        done = book.measure("--help")
        assert done.returncode == 77 and said in one_line(done)


def test_the_embedded_set_keeps_no_steps(book: Book) -> None:
    """Stopped while it builds: nothing is left to go on from, and it doesn't say so."""
    cmake = book.bin / "cmake"
    cmake.write_text('#!/bin/sh\necho $$ >> "$FAKE_LOG"; exec sleep 3600\n')
    cmake.chmod(0o755)
    book.log.write_text("")
    (book.root / "chapters" / ONE / "main.cu").touch()
    book.program(ONE).unlink()
    with subprocess.Popen(
        book.command("--record", "embedded"),
        env=book.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for(lambda: bool(book.calls()) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert err == "tools/measure: stopped; nothing was written\n"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


# ------------------------------------------------------------------------------ what it writes


def test_a_local_recording(book: Book) -> None:
    commit = book.commit()
    done = book.measure()
    assert done.returncode == 0, done.stderr
    assert "next: tools/guide" in done.stdout and "this took" in done.stdout
    ends = (".json", ".samples.gz", ".txt")
    names = {*(f"{chapter}{end}" for chapter in (ONE, TWO) for end in ends), "manifest.json"}
    assert {path.name for path in book.local.iterdir() if path.is_file()} == names
    assert not (book.local / ".partial").exists()

    # Every chapter in order, then in reverse.
    forward = [f"{c}{o}" for c in (ONE, TWO) for o in ("", " --sweep rest")]
    assert book.timed() == [*forward, f"{TWO} --sweep all", f"{ONE} --sweep all"]

    record = book.record()
    assert record["source"] == {"commit": commit, "dirty": False}
    assert record["date"] > "2026" and record["date"].endswith("Z")
    assert record["clocks"]["before"] == {
        "name": "Fake GPU",
        "sm_mhz": 1980.0,
        "memory_mhz": 3201.0,
        "power_w": None,
        "temperature_c": 41.0,
    }
    assert len(record["commands"]) == 3
    assert record["commands"][0] == ["./run", "--json", f"{ONE}-default-0.json"]
    assert (book.local / f"{ONE}.txt").read_text() == f"$ ./run\nFake GPU | {ONE}\nthe table\n"
    assert str(book.root) not in (book.local / f"{ONE}.json").read_text()


def test_runs_are_named_once_a_repeat_and_hashed(book: Book) -> None:
    assert book.measure().returncode == 0
    runs = book.record()["runs"]
    names = [(run["variant"], run["n"], run["block"], run["repeat"]) for run in runs]
    # What the plain run and --sweep rest have in the first pass, --sweep all has in the second.
    once = [(2**24, 256), (2**10, 256), (2**28, 128), (2**28, 256)]
    assert len(names) == len(set(names))
    assert set(names) == {(v, n, b, r) for v in ("plain", "picky") for n, b in once for r in (0, 1)}
    assert [name[3] for name in names] == sorted(name[3] for name in names)

    from common.records import regions

    known = regions.regions(book.root)
    assert {run["kernel_hash"] for run in runs if run["variant"] == "plain"} == {
        known["chapter01-plain"].hash
    }
    # One run per line, so that a diff of two recordings can be read.
    lines = (book.local / f"{ONE}.json").read_text().splitlines()
    assert sum(line.startswith(('    ["plain"', '    ["picky"')) for line in lines) == 2 * len(once)


def test_the_guide_takes_what_is_written(book: Book) -> None:
    from common.records.checks import load_set

    book.commit()
    done = book.measure("--counters", "--sanitizers")
    assert done.returncode == 0, done.stdout + done.stderr
    known = load_set(book.local)
    assert set(known.chapters) == {ONE, TWO}
    assert known.counters and known.sanitizer and known.consoles[ONE].startswith("$ ./run\n")
    told = json.loads((book.local / "manifest.json").read_text())
    assert told["passes"] == 2 and told["commit"] == known.sanitizer["source"]["commit"]
    assert set(told["files"]) == {path.name for path in book.local.iterdir() if path.is_file()} - {
        "manifest.json"
    }


def _takes_several(book: Book, chapter: str) -> None:
    """Its variants are for two GPUs from now on."""
    listed = book.program(chapter).with_name(f"{chapter}.list.json")
    told = json.loads(listed.read_text())
    for variant in told["variants"]:
        variant["devices"] = 2
    listed.write_text(json.dumps(told))


def test_what_is_about_several_gpus_is_measured_where_it_is_named(book: Book) -> None:
    _takes_several(book, TWO)
    assert book.measure().returncode == 0
    assert {path.stem for path in book.local.glob("chapter*.json")} == {ONE}
    assert book.measure("--chapters", TWO).returncode == 0
    assert {path.stem for path in book.local.glob("chapter*.json")} == {ONE, TWO}


def test_several_gpus_have_a_set_of_their_own(book: Book) -> None:
    _takes_several(book, TWO)
    book.commit()
    pair = book.data / "fake-gpu-pair"
    assert book.measure("--record", pair.name, "--chapters", TWO).returncode == 0
    assert {path.stem for path in pair.glob("chapter*.json")} == {TWO}
    for chapters in ([ONE], [ONE, TWO]):
        done = book.measure("--record", pair.name, "--chapters", *chapters)
        assert done.returncode == 2 and "all chapters that one GPU will do for" in done.stderr


def _told_of_the_manifest(folder: Path) -> list[str]:
    from common.records.checks import load_set

    doubts = load_set(folder).doubts
    return [doubt.what for doubt in doubts if doubt.path.name == "manifest.json"]


def test_a_local_set_changed_after_it_was_written_is_told_and_used(book: Book) -> None:
    assert book.measure().returncode == 0
    assert _told_of_the_manifest(book.local) == []
    console = book.local / f"{ONE}.txt"
    console.write_text(console.read_text() + "added by hand\n")
    assert _told_of_the_manifest(book.local) == ["was changed after it was recorded"]
    # Measuring one chapter again writes the manifest of all that is there.
    assert book.measure("--chapters", TWO).returncode == 0
    assert _told_of_the_manifest(book.local) == []
    (book.local / "manifest.json").unlink()
    assert _told_of_the_manifest(book.local) == ["missing: nothing vouches for the set's files"]


def _noticed(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What it says of the card where it ends, by its name."""
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert last.startswith("next: ")
    written = next(at for at, line in enumerate(lines) if line.startswith("written to "))
    said = [line.removeprefix("note: ").partition(": ") for line in lines[written + 1 :]]
    return {name: text for name, _, text in said}


def test_what_the_recording_shows_of_the_card_is_told(book: Book) -> None:
    assert _noticed(book.measure()) == {}, "nothing, where there is nothing to tell"

    slice_of_it = fakes._record(ONE, [])["device"] | {"name": "Fake GPU MIG 1g.18gb"}
    for chapter in (ONE, TWO):
        fakes.install_chapter(
            book.program(chapter), {"device": slice_of_it}, {"stopped_by": "seconds"}
        )
    # The pass after the first, of one chapter, takes longer; and the card has cooled its clock.
    later = book.program(TWO).with_name(f"{TWO}.sweep-all.json")
    record = json.loads(later.read_text())
    for run in record["runs"]:
        run["samples_us"] = [round(1.2 * sample, 3) for sample in run["samples_us"]]
    later.write_text(json.dumps(record))
    smi = book.bin / "nvidia-smi"
    fakes.install(
        smi,
        f'#!/bin/sh\ngrep -q "{TWO} --sweep all" "$FAKE_LOG" && mhz=900 || mhz=1980\n'
        'echo "Fake GPU, $mhz, 3201, [N/A], 41"\n',
    )
    # The book's own set goes further than this card's memory.
    further = fakes._record(ONE, [fakes._run(fakes._variant(ONE, "plain"), 2**30, 256)])
    (book.data / "nvidia-h200").mkdir()
    columns.write(book.data / "nvidia-h200" / f"{ONE}.json", further)
    (book.data / "nvidia-h200" / f"{TWO}.json").write_text("half-written")

    said = _noticed(book.measure())
    assert list(said) == [
        *("MIG slice", "clock dropped", "drift between passes", "unsteady"),
        *("samples far apart", "sizes left out"),
    ]
    assert said["clock dropped"].startswith(
        "Right after chapter 2, nvidia-smi read an SM clock of 900 MHz: 55 % below its highest "
        "reading, 1980 MHz. In the last pass that chapter's median run took 20 % longer"
    )
    assert "Chapter 2 took longer in a later pass" in said["drift between passes"]
    assert "at most 2²⁸, where the book goes to 2³⁰" in said["sizes left out"]

    # A card that merely idles between its programs has low clocks too.
    fakes.install_chapter(book.program(TWO), {"device": slice_of_it})
    said = _noticed(book.measure("--chapters", TWO))
    assert list(said) == ["MIG slice"]


def test_a_region_that_is_missing_is_said(book: Book) -> None:
    kernels = book.root / "chapters" / ONE / "kernels.cuh"
    kernels.write_text("// begin chapter01-plain\n// end chapter01-plain\n")
    fakes.install_chapter(book.program(ONE))  # newer than its source again
    done = book.measure("--chapters", ONE)
    assert done.returncode == 0
    assert "no region 'chapter01-picky'" in done.stdout
    assert {run["kernel_hash"] for run in book.record()["runs"] if run["variant"] == "picky"} == {
        None
    }


def test_chapters_leaves_the_others_alone(book: Book) -> None:
    assert book.measure("--counters").returncode == 0
    before = book.record(TWO)
    assert book.measure("--chapters", ONE, "--counters").returncode == 0
    assert book.record(TWO) == before
    assert {line.split()[0] for line in book.timed()} == {ONE}
    # counters.json is one file for all: the other chapter's runs are still in it.
    counters = columns.read(book.local / "counters.json")
    assert {run["chapter"] for run in counters["runs"]} == {ONE, TWO}
    # Unless they are of another machine.
    fakes.install_chapter(book.program(ONE), record={"driver": "14.0"})
    done = book.measure("--chapters", ONE, "--counters")
    assert done.returncode == 0 and "left out" in done.stdout
    counters = columns.read(book.local / "counters.json")
    assert {run["chapter"] for run in counters["runs"]} == {ONE}


def test_no_nvidia_smi(book: Book) -> None:
    (book.bin / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert _noticed(book.measure("--chapters", ONE)) == {}, "that no clock is known, the page says"
    assert book.record()["clocks"] is None


# ------------------------------------------------------------------------------- interruptions


def test_ctrl_c_keeps_whole_steps_and_the_next_start_goes_on(book: Book, tmp_path: Path) -> None:
    book.measure()
    whole = {path.name: path.read_bytes() for path in book.local.iterdir() if path.is_file()}
    shutil.rmtree(book.local)

    book.log.write_text("")
    slow = book.environment(FAKE_SLEEP="0.3")
    with subprocess.Popen(
        book.command(), env=slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: len(book.timed()) == 3)  # the third has begun
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "stopped" in err and "the same command goes on" in err and "Traceback" not in err
    assert not list(book.local.glob("*.json")), "no file of a set is written before all are"
    parts = sorted(path.name for path in (book.local / ".partial").glob("*.part"))
    assert len(parts) == 2
    assert (book.local / ".partial" / ".gitignore").read_text() == "*\n"
    for name in parts:
        json.loads((book.local / ".partial" / name).read_text())

    done = book.measure()
    assert done.returncode == 0
    assert "2 of 6 steps are done already" in done.stdout
    assert len(book.timed()) == 4
    resumed = {path.name: path.read_bytes() for path in book.local.iterdir() if path.is_file()}
    assert resumed.keys() == whole.keys()
    for name, content in whole.items():
        if not name.endswith(".json"):
            assert resumed[name] == content
            continue
        one, other = json.loads(content), json.loads(resumed[name])
        if name == "manifest.json":
            assert one["files"].keys() == other["files"].keys()
            continue
        assert one.pop("date") <= other.pop("date")
        assert one == other

    book.measure("--chapters", ONE)
    assert len(book.timed()) == 3, "a finished recording is not gone on with"


def test_ctrl_c_ends_the_profilers_too(book: Book) -> None:
    book.log.write_text("")
    with subprocess.Popen(
        book.command("--chapters", ONE, "--sanitizers"),
        env=book.environment(FAKE_SANITIZER="slow", FAKE_WHO=f"{os.getpid()}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for(lambda: len(book.calls("--tool")) == SANITIZERS_AT_ONCE)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and "Traceback" not in err
    assert len(book.calls("--tool")) == SANITIZERS_AT_ONCE
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert f"sleep 3647.{os.getpid()}" not in running


def test_a_recording_that_is_cut_off_goes_on_with_the_same_stamp(book: Book) -> None:
    """Among the counters of the second chapter: what was counted is kept."""
    asked = ("--record", "fake-gpu", "--counters", "--sanitizers")
    folder = book.data / "fake-gpu"
    book.commit()
    assert book.measure("--stamp").returncode == 0
    shutil.rmtree(book.root / ".git")
    book.log.write_text("")
    with subprocess.Popen(
        ["timeout", "-s", "TERM", str(LIMIT), *book.command(*asked)],
        env=book.environment(FAKE_SLEEP="0.05"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for(lambda: bool(book.calls(f"{TWO} --once")))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and "the same command goes on" in err, out + err
    assert not list(folder.glob("*.json"))
    kept = {path.stem for path in (folder / ".partial").glob("*.part")}
    assert len(kept) == 8 + 11

    done = book.measure(*asked)
    assert done.returncode == 0, done.stderr
    assert "19 of 62 steps are done already" in done.stdout
    assert not book.timed()
    assert not [line for line in book.calls(f"{ONE} --once") if "--n 1048573" not in line]
    runs = columns.read(folder / "counters.json")["runs"]
    assert len(runs) == 20
    timed = columns.read(folder / f"{ONE}.json")
    assert {run["repeat"] for run in timed["runs"]} == {0, 1, 2}, "a recording has three passes"
    assert len(timed["commands"]) == 4
    assert timed["clocks"]["after"]["name"] == "Fake GPU"
    assert len(columns.read(folder / "sanitizer.json")["runs"]) == 2 * 4 * 4
    assert not (folder / ".partial").exists()


def test_a_half_written_part_is_measured_again(book: Book) -> None:
    done = book.measure("--chapters", ONE, FAKE_FAIL=f"{ONE}-sweep-rest-0=3")
    assert done.returncode == 1
    part = book.local / ".partial" / f"{ONE}-default-0.part"
    part.write_text(part.read_text()[:100])
    done = book.measure("--chapters", ONE)
    assert done.returncode == 0
    assert f"{part.name} is half-written: measured again" in done.stdout
    assert len(book.timed()) == 3
    book.record()


def test_parts_of_another_program_or_commit_are_not_reused(book: Book) -> None:
    book.commit()
    fail = {"FAKE_FAIL": f"{ONE}-sweep-rest-0=3"}
    book.measure("--chapters", ONE, **fail)
    program = book.program(ONE)
    program.write_text(program.read_text() + "# built anew\n")
    done = book.measure("--chapters", ONE, **fail)
    assert "1 finished steps are of another build or commit" in done.stdout
    assert len(book.timed()) == 2

    book.git("commit", "-q", "--allow-empty", "-m", "another")
    book.measure("--chapters", ONE, **fail)
    assert len(book.timed()) == 2
    book.measure("--chapters", ONE, **fail)
    assert len(book.timed()) == 1
    book.measure("--chapters", ONE, "--fresh", **fail)
    assert len(book.timed()) == 2


def test_two_at_a_time_are_refused(book: Book) -> None:
    (book.local / ".partial").mkdir(parents=True)
    with (book.local / ".partial" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = book.measure()
    assert done.returncode == 1 and "another tools/measure" in one_line(done)


# -------------------------------------------------------------------------------- provenance


def test_record_wants_a_clean_commit(book: Book) -> None:
    done = book.measure("--record", "fake-gpu")
    assert done.returncode == 2 and "there is no .git, and no stamp" in one_line(done)
    commit = book.commit()
    readme = book.root / "new file"
    readme.write_text("not committed")
    done = book.measure("--record", "fake-gpu")
    assert done.returncode == 2 and "(new file)" in one_line(done)
    assert not (book.data / "fake-gpu").exists() and not book.timed()

    done = book.measure("--record", "fake-gpu", "--allow-dirty")
    assert done.returncode == 0, done.stderr
    assert book.record(ONE, book.data / "fake-gpu")["source"] == {"commit": commit, "dirty": True}
    readme.unlink()
    # What was just recorded lies there, not committed: that doesn't change the source.
    done = book.measure("--record", "fake-gpu")
    assert done.returncode == 0, done.stderr
    assert book.record(TWO, book.data / "fake-gpu")["source"]["dirty"] is False


def test_without_git_or_stamp_a_local_recording_says_so(book: Book) -> None:
    done = book.measure("--chapters", ONE)
    assert done.returncode == 0 and "names no commit" in done.stdout
    assert book.record()["source"] is None


def test_a_stamp_stands_in_for_git(book: Book) -> None:
    done = book.measure("--stamp")
    assert done.returncode == 2 and "--stamp needs a commit" in one_line(done)
    commit = book.commit()
    done = book.measure("--stamp")
    assert done.returncode == 0 and commit[:12] in done.stdout and "clean" in done.stdout
    assert not book.git("status", "--porcelain").replace("?? figures/data/", "")
    shutil.rmtree(book.root / ".git")

    done = book.measure("--record", "fake-gpu")
    assert done.returncode == 0, done.stderr
    folder = book.data / "fake-gpu"
    assert book.record(ONE, folder)["source"] == {"commit": commit, "dirty": False}

    kernels = book.root / "chapters" / ONE / "kernels.cuh"
    kernels.write_text(kernels.read_text() + "// touched\n")
    (book.root / ".gitignore").unlink()
    for arguments in ([], ["--record", "fake-gpu"]):
        done = book.measure(*arguments)
        assert done.returncode == 2
        line = one_line(done)
        assert f"chapters/{ONE}/kernels.cuh" in line and ".gitignore" in line
        assert f"chapters/{TWO}" not in line
    (book.data / ".stamp.json").write_text('{"commit": "0')
    done = book.measure()
    assert done.returncode == 2 and ".stamp.json can't be read" in one_line(done)


def test_a_dirty_stamp_is_not_recorded_from(book: Book) -> None:
    book.commit()
    (book.root / "CMakeLists.txt").write_text("# changed\n")
    assert "not in it" in book.measure("--stamp").stdout
    shutil.rmtree(book.root / ".git")
    fakes.install_chapter(book.program(ONE))
    fakes.install_chapter(book.program(TWO))
    done = book.measure("--record", "fake-gpu")
    assert done.returncode == 2 and "so says the stamp" in one_line(done)


# ------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--record", "../elsewhere"], "a set's name is"),
        (["--record", "Fake GPU"], "a set's name is"),
        (["--record", ""], "a set's name is"),
        (["--record", "embedded", "--counters"], "counts by itself"),
        (["--record", "local"], "without --record"),
        (["--record", "embedded", "--chapters", ONE], "all chapters"),
        (["--allow-dirty"], "only with --record"),
        (["--no-times"], "goes with --sanitizers"),
        (["--no-times", "--sanitizers", "--counters"], "without --counters"),
        (["--chapters", "chapter77"], f"there are {ONE}, {TWO}"),
        (["--count"], "unrecognized"),
    ],
)
def test_wrong_options(book: Book, arguments: list[str], said: str) -> None:
    done = book.measure(*arguments)
    assert done.returncode == 2 and said in done.stderr
    assert not book.local.exists() and not book.calls()


def test_help(book: Book) -> None:
    done = book.measure("--help")
    assert done.returncode == 0
    for word in ("--record", "--counters", "--sanitizers", "Ctrl-C", "two passes"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_no_gpu(book: Book) -> None:
    done = book.measure(FAKE_FAIL="--device gpu=77")
    assert done.returncode == 77
    assert one_line(done) == f"tools/measure: {ONE}: this is the reason"
    assert not book.timed() and not book.local.exists(), "an empty set is not a set"


def test_a_program_that_fails(book: Book) -> None:
    done = book.measure(FAKE_FAIL=f"{TWO}-sweep-rest-0=3")
    assert done.returncode == 1
    line = one_line(done)
    assert f"'{TWO} --sweep rest --json" in line
    assert "status 3" in line and line.endswith(f"{TWO}: this is the reason")
    assert len(list((book.local / ".partial").glob("*.part"))) == 3
    assert not list(book.local.glob("*.json"))


@pytest.mark.parametrize(
    ("record", "run", "said"),
    [
        ({}, {"verified": False}, "plain n=16777216 block=256: its result was not verified"),
        ({}, {"samples_us": [1.5, -1.0]}, "a sample is -1.0"),
        ({}, {"samples_us": [float("nan")]}, "it holds NaN"),
        ({}, {"samples_us": []}, "samples_us is []"),
        ({}, {"median_us": 1.5}, "no column for median_us"),
        ({"runs": []}, {}, "recorded no run"),
        ({"runs": [{"variant": "plain"}]}, {}, "recorded a run without 'n'"),
        ({"schema": 1}, {}, "another schema"),
        ({"chapter": "chapter09_x"}, {}, "a record of chapter 'chapter09_x'"),
    ],
)
def test_a_record_that_is_not_to_be_trusted(
    book: Book, record: dict[str, Any], run: dict[str, Any], said: str
) -> None:
    fakes.install_chapter(book.program(ONE), record, run)
    done = book.measure()
    assert done.returncode == 1 and said in one_line(done)
    assert not list(book.local.glob("*.json"))


def test_two_machines_make_no_recording(book: Book) -> None:
    book.measure(FAKE_FAIL=f"{ONE}-sweep-all-1=3")
    fakes.install_chapter(book.program(ONE), record={"driver": "14.0"})
    done = book.measure()
    assert done.returncode == 1
    line = one_line(done)
    assert 'driver was "13.0"' in line and '"14.0"' in line and "--fresh" in line
    assert not list(book.local.glob("*.json"))


def test_passes_that_launch_otherwise_make_no_recording(book: Book) -> None:
    """What all passes share is written once."""
    later = book.program(ONE).with_name(f"{ONE}.sweep-all.json")
    record = json.loads(later.read_text())
    record["runs"][0]["grid"] += 1
    later.write_text(json.dumps(record))
    done = book.measure()
    assert done.returncode == 1
    assert "and must be the same in every pass" in one_line(done) and "grid is" in one_line(done)
    assert not list(book.local.glob("*.json"))


def test_a_folder_that_cannot_be_written(book: Book) -> None:
    book.data.mkdir(parents=True, exist_ok=True)
    book.local.write_text("a file where the folder should be")
    done = book.measure()
    assert done.returncode == 2 and f"{book.local} can't be written" in one_line(done)


def test_a_full_disk(book: Book, tmp_path: Path) -> None:
    work, kept = book.local / ".partial", tmp_path / "kept"
    work.mkdir(parents=True)
    small = f"""mount -t tmpfs -o size=1m none '{work}' || exit 99
"$@"; status=$?; rm '{work}/fill'; cp -r '{work}' '{kept}'; exit $status"""
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", small, "sh", *book.command()],
        env=book.environment(FAKE_FULL=f"--sweep rest={work}"),
        cwd=book.bin, capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("unshare is not permitted here")
    assert done.returncode == 1
    assert "the disk is full; finished steps are kept" in one_line(done)
    assert [path.name for path in kept.glob("*.part")] == [f"{ONE}-default-0.part"]
    shutil.copytree(kept, work, dirs_exist_ok=True)
    assert book.measure().returncode == 0


def test_missing_programs_are_built(book: Book) -> None:
    spare = book.root / "spare"
    shutil.move(book.root / "build" / "chapters", spare)
    fakes.install(
        book.bin / "cmake",
        f"""#!/bin/sh
echo "cmake $*" >> "$FAKE_LOG"
if [ "$1" = --build ]; then mkdir -p "$2"; cp -r "{spare}" "$2/chapters"; fi
""",
    )
    build = book.root / "my build"
    done = book.measure("--chapters", ONE, "--build", str(build))
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in book.calls("cmake")] == ["-S", "--build"]
    assert book.measure("--chapters", ONE, "--build", str(build)).returncode == 0
    assert not book.calls("cmake"), "nothing is older than its sources"
    later = time.time() + 10
    os.utime(book.root / "chapters" / TWO / "kernels.cuh", (later, later))
    assert book.measure("--chapters", ONE, "--build", str(build)).returncode == 0
    assert book.calls("cmake")

    shutil.rmtree(build)
    fakes.install(book.bin / "cmake", "#!/bin/sh\necho 'x.cu(3): error: no such thing'\nexit 1\n")
    done = book.measure("--build", str(build))
    assert done.returncode == 1
    assert "building failed: x.cu(3): error: no such thing" in one_line(done)
    assert (build / "measure-build.log").read_text().startswith("$ cmake -S")


# ------------------------------------------------------------------------- counters, sanitizers


def test_counters(book: Book) -> None:
    book.commit()
    done = book.measure("--counters")
    assert done.returncode == 0, done.stderr
    counters = columns.read(book.local / "counters.json")
    assert counters["ncu"] == "2025.3.1" and sorted(counters["metrics"]) == sorted(OF_HARDWARE)
    assert counters["device"]["name"] == "Fake GPU" and counters["source"]["dirty"] is False
    shapes = [(2**24, 256), (2**20, 256), (2**24, 128)]
    expected = {
        (chapter, variant, n, block)
        for chapter in (ONE, TWO)
        for variant in ("plain", "picky", "old_form")
        for n, block in shapes
        if variant != "picky" or block == 256
    }
    # One that takes a single block is launched with that.
    expected |= {(chapter, "single", n, 1) for chapter in (ONE, TWO) for n in (2**24, 2**20)}
    runs = counters["runs"]
    assert {(r["chapter"], r["variant"], r["n"], r["block"]) for r in runs} == expected
    assert f"no counters of {ONE}/picky n=16777216 block=128" in done.stdout
    run = next(run for run in runs if run["variant"] == "picky")
    assert run["params"] == {"stride": 2}
    assert run["command"].startswith("ncu --csv --page raw --print-units base --clock-control none")
    assert run["command"].endswith("./run --once --variant plain picky --n 16777216 --block 256")
    old = next(run for run in runs if run["variant"] == "old_form")
    assert old["command"].endswith("./run --once --variant old_form --n 16777216 --block 256")
    launch = run["launches"][0]
    assert launch["kernel"] == "unroll<4>"
    assert (launch["grid"], launch["block"]) == ([65536, 1, 1], [256, 1, 1])
    assert launch["metrics"]["smsp__inst_executed.sum"] == 67108864
    assert launch["metrics"]["sm__warps_active.avg.pct_of_peak_sustained_active"] == 0.0
    assert len(launch["metrics"]) == len(OF_HARDWARE)
    for run in runs:  # each has its own launch
        assert run["launches"][0]["metrics"]["launch__registers_per_thread"] == len(run["variant"])
    # Of each chapter: two variants at two shapes, together; those two at the third, which one of
    # them refuses, and then alone; two shapes of one that takes no other block; three of old_form.
    assert len(book.calls("ncu --csv")) == 2 * (2 + (1 + 2) + 2 + 3)


def counted(book: Book, **environment: str) -> list[Any]:
    done = book.measure("--counters", **environment)
    assert done.returncode == 0, done.stderr
    runs: list[Any] = columns.read(book.local / "counters.json")["runs"]
    return runs


def test_counters_one_at_a_time_are_the_same(book: Book) -> None:
    together = counted(book)
    alone = counted(book, FAKE_NCU="alone")
    assert [run.pop("command") for run in together] != [run.pop("command") for run in alone]
    assert together == alone


def test_whose_launch_it_is_where_a_variant_has_two(book: Book) -> None:
    """Not known at the first shape; known at the second."""
    together = counted(book, FAKE_TWICE="plain")
    assert len(book.calls("ncu --csv")) == 2 * ((1 + 2) + 1 + (1 + 2) + 2 + 3)
    alone = counted(book, FAKE_NCU="alone", FAKE_TWICE="plain")
    for run in together + alone:
        del run["command"]
    assert together == alone
    kernels = {run["variant"]: [launch["kernel"] for launch in run["launches"]] for run in together}
    assert kernels["plain"] == ["unroll<4>", "finish<4>"] and kernels["picky"] == ["unroll<4>"]


def test_a_wrong_result_has_no_counters(book: Book) -> None:
    done = book.measure("--counters", "--chapters", ONE, FAKE_WRONG="picky")
    assert done.returncode == 1
    assert f"ncu gave no counters of {ONE}/picky" in one_line(done)


def test_launches_that_are_not_as_before_are_nobodys(book: Book) -> None:
    first, second, third = {"kernel": "unroll<4>"}, {"kernel": "finish<4>"}, {"kernel": "unroll<4>"}
    done = {
        "a": {"chapter": ONE, "variant": "plain", "launches": [first, second]},
        "b": {"chapter": ONE, "variant": "picky", "launches": [third]},
        "c": {"chapter": TWO, "variant": "picky", "launches": [third, third]},
        "d": {"skipped": "for some reason"},
    }
    listing = book.program(ONE).with_name(f"{ONE}.list.json")
    assert listing.is_file()
    (program,) = programs.find_programs([ONE], book.root / "build", book.bin, rebuild=False)
    launches = {v.name: plan.Launch(program, v, 1024, 256) for v in program.variants[:2]}
    assert list(launches) == ["plain", "picky"]
    shares = plan._dealt([first, second, third], launches, done)
    assert shares == {"plain": [first, second], "picky": [third]}
    for rows in (
        [first, third, second],
        [first, second],
        [first, second, third, third],
        [second, first, third],
    ):
        assert plan._dealt(rows, launches, done) == {}
    assert plan._dealt([first, second, third], launches, {}) == {}


def test_counters_that_may_not_be_read(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--counters", FAKE_NCU="refused")
    assert done.returncode == 0
    notes = [line for line in done.stdout.splitlines() if "ERR_NVGPUCTRPERM" in line]
    assert len(notes) == 1 and "'Troubleshooting'" in notes[0]
    assert book.record() and not (book.local / "counters.json").exists()
    assert len(book.calls("ncu --csv")) == 1, "it is not asked again and again"


@pytest.mark.parametrize(
    ("mode", "said"), [("broken", "LibraryNotLoaded"), ("torn", "its table can't be read")]
)
def test_an_ncu_that_fails(book: Book, mode: str, said: str) -> None:
    done = book.measure("--chapters", ONE, "--counters", FAKE_NCU=mode)
    assert done.returncode == 1 and said in one_line(done)
    assert not list(book.local.glob("*.json"))


def test_a_metric_without_a_number_is_no_zero(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--counters", FAKE_NCU="lacking")
    assert done.returncode == 0
    assert "ncu had no number for every launch of: launch__registers_per_thread" in done.stdout
    runs = columns.read(book.local / "counters.json")["runs"]
    assert all("launch__registers_per_thread" not in run["launches"][0]["metrics"] for run in runs)


def test_a_metric_that_ncu_does_not_know_is_named_and_left_out(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--counters", FAKE_NCU="unknown")
    assert done.returncode == 0, done.stderr
    unknown = [STALLS["stall_branch_resolving"], STALLS["stall_misc"]]
    for metric in unknown:
        assert f"note: this ncu doesn't know the metric {metric}: it is left out" in done.stdout
    assert "no number" not in done.stdout
    data = columns.read(book.local / "counters.json")
    known = [metric for metric in OF_HARDWARE if metric not in unknown]
    assert data["metrics"] == known
    for run in data["runs"]:
        assert list(run["launches"][0]["metrics"]) == known
        assert not any(metric in run["command"] for metric in unknown)
    # Each was found out once, and not again at every launch.
    assert len(book.calls("ncu --csv")) == 2 + (2 + (1 + 2) + 2 + 3)


def test_an_ncu_that_refuses_every_metric_fails() -> None:
    said = "==ERROR== Failed to find metric " + ", ".join(OF_HARDWARE)
    assert profilers.unknown_metrics(said, OF_HARDWARE) == list(OF_HARDWARE)
    assert profilers.unknown_metrics("==PROF== " + said[10:], OF_HARDWARE) == []
    assert profilers.unknown_metrics("==ERROR== No such device.", OF_HARDWARE) == []


def test_every_stall_reason_is_counted() -> None:
    assert len(STALLS) == 18
    assert set(STALLS.values()) <= set(OF_HARDWARE)
    assert set(STALLS) <= set(NCU)


def test_a_kernel_that_the_device_stops_has_no_counters(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--counters", FAKE_NCU="stopped")
    assert done.returncode == 0, done.stderr
    assert f"no counters of {ONE}/old_form n=16777216 block=256" in done.stdout
    runs = columns.read(book.local / "counters.json")["runs"]
    assert {run["variant"] for run in runs} == {"plain", "picky", "single"}


@pytest.mark.parametrize(
    ("option", "tool"), [("--counters", "ncu"), ("--sanitizers", "compute-sanitizer")]
)
def test_a_tool_that_is_missing(book: Book, option: str, tool: str) -> None:
    (book.bin / tool).unlink()
    done = book.measure(option)
    assert done.returncode == 77 and f"{option} needs {tool}" in one_line(done)
    assert not book.calls()


def test_sanitizers(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--sanitizers")
    assert done.returncode == 0, done.stdout
    assert "not clean" not in done.stdout and "expects" not in done.stdout
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    assert len(runs) == 4 * 4
    assert {run["block"] for run in runs if run["variant"] == "single"} == {1}
    found = {(run["variant"], run["tool"]): run for run in runs}
    race = found["old_form", "racecheck"]
    assert race["findings"] == 1037 and race["exit"] == 0
    assert race["messages"] == [
        "Warning: Race reported between Read access at old_form(int *)+0x1b0 in legacy.cuh:34"
    ]
    assert race["command"] == (
        "compute-sanitizer --tool racecheck --error-exitcode 4 ./run --once --variant old_form "
        "--n 1048573 --block 256"
    )
    assert all(run["findings"] == 0 for run in runs if run is not race)


def test_findings_alone_leave_the_times_as_they_are(book: Book) -> None:
    first = book.commit()
    nothing = book.measure("--sanitizers", "--no-times")
    assert nothing.returncode == 1 and "has no recording whose times stay" in one_line(nothing)
    assert book.measure().returncode == 0
    ends = (".json", ".samples.gz", ".txt")
    names = [f"{chapter}{end}" for chapter in (ONE, TWO) for end in ends]
    before = {name: (book.local / name).read_bytes() for name in names}
    (book.root / "later").write_text("")
    later = book.commit()
    done = book.measure("--sanitizers", "--no-times")
    assert done.returncode == 0, done.stderr
    assert book.timed() == [ONE]  # it says what machine this is
    assert before == {name: (book.local / name).read_bytes() for name in names}
    found = columns.read(book.local / "sanitizer.json")
    assert found["source"]["commit"] == later and len(found["runs"]) == 2 * 4 * 4
    told = json.loads((book.local / "manifest.json").read_text())
    assert told["commit"] == first and told["passes"] == 2
    assert set(told["files"]) == {*names, "sanitizer.json"}
    assert not (book.local / ".partial").exists()


def test_findings_of_another_card_are_refused(book: Book) -> None:
    assert book.measure().returncode == 0
    path = book.local / f"{ONE}.json"
    path.write_text(path.read_text().replace('"name": "Fake GPU"', '"name": "Another GPU"'))
    done = book.measure("--sanitizers", "--no-times")
    assert done.returncode == 1 and "the recording is of Another GPU" in one_line(done)
    assert not sanitized(book)  # it is told before anything takes minutes
    assert not (book.local / "sanitizer.json").exists()


def test_findings_beside_an_older_books_times_are_refused(book: Book) -> None:
    assert book.measure().returncode == 0
    path = book.local / f"{ONE}.json"
    path.write_text(path.read_text().replace('"schema": 3', '"schema": 2'))
    done = book.measure("--sanitizers", "--no-times")
    assert done.returncode == 1 and "an older book's: measure its times, too" in one_line(done)
    assert not sanitized(book)


def sanitized(book: Book) -> list[str]:
    """The tool and the variants of each run of compute-sanitizer."""
    calls = [call.split() for call in book.calls("--tool")]
    return sorted(
        " ".join([call[call.index("--tool") + 1], *call[call.index("--variant") + 1 : -4]])
        for call in calls
        if "--variant" in call and call[0] == "compute-sanitizer"
    )


def test_races_are_looked_for_in_clean_variants_at_once(book: Book) -> None:
    """But not what depends on memory, nor what isn't clean."""
    assert book.measure("--chapters", ONE, "--sanitizers").returncode == 0
    alone = ["old_form", "picky", "plain", "single"]
    assert sanitized(book) == [
        *(f"{tool} {variant}" for tool in ("initcheck", "memcheck") for variant in alone),
        *(
            f"{tool} {variants}"
            for tool in ("racecheck", "synccheck")
            for variants in ("old_form", "plain picky", "single")
        ),
    ]
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    both = [run for run in runs if run["variant"] in ("plain", "picky")]
    assert {run["command"].count(" picky ") for run in both if run["tool"] == "synccheck"} == {1}

    found = "racecheck/picky=1"
    assert book.measure("--chapters", ONE, "--sanitizers", FAKE_FOUND=found).returncode == 1
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    races = {run["variant"]: run for run in runs if run["tool"] == "racecheck"}
    assert races["picky"]["findings"] == 1 and races["plain"]["findings"] == 0
    assert " plain picky " not in races["picky"]["command"], "it was looked at alone"


def relist(book: Book, number: int, **changes: object) -> None:
    """Makes the program list a variant otherwise."""
    listing = book.program(ONE).with_name(f"{ONE}.list.json")
    listed = json.loads(listing.read_text())
    listed["variants"][number] |= changes
    listing.write_text(json.dumps(listed))


def looked_at(book: Book, kind: str) -> set[str]:
    """The variants that counters.json or sanitizer.json is about."""
    runs = columns.read(book.local / f"{kind}.json")["runs"]
    return {run["variant"] for run in runs}


def test_profilers_leave_out_what_another_variant_shows_them(book: Book) -> None:
    relist(book, 0, profiled=False)
    done = book.measure("--chapters", ONE, "--counters", "--sanitizers")
    assert done.returncode == 0, done.stdout
    for kind in ("counters", "sanitizer"):
        assert looked_at(book, kind) == {"picky", "single", "old_form"}
    assert "plain" in {run["variant"] for run in book.record()["runs"]}, "it is timed all the same"


def test_what_need_not_count_alike_is_checked_all_the_same(book: Book) -> None:
    relist(book, 0, counters="none")
    done = book.measure("--chapters", ONE, "--counters", "--sanitizers")
    assert done.returncode == 0, done.stdout
    assert looked_at(book, "sanitizer") - looked_at(book, "counters") == {"plain"}


def test_a_modern_variant_with_findings_is_not_clean(book: Book) -> None:
    found = "memcheck/plain=137 racecheck/picky=1 memcheck/old_form=1"
    done = book.measure("--chapters", ONE, "--sanitizers", FAKE_FOUND=found)
    assert done.returncode == 1
    unclean = [line for line in done.stdout.splitlines() if line.startswith("not clean")]
    assert len(unclean) == 2
    assert f"memcheck on {ONE}/plain: 137 found (Invalid __global__ read" in unclean[0]
    assert f"racecheck on {ONE}/picky: 1 found" in unclean[1]
    assert f"{ONE}/old_form expects findings of racecheck; here they came from memcheck" in (
        done.stdout
    )
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    assert sum(run["findings"] for run in runs) == 139, "it is written all the same"


def test_findings_that_a_modern_variant_is_there_to_show(book: Book) -> None:
    relist(book, 1, findings=["memcheck"])
    asked = ("--chapters", ONE, "--sanitizers")
    done = book.measure(*asked, FAKE_FOUND="memcheck/picky=2 racecheck/old_form=1")
    assert done.returncode == 0, done.stdout
    done = book.measure(*asked, "--fresh", FAKE_FOUND="racecheck/old_form=1")
    assert f"{ONE}/picky expects findings of memcheck; here they came from none" in done.stdout


@pytest.mark.parametrize(
    ("variant", "clean"), [("old_form", True), ("picky", False)], ids=["faulty", "modern"]
)
def test_a_kernel_that_the_device_stops(book: Book, variant: str, clean: bool) -> None:
    listing = book.program(ONE).with_name(f"{ONE}.list.json")
    listing.write_text(listing.read_text().replace("racecheck", "memcheck"))
    # The fake ends so under every tool, so memcheck's own silence is a fault in either case.
    done = book.measure("--chapters", ONE, "--sanitizers", FAKE_FAIL=f"{variant} --n 1048573=3")
    silent = [line for line in done.stdout.splitlines() if "did not do its work" in line]
    assert len(silent) == (1 if clean else 4), done.stdout
    assert f"memcheck did not do its work on {ONE}/{variant}" in silent[0]


def test_a_sanitizer_that_did_nothing_is_not_clean(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--sanitizers", FAKE_SANITIZER="unsupported")
    assert done.returncode == 1
    assert f"memcheck did not do its work on {ONE}/plain (Error: Device not" in done.stdout
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    assert {run["findings"] for run in runs} == {None}


def test_a_shape_that_the_sanitized_program_refuses_is_not_clean(book: Book) -> None:
    done = book.measure("--chapters", ONE, "--sanitizers", FAKE_FAIL="plain --n 1048573=2")
    assert done.returncode == 1
    assert f"memcheck did not do its work on {ONE}/plain ({ONE}: this is the reason)" in done.stdout


def test_a_variant_that_a_sanitizer_cant_run_is_left_out(book: Book) -> None:
    """It needs more GPUs than there are, say."""
    done = book.measure("--chapters", ONE, "--sanitizers", FAKE_FAIL="plain --n 1048573=77")
    assert done.returncode == 0, done.stdout + done.stderr
    said = f"note: compute-sanitizer didn't look at {ONE}/plain: {ONE}: this is the reason\n"
    assert done.stdout.count(said) == 1
    runs = columns.read(book.local / "sanitizer.json")["runs"]
    assert ("plain", "memcheck") not in {(run["variant"], run["tool"]) for run in runs}
    assert "old_form" in looked_at(book, "sanitizer")


def test_a_dry_run_lists_the_steps_and_measures_nothing(book: Book) -> None:
    before = sorted(book.root.rglob("*"))
    done = book.measure("--dry-run", "--counters", "--sanitizers", "--chapters", ONE)
    assert done.returncode == 0, done.stderr
    *steps, last = done.stdout.splitlines()
    assert steps[:3] == [
        f"{ONE} (pass 1)",
        f"{ONE} --sweep rest (pass 1)",
        f"{ONE} --sweep all (pass 2)",
    ]
    assert f"ncu {ONE}/plain n=16777216 block=256" in steps
    assert f"racecheck {ONE}/old_form" in steps
    assert last == f"{len(steps)} steps of {ONE}; nothing was measured"
    assert sorted(book.root.rglob("*")) == before
    assert all("--list" in call for call in book.calls()), "no tool, and no launch"


@pytest.mark.parametrize("named", ["", ".", "..", "chapters/../../.."])
def test_the_checkout_is_no_build_folder(book: Book, named: str) -> None:
    before = sorted(book.root.iterdir())
    done = book.measure("--build", str(book.root / named) if named else "")
    assert done.returncode == 2 and "--build" in done.stderr and "to build in" in done.stderr
    assert sorted(book.root.iterdir()) == before


def test_another_users_checkout_is_told_as_that(book: Book) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    book.commit()
    for path in (book.root, book.root / ".git"):
        os.chown(path, 12345, 12345)
    done = book.measure("--stamp")
    assert done.returncode == 2
    assert "belongs to another user" in one_line(done) and "safe.directory" in done.stderr


# ------------------------------------------------------------------------------------ export


def test_export_packs_what_is_recorded(book: Book, tmp_path: Path) -> None:
    file = tmp_path / "new" / "mine.json.gz"
    done = book.measure("--export", str(file))
    assert done.returncode == 2 and not file.parent.exists()
    assert one_line(done) == (
        "tools/measure: figures/data/local/ is not there: run tools/measure first"
    )
    assert book.measure().returncode == 0
    done = book.measure("--export", str(file))
    assert done.returncode == 0 and not book.calls(), "nothing is measured"
    assert done.stdout.splitlines()[1] == (
        f"next: tools/compare {file} puts it beside the book's own"
    )
    told = exported.unpack(file)
    told.write(tmp_path / "there")
    here, there = (
        {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        for folder in (book.local, tmp_path / "there")
    )
    assert told.name == "local" and there == here
    first = file.read_bytes()
    book.measure("--export", str(file))
    assert file.read_bytes() == first
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    # Nothing but a file is replaced (test_files.py has the kinds).
    (tmp_path / "link").symlink_to(file)
    file.write_text("")
    assert book.measure("--export", str(tmp_path / "link")).returncode == 0
    assert (tmp_path / "link").is_symlink() and file.read_bytes() == first
    os.mkfifo(tmp_path / "pipe")
    done = book.measure("--export", str(tmp_path / "pipe"))
    assert done.returncode == 2 and (tmp_path / "pipe").is_fifo()
    assert one_line(done).endswith("pipe can't be written (it is a pipe: name a file)")


def test_export_refuses_what_it_cannot_do(book: Book, tmp_path: Path) -> None:
    (book.data / "nvidia-t4").mkdir()
    for arguments, status, said in (
        (["--fresh"], 2, "--fresh has no part in it"),
        (["--chapters", ONE], 2, "--chapters has no part in it"),
        (["--record", "embedded"], 2, "that set has no times"),
        (["--record", "../x"], 2, "a set's name is a-z, 0-9 and hyphens"),
        (["--record", "nvidia-x"], 2, "figures/data/nvidia-x/ is not there: there is no such set"),
        (["--record", "nvidia-t4"], 1, "nvidia-t4 holds no recorded chapter"),
    ):
        done = book.measure("--export", str(tmp_path / "x"), *arguments)
        assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert not (tmp_path / "x").exists()
