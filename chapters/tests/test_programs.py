"""Every chapter's program as a reader meets it: help, lists, one clear line for what can't be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from chapters.expected import CHAPTERS
from chapters.tests.programs import program, run, variants

pytestmark = pytest.mark.built("programs", "embedded_device")


def classic() -> list[tuple[str, str]]:
    """Of each chapter that has one, a classic form that takes powers of two alone."""
    found = []
    for chapter in CHAPTERS:
        for variant in variants(chapter).values():
            if variant.legacy and variant.powers_of_two:
                found.append((chapter, variant.name))
                break
    assert len(found) > 2
    return found


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
    told = json.loads((tmp_path / "list.json").read_text())["variants"]
    assert len(told) == len(done.stdout.splitlines()) > 1
    for variant, line in zip(told, done.stdout.splitlines(), strict=True):
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
        (["--recheck", "no/such/record.json"], ["--recheck", "no/such/record.json"]),
        (["--recheck", "."], ["--recheck"]),
        (["--recheck", "/dev/zero"], ["--recheck", "cannot be read"]),
    ],
    ids=lambda value: " ".join(value) if "--" in value[0] else "",
)
def test_what_cannot_be_is_refused_in_one_line(
    chapter: str, arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    assert_one_line(run(chapter, *arguments, cwd=tmp_path), 2, chapter, *words)
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize(("chapter", "variant"), classic())
def test_a_block_that_a_named_variant_does_not_take(chapter: str, variant: str) -> None:
    done = run(chapter, "--variant", variant, "--block", "100")
    assert_one_line(done, 2, "--block 100", variant, "powers of two")


@pytest.mark.parametrize(("chapter", "variant"), classic())
def test_a_legacy_form_runs_alone(chapter: str, variant: str) -> None:
    other = next(iter(variants(chapter)))
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
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program("chapter05_unroll4"), *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
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


def test_a_link_stays_one_and_what_it_leads_to_is_made(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("none.json")
    done = run("chapter02_smem", "--list", "--json", "link.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "none.json").is_file()


def test_what_was_typed_is_shown_without_its_tricks() -> None:
    done = run("chapter02_smem", "--variant", "a\u202eb\u2066c\u009bd\x1be")
    assert_one_line(done, 2, '"a?b?c?d?e"')


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
