"""What a claim may say, over made-up recordings, and what its messages say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from common.records.naming import REFERENCE
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from docs.tests.conftest import GMEM, SMEM, Book

pytestmark = pytest.mark.all

Judge = Callable[..., Any]
SIZES = {2**20: 8.0, 2**22: 16.0, 2**24: 32.0, 2**26: 64.0}


def _record(book: Book) -> None:
    one = book.reference()
    one.time(GMEM, "gmem", 100.0)
    one.time(SMEM, "gmem", 100.0, source=GMEM)
    one.time(SMEM, "smem", 50.0)
    one.time(SMEM, "smem", 20.0, block=64)
    one.time(SMEM, "twin", 50.0)
    for run in one.chapters[SMEM]:
        if run["variant"] in ("smem", "twin"):  # steady enough for a tie
            run["samples_us"] = run["samples_us"][3:4] * 7
            run["error"] = 4e-7 if run["variant"] == "smem" else 0.0
    for n, us in SIZES.items():
        one.time(SMEM, "wide", us, n=n)
        one.time(SMEM, "narrow", 2 * us if n < 2**26 else us / 2, n=n)
    for stride in (1, 2, 4):
        one.time(SMEM, f"stride{stride}", 10.0 * stride, params={"stride": stride}, n=2**22)
    one.time(SMEM, "chase", 650.0, params={"hops": 1000})
    one.time("chapter00_timing", "empty_blocks", 524.288, n=2**28)
    # What the second pass says otherwise.
    one.time(SMEM, "unsteady", 40.0)
    second = one.chapters[SMEM][-1]
    second["samples_us"] = [round(1.5 * sample, 3) for sample in second["samples_us"]]
    for variant, sectors in (("gmem", 4194304), ("smem", 2097152)):
        one.count(SMEM, variant, global_load_sectors=sectors, instructions=52_272_000,
                  dram_read_bytes=67108864, occupancy_pct=75.5)  # fmt: skip
    one.write()


@pytest.fixture
def judge(book: Book) -> Judge:
    """Holds a claim on chapter 2's page against the reference."""
    _record(book)
    recordings = Recordings(book.root)

    def judge(text: str, chapter: str = SMEM) -> Any:
        from ladder.claims import evaluate, language

        return evaluate.judge(language.read(text), recordings, REFERENCE, chapter)

    return judge


TRUE = [
    "smem faster than gmem",
    "smem 2x faster than gmem",
    "smem at least 1.9x faster than gmem at 2^24",
    "smem more than 1.9x faster than gmem",
    "smem between 1.9x and 2.1x faster than gmem",
    "smem at most 110 % faster than gmem",
    "gmem slower than smem",
    "gmem 2x slower than smem",
    "gmem behind smem",
    "gmem not faster than smem",
    "smem not 3x faster than gmem",
    "smem and twin tie",
    "smem ties with twin",
    "smem, twin and twin level",
    "smem within 1 % of twin",
    "smem fastest of smem, gmem, chase",
    "gmem slowest of gmem and smem",
    "smem faster than gmem, chase",
    "wide ahead of narrow up to 2^24",
    "wide faster than narrow from 2^20 to 2^24",
    "narrow 2x faster than wide from 2^26",
    "wide faster than narrow at 2^20, 2^22 and 2^24",
    "smem block=64 faster than smem block=256",
    "smem faster than chapter01_gmem gmem",
    "smem faster than chapter01 gmem",
    "time of smem < gmem < chase",
    "time of gmem = 2x that of smem",
    "time of gmem = 2x smem",
    "time of gmem - time of smem between 49 us and 51 µs",
    "time of smem = 0.05 ms",
    "gbps of smem < 2000 GB/s",
    "peak of smem between 20 % and 30 %",
    "peak of smem < device peak / device peak",
    "registers of smem = 12",
    "occupancy of smem = 75 %",
    "latency of chase = 650 ns",
    "error of smem > 1e-7",
    "error of smem between 3e-7 and 4.5e-7",
    "error of twin < 0.01 * error of smem",
    "error of twin = 0",
    "spread of unsteady = 50 %",
    "spread of smem = 0 %",
    "grid of smem = 65536",
    "grid of smem * 256 = 2^24",
    "global_load_sectors of gmem = 2x that of smem",
    "global_load_sectors of gmem + global_load_sectors of smem = 3 * 2^21",
    "global_load_sectors of smem / ( grid of smem * 32 ) = 1",
    "dram_read_bytes of gmem = dram_read_bytes of smem",
    "dram_read_bytes of smem = 64 MiB",
    "occupancy_pct of smem = 75.5 %",
    "smsp__inst_executed.sum of smem > 50 * 1000000",
    "instructions of smem = gmem within 1 %",
    "issue_floor of smem = 50 us",
    "issue_floor of smem > bytes_floor of smem",
    "highest_floor of gmem / time of gmem between 49 % and 51 %",
    "time of stride* doubles at each of stride=1,2,4",
    "time of stride* rises at every stride",
    "time of stride1 < 12 us, stride=1",
    "time of smem rises at every block",
    "time of smem rises from block=64 to block=256",
    "smem block=64 faster than gmem block=256 at every n",
    "time of wide doubles from 2^20 to 2^26",
    "time of smem, gmem, chase rises",
    "time of smem, twin flat",
    "time of narrow / time of wide never rises at every n",
    "time of narrow highest at 2^24",
    "time of wide lowest at 2^20",
]

