"""Ordinary CUDA programs on the embedded device, by tools/emulate; its answers beside an H200's.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

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


def test_goes_before_a_path_within_the_program(build: Build, tmp_path: Path) -> None:
    real = tmp_path / "lib"  # nvcc hands on no path with a space in it
    real.symlink_to(nvcc().resolve().parent.parent / "lib64")
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


# Lines of the other probe that differ, by their beginning, and why they may.
UNDEFINED = {
    # PTX leaves the vote of a lane that its mask leaves out undefined. Hardware lets it vote with
    # the others; here it votes alone, and a line on stderr says so.
    "ballot ->",
}


def _differing(recorded: list[str], printed: list[str]) -> set[str]:
    """The recorded lines that were answered otherwise."""
    return {theirs for theirs, ours in zip(recorded, printed, strict=True) if theirs != ours}


def _asked() -> list[str]:
    file = HERE / "probes/symbols_and_masks.h200.txt"
    gpu, *lines = file.read_text(encoding="utf-8").splitlines()
    assert gpu.startswith("NVIDIA H200,")
    return lines


def test_what_the_documentation_leaves_open_is_answered_as_on_an_h200(build: Build) -> None:
    program = build(HERE / "probes/symbols_and_masks.cu")
    runs = [emulate(program, *section) for section in ((), ("syncwarp",), ("ballot",), ("shfl",))]
    assert [ran.returncode for ran in runs] == [0] * 4
    differing = _differing(_asked(), [line for ran in runs for line in ran.stdout.splitlines()])
    assert {line for line in differing if not line.startswith(tuple(UNDEFINED))} == set()
    for beginning in UNDEFINED:
        assert any(line.startswith(beginning) for line in differing), f"{beginning} is the same now"
    warnings = [line for line in runs[0].stderr.splitlines() if "a copy with" in line]
    assert [line.split()[5] for line in warnings] == [
        "cudaMemcpyHostToHost",
        "cudaMemcpyHostToDevice",
        "cudaMemcpyDeviceToHost",
    ]


def test_a_line_answered_otherwise_is_seen() -> None:
    lines = _asked()
    for at, line in enumerate(lines):
        wrong = line.replace("-> 0", "-> 1") if "-> 0" in line else line + "1"
        assert _differing(lines, [*lines[:at], wrong, *lines[at + 1 :]]) == {line}
    with pytest.raises(ValueError, match="shorter"):
        _differing(lines, lines[:-1])


UNREACHABLE = """
#include <cstdio>
__device__ int table[4];
int main() {
  int host[4] = {}, *device, *pinned;
  cudaMalloc(&device, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice,
                                    cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
    std::printf("%d: %d %d %d %d %d\\n", kind, cudaMemcpy(device, host, 16, kind),
                cudaMemcpy(host, device, 16, kind), cudaMemcpy(pinned, device, 16, kind),
                cudaMemcpy(device + 1, pinned, 16, kind),
                cudaMemcpyToSymbol(table, host, 16, 0, kind));
  }
}
"""


def test_a_copys_kind_opens_no_memory_that_the_device_does_not_reach(build: Build) -> None:
    """Not the host's where the kind says the device's, nor what lies past an allocation."""
    ran = emulate(build(UNREACHABLE))
    assert ran.stdout.splitlines() == [
        "0: 0 0 0 1 21",
        "1: 0 1 0 1 0",
        "2: 1 0 0 1 21",
        "3: 1 1 0 1 1",
    ], ran.stderr


CAPTURES = """
#include <cstdio>
#include <functional>
#include <thread>
cudaStream_t stream;
// What a call answers during a capture in this mode, and how the capture then ends.
void during(const char* what, cudaStreamCaptureMode mode, std::function<cudaError_t()> call) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, mode);
  const cudaError_t answer = call();
  std::printf("%s %d: %d, %d\\n", what, mode, answer, cudaStreamEndCapture(stream, &graph));
}
cudaError_t allocate() {
  void* p;
  return cudaMalloc(&p, 16);
}
cudaError_t elsewhere() {
  cudaError_t answer;
  std::thread([&] { answer = allocate(); }).join();
  return answer;
}
cudaError_t relaxed() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t answer = allocate();
  cudaThreadExchangeStreamCaptureMode(&mode);
  return answer;
}
int main() {
  cudaStreamCreate(&stream);
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    during("allocate", mode, allocate);
    during("elsewhere", mode, elsewhere);
    during("relaxed", mode, relaxed);
    during("synchronize", mode, cudaDeviceSynchronize);
  }
  std::printf("after: %d %d\\n", allocate(), cudaDeviceSynchronize());
}
"""


def test_a_capture_forbids_other_calls_by_its_mode(build: Build) -> None:
    ran = emulate(build(CAPTURES))
    forbidden = {"allocate 0", "elsewhere 0", "allocate 1"} | {f"synchronize {i}" for i in range(3)}
    assert ran.stdout.splitlines() == [
        *(
            f"{what} {mode}: " + ("900, 901" if f"{what} {mode}" in forbidden else "0, 0")
            for mode in range(3)
            for what in ("allocate", "elsewhere", "relaxed", "synchronize")
        ),
        "after: 0 0",
    ]
    assert ran.stderr.count("isn't allowed during a capture: the capture is lost") == len(forbidden)


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


#: 0 is not below 0: the last step of the first loop comes again and again. The second counts.
WITHOUT_END = """
#include <cstdio>
__global__ void halves(int* data) {
  __shared__ int tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half >= 0; half >>= 1) {  // @halves
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  data[0] = tile[0];
}
__global__ void counts(int* data) {
  unsigned all = 0;
  for (unsigned i = data[0]; i != 1; i += 2) all += i * i;  // @counts
  data[1] = all;
}
int main(int count, char**) {
  int* data;
  cudaMalloc(&data, 1024);
  cudaMemset(data, 0, 1024);
  std::puts("begins");
  std::fflush(stdout);
  count > 1 ? counts<<<3, 64>>>(data) : halves<<<1, 256>>>(data);
  return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 42 : 1;
}
"""
WITH_LINES = ("-cudart", "shared", "-arch=compute_90", "-lineinfo")
ENDS_NEVER = {
    name: number
    for number, line in enumerate(WITHOUT_END.splitlines(), 1)
    for name in re.findall(r"// @(\w+)$", line)
}


def test_stops_a_loop_that_does_the_same_again_and_again(build: Build) -> None:
    ran = emulate(build(WITHOUT_END, *WITH_LINES))
    assert ran.returncode == 42
    line = ENDS_NEVER["halves"] + 2
    assert re.search(rf"warp 0, lanes 0xffffffff at .*\(\w+\.cu:{line}", ran.stderr), ran.stderr


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_signal_says_where_each_block_stands(build: Build, name: str) -> None:
    def default() -> None:
        signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_DFL)

    with subprocess.Popen(
        [EMULATE, "--threads", "1", build(WITHOUT_END, *WITH_LINES), "counts"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)
        process.send_signal(signal.Signals[f"SIG{name}"])
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode in (128 + signal.Signals[f"SIG{name}"], -signal.Signals[f"SIG{name}"])
    assert "kernel counts(int *) is ended by a signal; its blocks stand\n" in err, err
    where = r"\n    block \(0, 0, 0\); warp 0, lanes 0xffffffff at PTX line \d+ \(\w+\.cu:"
    assert re.search(where + str(ENDS_NEVER["counts"]), err), err


FRESH = """
#include <cstdio>
__global__ void look(int* out) {
  __shared__ volatile int tile;
  *out = tile;
}
int main() {
  int *looked, *fresh, values[2];
  cudaMalloc(&looked, 4);
  cudaMalloc(&fresh, 4);
  look<<<1, 1>>>(looked);
  cudaMemcpy(&values[0], looked, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&values[1], fresh, 4, cudaMemcpyDeviceToHost);
  std::printf("%x %x\\n", values[0], values[1]);
}
"""


def test_memory_is_not_kind_under_check(build: Build) -> None:
    program = build(FRESH)
    zeros, pattern = "0 0\n", "cdcdcdcd cdcdcdcd\n"
    assert emulate(program).stdout == zeros
    assert emulate("--check", "race", program).stdout == pattern
    assert emulate("--check", "race", "--fresh", "zeros", program).stdout == zeros
    assert emulate("--fresh", "pattern", program).stdout == pattern
    assert emulate("--fresh", "noise", program).returncode == 2


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
  std::printf("%s\\n", cudaGetErrorName(cudaGraphicsUnmapResources(0, nullptr, 0)));
}
"""


