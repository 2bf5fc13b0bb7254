"""Made-up recordings in the recorded shape, for tests alone.

The numbers come from a small model, so that curves look like curves. They are never saved under
figures/data, and the device's name says what they are.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common.records import columns
from common.records.counters import NCU, STALLS
from common.records.naming import REFERENCE
from common.records.schema import Device
from figures import chapters
from figures.kit.costs import Counts

CHAPTERS = (
    "chapter00_timing",
    "chapter01_gmem",
    "chapter02_smem",
    "chapter03_divergence",
    "chapter04_bank_conflicts",
    "chapter05_unroll4",
    "chapter06_dynamic_smem",
    "chapter07_effective_bandwidth",
    "chapter08_multi_pass",
    "chapter09_histogram",
    "chapter10_coalescing",
)

DEVICE: Device = {
    "name": "Made-up GPU",
    "compute_capability": "9.0",
    "sm_count": 132,
    "max_threads_per_sm": 2048,
    "l2_bytes": 62914560,
    "global_bytes": 150_000_000_000,
    "shared_per_block": 49152,
    "shared_per_sm": 233472,
    "shared_optin": 232448,
    "shared_reserved": 1024,
    "sm_clock_khz": 1980000,
    "memory_clock_khz": 3201000,
    "memory_bus_bits": 6144,
    "ecc": True,
    "peak_gb_per_s": 4916.736,
}

_ATTRIBUTES = {key: value for key, value in DEVICE.items() if key != "peak_gb_per_s"}

# Blocks of 256 threads that fit an SM when each asks for so many KiB of shared memory.
_RESIDENT = {32: 6, 48: 4, 64: 3, 96: 2, 227: 1}


def _coalescing(variant: str) -> tuple[str, float, int, dict[str, Any]]:
    """Region, GB/s, blocks of data and params of one of chapter 10's."""
    if variant.startswith("vec3"):
        rates = {"packed": 3100, "aligned": 3300, "arrays": 3900, "staged": 3800}
        return variant.replace("_", "-"), rates[variant.removeprefix("vec3_")], 1, {}
    what, value = re.fullmatch(r"([a-z_]+?)(\d+)", variant).groups()  # type: ignore[union-attr]
    number = int(value)
    if what == "copy":
        return "copy-words", {1: 1100, 4: 3600, 8: 3900, 16: 4000}[number], 1, {"width": number}
    rate = 3600 / min(number, 8) if what.endswith("stride") else 3600 - 20 * (number % 8 > 0)
    return what.replace("_", "-"), rate, 1, {what.partition("_")[2]: number}


