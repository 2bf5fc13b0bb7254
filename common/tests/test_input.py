"""The elements in Python and in the page's JavaScript are those of include/book/input.hpp."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import playwright
import pytest

from common.input import input_bits, input_value
from tools.tests.built import ROOT, nvcc

np = pytest.importorskip("numpy")

#: Playwright brings it along.
NODE = Path(playwright.__file__).parent / "driver/node"
PLANS = ROOT / "docs/_static/device/plans.js"

SEEDS = (0, 1, 2018, 2**31, 2**32 - 1, 2**32 + 5, 2**63 + 17, 2**64 - 1)
#: About each power of two that a 32-bit half, a product or the page's 2^53 could go wrong at.
POSITIONS = sorted(
    {*range(2000), *(2**power + off for power in range(11, 52) for off in (-2, -1, 0, 1, 2))}
)

PRINTS = """
#include <cstdio>
#include "book/input.hpp"
int main() {
  unsigned long long seed, position;
  while (std::scanf("%llu %llu", &seed, &position) == 2) {
    std::printf("%016llx %d\\n", static_cast<unsigned long long>(book::input_bits(seed, position)),
                book::input_value(seed, position));
  }
}
"""
SCRIPT = """
const { bitsOf, inputOf } = globalThis.LadderPlans;
const hex = (word) => word.toString(16).padStart(8, "0");
const [seeds, positions] = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const seed of seeds) {
  const bits = bitsOf(BigInt(seed)), value = inputOf(BigInt(seed));
  console.log(positions.map((at) => {
    const { high, low } = bits(at);
    return `${hex(high)}${hex(low)} ${value(at)}`;
  }).join("\\n"));
}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The bits and the value of each, as the header makes them."""
    folder = tmp_path_factory.mktemp("input")
    (folder / "prints.cpp").write_text(PRINTS, encoding="utf-8")
    includes = [ROOT / "common/include", nvcc().resolve().parents[1] / "include"]
    compiled = ["g++", "-std=c++20", *(f"-I{each}" for each in includes), "prints.cpp", "-o", "it"]
    subprocess.run(compiled, check=True, cwd=folder)
    asked = "\n".join(f"{seed} {position}" for seed in SEEDS for position in POSITIONS)
    return printed([folder / "it"], asked)


def printed(command: list[str | Path], asked: str) -> list[str]:
    done = subprocess.run(command, input=asked, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_python(told: list[str]) -> None:
    made = [
        f"{input_bits(seed, position):016x} {input_value(seed, position)}"
        for seed in SEEDS
        for position in POSITIONS
    ]
    assert made == told


def test_arrays_in_python(told: list[str]) -> None:
    positions = np.array(POSITIONS, np.uint64)
    made = [
        f"{int(bits):016x}" for seed in SEEDS for bits in input_bits(seed, positions, np.uint64)
    ]
    assert made == [line.split()[0] for line in told]


def test_the_pages_script(told: list[str], tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(PLANS.read_text(encoding="utf-8") + SCRIPT, encoding="utf-8")
    asked = json.dumps([[str(seed) for seed in SEEDS], POSITIONS])
    assert printed([NODE, script], asked) == told
