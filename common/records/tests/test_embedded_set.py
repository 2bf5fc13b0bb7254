"""The embedded device's set: sound, explained, and what recording it again gives, byte for byte."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns, comparison
from common.records.comparison import Reason
from common.records.counters import NCU
from common.records.naming import EMBEDDED, REFERENCE
from common.records.reading import DataError
from common.records.recordings import Recordings, is_stale
from common.records.sets import NoSuchRun, load_embedded_set
from common.records.transcripts import transcripts
from tools.measuring import embedded as recording
from tools.measuring import launches
from tools.tests.built import BUILD

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

COMMITTED = Path("figures/data") / EMBEDDED


@pytest.fixture(scope="module")
def again(repository: Path) -> dict[str, str]:
    toolkit = recording.Device(BUILD).toolkit
    data = columns.read(repository / COMMITTED / "counters.json")
    if toolkit != data["toolkit"]:
        pytest.skip(f"recorded with CUDA {data['toolkit']}, here is {toolkit}: other PTX")
    return recording.record(BUILD, rebuild=False)


AGAIN = "the set is not what the source gives: tools/measure --record embedded"


ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    [
        *(str(path.relative_to(ROOT)) for path in (ROOT / COMMITTED).glob("*.*")),
        *(str(each.path) for each in transcripts(ROOT).values()),
    ]
)


def test_recording_again_gives_the_same_files(again: dict[str, str]) -> None:
    assert sorted(again) == FILES, AGAIN


@pytest.mark.parametrize("name", FILES)
def test_recording_again_gives_the_same_bytes(again: dict[str, str], name: str) -> None:
    text = (ROOT / name).read_bytes().decode("utf-8")
    # Line by line, so that a failure names the run.
    assert text.splitlines() == again[name].splitlines(), AGAIN
    assert text == again[name], AGAIN


#: Recorded with the set, and held to the programs by docs/tests/test_device_plans.py.
LAUNCHES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / launches.FOLDER).iterdir())


def test_every_chapter_says_what_it_launches() -> None:
    assert [f"{launches.FOLDER}/{name}.json" for name in launches.chapters()] == LAUNCHES


def test_nothing_of_one_machine_is_in_it(repository: Path) -> None:
    for name in [*FILES, *LAUNCHES]:
        text = (repository / name).read_text(encoding="utf-8")
        for word in (
            str(repository),
            str(Path.home()) + "/",
            "/tmp/",
            platform.node(),
            " ms",
            "µs",
        ):
            assert word not in text, f"{name} has {word!r}"


def test_every_probe_counts_what_hardware_counted(repository: Path) -> None:
    tallies = comparison.probes(Recordings(repository))
    assert sum(tally.launches for tally in tallies) > 600
    assert all(tally.launches > 0 for tally in tallies)
    assert all(tally.counters == 8 * tally.launches for tally in tallies)
    assert sum(tally.differing for tally in tallies) == 0


def test_every_difference_in_a_chapter_has_its_reason(repository: Path) -> None:
    recordings = Recordings(repository)
    tallies = comparison.chapters(recordings)
    assert sum(tally.launches for tally in tallies) >= 100
    for tally in tallies:
        assert Reason.UNKNOWN not in tally.reasons, f"{tally.name}: {tally.reasons}"
        # A variant of several launches is compared by their sums: eight counters a run.
        assert tally.counters % 8 == 0 and 8 <= tally.counters <= 8 * tally.launches
    counted = recordings.reference.counters
    assert counted
    other = {run["variant"] for run in counted["runs"]
             if comparison.of_another_grid(recordings, run)}  # fmt: skip
    assert other == {"loads"}  # launches as many blocks as its registers allow
    # Arbitration is what the reason says it is, and is there: an empty comparison shows nothing.
    assert any(Reason.ARBITRATION in tally.reasons for tally in tallies)


# ------------------------------------------------------------------------------ planted faults

Spoil = Callable[[dict[str, Any]], None]


@pytest.fixture
def spoilt(repository: Path, tmp_path: Path) -> Callable[[str, Spoil], Path]:
    """A root whose embedded set has been changed; sources and the reference are the book's."""

    def make(file: str, spoil: Spoil) -> Path:
        data = tmp_path / "figures/data"
        shutil.copytree(repository / COMMITTED, data / EMBEDDED)
        (data / REFERENCE).symlink_to(repository / "figures/data" / REFERENCE)
        (tmp_path / "chapters").symlink_to(repository / "chapters")
        path = data / EMBEDDED / file
        content = columns.read(path)
        spoil(content)
        columns.write(path, content)
        return tmp_path

    return make