def test_names_a_function_that_it_has_not_got(build: Build) -> None:
    ran = emulate(build(REFUSED))
    assert ran.stdout == "cudaErrorNotSupported\n"
    assert ran.stderr == "embedded device: cudaGraphicsUnmapResources is not supported\n"


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
  cudaGraphicsUnmapResources(0, nullptr, 0);
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
    assert function == "function cudaGraphicsUnmapResources: the device hasn't got it"


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


# --- libraries that work with the driver alone ------------------------------------------------

USES_A_LIBRARY = """
#include <cstdio>
extern "C" int cublasCreate_v2(void**);
int main() {
  void* handle = nullptr;
  std::printf("%d\\n", cublasCreate_v2(&handle));
}
"""
# With something in the section that kernels lie in, and no runtime.
USES_THE_DRIVER = """
extern "C" int cuInit(unsigned);
__attribute__((section(".nv_fatbin"), used)) static const char code[64] = {};
int main() { return cuInit(0); }
"""


def compiled(to: Path, source: str, *options: str | Path) -> Path:
    """By the host's compiler alone."""
    text = to.with_name(f"{to.name}.cpp")
    text.write_text(source, encoding="utf-8")
    subprocess.run(["c++", "-o", to, text, *options], check=True)
    return to


@pytest.mark.parametrize(
    ("source", "name", "function", "said"),
    [
        (USES_A_LIBRARY, "libcublas.so.13", "cublasCreate_v2", "cuBLAS"),
        (USES_THE_DRIVER, "libcuda.so.1", "cuInit", "the CUDA driver API"),
    ],
)
def test_names_libraries_that_work_with_the_driver_alone(
    tmp_path: Path, source: str, name: str, function: str, said: str
) -> None:
    stub = f'extern "C" int {function}() {{ return 0; }}\n'
    library = compiled(tmp_path / name, stub, "-shared", "-fPIC", f"-Wl,-soname,{name}")
    program = compiled(tmp_path / "program", source, library)
    line = f"{said} ({name}): works with NVIDIA's driver alone, and not on this device\n"
    listed = emulate("--list-unsupported", program)
    assert (listed.stdout, listed.returncode) == (line, 1)
    ran = emulate(program, LD_LIBRARY_PATH=str(tmp_path))
    assert ran.stderr == f"tools/emulate: {program} uses {line}"  # and no word of a runtime inside
    assert ran.returncode == 0


