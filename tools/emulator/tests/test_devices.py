"""Several devices (EMU_DEVICES): what each has of its own, and what orders the work of two.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.tests.built import BUILD, nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

SOURCE = Path(__file__).with_name("devices.cu")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("devices") / "devices"
    options = ["-std=c++17", "-arch=compute_90", "-cudart=shared", "-lineinfo"]
    subprocess.run([nvcc(), *options, "-o", path, SOURCE], check=True)
    return path


def run(program: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    settings = {"LD_LIBRARY_PATH": str(BUILD / "emulator/lib"), "EMU_DEVICES": "3", **settings}
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        timeout=60,
        check=False,
    )


def test_each_device_has_its_own(program: Path) -> None:
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stdout + done.stderr


def test_memory_of_another_device_is_reached_with_access_alone(program: Path) -> None:
    done = run(program, "no-access")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stdout + done.stderr
    assert "memory of device 0, to which no access is enabled" in done.stderr


@pytest.mark.parametrize(
    ("faulty", "right", "what"),
    [
        ("flag-near", "flag", "read after another stream's write in global memory"),
        ("count-near", "count", "two streams write one place of global memory"),
        ("waits-not", "waits", "two streams write one place of global memory"),
    ],
)
def test_races_between_devices_are_found(program: Path, faulty: str, right: str, what: str) -> None:
    done = run(program, right, EMU_CHECK="race")
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    done = run(program, faulty, EMU_CHECK="race")
    assert done.returncode == 0 and what in done.stderr, done.stdout + done.stderr
    assert "device 1" in done.stderr


@pytest.mark.parametrize("count", ["0", "65", "two", "1,2"])
def test_a_number_of_devices_that_cannot_be(program: Path, count: str) -> None:
    done = run(program, EMU_DEVICES=count)
    assert done.returncode != 0
    assert f"EMU_DEVICES={count}: there can be 1 to 64 devices" in done.stderr


def test_there_is_one_unless_more_are_asked_for(program: Path) -> None:
    done = run(program, EMU_DEVICES="")
    assert done.returncode == 1 and "not count == 3" in done.stdout
