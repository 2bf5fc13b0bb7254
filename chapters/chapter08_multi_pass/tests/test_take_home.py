"""The header to take home: compiles on its own, is right at every edge, and the tests see faults.

On the embedded device, which has no caches, a sum without fences is right. Its race check finds
them missing, and they are looked for in the PTX.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from chapters.tests.programs import program
from tools.tests import test_nvrtc
from tools.tests.built import nvcc, on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

HERE = Path(__file__).resolve().parent
CHAPTER = HERE.parent
HEADER = CHAPTER / "take_home.cuh"
CASES = HERE / "take_home_cases.cu"
#: What comes before is kernels, what follows is the host's.
HOST = "// begin take-home-grid"
STRICT = ["-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra"]
#: The newest and the oldest that the toolkit compiles for: from 8.0 on a warp adds by REDUX.
ARCHITECTURES = [f"-gencode=arch=compute_{n},code=compute_{n}" for n in (75, 90)]

TYPES = (
    "const int*, std::size_t, int*",
    "const int*, std::size_t, long long*",
    "const unsigned*, std::size_t, unsigned long long*",
    "const long long*, std::size_t, long long*",
    "const float*, std::size_t, float*",
    "const double*, std::size_t, double*",
)
#: All that a source needs to use the header: nothing goes before it.
ALONE = '#include "take_home.cuh"\n' + "".join(
    f"template cudaError_t take_home::sum({types}, void*, std::size_t, cudaStream_t);\n"
    for types in TYPES
)


def compiled(
    *arguments: str | Path, header: Path = HEADER, standard: int = 17
) -> subprocess.CompletedProcess[str]:
    # What has a fault runs once; this is about the code of the host, and kernels are optimised.
    host = "-O3" if header == HEADER else "-O0"
    command = [nvcc(), f"-std=c++{standard}", host, "-cudart=shared", f"-I{header.parent}"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


def built(
    out: Path,
    *arguments: str | Path,
    header: Path = HEADER,
    architectures: Sequence[str] = ARCHITECTURES,
) -> Path:
    if header != HEADER:  # what has a fault is run by the device that passes for the newest alone
        architectures = ARCHITECTURES[-1:]
    done = compiled("-o", out, *architectures, *STRICT, *arguments, header=header)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def to_ptx(out: Path, *arguments: str | Path, header: Path = HEADER) -> Path:
    """For the device that passes for an H200."""
    done = compiled("-ptx", "-arch=compute_90", "-o", out, *arguments, header=header)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


# ------------------------------------------------------------------------------- on its own


def test_it_includes_the_cuda_runtime_and_std_alone() -> None:
    included = re.findall(r"^\s*#\s*include\s+(\S+)", HEADER.read_text(encoding="utf-8"), re.M)
    assert included == ["<cuda_runtime.h>", "<cstddef>", "<cstdint>", "<type_traits>"]


@pytest.mark.parametrize("standard", [17, 20])
def test_it_compiles_alone(standard: int, tmp_path: Path) -> None:
    source = tmp_path / "alone.cu"
    source.write_text(ALONE, encoding="utf-8")
    done = compiled("-c", source, "-o", tmp_path / "a.o", *STRICT, standard=standard)
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_sources_may_include_it(tmp_path: Path) -> None:
    sources = [tmp_path / "one.cu", tmp_path / "two.cu"]
    for source in sources:
        source.write_text(
            '#include "take_home.cuh"\n'
            f"cudaError_t {source.stem}(const int* in, long long* out, void* memory) {{\n"
            "  return take_home::sum(in, 3, out, memory, 0);\n}\n"
            + ("int main() {}\n" if source.stem == "two" else ""),
            encoding="utf-8",
        )
    built(tmp_path / "both", *sources)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("const float*, std::size_t, int*", "a sum of floats is a float or a double"),
        ("const short*, std::size_t, int*", "elements are numbers of 4 or 8 bytes"),
        ("const int*, std::size_t, short*", "a sum is a number of 4 or 8 bytes"),
    ],
)
def test_types_that_make_no_sense_do_not_compile(call: str, why: str, tmp_path: Path) -> None:
    source = tmp_path / "no.cu"
    source.write_text(
        ALONE.partition("\n")[0] + "\n" + ALONE.splitlines()[1].replace(TYPES[0], call)
    )
    done = compiled("-c", source, "-o", tmp_path / "no.o")
    assert done.returncode != 0 and why in done.stderr, done.stderr


@pytest.mark.parametrize(
    "mode",
    [
        ["--cuda-host-only"],
        ["--cuda-device-only", "--cuda-gpu-arch=sm_70"],
        ["--cuda-device-only", "--cuda-gpu-arch=sm_80"],
    ],
    ids=lambda mode: mode[-1].removeprefix("--cuda-"),
)
def test_clang_compiles_it(mode: list[str], tmp_path: Path) -> None:
    """Host and device code. Clang 14 can't read CUDA 13's own headers: for_clang/ stands in."""
    if not (clang := shutil.which("clang++")):
        pytest.skip("there is no clang++ here: apt install clang")
    source = tmp_path / "alone.cu"
    source.write_text(ALONE, encoding="utf-8")
    options = ["-x", "cuda", *mode, "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
    options += [
        "-std=c++17",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-S",
        "-o",
        tmp_path / "alone.s",
    ]
    if "--cuda-device-only" in mode:
        options += ["-Xclang", "-target-feature", "-Xclang", "+ptx70"]
    command = [clang, *options, f"-I{HERE / 'for_clang'}", f"-I{CHAPTER}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "alone.s").read_text(encoding="utf-8")
    if "--cuda-device-only" in mode:
        assert text.count(".entry") == len(TYPES)
        assert "ld.global.v4.f32" in text and "ld.global.v2.f64" in text
        assert ("redux.sync" in text) == (mode[-1] == "--cuda-gpu-arch=sm_80")


#: What NVRTC, which has no standard library, needs in place of the header's own includes.
TRAITS = b"""#pragma once
namespace std {
template <bool, class A, class B> struct choose { using type = A; };
template <class A, class B> struct choose<false, A, B> { using type = B; };
template <bool Which, class A, class B> using conditional_t = typename choose<Which, A, B>::type;
template <class T> constexpr bool is_floating_point_v = T(1) / T(2) != T(0);
template <class T> constexpr bool is_signed_v = T(-1) < T(0);
}
"""


def test_its_kernels_compile_for_a_gtx_10xx(monkeypatch: pytest.MonkeyPatch) -> None:
    """compute_61, by NVRTC of CUDA 12: all that comes before the functions of the host."""
    monkeypatch.setitem(test_nvrtc.HEADERS, b"type_traits", TRAITS)
    monkeypatch.setitem(test_nvrtc.HEADERS, b"cuda_runtime.h", b"")
    kernels, host, _ = HEADER.read_text(encoding="utf-8").partition(HOST)
    assert host
    pairs = [re.findall(r"(?:const )?([a-z ]+)\*", types) for types in TYPES]
    names = [f"take_home::sum_kernel<{', '.join(pair)}>" for pair in pairs]
    log = test_nvrtc.compiled(kernels + "}\n", CHAPTER, names, 61)
    assert not log, log
    newer = kernels.replace("__CUDA_ARCH__ >= 800", "__CUDA_ARCH__ >= 600")
    assert "__reduce_add_sync" in test_nvrtc.compiled(newer + "}\n", CHAPTER, names, 61)


def streamless(header: Path) -> list[str]:
    """Calls in the header's usage that could name the stream and don't.

    With a stream that doesn't wait for the null stream, a workspace cleared in the latter may still
    be full when the sum begins. The embedded device runs everything in the order of the calls, so
    only a GPU would show it.
    """
    calls = re.findall(
        r"^///     take_home::((?:clear_workspace|sum)\(.*?\));", header.read_text(), re.M
    )
    assert len(calls) == 2, calls
    return [call for call in calls if not call.endswith(", stream)")]


def test_its_usage_clears_the_workspace_in_the_stream_of_the_sum(tmp_path: Path) -> None:
    assert streamless(HEADER) == []
    copy = planted(tmp_path, "clear_workspace(workspace, bytes, stream);", "clear_workspace(w, b);")
    assert streamless(copy) == ["clear_workspace(w, b)"]


# ------------------------------------------------------------------------------- what is in it


def ptx(work: Path, header: Path = HEADER) -> dict[str, list[str]]:
    """The instructions of each kernel for compute capability 9.0, by the types in its name."""
    source, out = work / "alone.cu", work / "alone.ptx"
    source.write_text(ALONE, encoding="utf-8")
    text = to_ptx(out, source, header=header).read_text(encoding="utf-8")
    parts = re.split(r"\.entry \w*?sum_kernelI(\w\w)EEv\w*\(", text)[1:]
    assert len(parts) == 2 * len(TYPES)
    return {
        types: [line.strip() for line in code.splitlines()]
        for types, code in zip(parts[::2], parts[1::2], strict=True)
    }


def fences(lines: list[str]) -> list[str]:
    """Stores, fences and atomics in their order, from the last store before the ticket on."""
    words = [match[0] for line in lines if (match := re.match(r"st\.global|membar\.gl|atom", line))]
    if "membar.gl" not in words:
        return words
    first = words.index("membar.gl")
    return words[first - 1 :]


def test_elements_come_by_16_bytes(tmp_path: Path) -> None:
    wide = {"i": "v4.u32", "j": "v4.u32", "x": "v2.u64", "f": "v4.f32", "d": "v2.f64"}
    for types, lines in ptx(tmp_path).items():
        loads = [line for line in lines if line.startswith(f"ld.global.{wide[types[0]]}")]
        # one tile alone, tiles in turn, and a last one that isn't full: four loads each
        assert len(loads) == 12, types


def test_an_sm_holds_as_many_threads_as_it_can(tmp_path: Path) -> None:
    """On an H200 2048, if each needs no more than 32 of its 65 536 registers, and none spills."""
    source = tmp_path / "alone.cu"
    source.write_text(ALONE, encoding="utf-8")
    done = compiled("-cubin", "-arch=sm_90", "-Xptxas=-v", source, "-o", tmp_path / "alone.cubin")
    assert done.returncode == 0, done.stderr
    used = [int(count) for count in re.findall(r"Used (\d+) registers", done.stderr)]
    assert len(used) == len(TYPES) and max(used) <= 65_536 // 2048, used
    assert done.stderr.count(" 0 bytes spill stores, 0 bytes spill loads") == len(TYPES)


FENCED = ["st.global", "membar.gl", "atom", "membar.gl", "st.global"]


def test_the_last_block_is_fenced(tmp_path: Path) -> None:
    kernels = ptx(tmp_path)
    for types in ("ff", "dd"):
        assert fences(kernels[types]) == FENCED
    for types in ("ii", "ix", "jy", "xx"):
        assert not any(line.startswith("membar") for line in kernels[types]), "words need no fence"


# ------------------------------------------------------------------------------- edges


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("cases") / "cases", CASES)


@pytest.mark.parametrize("profile", ["h200", "t4"])
def test_every_edge_is_right(cases: Path, profile: str) -> None:
    """On the T4 a grid of 160 blocks takes tiles in turn, and warps add by shuffles."""
    done = on_embedded(cases, EMU_DEVICE_PROFILE=profile)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.fullmatch(r"(\d+) checks, all right\n", done.stdout)
    assert found and int(found[1]) > 700


def test_lanes_may_run_apart(cases: Path) -> None:
    done = on_embedded(cases, EMU_SCHEDULE="apart:5")
    assert done.returncode == 0 and "apart:5" in done.stderr, done.stdout + done.stderr


def findings(path: Path, work: Path, **settings: str) -> list[str]:
    """What all checks of the embedded device find."""
    file = work / "findings.json"
    file.write_text("", encoding="utf-8")
    on_embedded(path, EMU_CHECK="all", EMU_FINDINGS=str(file), **settings)
    lines = file.read_text(encoding="utf-8").splitlines()
    return [f"{one['check']}: {one['what']}" for one in map(json.loads, lines)]


def test_the_checkers_find_nothing(cases: Path, tmp_path: Path) -> None:
    assert findings(cases, tmp_path) == []


# ------------------------------------------------------------------------------- examples


def test_the_example_on_the_page_runs(tmp_path: Path) -> None:
    done = on_embedded(built(tmp_path / "example", CHAPTER / "take_home_example.cu"))
    assert (done.returncode, done.stdout) == (0, "the sum is 3000000000\n"), done.stderr


def test_the_libraries_lines_on_the_page_run(tmp_path: Path) -> None:
    # Whole libraries, of which the header is no part: for the device that runs them alone.
    source = CHAPTER / "take_home_instead.cu"
    done = on_embedded(built(tmp_path / "instead", source, architectures=ARCHITECTURES[-1:]))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "CUB 3000000000, Thrust 3000000000, std 3000000000\n"


# ------------------------------------------------------------------------------- as fast as whole


def counted(variant: str, n: int, work: Path) -> dict[str, int]:
    page = work / "page.csv"
    arguments = ["--once", "--variant", variant, "--n", str(n)]
    # Blocks in turn: which one finishes is the same each time.
    settings = {"EMU_CSV": str(page), "EMU_THREADS": "1"}
    done = on_embedded(program(CHAPTER.name), *arguments, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    with page.open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["ID"]]
    return {name: int(value) for name, value in row.items() if name.endswith(".sum")}


@pytest.mark.parametrize("n", [1, 1000, 4096, 4097, 100_003, 2**20, 2**23 + 5])
@pytest.mark.parametrize(
    ("ours", "theirs"), [("take_home", "whole"), ("take_home_sum", "whole_sum")]
)
def test_it_does_what_the_chapters_last_kernel_does(
    ours: str, theirs: str, n: int, tmp_path: Path
) -> None:
    """The same accesses, in no more instructions."""
    mine, other = (counted(variant, n, tmp_path) for variant in (ours, theirs))
    accesses = [name for name in other if name.startswith("l1tex__")]
    assert len(accesses) >= 8
    assert {name: mine[name] for name in accesses} == {name: other[name] for name in accesses}
    assert mine["source__warp_instructions.sum"] <= other["source__warp_instructions.sum"]


# ------------------------------------------------------------------------------- planted faults


def planted(work: Path, old: str, new: str) -> Path:
    """A copy of the header with a fault in it."""
    text = HEADER.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    copy = work / HEADER.name
    copy.write_text(text.replace(old, new), encoding="utf-8")
    return copy


def in_kernels(header: Path) -> bool:
    """Does the copy differ in its kernels alone, and not in the functions of the host?"""
    ours, theirs = (path.read_text().partition(HOST)[2] for path in (HEADER, header))
    assert ours
    return ours == theirs


def faulty(header: Path, work: Path, cases: Path) -> tuple[Path, dict[str, str]]:
    """The cases with a copy of the header, and the settings to run them with.

    Where the fault is in a kernel, the kernels are compiled and the embedded device runs them in
    place of the program's own: that saves compiling the same code of the host once more.
    """
    if not in_kernels(header):
        return built(work / "cases", CASES, header=header), {}
    kernels = to_ptx(work / "cases.ptx", *STRICT, CASES, header=header)
    return cases, {"EMU_PTX": str(kernels)}


FAULTS = {
    "the tail is dropped": ("return thread < singles ?", "return thread < head ?", "ints, n = 1,"),
    "the head is dropped": (
        "in[thread < head ? thread : thread + kSize * vectors]",
        "(thread < head ? In{0} : in[thread + kSize * vectors])",
        "from element 1",
    ),
    "vectors begin anywhere": (
        "head = n < to_aligned ? n : to_aligned;",
        "head = n < to_aligned ? n : 0;",
        "misaligned address",
    ),
    "a last tile that isn't full is dropped": (
        "if (first < all.vectors) {",
        "if (first > all.vectors) {",
        r"ints, n = 4\d\d\d,",
    ),
    "a word is not cleared": ("words[0] = 0;  // for the next launch", "", "ints, n = 4097"),
    "a half's word is not cleared": (
        "if (last_high) words[1] = 0;",
        "",
        "ints in 64 bits, n = 4097",
    ),
    "the meeting place is not cleared": ("    words[2] = 0;\n", "", "halves that end in different"),
    "the ticket is not put back": (
        "atomicInc(ticket, gridDim.x - 1)",
        "atomicAdd(ticket, 1u)",
        "floats, n = 4097",
    ),
    "a partial sum is left out": (
        "b < gridDim.x; b += kThreads",
        "b + 1 < gridDim.x; b += kThreads",
        "floats, n = 8191",
    ),
    "doubles are added as floats": (
        "for (unsigned e = 0; e < Vector<In>::kSize; ++e) sum += static_cast<T>(v[k].element[e]);",
        "for (const In x : v[k].element) {\n"
        "      constexpr bool kDoubles = std::is_same_v<In, double>;\n"
        "      sum += kDoubles ? static_cast<T>(static_cast<float>(x)) : static_cast<T>(x);\n"
        "    }",
        "doubles that round",
    ),
    "any workspace will do": ("bytes >= needed &&", "bytes > 0 &&", "workspace that is too small"),
    "an earlier error is cleared": (
        "return cudaLaunchKernel(",
        "static_cast<void>(cudaGetLastError());\n  return cudaLaunchKernel(",
        "an earlier error was cleared",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, cases: Path, tmp_path: Path) -> None:
    old, new, words = FAULTS[fault]
    program, settings = faulty(planted(tmp_path, old, new), tmp_path, cases)
    done = on_embedded(program, **settings)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"^wrong: .*{words}", done.stdout), done.stdout


def test_a_missing_barrier_is_seen(cases: Path, tmp_path: Path) -> None:
    barrier = "  __syncthreads();\n  if (threadIdx.x >= 32) return 0;"
    copy = planted(tmp_path, barrier, barrier.partition("\n")[2])
    program, settings = faulty(copy, tmp_path, cases)
    found = findings(program, tmp_path, **settings)
    assert any(one.startswith("race: ") for one in found), found


@pytest.mark.parametrize("fence", ["release", "acquire"])
def test_a_missing_fence_is_seen(fence: str, cases: Path, tmp_path: Path) -> None:
    (line,) = re.findall(rf"^ *__threadfence\(\);  // {fence}: .*\n", HEADER.read_text(), re.M)
    copy = planted(tmp_path, line, "")
    assert fences(ptx(tmp_path, copy)["ff"]) != FENCED
    program, settings = faulty(copy, tmp_path, cases)
    found = findings(program, tmp_path, **settings)
    assert any("read after another block's write" in one for one in found), found