LAUNCHES_KERNELS = """
#include <cstdio>
__global__ void child(int* to) { *to = 1; }
__global__ void parent(int* to) { child<<<1, 1>>>(to); }
int main() {
  parent<<<1, 1>>>(static_cast<int*>(nullptr));
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}
"""


def test_calls_dynamic_parallelism_by_its_name(build: Build) -> None:
    options = ("-cudart", "shared", "-arch=compute_90", "-code=compute_90", "-rdc=true")
    program = build(LAUNCHES_KERNELS, *options, "-lcudadevrt")
    for ran in (emulate("--list-unsupported", program), emulate(program)):
        assert "kernel parent(int *)" in ran.stdout + ran.stderr
        assert "a kernel that launches kernels (dynamic parallelism)" in ran.stdout + ran.stderr
    assert ran.stdout == "cudaErrorNotSupported\n"


SOMETIMES = """
#include <cstdio>
#include <cstdlib>
__global__ void counts(unsigned* to, int way) {
  if (way == 1) asm volatile("mov.u32 %0, %%pm0;" : "=r"(*to));
  else *to = 5;
}
int main(int, char** arguments) {
  unsigned *to, value = 0;
  cudaMalloc(&to, sizeof value);
  counts<<<1, 1>>>(to, std::atoi(arguments[1]));
  const cudaError_t launched = cudaGetLastError();
  cudaMemcpy(&value, to, sizeof value, cudaMemcpyDefault);
  std::printf("%s %u\\n", cudaGetErrorName(launched), value);
}
"""


def test_refuses_an_instruction_when_it_is_reached(build: Build) -> None:
    program = build(SOMETIMES)
    ran = emulate(program, "0")
    assert (ran.stdout, ran.stderr) == ("cudaSuccess 5\n", "")
    ran = emulate(program, "1")
    assert ran.stdout == "cudaErrorNotSupported 0\n"
    assert ran.stderr.count("\n") == 1 and "%pm0" in ran.stderr and "counts" in ran.stderr
    assert "%pm0" in emulate("--list-unsupported", program).stdout


