"""What a program's host code asks of the device, written down; and the PTX in its file.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from tools.emulator.tests.test_emulate import emulate
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[3]
EMULATE = ROOT / "tools/emulate"

HOST = """
#include <cstdio>
#include <numeric>
#include <vector>
__global__ void add(const int* in, int* out, unsigned short by, double scale) {
  out[threadIdx.x] = static_cast<int>(scale * (in[threadIdx.x] + by));
}
__global__ void nothing() {}
int main() {
  constexpr int n = 64;
  std::vector<int> host(n), many(2000, 0x01020304);
  std::iota(host.begin(), host.end(), 0);
  int *in, *out, *spare;
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, 2 * n * 4);
  cudaMalloc(&spare, 8000);
  cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(out, 255, 2 * n * 4);
  cudaMemcpy(spare, many.data(), 8000, cudaMemcpyHostToDevice);
  std::iota(many.begin(), many.end(), 1);
  cudaMemcpy(spare, many.data(), 8000, cudaMemcpyHostToDevice);
  nothing<<<dim3(2, 3, 4), dim3(5, 6), 128>>>();
  add<<<1, n>>>(in, out + n, 7, 2.0);
  cudaMemcpy(out, out + n, n * 4, cudaMemcpyDeviceToDevice);
  cudaMemcpy(host.data(), out + n, n * 4, cudaMemcpyDeviceToHost);
  cudaFree(spare);
  std::printf("%d\\n", host[1]);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host")
    source, program = folder / "host.cu", folder / "host"
    source.write_text(HOST, encoding="utf-8")
    flags = ["-std=c++20", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    subprocess.run([nvcc(), *flags, "-o", program, source], check=True, capture_output=True)
    return program


def little(values: range, size: int = 4) -> bytes:
    return b"".join(value.to_bytes(size, "little") for value in values)


@pytest.fixture(scope="module")
def events(program: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    log = tmp_path_factory.mktemp("log") / "host log.json"
    done = emulate("--host-log", log, program)
    assert (done.stdout, done.stderr, done.returncode) == ("16\n", "", 0)
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in event.items() if key != "event"}
        for event in events
        if event["event"] == kind
    ]


def test_allocations_have_numbers_and_sizes(events: list[dict[str, Any]]) -> None:
    assert of_kind(events, "allocate") == [
        {"buffer": 0, "bytes": 256, "name": "cudaMalloc"},
        {"buffer": 1, "bytes": 512, "name": "cudaMalloc"},
        {"buffer": 2, "bytes": 8000, "name": "cudaMalloc"},
    ]
    # What the program itself frees goes first, and what is left at its end stays unsaid.
    assert of_kind(events, "free") == [{"buffer": 2}]


def test_copies_and_sets_say_what_they_bring(events: list[dict[str, Any]]) -> None:
    rising = little(range(64))
    all_of = {"offset": 0}
    assert of_kind(events, "write") == [
        {**all_of, "buffer": 0, "bytes": 256, "crc32": zlib.crc32(rising), "data": rising.hex()},
        {**all_of, "buffer": 1, "bytes": 512, "repeats": "ff"},
        {**all_of, "buffer": 2, "bytes": 8000, "repeats": "04030201"},
        # More than is written out.
        {**all_of, "buffer": 2, "bytes": 8000, "crc32": zlib.crc32(little(range(1, 2001)))},
    ]


def test_what_the_host_reads_is_there(events: list[dict[str, Any]]) -> None:
    (copy,) = of_kind(events, "copy")
    places = {"to": {"buffer": 1, "offset": 0}, "from": {"buffer": 1, "offset": 256}}
    assert copy == {**places, "bytes": 256}
    sums = little(range(14, 142, 2))
    (read,) = of_kind(events, "read")
    where = {"buffer": 1, "offset": 256, "bytes": 256}
    assert read == {**where, "crc32": zlib.crc32(sums), "data": sums.hex()}


def test_launches_have_their_arguments_resolved(events: list[dict[str, Any]]) -> None:
    nothing, add = of_kind(events, "launch")
    assert nothing == {
        "kernel": "_Z7nothingv",
        "grid": [2, 3, 4],
        "block": [5, 6, 1],
        "shared": 128,
        "cooperative": False,
        "arguments": [],
    }
    assert (add["kernel"], add["grid"], add["block"]) == ("_Z3addPKiPitd", [1] * 3, [64, 1, 1])
    assert add["arguments"] == [
        {"buffer": 0, "offset": 0},
        {"buffer": 1, "offset": 256},
        {"bytes": "0700"},
        {"bytes": "0000000000000040"},
    ]


def test_goes_together_with_checks_and_counts(program: Path, tmp_path: Path) -> None:
    log, counts = tmp_path / "log", tmp_path / "counts.csv"
    done = emulate("--host-log", log, "--csv", counts, "--check", "memory", program)
    assert done.returncode == 4  # what it never frees
    assert "never freed" in done.stderr
    assert log.read_text(encoding="utf-8").count('"event":"launch"') == 2
    assert counts.read_text(encoding="utf-8").count("\n") > 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host-log",), "--host-log needs a value"),
        (("--host-log", "/nowhere/log", "true"), "can't be written"),
        (("--host-log", "x", "--csv", "x", "true"), "name the same file"),
    ],
)
def test_bad_files_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = emulate(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


# ------------------------------------------------------------------------------------------- PTX


@pytest.mark.nvcc
def test_prints_the_ptx_that_the_device_takes(program: Path) -> None:
    done = emulate("--print-ptx", program)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.count("\n.version ") == 1 and "\n.target sm_90\n" in done.stdout
    assert {"_Z3addPKiPitd", "_Z7nothingv"} == {
        line.split()[2].split("(")[0]
        for line in done.stdout.splitlines()
        if line.startswith(".visible .entry ")
    }


def test_a_device_that_takes_less_is_told_so(program: Path) -> None:
    done = emulate("--print-ptx", "--device-profile", "t4", program)
    assert (done.stdout, done.returncode) == ("", 77)
    assert "holds no PTX for 75 or lower" in done.stderr


def test_no_ptx_in_what_is_no_program() -> None:
    assert emulate("--print-ptx", EMULATE).returncode == 2
    assert emulate("--print-ptx", "sh").returncode == 77
