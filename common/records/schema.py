"""What recorded files hold.

A *set* is one folder: ``<chapter>.json`` (:class:`ChapterFile`), ``counters.json``
(:class:`CountersFile`), ``sanitizer.json`` (:class:`SanitizerFile`) and ``manifest.json``
(:class:`ManifestFile`). The embedded device's set
has ``counters.json`` (:class:`EmbeddedFile`) and ``probes.json`` (:class:`ProbesFile`), no times
and no dates: the same source gives the same bytes.

How they lie in the files, in columns, is ``columns``' matter. These types are of what comes out of
it, which is also what programs write. msgspec checks it against them. What is named here must be
there; more may be, and is left out. What no type can say, ``reading`` checks besides. Where there
is a type of what was measured, the other has what follows from it (``derived``), too.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, final

from msgspec import Meta

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Rate = Annotated[float, Meta(ge=0)]
Version = Annotated[Literal[3], Meta(description="of this schema: columns.SCHEMA_VERSION")]
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
MetricNames = Annotated[list[Text], Meta(min_length=1)]
EightCounts = Annotated[list[Count], Meta(min_length=8, max_length=8)]


# -------------------------------------------------------------------------------- provenance


class Attributes(TypedDict):
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


@final
class Device(Attributes):
    peak_gb_per_s: float


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


class MeasuredRun(_From):
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
    blocks_per_sm: Count | None
    bytes_read: Count
    bytes_written: Count
    samples_us: list[Any]  # of numbers above 0, as `columns` has made sure
    stopped_by: Text
    cache: Text
    clock: Text
    verified: bool
    kernel_hash: KernelHash
    error: NotRequired[
        Annotated[float, Meta(ge=0, description="of a sum of floats: |found - exact| / |exact|")]
    ]


class TimedRun(MeasuredRun):
    """A run, and what follows from its samples."""

    median_us: float
    #: Low and high; None where there are too few samples for one.
    median_ci_us: tuple[float, float] | None
    p25_us: float
    p75_us: float
    min_us: float
    gb_per_s: float


class _Chapter(TypedDict):
    """The times of one chapter's program."""

    schema: Version
    chapter: ChapterName
    commands: Annotated[list[Annotated[list[str], Meta(min_length=1)]], Meta(min_length=1)]
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


class MeasuredChapter(_Chapter):
    device: Attributes
    runs: Annotated[list[MeasuredRun], Meta(min_length=1)]


@final
class ChapterFile(_Chapter):
    device: Device
    runs: list[TimedRun]


# ---------------------------------------------------------------------------------- counters


class _Launch(TypedDict):
    kernel: Text
    grid: Extent
    block: Extent


class CountedLaunch(_Launch):
    metrics: Annotated[dict[str, Rate], Meta(min_length=1)]


class EmbeddedLaunch(_Launch):
    metrics: Annotated[dict[str, Count], Meta(min_length=1)]


class _Counted(TypedDict):
    chapter: ChapterName
    variant: Text
    n: Count
    block: Block
    params: Params
    command: Text


_MaybeFrom = TypedDict("_MaybeFrom", {"from": NotRequired[ChapterName]})


class CountedRun(_Counted, _MaybeFrom):
    """A variant's launches as a profiler counted them; the kernel's region where it is known."""

    launches: Annotated[list[CountedLaunch], Meta(min_length=1)]
    region: NotRequired[RegionName]
    kernel_hash: NotRequired[KernelHash]


class _Counters(TypedDict):
    """Hardware counters of all chapters' programs, under NVIDIA's own names."""

    schema: Version
    driver: Text
    toolkit: Text
    source: SourceOrNone
    date: Date
    ncu: Text
    metrics: MetricNames
    migrated: NotRequired[Migrated]
    runs: Annotated[list[CountedRun], Meta(min_length=1)]


class MeasuredCounters(_Counters):
    device: Attributes


@final
class CountersFile(_Counters):
    device: Device


class EmbeddedRun(_Counted):
    """The same counters, on the embedded device."""

    launches: Annotated[list[EmbeddedLaunch], Meta(min_length=1)]
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


class _Sanitizer(TypedDict):
    """What compute-sanitizer found in all chapters' programs."""

    schema: Version
    driver: Text
    toolkit: Text
    source: SourceOrNone
    date: Date
    migrated: NotRequired[Migrated]
    runs: Annotated[list[CheckedRun], Meta(min_length=1)]


class MeasuredSanitizer(_Sanitizer):
    device: Attributes


@final
class SanitizerFile(_Sanitizer):
    device: Device


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
