"""What PyTorch and CuPy make of the book's problems, timed as the book times its own kernels.

usage: python3 -m tools.measuring.libraries floats|rows [--n N] [--samples COUNT]

``floats`` adds up chapter 11's data, and compares with the exact sum; ``rows`` works along the rows
of tables. Prints a transcript: a line that says where and when, a head, and a line per method. Each
sample is one call between two events, after a read of four times the L2; a kernel that spins holds
the device until the call is queued. Needs a GPU, PyTorch and CuPy; without: status 77.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from common.input import SEED, input_bits
from tools.measuring import NOT_AVAILABLE

KINDS = ("uniform", "mixed", "ill", "wide")
#: Elements made at a time: each takes some tens of bytes on the way.
PIECE = 2**22
#: How often a sum is taken again, to see whether its bits stay.
AGAIN = 20
#: Permutations of the data.
OTHER_ORDERS = 5
#: How long the device spins before each sample, in its cycles: 150 to 300 µs.
HOLD_CYCLES = 300_000
#: Lengths of rows; there are as many rows as n elements make.
COLUMNS = (4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072)

Array = Any  # of NumPy, PyTorch or CuPy, none of which is here where this is checked


def floats_at(np: Any, kind: str, seed: int, positions: Array) -> Array:
    """Chapter 11's floats at positions (its problem.cuh)."""

    def whole(bits: Array, shift: int) -> Array:
        return (bits >> np.uint64(shift)).astype(np.float64)

    if kind == "uniform":
        return (whole(input_bits(seed, positions, np.uint64), 40) * 2.0**-24).astype(np.float32)
    if kind == "mixed":
        steps = whole(input_bits(seed, positions, np.uint64), 39) - 2**24
        return (steps * 2.0**-24).astype(np.float32)
    if kind == "ill":
        at = positions % np.uint64(4096) + positions // np.uint64(8192) * np.uint64(4096)
        large = 1 + whole(input_bits(seed, at, np.uint64), 53) * 2.0**-11
        small = whole(input_bits(seed + 1, positions, np.uint64), 53) * 2.0**-23
        first = (positions & np.uint64(4096)) == 0
        return np.where(first, large + small, small - large).astype(np.float32)
    bits = input_bits(seed, positions, np.uint64)
    power = ((bits & np.uint64(0xFFFF)) * np.uint64(120)) >> np.uint64(16)
    words = bits >> np.uint64(32) & np.uint64(0x807FFFFF) | (power + np.uint64(67)) << np.uint64(23)
    return words.astype(np.uint32).view(np.float32)


def floats(np: Any, kind: str, n: int, seed: int = SEED) -> Array:
    """The first n of them."""
    made = np.empty(n, np.float32)
    for start in range(0, n, PIECE):
        positions = np.arange(start, min(start + PIECE, n), dtype=np.uint64)
        made[start : start + PIECE] = floats_at(np, kind, seed, positions)
    return made


def exact_sum(np: Any, data: Array) -> Fraction:
    """The sum of finite floats, without rounding: up to 2^29 of them, as doubles count to 2^53."""
    added = np.zeros(256)
    for start in range(0, len(data), PIECE):
        words = data[start : start + PIECE].view(np.uint32)
        exponents = (words >> np.uint32(23)) & np.uint32(255)
        digits = (words & np.uint32(0x7FFFFF)).astype(np.float64) + 2.0**23 * (exponents > 0)
        digits = np.where(words >> np.uint32(31), -digits, digits)
        added += np.bincount(exponents, weights=digits, minlength=256)
    total = sum(int(part) << max(power, 1) for power, part in enumerate(added))
    return Fraction(total, 2**150)


def relative_error(found: float, exact: Fraction) -> float:
    """How far a sum is off, as the book's records have it."""
    off = abs(Fraction(found) - exact)
    return float(off / abs(exact)) if off else 0.0


class Clock:
    """Times calls on the device."""

    def __init__(self, torch: Any, samples: int) -> None:
        self._torch, self._samples = torch, samples
        size = torch.cuda.get_device_properties(0).L2_cache_size
        self._other = torch.zeros(size, dtype=torch.int32, device="cuda")  # four times as much

    def times(self, call: Callable[[], object]) -> list[float]:
        """Microseconds of each sample, in order of size."""
        event = self._torch.cuda.Event
        for _ in range(3):
            call()
        pairs = []
        for _ in range(self._samples):
            self._other.max()  # reads it all
            self._torch.cuda._sleep(HOLD_CYCLES)  # the call's own launches take the host a while
            start, stop = event(enable_timing=True), event(enable_timing=True)
            start.record()
            call()
            stop.record()
            pairs.append((start, stop))
        self._torch.cuda.synchronize()
        return sorted(1000 * start.elapsed_time(stop) for start, stop in pairs)


def spread(times: list[float]) -> str:
    """Median and quartiles, in microseconds."""
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:10.2f} {low:10.2f} {high:10.2f}"


#: Whose sum, in what, how it holds PyTorch's data, and the call.
Way = tuple[str, str, Callable[[Array], Array], Callable[[Array], Array]]


