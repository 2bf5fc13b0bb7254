"""Chapter 13's and 11's sums beside other people's, and what else a time depends on.

usage: python3 -m tools.measuring.rivals sums|floats|steady --cccl FOLDER [--build DIR]
                                         [--samples COUNT]

``sums`` times sums of ints in 64 bits: ours, CUB's and Thrust's of the toolkit and of a newer CCCL,
PyTorch's and CuPy's. ``floats`` adds up chapter 11's data, by the plain and the exact sum and by
CUB's with each promise that the newer CCCL makes, and compares with the exact sum as ``libraries``
does. ``steady`` times ours on other values, at other addresses, and once a second
through a minute of load. FOLDER is a newer CCCL's headers, unpacked from the package index:

    pip download --no-deps nvidia-cuda-cccl==13.3.5.0.6
    unzip nvidia_cuda_cccl-*.whl        # FOLDER is nvidia/cu13/include/cccl in it

DIR keeps what is compiled, for the next time. Times are taken as in ``libraries``. Needs a GPU,
nvcc, PyTorch and CuPy; without: status 77.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from common.input import SEED, input_bits
from tools.measuring import NOT_AVAILABLE
from tools.measuring.libraries import (
    Array,
    Clock,
    Way,
    heading,
    spread,
    sums_of_floats,
    torch_and_cupy,
)

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "chapters" / "chapter13_small_and_large" / "rivals.cu"
SIZES = tuple(2**power for power in (0, 8, 10, 12, 14, 16, 17, 18, 20, 22, 24, 26, 28, 30))
#: The functions of the library, and what they are called on the page; some only newer CCCLs have.
OURS = {
    "ours": "whole",
    "ours_one_warp": "one_warp",
    "ours_one_block": "one_block",
    "ours_few_blocks": "few_blocks",
    "ours_by_512": "whole,512",
    "ours_by_rings": "warp_rings_2x8192",
}
#: The sizes that those made for few elements, or for many, are asked for.
BOUNDS = {
    "one_warp": (0, 2**12),
    "one_block": (0, 2**17),
    "few_blocks": (0, 2**17),
    "whole,512": (2**20, max(SIZES)),
    "warp_rings_2x8192": (2**20, max(SIZES)),
}
THEIRS = {
    "cub_plain": "sum",
    "cub_atomic": "sum,not_guaranteed",
    "cub_tuned_256": "sum,tuned_256x16",
    "cub_tuned_512": "sum,tuned_512x32",
    "cub_atomic_512": "sum,not_guaranteed,tuned_512x32",
    "thrust_into_host": "reduce",
}
#: Those of floats, whose library, and what they are called on the page.
FLOATS = {
    "ours_plain_floats": ("book", "plain"),
    "ours_exact_floats": ("book", "exact"),
    "cub_floats_not_guaranteed": ("cub", "not_guaranteed"),
    "cub_floats_run_to_run": ("cub", "run_to_run"),
    "cub_floats_gpu_to_gpu": ("cub", "gpu_to_gpu"),
}
LARGE = 2**28
PLACES = 9
#: Where arrays begin: bytes from a multiple of 2 MiB, the size of a page.
PAGE = 2**21
OFFSETS = (0, 4, 16, 32, 64, 128)
SECONDS = 60
#: Values made at a time.
PIECE = 2**24

Call = Callable[[], object]
Name = TypeVar("Name")


class Wrong(Exception):
    """A sum that isn't right, or a call that failed."""


def compile_rivals(cccl: Path | None, folder: Path) -> ctypes.CDLL:
    """The library of rivals, by the CCCL in a folder; by the toolkit's without."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    library = folder / ("newer.so" if cccl else "toolkit.so")
    headers = ["-I", str(cccl)] if cccl else []
    flags = ["-std=c++20", "-O3", "-arch=native", "-shared", "-Xcompiler=-fPIC"]
    if not library.exists():
        subprocess.run([nvcc, *flags, *headers, "-o", str(library), str(SOURCE)], check=True)
    return ctypes.CDLL(str(library))


def sums_of(library: ctypes.CDLL, names: Mapping[str, Name]) -> dict[Name, Any]:
    """Its functions, by what they are called on the page."""
    found = {}
    for function, named in names.items():
        if hasattr(library, function):
            call = getattr(library, function)
            call.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
            found[named] = call
    return found


def queue(call: Any, data: Array, out: Array) -> None:
    """Queues a sum of the library's."""
    if error := call(data.data_ptr(), out.data_ptr(), data.numel()):
        raise Wrong(f"CUDA's error {error}")


def version_text(library: ctypes.CDLL) -> str:
    """3.5.0 of 3005000."""
    number = library.rivals_version()
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def values(cupy: Any, n: int) -> Array:
    """The book's input, 0 to 255."""
    made = cupy.empty(n, cupy.int32)
    for start in range(0, n, PIECE):
        at = cupy.arange(start, min(start + PIECE, n), dtype=cupy.uint64)
        made[start : start + PIECE] = input_bits(SEED, at, cupy.uint64) >> cupy.uint64(56)
    return made


