"""Listings, tables, pictures, boxes and the ladder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from bs4 import BeautifulSoup

from common.records import machine_code, museum, races
from common.records.races import Case, Recording
from docs.tests import fake
from docs.tests.conftest import GMEM, SMEM, Book, Built

pytestmark = pytest.mark.all

Render = Callable[[str], Built]


# ------------------------------------------------------------------ code


def test_listing_shows_path_lines_and_just_the_region(render: Render) -> None:
    page = render(f".. listing:: {SMEM} smem-loop").page()
    assert "chapters/chapter02_smem/kernels.cuh, lines 5–7" in page.get_text()
    (code,) = page.select(".listing pre")
    assert [number.get_text().strip() for number in code.select(".linenos")] == ["5", "6", "7"]
    assert "__global__ void smem" in code.get_text()
    assert "begin" not in code.get_text()


def test_a_listing_leaves_a_kernel_s_parameters_to_its_reference(recorded_book: Book) -> None:
    kernels = recorded_book.root / "chapters" / SMEM / "kernels.cuh"
    text = kernels.read_text()
    code = "__global__ void smem"
    kernels.write_text(text.replace(code, f"/// Adds.\n///\n/// \\param in  elements\n{code}"))
    built = recorded_book.build(index=f"Page\n====\n\n.. listing:: {SMEM} smem-loop\n")
    assert "chapters/chapter02_smem/kernels.cuh, lines 8–10" in built.text()
    (shown,) = built.page().select(".listing pre")
    assert "Adds" not in shown.get_text() and code in shown.get_text()
    kernels.write_text(text.replace(code, f"/// Adds.\n{code}"))
    built = recorded_book.build(index=f"Page\n====\n\n.. listing:: {SMEM} smem-loop\n\nAgain.\n")
    assert "kernels.cuh, lines 5–8" in built.text() and "/// Adds." in built.text()


def test_faulty_listing_says_so(recorded_book: Book) -> None:
    legacy = recorded_book.root / "chapters" / SMEM / "legacy.cuh"
    legacy.write_text("// begin smem-classic\nint x;\n// end smem-classic\n")
    built = recorded_book.build(index=f"Page\n====\n\n.. listing:: {SMEM} smem-classic\n")
    assert "Faulty, shown as it was: chapters/chapter02_smem/legacy.cuh" in built.text()


@pytest.mark.parametrize("arrow", ["->", "→"])
def test_changed_is_a_diff_without_build_paths(render: Render, arrow: str) -> None:
    built = render(f".. changed:: {GMEM} gmem-loop {arrow} {SMEM} smem-loop")
    (code,) = built.page().select(".changed pre")
    lines = code.get_text().splitlines()
    assert lines[:3] == [
        "--- chapters/chapter01_gmem/kernels.cuh",
        "+++ chapters/chapter02_smem/kernels.cuh",
        "@@ -5,3 +5,3 @@",
    ]
    assert "+__global__ void smem(const int* in, int* partial) {" in lines
    assert " }" in lines


def test_launch_shows_the_marked_region_or_the_call_that_names_the_variant(render: Render) -> None:
    page = render(f".. launch:: {SMEM} smem\n.. launch:: {SMEM} gmem").page()
    marked, called = (code.get_text() for code in page.select(".listing pre"))
    assert 'chapter.add(sum, {.name = "smem"});' in marked
    assert "gmem<<<l.grid, l.block>>>" in called
    assert called.rstrip().endswith("});")
    assert "smem" not in called


def test_output_is_labelled_and_only_its_command_can_be_copied(render: Render) -> None:
    page = render(f".. output:: {SMEM}").page()
    assert "Printed on NVIDIA H200, 2026-11-21, commit 0123456" in page.get_text()
    (code,) = page.select(".output pre")
    assert code.get_text().startswith("$ ./run\n")
    for excluded in code.select(".gp, .go"):  # what conf.py keeps from the copy button
        excluded.extract()
    assert code.get_text().strip() == "./run"


def test_message_shows_what_the_compiler_said(recorded_book: Book) -> None:
    said = "$ nvcc -c clash.cu\nclash.cu(4): error: no\n"
    (recorded_book.root / "chapters" / SMEM / "clash.txt").write_text(said)
    built = recorded_book.build(index=f"Page\n====\n\n.. message:: {SMEM} clash\n")
    (code,) = built.page().select(".output pre")
    assert code.get_text().rstrip("\n") == said.rstrip("\n")
    assert "What the compiler says" in built.text()


# ------------------------------------------------------------------ for screen readers


def test_citations_are_a_list_of_list_items(render: Render) -> None:
    built = render("""
        See [one]_ and [two]_.

        .. [one] The first.
        .. [two] The second.
        """)
    (listed,) = built.page().select('[role="list"]')
    assert [entry["role"] for entry in listed.select(".citation")] == ["listitem", "listitem"]
    assert [entry["id"] for entry in listed.select(".citation")] == ["one", "two"]


def test_an_empty_corner_of_a_table_is_no_heading(render: Render) -> None:
    built = render("""
        .. list-table::
           :header-rows: 1
           :stub-columns: 1

           * -
             - heading
           * - row
             - cell
        """)
    first, second = built.page().select("tr")
    cells = [(cell.name, cell.get_text(strip=True)) for cell in first.select("th, td")]
    assert cells == [("td", ""), ("th", "heading")]
    cells = [(cell.name, cell.get_text(strip=True)) for cell in second.select("th, td")]
    assert cells == [("th", "row"), ("td", "cell")]


# ------------------------------------------------------------------ tables


def _compile_smem(book: Book) -> None:
    texts = ["S2R R2, SR_TID.X", "@!P1 LDS R4, [R5]", "@P0 BRA 0x10", "EXIT"]
    code = [machine_code.Instruction(16 * place, text) for place, text in enumerate(texts)]
    made = machine_code.MachineCode("13.0.88", "sm_90", {f"{SMEM}/smem": code})
    (book.root / machine_code.FILE).write_text(made.text())


def test_machine_code_shows_the_loop_or_what_is_asked_for(recorded_book: Book) -> None:
    _compile_smem(recorded_book)
    directive = f".. machine-code:: {SMEM} smem\n   :mark: ^@.*LDS\n"
    extract = f".. machine-code:: {SMEM} smem\n   :from: S2R\n   :to: LDS\n"
    built = recorded_book.build(index=f"Page\n====\n\n{directive}\n{extract}")
    assert built.warnings == []
    loop, asked = (pre.get_text() for pre in built.page().select(".machine-code pre"))
    assert loop.splitlines() == ["/*0010*/  @!P1 LDS R4, [R5]", "/*0020*/  @P0 BRA 0x10"]
    assert asked.splitlines()[0].split() == ["/*0000*/", "S2R", "R2,", "SR_TID.X"]
    assert "Machine code of smem for sm_90, by nvcc 13.0.88: its loop" in built.text()
    (marked,) = built.page().select(".machine-code .hll")
    assert "LDS" in marked.get_text()


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        (f".. machine-code:: {SMEM} smen", "no machine code of chapter02_smem/smen is recorded"),
        (f".. machine-code:: {SMEM} smem\n   :from: S2R", "takes :from: and :to: together"),
        (f".. machine-code:: {SMEM} smem\n   :mark: STS", "no instruction shown matches 'STS'"),
        (f".. machine-code:: {SMEM}", "should read CHAPTER KERNEL"),
    ],
)
def test_machine_code_that_is_not_there(recorded_book: Book, directive: str, message: str) -> None:
    _compile_smem(recorded_book)
    (warning,) = recorded_book.build(index=f"Page\n====\n\n{directive}\n").warnings
    assert "index.rst:4: WARNING:" in warning and message in warning


def test_numbers_table(render: Render) -> None:
    page = render(
        f"""
        .. numbers:: {SMEM}
           :variants: gmem smem
           :columns: median gbps gain
        """
    ).page()
    (table,) = page.select("table.ladder-table")
    rows = [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table("tr")]
    assert rows == [
        ["variant", "median, µs", "GB/s", "gain"],
        ["gmem", "100.0", "674", "1.00×"],
        ["smem", "80.00", "842", "1.25×"],
    ]
    assert "Recorded on NVIDIA H200" in page.get_text()


def test_numbers_over_sizes_get_a_column_for_them(render: Render) -> None:
    text = render(f".. numbers:: {SMEM}\n   :variants: smem\n   :n: 2^24 2^28\n").text()
    assert "2²⁴" in text
    assert "2²⁸" in text


def test_a_readers_column_stands_before_ours_and_what_is_equal_is_said_once(
    recorded_book: Book,
) -> None:
    local = recorded_book.local()
    local.time(SMEM, "gmem", 900.0)
    local.time(SMEM, "smem", 720.0)
    local.write()
    options = "   :variants: gmem smem\n   :columns: median grid gain\n"
    page = recorded_book.build(index=f"Page\n====\n\n.. numbers:: {SMEM}\n{options}").page()
    cells = [[c.get_text(strip=True) for c in row.select("th, td")] for row in page("tr")]
    theirs = "GTX\u00a01080"
    assert cells[:3] == [
        ["variant", f"median, µs, {theirs}", "median, µs, H200", "blocks", "gain"],
        ["gmem", "900.0", "100.0", "65\u202f536", "1.00×"],
        ["smem", "720.0", "80.00", "65\u202f536", "1.25×"],
    ]


def _rows(page: BeautifulSoup) -> list[list[str]]:
    (table,) = page.select("table.ladder-table")
    return [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table("tr")]


def _three_methods(book: Book) -> None:
    """The third is no faster than the second at 2^24 and slower at 2^28; CUB's sum is 90 µs."""
    known = book.reference()
    for n, times in ((2**24, (100.0, 80.0, 80.1)), (2**28, (1600.0, 1280.0, 1400.0))):
        for number, time in enumerate(times, 1):
            known.time(SMEM, f"part{number}", time, n=n, block=128)
            known.time(SMEM, f"whole{number}", time + 20, n=n, block=128)
        known.time(SMEM, "library", times[0] - 10, n=n, block=128)
    known.write()


