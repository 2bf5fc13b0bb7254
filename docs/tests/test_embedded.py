"""The embedded device's counters beside hardware's, and what it printed."""

from __future__ import annotations

import copy
import re
import shutil
from typing import Any

import pytest
from bs4 import BeautifulSoup

from common.records.comparison import chapters
from common.records.recordings import Recordings
from common.records.transcripts import ROOMS, transcripts
from docs.page_source import ROOT
from docs.tests import fake
from docs.tests.conftest import GMEM, SMEM, Book

pytestmark = pytest.mark.all

TABLE = f"""\
Page
====

.. counters:: {SMEM}
   :variants: gmem smem
   :metrics: global_load_sectors shared_load_wavefronts dram_read_bytes
"""
PRINTED = "$ ./run\nchapter02_smem: x\ndevice  embedded device (NVIDIA H200)\nsmem 65536\n"

Counts = list[dict[str, Any]]


def eight(**values: int) -> dict[str, int]:
    return {**dict.fromkeys(list(fake.NCU)[:8], 0), **values}


@pytest.fixture
def counts(book: Book) -> Counts:
    """The embedded device's; hardware's are the same, with some arbitration in smem."""
    one = book.reference()
    one.time(SMEM, "gmem", 100.0, region="gmem-loop", source=GMEM)
    one.time(SMEM, "smem", 80.0, region="smem-loop")
    one.count(SMEM, "gmem", **eight(global_load_sectors=4000, dram_read_bytes=64))
    more = {"shared_load_wavefronts": 1030, "shared_load_conflicts": 30}
    one.count(SMEM, "smem", **eight(global_load_sectors=2000, dram_read_bytes=64, **more))
    one.write()
    embedded = copy.deepcopy(one.counts)
    metrics = metrics_of(embedded, "smem")
    metrics[fake.NCU["shared_load_wavefronts"]] = 1000
    metrics[fake.NCU["shared_load_conflicts"]] = 0
    return embedded


def metrics_of(runs: Counts, variant: str) -> dict[str, int]:
    (run,) = [run for run in runs if run["variant"] == variant]
    metrics: dict[str, int] = run["launches"][0]["metrics"]
    return metrics


def rows(page: BeautifulSoup) -> list[list[str]]:
    (table,) = page.select("table.counters")
    return [
        [" ".join(cell.get_text().split()) for cell in row.select("th, td")] for row in table("tr")
    ]


