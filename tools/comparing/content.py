"""What the page says, as plain values: the template only lays them out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import escape

from common.records.recordings import Recordings
from common.records.schema import Device
from common.records.sets import NoSuchRun, RecordedSet
from figures import cards, draw
from figures.kit.chapter import number_of
from figures.kit.pictures import Picture, View, rate_of, time_of
from figures.kit.words import bytes_text, rate_text, significant, size, times_text
from tools.comparing import book_claims, properties
from tools.comparing.book_claims import BookClaim, Tally, Verdict
from tools.comparing.card_notices import book_chapters, made_up, notices, one_gpu_chapters
from tools.comparing.opening import Opened, is_reference
from tools.comparing.properties import Property
from tools.measuring.notices import Notice

_SETS_NAMED = re.compile(r"(,? (but not )?on nvidia-[\w-]+( only)?)+$")


@dataclass(frozen=True)
class Card:
    """One recording at the page's head."""

    name: str
    full_name: str
    key: str
    asked: str
    is_reference: bool
    is_made_up: bool
    driver: str
    toolkit: str
    commit: str
    date: str
    chapters: str
    notices: list[Notice]


@dataclass(frozen=True)
class Drawn:
    """A picture in both themes, with its words; or why it isn't there."""

    title: str
    light: str = ""
    dark: str = ""
    alt: str = ""
    caption: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    missing: str = ""


@dataclass(frozen=True)
class Result:
    """A claim on one card, beside the others'."""

    card: str
    verdict: str
    number: str
    sides: str


@dataclass(frozen=True)
class Failed:
    """A claim that does not hold on every card."""

    words: str
    text: str
    is_absolute: bool
    is_said: bool
    results: list[Result]
    properties: list[tuple[str, Property]]


@dataclass(frozen=True)
class Claims:
    """What came of the book's claims on one card."""

    card: str
    tallies: list[Tally]
    replicated: int
    in_part: int
    failed: int
    unknown: int
    reasons: list[tuple[str, int]]

    @property
    def total(self) -> int:
        return self.replicated + self.in_part + self.failed + self.unknown


@dataclass(frozen=True)
class Row:
    """One line of the table of hardware."""

    name: str
    values: list[str]
    differs: bool


@dataclass(frozen=True)
class Content:
    """All of the page."""

    title: str
    cards: list[Card]
    pictures: list[Drawn]
    claims: list[Claims]
    failed: list[tuple[str, list[Failed]]]
    hardware: list[Row]
    verdicts: type[Verdict]
    summary: list[str]


def content(
    asked: Sequence[Opened], recordings: Recordings, guide: Sequence[Path] | None = None
) -> Content:
    """Everything that the page shows of these recordings, which *recordings* knows by name.

    *guide* are the pages whose claims are held; without it, all of them.
    """
    views = [View(recordings, one.known) for one in asked]
    names = cards.names_of(views)
    shown = [_card(one, name, recordings) for one, name in zip(asked, names, strict=True)]
    asked_of = [one.known.name for one in asked if not is_reference(one)]
    held = book_claims.held(recordings, asked_of, guide)
    by_name = {one.known.name: name for one, name in zip(asked, names, strict=True)}
    claims = [
        _claims(held, one.known, by_name[one.known.name]) for one in asked if not is_reference(one)
    ]
    return Content(
        title=" against ".join(names),
        cards=shown,
        pictures=[
            _drawn(title, name, views)
            for title, name in zip(
                ("Time per rung", "Share of each card's own read roof", "The last rung, and CUB"),
                cards.PICTURES,
                strict=True,
            )
        ],
        claims=claims,
        failed=_failed(held, asked, by_name, recordings),
        hardware=_hardware(views),
        verdicts=Verdict,
        summary=_summary(claims, views, names, shown),
    )


# ---------------------------------------------------------------------------------- the head


def _card(one: Opened, name: str, recordings: Recordings) -> Card:
    known = one.known
    records = list(known.chapters.values())
    first = records[0].provenance
    return Card(
        name=name,
        full_name=known.device_name,
        key=known.name,
        asked=one.asked,
        is_reference=is_reference(one),
        is_made_up=made_up(known),
        driver=first.driver,
        toolkit=first.toolkit,
        commit=(first.commit[:12] or "unknown") + (" (modified)" if first.dirty else ""),
        date=min(record.data["date"] for record in records)[:10],
        chapters=chapters_there(known, recordings),
        notices=notices(one, recordings),
    )


