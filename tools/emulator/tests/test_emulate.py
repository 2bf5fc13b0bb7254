"""Ordinary CUDA programs on the embedded device, by tools/emulate; its answers beside an H200's.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[3]
EMULATE = ROOT / "tools/emulate"
HERE = Path(__file__).parent
RECORDED = HERE / "runtime_h200"


Build = Callable[..., Path]
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles a program, given as text or as a file, once for each set of options."""
    folder = tmp_path_factory.mktemp("programs")
    made: dict[tuple[str, ...], Path] = {}

    def compile_program(source: str | Path, *options: str) -> Path:
        flags = options or ("-cudart", "shared", "-arch=compute_90", "-code=compute_90")
        key = (str(source), *flags)
        if key not in made:
            program = folder / f"program{len(made)}"
            if isinstance(source, str):
                file = folder / f"program{len(made)}.cu"
                file.write_text(source, encoding="utf-8")
            else:
                file = source
            command = [nvcc(), "-std=c++20", *flags, "-o", program, file]
            subprocess.run(command, check=True, capture_output=True, text=True)
            made[key] = program
        return made[key]

    return compile_program


def emulate(*arguments: str | Path, **environment: str) -> Run:
    return subprocess.run(
        [EMULATE, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, **environment},
        check=False,
    )


ADD = """
#include <cstdio>
#include <vector>
__global__ void add(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<int> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) { a[i] = i; b[i] = 2 * i; }
  int *da, *db, *dc;
  cudaMalloc(&da, n * 4); cudaMalloc(&db, n * 4); cudaMalloc(&dc, n * 4);
  cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  const cudaError_t launched = cudaGetLastError();
  if (launched != cudaSuccess) { std::printf("%s\\n", cudaGetErrorName(launched)); return 3; }
  if (cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  for (int i = 0; i < n; ++i) if (c[i] != 3 * i) { std::printf("wrong at %d\\n", i); return 1; }
  std::printf("all right\\n");
}
"""


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("-arch=compute_90", "-code=compute_90"), id="zstd"),
        pytest.param(("-arch=compute_75", "-code=compute_75,sm_75"), id="beside machine code"),
        pytest.param(("-arch=compute_90", "-code=compute_90", "--no-compress"), id="plain"),
        pytest.param(
            ("-arch=compute_90", "-code=compute_90", "-legacy-launch-seq"), id="old launch"
        ),
        pytest.param(
            ("-arch=compute_90", "-code=compute_90", "--default-stream", "per-thread"),
            id="per thread",
        ),
        pytest.param(("-arch=compute_90", "-code=compute_90", "-G"), id="debug"),
    ],
)
def test_runs_however_it_was_built(build: Build, options: tuple[str, ...]) -> None:
    ran = emulate(build(ADD, "-cudart", "shared", *options))
    assert (ran.stdout, ran.stderr, ran.returncode) == ("all right\n", "", 0)


@pytest.mark.nvcc
def test_goes_before_a_path_within_the_program(build: Build) -> None:
    real = nvcc().resolve().parent.parent / "lib64"
    path = ("-Xlinker", "--disable-new-dtags", "-Xlinker", f"-rpath={real}")
    ran = emulate(build(ADD, "-cudart", "shared", "-arch=compute_90", "-code=compute_90", *path))
    assert (ran.stdout, ran.stderr, ran.returncode) == ("all right\n", "", 0)


def test_csv_is_ncus(build: Build, tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from tools.measuring.profilers import ncu_launches
    finally:
        sys.path.pop(0)
    table = tmp_path / "a table.csv"
    assert emulate("--csv", table, build(ADD), "1000").returncode == 0
    (launch,) = ncu_launches(table.read_text(encoding="utf-8"))
    assert (launch["kernel"], launch["grid"], launch["block"]) == ("add", [4, 1, 1], [256, 1, 1])
    # 1000 elements are 31 whole warps and a quarter of one: 32 requests an array, 125 sectors.
    assert launch["metrics"] == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 64,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 250,
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 32,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 125,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 0,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 0,
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 0,
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 0,
    }


# Answers that differ, by the beginning of their line, and why they may.
LEFT_OUT = {
    "more_cooperative": {
        # A driver lends every grid what the barrier of a cooperative one needs. Here only that one
        # has it, so that a grid that has no right to wait for all of itself is stopped at once.
        "an ordinary grid is valid",
        "one that isn't",
    },
    "more_devices": {
        # The answer of a driver that had nothing set aside; there is nothing to set back here.
        "cudaCtxResetPersistingL2Cache()",
    },
    "more_functions": {
        # CUDA's header chooses by the blocks that an SM holds. At most 200 threads: an H200's took
        # 200, where 128 fill an SM by all that is known here.
        "potential 1056 200",
        "potential 2112 128",
    },
    "more_pools": {
        # Bytes in use: hardware still counts a thousand that cudaFree or cudaFreeAsync took back.
        "attribute 7:",
        "attribute 8:",
    },
    "more_print": {
        # Whether a kernel is over by the time that another stream is waited for.
        "device says 2",
    },
    "more_volumes": {
        # 8 GiB in one row, which the machine beneath may not have.
        "cudaMallocPitch(&rows, &pitch, std::size_t{1} << 33, 1)",
    },
}