MATRIX = f".. matrix:: {SMEM}\n   :variants: part1 part2 part3\n   :n: 2^24 2^28\n   :block: 128"


def test_methods_over_sizes(book: Book) -> None:
    _three_methods(book)
    built = book.build(index=f"Page\n====\n\n{MATRIX}\n")
    assert built.warnings == []
    assert _rows(built.page()) == [
        ["n", "part1", "part2", "part3"],
        ["2²⁴", "100", "80.0", "80.1="],
        ["2²⁸", "1600", "1280", "1400!"],
    ]
    assert "= not faster than the method to its left; ! slower than it." in built.text()


def test_methods_over_blocks(book: Book) -> None:
    _three_methods(book)
    known = book.reference()
    for block, times in ((64, (100.0, 90.0)), (128, (80.0, 85.0))):
        for number, time in enumerate(times, 1):
            known.time(SMEM, f"part{number}", time, block=block)
    known.write()
    text = f".. matrix:: {SMEM}\n   :variants: part1 part2\n   :block: 64 128"
    assert _rows(book.build(index=f"Page\n====\n\n{text}\n").page()) == [
        ["threads per block", "part1", "part2"],
        ["64", "100", "90.0"],
        ["128", "80.0", "85.0!"],
    ]
    both = f"{text}\n   :n: 2^24 2^28"
    (warning,) = book.build(index=f"Page\n====\n\n{both}\n").warnings
    assert "several sizes or several blocks, not both" in warning


