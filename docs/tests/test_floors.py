"""The floors beneath a time, against numbers worked by hand."""

from __future__ import annotations

import pytest

from docs.tests import fake
from docs.tests.conftest import GMEM, SMEM, Book

pytestmark = pytest.mark.all

CHAPTER00 = "chapter00_timing"
# The made-up device issues 132 SMs x 4 schedulers x 1980 MHz = 1 045 440 instructions in 1 us.
INSTRUCTIONS = 52_272_000  # 50 us of them


def recorded(one: fake.FakeSet) -> fake.FakeSet:
    one.time(SMEM, "smem", 80.0, region="smem-loop")
    one.time(SMEM, "smem", 1300.0, region="smem-loop", n=2**28)
    one.time(SMEM, "stride", 500.0)
    one.time(SMEM, "stride", 500.0, n=2**28)
    one.time(CHAPTER00, "empty_blocks", 524.288, n=2**28)  # 2^20 blocks: 2 a nanosecond
    one.time(CHAPTER00, "pointer_chase", 1350.0, params={"hops": 4096})
    for variant in ("smem", "stride"):
        one.count(SMEM, variant, instructions=INSTRUCTIONS)
    one.counts[0]["launches"][0]["grid"] = [2**16, 1, 1]  # as many as the run at 2^24 has
    return one


@pytest.fixture
def floor_book(book: Book) -> Book:
    recorded(book.reference()).write()
    fake.draw(book.figures, "ladder")
    return book


def page(book: Book, text: str) -> list[list[str]]:
    built = book.build(index=f"Page\n====\n\n{text}\n")
    assert built.warnings == []
    (table,) = built.page().select("table.floors")
    return [[c.get_text(strip=True) for c in row.select("th, td")] for row in table("tr")][1:]


def test_three_floors_and_the_highest_of_them_over_the_time(floor_book: Book) -> None:
    # 65 536 blocks at 2 a nanosecond; 4 B x (2^24 + 2^16) at 4916.7 GB/s.
    rows = page(floor_book, f".. floors:: {SMEM}\n   :variants: smem\n")
    assert rows == [["smem", "50.0", "32.8", "13.7", "80.0", "62"]]


def test_the_highest_floor_is_set_off(floor_book: Book) -> None:
    built = floor_book.build(index=f"Page\n====\n\n.. floors:: {SMEM}\n   :variants: smem\n")
    strong = built.page().select("table.floors strong")
    assert [cell.get_text() for cell in strong] == ["50.0"]


def test_instructions_are_scaled_by_blocks_where_their_share_is_the_same(floor_book: Book) -> None:
    rows = page(floor_book, f".. floors:: {SMEM}\n   :variants: smem\n   :n: 2^28\n")
    assert rows == [["smem", "800", "524", "219", "1300", "62"]]


def test_instructions_are_not_scaled_where_a_block_does_more(floor_book: Book) -> None:
    rows = page(floor_book, f".. floors:: {SMEM}\n   :variants: stride\n   :n: 2^28\n")
    assert rows[0][:3] == ["stride", "–", "524"]


def test_formulas_name_their_rates(floor_book: Book) -> None:
    text = floor_book.build(index=f"Page\n====\n\n.. floors:: {SMEM}\n   :variants: smem\n").text()
    assert "132 SMs × 4 schedulers × 1980 MHz, 1045 instructions per nanosecond" in text
    assert "2.00 blocks per nanosecond at 256 threads" in text
    assert "theoretical peak, 4917 GB/s" in text


def test_a_local_set_without_counters_has_a_dash(floor_book: Book) -> None:
    local = floor_book.local()
    local.time(SMEM, "smem", 720.0)
    local.write()
    rows = page(floor_book, f".. floors:: {SMEM}\n   :variants: smem\n")
    assert rows[0] == ["smem", "GTX 1080", "–", "–", "13.7", "720", "1.9"]
    assert rows[1][:3] == ["smem", "H200", "50.0"]


def test_empty_blocks_that_were_not_recorded_are_an_error(book: Book) -> None:
    one = book.reference()
    one.time(SMEM, "smem", 80.0, region="smem-loop")
    one.count(SMEM, "smem", instructions=INSTRUCTIONS)
    one.write()
    built = book.build(index=f"Page\n====\n\n.. floors:: {SMEM}\n   :variants: smem\n")
    assert any("chapter00_timing/empty_blocks" in line for line in built.warnings)


def test_a_kernel_that_was_not_counted_is_an_error(book: Book) -> None:
    one = recorded(book.reference())
    one.time(GMEM, "gmem", 100.0, region="gmem-loop")
    one.write()
    built = book.build(index=f"Page\n====\n\n.. floors:: {GMEM}\n   :variants: gmem\n")
    assert any("floors: no recorded counters" in line for line in built.warnings)


def test_bytes_in_flight(floor_book: Book) -> None:
    # 1350 us over 4096 hops are 329.6 ns; times 4916.7 bytes a nanosecond 1.62 MB; over 132 SMs.
    text = floor_book.build(
        index="Page\n====\n\n:in-flight:`device` in all, :in-flight:`sm` per SM.\n"
    ).text()
    assert "1.62 MB in all, 12.3 kB per SM." in text


def test_bytes_in_flight_of_nothing_known(floor_book: Book) -> None:
    built = floor_book.build(index="Page\n====\n\n:in-flight:`warp`\n")
    assert any("should read device or sm" in line for line in built.warnings)