def chapters_there(known: RecordedSet, recordings: Recordings) -> str:
    """Which there are; of those about several GPUs a card may have none."""
    if book_chapters(recordings).keys() <= known.chapters.keys():
        return "all"
    if known.chapters.keys() >= set(one_gpu_chapters(recordings)):
        return "all for one GPU"
    return ", ".join(str(number_of(chapter)) for chapter in known.chapters)


# ------------------------------------------------------------------------------ the pictures


def _drawn(title: str, name: str, views: Sequence[View]) -> Drawn:
    try:
        picture: Picture = cards.PICTURES[name](views)
    except NoSuchRun as missing:
        return Drawn(title, missing=str(missing))
    light, dark = draw.drawings(name, picture).values()
    return Drawn(
        title,
        inline(light, f"{name}-light-", picture.alt),
        inline(dark, f"{name}-dark-", picture.alt),
        picture.alt,
        picture.caption,
        picture.table.columns,
        [[_cell(value) for value in row] for row in picture.table.rows],
    )


def inline(svg: str, prefix: str, alt: str) -> str:
    """A drawing to stand in a page: its names apart from other drawings', and its words on it."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r"url\(#", f"url(#{prefix}", body)
    body = re.sub(r'href="#', f'href="#{prefix}', body)
    head, rest = body.split(">", 1)
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    return f'{head} role="img" aria-label="{escape(alt)}">{rest}'


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return significant(value, 4) if isinstance(value, float) else str(value)


# -------------------------------------------------------------------------------- the claims


def _claims(held: Sequence[BookClaim], known: RecordedSet, name: str) -> Claims:
    counts = {verdict: 0 for verdict in Verdict}
    reasons: dict[str, int] = {}
    for one in held:
        found = one.cards[known.name]
        counts[found.verdict] += 1
        if found.verdict is Verdict.UNKNOWN:
            why = _reason(found.why, known)
            reasons[why] = reasons.get(why, 0) + 1
    return Claims(
        name,
        book_claims.tallies(held, known.name),
        counts[Verdict.HOLDS],
        counts[Verdict.IN_PART],
        counts[Verdict.FAILS],
        counts[Verdict.UNKNOWN],
        sorted(reasons.items(), key=lambda each: (-each[1], each[0])),
    )


_NO_RUN = re.compile(r"no recorded (?P<what>run|counters) (?P<chapter>\w+)/")


def _reason(why: str, known: RecordedSet) -> str:
    """Why a claim can't be told, in words that several claims share."""
    found = _NO_RUN.match(why)
    if not found:
        return why
    chapter = f"chapter {number_of(found['chapter'])}"
    if found["what"] == "counters":
        return "its counters are not recorded"
    if found["chapter"] not in known.chapters:
        return f"{chapter} is not recorded"
    return f"{chapter} is recorded without its runs, or without them at this size"


def _failed(
    held: Sequence[BookClaim],
    asked: Sequence[Opened],
    by_name: dict[str, str],
    recordings: Recordings,
) -> list[tuple[str, list[Failed]]]:
    """Claims that fail on a card, by group: both numbers, and what a rule says of the hardware."""
    groups: dict[str, list[Failed]] = {}
    for one in sorted(held, key=lambda each: book_claims.place(each.group)):
        failing = [key for key, found in one.cards.items() if found.verdict is Verdict.FAILS]
        if not failing:
            continue
        shown = recordings.of(one.chapter)
        ours = View(shown, shown.reference)
        others = [View(shown, each.known) for each in asked]
        our_name = by_name.get(shown.reference.name) or cards.names_of([ours, *others])[0]
        results = [_result(our_name, one.reference)]
        results += [_result(by_name[key], found) for key, found in one.cards.items()]
        found = []
        for key in failing:
            theirs = View(shown, next(each.known for each in asked if each.known.name == key))
            likely = properties.likely(one, (ours, our_name), (theirs, by_name[key]))
            found += [(by_name[key], each) for each in likely]
        groups.setdefault(one.group, []).append(
            Failed(
                one.words,
                _SETS_NAMED.sub("", one.claim.text),
                properties.absolute(one),
                all(key in one.claim.denied_on for key in failing),
                results,
                found,
            )
        )
    return list(groups.items())


