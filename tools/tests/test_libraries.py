"""What is compared with PyTorch and CuPy: the same data, the exact sum, and lines that say so."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from common.input import SEED
from figures.chapters import chapter11_floats
from tools.measuring import NOT_AVAILABLE, libraries
from tools.tests.built import BUILD
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[2]


def test_floats_are_those_of_the_chapter() -> None:
    for kind, at in (("wide", chapter11_floats.wide_at), ("uniform", chapter11_floats.uniform_at)):
        made = libraries.floats(np, kind, 5000).view(np.uint32)
        assert made.tolist() == [at(SEED, position) for position in range(5000)]


@pytest.mark.parametrize("kind", libraries.KINDS)
def test_the_exact_sum_is_what_the_program_has(kind: str) -> None:
    program = BUILD / "chapters/chapter11_floats/chapter11_floats"
    done = subprocess.run(
        [program, "--once", "--variant", f"exact_{kind}", "--n", "65536"],
        capture_output=True, text=True, timeout=LIMIT, check=True,
        env={"LD_LIBRARY_PATH": str(BUILD / "emulator/lib")},
    )  # fmt: skip
    said = re.search(r"the exact sum, to the nearest float: (\S+)", done.stdout)
    assert said, done.stdout
    exact = libraries.exact_sum(np, libraries.floats(np, kind, 65536))
    assert np.float32(float(exact)) == np.float32(float(said[1]))


@pytest.mark.parametrize("kind", libraries.KINDS)
@pytest.mark.parametrize("n", [0, 1, 31, 4097, libraries.PIECE + 3])
def test_the_exact_sum_has_no_rounding(kind: str, n: int) -> None:
    data = libraries.floats(np, kind, n)
    if n > 5000:
        assert float(libraries.exact_sum(np, data)) == math.fsum(data.tolist())
    else:
        assert libraries.exact_sum(np, data) == sum(map(Fraction, data.tolist()))


def test_denormals_and_signs() -> None:
    data = np.array([2.0**-149, -(2.0**-149), 2.0**-126, 3.0e38, -3.0e38, -0.0], np.float32)
    assert libraries.exact_sum(np, data) == Fraction(1, 2**126)


def test_an_error_is_of_the_exact_sum() -> None:
    assert libraries.relative_error(1.5, Fraction(1)) == 0.5
    assert libraries.relative_error(-1.0, Fraction(-2)) == 0.5
    assert libraries.relative_error(0.0, Fraction(0)) == 0


class Tensor(np.ndarray[Any, Any]):
    """As much of PyTorch's as is called."""

    def copy_(self, other: Any) -> Tensor:
        self[...] = other
        return self

    def sum(self, dtype: Any = None) -> Any:  # type: ignore[override]
        # One order for all data, and another for those that begin elsewhere.
        order = self if self.ctypes.data % 16 == 0 else self[::-1]
        return np.array(np.add.accumulate(order, dtype=dtype)[-1]).view(Tensor)

    def float(self) -> Tensor:
        return self.astype(np.float32)


class Still(libraries.Clock):
    def __init__(self) -> None:
        pass

    def times(self, call: Any) -> list[float]:
        call()
        return [1.0, 2.0, 3.0, 4.0]


def test_the_device_is_held_until_a_call_is_queued() -> None:
    queued: list[str] = []

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            queued.append("event")

        def elapsed_time(self, _other: Event) -> float:
            return 0.002

    def zeros(n: int, dtype: Any, device: str) -> Any:
        assert (n, dtype, device) == (1024, np.int32, "cuda")  # four times the L2
        return SimpleNamespace(max=lambda: queued.append("read"))

    torch = SimpleNamespace(
        int32=np.int32,
        zeros=zeros,
        cuda=SimpleNamespace(
            Event=Event,
            get_device_properties=lambda _card: SimpleNamespace(L2_cache_size=1024),
            _sleep=lambda cycles: queued.append(f"hold {cycles}"),
            synchronize=lambda: queued.append("wait"),
        ),
    )
    times = libraries.Clock(torch, 2).times(lambda: queued.append("call"))
    sample = ["read", f"hold {libraries.HOLD_CYCLES}", "event", "call", "event"]
    assert queued == [*3 * ["call"], *2 * sample, "wait"] and times == [2.0, 2.0]


def test_each_way_has_a_line() -> None:
    chance = np.random.default_rng(1)
    generator = SimpleNamespace(manual_seed=lambda _seed: None)
    torch = SimpleNamespace(
        float64=np.float64,
        from_dlpack=lambda x: x.view(Tensor),
        empty=lambda n, device: np.empty(n, np.float32).view(Tensor),
        Generator=lambda device: generator,
        randperm=lambda n, device, generator: chance.permutation(n),
    )
    cupy = SimpleNamespace(**{**vars(np), "from_dlpack": lambda x: x.view(np.ndarray)})
    head, *lines = libraries.sums_of_floats(
        torch, cupy, 5000, Still(), libraries.ways_to_add(torch, cupy)
    )
    names = head.split()
    found = [dict(zip(names, line.split(), strict=True)) for line in lines]
    assert [(each["library"], each["method"]) for each in found[:4]] == [
        ("torch", "float"), ("torch", "double"), ("cupy", "float"), ("cupy", "double")
    ]  # fmt: skip
    assert [each["data"] for each in found[::4]] == list(libraries.KINDS)
    ill = found[4 * libraries.KINDS.index("ill")]
    assert (ill["again"], ill["moved"], ill["n"], ill["us"]) == ("1", "2", "5000", "2.50")
    assert int(ill["order"]) > 2 and float(ill["error"]) > 1e-6
    doubled = found[4 * libraries.KINDS.index("ill") + 1]
    assert float(doubled["error"]) < 1e-7 and doubled["order"] == "1"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["floats"], NOT_AVAILABLE, "needs PyTorch and CuPy"),
        (["sums"], 2, "invalid choice: 'sums'"),
        (["rows", "--n", "1"], 2, "--n takes 2 to 2^29 elements"),
    ],
)
def test_what_is_missing_is_said(arguments: list[str], status: int, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "tools.measuring.libraries", *arguments],
        capture_output=True, text=True, timeout=LIMIT, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == status and says in done.stderr and done.stdout == ""
