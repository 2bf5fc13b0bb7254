"""What recorded files hold.

A *set* is one folder: ``<chapter>.json`` (:class:`ChapterFile`), ``counters.json``
(:class:`CountersFile`), ``sanitizer.json`` (:class:`SanitizerFile`) and ``manifest.json``
(:class:`ManifestFile`). The embedded device's set
has ``counters.json`` (:class:`EmbeddedFile`) and ``probes.json`` (:class:`ProbesFile`), no times
and no dates: the same source gives the same bytes.

msgspec checks a file against these types while it reads it. What is named here must be there; more
may be, and is left out. What no type can say, as that a median is its samples', ``reading`` checks
besides. ``figures/data/schema.json`` is the same for other readers: run as a program, this module
writes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict, final

import msgspec
from msgspec import Meta

SCHEMA_VERSION = 2
SCHEMA_FILE = Path(__file__).parents[1] / "data" / "schema.json"

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
TimeUs = Annotated[float, Meta(gt=0)]
Rate = Annotated[float, Meta(ge=0)]
Version = Annotated[Literal[2], Meta(description="of this schema")]
Date = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
ChapterName = Annotated[str, Meta(pattern=r"^chapter[0-9]{2}_[a-z0-9_]+$")]
RegionName = Annotated[str, Meta(pattern=r"^[a-z0-9-]+$")] | None
KernelHash = (
    Annotated[
        str,
        Meta(
            pattern=r"^[0-9a-f]{16}$",
            description="of the kernel's region and of all that it uses; null without a region",
        ),
    ]
    | None
)
Block = Annotated[int, Meta(ge=1, le=1024)]
Extent = tuple[Positive, Positive, Positive]
Params = Annotated[
    dict[str, str | int | float | bool],
    Meta(description="What else tells runs apart: stride, width, kind of data, cold or warm."),
]
Metrics = Annotated[dict[str, Count | Rate], Meta(min_length=1)]
MetricNames = Annotated[list[Text], Meta(min_length=1)]
EightCounts = Annotated[list[Count], Meta(min_length=8, max_length=8)]


# -------------------------------------------------------------------------------- provenance


@final
class Device(TypedDict):
    """A GPU's attributes."""

    name: Text
    compute_capability: Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+$")]
    sm_count: Positive
    max_threads_per_sm: Positive
    l2_bytes: Count
    global_bytes: Positive
    shared_per_block: Count
    shared_per_sm: Count
    shared_optin: NotRequired[Count]
    shared_reserved: NotRequired[Count]
    sm_clock_khz: Count
    memory_clock_khz: Count
    memory_bus_bits: Count
    ecc: bool
    peak_gb_per_s: Rate


@final
class EmbeddedDevice(TypedDict):
    name: Literal["embedded device"]
    passes_for: Text


class Source(TypedDict):
    """Which source was measured."""

    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]
    dirty: bool


SourceOrNone = Annotated[
    Source | None,
    Meta(description="Null where there was neither git nor a stamp: local recordings alone."),
]

Migrated = TypedDict("Migrated", {"from": Positive, "date": Text, "what": Text})
Migrated.__doc__ = "A file that was brought to this schema from an older one, all its numbers kept."


# ------------------------------------------------------------------------------------- times

# `from` is a word of Python's own, so that a class can't have it.
_From = TypedDict("_From", {"from": ChapterName})


class TimedRun(_From):
    """One variant at one shape, timed."""

    variant: Text
    region: RegionName
    legacy: bool
    n: Count
    block: Block
    params: Params
    repeat: Count
    grid: Annotated[int, Meta(ge=0, description="blocks; 0: a library's own business")]
    shared_bytes: Count | None
    registers: Count | None
    local_bytes: Count | None
    blocks_per_sm: NotRequired[Count | None]
    bytes_read: Count
    bytes_written: Count
    samples_us: Annotated[list[TimeUs], Meta(min_length=1)]
    median_us: TimeUs
    median_ci_us: Annotated[
        tuple[TimeUs, TimeUs] | None,
        Meta(description="Low and high; null where there are too few samples for one."),
    ]
    p25_us: TimeUs
    p75_us: TimeUs
    min_us: TimeUs
    gb_per_s: Rate
    stopped_by: Text
    cache: Text
    clock: Text
    verified: Annotated[bool, Meta(extra_json_schema={"const": True})]
    kernel_hash: KernelHash
    error: NotRequired[
        Annotated[float, Meta(ge=0, description="of a sum of floats: |found - exact| / |exact|")]
    ]


@final
class ChapterFile(TypedDict):
    """The times of one chapter's program."""

    schema: Version
    chapter: ChapterName
    commands: Annotated[list[Annotated[list[str], Meta(min_length=1)]], Meta(min_length=1)]
    device: Device
    driver: Text
    toolkit: Text
    host_compiler: Text
    flags: str
    architectures: Text
    seed: int
    cache: Text
    source: SourceOrNone
    date: Date
    clocks: dict[str, Any] | None
    migrated: NotRequired[Migrated]
    runs: Annotated[list[TimedRun], Meta(min_length=1)]


# ---------------------------------------------------------------------------------- counters


class CountedLaunch(TypedDict):
    kernel: Text
    grid: Extent
    block: Extent
    metrics: Metrics