def test_methods_over_sizes_on_a_device_of_ones_own(book: Book) -> None:
    """All of a table is of one device: half of it local would compare two devices."""
    _three_methods(book)
    local = book.local()
    local.time(SMEM, "part1", 500.0, block=128)
    local.write()
    text = f".. matrix:: {SMEM}\n   :variants: part1 part2\n   :block: 128"
    assert _rows(book.build(index=f"Page\n====\n\n{text}\n").page())[1] == ["2²⁴", "100", "80.0"]
    local.time(SMEM, "part2", 400.0, block=128)
    local.write()
    recorded_again = Book(book.root)
    page = recorded_again.build(index=f"Page\n====\n\n{text}\n").page()
    assert _rows(page)[1] == ["2²⁴", "500", "400"]


FINISHED = f"""\
.. finished:: {SMEM}
   :partial: part1 part3
   :finished: whole1 whole3
   :library: library
   :n: 2^24
   :block: 128
"""


def test_parts_beside_finished_sums(book: Book) -> None:
    _three_methods(book)
    built = book.build(index=f"Page\n====\n\n{FINISHED}")
    assert built.warnings == []
    heading, *rows = _rows(built.page())
    assert heading[1:4] == ["partial sums", "partial, µs", "finished, µs"]
    assert [row[:4] + row[5:] for row in rows] == [
        ["part1", "131\u202f072", "100", "120", "1.33×"],
        ["part3", "131\u202f072", "80.1", "100", "1.11×"],
        ["library", "–", "–", "90.0", "1.00×"],
    ]


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ("   :library: library\n", "option 'library' is needed"),
        (" part3", "1 parts beside 2 finished sums"),
    ],
)
def test_parts_that_do_not_fit_their_sums(book: Book, taken: str, message: str) -> None:
    _three_methods(book)
    text = FINISHED.replace(taken, "", 1)
    (warning,) = book.build(index=f"Page\n====\n\n{text}").warnings
    assert message in warning