OUT_OF_MEMORY = """
#include <cstdio>
int main() {
  void* p = nullptr;
  for (int i = 0; i < 3; ++i) std::puts(cudaGetErrorName(cudaMalloc(&p, 3000000)));
}
"""


def test_says_which_limit_memory_is_out_of(build: Build) -> None:
    ran = emulate(build(OUT_OF_MEMORY), EMU_MEMORY="4000000")
    assert ran.stdout.split() == ["cudaSuccess", *["cudaErrorMemoryAllocation"] * 2]
    assert ran.stderr == (
        "embedded device: cudaMalloc of 3000000 bytes: the device has 4000000, of which 1000000 are"
        " free; EMU_MEMORY=BYTES gives it more\n"
    )


WARNS = """
__global__ void none(int* to) { to[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 20); }
__global__ void outside(int* to) {
  to[threadIdx.x] = __ballot_sync(0xfffe, threadIdx.x % 2);
  __syncwarp(0xfffe);
}
int main() {
  int* to;
  cudaMalloc(&to, 128);
  for (int i = 0; i < 40; ++i) {
    none<<<8, 16>>>(to);
    outside<<<8, 16>>>(to);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""


def test_warns_once_per_kernel_and_line(build: Build) -> None:
    options = ("-cudart", "shared", "-arch=compute_90", "-code=compute_90", "-lineinfo")
    ran = emulate("--threads", "1", build(WARNS, *options))
    assert ran.returncode == 0
    warned = ran.stderr.splitlines()
    assert len(warned) == 3
    assert all("block (0, 0, 0), thread (0, 0, 0), PTX line" in line for line in warned)
    assert "lane 20" in warned[0]
    assert all("the mask 0x0000fffe leaves out the lane" in line for line in warned[1:])


CLOCKS = """
#include <cstdio>
__global__ void look(long long* to) {
  long long before = clock64(), ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  to[2 * threadIdx.x] = before;
  to[2 * threadIdx.x + 1] = ns;
}
int main() {
  long long *to, was[2] = {-1, -1}, now[2];
  cudaMalloc(&to, 32 * sizeof now);
  for (int i = 0; i < 5; ++i) {
    look<<<1, 32>>>(to);
    cudaMemcpy(now, to, sizeof now, cudaMemcpyDefault);
    if (now[0] <= was[0] || now[1] <= was[1]) return 1;
    was[0] = now[0];
    was[1] = now[1];
  }
}
"""


def test_clocks_go_on_from_launch_to_launch(build: Build) -> None:
    assert emulate(build(CLOCKS)).returncode == 0


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
        *(
            ((option, "x" * 32000, "true"), said)
            for option, said in (
                ("--csv", "can't be written: File name too long"),
                ("--check", "there are race"),
                ("--threads", "not a number"),
            )
        ),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], said: str) -> None:
    ran = emulate(*arguments)
    assert ran.returncode == 2
    assert said in ran.stderr and len(ran.stderr) < 1000


def test_a_long_text_is_taken() -> None:
    assert emulate("--trace-kernel", "x" * 32000, "true").returncode == 0


def test_what_was_typed_is_shown_without_its_tricks() -> None:
    done = emulate("--csv", "a.csv", "./a\u202eb\u2066c\u009bd\x1be\u061cf µ")
    assert done.returncode == 2
    assert "./a?b?c?d?e?f µ: not found" in done.stderr


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

    def default() -> None:  # what these tests were started with may ignore it
        signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_DFL)

    script = tmp_path / "a=b"  # a name that `env` would take for a variable
    script.write_text("#!/bin/sh\nread line; echo $line $1 $$; exec sleep 3600\n")
    script.chmod(0o755)
    with subprocess.Popen(
        [EMULATE, "--check", "all", script, "x y"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default,
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


def test_writes_to_what_is_no_file(build: Build, tmp_path: Path) -> None:
    program = build(ADD)
    assert emulate("--csv", "/dev/stdout", program).stdout.startswith('"ID",')
    ran = emulate("--csv", "/dev/full", program)
    assert (ran.stdout, ran.returncode) == ("all right\n", 2)
    said, counts = ran.stderr.splitlines()
    assert said == (
        "embedded device: --csv /dev/full: not all could be written: No space left on device"
    )
    assert counts.startswith("embedded device: counts: ")
    with subprocess.Popen(["cat", "fifo"], cwd=_fifo(tmp_path), stdout=subprocess.PIPE) as reader:
        assert emulate("--csv", tmp_path / "fifo", program).returncode == 0
        assert reader.communicate(timeout=LIMIT)[0].startswith(b'"ID",')


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "fifo")
    return folder


def test_the_status_tells_of_findings_wherever_they_go(build: Build, tmp_path: Path) -> None:
    leaks = build("int main() { void* p; return cudaMalloc(&p, 4); }")
    for file in ("/dev/full", "/dev/null"):
        assert emulate("--check", "all", "--findings", file, leaks).returncode == 4
    before = tmp_path / "findings.json"
    assert emulate("--check", "all", leaks, EMU_FINDINGS=str(before)).returncode == 4
    assert emulate("--check", "all", "true", EMU_FINDINGS=str(before)).returncode == 0


RESULTS = ["--csv", "--findings", "--trace"]


@pytest.mark.parametrize("option", RESULTS)
def test_no_program_is_overwritten(option: str, tmp_path: Path) -> None:
    """FILE forgotten: the program would be taken for it."""
    binary, script, library = (tmp_path / name for name in ("program", "script", "library.so"))
    shutil.copy("/bin/true", binary)
    shutil.copyfile("/bin/true", library)  # without the right to execute it
    script.write_text("echo a script without its first line\n", encoding="utf-8")
    script.chmod(0o755)
    for file in (binary, script, library):
        before = file.read_bytes()
        for rest in ([], [binary], ["sh", "-c", "exit 0"]):
            ran = emulate(option, file, *rest)
            assert ran.returncode == 2
            assert ("would be overwritten" if rest else "PROGRAM is missing") in ran.stderr
            assert file.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([binary, script, library])


@pytest.mark.parametrize("option", RESULTS)
@pytest.mark.parametrize(
    "wrong",
    [
        ["--fast", "true"],
        ["--threads", "many", "true"],
        ["/no/such/program"],
        [],
        ["--csv", "/nowhere/x", "true"],
    ],
)
def test_old_results_outlive_a_mistake(option: str, wrong: list[str], tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text('"a result"\n', encoding="utf-8")
    assert emulate(option, old, *wrong).returncode == 2
    assert old.read_text(encoding="utf-8") == '"a result"\n'
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("options", [("-arch=compute_90", "-code=compute_90"), ()])
def test_old_results_outlive_a_program_that_cannot_be_caught(
    build: Build, options: tuple[str, ...], tmp_path: Path
) -> None:
    old, program = tmp_path / "old", tmp_path / "a program"
    old.write_text("old", encoding="utf-8")
    if options:
        ran = emulate("--csv", old, build(ADD, *options))
        assert ran.returncode == 77
    else:
        program.write_text("#!/no/such/interpreter\n", encoding="utf-8")
        program.chmod(0o755)
        ran = emulate("--csv", old, program)
        assert ran.returncode == 126 and "can't be started: No such file" in ran.stderr
        program.unlink()
    assert old.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_results_take_the_place_of_old_ones(build: Build, tmp_path: Path) -> None:
    file, link, planted = (tmp_path / name for name in ("file", "link", "planted"))
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to("file")
    planted.symlink_to("not there yet")
    assert emulate("--csv", link, "--trace", planted, build(ADD)).returncode == 0
    assert file.read_text(encoding="utf-8").startswith('"ID",')
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink() and planted.is_symlink()
    assert planted.read_text(encoding="utf-8").startswith('{"trace":1')
    assert {path.name for path in tmp_path.iterdir()} == {
        "file",
        "link",
        "planted",
        "not there yet",
    }


def test_what_a_killed_program_leaves(build: Build, tmp_path: Path) -> None:
    """The old result stays; what there is of the new one lies beside it, and its name is said."""
    file = tmp_path / "x.csv"
    file.write_text("old", encoding="utf-8")
    dies = ADD.replace('std::printf("all right\\n");', "std::abort();")
    assert dies != ADD
    ran = emulate("--csv", file, "--findings", tmp_path / "none", build(dies))
    assert ran.returncode == 128 + signal.SIGABRT
    assert file.read_text(encoding="utf-8") == "old"
    (left,) = set(tmp_path.iterdir()) - {file}
    assert re.fullmatch(r"x\.csv\.[a-z2-7]{8}\.part", left.name)
    assert left.read_text(encoding="utf-8").count("\n") == 3
    assert f"{file} stays as it was; what there is of the new one is in {left}\n" in ran.stderr
    assert "--findings" in ran.stderr and "isn't written" in ran.stderr


def test_the_program_dies_with_its_launcher(tmp_path: Path) -> None:
    command = [str(EMULATE), "--csv", str(tmp_path / "x"), "sh", "-c", "echo $$; exec sleep 3600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        program = Path("/proc") / process.stdout.readline().strip()
        process.kill()
        process.wait()
        for _ in range(500):
            if not program.exists() or "\nState:\tZ" in (program / "status").read_text():
                return
            time.sleep(0.01)
    raise AssertionError("it still runs")


def _almost_full() -> None:
    """A file may have 100 bytes, and to write more is an error, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@pytest.mark.parametrize("option", RESULTS)