FALSE = [
    "gmem faster than smem",
    "smem 2.1x faster than gmem",
    "smem more than 2x faster than gmem",
    "smem less than 2x faster than gmem",
    "smem and gmem tie",
    "smem and gmem level",
    "wide faster than narrow at every n",
    "narrow faster than wide from 2^24",
    "time of gmem < smem",
    "registers of smem = 13",
    "error of smem < 1e-7",
    "error of twin > 0",
    "global_load_sectors of gmem = 3x that of smem",
    "time of stride* halves at every stride",
    "time of stride* flat within 5 % at every stride",
    "time of narrow rises from 2^20",
    "time of narrow highest at 2^22",
    "dram_read_bytes of smem = 64 MB",
]


@pytest.mark.parametrize("text", TRUE)
def test_true_claims_hold(judge: Judge, text: str) -> None:
    outcome = judge(text)
    assert outcome.holds, outcome.sides


@pytest.mark.parametrize("text", FALSE)
def test_false_claims_do_not(judge: Judge, text: str) -> None:
    assert not judge(text).holds


def test_a_reversed_claim_is_false(judge: Judge) -> None:
    assert judge("smem faster than gmem").holds
    assert not judge("gmem faster than smem").holds


@pytest.mark.parametrize(
    "text",
    [
        "unsteady 2x faster than gmem",  # 2.5 times in the first, and 1.67 in the second
        "time of unsteady < 50 us",
        "time of unsteady = 40 us within 1 %",
    ],
)
def test_what_is_true_in_one_pass_only_is_false(judge: Judge, text: str) -> None:
    outcome = judge(text)
    assert not outcome.holds
    assert "false in pass 2 of 2" in outcome.sides


def test_both_sides_and_the_data_are_named(judge: Judge) -> None:
    outcome = judge("smem 3x faster than gmem")
    assert outcome.short == "2.00×"
    for part in ("smem n=16777216 block=256 50.0\u00a0µs", "gmem n=16777216", "2.00×, 2.00×"):
        assert part in outcome.sides
    assert f"figures/data/nvidia-h200/{SMEM}.json: {SMEM}/smem n=16777216 block=256" in outcome.data


def test_only_the_false_points_are_spelt_out(judge: Judge) -> None:
    outcome = judge("wide faster than narrow at every n")
    assert "n=67108864" in outcome.sides and "n=4194304" not in outcome.sides