def _compared(section: str, printed: str) -> list[str]:
    """An answer's lines, without those left out and without the errors that these leave behind."""
    beginnings = tuple(LEFT_OUT.get(section, ()))
    kept: list[str] = []
    left_out = False
    for line in printed.splitlines():
        left_out = (left_out and line.startswith("    ")) or line.startswith(beginnings)
        if not left_out:
            kept.append(line)
    return kept


@pytest.mark.parametrize("section", sorted(path.stem for path in RECORDED.glob("*.txt")))
def test_the_runtime_answers_as_on_an_h200(build: Build, section: str) -> None:
    probe = "runtime_probe2.cu" if section.startswith("more_") else "runtime_probe.cu"
    ran = emulate(build(HERE / probe), section)
    recorded = (RECORDED / f"{section}.txt").read_text(encoding="utf-8")
    assert _compared(section, recorded)
    assert _compared(section, ran.stdout) == _compared(section, recorded), ran.stderr
    assert ran.returncode == 0
    for beginning in LEFT_OUT.get(section, ()):
        assert any(beginning in line for line in (recorded + ran.stdout).splitlines())


def test_refuses_the_static_runtime(build: Build) -> None:
    ran = emulate(build(ADD, "-arch=compute_90", "-code=compute_90"))
    assert ran.returncode == 77
    assert "nvcc -cudart shared" in ran.stderr


def test_refuses_a_program_without_ptx(build: Build) -> None:
    ran = emulate(build(ADD, "-cudart", "shared", "-arch=compute_90", "-code=sm_90"))
    assert ran.returncode == 3
    assert ran.stdout == "cudaErrorNoKernelImageForDevice\n"
    assert re.search(r"no PTX; machine code for 90.*code=compute_90", ran.stderr), ran.stderr


def test_a_profile_takes_no_ptx_past_its_own(build: Build) -> None:
    ran = emulate("--device-profile", "t4", build(ADD))
    assert ran.returncode == 3
    assert "PTX for 90" in ran.stderr and "runs PTX for 75" in ran.stderr
    both = build(ADD, "-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75")
    assert emulate("--device-profile", "t4", both).returncode == 0


ENDLESS = """
__global__ void spin(volatile int* flag) { while (*flag == 0) {} }
int main() {
  int* flag;
  cudaMalloc(&flag, 4);
  cudaMemset(flag, 0, 4);
  spin<<<1, 32>>>(flag);
  return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 42 : 1;
}
"""


def test_stops_an_endless_kernel(build: Build) -> None:
    ran = emulate("--max-instructions", "100000", build(ENDLESS))
    assert ran.returncode == 42
    assert "spin" in ran.stderr and "EMU_MAX_INSTRUCTIONS" in ran.stderr


WILD = """
#include <cstdio>
__global__ void wild(int* p) { p[threadIdx.x] = 1; }
int main() {
  int mine[64] = {};
  wild<<<1, 32>>>(mine);  // a pointer of the host's
  std::printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return mine[0];
}
"""


def test_a_kernel_cannot_touch_the_hosts_memory(build: Build) -> None:
    ran = emulate(build(WILD))
    assert (ran.stdout, ran.returncode) == ("cudaErrorIllegalAddress\n", 0)
    assert ran.stderr.count("\n") == 1 and "wild" in ran.stderr


REFUSED = """
#include <cstdio>
int main() {
  cudaGraph_t graph;
  std::printf("%s\\n", cudaGetErrorName(cudaGraphCreate(&graph, 0)));
}
"""


def test_names_a_function_that_it_has_not_got(build: Build) -> None:
    ran = emulate(build(REFUSED))
    assert ran.stdout == "cudaErrorNotSupported\n"
    assert ran.stderr == "embedded device: cudaGraphCreate is not supported\n"


TRIPS = """
#include <cstdio>
template <class T> __global__ void counts(T* to) {
  T value;
  asm volatile("mov.u32 %0, %%pm0;" : "=r"(value));
  *to = value;
}
__global__ void fine(int* to) { *to = 1; }
int main() {
  std::puts("it ran");
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  counts<<<1, 1>>>(static_cast<int*>(nullptr));
  fine<<<1, 1>>>(nullptr);
}
"""