def test_counts_stand_beneath_hardwares_with_the_difference(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    built = book.build(index=TABLE)
    assert built.warnings == []
    page = built.page()
    assert rows(page) == [
        ["counter", "gmem", "smem"],
        ["global load sectors", "4000", "2000"],
        ["embedded device", "4000 ±0", "2000 ±0"],
        ["shared load wavefronts", "0", "1030"],
        ["embedded device", "0 ±0", "1000 −30a"],
        ["dram read bytes", "64 B", "64 B"],
    ]
    assert len(page.select(".difference.none")) == 3
    assert [one.get_text() for one in page.select(".difference:not(.none)")] == ["−30a"]
    (reason,) = page.select("p.reason")
    assert "got in each other" in reason.get_text()
    assert "tools/emulate ./run" in page.get_text()


def test_a_difference_without_a_reason_says_so(book: Book, counts: Counts) -> None:
    metrics_of(counts, "gmem")[fake.NCU["global_load_sectors"]] += 1
    fake.embedded_set(book.root, counts)
    page = book.build(index=TABLE).page()
    assert rows(page)[2] == ["embedded device", "4001 +1?", "2000 ±0"]
    assert "No reason is known" in page.get_text()


def test_without_the_set_the_table_is_hardwares_alone(book: Book, counts: Counts) -> None:
    built = book.build(index=TABLE)
    assert built.warnings == []
    assert [row[0] for row in rows(built.page())][1:3] == [
        "global load sectors",
        "shared load wavefronts",
    ]


def test_where_hardware_has_not_counted_the_device_stands_alone(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    (book.root / "figures/data/nvidia-h200/counters.json").unlink()
    metrics = "global_load_sectors shared_load_wavefronts"
    alone = f"{TABLE.rpartition('   :metrics:')[0]}   :metrics: {metrics}\n   :on: embedded\n"
    sides = f"   :before: {SMEM} gmem\n   :after: {SMEM} smem\n   :predicted: x\n   :gained: y\n"
    rung = f"\n.. rung:: {SMEM}\n{sides}   :counter: global_load_sectors\n"
    built = book.build(index=alone + rung)
    assert built.warnings == []
    page = built.page()
    assert rows(page) == [
        ["counter", "gmem", "smem"],
        ["global load sectors", "4000", "2000"],
        ["shared load wavefronts", "0", "1000"],
    ]
    words = " ".join(page.get_text().split())
    assert "global load sectors on the embedded device at 2\u00b2\u2074: 4000 \u2192 2000" in words
    assert "To count for yourself without a GPU" in words and "ncu" not in words

    # What it has not counted either is missed by name.
    shutil.rmtree(book.root / "figures/data/embedded")
    fake.embedded_set(book.root, [run for run in counts if run["variant"] != "smem"])
    warnings = book.build(index=f"{alone}\n").warnings
    assert any("has not counted" in one and "smem" in one for one in warnings)


def test_an_edited_kernel_is_counted_afresh_and_hardwares_count_marked(
    book: Book, counts: Counts
) -> None:
    fake.embedded_set(book.root, counts, **{SMEM: PRINTED})
    before = book.build(index=f"{TABLE}\n.. output:: {SMEM}\n")
    assert "your build" not in before.text()
    assert not before.page().select(".dagger")

    kernels = book.root / "chapters" / SMEM / "kernels.cuh"
    kernels.write_text(kernels.read_text().replace("in[0]", "in[1]"))
    metrics_of(counts, "smem")[fake.NCU["global_load_sectors"]] = 3000
    fake.own_run(book.root, SMEM, counts, PRINTED.replace("65536", "3000"))
    after = book.build()
    assert after.read == ["index"]  # what was counted is among the page's inputs
    assert after.warnings == []
    assert rows(after.page())[:3] == [
        ["counter", "gmem", "smem†"],
        ["global load sectors", "4000", "2000"],
        ["embedded device, your build", "4000 ±0", "3000 +1000†"],
    ]
    assert "Hardware counted an earlier form" in after.text()
    printed = [block.get_text() for block in after.page().select(".output pre")]
    assert len(printed) == 2
    assert "smem 3000" in printed[1]
    assert "Printed by your build, on the embedded device" in after.text()


def test_a_new_count_alone_makes_the_page_again(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    book.build(index=TABLE)
    metrics_of(counts, "smem")[fake.NCU["global_load_sectors"]] = 3000
    fake.own_run(book.root, SMEM, counts, PRINTED)
    assert book.build().read == ["index"]


def test_a_build_that_counts_the_same_changes_nothing(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts, **{SMEM: PRINTED})
    fake.own_run(book.root, SMEM, counts, PRINTED)
    built = book.build(index=f"{TABLE}\n.. output:: {SMEM}\n")
    assert "your build" not in built.text()
    assert len(built.page().select(".output")) == 1


def test_what_a_gpu_printed_is_no_output_of_the_embedded_device(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts, **{SMEM: PRINTED})
    fake.own_run(book.root, SMEM, counts, "$ ./run\ndevice  NVIDIA GTX\nsmem 9 µs\n")
    built = book.build(index=f"Page\n====\n\n.. output:: {SMEM}\n")
    assert "GTX" not in built.text()


def test_output_on_the_embedded_device(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts, fault="$ ./a\nwild\n$ echo $?\n1\n")
    built = book.build(index="Page\n====\n\n.. output:: fault\n   :on: embedded\n")
    assert built.warnings == []
    (code,) = built.page().select(".output pre")
    for excluded in code.select(".gp, .go"):  # each command can be copied, no output
        excluded.extract()
    assert code.get_text().split() == ["./a", "echo", "$?"]
    assert "Printed on the embedded device, CUDA 13.0.88" in built.text()


PROBES = """\
Page
====

:compared:`probes launches` and :compared:`probes differences`

.. comparison:: probes

.. probes:: global_load_requests global_load_sectors

   global load, width 4, stride 2
"""


def test_probes_compared_and_chosen(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    built = book.build(index=PROBES)
    assert built.warnings == []
    assert "2 and 0" in built.text()
    together, chosen = built.page().select("table")
    assert together("tr")[-1].get_text(" ", strip=True) == "together 2 16 0"
    assert chosen("tr")[-1].get_text(" ", strip=True).endswith("stride 2 12 12 96 96")


def test_small_launches_are_counted(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    table = book.root / "chapters" / "tests" / "nvidia-h200.csv"
    table.parent.mkdir()
    table.write_text("# where\nchapter,case,differed\na,--n 1,\na,--n 2,x.sum\na,--n 3,\n")
    page = "Page\n====\n\n:compared:`small launches` and :compared:`small {}`\n"
    assert "3 and 1" in book.build(index=page.format("unsteady")).text()
    (warning,) = book.build(index=page.format("steady")).warnings
    assert "no sum 'steady'; nearest: unsteady" in warning


def test_chapters_compared(book: Book, counts: Counts) -> None:
    fake.embedded_set(book.root, counts)
    built = book.build(index="Page\n====\n\n.. comparison:: chapters\n")
    assert built.warnings == []
    (table,) = built.page().select("table")
    assert table("tr")[-1].get_text(" ", strip=True) == "together 16 14 2 0 0"


def test_each_row_of_the_chapters_adds_up() -> None:
    """What differs stands in a column, whatever the reason."""
    import ladder  # noqa: F401
    from ladder.compared import SUMS, Comparison

    parts = [name for name in Comparison.columns["chapters"] if name != "counters"]
    for tally in chapters(Recordings(ROOT)):
        assert tally.counters == sum(SUMS[name](tally) for name in parts), tally.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".. comparison:: probe", "no comparison 'probe'; nearest: probes"),
        (":compared:`probes launch`", "no sum 'launch'; nearest: launches"),
        (".. probes:: global_loads\n\n   x", "no counter 'global_loads'; nearest: global_load"),
        (".. probes:: global_load_sectors\n\n   turned", "no probe 'turned'; nearest: turned til"),
        (".. output:: fault\n   :on: embedded", "no transcript fault is recorded"),
        (".. listing:: tools/nothing.cu", "tools/nothing.cu cannot be read"),
    ],
)
def test_wrong_names_are_warnings(book: Book, counts: Counts, text: str, words: str) -> None:
    fake.embedded_set(book.root, counts)
    (warning,) = book.build(index=f"Page\n====\n\n{text}\n").warnings
    assert words in warning


def test_instructions_come_from_the_tables(book: Book, counts: Counts) -> None:
    source = book.root / "tools" / "emulator" / "src/isa/control.cpp"
    source.parent.mkdir(parents=True)
    rows = '    {"bra", build_bra},\n    {"ret", [](Builder& b) { b.leave(); }},\n'
    source.write_text(f"constexpr Row kRows[] = {{\n{rows}}};\n")
    page = "Page\n====\n\n.. instructions::\n"
    built = book.build(index=page)
    assert built.warnings == []
    (table,) = built.page().select("table")
    assert table("tr")[1].get_text(" ", strip=True) == "branches, barriers, fences bra ret"
    others = ["alpha", "beta"]  # which no reader would know by these names
    for name in others:
        text = 'constexpr Row kRows[] = {\n    {"x", build},\n};\n'
        source.with_name(f"{name}.cpp").write_text(text)
    (warning,) = book.build().warnings
    assert "no words for the instructions of alpha, beta" in warning
    for name in others:
        source.with_name(f"{name}.cpp").unlink()
    source.write_text("// none\n")
    (warning,) = book.build().warnings
    assert "no instruction table" in warning


def test_every_example_is_shown_and_every_text_is_used() -> None:
    root = ROOT
    pages = root.glob("docs/**/*.rst")
    page = "".join(path.read_text(encoding="utf-8") for path in pages)
    for room in ROOMS:
        for path in (root / room).glob("*.*"):
            assert f"{room}/{path.name}" in page
    known = transcripts(root)
    assert len(known) > 20
    for name in known:
        assert f".. output:: {name}\n" in page


def test_every_instruction_table_of_the_embedded_device_is_found() -> None:
    from ladder import instructions

    sources = ROOT / "tools/emulator/src/isa"
    declared = re.findall(r"Row> (\w+)_rows\(\)", (sources / "table.hpp").read_text())
    tables = sum(len(instructions._TABLE.findall(p.read_text())) for p in sources.glob("*.cpp"))
    assert tables == len(declared) > 10


def test_refusals_come_from_the_sources(book: Book, counts: Counts) -> None:
    source = book.root / "tools" / "emulator" / "src" / "isa"
    source.mkdir(parents=True)
    runtime = source.with_name("cudart")
    runtime.mkdir()
    rows = '      {"tex", kTexture},\n      {"st.async", "clusters"},\n      {"sust", kTexture},\n'
    reason = 'constexpr std::string_view kTexture = "textures";\n'
    (source / "table.cpp").write_text(reason + rows)
    (runtime / "refused.inc").write_text(
        "// none\nREFUSED(cudaFreeArray)\nREFUSED(cudaFreeArray_ptsz)\nREFUSED(__cudaX)\n"
    )
    built = book.build(index="Page\n====\n\n.. refused::\n")
    assert built.warnings == []
    (table,) = built.page().select("table")
    texts = [row.get_text(" ", strip=True) for row in table("tr")[1:]]
    assert texts == ["clusters st.async", "textures sust tex"]
    assert "The 1 functions of the runtime" in built.text()
    assert "cudaFreeArray" in built.text()
    assert "_ptsz" not in built.text()
    assert "cudaX" not in built.text()
    (source / "table.cpp").write_text(rows)
    (warning,) = book.build().warnings
    assert "no reason kTexture" in warning


def test_every_refusal_of_the_embedded_device_is_found() -> None:
    from ladder import instructions

    sources = ROOT / "tools/emulator/src"
    text = (sources / "isa/table.cpp").read_text()
    listed = text.partition("Refusal kRefused[] = {")[2].partition("};")[0]
    assert len(instructions._REFUSED.findall(text)) == listed.count('{"') > 10
    functions = (sources / "cudart/refused.inc").read_text()
    assert len(instructions._FUNCTION.findall(functions)) == functions.count("REFUSED(") > 100


def test_a_corpus_is_told_by_its_first_comments(book: Book, counts: Counts) -> None:
    folder = book.root / "tools" / "corpus"
    (folder / "two").mkdir(parents=True)
    (folder / "one.cu").write_text("// One thing,\n// and another.\nint a;\n// not this\n")
    (folder / "two" / "main.cu").write_text("// Units.\nint b;\n")
    built = book.build(index="Page\n====\n\n.. corpus:: tools/corpus\n")
    assert built.warnings == []
    (table,) = built.page().select("table")
    texts = [row.get_text(" ", strip=True) for row in table("tr")[1:]]
    assert texts == ["one One thing, and another", "two Units"]
    (folder / "one.cu").write_text("int a;\n")
    (warning,) = book.build().warnings
    assert "one.cu does not say what it is" in warning


def test_a_file_outside_the_chapters_is_shown_whole(book: Book, counts: Counts) -> None:
    path = book.root / "tools" / "one.cu"
    path.parent.mkdir()
    path.write_text("int a;\nint b;\n")
    built = book.build(index="Page\n====\n\n.. listing:: tools/one.cu\n")
    assert built.warnings == []
    assert "tools/one.cu, lines 1–2" in built.text()