def ways_to_add(torch: Any, cupy: Any) -> list[Way]:
    """Each library's sums."""
    return [
        ("torch", "float", lambda x: x, lambda x: x.sum()),
        ("torch", "double", lambda x: x, lambda x: x.sum(dtype=torch.float64).float()),
        ("cupy", "float", cupy.from_dlpack, lambda x: x.sum()),
        ("cupy", "double", cupy.from_dlpack,
         lambda x: x.sum(dtype=cupy.float64).astype(cupy.float32)),
    ]  # fmt: skip


def sums_of_floats(torch: Any, cupy: Any, n: int, clock: Clock, ways: list[Way]) -> Iterator[str]:
    """A line for each way of each library to add floats up, on each kind of data: its error, and
    how many results it has among launches of the same data, with those of data four bytes on, and
    with those of other orders."""
    width = max(8, *(len(method) for _library, method, _held, _add in ways))
    yield (
        f"{'library':8} {'method':{width}} {'data':8} {'n':>10} {'error':>10} "
        f"{'again':>6} {'moved':>6} {'order':>6} {'us':>10} {'from':>10} {'to':>10}"
    )
    for kind in KINDS:
        made = floats(cupy, kind, n)
        exact = exact_sum(cupy, made)
        data = torch.from_dlpack(made)
        moved = torch.empty(n + 1, device="cuda")[1:].copy_(data)  # four bytes on
        chance = torch.Generator(device="cuda").manual_seed(SEED)
        orders = [
            data[torch.randperm(n, device="cuda", generator=chance)] for _ in range(OTHER_ORDERS)
        ]
        for library, method, held, add in ways:
            times = clock.times(partial(add, held(data)))
            again = [float(add(held(data))) for _ in range(AGAIN)]
            there = float(add(held(moved)))
            other = [float(add(held(order))) for order in orders]
            yield (
                f"{library:8} {method:{width}} {kind:8} {n:10} "
                f"{relative_error(again[0], exact):10.3e} "
                f"{len(set(again)):6} {len({again[0], there}):6} {len({again[0], *other}):6} "
                f"{spread(times)}"
            )


def ways_along_rows(torch: Any, table: Array) -> dict[str, Callable[[], object]]:
    """What PyTorch does along the rows of a table, and along its columns."""
    weight, bias = torch.rand(2, table.shape[1], device="cuda")
    norm = torch.nn.functional.layer_norm
    return {
        "sum": lambda: table.sum(1),
        "maximum": lambda: table.amax(1),
        "argmax": lambda: table.argmax(1),
        "moments": lambda: torch.var_mean(table, 1, correction=0),
        "softmax": lambda: torch.softmax(table, 1),
        "layer_norm": lambda: norm(table, table.shape[1:], weight, bias),
        "column_sum": lambda: table.sum(0),
    }


def work_along_rows(torch: Any, n: int, clock: Clock) -> Iterator[str]:
    """A line for each operation at each shape."""
    yield (
        f"{'library':8} {'method':12} {'rows':>9} {'columns':>8} {'us':>10} {'from':>10} {'to':>10}"
    )
    for columns in COLUMNS:
        rows = n // columns
        if rows == 0:
            continue
        chance = torch.Generator(device="cuda").manual_seed(SEED)
        table = torch.empty(rows, columns, device="cuda").uniform_(-8, 12, generator=chance)
        for method, call in ways_along_rows(torch, table).items():
            yield f"{'torch':8} {method:12} {rows:9} {columns:8} {spread(clock.times(call))}"


def torch_and_cupy() -> tuple[Any, Any] | None:
    """PyTorch and CuPy; None, once it has been said, where one of them or a GPU is missing."""
    try:
        import cupy  # type: ignore[import-not-found]
        import torch  # type: ignore[import-not-found]
    except ImportError as error:
        print(f"{error}: this needs PyTorch and CuPy", file=sys.stderr)
        return None
    if not torch.cuda.is_available():
        print("PyTorch finds no GPU here", file=sys.stderr)
        return None
    return torch, cupy


def heading(torch: Any, cupy: Any, beside: str = "") -> str:
    """A transcript's first line: the device and the versions, after those of what is *beside*."""
    today = datetime.datetime.now(datetime.UTC).date()
    return (
        f"# {torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}, {today}: "
        f"{beside}PyTorch {torch.__version__}, CuPy {cupy.__version__}"
    )


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tools.measuring.libraries", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("what", choices=("floats", "rows"))
    parser.add_argument("--n", type=int, default=2**28, help="elements (default: 2^28)")
    parser.add_argument("--samples", type=int, default=31, help="calls per time (default: 31)")
    chosen = parser.parse_args(arguments)
    if not 2 <= chosen.n <= 2**29 or chosen.samples < 2:
        parser.error("--n takes 2 to 2^29 elements, and --samples 2 or more")
    found = torch_and_cupy()
    if not found:
        return NOT_AVAILABLE
    torch, cupy = found
    clock = Clock(torch, chosen.samples)
    print(heading(torch, cupy))
    lines = (
        sums_of_floats(torch, cupy, chosen.n, clock, ways_to_add(torch, cupy))
        if chosen.what == "floats"
        else work_along_rows(torch, chosen.n, clock)
    )
    for line in lines:
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