def _result(card: str, held: book_claims.Held) -> Result:
    if held.outcome is None:
        return Result(card, held.verdict.value, "–", held.why)
    holds = "holds" if held.outcome.holds else "does not hold"
    return Result(card, holds, held.outcome.short, held.outcome.sides)


# ------------------------------------------------------------------------------ the hardware


def _clock(khz: float) -> str:
    return f"{khz / 1e3:.0f} MHz" if khz else "not told"


def _hardware(views: Sequence[View]) -> list[Row]:
    def of_device(name: str, text: object, field: str) -> tuple[str, list[str]]:
        return name, [text(view.device.get(field)) for view in views]  # type: ignore[operator]

    def plain(value: object) -> str:
        return "not told" if value is None else str(value)

    def memory(value: float | None) -> str:
        return "not told" if value is None else bytes_text(value)

    def roof(view: View) -> str:
        try:
            return rate_text(rate_of(view.read_roof()))
        except NoSuchRun:
            return "not measured"

    def of_record(field: str) -> list[str]:
        return [str(next(iter(v.known.chapters.values())).data[field]) for v in views]  # type: ignore[literal-required]

    rows = [
        of_device("Compute capability", plain, "compute_capability"),
        of_device("SMs", plain, "sm_count"),
        of_device("Threads per SM, at most", plain, "max_threads_per_sm"),
        of_device("SM clock, at most", _clock, "sm_clock_khz"),
        of_device("L2", memory, "l2_bytes"),
        of_device("Memory", memory, "global_bytes"),
        of_device("Memory clock", _clock, "memory_clock_khz"),
        of_device("Memory bus, bits", plain, "memory_bus_bits"),
        ("Memory peak, by its attributes", [_peak(view.device) for view in views]),
        ("Read roof, measured", [roof(view) for view in views]),
        of_device("Shared memory per SM", memory, "shared_per_sm"),
        of_device("Shared memory per block, by default", memory, "shared_per_block"),
        of_device("Shared memory per block, on request", memory, "shared_optin"),
        of_device("ECC", lambda on: "on" if on else "off", "ecc"),
        ("Driver takes CUDA", of_record("driver")),
        ("Toolkit", of_record("toolkit")),
        ("Host compiler", of_record("host_compiler")),
        ("Flags", of_record("flags")),
        ("Built for", of_record("architectures")),
    ]
    return [Row(name, values, len(set(values)) > 1) for name, values in rows]


def _peak(device: Device) -> str:
    return rate_text(device["peak_gb_per_s"]) if device["peak_gb_per_s"] else "not told"


# ------------------------------------------------------------------------ the three first lines


def _summary(
    claims: Sequence[Claims], views: Sequence[View], names: Sequence[str], shown: Sequence[Card]
) -> list[str]:
    """What a reader most wants to know: the claims, the climb, and what to beware of."""
    lines = []
    for one in claims:
        holding = f"{one.replicated} of {one.total} claims replicate"
        part = f", {one.in_part} more as far as they were measured" if one.in_part else ""
        lines.append(
            f"{one.card}: {holding}{part}, {one.failed} don't, {one.unknown} can't be told"
        )
    if not claims:
        lines.append("only the book's own recording is here, so its claims are not counted")
    lines = ["; ".join(lines)]
    try:
        n, rungs = cards.common_climb(views)
        said = []
        for which, name in enumerate(names):
            mine = [found for rung in rungs if (found := rung.founds[which])]
            if len(mine) > 1:
                gain = times_text(time_of(mine[0]) / time_of(mine[-1]))
                said.append(f"{name} {gain} as fast")
        lines.append(f"the climb at {size(n)}, first rung to last: {'; '.join(said) or 'no two'}")
    except NoSuchRun as missing:
        lines.append(f"no climb: {missing}")
    warned = {
        one.name: dict.fromkeys(each.name for each in one.notices if each.is_warning)
        for one in shown
    }
    beware = [f"{name}: {', '.join(found)}" for name, found in warned.items() if found]
    unreal = [f"{one.name} is MADE UP" for one in shown if one.is_made_up]
    lines.append(f"to know first: {'; '.join([*unreal, *beware]) or 'nothing'}")
    return lines
