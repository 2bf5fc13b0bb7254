"""Textures, surfaces and arrays: what is refused, what the checks find, and what isn't counted.

What they give is held against an H200's answers in test_recorded.py. Needs nvcc, and no GPU.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

HERE = Path(__file__).resolve().parent
EMULATE = HERE.parents[1] / "emulate"


class Ran(NamedTuple):
    code: int
    printed: str
    said: str
    findings: list[dict[str, object]]
    counted: dict[str, str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ran]:
    folder = tmp_path_factory.mktemp("images")
    program = folder / "images"
    flags = ["-std=c++17", "-lineinfo", "-cudart", "shared", "-arch=compute_90"]
    subprocess.run([nvcc(), *flags, "-o", program, HERE / "images.cu"], check=True)

    def ran(what: str, *options: str) -> Ran:
        findings, counters = folder / "findings.json", folder / "counters.csv"
        findings.write_text("")
        command = [EMULATE, "--findings", findings, "--csv", counters, *options, program, what]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, env=os.environ, check=False
        )
        rows = list(csv.DictReader(counters.open(encoding="utf-8")))
        return Ran(
            done.returncode,
            done.stdout,
            done.stderr,
            [json.loads(line) for line in findings.read_text().splitlines()],
            rows[-1] if rows else {},
        )

    return ran


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("cubemap", "cubemaps without normalised coordinates and cudaAddressModeClamp"),
        ("layers_of_cubes", "'tex.acube.v4.f32.f32' isn't supported: this geometry"),
        ("gradient", "'tex.grad.2d.v4.f32.f32' isn't supported"),
        ("resident", "a predicate that says what is resident"),
        ("signed_bytes", "linear filtering of signed texels of 8 bits"),
        ("levels", "levels of anything but floats of 32 bits, with normalised coordinates"),
        ("srgb", "textures with sRGB"),
        ("shape", "an access of another shape than the texture object's"),
        ("query", "'txq.width.b32' isn't supported"),
        ("reduction", "'sured.b.add.1d.u32.trap' isn't supported"),
    ],
)
def test_what_is_not_known_is_refused_by_name(
    run: Callable[..., Ran], what: str, reason: str
) -> None:
    ran = run(what)
    assert ran.printed == "operation not supported\n"
    assert reason in ran.said


def test_a_view_as_something_else_is_refused(run: Callable[..., Ran]) -> None:
    ran = run("view")
    assert ran.printed == "operation not supported\n"
    assert "views of a resource as something else are not supported" in ran.said


def test_a_texture_of_memory_that_was_freed_is_told(run: Callable[..., Ran]) -> None:
    ran = run("freed")
    assert ran.printed == "an illegal memory access was encountered\n"
    assert "the memory behind the texture object was freed" in ran.said
    ran = run("destroyed")
    assert ran.printed == "an illegal memory access was encountered\n"
    assert "there is no texture object 3" in ran.said


def test_a_captured_copy_to_an_array_is_made_when_the_graph_is_launched(
    run: Callable[..., Ran],
) -> None:
    ran = run("graph")
    assert (ran.printed, ran.code) == ("0 then 7\nno error\n", 0)


def test_texels_are_not_counted(run: Callable[..., Ran]) -> None:
    ran = run("sound")
    assert (ran.printed, ran.code) == ("no error\n", 0)
    assert ran.counted[LOADS] == "0"
    assert "accesses through textures and surfaces aren't counted" in ran.said


LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"


def test_the_checks_find_nothing_where_all_is_well(run: Callable[..., Ran]) -> None:
    ran = run("sound", "--check", "all")
    assert (ran.code, ran.findings) == (0, [])


def test_a_surface_access_outside_is_found_and_the_kernel_goes_on(run: Callable[..., Ran]) -> None:
    ran = run("outside", "--check", "memory")
    assert ran.code == 4
    assert ran.printed == "no error\n"
    (finding,) = ran.findings
    assert finding["check"] == "memory"
    text = json.dumps(finding, ensure_ascii=False)
    assert "reads 4 bytes at x = 32 bytes of a surface of 8 texels of 4 bytes" in text
    assert "images.cu:" in ran.said


def test_texels_that_nothing_has_written_are_found(run: Callable[..., Ran]) -> None:
    for what in ("unwritten", "unwritten_surface"):
        ran = run(what, "--check", "init")
        assert ran.code == 4, what
        assert {f["check"] for f in ran.findings} == {"init"}


def test_threads_that_write_one_texel_race(run: Callable[..., Ran]) -> None:
    ran = run("race", "--check", "race")
    assert ran.code == 4
    assert {f["check"] for f in ran.findings} == {"race"}