class _Counted(TypedDict):
    chapter: ChapterName
    variant: Text
    n: Count
    block: Block
    params: Params
    command: Text
    launches: Annotated[list[CountedLaunch], Meta(min_length=1)]


_MaybeFrom = TypedDict("_MaybeFrom", {"from": NotRequired[ChapterName]})


class CountedRun(_Counted, _MaybeFrom):
    """A variant's launches as a profiler counted them; the kernel's region where it is known."""

    region: NotRequired[RegionName]
    kernel_hash: NotRequired[KernelHash]


@final
class CountersFile(TypedDict):
    """Hardware counters of all chapters' programs, under NVIDIA's own names."""

    schema: Version
    device: Device
    driver: Text
    toolkit: Text
    source: SourceOrNone
    date: Date
    ncu: Text
    metrics: MetricNames
    migrated: NotRequired[Migrated]
    runs: Annotated[list[CountedRun], Meta(min_length=1)]


class EmbeddedRun(_Counted):
    """The same counters, on the embedded device."""

    region: RegionName
    kernel_hash: KernelHash


@final
class EmbeddedFile(TypedDict):
    schema: Version
    device: EmbeddedDevice
    toolkit: Text
    metrics: MetricNames
    runs: Annotated[list[EmbeddedRun], Meta(min_length=1)]
    date: NotRequired[Any]  # these two are refused
    hardware: NotRequired[Any]


class ProbedLaunch(TypedDict):
    """A launch's counters, in the order of metrics, on the embedded device and on hardware."""

    number: Count
    probe: Text
    kernel: Text
    grid: Extent
    block: Extent
    embedded: EightCounts
    hardware: EightCounts


@final
class ProbesFile(TypedDict):
    """What the embedded device's probes counted here and there. A probe is one launch."""

    schema: Version
    device: EmbeddedDevice
    toolkit: Text
    hardware: Text
    metrics: Annotated[list[Text], Meta(min_length=8, max_length=8)]
    runs: Annotated[list[ProbedLaunch], Meta(min_length=1)]
    date: NotRequired[Any]  # refused


# --------------------------------------------------------------------------------- sanitizer

#: Exit statuses of a check that took place: nothing found, a wrong result, findings.
CHECKED = (0, 1, 4)


class CheckedRun(TypedDict):
    """What one of compute-sanitizer's tools said of a variant."""

    chapter: ChapterName
    variant: Text
    n: Count
    block: Block
    params: NotRequired[Params]
    tool: Literal["memcheck", "racecheck", "initcheck", "synccheck"]
    command: Text
    exit: Annotated[
        int,
        Meta(
            description="0: nothing found; 1: the kernel's result was wrong; 4: findings. Any "
            "other: the check did not take place, so nothing is known."
        ),
    ]
    findings: Annotated[
        Count | None,
        Meta(description="Null where the check did not take place; messages say why."),
    ]
    messages: Annotated[list[str], Meta(max_length=5)]


@final
class SanitizerFile(TypedDict):
    """What compute-sanitizer found in all chapters' programs."""

    schema: Version
    device: Device
    driver: Text
    toolkit: Text
    source: SourceOrNone
    date: Date
    migrated: NotRequired[Migrated]
    runs: Annotated[list[CheckedRun], Meta(min_length=1)]


@final
class ManifestFile(TypedDict):
    """What a set is made of, as ``tools/measure`` left it: see ``manifest``."""

    schema: Literal[1]
    passes: Annotated[int, Meta(ge=2, description="times that everything was measured")]
    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")] | None
    files: Annotated[
        dict[str, Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]],
        Meta(min_length=1, description="SHA-256 of each file of the set."),
    ]


FILES = (ChapterFile, CountersFile, SanitizerFile, EmbeddedFile, ProbesFile)


# ----------------------------------------------------------------------- for other readers


def json_schema() -> dict[str, Any]:
    """All of this as a JSON schema."""
    _refs, definitions = msgspec.json.schema_components(FILES, ref_template="#/$defs/{name}")
    # What `reading` checks besides, as far as a JSON schema can say it.
    definitions["CheckedRun"] |= {
        "if": {"properties": {"findings": {"type": "integer"}}},
        "then": {"properties": {"exit": {"enum": list(CHECKED)}}},
        "else": {"properties": {"messages": {"minItems": 1}}},
    }
    for name, refused in (("EmbeddedFile", ("date", "hardware")), ("ProbesFile", ("date",))):
        for field in refused:
            definitions[name]["properties"][field] = False
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Recorded runs of The Reduction Ladder",
        "description": "Written by figures/records/schema.py, which says what is what.",
        "oneOf": [{"$ref": f"#/$defs/{file.__name__}"} for file in FILES],
        "$defs": definitions,
    }


def json_schema_text() -> str:
    """The same as it lies in the repository: what fits a line is one."""

    def text(value: Any, indent: str) -> str:
        line = json.dumps(value)
        if len(indent + line) < 100 or not isinstance(value, dict | list):
            return line
        inner = indent + "  "
        if isinstance(value, list):
            parts = [text(each, inner) for each in value]
        else:
            parts = [f"{json.dumps(key)}: {text(each, inner)}" for key, each in value.items()]
        brackets = "[]" if isinstance(value, list) else "{}"
        return f"{brackets[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{brackets[1]}"

    return text(json_schema(), "") + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json_schema_text(), encoding="utf-8")
