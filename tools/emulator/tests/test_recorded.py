"""What an H200 answered to the larger probes, the embedded device answers too.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.emulator.tests.probes import forms
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

HERE = Path(__file__).resolve().parent
EMULATE = HERE.parents[1] / "emulate"

# Of each probe, its runs: each is what to call it with.
RUNS = {
    "matrices": [()],
    "clusters": [(), *((str(mode),) for mode in (1, 2, 3, 4, 5, 6, 7, 8))],
    "textures": [()],
    "surfaces": [()],
    "arrays": [()],
}
# Lines that differ, by their beginning, and why they may.
DIFFERS: dict[str, dict[str, str]] = {
    "matrices": {},
    "clusters": {
        "grouped, 2 2 1": "two threads of the probe write one word, and either may be last",
        "addresses": "where shared memory begins, and another block's, is each device's own",
        "cudaFuncSetAttribute(plain, cudaFuncAttributeRequiredClusterWidth": "refused here",
        "plain: must be set": "as the line before",
        "clusters 6": "hardware hangs, and the embedded device says who waits",
    },
    "textures": {
        "2d linear s8": "refused: how it adds signed texels of 8 bits isn't known",
        "2d linear border s8": "as the line before",
        "1d linear s8": "as the line before",
        "all texels of 8 bits, s8": "as the line before",
    },
    "surfaces": {},
    "arrays": {
        "part 11": "hardware's process ends where an array is freed twice; here the call fails",
        "part 13": "as the line before, of a mipmapped one",
    },
}
# Lines that only the embedded device prints, where hardware's process has ended.
ALONE = {
    "arrays": (
        "cudaFreeArray(o.array) -> 400 cudaErrorInvalidResourceHandle",
        "cudaFreeMipmappedArray(o.levels) -> 400 cudaErrorInvalidResourceHandle",
    )
}


def recorded(probe: str) -> list[str]:
    gpu, *lines = (HERE / f"probes/{probe}.h200.txt").read_text(encoding="utf-8").splitlines()
    assert gpu.startswith("NVIDIA H200,")
    return lines


def differing(theirs: list[str], ours: list[str]) -> list[str]:
    return [line for line, own in zip(theirs, ours, strict=True) if line != own]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="module")
def answers(folder: Path) -> Callable[[str], list[str]]:
    def answer(probe: str) -> list[str]:
        program = forms.built(HERE / f"probes/{probe}.cu", folder)
        lines: list[str] = []
        for run in RUNS[probe]:
            ran = subprocess.run(
                [EMULATE, program, *run],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                env=os.environ,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
            lines += ran.stdout.splitlines()
        return lines

    return answer


@pytest.mark.parametrize("probe", RUNS)
def test_the_embedded_device_answers_as_the_h200(
    probe: str, answers: Callable[[str], list[str]]
) -> None:
    ours = answers(probe)
    for line in ALONE.get(probe, ()):
        ours.remove(line)
    different = differing(recorded(probe), ours)
    known = tuple(DIFFERS[probe])
    assert [line for line in different if not line.startswith(known)] == []
    for beginning in known:
        assert any(line.startswith(beginning) for line in different), f"{beginning}: the same now"


@pytest.mark.parametrize("probe", RUNS)
def test_one_wrong_digit_is_seen_in_any_line(probe: str) -> None:
    lines = recorded(probe)
    for at, line in enumerate(lines):
        wrong = line[:-1] + ("1" if line[-1] != "1" else "0")
        assert differing(lines, [*lines[:at], wrong, *lines[at + 1 :]]) == [line]
    with pytest.raises(ValueError, match="shorter"):
        differing(lines, lines[:-1])


def test_the_list_of_compared_forms_is_of_these_programs(folder: Path) -> None:
    """`python -m tools.emulator.tests.probes.forms` writes it anew."""
    now = forms.compared(folder)
    text = forms.LIST.read_text(encoding="utf-8")
    assert text == forms.listed(now)
    assert text != forms.listed(now - {"ld.global.u32"})
    assert {"ld.global.u32", "bar.sync", "shfl.sync.down.b32"} <= now
    assert not now & {"sin.approx.f32", "tanh.approx.f32"}