# variant: (the chapter it is from, its region, fastest GB/s, blocks of data a thread block, params)
_VARIANTS: dict[str, dict[str, tuple[str, str, float, int, dict[str, Any]]]] = {
    "chapter01_gmem": {
        "gmem": ("chapter01_gmem", "gmem-loop", 810, 1, {}),
        "gmem_unrolled": ("chapter01_gmem", "gmem-unrolled", 1015, 1, {}),
        "gmem_early_exit": ("chapter01_gmem", "gmem-early-exit", 1390, 1, {}),
        "gmem_interleaved": ("chapter01_gmem", "gmem-interleaved", 350, 1, {}),
    },
    "chapter02_smem": {
        "gmem": ("chapter01_gmem", "gmem-loop", 810, 1, {}),
        "smem": ("chapter02_smem", "smem-loop", 955, 1, {}),
        "smem_unrolled": ("chapter02_smem", "smem-unrolled", 1490, 1, {}),
        "smem_stride": ("chapter02_smem", "smem-stride", 3350, 1, {}),
        "interleaved": ("chapter02_smem", "interleaved-modulo", 420, 1, {}),
    },
    "chapter03_divergence": {
        "interleaved": ("chapter02_smem", "interleaved-modulo", 420, 1, {}),
        "interleaved_mask": ("chapter03_divergence", "interleaved-mask", 900, 1, {}),
        "strided": ("chapter03_divergence", "strided-index", 850, 1, {}),
        "smem": ("chapter02_smem", "smem-loop", 955, 1, {}),
        **{
            f"mixed{paths}": (
                "chapter03_divergence",
                "mixed-paths",
                1200 / (1 + paths),
                1,
                {"paths": paths},
            )
            for paths in (1, 2, 4, 8, 16, 32)
        },
        "sorted32": ("chapter03_divergence", "sorted-paths", 590, 1, {"paths": 32}),
    },
    "chapter04_bank_conflicts": {
        "strided": ("chapter03_divergence", "strided-index", 850, 1, {}),
        "strided_padded": ("chapter04_bank_conflicts", "strided-padded", 930, 1, {}),
        "smem": ("chapter02_smem", "smem-loop", 955, 1, {}),
    },
    "chapter05_unroll4": {
        "smem": ("chapter02_smem", "smem-loop", 955, 1, {}),
        "first_add": ("chapter05_unroll4", "first-add", 1760, 2, {}),
        **{
            f"unroll{factor}": (
                "chapter05_unroll4",
                "unroll-factor",
                {1: 950, 2: 1770, 4: 3140, 8: 4190, 16: 4210}[factor],
                factor,
                {"unroll": factor},
            )
            for factor in (1, 2, 4, 8, 16)
        },
        "last_warp_sync": ("chapter05_unroll4", "last-warp-sync", 3640, 4, {}),
        "last_warp_shuffle": ("chapter05_unroll4", "last-warp-shuffle", 3700, 4, {}),
        "complete": ("chapter05_unroll4", "complete-unroll", 3990, 4, {}),
        "by_warps4": ("chapter05_unroll4", "sums-by-warp", 4050, 4, {}),
        "by_warps8": ("chapter05_unroll4", "sums-by-warp", 4200, 8, {}),
    },
    "chapter06_dynamic_smem": {
        "smem": ("chapter02_smem", "smem-loop", 955, 1, {}),
        "dynamic_smem": ("chapter06_dynamic_smem", "dynamic-smem", 955, 1, {}),
        "unroll4": ("chapter05_unroll4", "unroll-factor", 3140, 4, {}),
        "dynamic_unroll4": ("chapter06_dynamic_smem", "dynamic-unroll", 3140, 4, {}),
        **{
            f"ask{kib}k": (
                "chapter06_dynamic_smem",
                "dynamic-unroll",
                390 * resident,
                4,
                {"shared_kib": kib},
            )
            for kib, resident in _RESIDENT.items()
        },
    },
    "chapter08_multi_pass": {
        "passes": ("chapter08_multi_pass", "sum-pass", 3000, 8, {}),
        "atomic_thread": ("chapter08_multi_pass", "atomic-thread", 1200, 1, {}),
        "atomic_block": ("chapter08_multi_pass", "atomic-block", 1900, 1, {}),
        "last_block": ("chapter08_multi_pass", "last-block", 1950, 1, {}),
        "grid_sync": ("chapter08_multi_pass", "grid-sync", 1940, 1, {}),
        "one_word": ("chapter08_multi_pass", "one-word", 1960, 1, {}),
        "whole": ("chapter08_multi_pass", "whole-sum", 4400, 16, {}),
        "cub": ("chapter08_multi_pass", "cub", 4300, 16, {}),
        "whole32": ("chapter08_multi_pass", "whole-sum", 4400, 16, {}),
        "cub32": ("chapter08_multi_pass", "cub32", 4350, 16, {}),
    },
    "chapter09_histogram": {
        **{
            f"{method}_{data}": (
                "chapter09_histogram",
                region,
                rate * (1 + 0.2 * place),
                1,
                {"method": method, "data": data},
            )
            for method, region, rate in (
                ("global", "bins-in-global", 4),
                ("shared", "bins-in-shared", 720),
                ("lanes", "bins-per-lane", 2200),
                ("cub", "histogram-by-cub", 2100),
            )
            for place, data in enumerate(("uniform", "bell", "mostly", "equal"))
        },
        "read": ("chapter09_histogram", "read-bytes", 4200, 1, {"method": "read"}),
    },
    "chapter10_coalescing": {
        name: ("chapter10_coalescing", *_coalescing(name))
        for name in chapters.known()["chapter10_coalescing"].patterns
    },
}


