"""Every kernel under all checks of the embedded device: the modern ones are clean, and of the
classic ones each fault is found, at its line and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("chapters/chapter*/main.cu"))
NS = (1000, (1 << 12) + 33)
#: Where each element is much work, fewer; of matrices, rows.
SHORT = {"chapter04_bank_conflicts": (100, 1000)}
BLOCKS = (64, 256, 1024)

RAW, WAR = "race: read after write", "race: write after read"
UNWRITTEN = "init: reads shared memory that nobody wrote"
SAME = "race: two threads write the same value to one place of global memory, unsynchronised"
WAW = "race: two threads write one place of shared memory, unsynchronised"
SAME_SHARED = SAME.replace("global", "shared")
ILLEGAL, MISALIGNED = "memory: an illegal address", "memory: a misaligned address"

WORDS_OUT = "reinterpret_cast<int4*>(out)[i]"

Shapes = set[tuple[int, int]]
"""n and block."""
Finding = tuple[str, ...]
"""What is wrong, then the source line of the later access and, if another, of the earlier."""

EVERYWHERE: Shapes = {(n, block) for n in NS for block in BLOCKS}


def last_warp(tile: str, shapes: Shapes) -> dict[Finding, Shapes]:
    """The volatile last warp: each step reads what the one before wrote, and overwrites it."""
    steps = [f"{tile}[t] = {tile}[t] + {tile}[t + {half}];" for half in (32, 16, 8, 4, 2, 1)]
    found: dict[Finding, Shapes] = {}
    for before, step in pairwise(steps):
        found[RAW, step, before] = shapes
        found[WAR, step] = shapes
    return found


#: Of a histogram in shared memory, how it begins and what it does most.
ZEROES = "for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;"
COUNTS = "atomicAdd(&mine[in[i]], 1u);"

# Of each classic kernel what is found, and where. An illegal address stops the launch: where it is
# the first block's, nothing else is found.
FOUND: dict[tuple[str, str], dict[Finding, Shapes]] = {
    ("chapter01_gmem", "gmem_classic"): {
        # Its last block has no threads' worth of input left.
        (ILLEGAL, "if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];"): {
            (n, 1024) for n in NS
        },
        (ILLEGAL, "if (blockDim.x >= 256 && t < 128) tile[t] += tile[t + 128];"): {
            (n, 256) for n in NS
        },
        (ILLEGAL, "v[t] = v[t] + v[t + 32];"): {(n, 64) for n in NS},
        **last_warp("v", EVERYWHERE - {(1000, 1024)}),
    },
    ("chapter02_smem", "smem_classic"): {
        (ILLEGAL, "tile[t] = in[blockIdx.x * blockDim.x + t];"): EVERYWHERE - {(1000, 1024)},
        # The threads past n have returned and written nothing.
        (UNWRITTEN, "if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];"): {(1000, 1024)},
        **last_warp("v", EVERYWHERE),
    },
    ("chapter02_smem", "stride_classic"): {
        (UNWRITTEN, "tile[t] += in[i];"): EVERYWHERE,
        (UNWRITTEN, "if (t < half) tile[t] += tile[t + half];"): EVERYWHERE,
        (SAME, "partial[blockIdx.x] = tile[0];"): EVERYWHERE,
    },
    ("chapter03_divergence", "in_step_classic"): {
        # One line, whose sums the next round loads in another lane; nobody stores to them again.
        (RAW, "if (t < half) v[t] = v[t] + v[t + half];"): EVERYWHERE,
    },
    ("chapter04_bank_conflicts", "tile_misaligned"): {
        (
            MISALIGNED,
            "const float4 q = *reinterpret_cast<const float4*>(cols + Layout::at(x, k));",
        ): {(33, 1024), (100, 1024)},
    },
    ("chapter05_unroll4", "last_warp_classic"): {
        (ILLEGAL, "tile[t] = i < n ? in[i] + in[i + blockDim.x] : 0;"): EVERYWHERE,
        **last_warp("tile", EVERYWHERE - {(1000, 1024)}),
    },
    ("chapter05_unroll4", "unroll4_classic"): {
        # <= n is one too many only where n is a multiple of what a thread's loads are apart.
        (
            ILLEGAL,
            "sum = in[idx] + in[idx + blockDim.x] + in[idx + 2 * blockDim.x]"
            " + in[idx + 3 * blockDim.x];",
        ): {(1000, 64), (1000, 256)},
        (UNWRITTEN, "if (t < half) tile[t] += tile[t + half];"): {(1000, 1024)},
        **last_warp("tile", EVERYWHERE - {(1000, 256)}),
    },
    ("chapter06_dynamic_smem", "too_few_bytes"): {
        (ILLEGAL, "tile[t] = i < n ? in[i] : 0;"): EVERYWHERE,
    },
    ("chapter06_dynamic_smem", "ints_first"): {
        (MISALIGNED, "square[t] = static_cast<long long>(value) * value;"): {(n, 255) for n in NS},
    },
    ("chapter07_effective_bandwidth", "reduce7_classic"): {
        (ILLEGAL, "tile[t] += in[i] + in[i + Block];"): {
            (n, block) for n in NS for block in (128, 256, 1024)
        },
        # A tile of 64 slots, and a template of 128: the first block's tree leaves it.
        (ILLEGAL, "if (t < half) tile[t] += tile[t + half];"): {(n, 64) for n in NS},
        **last_warp("v", {(n, block) for n in NS for block in (128, 256)}),
    },
    ("chapter09_histogram", "classic_256"): {
        (UNWRITTEN, COUNTS): {(n, 64) for n in NS},
        (ILLEGAL, "mine[threadIdx.x] = 0;"): {(n, 1024) for n in NS},
    },
    ("chapter09_histogram", "no_barrier"): {
        # The first warp counts in bins that the others have yet to zero, and do.
        (UNWRITTEN, COUNTS): EVERYWHERE,
        (WAW, COUNTS, ZEROES): EVERYWHERE,
        (WAW, ZEROES, COUNTS): EVERYWHERE,
    },
    ("chapter09_histogram", "no_atomic"): {
        (RAW, "++mine[in[i]];"): EVERYWHERE,
        (WAR, "++mine[in[i]];"): EVERYWHERE,
        (WAW, "++mine[in[i]];"): EVERYWHERE,
        (SAME_SHARED, "++mine[in[i]];"): EVERYWHERE,
    },
    ("chapter10_coalescing", "offset_words"): {
        (MISALIGNED, f"{WORDS_OUT} = reinterpret_cast<const int4*>(in + offset)[i];"): EVERYWHERE,
    },
    ("chapter10_coalescing", "rounded_up"): {
        # Where n is a multiple of 4, nothing is rounded.
        (ILLEGAL, f"{WORDS_OUT} = reinterpret_cast<const int4*>(in)[i];"): {
            (NS[1], block) for block in BLOCKS
        },
    },
    # What one block does and another sees is nobody's to check, and a sum that wraps is no access.
    ("chapter08_multi_pass", "no_fence"): {},
    ("chapter08_multi_pass", "ramp_int"): {},
    ("chapter08_multi_pass", "stale"): {},
}


def run(
    chapter: str, folder: Path, checks: str, *arguments: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    build = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools"))
    program = build / "chapters" / chapter / chapter
    assert program.exists(), f"{program} is not built: tools/test builds it"
    file = folder / "findings.json"
    file.write_text("", encoding="utf-8")
    done = subprocess.run(
        [program, "--device", "embedded", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        # One thread: where a fault stops a launch, what ran before it is the same each time.
        env={
            **os.environ,
            "EMU_CHECK": checks,
            "EMU_FINDINGS": str(file),
            "EMU_THREADS": "1",
        },
    )
    return done, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def source(chapter: str, place: str) -> str:
    """The text of a line "legacy.cuh:12", without its comment."""
    name, _, number = place.rpartition(":")
    lines = (ROOT / "chapters" / chapter / name).read_text(encoding="utf-8").splitlines()
    return lines[int(number) - 1].split("//")[0].strip()


def in_kernel(chapter: str, place: str, details: list[str]) -> str:
    """The kernel's line, where the place is in a function of the toolkit's."""
    if (ROOT / "chapters" / chapter / place.rpartition(":")[0]).exists():
        return place
    found = (re.search(rf"{re.escape(place)}, inlined at (\S+)", line) for line in details)
    return next((match[1] for match in found if match), place)


def summary(chapter: str, findings: list[dict[str, Any]]) -> set[Finding]:
    return {
        (
            f"{f['check']}: {f['what'].split(' in ')[0]}",
            *(source(chapter, in_kernel(chapter, place, f["details"])) for place in f["places"]),
        )
        for f in findings
    }


@pytest.mark.parametrize(
    ("chapter", "n"),
    [(chapter, n) for chapter in CHAPTERS for n in SHORT.get(chapter, NS)],
)
def test_modern_kernels_are_clean(chapter: str, n: int, tmp_path: Path) -> None:
    listed, _ = run(chapter, tmp_path, "all", "--list")
    names = re.findall(r"^\d+ +(\w+)(?:(?!legacy$).)*$", listed.stdout, re.MULTILINE)
    assert names
    for block in (*BLOCKS, None):  # None: each variant's own, also of those that take no other
        shape = ["--n", str(n), *(["--block", str(block)] if block else [])]
        done, findings = run(chapter, tmp_path, "all", "--once", *shape)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not findings, done.stderr
        if block is None:
            too_large = re.findall(r"^note: --n .*: (\w+) takes n up to", done.stdout, re.M)
            assert n > 512 or not too_large
            missing = {name for name in names if not re.search(rf"^{name}\b", done.stdout, re.M)}
            assert missing == set(too_large), done.stdout


@pytest.mark.parametrize(
    ("kernel", "n", "block"),
    [
        pytest.param(kernel, n, block, id=f"{'-'.join(kernel)}-{n}-{block}")
        for kernel, found in FOUND.items()
        for n, block in sorted(set().union(*found.values()))
    ],
)
def test_classic_kernels_have_their_faults(
    kernel: tuple[str, str], n: int, block: int, tmp_path: Path
) -> None:
    chapter, variant = kernel
    shape = ["--variant", variant, "--n", str(n), "--block", str(block)]
    done, findings = run(chapter, tmp_path, "all", "--once", *shape)
    wanted = {finding for finding, shapes in FOUND[kernel].items() if (n, block) in shapes}
    assert wanted
    assert summary(chapter, findings) == wanted, done.stderr


def test_every_classic_kernel_is_here(tmp_path: Path) -> None:
    legacy = set()
    for chapter in CHAPTERS:
        listed, _ = run(chapter, tmp_path, "all", "--list")
        legacy |= {
            (chapter, name)
            for name in re.findall(r"^\d+ +(\w+).* legacy$", listed.stdout, re.MULTILINE)
        }
    assert legacy == set(FOUND)


def test_memory_checks_need_no_other(tmp_path: Path) -> None:
    """A fault that stops a launch is a finding of its own check only."""
    shape = ["--variant", "smem_classic", "--n", "1000", "--block", "256"]
    _, findings = run("chapter02_smem", tmp_path, "memory", "--once", *shape)
    assert {f["check"] for f in findings} == {"memory"}
    _, findings = run("chapter02_smem", tmp_path, "init,sync", "--once", *shape)
    assert not findings