def test_counters_table_ends_in_the_command(render: Render) -> None:
    page = render(
        f"""
        .. counters:: {SMEM}
           :variants: gmem smem
           :metrics: global_load_sectors dram_read_bytes
        """
    ).page()
    text = page.get_text()
    assert "2\u202f097\u202f152" in text
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" in text
    (command,) = page.select(".command pre")
    assert command.get_text().startswith("$ ncu --csv")
    assert (
        command.get_text().strip().endswith("./run --once --variant smem --n 16777216 --block 256")
    )


def test_the_command_counts_no_more_than_the_table_shows(render: Render) -> None:
    page = render(
        f"""
        .. counters:: {SMEM}
           :variants: smem
           :metrics: dram_read_bytes
        """
    ).page()
    (command,) = page.select(".command pre")
    assert " --metrics dram__bytes_read.sum ./run " in command.get_text()


def test_sanitizer_shows_findings_and_messages(render: Render) -> None:
    text = render(f".. sanitizer:: {SMEM} smem smem_classic").text()
    assert "smem memcheck nothing" in text
    assert "smem_classic memcheck nothing, and a wrong result" in text
    assert "smem_classic racecheck 1037" in text
    assert text.count("Race at <here>") == 1, "what two tools say alike is shown once"
    assert "says of smem_classic (the same from synccheck)" in text
    assert "compute-sanitizer --tool racecheck" in text


# ------------------------------------------------------------------ pictures


def test_plot_has_both_drawings_alt_caption_provenance_and_table(render: Render) -> None:
    (figure,) = render(".. plot:: ladder").page().select("figure")
    images = figure.select("img")
    assert [image["class"] for image in images] == [["only-light"], ["only-dark"]]
    assert {image["alt"] for image in images} == {"The conclusion of ladder."}
    assert "What it shows." in figure.get_text()
    assert "Recorded on NVIDIA H200, 2026-11-21" in figure.get_text()
    assert "74.6" in figure.select_one("details table").get_text()


def test_plot_takes_a_caption_and_an_alt_text_of_the_page(render: Render) -> None:
    built = render(".. plot:: ladder\n   :alt: Mine.\n\n   My *caption*.\n\n   And more.")
    (figure,) = built.page().select("figure")
    assert figure.img["alt"] == "Mine."
    assert "My caption." in figure.get_text()
    assert "And more." in figure.get_text()
    assert "What it shows." not in figure.get_text()


def test_diagram_has_no_provenance_of_a_run(render: Render) -> None:
    assert "Recorded on" not in render(".. diagram:: ladder").text()


# ------------------------------------------------------------------ boxes


def test_answers_are_folded_details(render: Render) -> None:
    page = render(
        """
        .. predict:: How many *accesses*?

           About a half.

        .. exercise:: Count them

           Do it.

           .. answer::

              Four.
        """
    ).page()
    answers = page.select("details.answer")
    assert [answer.summary.get_text() for answer in answers] == ["Answer", "Answer"]
    assert not any(answer.has_attr("open") for answer in answers)
    assert "About a half." in answers[0].get_text()
    assert "Four." in answers[1].get_text()
    assert "Do it." not in answers[1].get_text()
    assert page.select_one(".box-predict .box-title em").get_text() == "accesses"


def test_pitfall_and_recap(render: Render) -> None:
    page = render(".. pitfall:: Leave early\n\n   Wrong.\n\n.. recap::\n\n   - One.\n").page()
    assert page.select_one(".box-pitfall .box-title").get_text() == "Leave early"
    assert "One." in page.select_one(".box-recap").get_text()


