"""tools/emulate --check host: each mistake of host code is named with its line, its cure is clean.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[2] / "emulate"
SOURCE = Path(__file__).resolve().parent / "host" / "mistakes.cu"
DID_NOTHING = "a launch did nothing, and the program didn't ask"

#: What is found, the check that finds it, and words of its details. The line is the source's that
#: has the form's mark; where none has, the finding is a kernel's, or of all of the program.
FORMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "too_many_threads": ("host", DID_NOTHING, ("2048 threads per block", "1024 are the most")),
    "too_much_shared": ("host", DID_NOTHING, ("65536 bytes of dynamic", "may have 49152")),
    "no_blocks": ("host", DID_NOTHING, ("a grid of (0, 1, 1) blocks",)),
    "no_shared": ("memory", "an illegal address", ("gave 0 bytes of dynamic shared memory",)),
    "wrong_way": (
        *("host", "cudaMemcpy failed and did nothing, and the program didn't ask"),
        ("its destination", "is host memory"),
    ),
    "copied_past": (
        *("host", "cudaMemcpy failed and did nothing, and the program didn't ask"),
        ("has 64 bytes", "256 are asked for", "are those 64 the number of elements?"),
    ),
    "set_past": (
        *("host", "cudaMemset failed and did nothing, and the program didn't ask"),
        ("has 4 bytes", "256 are asked for"),
    ),
    "host_reads": ("host", "the host reads device memory", ("4 bytes (cudaMalloc)", "allocated")),
    "host_writes": ("host", "the host writes device memory", ("4 bytes (cudaMalloc)",)),
    "host_pointer": ("memory", "an illegal address", ("an address of the host's",)),
    "host_symbol": ("memory", "an illegal address", ("the host's own address of total",)),
    "read_too_soon": (
        *("host", "the host reads memory that the device is still at"),
        ("cudaMemcpyAsync in stream 1 writes it",),
    ),
    "written_too_soon": (
        *("host", "the host writes memory that the device is still at"),
        ("cudaMemcpyAsync in the default stream reads it",),
    ),
    "managed_too_soon": (
        *("host", "the host reads memory that the device is still at"),
        ("a kernel in the default stream writes it",),
    ),
    "never_launched": (
        *("host", "data from the host that no kernel was given"),
        ("is as cudaMemset left it",),
    ),
    "not_recorded": (
        *("host", "cudaEventElapsedTime failed and did nothing, and the program didn't ask"),
        ("cudaErrorInvalidResourceHandle",),
    ),
    "ends_too_soon": (
        *("host", "the program ends while a kernel may still be at work"),
        ("in the default stream, for which the host has not waited",),
    ),
    "freed_twice": ("memory", "an illegal cudaFree", ("freed twice",)),
    "never_freed": ("memory", "memory is never freed", ("12 bytes (cudaMalloc)", "allocated")),
}
RIGHT = ("asked_for_less", "tried_and_asked", "set_and_read")


@pytest.fixture(scope="module", params=["lines", "no lines"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("host") / "mistakes"
    told = ["-g", "-lineinfo"] if request.param == "lines" else []
    options = ["-std=c++17", "-arch=compute_90", "-cudart", "shared"]
    subprocess.run([nvcc(), *told, *options, "-o", path, SOURCE], check=True, timeout=LIMIT)
    return path


def checked(
    program: Path, *arguments: str, checks: str = "all"
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    file = program.parent / "findings"
    file.write_text("")
    done = subprocess.run(
        [EMULATE, "--check", checks, "--findings", file, program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    return done, [json.loads(line) for line in file.read_text().splitlines()]


def line_of(form: str) -> str:
    marked = [f" // @{form}" in line for line in SOURCE.read_text().splitlines()]
    return f"{SOURCE.name}:{marked.index(True) + 1}" if any(marked) else ""


@pytest.mark.parametrize("form", FORMS)
def test_a_mistake_is_named_with_its_line(program: Path, form: str) -> None:
    check, what, words = FORMS[form]
    done, findings = checked(program, form)
    # What a program that ends by a signal has found isn't in the file.
    told = re.findall(r"^embedded device: (\w+): (.*)\n((?:    .*\n)*)", done.stderr, re.M)
    (text,) = [details for by, found, details in told if (by, found) == (check, what)]
    assert done.returncode == 4
    for word in words:
        assert word in text
    if line_of(form):
        assert (line_of(form) if ".cu:" in done.stderr else form) in text
    assert len([by for by, *_ in told if by == "host"]) == (check == "host")
    assert all(one.get("fault", True) for one in findings)


@pytest.mark.parametrize("form", [*FORMS, "asked_and_ended", *RIGHT])
def test_its_cure_is_clean(program: Path, form: str) -> None:
    frees = form != "ends_too_soon"
    done, findings = checked(program, form, "fixed", checks="all" if frees else "host,race,init")
    assert (done.returncode, done.stdout, findings) == (0, "right\n", []), done.stderr


@pytest.mark.parametrize("form", RIGHT)
def test_who_asks_is_not_accused(program: Path, form: str) -> None:
    done, findings = checked(program, form)
    assert (done.returncode, done.stdout, findings) == (0, "right\n", []), done.stderr


def test_who_asks_and_ends_is_told_why(program: Path) -> None:
    done, findings = checked(program, "asked_and_ended", checks="host")
    assert done.returncode == 3 and len(findings) == 1
    assert findings[0]["what"] == "cudaMemcpy failed and did nothing"
    assert findings[0]["fault"] is False
    assert "has 256 bytes (cudaMalloc), and 512 are asked for" in "\n".join(findings[0]["details"])


def test_without_the_check_nothing_is_said(program: Path) -> None:
    done, findings = checked(program, "too_many_threads", checks="race,sync")
    assert (done.returncode, findings) == (0, [])