def _run(
    variant: str,
    origin: str,
    region: str | None,
    n: int,
    block: int,
    repeat: int,
    time_us: float,
    *,
    blocks_of_data: int = 1,
    params: dict[str, Any] | None = None,
    samples: int = 25,
    clock: str = "events",
    cache: str = "cold",
) -> dict[str, Any]:
    params = params or {}
    seed = f"{variant} {n} {block} {repeat} {sorted(params.items())}"
    noise = random.Random(seed)
    times = [round(time_us * (1 + abs(noise.gauss(0, 0.006))), 3) for _ in range(samples)]
    grid = max(1, -(-n // (block * blocks_of_data)))
    read, written = 4 * n, 4 * grid
    return {
        "variant": variant,
        "from": origin,
        "region": region,
        "legacy": False,
        "n": n,
        "block": block,
        "params": params,
        "repeat": repeat,
        "grid": grid,
        "shared_bytes": 1024 * params["shared_kib"] if "shared_kib" in params else 4 * block,
        "registers": 16,
        "local_bytes": 0,
        "blocks_per_sm": _RESIDENT.get(params.get("shared_kib", 0), 8),
        "bytes_read": read,
        "bytes_written": written,
        "samples_us": times,
        "stopped_by": "interval",
        "cache": cache,
        "clock": clock,
        "verified": True,
        "kernel_hash": None,
    }


def _time(rate: float, n: int, block: int) -> float:
    # A launch's few microseconds, then bytes at the kernel's rate; blocks far from 256 do worse.
    away = abs(block.bit_length() - (256).bit_length())
    return 3.0 + 4 * n / rate * 1e-3 * (1 + 0.12 * away * (1 + away / 3))


def _sweeps() -> list[tuple[int, int]]:
    sizes = [(2**power, 256) for power in range(10, 31)]
    return sizes + [(2**28, 2**power) for power in range(5, 11) if power != 8]


#: Chapter 4's variants with sizes of their own: region, n, block, passes in shared memory, params.
_BANKS: dict[str, tuple[str, int, int, int, dict[str, Any]]] = {
    **{
        f"stride{s}": ("stride-walk", 2**22, 256, 2**25 * math.gcd(s, 32), {"stride": s})
        for s in range(1, 34)
    },
    **{
        name: ("tile-product", 2048, 1024, passes * 2**26, {})
        for name, passes in (("tile", 34), ("tile_padded", 6), ("tile_as_written", 132))
    },
}


def _bank_runs(speed: float) -> list[dict[str, Any]]:
    chapter = "chapter04_bank_conflicts"
    return [
        _run(name, chapter, region, n, block, repeat, passes / 132 / 1980 / speed, params=params)
        for repeat in (0, 1)
        for name, (region, n, block, passes, params) in _BANKS.items()
    ]


def _bank_counters() -> list[dict[str, Any]]:
    return [
        {
            "chapter": "chapter04_bank_conflicts",
            "variant": name,
            "n": n,
            "block": block,
            "params": params,
            "command": f"ncu --csv ./run --once --variant {name}",
            "launches": [
                {
                    "kernel": name,
                    "grid": [n // block, 1, 1],
                    "block": [block, 1, 1],
                    "metrics": {
                        NCU[f"shared_{what}"]: float(value)
                        for what, value in (
                            ("load_wavefronts", passes),
                            ("load_conflicts", passes - 2**24),
                            ("store_wavefronts", 0),
                            ("store_conflicts", 0),
                        )
                    },
                }
            ],
        }
        for name, (_, n, block, passes, params) in _BANKS.items()
    ]


def _ladder_runs(chapter: str, speed: float) -> list[dict[str, Any]]:
    more = _bank_runs(speed) if chapter == "chapter04_bank_conflicts" else []
    return more + [
        _run(
            variant,
            origin,
            region,
            n,
            block,
            repeat,
            _time(rate * speed, n, block),
            blocks_of_data=factor,
            params=params,
        )
        for repeat in (0, 1)
        for variant, (origin, region, rate, factor, params) in _VARIANTS[chapter].items()
        for n, block in _sweeps()
    ]


def _timing_runs(speed: float) -> list[dict[str, Any]]:
    slow, fast = ("chapter02_smem", "smem-loop"), ("chapter05_unroll4", "unroll-factor")
    runs = []

    def add(*args: Any, cache: str = "cold", **more: Any) -> None:
        params = {**more.pop("params", {}), "cache": cache}
        runs.append(_run(*args, cache=cache, params=params, **more))

    for repeat in (0, 1):
        base = _time(955 * speed, 2**24, 256)
        add("first_launch", *slow, 2**24, 256, repeat, 9000.0, samples=1, clock="host")
        add("host_clock", *slow, 2**24, 256, repeat, base + 8, clock="host")
        add("debug_build", *slow, 2**24, 256, repeat, base * 6.1)
        for name, kernel, rate in (("", slow, 955.0), ("fast_", fast, 4190.0)):
            for n in (2**power for power in range(10, 31)):
                time = _time(rate * speed, n, 256)
                write_back = min(4 * n, 50e6) / 4900e3 * (1 if name else 0.4)
                in_l2 = 3.0 + (time - 3.0) * (0.6 if name else 0.95) if 4 * n < 62e6 else time
                at = (*kernel, n, 256, repeat)
                add(f"{name}after_write", *at, time + write_back, cache="dirty")
                add(f"{name}after_read", *at, time)
                add(f"{name}warm", *at, in_l2, cache="warm")
        add("empty_launch", "chapter00_timing", "empty-kernel", 2**24, 256, repeat, 2.88)
        runs[-1] |= {"bytes_read": 0, "bytes_written": 0}
        for n in (2**power for power in range(10, 31)):
            at = ("chapter00_timing", "pointer-chase", n, 1, repeat)
            share = min(n / 4096, 1)  # of the hops that meet an element for the first time
            hops = {"hops": 4096}
            add("pointer_chase", *at, (270 + 420 * share) * 4.096, params=hops)
            add("pointer_chase_l2", *at, 270 * 4.096, cache="warm", params=hops)
    return runs


# Chapter 7's methods: the chapter and region of the kernel, fastest GB/s, elements per thread.
_METHODS = (
    ("chapter02_smem", "interleaved-modulo", 420, 1),
    ("chapter03_divergence", "strided-index", 850, 1),
    ("chapter02_smem", "smem-loop", 955, 1),
    ("chapter05_unroll4", "first-add", 1760, 2),
    ("chapter05_unroll4", "last-warp-sync", 3640, 4),
    ("chapter05_unroll4", "complete-unroll", 3990, 4),
    ("chapter07_effective_bandwidth", "many-elements", 4020, 0),
)


def _bandwidth_runs(speed: float) -> list[dict[str, Any]]:
    chapter = "chapter07_effective_bandwidth"
    sizes = [(2**power, 128) for power in range(17, 31)]
    blocks = [(2**28, 2**power) for power in range(5, 11) if power != 7]
    runs: list[dict[str, Any]] = []

    def add(
        name: str,
        origin: tuple[str, str],
        rate: float,
        shapes: list[tuple[int, int]],
        repeat: int,
        more: float = 0.0,
        words: int = 1,
        **rest: Any,
    ) -> None:
        for n, block in shapes:
            time = _time(rate * speed / words, n, block) + more
            if rest.get("cache") == "warm" and 4 * n < 40e6:
                time = 3.0 + (time - 3.0) * 0.6
            run = _run(name, *origin, n, block, repeat, time, **rest)
            run["bytes_read"] *= words
            if name.startswith("sum"):
                run["bytes_written"] = 8
            runs.append(run)

    for repeat in (0, 1):
        for place, (source, region, rate, factor) in enumerate(_METHODS):
            origin = (source, region)
            number = place + 1
            add(
                f"reduce{number}", origin, rate, sizes + blocks, repeat, blocks_of_data=factor or 64
            )
            add(f"sum{number}", origin, rate * 0.98, sizes + blocks, repeat, 2.5 - number / 9)
        add("sum_cub", (chapter, "run-cub"), 4300, sizes + blocks, repeat, 2.0)
        own = (chapter, "many-elements")
        for resident in (1, 2, 4, 8, 16, 32, 64, 128):
            shapes = [(2**24, 128), (2**28, 128), *blocks]
            asked = {"blocks_an_sm": resident}
            for n, block in shapes:
                share = min(1.0, resident * block / 1500)
                add(f"grid{resident}", own, 4020 * share, [(n, block)], repeat, params=asked)
        add("reduce7_one_each", own, 1500, sizes + blocks, repeat)
        for state, extra in (("warm", 0.0), ("after_write", 6.0)):
            cache = "warm" if state == "warm" else "dirty"
            params = {"cache": cache}
            add(
                f"reduce7_{state}",
                own,
                4020,
                sizes + blocks,
                repeat,
                extra,
                cache=cache,
                params=params,
            )
        for roof, rate, words in (("read", 4500, 2), ("copy", 4100, 4), ("triad", 4200, 6)):
            add(roof, (chapter, f"roof-{roof}"), rate, sizes, repeat, words=words)
    return runs


#: What the spine's finished sums reach, in GB/s, from the first rung to the last.
_CLIMB = (350, 400, 790, 830, 1500, 2800, 3500, 4000, 4200, 4300, 4400)


def _spine_runs(chapter: str, speed: float) -> list[dict[str, Any]]:
    """The chapter's rungs on the cover, and the library's sum beside them."""
    climb = [(name, variant) for name, each in chapters.known().items() for variant in each.spine]
    rates = dict(zip(climb, _CLIMB, strict=True))
    rates |= {(name, each.library): 4250 for name, each in chapters.known().items() if each.library}
    block = 256
    swept = {climb[-1], *((name, each.library) for name, each in chapters.known().items())}
    return [
        _run(variant, name, None, n, block, repeat, _time(rate * speed, n, block),
             blocks_of_data=n // block, params={"finished": 1})
        for repeat in (0, 1)
        for (name, variant), rate in rates.items()
        for n in ((2**12, 2**20, 2**28) if (name, variant) in swept else (2**28,))
        if name == chapter
    ]  # fmt: skip


def chapter_data(chapter: str, speed: float = 1.0, device: str = "") -> dict[str, Any]:
    """One chapter's file."""
    own: dict[str, Callable[[float], list[dict[str, Any]]]] = {
        "chapter00_timing": _timing_runs,
        "chapter07_effective_bandwidth": _bandwidth_runs,
    }
    runs = own[chapter](speed) if chapter in own else _ladder_runs(chapter, speed)
    runs += _spine_runs(chapter, speed)
    return {
        "schema": columns.SCHEMA_VERSION,
        "chapter": chapter,
        "commands": [["./run", "--sweep", "n", "--json", "x.json"]],
        "device": {**_ATTRIBUTES, **({"name": device} if device else {})},
        "driver": "13.0",
        "toolkit": "13.0.88",
        "host_compiler": "GNU 13.3.0",
        "flags": "-O3 -lineinfo",
        "architectures": "75-virtual;90-virtual;90-real",
        "seed": 2018,
        "cache": "cold",
        "source": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
        "date": "2026-01-02T03:04:05Z",
        "clocks": None,
        "runs": runs,
    }


def _counters(device: str) -> dict[str, Any]:
    n, block = 2**24, 256
    runs = []
    for chapter, variants in _VARIANTS.items():
        for variant, (origin, _, _, factor, params) in variants.items():
            grid = 132 * 8 if variant == "smem_stride" else n // (block * factor)
            counts = chapters.derived_counts(origin, variant, n, block, grid)
            if counts is None:  # no pattern is written down: the input's sectors, read once
                counts = Counts(global_load_sectors=n // 8, global_store_sectors=grid)
            metrics = {
                NCU[name]: float(getattr(counts, name)) for name in counts.__dataclass_fields__
            }
            resident = _RESIDENT.get(params.get("shared_kib", 0), 8)
            metrics[NCU["occupancy_pct"]] = 12.0 * resident
            metrics |= _work(n, _VARIANTS[chapter][variant][2])
            runs.append(_counted(chapter, variant, n, block, grid, metrics, params))
    for place, (_, _, rate, factor) in enumerate(_METHODS):
        name, threads = f"reduce{place + 1}", 128
        grid = n // (threads * (factor or 64))
        work = _work(n, rate)
        runs.append(_counted("chapter07_effective_bandwidth", name, n, threads, grid, work, {}))
    for roof in ("read", "copy", "triad"):
        work = _work(n, 4300)
        runs.append(_counted("chapter07_effective_bandwidth", roof, n, 128, n // 128, work, {}))
    data = chapter_data("chapter01_gmem", device=device)
    kept = {key: data[key] for key in ("schema", "device", "driver", "toolkit", "source", "date")}
    runs += _bank_counters()
    return {**kept, "ncu": "2025.3.1", "metrics": sorted(metrics), "runs": runs}


def _work(n: int, rate: float) -> dict[str, float]:
    """Instructions and traffic: the slower a kernel, the more of the former."""
    counts = {"instructions": n / 32 * (4 + 9000 / rate), "dram_read_bytes": 4.0 * n}
    counts["dram_write_bytes"] = n / 64
    counts |= dict.fromkeys(STALLS, 1.25)
    return {NCU[name]: value for name, value in counts.items()}


def _counted(
    chapter: str,
    variant: str,
    n: int,
    block: int,
    grid: int,
    metrics: dict[str, float],
    params: dict[str, Any],
) -> dict[str, Any]:
    launch = {
        "kernel": variant,
        "grid": [grid, 1, 1],
        "block": [block, 1, 1],
        "metrics": metrics,
    }
    return {
        "chapter": chapter,
        "variant": variant,
        "n": n,
        "block": block,
        "params": params,
        "command": f"ncu --csv ./run --once --variant {variant}",
        "launches": [launch],
    }


def _sanitizer(device: str) -> dict[str, Any]:
    data = chapter_data("chapter01_gmem", device=device)
    kept = {key: data[key] for key in ("schema", "device", "driver", "toolkit", "source", "date")}
    runs: list[dict[str, Any]] = [
        {
            "chapter": "chapter01_gmem",
            "variant": "gmem",
            "n": 2**20 - 3,
            "block": 256,
            "tool": tool,
            "command": f"compute-sanitizer --tool {tool} ./run --once --variant gmem",
            "exit": 0,
            "findings": 0,
            "messages": [],
        }
        for tool in ("memcheck", "racecheck")
    ]
    return {**kept, "runs": runs}


@functools.cache
def _files(speed: float, device: str) -> dict[str, bytes]:
    files = columns.files("counters.json", _counters(device))
    files |= columns.files("sanitizer.json", _sanitizer(device))
    for chapter in ("chapter00_timing", *_VARIANTS, "chapter07_effective_bandwidth"):
        files |= columns.files(f"{chapter}.json", chapter_data(chapter, speed, device))
        files[f"{chapter}.txt"] = b"$ ./run\nmade up\n"
    return files


def write_set(folder: Path, *, speed: float = 1.0, device: str = "") -> Path:
    """A whole set: the chapters' times and console texts, counters, the sanitizer's words."""
    folder.mkdir(parents=True)
    for name, content in _files(speed, device).items():
        (folder / name).write_bytes(content)
    return folder


def write_root(root: Path) -> Path:
    """A repository's root with a reference set under figures/data, and no chapters."""
    write_set(root / "figures" / "data" / REFERENCE)
    return root