def test_words_of_the_extension_go_through_its_catalogue(
    recorded_book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ladder import strings

    catalogue = Catalog(locale="de")
    catalogue.add("In short", "In Kürze")
    path = tmp_path / "locale" / "de" / "LC_MESSAGES" / "ladder.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalogue)
    monkeypatch.setattr(strings, "LOCALE_DIR", tmp_path / "locale")
    recorded_book.overrides["language"] = "de"
    built = recorded_book.build(index="Seite\n=====\n\n.. recap::\n\n   Eins.\n")
    assert "In Kürze" in built.text()


# ------------------------------------------------------------------ the ladder

RUNG = f"""
.. rung:: {SMEM}
   :before: {SMEM} gmem
   :after: {SMEM} smem
   :predicted: *half* the accesses
   :gained: A quarter.
   :counter: global_load_sectors

   As expected.
"""


def test_rung_says_what_was_gained_and_which_counter_moved(render: Render) -> None:
    page = render(RUNG).page()
    (row,) = page.select(".rung")
    assert [label.get_text() for label in row.select("dt")] == [
        "Predicted",
        "The counter that moved",
        "Time before and after",
    ]
    assert [" ".join(cell.get_text().split()) for cell in row.select("dd")] == [
        "half the accesses",
        "global load sectors at 2²⁴: 4 194 304 → 2 097 152",
        "gmem 100 µs → smem 80.0 µs (1.25×)",
    ]
    assert row.select_one(".gained").get_text() == "A quarter."
    assert "As expected." in row.get_text()


def test_rungs_are_collected_into_summary_and_cards(recorded_book: Book) -> None:
    built = recorded_book.build(
        index="Book\n====\n\n.. ladder-cards:: 1-2\n\n.. toctree::\n   :glob:\n\n   **\n",
        ladder="Ladder\n======\n\n.. ladder-summary::\n",
        chapters__chapter01_gmem=":summary: The first.\n:question: Why?\n\nOne\n===\n\nText.\n",
        chapters__chapter08_more=":summary: Beside.\n\nEight\n=====\n\nText.\n",
        chapters__chapter02_smem=f":summary: The next.\n\nTwo\n===\n\n{RUNG}",
    )
    assert built.warnings == []
    one, two = built.page().select("li.card")
    assert [text.get_text() for text in one.select("p")] == ["One", "Why?", "The first."]
    assert "→" not in one.get_text()
    assert two.a["href"] == "chapters/chapter02_smem.html"
    assert "1.25×" not in built.page().get_text(), "a card gives nothing away"
    (row,) = built.page("ladder").select(".ladder-summary .rung")
    assert row.a["href"] == "chapters/chapter02_smem.html"
    assert "A quarter." in row.get_text()
    assert "1.25×" in row.get_text()
    open_ended = "Book\n====\n\n.. ladder-cards:: 2-\n\n.. toctree::\n   :glob:\n\n   **\n"
    cards = recorded_book.build(index=open_ended).page().select("li.card")
    assert [card.p.get_text() for card in cards] == ["Two", "Eight"]


def test_summary_follows_the_page_that_it_gathers_from(recorded_book: Book) -> None:
    recorded_book.build(
        index="Ladder\n======\n\n.. ladder-summary::\n\n.. toctree::\n   :glob:\n\n   **\n",
        chapters__chapter02_smem=f"Two\n===\n\n{RUNG}",
    )
    changed = RUNG.replace("*half*", "a third of")
    built = recorded_book.build(chapters__chapter02_smem=f"Two\n===\n\n{changed}")
    assert "a third of the accesses" in built.text()


def test_rung_before_the_first_recording(book: Book) -> None:
    built = book.build(index=f"Page\n====\n\n{RUNG}\n\n.. ladder-summary::\n")
    assert built.warnings == []
    assert "(not recorded yet)" in built.text()


# ------------------------------------------------------------------ names that do not exist


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        (f".. listing:: {SMEM} smem-lop", "no region 'smem-lop' in chapter02_smem; nearest: smem-"),
        (f".. listing:: {GMEM} smem-loop", "is in chapter02_smem, not in chapter01_gmem"),
        (".. listing:: chapter02_smen smem-x", "chapter02_smen has none; nearest: chapter02_smem"),
        (f".. listing:: {SMEM}", "should read CHAPTER REGION"),
        (f".. changed:: {SMEM} smem-loop -> {SMEM} smem-loop", "nothing changed"),
        (f".. changed:: {SMEM} smem-loop", "should read CHAPTER REGION -> CHAPTER REGION"),
        (f".. launch:: {SMEM} smen", "adds no variant 'smen'; it adds: gmem, smem"),
        (f".. message:: {SMEM} clash", "clash.txt cannot be read"),
        (".. output:: chapter02_smen", "nearest: chapter02_smem"),
        (f".. numbers:: {SMEM}\n   :variants: smen", "near it: smem"),
        (f".. numbers:: {SMEM}\n   :columns: mediam", "no column 'mediam'; nearest: median"),
        (f".. counters:: {SMEM}\n   :variants: smem\n   :metrics: wavefront", "no counter"),
        (f".. sanitizer:: {SMEM} smen", "not recorded on chapter02_smem/smen"),
        (".. plot:: ladde", "no figure 'ladde' was drawn; nearest: ladder"),
        (".. diagram:: ladde", "no figure 'ladde' was drawn; nearest: ladder"),
        (RUNG.replace("/ gmem", "").replace("smem gmem", "smem gmen"), "near it: gmem"),
        (RUNG.replace("   :gained: A quarter.\n", ""), "needs :gained:"),
    ],
)
def test_unknown_name_is_a_warning(recorded_book: Book, directive: str, message: str) -> None:
    built = recorded_book.build(index=f"Page\n====\n\n{directive.strip()}\n")
    (warning,) = built.warnings
    assert "index.rst:4: WARNING:" in warning
    assert message in warning