@pytest.mark.parametrize("status", [0, 5])
def test_a_result_that_cannot_be_written_is_an_error(
    build: Build, option: str, status: int, tmp_path: Path
) -> None:
    file = tmp_path / "old"
    file.write_text("old", encoding="utf-8")
    source = ADD.replace('std::printf("all right\\n");', f"cudaFree(da); return {status};")
    check = ["--check", "memory"] if option == "--findings" else []
    command = [str(EMULATE), *check, option, str(file), str(build(source))]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, preexec_fn=_almost_full, check=False
    )
    # What was found is told first, and the program's own status goes before this one.
    assert ran.returncode == (4 if check else status or 2), ran.stderr
    assert ran.stderr.count(f"{option} {file}: not all could be written: File too large\n") == 1
    assert ran.stderr.endswith(f"tools/emulate: {option} {file} stays as it was\n")
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("launcher", [[EMULATE], []])
@pytest.mark.parametrize("name", ["EMU_CSV", "EMU_FINDINGS"])
def test_a_folder_that_is_not_there_is_an_error(
    build: Build, name: str, launcher: list[Path], tmp_path: Path
) -> None:
    """Also of a program that is run on the library without tools/emulate."""
    for status in (0, 5):
        source = ADD.replace('std::printf("all right\\n");', f"return {status};")
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(_library()),
            name: str(tmp_path / "nowhere/x"),
            "EMU_CHECK": "memory" if name == "EMU_FINDINGS" else "",
        }
        ran = subprocess.run(
            [*launcher, build(source)], env=environment, capture_output=True, text=True, check=False
        )
        found = 4 if launcher and name == "EMU_FINDINGS" else None
        assert ran.returncode == (found or status or 2), ran.stderr
        assert f"{name}={tmp_path}/nowhere/x: No such file or directory\n" in ran.stderr


