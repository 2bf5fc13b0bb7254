"""``shares.cu``: its rings add up right at every place. And where the book's stages begin."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from common.records.other_libraries import rings_of
from figures.chapters.chapter13_small_and_large.plots import NAME
from tools.tests.built import BUILD, ROOT, nvcc, on_embedded, tool

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

#: 15 pieces for each of the embedded device's 132 SMs, and some over: all rings come round.
N = 132 * 15 * 4096 + 7
SOURCE = Path(__file__).with_name("shares.cu")


def compiled(source: Path, made: Path, *targets: str) -> Path:
    options = ["-std=c++20", "-O3", "-cudart", "shared", "-I", ROOT / "common/include"]
    options += ["-I", SOURCE.parent]  # of a copy elsewhere
    subprocess.run([nvcc(), *options, *targets, "-o", made, source], check=True)
    return made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shares") / "shares"
    return compiled(SOURCE, made, "-gencode", "arch=compute_90,code=[sm_90,compute_90]")


def test_every_ring_adds_up_what_is_there(program: Path) -> None:
    done = on_embedded(program, str(N), "1")
    assert done.returncode == 0, done.stderr
    line = r"^ ?(\d+) stages, +(\d+) bytes past, (turns|tickets) *:"
    named = re.findall(line, done.stdout, re.M)
    recorded = [
        (str(one.stages), str(one.past), one.order) for one in rings_of(ROOT, NAME, "nvidia-h200")
    ]
    assert named == recorded and len(named) == 13 * 2 + 4 * 7


def test_a_piece_that_is_read_twice_is_noticed(tmp_path: Path) -> None:
    text, was = SOURCE.read_text(encoding="utf-8"), "pieces.kVectors, piece, full"
    assert text.count(was) == 1
    spoiled = tmp_path / "shares.cu"
    spoiled.write_text(text.replace(was, "pieces.kVectors, piece / 2, full"), encoding="utf-8")
    done = on_embedded(compiled(spoiled, tmp_path / "shares", "-arch=compute_90"), str(N), "1")
    assert done.returncode == 1 and "stages: a wrong sum" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("",), ("x",), ("1e9",), ("-1",), ("9", "x"), ("9", "0"), ("9" * 30,)]
)
def test_what_is_no_number_is_refused(program: Path, arguments: tuple[str, ...]) -> None:
    done = on_embedded(program, *arguments)
    assert done.returncode == 2 and "usage: shares [N [SAMPLES]]" in done.stderr


@pytest.mark.parametrize("n", [0, 1, 31, 33, 4095, 4097])
def test_few_elements_are_enough(program: Path, n: int) -> None:
    assert on_embedded(program, str(n), "1").returncode == 0


@pytest.mark.parametrize("name", [NAME, "shares"])
def test_stages_are_declared_at_a_multiple_of_128(program: Path, name: str) -> None:
    asked = program if name == "shares" else BUILD / "chapters" / name / name
    said = subprocess.run(
        [tool("cuobjdump"), "-ptx", "-arch", "sm_90", asked],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.findall(r"\.extern \.shared \.align (\d+) \.b8 \w*(stages|lines)\w*\[\]", said)
    assert found and {int(align) for align, _ in found} == {128}


def test_a_line_that_is_no_ring_is_named(tmp_path: Path) -> None:
    place = tmp_path / "chapters" / NAME / "transcripts" / "card"
    place.mkdir(parents=True)
    for wrong in ("fast", "2.4.6 us, blocks end after 97 to 100 %, with 1 to 2 pieces"):
        (place / "shares.txt").write_text(
            f"# a card\n 8 stages,   0 bytes past, turns  : {wrong}\n"
        )
        with pytest.raises(
            ValueError, match="line 2 gives no ring: '8 stages, 0 bytes past, turns : "
        ):
            rings_of(tmp_path, NAME, "card")