def test_broken_reference_file_is_named(recorded_book: Book) -> None:
    data = recorded_book.root / "figures" / "data" / "nvidia-h200" / f"{SMEM}.json"
    data.write_text(data.read_text()[:-20])
    built = recorded_book.build(index=f"Page\n====\n\n.. numbers:: {SMEM}\n")
    assert f"{SMEM}.json" in built.warnings[0]


def test_broken_local_set_never_fails_the_build(recorded_book: Book) -> None:
    local = recorded_book.root / "figures" / "data" / "local"
    local.mkdir()
    (local / f"{SMEM}.json").write_text("{")
    built = recorded_book.build(index=f"Page\n====\n\n:measured:`{SMEM} smem median`\n")
    assert built.warnings == []
    assert "80.0 µs" in built.text()


def test_unclosed_region_is_named(recorded_book: Book) -> None:
    kernel = recorded_book.root / "chapters" / SMEM / "kernels.cuh"
    kernel.write_text(kernel.read_text().replace("// end smem-loop", ""))
    built = recorded_book.build(index=f"Page\n====\n\n.. listing:: {SMEM} smem-loop\n")
    assert "kernels.cuh:4: region 'smem-loop' is never ended" in built.warnings[0]


# ------------------------------------------------------------------ fresh pages


PAGES = {
    "index": "Book\n====\n\n.. toctree::\n\n   one\n   two\n   three\n",
    "one": f"One\n===\n\n.. listing:: {GMEM} gmem-loop\n",
    "two": f"Two\n===\n\nIt is :measured:`{SMEM} smem median`.\n",
    "three": "Three\n=====\n\n.. plot:: ladder\n",
}


def test_nothing_changed_nothing_read(recorded_book: Book) -> None:
    assert recorded_book.build(**PAGES).read == ["index", "one", "three", "two"]
    assert recorded_book.build().read == []


def test_edited_kernel_rebuilds_the_pages_that_show_it(recorded_book: Book) -> None:
    recorded_book.build(**PAGES)
    kernel = recorded_book.root / "chapters" / GMEM / "kernels.cuh"
    kernel.write_text(kernel.read_text().replace("data[0]", "data[1]"))
    built = recorded_book.build()
    assert built.read == ["one"]
    assert "data[1]" in built.text("one")


def test_edited_data_rebuild_the_pages_that_show_them(recorded_book: Book) -> None:
    recorded_book.build(**PAGES)
    one = recorded_book.reference()
    one.time(SMEM, "smem", 60.0, region="smem-loop")
    one.write()
    built = recorded_book.build()
    assert built.read == ["two"]
    assert "60.0 µs" in built.text("two")


def test_first_local_recording_rebuilds_the_pages_with_numbers(recorded_book: Book) -> None:
    recorded_book.build(**PAGES)
    local = recorded_book.local()
    local.time(SMEM, "smem", 720.0)
    local.write()
    built = recorded_book.build()
    assert built.read == ["two"]
    assert "720 µs" in built.text("two")


