"""tools/compare: what the page says of real recordings and of made-up ones."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

import tools.comparing.tests.conftest  # noqa: F401  finds the extension
from common.records import columns
from common.records.exported import pack
from common.records.naming import REFERENCE
from common.records.recordings import Recordings
from common.records.sets import RecordedSet
from common.records.verdict import ratios, timed
from figures.kit.chapter import number_of
from figures.kit.pictures import View
from figures.kit.words import listed, time_text
from tools.comparing import Refused, command, properties
from tools.comparing.book_claims import Verdict, held
from tools.comparing.card_notices import made_up as made_up_mark
from tools.comparing.card_notices import notices
from tools.comparing.comparison_page import html
from tools.comparing.content import Content, Failed, chapters_there
from tools.comparing.opening import Opened, opened, read
from tools.comparing.tests import made_up
from tools.comparing.tests.conftest import PAGES, ROOT, Compare, Told
from tools.measuring.notices import Notice

pytestmark = pytest.mark.all

H100 = "nvidia-h100"
PAIR = "nvidia-h200-pair"


@pytest.fixture(scope="module")
def two_cards(recordings: Recordings) -> Content:
    return command.compare([H100, REFERENCE], recordings, PAGES)


def failed(content: Content) -> dict[str, Failed]:
    return {one.text: one for _group, found in content.failed for one in found}


def noted(content: Content, place: int = 0) -> dict[str, Notice]:
    return {one.name: one for one in content.cards[place].notices}


def row(content: Content, name: str) -> list[str]:
    return next(one.values for one in content.hardware if one.name == name)


# ------------------------------------------------------------------------ the book's own two


def test_claims_are_those_of_the_pages_held_on_the_other_card(
    two_cards: Content, recordings: Recordings
) -> None:
    (claims,) = two_cards.claims
    assert claims.card == "H100"
    assert claims.total == sum(tally.total for tally in claims.tallies) > 40
    assert claims.failed == len(two_cards.failed[0][1]) + len(two_cards.failed[-1][1])
    assert claims.in_part == claims.unknown == 0, "both were recorded whole"
    # One of them, by hand.
    text = "by_warps8_sum more than 5x faster than chapter04 smem_sum at 2^28"
    passes = {
        name: ratios(
            *(
                recordings.run(chapter, variant, 2**28, 256, only=name).repeats
                for chapter, variant in (
                    ("chapter05_unroll4", "by_warps8_sum"),
                    ("chapter04_bank_conflicts", "smem_sum"),
                )
            )
        )
        for name in (REFERENCE, H100)
    }
    assert min(passes[REFERENCE]) > 5 > max(passes[H100])
    said = {one.card: (one.verdict, one.number) for one in failed(two_cards)[text].results}
    # To as many digits as the passes of each agree on.
    for card, name, verdict in (("H200", REFERENCE, "holds"), ("H100", H100, "does not hold")):
        held, number = said.pop(card)
        decimals = len(number.removesuffix("×").partition(".")[2])
        assert held == verdict and decimals >= 1
        assert number == f"{statistics.median(passes[name]):.{decimals}f}×"
    assert said == {}
    assert failed(two_cards)[text].is_said, "the page takes the H100 out itself"


def test_a_rule_names_the_memory_and_what_it_saw(two_cards: Content) -> None:
    text = "by_warps8_sum more than 5x faster than chapter04 smem_sum at 2^28"
    (card, found), *more = failed(two_cards)[text].properties
    assert (card, found.name, more) == ("H100", "memory bandwidth", [])
    assert re.fullmatch(
        r"by_warps8_sum moves 9\d % of H200's read roof of 4[56]\d\d GB/s "
        r"and 9\d % of H100's read roof of 3[12]\d\d GB/s",
        found.seen,
    )
    # Neither the chip nor the compiler differs between the two.
    names = {each.name for one in failed(two_cards).values() for _card, each in one.properties}
    assert names == {"memory bandwidth"}


def test_the_climb_of_each_stands_beside_the_others(
    two_cards: Content, recordings: Recordings
) -> None:
    times, shares, sizes = two_cards.pictures
    assert not (times.missing or shares.missing or sizes.missing)
    first = recordings.run("chapter01_gmem", "gmem_interleaved_sum", 2**28, 256, only=REFERENCE)
    takes = (
        f"On NVIDIA H200, a tree in global memory takes {time_text(timed(first.repeats).median_us)}"
    )
    assert takes in times.alt
    assert {value[1] for value in times.rows} == {"H200", "H100"}
    assert len(times.rows) == 2 * 11
    last = shares.rows[-1]
    assert last[0] == "one launch, to the end" and all(95 < float(str(s)) < 100 for s in last[1:])
    assert {str(value[0]) for value in sizes.rows} == {"H200", "H200, CUB", "H100", "H100, CUB"}


def test_the_hardware_shows_what_differs(two_cards: Content) -> None:
    assert row(two_cards, "SMs") == ["132", "132"]
    assert row(two_cards, "L2") == ["50 MiB", "60 MiB"]
    differing = {one.name for one in two_cards.hardware if one.differs}
    assert differing == {
        "L2", "Memory", "Memory clock", "Memory bus, bits", "Memory peak, by its attributes",
        "Read roof, measured",
    }  # fmt: skip


def lacking(chapters: Collection[str], recordings: Recordings) -> list[str]:
    """Numbers of those that one of our cards has: not every one is recorded anew with each."""
    ours = recordings.reference.chapters.keys() | recordings.second[H100].chapters.keys()
    return [str(number_of(one)) for one in sorted(ours) if one not in chapters]


def older(known: RecordedSet, recordings: Recordings) -> bool:
    """Has a kernel changed since it was recorded there? Not every change waits for a card."""
    now = {name: region.hash for name, region in recordings.regions.items()}
    return any(
        run["kernel_hash"] not in (None, now.get(str(run["region"])))
        for record in known.chapters.values()
        for run in record.runs
    )


def test_the_books_own_sets_warn_of_nothing_but_missing_chapters_and_older_kernels(
    two_cards: Content, recordings: Recordings
) -> None:
    sets = {"H200": recordings.reference, "H100": recordings.second[H100]}
    told = []
    for card in two_cards.cards:
        known = sets[card.name]
        absent = lacking(known.chapters, recordings)
        expected = ["chapters missing"] if absent else []
        if older(known, recordings):
            expected += ["older kernels", "another commit"]
        warnings = {one.name: one.text for one in card.notices if one.is_warning}
        assert list(warnings) == expected
        assert re.findall(r"\d+", warnings.get("chapters missing", "")) == absent
        assert not card.is_made_up
        told += [f"{card.name}: {', '.join(expected)}"] if expected else []
    assert "made up" not in html(two_cards).lower()
    assert two_cards.summary[2] == f"to know first: {'; '.join(told) or 'nothing'}"


def test_a_card_without_the_newest_chapter_has_not_all(recordings: Recordings) -> None:
    """The H200 lacks chapter 13: what is missing is not measured against it alone."""
    whole = recordings.second[H100]
    pair = recordings.second[PAIR].chapters
    without = {name: each for name, each in whole.chapters.items() if number_of(name) != 13}
    for chapters, shown, missing in (
        (whole.chapters, "all for one GPU", None),
        (whole.chapters | pair, "all", None),
        (without, ", ".join(map(str, range(13))), "Nothing is there of chapter 13."),
        (without | pair, ", ".join(map(str, [*range(13), 14])), "Nothing is there of chapter 13."),
    ):
        known = RecordedSet("mine", chapters)
        assert chapters_there(known, recordings) == shown
        found = {each.name: each.text for each in notices(Opened("mine", known), recordings)}
        assert found.get("chapters missing") == missing
        assert "sizes left out" not in found


def test_sizes_of_a_chapter_that_the_reference_lacks_are_told(
    told: Told, tmp_path: Path, recordings: Recordings
) -> None:
    (chapter,) = recordings.second[PAIR].chapters.keys() - recordings.reference.chapters.keys()
    source = recordings.second[PAIR].chapters[chapter].path
    (tmp_path / "small").mkdir()
    path = tmp_path / "small" / source.name
    columns.write(path, columns.read(source))
    assert "sizes left out" not in told(path.parent)

    def cut(data: dict[str, Any]) -> None:
        data["runs"] = [run for run in data["runs"] if run["n"] <= 2**28]

    made_up.edit(path, cut)
    text = told(path.parent)["sizes left out"]
    assert f"end of chapter {number_of(chapter)}: the largest n there is at most 2²⁸" in text


def test_the_same_recordings_give_the_same_page(two_cards: Content, compared: Compare) -> None:
    assert html(compared(H100, REFERENCE)) == html(two_cards)


def test_the_page_is_one_file_that_fetches_and_runs_nothing(two_cards: Content) -> None:
    text = html(two_cards)
    page = BeautifulSoup(text, "html.parser")
    assert not page.select("script, link, iframe, object, img, [src], [onload]")
    assert not [
        one["href"] for one in page.select("[href]") if not str(one["href"]).startswith("#")
    ]
    assert "default-src 'none'" in text
    ids = [one["id"] for one in page.select("[id]")]
    assert len(ids) == len(set(ids)), "drawings share no names"
    for svg in page.select("svg[role=img]"):
        assert len(svg["aria-label"]) > 60
    assert len(page.select("svg[role=img]")) == 6


# ------------------------------------------------------------------------------ other cards


def test_a_card_that_is_only_slower_keeps_every_share_and_ratio(
    compared: Compare, sets: dict[str, Path], recordings: Recordings
) -> None:
    content = compared(sets["t4"], REFERENCE)
    (claims,) = content.claims
    for rung in content.pictures[1].rows:
        # Its passes repeat the first one, the reference's are a median of three, and both are
        # rounded: below 10 to tenths.
        theirs, ours = float(str(rung[1])), float(str(rung[2]))
        assert theirs == pytest.approx(ours, rel=0.01, abs=0.101 if ours < 10 else 0)
    assert row(content, "Compute capability") == ["7.5", "9.0"]
    assert claims.replicated > 20
    assert noted(content).keys() == {"chapters missing", "no counters", "another commit"}
    absent = listed(lacking(made_up.CHAPTERS, recordings))
    assert noted(content)["chapters missing"].text == f"Nothing is there of chapters {absent}."
    assert dict(claims.reasons)["its counters are not recorded"] > 10


def test_what_4_gb_have_no_room_for_is_told_and_counted_apart(
    told: Told, sets: dict[str, Path], recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = told(sets["gtx-1050-ti"])["sizes left out"]
    assert "at most 2²⁸, where the book goes to 2³⁰" in text
    assert text.endswith("2³⁰ integers take 4 GiB, and the card has 3.9 GiB.")
    known = read("gtx", sets["gtx-1050-ti"], "gtx").known
    monkeypatch.setitem(recordings.second, "gtx", known)
    parts = held(recordings, ["gtx"], [ROOT / "docs" / "take_home.rst"])
    verdicts = {one.claim.text: one.cards["gtx"].verdict for one in parts}
    at_2_30 = "chapter08 cub and chapter08 take_home level at 2^30, but not on nvidia-h100"
    assert verdicts[at_2_30] is Verdict.UNKNOWN
    assert verdicts["chapter08 whole_sum faster than chapter08 cub_sum at 2^28"] is Verdict.HOLDS
    to_2_29 = "chapter08 take_home faster than chapter08 cub from 2^12 to 2^29"
    assert verdicts[to_2_29] is Verdict.IN_PART


def test_a_throttling_laptop_is_told_apart(told: Told, sets: dict[str, Path]) -> None:
    said = told(sets["laptop"])
    assert said["clock dropped"] == (
        "Right after chapter 5, nvidia-smi read an SM clock of 1200 MHz: 39 % below its highest "
        "reading, 1980 MHz. In the last pass that chapter's median run took 12 % longer than in "
        "the first. After chapters 7 and 8 it was low, too. The card may already have been idling "
        "when it was read, so go by the times."
    )
    assert said["drift between passes"].startswith(
        "Chapters 5, 7 and 8 took longer in a later pass than in the first: most of all chapter 5, "
        "whose median run took 12 % longer in pass 2."
    )
    assert re.match(r"\d+ of \d+ runs differ by more than 5.0 % between passes", said["unsteady"])


@pytest.mark.parametrize("field", ["sm_mhz", "memory_mhz"])
def test_a_clock_that_was_read_idling_is_no_drop(told: Told, broken: Path, field: str) -> None:
    """A GeForce idles as soon as a program has ended; its times stay as they were."""
    chapters = sorted(broken.glob("chapter*.json"))
    for path in chapters:
        made_up.edit(path, lambda data: data["clocks"]["after"].update({field: 210.0}))
    assert "clock dropped" not in told(broken)

    def slow_down(data: dict[str, Any], by: float) -> None:
        for run in data["runs"]:
            if run["repeat"] == made_up.PASSES - 1:
                run |= made_up.slowed(run, by)

    made_up.edit(chapters[0], lambda data: slow_down(data, 1.005))
    assert "clock dropped" not in told(broken), "that is within what passes differ by"
    made_up.edit(chapters[1], lambda data: slow_down(data, 1.03))
    text = told(broken)["clock dropped"]
    clock = {"sm_mhz": "an SM clock", "memory_mhz": "a memory clock"}[field]
    assert text.startswith(f"Right after chapter 3, nvidia-smi read {clock} of 210 MHz")
    assert "median run took 3.0 % longer than in the first" in text


def test_a_slice_is_told_apart(told: Told, sets: dict[str, Path]) -> None:
    said = told(sets["mig"])
    assert "slice of a card" in said["MIG slice"]
    assert not {"clock dropped", "drift between passes", "unsteady"} & said.keys()


def test_made_up_data_say_so_in_large_letters(
    compared: Compare, small: Path, sets: dict[str, Path]
) -> None:
    content = compared(small, sets["mig"], H100)
    page = BeautifulSoup(html(content), "html.parser")
    banners = [one.get_text() for one in page.select("p.made-up")]
    assert [text.split("No card")[0] for text in banners] == [
        "Made up: Made-up T4", "Made up: Made-up H200 MIG 1g.18gb",
    ]  # fmt: skip
    assert "Made-up T4 is MADE UP" in content.summary[2]


def test_the_mark_is_more_than_the_name(
    small: Path, tmp_path: Path, recordings: Recordings
) -> None:
    renamed = shutil.copytree(small, tmp_path / "renamed")
    for path in renamed.glob("chapter*.json"):
        made_up.edit(path, lambda data: data["device"].update(name="Tesla T4"))
    assert made_up_mark(read("x", renamed, "x").known)
    assert not made_up_mark(recordings.reference)


# ----------------------------------------------------------------------- rules of properties


def _claim(text: str, recordings: Recordings, tmp_path: Path, card: str) -> Any:
    page = tmp_path / "page.rst"
    page.write_text(f"Title\n=====\n\n.. claim:: {text}\n\n   A sentence.\n")
    (one,) = held(recordings, [card], [page])
    assert one.cards[card].verdict is Verdict.FAILS
    ours = View(recordings, recordings.reference), "ours"
    theirs = View(recordings, recordings.second[card]), "theirs"
    return {each.name: each.seen for each in properties.likely(one, ours, theirs)}


@pytest.mark.parametrize(
    ("text", "name", "seen"),
    [
        ("time of chapter01 gmem_interleaved_sum < 3.2 ms at 2^28", "", ""),
        ("time of chapter08 whole_sum < 20 us at 2^22", "L2 size", "whole_sum reads 16 MiB"),
        ("time of chapter02 smem < 10 us at 2^18", "SM count", "smem launches 1024 blocks"),
        (
            "grid of chapter02 smem < 500 * device sm_count at 2^24",
            "SM count",
            "the claim names it",
        ),
        (
            "registers of chapter02 smem < device sm_count / 5",
            "compute capability",
            "the claim counts registers; ours has 9.0 and theirs 7.5",
        ),
        (
            "gbps of chapter08 whole_sum > 4 TB/s at 2^28",
            "memory bandwidth",
            "whole_sum moves 98 %",
        ),
    ],
)
def test_a_rule_applies_where_it_says(
    text: str, name: str, seen: str, recordings: Recordings, sets: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setitem(recordings.second, "t4", read("t4", sets["t4"], "t4").known)
    found = _claim(text, recordings, tmp_path, "t4")
    if not name:
        assert found == {}
    else:
        assert found[name].startswith(seen)


# ------------------------------------------------------------------------- half a recording


@pytest.fixture
def broken(small: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return shutil.copytree(small, tmp_path / "broken")


def test_a_half_written_file_is_left_out_with_the_reason(compared: Compare, broken: Path) -> None:
    path = broken / "chapter03_divergence.json"
    path.write_text(path.read_text()[:5000])
    content = compared(broken, REFERENCE)
    assert noted(content)["left out"].text.startswith("chapter03_divergence.json: line ")
    assert "half-written?" in noted(content)["left out"].text
    assert len(content.pictures[0].rows) == 11 + 6, "the climb goes on without that rung"
    assert "not measured" in content.pictures[0].light
    assert "changed by hand" in noted(content), "the manifest knows the file"


def _of_schema_1(data: dict[str, Any]) -> None:
    data["schema"] = 1


def _of_another_card(data: dict[str, Any]) -> None:
    data["device"]["name"] = "Another GPU"


def test_another_schema_is_refused_file_by_file(told: Told, broken: Path) -> None:
    made_up.edit(broken / "chapter05_unroll4.json", _of_schema_1)
    text = told(broken)["left out"]
    assert text.startswith("chapter05_unroll4.json: field 'schema': version 1 is an older book's")
    for path in broken.glob("chapter*.json"):
        made_up.edit(path, _of_schema_1)
    with pytest.raises(Refused, match=r"is refused: chapter01_gmem.json: field 'schema'"):
        told(broken)


def test_a_set_of_two_cards_is_refused(told: Told, broken: Path) -> None:
    made_up.edit(broken / "chapter05_unroll4.json", _of_another_card)
    with pytest.raises(Refused, match=r"two cards, 'NVIDIA Made-up T4' and 'Another GPU'"):
        told(broken)


@pytest.mark.parametrize(
    ("change", "name", "text"),
    [
        (lambda data: data.update(clocks=None), "SM clock unknown", "The recording has no reading"),
        (lambda data: data["source"].update(commit="ab" * 20), "another commit",
         "Recorded at commit abababa, which this copy's history doesn't have."),
        (lambda data: data["source"].update(dirty=True), "changed source", "The source that"),
        (lambda data: data.update(source=None), "commit unknown", "The recording doesn't say"),
        (lambda data: [run.update(kernel_hash="0" * 16) for run in data["runs"]
                       if run["variant"] == "smem"], "older kernels",
         "1 kernel has changed since it was timed there: smem."),
        (lambda data: data.update(runs=[run for run in data["runs"] if run["repeat"] == 0]),
         "few passes", "Recorded in 1 pass, where the book's own sets have 3."),
        (lambda data: [run.update(stopped_by="seconds") for run in data["runs"]],
         "samples far apart", "In "),
        (lambda data: data["device"].update(memory_clock_khz=1000),
         "a check of the recording failed", "chapter01_gmem.json: chapter01_gmem/gmem"),
    ],
)  # fmt: skip
def test_what_is_off_is_told(
    told: Told, broken: Path, change: Callable[[dict[str, Any]], None], name: str, text: str
) -> None:
    assert not told(broken).get(name, "").startswith(text)
    for path in broken.glob("chapter*.json"):
        made_up.edit(path, change)
    assert told(broken)[name].startswith(text)


def test_a_recording_of_one_chapter_is_compared_as_far_as_it_goes(
    compared: Compare, tmp_path: Path
) -> None:
    one = made_up.write(tmp_path / "one", made_up.T4, ("chapter05_unroll4",))
    content = compared(one, H100)
    assert len(content.pictures[0].rows) == 5 + 11
    assert "chapter08" in content.pictures[2].alt or "not recorded" in content.pictures[2].alt
    assert content.claims[0].unknown > content.claims[1].unknown == 0
    first = compared(made_up.write(tmp_path / "first", made_up.T4, ("chapter00_timing",)), H100)
    assert first.pictures[0].missing.startswith("no rung of the climb is recorded")
    assert "Not drawn: no rung" in html(first)


@pytest.mark.parametrize("other", [REFERENCE, H100, PAIR])
def test_two_gpus_beside_one_and_beside_themselves(
    compared: Compare, tmp_path: Path, recordings: Recordings, other: str
) -> None:
    """Their set has the chapter about several GPUs, and no rung of the climb."""
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "figures" / "data" / PAIR, mine)
    content = compared(mine, other)
    assert content.cards[0].chapters == "14"
    assert noted(content)["chapters missing"].text == (
        f"Nothing is there of chapters {listed(lacking((), recordings))}."
    )
    assert content.claims[0].unknown == content.claims[0].total > 40
    assert content.summary[1].startswith("no climb: no rung of the climb is recorded")
    text = html(content)
    assert "Not drawn: no rung of the climb" in text and "chapter 5 is not recorded" in text


@pytest.mark.parametrize("several", ["nvidia-h100-pair", "nvidia-h200-four"])
def test_a_claim_about_several_gpus_fails_beside_those_it_is_told_by(several: str) -> None:
    page = ROOT / "docs/chapters/chapter14_many_gpus.rst"
    content = command.compare([several], command.book(), [page])
    failed = [each for _group, found in content.failed for each in found]
    assert failed and all(each.is_said for each in failed), "the book says so itself"
    assert not any("on nvidia-" in each.text for each in failed)
    ours = "H200" if several.startswith("nvidia-h100") else f"H200 ({PAIR})"
    assert {each.results[0].card for each in failed} == {ours}


def test_what_others_wrote_is_escaped(compared: Compare, broken: Path) -> None:
    for path in broken.glob("chapter*.json"):
        made_up.edit(path, lambda data: data["device"].update(name="<script>$x_</script> made up"))
    text = html(compared(broken, REFERENCE))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


# ------------------------------------------------------------------------------- the command


def test_the_command_says_where_the_page_is_and_what_it_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    two_cards: Content, recordings: Recordings,
) -> None:  # fmt: skip
    monkeypatch.setattr(command, "book", lambda: recordings)
    monkeypatch.setattr(command, "compare", lambda asked, recordings: two_cards)
    page = tmp_path / "new" / "page.html"
    assert command.main([H100, "-o", str(page)]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"The page: {page}"
    assert [line.strip() for line in lines] == two_cards.summary and len(lines) == 3
    assert page.read_text(encoding="utf-8") == html(two_cards)
    (tmp_path / "file").touch()
    assert command.main([H100, "-o", str(tmp_path / "file" / "x.html")]) == 2
    assert "x.html can't be written (Not a directory)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        (
            ["nvidia-t4"],
            1,
            "nvidia-t4 is neither a folder, nor an exported file, nor a set of this",
        ),
        (["embedded"], 1, "the embedded device's set has no times to compare"),
        ([REFERENCE], 2, "the reference alone; say what to compare it with"),
        ([H100, H100], 2, "nvidia-h100: given twice"),
        ([PAIR, PAIR], 2, f"{PAIR}: given twice"),
        ([str(ROOT / "figures/data" / PAIR), PAIR], 1, f"{PAIR}: given twice"),
        ([PAIR, str(ROOT / "figures/data" / PAIR)], 1, f"{PAIR}: given twice"),
        (list("abcde"), 2, "5 recordings; a page shows up to 4"),
        ([str(ROOT / "docs")], 1, "is refused: it holds no chapter's times"),
        ([str(ROOT / "README.md")], 1, "README.md is not an exported recording"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(
    asked: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, recordings: Recordings,
) -> None:  # fmt: skip
    monkeypatch.setattr(command, "book", lambda: recordings)
    try:
        assert command.main(asked) == status
    except SystemExit as left:
        assert left.code == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tools/compare: ") and said in line


def test_help_and_a_missing_environment(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "tools" / "compare", "--help"], capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert "tools/measure --export" in done.stdout
    bare = tmp_path / "tools" / "compare"
    bare.parent.mkdir()
    for needed in ("compare", "python.sh"):
        shutil.copy(ROOT / "tools" / needed, bare.parent)
    done = subprocess.run([bare, "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (77, "")
    assert done.stderr == (
        "tools/compare: needs what the guide is made with; tools/setup installs it\n"
    )


# -------------------------------------------------------------------------------- by a file


def test_an_exported_set_says_what_its_folder_says(
    recordings: Recordings, sets: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "mine.json.gz"
    file.write_bytes(pack(sets["mig"]))
    here = read("x", sets["mig"], "x")
    with opened([str(file)], recordings) as (there,):
        assert there.known.name == "mig"
        assert notices(here, recordings) == notices(there, recordings)
        for name, record in here.known.chapters.items():
            assert there.known.chapters[name].data == record.data
    damaged = tmp_path / "damaged.json.gz"
    damaged.write_bytes(file.read_bytes()[:-100])
    with (
        pytest.raises(Refused, match=r"damaged.json.gz is not whole"),
        opened([str(damaged)], recordings),
    ):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [damaged.name, file.name]


def test_anothers_set_of_our_name_does_not_pass_for_ours(
    compared: Compare, small: Path, tmp_path: Path, recordings: Recordings
) -> None:
    folder = shutil.copytree(small, tmp_path / REFERENCE)
    content = compared(folder, REFERENCE)
    assert [card.key for card in content.cards] == [f"{REFERENCE}-2", REFERENCE]
    assert len(content.claims) == 1
    assert recordings.sets(REFERENCE)[0].device_name == "NVIDIA H200"


def test_claims_of_chapters_that_the_reference_lacks_are_told(recordings: Recordings) -> None:
    """Their variants are another card's, and so is what they are held against."""
    claims = held(recordings, [PAIR, REFERENCE], [ROOT / "docs/chapters/chapter14_many_gpus.rst"])
    assert len(claims) >= 20
    assert {one.reference.verdict for one in claims} == {Verdict.HOLDS}
    assert {one.cards[PAIR].verdict for one in claims} == {Verdict.HOLDS}
    assert {one.cards[REFERENCE].verdict for one in claims} == {Verdict.UNKNOWN}
