"""Every chapter's program as a reader meets it: help, lists, one clear line for what can't be."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("chapters/chapter*/main.cu"))
LEGACY = {
    "chapter01_gmem": "gmem_classic",
    "chapter03_divergence": "in_step_classic",
    "chapter05_unroll4": "unroll4_classic",
}


def run(chapter: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    build = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools"))
    program = build / "chapters" / chapter / chapter
    assert program.exists(), f"{program} is not built: tools/test builds it"
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60, check=False
    )


def assert_one_line(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    assert done.returncode == status, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line
    assert done.stdout == ""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_help(chapter: str) -> None:
    done = run(chapter, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert chapter in done.stdout and "--variant" in done.stdout and "Exit status" in done.stdout


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_lists_of_variants_agree(chapter: str, tmp_path: Path) -> None:
    done = run(chapter, "--list", "--json", "list.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    variants = json.loads((tmp_path / "list.json").read_text())["variants"]
    assert len(variants) == len(done.stdout.splitlines()) > 1
    for variant, line in zip(variants, done.stdout.splitlines(), strict=True):
        assert f" {variant['name']} " in line and variant["blocks"]["text"] in line
        assert variant["legacy"] == line.rstrip().endswith("legacy")


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frobnicate"], ["--frobnicate"]),
        (["--n", "-5"], ["--n", "-5"]),
        (["--n", "many"], ["--n", "many", "2^24"]),
        (["--n", "2^99"], ["--n", "2^99"]),
        (["--block", "0"], ["--block", "0", "1024"]),
        (["--block", "1025"], ["--block", "1025", "1024"]),
        (["--variant", "no_such_kernel"], ["--variant", "no_such_kernel", "--list"]),
        (["--device", "gpu:x"], ["--device", "gpu:x"]),
        (["--sweep", "everything"], ["--sweep", "everything", "allowed: n"]),
        (["--once", "--samples", "3"], ["--once", "--samples"]),
        (["--json", "no/such/folder/x.json"], ["--json", "no/such/folder"]),
        (["--json", "."], ["--json"]),
    ],
    ids=lambda value: " ".join(value) if "--" in value[0] else "",
)
def test_what_cannot_be_is_refused_in_one_line(
    chapter: str, arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    assert_one_line(run(chapter, *arguments, cwd=tmp_path), 2, chapter, *words)
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize(("chapter", "variant"), LEGACY.items())
def test_a_block_that_a_named_variant_does_not_take(chapter: str, variant: str) -> None:
    done = run(chapter, "--variant", variant, "--block", "100")
    assert_one_line(done, 2, "--block 100", variant, "powers of two")


@pytest.mark.parametrize(("chapter", "variant"), LEGACY.items())
def test_a_legacy_form_runs_alone(chapter: str, variant: str) -> None:
    other = json.loads(_list(chapter))["variants"][0]["name"]
    assert_one_line(run(chapter, "--variant", other, variant), 2, variant, "alone")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--list"],
        ["--list", "--json", "-"],
        ["--device", "embedded", "--n", "1000"],
        ["--device", "embedded", "--n", "0"],
    ],
    ids=" ".join,
)
def test_output_that_nothing_takes_is_no_success(arguments: list[str]) -> None:
    build = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools"))
    program = build / "chapters/chapter05_unroll4/chapter05_unroll4"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2, done.stderr
    assert "cannot write to standard output: No space left on device" in done.stderr


def test_a_record_on_standard_output_is_there_alone(tmp_path: Path) -> None:
    chapter = "chapter02_smem"
    done = run(chapter, "--device", "embedded", "--n", "1000", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["chapter"] == chapter
    assert "variant" in done.stderr and "next: " in done.stderr
    done = run(chapter, "--list", "--json", "-", cwd=tmp_path)
    assert len(json.loads(done.stdout)["variants"]) == len(done.stderr.splitlines())
    assert list(tmp_path.iterdir()) == [], "no file is called -"


def test_a_link_to_nothing_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("none.json")
    done = run("chapter02_smem", "--list", "--json", "link.json", cwd=tmp_path)
    assert_one_line(done, 2, "--json", "link.json", "symbolic link")
    assert (tmp_path / "link.json").is_symlink() and not (tmp_path / "none.json").exists()


def test_what_was_typed_is_shown_without_its_tricks() -> None:
    done = run("chapter02_smem", "--variant", "a\u202eb\u2066c\u009bd\x1be")
    assert_one_line(done, 2, '"a?b?c?d?e"')


def _list(chapter: str) -> str:
    path = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools")) / f"{chapter}-list.json"
    try:
        assert run(chapter, "--list", "--json", str(path)).returncode == 0
        return path.read_text()
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_classic_positional_form(chapter: str) -> None:
    assert_one_line(run(chapter, "2^20", "no_such_method", "128"), 2, "no_such_method")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_gpu_that_is_asked_for_and_is_not_there(chapter: str) -> None:
    done = run(chapter, "--device", "gpu:63", "--n", "1024", "--once")
    assert done.returncode in (2, 77), done.stderr  # 77 where there is none at all
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("n", ["1", "33", "65537"])
def test_the_embedded_device_checks_and_counts(chapter: str, n: str) -> None:
    done = run(chapter, "--device", "embedded", "--n", n)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedded device" in done.stdout and "sectors" in done.stdout
    assert "µs" not in done.stdout and "GB/s" not in done.stdout, "no time is a GPU's"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_embedded_device_has_no_sweeps(chapter: str) -> None:
    done = run(chapter, "--device", "embedded", "--sweep", "n")
    assert_one_line(done, 2, "--sweep", "embedded device")


def test_the_embedded_device_finds_what_a_gpu_hides() -> None:
    """One element past the end: a GPU reads whatever lies there, and goes on."""
    arguments = ["--device", "embedded", "--variant", "unroll4_classic", "--n", "1000"]
    done = run("chapter05_unroll4", *arguments)
    assert done.returncode == 3
    assert "thread (232, 0, 0)" in done.stderr and "legacy.cuh:" in done.stderr
    assert "0 bytes past its end" in done.stderr


def on_embedded(chapter: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A chapter's program on an embedded device with these settings."""
    build = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools"))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(build / "emulator/lib"), **settings}
    program = build / "chapters" / chapter / chapter
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, env=environment, check=False
    )