def test_first_recording_replaces_the_placeholders(book: Book) -> None:
    assert "not recorded yet" in book.build(**PAGES).text("two")
    book.record()
    assert "80.0 µs" in book.build().text("two")


def test_figure_drawn_again_rebuilds_its_page(recorded_book: Book) -> None:
    recorded_book.build(**PAGES)
    fake.draw(recorded_book.figures, "ladder", caption="Another.")
    built = recorded_book.build()
    assert built.read == ["three"]
    assert "Another." in built.text("three")


# ------------------------------------------------------------------ the museum


def test_an_exhibit_shows_what_each_tool_says_and_what_is_not_recorded(
    recorded_book: Book,
) -> None:
    folder = recorded_book.root / museum.FOLDER
    folder.mkdir(parents=True)
    (folder / "step.cu").write_text(
        "// A step\n#ifdef FIXED\nwait();\n#else\ngo();  // @race\n#endif\n"
    )

    def record(name: str, *said: tuple[str, bool | None, str]) -> None:
        runs = tuple(museum.Run("step", "wrong", *each) for each in said)
        recording = museum.Recording(f"with {name}", museum.digest(folder), runs)
        (folder / f"{name}.json").write_text(museum.written(recording))

    race = "race: two at once (3 times)\n    kernel k()\n    at step.cu:5"
    record("embedded", ("run", False, "7"), ("check", True, race), ("nvcc", False, ""))
    source = "Page\n====\n\n.. exhibit:: step\n\n   Wait.\n\n.. museum-tally:: all\n"
    text = recorded_book.build(index=source).text()
    assert "A step found by our checks" in text and "Instead: Wait." in text
    assert "line 5: go();" in text and "@race" not in text
    assert "on an H200, not recorded yet" in text and "compute-sanitizer not recorded yet" in text
    assert "our checks 1 of 1 0" in text and "racecheck not recorded yet" in text

    tools = [(tool, False, "") for tool in ("racecheck", "initcheck")]
    found = ("memcheck", True, "Invalid read\n    at step.cu:5")
    record("nvidia-h200", ("run", False, "8"), found, ("synccheck", None, ""), *tools)
    text = recorded_book.build().text()
    assert "8 on an H200." in text and "found by our checks, memcheck" in text
    assert "memcheck Invalid read line 5: go();" in text and "racecheck nothing" in text
    assert "synccheck could not do its work" in text and "with nvidia-h200" in text

    (folder / "step.cu").write_text("// Another\n")
    assert "embedded.json is of other exhibits" in str(recorded_book.build().warnings)


# ------------------------------------------------------------------ the checkers' table


def test_race_cases_say_what_was_not_recorded(recorded_book: Book) -> None:
    folder = recorded_book.root / races.FOLDER
    (folder / "streams").mkdir(parents=True)
    (folder / "races.cu").write_text("// kernels\n")
    (folder / "streams/streams.cu").write_text("// streams\n")
    kernels = [
        Case(f"lock.{twin}", "locks", "grid", "global", twin == "faulty", twin == "faulty")
        for twin in ("faulty", "clean")
    ]
    late = Case("late.faulty", "events", "device", "streams", True, True)
    both = races.digests(folder)
    ours = Recording("embedded device", both, (*kernels, late))
    theirs = Recording("a card; racecheck", {"cases": both["cases"]}, tuple(kernels))
    for name, recording in (("ours", ours), ("theirs", theirs)):
        (folder / f"{name}.csv").write_text(races.written(recording))
    source = "Page\n====\n\n.. race-cases:: ours theirs\n"
    page = recorded_book.build(index=source).page()
    rows = {
        cells[0].get_text(): [cell.get_text() for cell in cells[1:]]
        for row in page.select("table")[0].select("tbody tr")
        if (cells := row.select("th, td"))
    }
    assert rows["locks"] == ["1 of 1", "0", "1 of 1", "0"]
    assert rows["streams, events, waiting"] == ["1 of 1", "0", "not recorded", "–"]
    assert rows["all within a kernel"] == ["1 of 1", "0", "1 of 1", "0"]

    (folder / "streams/streams.cu").write_text("// others\n")
    warnings = recorded_book.build(index=source).warnings
    assert "ours.csv is of other cases" in str(warnings)
