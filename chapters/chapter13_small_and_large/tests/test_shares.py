"""``shares.cu``: its rings add up right, and their stages begin where the plot says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from figures.chapters.chapter13_small_and_large.plots import NAME, begin_of
from figures.records.libraries import rings_of
from tools.tests.built import BUILD, nvcc, tool
from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[3]
#: What the system keeps of a block's shared memory, from compute capability 9.0 on: 8 lines of 128.
RESERVED = 1024
N = 600_007


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shares") / "shares"
    targets = ["-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-cudart", "shared"]
    source = Path(__file__).with_name("shares.cu")
    options = ["-std=c++20", "-O3", "-I", ROOT / "common/include"]
    subprocess.run([nvcc(), *options, *targets, "-o", made, source], check=True)
    return made


def test_every_ring_adds_up_what_is_there(program: Path) -> None:
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "emulator/lib")}
    done = subprocess.run(
        [program, str(N), "1"], capture_output=True, text=True, timeout=LIMIT, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    named = re.findall(r"^ ?(\d+) stages, (turns|tickets) *:", done.stdout, re.M)
    recorded = [(str(one.stages), one.order) for one in rings_of(ROOT, NAME, "nvidia-h200")]
    assert named == recorded and len(named) == 26


def test_stages_begin_where_the_compiler_has_put_them(program: Path) -> None:
    said = subprocess.run(
        [tool("cuobjdump"), "-res-usage", program], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"4ringILj(\d+)ELb\d.*?SHARED:(\d+)", said, re.S)
    assert len(found) == 26
    assert {(int(stages), int(size) - RESERVED) for stages, size in found} == {
        (stages, begin_of(stages)) for stages in range(1, 14)
    }


def test_a_line_that_is_no_ring_is_named(tmp_path: Path) -> None:
    place = tmp_path / "chapters" / NAME / "transcripts" / "card"
    place.mkdir(parents=True)
    (place / "shares.txt").write_text("# a card\n 8 stages, turns  : fast\n")
    with pytest.raises(ValueError, match="line 2 gives no ring: '8 stages, turns : fast'"):
        rings_of(tmp_path, NAME, "card")