def _library() -> Path:
    """The folder that tools/emulate takes the library from."""
    said = emulate("sh", "-c", "echo $LD_LIBRARY_PATH").stdout
    return Path(said.strip().split(":")[0])


def test_a_folder_whose_name_the_loader_would_split(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "a folder: of mine"
    shutil.copytree(_library(), folder, symlinks=True)
    real = Path(nvcc()).resolve().parent.parent / "lib64"
    path = ("-Xlinker", "--disable-new-dtags", "-Xlinker", f"-rpath={real}")
    for options in ((), path):
        program = build(ADD, "-cudart", "shared", "-arch=compute_90", "-code=compute_90", *options)
        ran = emulate(program, EMU_LIBRARY=str(folder))
        assert (ran.stdout, ran.stderr, ran.returncode) == ("all right\n", "", 0)


def test_says_why_it_cannot_build(tmp_path: Path) -> None:
    """In a tree that takes no build, the reason is the tree, and another place is named."""
    (tmp_path / "tools/emulator").mkdir(parents=True)
    shutil.copy(EMULATE, tmp_path / "tools")
    shutil.copy(EMULATE.parent / "emulator/folder", tmp_path / "tools/emulator")
    (tmp_path / "build").write_text("no folder", encoding="utf-8")
    environment = {key: text for key, text in os.environ.items() if not key.startswith("EMU_")}
    ran = subprocess.run(
        [tmp_path / "tools/emulate", "true"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 77
    assert "can't take the build: mkdir" in ran.stderr and "EMU_BUILD=" in ran.stderr
    assert "cmake" not in ran.stderr


def test_what_the_books_build_lacks_is_built_there(tmp_path: Path) -> None:
    """Not all of it once more beside it: `make chapterNN_name` has built the library alone."""
    tree = tmp_path / "build/tools"
    (tree / "emulator").mkdir(parents=True)
    (tree / "emulator/exports.map").touch()
    (tmp_path / "tools/emulator").mkdir(parents=True)
    shutil.copy(EMULATE, tmp_path / "tools")
    shutil.copy(EMULATE.parent / "emulator/folder", tmp_path / "tools/emulator")
    cmake = tmp_path / "bin/cmake"
    cmake.parent.mkdir()
    cmake.write_text(
        f"#!/bin/sh\nmkdir -p {tree}/emulator/lib\n"
        f'printf \'#!/bin/sh\\necho "%s" with "$1"\\n\' "$*" >{tree}/emulator/lib/emulate\n'
        f"chmod +x {tree}/emulator/lib/emulate\n"
    )
    cmake.chmod(0o755)
    environment = {key: text for key, text in os.environ.items() if not key.startswith("EMU_")}
    environment["PATH"] = f"{cmake.parent}{os.pathsep}{environment['PATH']}"
    for _ in range(2):
        ran = subprocess.run(
            [tmp_path / "tools/emulate", "true"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ran.stdout == f"--build {tree} --target embedded_device --parallel with true\n"
    assert ran.stderr == "", "built once"


def test_an_incomplete_build_is_said(tmp_path: Path) -> None:
    shutil.copy(_library() / "emulate", tmp_path)
    ran = emulate("true", EMU_LIBRARY=str(tmp_path))
    assert ran.returncode == 77 and "build is incomplete" in ran.stderr


# Where the sizes, kinds and flags of a container and of its first entry are, and how large.
FIELDS = {
    "header": (6, 2),
    "payload": (8, 8),
    "kind": (16, 2),
    "entry header": (20, 4),
    "entry size": (24, 8),
    "packed size": (32, 4),
    "architecture": (44, 4),
    "flags": (56, 8),
    "unpacked size": (72, 8),
}


@pytest.mark.parametrize("packing", ["zstd", "plain"])
def test_a_damaged_fat_binary_is_an_error(build: Build, packing: str, tmp_path: Path) -> None:
    """Whatever its sizes say, nothing past the end of what is mapped is read: no signal."""
    options = ["--no-compress"] if packing == "plain" else []
    whole = build(ADD, "-cudart", "shared", "-arch=compute_90", "-code=compute_90", *options)
    good = whole.read_bytes()
    # The last one is the program's; one before it, of the linker's, may be empty.
    container = good.rindex(0xBA55ED50.to_bytes(4, "little"))
    wrapper = good.rindex(0x466243B1.to_bytes(4, "little"))
    assert int.from_bytes(good[container + 8 : container + 16], "little") > 64
    places = {name: (container + at, size) for name, (at, size) in FIELDS.items()}
    places["version"] = (wrapper + 4, 4)  # 2: a list of pointers follows
    program = tmp_path / "program"
    library = str(_library())
    refused = set()
    for name, (at, size) in places.items():
        value = int.from_bytes(good[at : at + size], "little")
        top = 1 << 8 * size
        for other in {
            *(0, 1, 2, top - 1, top // 2, top // 2 - 1),
            *(value ^ 1 << bit for bit in range(0, 8 * size, 9)),
            *(value + step for step in (-64, -8, 8, 64, 4096, 1 << 20, 1 << 30)),
        }:
            changed = (other % top).to_bytes(size, "little")
            program.write_bytes(good[:at] + changed + good[at + size :])
            program.chmod(0o755)
            ran = subprocess.run(
                [program],
                env={**os.environ, "LD_LIBRARY_PATH": library},
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode in (0, 3), f"{name}: {value} -> {other}: {ran}"
            if ran.returncode == 3:
                assert ran.stderr.startswith("embedded device: "), ran.stderr
                refused.add(name)
            else:
                assert ran.stdout == "all right\n"
    assert refused >= {"header", "payload", "kind", "entry header", "entry size", "version"}
    assert packing == "plain" or refused >= {"packed size", "unpacked size"}
