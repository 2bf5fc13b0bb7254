"""A small repository with made-up recordings, to put the real extension through its paces.

The numbers are invented and obey the schema; nothing here is a measurement.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common.records import columns, regions
from common.records.counters import NCU, OF_BOTH
from common.records.transcripts import EXAMPLES, FOLDER

REFERENCE_DEVICE = "NVIDIA H200"
SECOND_DEVICE = "NVIDIA H100"
LOCAL_DEVICE = "NVIDIA GeForce GTX 1080"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SAMPLES = (0.99, 0.995, 0.995, 1.0, 1.005, 1.005, 1.01)


def device(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "compute_capability": "9.0",
        "sm_count": 132,
        "max_threads_per_sm": 2048,
        "l2_bytes": 62914560,
        "global_bytes": 150 * 10**9,
        "shared_per_block": 49152,
        "shared_per_sm": 233472,
        "shared_optin": 232448,
        "shared_reserved": 1024,
        "sm_clock_khz": 1980000,
        "memory_clock_khz": 3201000,
        "memory_bus_bits": 6144,
        "ecc": True,
    }


def provenance(name: str) -> dict[str, Any]:
    return {
        "schema": columns.SCHEMA_VERSION,
        "device": device(name),
        "driver": "13.0",
        "toolkit": "13.0.88",
        "source": {"commit": COMMIT, "dirty": False},
        "date": "2026-11-21T03:04:05Z",
    }


def run(
    variant: str,
    median_us: float,
    *,
    chapter: str,
    region: str | None = None,
    n: int = 2**24,
    block: int = 256,
    repeat: int = 0,
    kernel_hash: str | None = None,
    legacy: bool = False,
    params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    grid = max(1, -(-n // block))
    bytes_read, bytes_written = 4 * n, 4 * grid
    return {
        "variant": variant,
        "from": chapter,
        "region": region,
        "legacy": legacy,
        "n": n,
        "block": block,
        "params": dict(params or {}),
        "repeat": repeat,
        "grid": grid,
        "shared_bytes": 4096,
        "registers": 12,
        "local_bytes": 0,
        "blocks_per_sm": 6,
        "bytes_read": bytes_read,
        "bytes_written": bytes_written,
        "samples_us": [round(median_us * factor, 3) for factor in SAMPLES],
        "stopped_by": "interval",
        "cache": "cold",
        "clock": "events",
        "verified": True,
        "kernel_hash": kernel_hash,
    }


class FakeSet:
    """A set of recorded runs, filled by the test and then written."""

    def __init__(self, root: Path, name: str, device_name: str) -> None:
        self.folder = root / "figures" / "data" / name
        self.root = root
        self.device_name = device_name
        self.chapters: dict[str, list[dict[str, Any]]] = {}
        self.counts: list[dict[str, Any]] = []
        self.findings: list[dict[str, Any]] = []

    def time(self, chapter: str, variant: str, *medians_us: float, **more: Any) -> None:
        """One run's passes, two alike where one median is given; its kernel's hash is today's
        unless another is given."""
        region = more.get("region")
        if region and "kernel_hash" not in more:
            more["kernel_hash"] = regions.regions(self.root)[region].hash
        source = more.pop("source", chapter)
        self.chapters.setdefault(chapter, []).extend(
            run(variant, us, chapter=source, repeat=repeat, **more)
            for repeat, us in enumerate(medians_us if medians_us[1:] else medians_us * 2)
        )

    def count(self, chapter: str, variant: str, *, n: int = 2**24, **values: float) -> None:
        metrics = {NCU[alias]: value for alias, value in values.items()}
        launch = {"kernel": variant, "grid": [1, 1, 1], "block": [256, 1, 1], "metrics": metrics}
        command = f"ncu --csv --page raw --metrics {','.join(metrics)} ./run --once --variant"
        command += f" another {variant} a_third --n {n} --block 256"
        self.counts.append(
            {
                "chapter": chapter,
                "variant": variant,
                "n": n,
                "block": 256,
                "params": {},
                "command": command,
                "launches": [launch],
            }
        )

    def find(
        self,
        chapter: str,
        variant: str,
        tool: str,
        *messages: str,
        findings: int,
        right: bool = True,
    ) -> None:
        self.findings.append(
            {
                "chapter": chapter,
                "variant": variant,
                "n": 1048573,
                "block": 256,
                "tool": tool,
                "command": f"compute-sanitizer --tool {tool} ./run --once --variant {variant}",
                "exit": 4 if findings else 0 if right else 1,
                "findings": findings,
                "messages": list(messages),
            }
        )

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        common = provenance(self.device_name)
        for chapter, runs in self.chapters.items():
            self._json(
                chapter,
                {
                    **common,
                    "chapter": chapter,
                    "commands": [["./run", "--json", "x.json"]],
                    "host_compiler": "GNU 13.3.0",
                    "flags": "-O3 -lineinfo",
                    "architectures": "75-virtual;90-real",
                    "seed": 2018,
                    "cache": "cold",
                    "clocks": None,
                    "runs": runs,
                },
            )
            rows = [
                f"{one['variant']:>16} {statistics.median(one['samples_us']):>10.2f}"
                for one in runs[::2]
                if one["n"] == 2**24
            ]
            text = "\n".join(["$ ./run", f"{self.device_name}, n = 2^24", *rows, "% of peak", ""])
            (self.folder / f"{chapter}.txt").write_text(text, encoding="utf-8")
        if self.counts:
            metrics = sorted({m for one in self.counts for m in one["launches"][0]["metrics"]})
            self._json(
                "counters", {**common, "ncu": "2025.3.1", "metrics": metrics, "runs": self.counts}
            )
        if self.findings:
            self._json("sanitizer", {**common, "runs": self.findings})

    def _json(self, name: str, data: dict[str, Any]) -> None:
        columns.write(self.folder / f"{name}.json", data)


EMBEDDED_DEVICE = {"name": "embedded device", "passes_for": "NVIDIA H200"}


def embedded_counters(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A counters.json of the embedded device, of runs that a FakeSet counted."""
    counted = {metric for run in runs for launch in run["launches"] for metric in launch["metrics"]}
    return {
        "schema": columns.SCHEMA_VERSION,
        "device": EMBEDDED_DEVICE,
        "toolkit": "13.0.88",
        "metrics": [*OF_BOTH, *sorted(counted - {*OF_BOTH})],
        "runs": [
            {"region": None, "kernel_hash": None, **run, "command": "tools/emulate ./run"}
            for run in runs
        ],
    }


