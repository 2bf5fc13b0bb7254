"""Numbers in sentences: what they show, where they come from, whose they are."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from common.records import columns
from docs.tests.conftest import GMEM, SMEM, Book, Built

pytestmark = pytest.mark.all

Render = Callable[[str], Built]


SHOWN = [
    (f":measured:`{SMEM} smem median`", "80.0 µs"),
    (f":measured:`{SMEM} smem n=2^28 median`", "1.30 ms"),
    (f":measured:`{SMEM} smem n=256M block=256 median`", "1.30 ms"),
    (f":measured:`{SMEM} smem min`", "79.2 µs"),
    (f":measured:`{SMEM} smem p25`", "79.6 µs"),
    (f":measured:`{SMEM} smem p75`", "80.4 µs"),
    (f":measured:`{SMEM} smem ci`", "79.20–80.80 µs"),
    (f":measured:`{SMEM} smem gbps`", "842 GB/s"),
    (f":measured:`{SMEM} smem peak`", "17.1 %"),
    (f":measured:`{SMEM} smem registers`", "12"),
    (f":measured:`{SMEM} smem local`", "0 B"),
    (f":measured:`{SMEM} smem shared`", "4096 B"),
    (f":measured:`{SMEM} smem grid`", "65 536"),
    (f":measured:`{SMEM} smem samples`", "14"),
    (f":ratio:`{SMEM} gmem / {SMEM} smem`", "1.25×"),
    (f":ratio:`{GMEM} gmem / {SMEM} smem n=2^28`", "0.077×"),
    (f":ratio:`{SMEM} gmem /\n{SMEM} smem`", "1.25×"),
    (f":difference:`{SMEM} gmem - {SMEM} smem`", "20 µs"),
    (f":difference:`{SMEM} smem n=2^28 - {SMEM} smem`", "1.2 ms"),
    (f":difference:`{SMEM} smem -\n{SMEM} gmem`", "-20 µs"),
    (f":counter:`{SMEM} smem global_load_sectors`", "2 097 152"),
    (f":counter:`{SMEM} smem dram__bytes_read.sum`", "67 108 864"),
    (f":counter:`{SMEM} smem dram_read_bytes`", "67.1 MB"),
    (f":counter:`{SMEM} smem stall_long_scoreboard`", "12.3 cycles per instruction"),
    (
        f":counter:`{SMEM} smem smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active"
        ".ratio`",
        "12.3 cycles per instruction",
    ),
    (f":latency:`{SMEM} chase`", "650 ns"),
    (":device:`name`", "NVIDIA H200"),
    (":device:`peak`", "4917 GB/s"),
    (":device:`l2`", "60.0 MiB"),
    (":device:`sm_count`", "132"),
    (":device:`shared_block`", "48 KiB"),
    (":device:`shared_optin`", "227 KiB"),
    (":device:`shared_reserved`", "1 KiB"),
    (":device:`shared_sm`", "228 KiB"),
    (f":measured:`{SMEM} smem resident`", "6"),
    (f":measured:`{SMEM} smem occupancy`", "75.0 %"),
    (f":measured:`{SMEM} smem stay`", "0.967 µs"),  # 6 blocks × 132 SMs × 80 µs / 65536 blocks
    (":device:`sm_clock`", "1980 MHz"),
    (":device:`memory`", "140 GiB"),
    (":device:`compute_capability`", "9.0"),
    (":device:`driver`", "13.0"),
    (":device:`toolkit`", "13.0.88"),
    (":version:`sphinx`", "8."),
]


def test_roles_show_the_recorded_numbers(render: Render) -> None:
    page = render("\n\n".join(f"Is {role}." for role, _shown in SHOWN)).page()
    found = [re.sub(r"\s+", " ", line.get_text()) for line in page.select("section > p")]
    assert len(found) == len(SHOWN)
    for line, (role, shown) in zip(found, SHOWN, strict=True):
        assert line.startswith(f"Is {shown}"), role


def test_number_and_unit_stay_on_one_line(render: Render) -> None:
    assert "80.0\u00a0µs" in render(f"It is :measured:`{SMEM} smem median`.").html["index"]


def test_a_unit_written_by_hand_stays_with_its_number_too(render: Render) -> None:
    html = render("It is 12 % of 5 GB/s, 16 KiB and 3 µs; ``7 %`` is code, 8 msgs no unit.").html
    for kept in ("12\u00a0%", "5\u00a0GB/s", "16\u00a0KiB", "3\u00a0µs", "8 msgs"):
        assert kept in html["index"]
    assert "7\u00a0%" not in html["index"]


def test_number_carries_its_origin_and_the_page_ends_in_a_folded_table(render: Render) -> None:
    page = render(f"It is :measured:`{SMEM} smem median`.").page()
    (number,) = page.select("span.measured")
    for part in ("median time", "NVIDIA H200", "2026-11-21", "0123456", "2 passes", "14 samples"):
        assert part in str(number["title"])
    (foot,) = page.select("details.origins")
    assert "80.0\u00a0µs" in foot.get_text()
    assert "NVIDIA H200, 2026-11-21, commit 0123456" in foot.get_text()


def test_an_error_is_written_with_a_power_of_ten(book: Book) -> None:
    one = book.reference()
    for variant, errors in (("smem", (2.63e-8, 1.1e-6)), ("gmem", (1.76e-4, 1.76e-4))):
        one.time(SMEM, variant, 80.0, 80.0)
        for run, error in zip(one.chapters[SMEM][-2:], errors, strict=True):
            run["error"] = error
    one.time(SMEM, "chase", 650.0, params={"hops": 1000})
    one.write()
    page = book.build(
        index=f"Page\n====\n\nOff by :measured:`{SMEM} smem error` and :measured:`{SMEM} gmem "
        f"error`.\n\n.. numbers:: {SMEM}\n   :variants: smem gmem chase\n   :columns: error\n"
    ).page()
    words = " ".join(page.get_text().split())
    assert "Off by 2.6 × 10⁻⁸ to 1.1 × 10⁻⁶ and 1.8 × 10⁻⁴." in words
    cells = [[" ".join(c.get_text().split()) for c in row.select("th, td")] for row in page("tr")]
    assert cells[:4] == [
        ["variant", "off by"],
        ["smem", "2.6 × 10⁻⁸ to 1.1 × 10⁻⁶"],
        ["gmem", "1.8 × 10⁻⁴"],
        ["chase", "–"],
    ]


def test_page_without_numbers_has_no_foot(render: Render) -> None:
    assert not render("No number.").page().select(".page-foot")


def test_local_number_comes_first_and_ours_beside_it(recorded_book: Book) -> None:
    local = recorded_book.local()
    local.time(SMEM, "smem", 720.0)
    local.time(SMEM, "gmem", 1080.0)
    local.write()
    text = recorded_book.build(
        index=f"Page\n====\n\nIt is :measured:`{SMEM} smem median`, :ratio:`{SMEM} gmem / {SMEM} "
        f"smem` as fast; at 2^28 :measured:`{SMEM} smem n=2^28 median`."
    ).text()
    assert "It is 720 µs (H200: 80.0 µs)" in text
    assert "1.25× (H200; GTX 1080: 1.50×) as fast" in text
    assert "at 2^28 1.30 ms (H200)" in text  # not recorded there: ours, and labelled


def test_a_number_has_the_digits_that_all_passes_share(recorded_book: Book) -> None:
    local = recorded_book.local()
    local.time(SMEM, "smem", 100.0, 100.2, 100.4)
    local.time(SMEM, "gmem", 166.0, 152.3, 160.0)
    local.time(SMEM, "chase", 650.0, 700.0, params={"hops": 1000})
    local.write()
    text = recorded_book.build(
        index=f"Page\n====\n\nIt is :measured:`{SMEM} smem median`, "
        f":measured:`{SMEM} gmem median`, "
        f":ratio:`{SMEM} gmem / {SMEM} smem`, :difference:`{SMEM} gmem - {SMEM} smem`, "
        f":latency:`{SMEM} chase`, :measured:`{SMEM} gmem ci`, :measured:`{SMEM} gmem passes`.\n\n"
        f".. numbers:: {SMEM}\n   :variants: smem gmem\n   :columns: median ci gbps gain\n"
    ).text()
    for shown in (
        "100 µs (H200",
        "150 to 170 µs (H200",
        "GTX 1080: 1.5 to 1.7×",
        "GTX 1080: 52 to 66 µs",
        "650 to 700 ns (H200",
        "150.8–167.7 µs (H200",
        "3 (H200: 2)",
    ):
        assert shown in text, shown
    cells = text[text.index("gain") :]
    for cell in ("160", "150.8–167.7", "420", "0.63×"):
        assert cell in cells, cell


def test_number_of_an_earlier_form_says_so(recorded_book: Book) -> None:
    page = f"Page\n====\n\nIt is :measured:`{SMEM} smem median`.\n"
    assert "earlier form" not in recorded_book.build(index=page).text()
    kernel = recorded_book.root / "chapters" / SMEM / "kernels.cuh"
    kernel.write_text(kernel.read_text().replace("in[0];", "in[1];"))
    built = recorded_book.build()
    assert built.warnings == []
    assert "It is 80.0 µs†" in built.text()
    assert "Measured on an earlier form of the kernel" in built.text()
    (dagger,) = built.page().select(".dagger a")
    assert built.page().find(id=str(dagger["href"]).removeprefix("#"))


def test_a_comment_is_no_change_of_the_kernel(recorded_book: Book) -> None:
    kernel = recorded_book.root / "chapters" / SMEM / "kernels.cuh"
    kernel.write_text(kernel.read_text().replace("a comment", "another comment"))
    built = recorded_book.build(index=f"Page\n====\n\nIt is :measured:`{SMEM} smem median`.\n")
    assert "earlier form" not in built.text()


ROLES = [
    f":measured:`{SMEM} smem median`",
    f":ratio:`{SMEM} gmem / {SMEM} smem`",
    f":counter:`{SMEM} smem global_load_sectors`",
    f":latency:`{SMEM} chase`",
    ":device:`name`",
]


@pytest.mark.parametrize("role", ROLES)
def test_before_the_first_recording_there_is_a_placeholder(book: Book, role: str) -> None:
    built = book.build(index=f"Page\n====\n\nIt is {role}.\n")
    assert built.warnings == []
    assert "It is (not recorded yet)." in built.text()


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (":device:`shared_optin`", "'shared_optin' is not in the recording of NVIDIA H200"),
        (f":measured:`{SMEM} smem resident`", "'resident' is null, or missing, in"),
        (f":measured:`{SMEM} smem error`", "'error' is null, or missing, in"),  # no sum of floats
    ],
)
def test_what_an_older_recording_lacks_is_a_warning(
    recorded_book: Book, role: str, message: str
) -> None:
    for path in (recorded_book.root / "figures/data/nvidia-h200").glob("*.json"):
        data = columns.read(path)
        del data["device"]["shared_optin"], data["device"]["shared_reserved"]
        for run in data["runs"]:
            if "blocks_per_sm" in run:
                run["blocks_per_sm"] = None
        columns.write(path, data)
    built = recorded_book.build(index=f"Page\n====\n\nText.\n\nIt is {role}.\n")
    (warning,) = built.warnings
    assert message in warning


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (f":measured:`{SMEM} smen median`", "near it: smem"),
        ("`x` :measured:`chapter02_smen smem median`", "near it: chapter02_smem"),
        (f":measured:`{SMEM} smem n=2^27 median`", "n=2^27 is not there; nearest are 2^24, 2^28"),
        (f":measured:`{SMEM} smem block=64 median`", "block=64 is not there"),
        (f":measured:`{SMEM} smem medium`", "no field 'medium'; nearest: median"),
        (f":measured:`{SMEM} smem n=many median`", "'many' is not a whole number"),
        (f":measured:`{SMEM} median`", "should read CHAPTER VARIANT"),
        (f":measured:`{SMEM} chase hops=7 median`", "hops=7 is not there, only 1000"),
        (f":counter:`{SMEM} smem global_load_sector`", "near it: global_load_sectors"),
        (f":counter:`{SMEM} chase instructions`", "no recorded counters"),
        (f":ratio:`{SMEM} gmem {SMEM} smem`", "should read CHAPTER VARIANT [...] /"),
        (f":difference:`{SMEM} gmem {SMEM} smem`", "should read CHAPTER VARIANT [...] -"),
        (f":latency:`{SMEM} smem`", "is not a pointer chase"),
        (":device:`nam`", "no field 'nam'; nearest: name"),
        (":version:`no-such-package`", "no Python package 'no-such-package'"),
    ],
)
def test_unknown_name_is_a_warning_that_names_line_and_nearest(
    recorded_book: Book, role: str, message: str
) -> None:
    built = recorded_book.build(index=f"Page\n====\n\nText.\n\nIt is {role}.\n")
    (warning,) = built.warnings
    assert "index.rst:6: WARNING:" in warning
    assert message in warning
