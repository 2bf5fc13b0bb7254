"""Every kernel of the book also compiles with NVRTC of the newest CUDA 12 and the newest CUDA 13.

The chapters' own, the classic forms, the answers to exercises and the answers to puzzles. CUDA 12
compiles them for a GTX 10xx (compute_61), as CUDA 13 begins at compute_75. Package indexes don't
have nvcc 12, but they have NVRTC 12. The book's own nvcc is of CUDA 13.0. The take-home header has
a test of its own, test_take_home.py.
"""

from __future__ import annotations

import ctypes
import re
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.release

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted(
    path
    for pattern in ("*.cuh", "puzzles/*/answer.cu")
    for path in (ROOT / "chapters").glob(f"chapter*/{pattern}")
    if path.name != "take_home.cuh" and "__global__" in path.read_text(encoding="utf-8")
)
#: One instance compiles, and two don't: what its page shows.
CLASHES = "typed_clash"
#: Puzzles whose text gives the reader a builtin of compute_80.
OF_80 = {
    "chapter08_multi_pass/puzzles/3_one_word/answer.cu",
    "chapter13_small_and_large/puzzles/1_many_small/answer.cu",
}

HALF = b"""#pragma once
struct TYPE { unsigned short bits; };
struct TYPE2 { TYPE x, y; };
__device__ float TO_FLOAT(TYPE);
__device__ float2 __half22float2(TYPE2);
__device__ TYPE2 __hadd2(TYPE2, TYPE2);
"""

# NVRTC knows no host headers; these are all that the kernels take of them. Of cooperative groups,
# of atomic references and of types of 16 bits no more can be seen here than that they are called as
# they should.
HEADERS = {
    b"climits": b"""#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define SIZE_MAX 18446744073709551615u""",
    b"cstddef": b"namespace std { using size_t = decltype(sizeof(0)); }",
    b"cstdint": b"""namespace std {
using uint64_t = unsigned long;
using uintptr_t = decltype(sizeof(0));
}""",
    b"type_traits": b"""namespace std {
template <bool, class A, class> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool Is, class A, class B> using conditional_t = typename conditional<Is, A, B>::type;
template <class, class> inline constexpr bool is_same_v = false;
template <class A> inline constexpr bool is_same_v<A, A> = true;
}""",
    b"utility": b"""namespace std {
template <class T> constexpr T&& move(T& x) noexcept { return static_cast<T&&>(x); }
}""",
    b"cuda/atomic": b"""namespace cuda {
enum thread_scope { thread_scope_device, thread_scope_system };
enum memory_order {
  memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel
};
template <class T, thread_scope> struct atomic_ref {
  __device__ explicit atomic_ref(T&) {}
  __device__ T fetch_add(T, memory_order) const { return {}; }
  __device__ T load(memory_order) const { return {}; }
  __device__ void store(T, memory_order) const {}
};
}""",
    b"cuda_fp16.h": HALF.replace(b"TYPE", b"__half").replace(b"TO_FLOAT", b"__half2float"),
    b"cuda_bf16.h": HALF.replace(b"TYPE2", b"__nv_bfloat162")
    .replace(b"TYPE", b"__nv_bfloat16")
    .replace(b"__half22float2", b"__bfloat1622float2")
    .replace(b"TO_FLOAT", b"__bfloat162float"),
    b"cooperative_groups.h": b"""#pragma once
namespace cooperative_groups {
struct grid_group { __device__ void sync() const {} };
inline __device__ grid_group this_grid() { return {}; }
struct cluster_group {
  struct arrival_token {};
  __device__ unsigned block_rank() const { return 0; }
  __device__ unsigned num_blocks() const { return 1; }
  __device__ arrival_token barrier_arrive() const { return {}; }
  __device__ void barrier_wait(arrival_token&&) const {}
  template <class T> __device__ T* map_shared_rank(T* at, int) const { return at; }
};
inline __device__ cluster_group this_cluster() { return {}; }
}
// What nvcc includes by itself.
inline __device__ void cudaTriggerProgrammaticLaunchCompletion() {}
inline __device__ void cudaGridDependencySynchronize() {}""",
}