def embedded_set(root: Path, runs: list[dict[str, Any]], **texts: str) -> None:
    """The embedded device's committed set: these runs, these texts and two probes.

    A text named as a chapter is what its program prints; any other is a transcript.
    """
    folder = root / "figures" / "data" / "embedded"
    folder.mkdir(parents=True)
    columns.write(folder / "counters.json", embedded_counters(runs))
    typed = root / EXAMPLES / FOLDER
    typed.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        place = folder if name.startswith("chapter") else typed
        (place / f"{name}.txt").write_text(text, encoding="utf-8")
    counted = {
        "global load, width 4, stride 2": [12, 12, 96, 48, 0, 0, 0, 0],
        "turned tile, rows of 32": [32, 32, 128, 128, 1024, 32, 992, 0],
    }
    probes = [
        {
            "number": number,
            "probe": name,
            "kernel": "k",
            "grid": [1, 1, 1],
            "block": [32, 1, 1],
            "embedded": numbers,
            "hardware": numbers,
        }
        for number, (name, numbers) in enumerate(counted.items())
    ]
    hardware = "NVIDIA H200, 580.1; ncu; 2026-11-21; written by probes/record"
    data = {**embedded_counters([]), "hardware": hardware, "runs": probes}
    columns.write(folder / "probes.json", data)


def own_run(root: Path, chapter: str, runs: list[dict[str, Any]], text: str) -> None:
    """What tools/guide leaves of a chapter's program that the reader built."""
    folder = root / "build" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    own = embedded_counters([run for run in runs if run["chapter"] == chapter])
    (folder / f"{chapter}.json").write_text(columns.text(own), encoding="utf-8")
    (folder / f"{chapter}.txt").write_text(text, encoding="utf-8")


def draw(folder: Path, name: str, caption: str = "What it shows.") -> None:
    """A drawing with its words, as figures.draw leaves them."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme, ink in (("light", "#222"), ("dark", "#ddd")):
        (folder / f"{name}-{scheme}.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" width="520" height="300" '
            f'viewBox="0 0 520 300"><path d="M40 20V260H500" fill="none" stroke="{ink}"/>'
            f'<path d="M40 240L500 60" stroke="{ink}" stroke-width="3"/>'
            f'<text x="60" y="60" fill="{ink}" font-size="16">{name}</text></svg>',
            encoding="utf-8",
        )
    words = {
        "alt": f"The conclusion of {name}.",
        "caption": caption,
        "provenance": "NVIDIA H200, 2026-11-21, commit 0123456",
        "table": {"columns": ["kernel", "median µs"], "rows": [["smem", 74.6], ["gmem", 84.0]]},
    }
    (folder / f"{name}.json").write_text(json.dumps(words), encoding="utf-8")