UNREADABLE = [
    ("", "there is no claim"),
    ("smem fster than gmem", "nearest: faster"),
    ("smem faster gmem", "expected faster than, slower than"),
    ("smem > gmem", "say what is compared: 'time of smem > …'"),
    ("smem tie", "'tie' needs two runs"),
    ("smem 2 faster than gmem", "expected how many times, as '2x' or '5 %'"),
    ("smem between 2x and 1x faster than gmem", "the wrong way round"),
    ("smem about 2x faster than gmem", "after 'smem' expected faster than"),
    ("smem faster than gmem faster than chase", "one comparison a claim"),
    ("smem faster than gmem yesterday", "after 'smem faster than gmem' expected at, from"),
    ("smem faster than gmem at", "found the end"),
    ("smem faster than gmem at 24 MiB", "n is a number of elements (1024, 2^24 or 16M)"),
    ("smem faster than gmem at 64MB", "'64MB' is a number of bytes"),
    ("smem faster than gmem, n=16MiB", "'16MiB' is a number of bytes"),
    ("smem faster than gmem, block=2µs", "block is a number of threads"),
    ("smem faster than gmem at many", "'many' is not a whole number"),
    ("smem faster than gmem at 2^20 from 2^22", "has two axes"),
    ("smem faster than gmem, but not on nvidia-h10", "nearest: nvidia-h100"),
    ("smem faster than gmem on nvidia-h100 only", "only"),
    ("tme of smem < 2 us", "there is no quantity 'tme'; nearest: time"),
    ("global_load_sector of smem < 2", "nearest: global_load_sectors"),
    ("registers of smem < 2 us", "'registers of smem' is a count, and '2 us' is a time"),
    ("peak of smem < 60", "is a percentage, and '60' is a count"),
    ("gbps of smem > 60 %", "is a rate, and"),
    ("error of smem > 1e-7 us", "is an error of a sum, and '1e-7 us' is a time"),
    ("error of smem > 1e-", "found '1e-'"),
    ("time of smem + registers of smem < 2 us", "cannot take '+' of a time and a count"),
    ("time of smem * time of gmem < 2 us", "is nothing that the book measures"),
    ("time of smem < gmem within 2 %", "'within' goes with '='"),
    ("time of smem falls", "needs several runs"),
    ("time of smem, gmem < 2 us", "expected rises, falls"),
    ("device l3 > 2 MiB", "a device has no 'l3'"),
    ("2 < 3", "names no recorded run"),
    ("chapter02 faster than gmem", "expected a variant of chapter02"),
]


@pytest.mark.parametrize(("text", "message"), UNREADABLE)
def test_what_cannot_be_read_says_what_was_expected(text: str, message: str) -> None:
    import ladder  # noqa: F401
    from ladder.claims import amounts, language

    with pytest.raises(amounts.BadClaim) as caught:
        language.read_all(text)
    assert message in str(caught.value)


LOST = [
    ("smen faster than gmem", f"{SMEM} has no variant 'smen'; nearest: smem"),
    ("chapter02 smen faster than gmem", f"{SMEM} has no variant 'smen'; nearest: smem"),
    ("chapter07 smem faster than gmem", "nothing is recorded of chapter07"),
]


@pytest.mark.parametrize(("text", "message"), LOST)
def test_an_unknown_name_says_what_is_near(judge: Judge, text: str, message: str) -> None:
    from ladder.book import Lost

    with pytest.raises(Lost) as caught:
        judge(text)
    assert message in str(caught.value)


def test_a_variant_of_another_chapter_is_found_and_an_ambiguous_one_refused(judge: Judge) -> None:
    from ladder.book import Lost

    assert judge("smem faster than chapter02 gmem", GMEM).holds
    assert judge("smem faster than gmem", GMEM).holds  # the page's own gmem, and the only smem
    with pytest.raises(Lost) as caught:
        judge("smem faster than gmem", "")
    assert f"'gmem'; say which: {GMEM} or {SMEM}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smem faster than gmem at 2^23", "nearest are 2^24"),
        ("wide faster than narrow at 24", "n=24 is not there; nearest are 2^20"),
        ("wide faster than narrow from 24", "n=24 is not recorded for all of them; there are 2^20"),
        ("wide faster than narrow up to 2^27", "n=2^27 is not recorded for all of them"),
        ("global_load_sectors of chase > 2", "no recorded counters"),
        (
            "time of stride* < 2 us",
            "'stride*' with no params should be one variant, and is stride1, stride2",
        ),
    ],
)
def test_what_is_not_recorded_is_said(judge: Judge, text: str, message: str) -> None:
    with pytest.raises(NoSuchRun) as caught:
        judge(text)
    assert message in str(caught.value)


def test_several_claims_stand_on_lines_or_between_semicolons() -> None:
    from ladder.claims import language

    text = "smem faster than gmem\nsmem and twin\n   tie at 2^24; registers of smem = 12"
    claims = language.read_all(text)
    assert [claim.text for claim in claims] == [
        "smem faster than gmem",
        "smem and twin tie at 2^24",
        "registers of smem = 12",
    ]