def timed_sums(
    torch: Any, cupy: Any, libraries: dict[str, ctypes.CDLL], clock: Clock
) -> Iterator[str]:
    """A line for each sum at each size, after a look at its result."""
    yield f"{'library':8} {'method':32} {'n':>10} {'us':>10} {'from':>10} {'to':>10}"
    everything = torch.from_dlpack(values(cupy, max(SIZES)))
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    found: list[tuple[str, str, Any]] = []
    for name, library in libraries.items():
        if not found:
            found += [("book", named, call) for named, call in sums_of(library, OURS).items()]
        for named, call in sums_of(library, THEIRS).items():
            found.append((f"{'thrust' if named == 'reduce' else 'cub'}{name}", named, call))
    for n in SIZES:
        data = everything[:n]
        there = cupy.from_dlpack(data)
        right = int(data.sum(dtype=torch.int64))
        for library_name, method, call in found:
            least, most = BOUNDS.get(method, (0, n))
            if not least <= n <= most:
                continue
            out.fill_(-1)
            queue(call, data, out)
            if int(out) != right:
                raise Wrong(f"{library_name} {method}, n = {n}: {int(out)}, and {right} is right")
            times = clock.times(partial(queue, call, data, out))
            yield f"{library_name:8} {method:32} {n:10} {spread(times)}"
        calls: list[tuple[str, Call]] = [
            ("torch", partial(data.sum, dtype=torch.int64)),
            ("cupy", partial(there.sum, dtype=cupy.int64)),
        ]
        for library_name, add in calls:
            yield f"{library_name:8} {'sum':32} {n:10} {spread(clock.times(add))}"


def ways_to_add_floats(torch: Any, library: ctypes.CDLL) -> list[Way]:
    """Each sum of floats in the library, as ``libraries`` takes it."""
    out = torch.zeros(1, device="cuda")

    def way(call: Any) -> Callable[[Array], Array]:
        def add(data: Array) -> Array:
            queue(call, data, out)
            return out

        return add

    calls = sums_of(library, FLOATS)
    return [(*named, lambda data: data, way(call)) for named, call in calls.items()]


def condition() -> str:
    """The clock in MHz, watts and degrees, as nvidia-smi has them now."""
    fields = "clocks.sm,power.draw,temperature.gpu"
    asked = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "-i", "0"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    clock, watts, degrees = (word.strip() for word in said.split(","))
    return f"{clock:>6} {watts:>7} {degrees:>4}"


def steadiness(torch: Any, cupy: Any, library: ctypes.CDLL, clock: Clock) -> Iterator[str]:
    """A line for each kind of values, for each place, and for each second of load."""
    yield (
        f"{'what':8} {'which':>16} {'us':>10} {'from':>10} {'to':>10} {'MHz':>6} {'W':>7} {'C':>4}"
    )
    call = sums_of(library, OURS)["whole"]
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    chance = torch.Generator(device="cuda").manual_seed(SEED)
    kinds = {
        "zeros": torch.zeros(LARGE, dtype=torch.int32, device="cuda"),
        "0 to 255": torch.from_dlpack(values(cupy, LARGE)),
        "random bits": torch.randint(
            -(2**31), 2**31, (LARGE,), dtype=torch.int32, device="cuda", generator=chance
        ),
    }

    def line(what: str, which: str, data: Array) -> str:
        times = clock.times(partial(queue, call, data, out))
        return f"{what:8} {which.replace(' ', '_'):>16} {spread(times)} {condition()}"

    for _ in range(3):  # in turn, so that a drift isn't taken for a difference
        for kind, data in kinds.items():
            yield line("values", kind, data)
    kept = kinds.pop("0 to 255")
    kinds.clear()
    del data
    torch.cuda.empty_cache()
    cupy.get_default_memory_pool().free_all_blocks()
    free = torch.cuda.mem_get_info()[0] - 2**30
    room = torch.empty(free // 4, dtype=torch.int32, device="cuda")
    first = -room.data_ptr() % PAGE
    last = (4 * room.numel() - first - 4 * LARGE) // PAGE - 1
    for place in range(PLACES):
        page = first + last * place // (PLACES - 1) * PAGE
        for further in OFFSETS:
            data = room[(page + further) // 4 :][:LARGE]
            data.copy_(kept)
            yield line("place", f"{page / 2**30:.1f}GiB+{further}B", data)
    del room
    began = time.monotonic()
    for second in range(SECONDS + 1):
        yield line("second", str(second), kept)
        while time.monotonic() < began + second + 1:
            for _ in range(200):
                queue(call, kept, out)
            torch.cuda.synchronize()


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tools.measuring.rivals", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("what", choices=("sums", "floats", "steady"))
    parser.add_argument("--cccl", type=Path, required=True, help="the headers of a newer CCCL")
    parser.add_argument("--build", type=Path, help="keeps what is compiled there")
    parser.add_argument("--samples", type=int, default=31, help="calls per time (default: 31)")
    chosen = parser.parse_args(arguments)
    if chosen.samples < 2:
        parser.error("--samples takes 2 or more")
    if not (chosen.cccl / "cub").is_dir():
        parser.error(f"--cccl {chosen.cccl}: there is no folder cub in it")
    available = torch_and_cupy()
    if not available:
        return NOT_AVAILABLE
    torch, cupy = available
    torch.cuda.init()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = chosen.build or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        newer = compile_rivals(chosen.cccl, folder)
        libraries = {"": newer}
        if chosen.what == "sums":
            libraries["-cuda"] = compile_rivals(None, folder)
        for library in libraries.values():
            if failed := library.rivals_begin():
                raise Wrong(f"CUDA's error {failed}")
        clock = Clock(torch, chosen.samples)
        versions = "".join(
            f"CCCL {version_text(library)}{' (the toolkit)' if name else ''}, "
            for name, library in libraries.items()
        )
        print(heading(torch, cupy, versions))
        if chosen.what == "sums":
            lines = timed_sums(torch, cupy, libraries, clock)
        elif chosen.what == "floats":
            ways = ways_to_add_floats(torch, newer)
            lines = sums_of_floats(torch, cupy, LARGE, clock, ways)
        else:
            lines = steadiness(torch, cupy, newer, clock)
        for line in lines:
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