def test_what_a_smaller_device_has_no_shared_memory_for() -> None:
    """Left out of a default run, with a note; refused where it is asked for by name."""
    done = on_embedded("chapter06_dynamic_smem", "--n", "5000", EMU_DEVICE_PROFILE="t4")
    assert done.returncode == 0, done.stdout + done.stderr
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: left out: ")]
    assert [line.split()[3] for line in notes] == ["ask96k", "ask227k"]
    assert all("64 KiB" in line for line in notes)
    assert "launched with 65536, the most asked for: cudaSuccess" in done.stdout
    named = ["--variant", "ask96k", "--n", "5000"]
    done = on_embedded("chapter06_dynamic_smem", *named, EMU_DEVICE_PROFILE="t4")
    assert done.returncode == 2 and "ask96k needs 96 KiB" in done.stderr


def test_the_methods_run_with_the_classic_block() -> None:
    """Chapter 7's default is the classic nine sizes' 128 threads; the others' is 256."""
    for chapter, block in (("chapter07_effective_bandwidth", 128), ("chapter02_smem", 256)):
        assert f"(default: {block})" in run(chapter, "--help").stdout
        done = on_embedded(chapter, "--n", "5000")
        assert f"n = 5000, block {block}, seed" in done.stdout
        rows = [line.split() for line in done.stdout.splitlines() if " 5000 " in line]
        blocks = {row[0]: row[row.index("5000") + 1] for row in rows}
        assert {blocks.pop(roof, "256") for roof in ("read", "copy", "triad")} == {"256"}
        assert blocks.pop("sum_cub", "–") == "–", "CUB chooses its own"
        assert set(blocks.values()) == {str(block)}


def test_one_problem_at_a_time_has_the_memory() -> None:
    """Two inputs of 72 MB in 140 MB: the sums' is freed before the moments' is filled."""
    variants = ["--n", "18000000", "--variant", "dynamic_unroll4", "moments", "unroll4"]
    done = on_embedded("chapter06_dynamic_smem", *variants, EMU_MEMORY="140000000")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("chapter", "variant", "words"),
    [
        (
            "chapter06_dynamic_smem",
            "too_few_bytes",
            ("thread (64, 0, 0)", "kernels.cuh:", "cudaErrorIllegalAddress"),
        ),
        (
            "chapter06_dynamic_smem",
            "ints_first",
            ("no multiple of 8", "legacy.cuh:", "cudaErrorMisalignedAddress"),
        ),
        (
            "chapter10_coalescing",
            "offset_words",
            ("no multiple of 16", "legacy.cuh:", "cudaErrorMisalignedAddress"),
        ),
        (
            "chapter10_coalescing",
            "rounded_up",
            ("outside every allocation", "legacy.cuh:", "cudaErrorIllegalAddress"),
        ),
    ],
)
def test_a_fault_that_the_device_stops(chapter: str, variant: str, words: tuple[str, ...]) -> None:
    done = on_embedded(chapter, "--variant", variant, "--n", "1001")
    assert done.returncode == 3
    for word in words:
        assert word in done.stderr


def test_a_count_of_32_bits_has_its_limit() -> None:
    """All bytes may be the same: where that would not fit, nothing is launched."""
    named = ["--variant", "lanes_uniform", "--n", "2^32"]
    done = on_embedded("chapter09_histogram", *named, EMU_MEMORY=str(9 * 10**9))
    assert done.returncode == 2 and "2^32 - 1" in done.stderr


def test_a_histogram_for_256_threads_is_wrong_with_others() -> None:
    """Quietly with fewer; with more, the device that checks stops it."""
    arguments = ("--variant", "classic_256", "--n", "65536", "--block")
    assert on_embedded("chapter09_histogram", *arguments, "256").returncode == 0
    done = on_embedded("chapter09_histogram", *arguments, "64")
    assert done.returncode == 1 and "192 of 256 counts differ" in done.stderr
    done = on_embedded("chapter09_histogram", *arguments, "1024")
    assert done.returncode == 3 and "shared memory" in done.stderr


def test_what_a_gpu_did_with_the_classic_template() -> None:
    """Chapter 7's page tells these: stopped, right by luck, or wrong by what lies behind."""
    text = (
        ROOT / "chapters/chapter07_effective_bandwidth/transcripts/nvidia-h200/many_classic.txt"
    ).read_text(encoding="utf-8")
    seen = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    for n in (33, 1000, 10007, 65536, 1048573, 16777216):
        assert "cudaErrorIllegalAddress" in seen[f"64 {n}"]
    for block in (128, 256):
        assert seen[f"{block} 16777216"] == "sum 2138876212 as expected"
        assert "WRONG RESULT: reduce7_classic, n = 10 007" in seen[f"{block} 10007"]