def _metrics(data: dict[str, Any]) -> dict[str, int]:
    run = next(run for run in data["runs"] if run["chapter"] == "chapter01_gmem")
    metrics: dict[str, int] = run["launches"][0]["metrics"]
    return metrics


def test_one_number_changed_is_a_difference_without_reason(
    spoilt: Callable[[str, Spoil], Path],
) -> None:
    def one_more(data: dict[str, Any]) -> None:
        _metrics(data)[NCU["global_store_requests"]] += 1

    tallies = comparison.chapters(Recordings(spoilt("counters.json", one_more)))
    (chapter,) = [tally for tally in tallies if tally.name == "chapter01_gmem"]
    assert chapter.reasons == {Reason.UNKNOWN: 1}


def test_only_what_is_too_large_for_a_cpu_is_left_out(
    repository: Path, spoilt: Callable[[str, Spoil], Path]
) -> None:
    def without_smallest(data: dict[str, Any]) -> None:
        n = min(r["n"] for r in data["runs"] if r["chapter"] == "chapter01_gmem")
        data["runs"] = [r for r in data["runs"] if (r["chapter"], r["n"]) != ("chapter01_gmem", n)]

    def launches(root: Path) -> int:
        tallies = comparison.chapters(Recordings(root))
        (chapter,) = [tally for tally in tallies if tally.name == "chapter01_gmem"]
        return chapter.launches

    assert launches(repository) > 0
    with pytest.raises(NoSuchRun):
        launches(spoilt("counters.json", without_smallest))


def test_one_probe_changed_is_a_difference(spoilt: Callable[[str, Spoil], Path]) -> None:
    def one_more(data: dict[str, Any]) -> None:
        data["runs"][0]["embedded"][0] += 1

    tallies = comparison.probes(Recordings(spoilt("probes.json", one_more)))
    assert [tally.differing for tally in tallies][:2] == [1, 0]


def _with_a_date(data: dict[str, Any]) -> None:
    data["date"] = "2026-11-21T03:04:05Z"


def _without_hashes(data: dict[str, Any]) -> None:
    for run in data["runs"]:
        del run["kernel_hash"]


def _twice(data: dict[str, Any]) -> None:
    data["runs"].append(data["runs"][0])


def _negative(data: dict[str, Any]) -> None:
    _metrics(data)[NCU["global_load_requests"]] = -1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_with_a_date, "date"),
        (_without_hashes, "kernel_hash"),
        (_twice, "recorded twice"),
        (_negative, "-1: "),
    ],
)
def test_a_spoilt_set_is_refused(
    spoilt: Callable[[str, Spoil], Path], spoil: Spoil, words: str
) -> None:
    root = spoilt("counters.json", spoil)
    with pytest.raises(DataError, match=r"embedded/counters\.json") as caught:
        load_embedded_set(root / COMMITTED)
    assert words in str(caught.value)


# ---------------------------------------------------------------------------- the reader's own


def test_what_the_readers_build_counted_goes_first(
    repository: Path, spoilt: Callable[[str, Spoil], Path], tmp_path: Path
) -> None:
    def one_more(data: dict[str, Any]) -> None:
        data["runs"] = [run for run in data["runs"] if run["chapter"] == "chapter01_gmem"]
        _metrics(data)[NCU["global_store_requests"]] += 1

    own = tmp_path / "runs"
    own.mkdir()
    root = spoilt("counters.json", one_more)
    (root / COMMITTED / "counters.json").rename(own / "chapter01_gmem.json")
    recordings = Recordings(repository, own)
    for chapter, is_own in (("chapter01_gmem", True), ("chapter02_smem", False)):
        hardware = recordings.counters(chapter, "gmem", only=REFERENCE)
        embedded = recordings.embedded(hardware.run)
        assert embedded.is_local == is_own
        compared = comparison.compare(hardware, embedded, "global_store_requests")
        assert compared and compared.difference == is_own


def test_hardwares_count_of_a_changed_kernel_is_of_an_earlier_form(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copytree(repository / "figures/data", tmp_path / "figures/data", symlinks=True)
    shutil.copytree(repository / "chapters", tmp_path / "chapters")
    kernels = tmp_path / "chapters/chapter01_gmem/kernels.cuh"
    before = Recordings(tmp_path)
    assert not is_stale(before.counters("chapter01_gmem", "gmem"))
    text = kernels.read_text(encoding="utf-8")
    marker = "// end gmem-loop\n"
    assert marker in text
    kernels.write_text(text.replace(marker, f"int planted;\n{marker}"), encoding="utf-8")
    after = Recordings(tmp_path)
    assert is_stale(after.counters("chapter01_gmem", "gmem"))
    assert not is_stale(after.counters("chapter01_gmem", "gmem_unrolled"))