#: A template compiles for 61 only where it is used: arguments to try, for a number and for a type.
ARGUMENTS = {
    r"unsigned\s+\w+": ("1", "4", "64"),
    r"unsigned\s+Block,.*": ("64, 4", "256, 4"),
    r"bool\s+\w+": ("false", "true"),
    r"class\s+Sum": ("unsigned", "long long"),
    r"unsigned\s+Bytes,\s*unsigned\s+Stages": ("4096, 4",),
    r"class\s+Element": ("unsigned char", "unsigned", "uint2", "uint4"),
    r"class\s+Layout.*": ("chapter04::Padded", "chapter04::SwizzledBy4"),
    r"class\s+Total,\s*unsigned\s+Loads": ("chapter11::Kahan, 4", "chapter11::Double, 4"),
    r"template <class> class Way,.*": (
        "chapter11::InGroups, 4, __half",
        "chapter11::ByMatrix, 4, __nv_bfloat16",
    ),
    r"class\s+Total,\s*class\s+Word": ("chapter12::Moments, float", "chapter12::Argmax, float4"),
    r"class\s+Total,\s*class\s+Word,\s*unsigned\s+Lanes.*": ("chapter12::Sum, float4, 8, 4",),
    r"class\s+Total,\s*class\s+Word,\s*unsigned\s+Loads": ("chapter12::Sum, float, 8",),
    r"class\s+Word,\s*unsigned\s+Lanes.*": ("float4, 4, 2", "float, 32, 8"),
    r"class\s+Word,\s*unsigned\s+Words,\s*unsigned\s+Most": ("float4, 8, 512",),
    r"class\s+Word,\s*unsigned\s+(Words|Loads)": ("float4, 4", "float, 4"),
    r"class\s+Operation": ("chapter02::answers::Largest", "chapter02::answers::Smallest"),
    r"class\s+\w+": ("int", "long long"),
}
TEMPLATE = re.compile(
    r"template\s*<((?:[^<>]|<[^<>]*>)*)>\s*__global__\s+void\s+(?:__\w+__\([^)]*\)\s*)?(\w+)\("
)


#: An architecture, and where the wheel of the CUDA that compiles for it has its library.
LIBRARIES = {
    61: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    75: "nvidia/cu13/lib/libnvrtc.so.13",
    120: "nvidia/cu13/lib/libnvrtc.so.13",
}


def nvrtc(arch: int) -> ctypes.CDLL:
    library = Path(sysconfig.get_path("platlib")) / LIBRARIES[arch]
    assert library.is_file(), f"no {library}: tools/requirements-test.txt names it"
    return ctypes.CDLL(str(library))


def compiled(source: str, folder: Path, names: list[str], arch: int) -> str:
    """Compiles `source`, with includes from `folder`; the log where it does not compile."""
    lib = nvrtc(arch)
    program = ctypes.c_void_p()
    count = len(HEADERS)
    contents = (ctypes.c_char_p * count)(*HEADERS.values())
    header_names = (ctypes.c_char_p * count)(*HEADERS)
    created = lib.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernels.cu", count, contents, header_names
    )
    assert created == 0
    for name in names:
        assert lib.nvrtcAddNameExpression(program, name.encode()) == 0
    options = [
        f"--gpu-architecture=compute_{arch}".encode(),
        b"--std=c++20",
        b"--device-as-default-execution-space",  # constants that the host reckons too
        b"--define-macro=INFINITY=__int_as_float(0x7f800000)",  # nvcc brings <cmath> along
        b"--include-path=" + str(folder).encode(),
    ]
    array = (ctypes.c_char_p * len(options))(*options)
    status = lib.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    if status == 0:
        lib.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetPTX(program, ptx)
        assert f".target sm_{arch}".encode() in ptx.value
        assert ptx.value.count(b".entry") >= max(1, len(names)), "no kernel came out"
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    return "" if status == 0 else log.value.decode()


def instances(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    space = re.search(r"^namespace (\S+) \{", text, re.MULTILINE)
    inside = f"{space[1]}::" if space else ""
    found = []
    for parameters, name in TEMPLATE.findall(text):
        tried = [each for kind, each in ARGUMENTS.items() if re.fullmatch(kind, parameters)]
        assert tried, (
            f"{path}: {name} takes template <{parameters}>; known: one unsigned, one class"
        )
        arguments = tried[0][:1] if name == CLASHES else tried[0]
        found += [f"{inside}{name}<{argument}>" for argument in arguments]
    return found


def within(path: Path) -> str:
    return str(path.relative_to(ROOT / "chapters"))


def test_there_are_kernels() -> None:
    kinds = {path.name for path in KERNELS}
    assert kinds >= {"kernels.cuh", "legacy.cuh", "answers.cuh", "answer.cu"}


@pytest.mark.parametrize("arch", LIBRARIES)
@pytest.mark.parametrize("path", KERNELS, ids=within)
def test_kernels_compile(path: Path, arch: int) -> None:
    log = compiled(f'#include "{path.name}"\n', path.parent, instances(path), arch)
    if within(path) in OF_80 and arch < 80:
        assert log.count("error:") == log.count('"__reduce_add_sync" is undefined') > 0
    else:
        assert not log, log


def test_newer_code_is_refused(tmp_path: Path) -> None:
    """The check sees what compute_61 lacks: here a warp reduction of compute_80."""
    (tmp_path / "kernels.cuh").write_text(
        "__global__ void k(int* p) { *p = __reduce_add_sync(~0u, *p); }\n"
    )
    assert "__reduce_add_sync" in compiled('#include "kernels.cuh"\n', tmp_path, [], 61)