def test_lists_what_a_program_would_trip_over(build: Build) -> None:
    ran = emulate("--list-unsupported", build(TRIPS))
    assert (ran.returncode, ran.stderr) == (1, "")
    kernel, function = ran.stdout.splitlines()
    assert re.fullmatch(
        r"kernel void counts<int>\(T1 \*\): PTX line \d+: 'mov.u32' isn't supported: %pm0", kernel
    )
    assert function == "function cudaGraphCreate: the device hasn't got it"


def test_lists_nothing_where_there_is_nothing(build: Build) -> None:
    ran = emulate("--list-unsupported", build(ADD), "an argument")
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)
    assert emulate("--list-unsupported", "sh").returncode == 0
    assert emulate("--list-unsupported", EMULATE).returncode == 2  # no program of this machine


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-arch=compute_90", "-code=compute_90"), "the CUDA runtime is inside the program"),
        (("-cudart", "shared", "-arch=compute_90", "-code=sm_90"), "no PTX; machine code for 90"),
        (("-cudart", "shared", "-arch=compute_100", "-code=compute_100"), "PTX for 100, and"),
    ],
)
def test_lists_what_is_wrong_with_all_of_a_program(
    build: Build, options: tuple[str, ...], said: str
) -> None:
    ran = emulate("--list-unsupported", build(ADD, *options))
    assert ran.returncode == 1
    assert said in ran.stdout and ran.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "usage:"),
        (("--csv",), "--csv needs a value"),
        (("--csv", "/nowhere/x.csv", "true"), "can't be written"),
        (("--device-profile", "h300", "true"), "there are h200, t4 and gtx1050ti"),
        (("--threads", "many", "true"), "not a number"),
        (("--fast", "true"), "no such option"),
        (("/no/such/program",), "not found"),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], said: str) -> None:
    ran = emulate(*arguments)
    assert ran.returncode == 2
    assert said in ran.stderr


def test_a_program_of_another_kind_just_runs() -> None:
    ran = emulate("sh", "-c", "echo $0 $1; exit 7", "a b", "c")
    assert (ran.stdout, ran.returncode) == ("a b c\n", 7)


def test_takes_a_program_of_this_folder_by_its_name(tmp_path: Path) -> None:
    program = tmp_path / "a program"
    program.write_text("#!/bin/sh\necho here\n", encoding="utf-8")
    program.chmod(0o755)
    for name, status in ((program.name, 0), ("no program", 2)):
        ran = subprocess.run([EMULATE, name], capture_output=True, cwd=tmp_path, check=False)
        assert (ran.stdout, ran.returncode) == (b"here\n" if status == 0 else b"", status)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_what_ends_it_ends_the_program(name: str, tmp_path: Path) -> None:
    """Also under --check, where it waits for the program."""
    script = tmp_path / "a=b"  # a name that `env` would take for a variable
    script.write_text("#!/bin/sh\nread line; echo $line $1 $$; exec sleep 3600\n")
    script.chmod(0o755)
    with subprocess.Popen(
        [EMULATE, "--check", "all", script, "x y"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        print("a line", file=process.stdin, flush=True)
        *said, pid = process.stdout.readline().split()
        assert said == ["a", "line", "x", "y"]
        process.send_signal(signal.Signals[f"SIG{name}"])
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + signal.Signals[f"SIG{name}"], err
    assert err == f"tools/emulate: status {process.returncode}, as after SIG{name}\n"
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("one", ["--trace", "--csv", "--findings"])
@pytest.mark.parametrize("other", ["--trace", "--csv", "--findings"])
def test_two_that_would_write_one_file_are_refused(one: str, other: str, tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    ran = emulate(one, file, other, link, "true")
    assert ran.returncode == (0 if one == other else 2)
    assert ("name the same file" in ran.stderr) == (one != other)
    assert emulate(one, "/dev/null", other, "/dev/null", "true").returncode == 0


def test_writes_to_what_is_no_file(build: Build) -> None:
    program = build(ADD)
    assert emulate("--csv", "/dev/stdout", program).stdout.startswith('"ID",')
    ran = emulate("--csv", "/dev/full", program)
    assert (ran.stdout, ran.returncode) == ("all right\n", 0)
    assert ran.stderr == (
        "embedded device: EMU_CSV=/dev/full: not all could be written: No space left on device\n"
    )


def test_the_status_tells_of_findings_wherever_they_go(build: Build, tmp_path: Path) -> None:
    leaks = build("int main() { void* p; return cudaMalloc(&p, 4); }")
    for file in ("/dev/full", "/dev/null"):
        assert emulate("--check", "all", "--findings", file, leaks).returncode == 4
    before = tmp_path / "findings.json"
    assert emulate("--check", "all", leaks, EMU_FINDINGS=str(before)).returncode == 4
    assert emulate("--check", "all", "true", EMU_FINDINGS=str(before)).returncode == 0
