"""Pictures: the same bytes from the same data, and words that follow the data."""

from __future__ import annotations

import copy
import errno
import functools
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from common.records import columns
from common.records.counters import NCU
from common.records.naming import LOCAL, REFERENCE, run_name
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from figures import catalogue, chapters, draw, marks
from figures.chapters import chapter03_divergence, chapter06_dynamic_smem
from figures.every_chapter import chapter_blocks, chapter_counters, chapter_time
from figures.kit import style
from figures.kit.axes import bar_chart
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, View
from figures.kit.words import card
from figures.tests import synthetic

pytestmark = pytest.mark.all

#: What can be drawn from the made-up recordings: of a chapter that they lack, its diagrams.
MADE_UP = [chapter for name, chapter in chapters.known().items() if name in synthetic.CHAPTERS]
NAMES = [
    *catalogue.OF_THE_BOOK,
    *(name for chapter in MADE_UP for name in catalogue.plots_of(chapter)),
    *catalogue.diagrams(),
]
DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_there_is_every_picture_that_the_guide_asks_for(root: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.rst"))]
    asked = {
        kind: {
            name for page in pages for name in re.findall(rf"^\.\. {kind}:: +(\w+)$", page, re.M)
        }
        for kind in ("plot", "diagram")
    }
    assert len(asked["plot"]) > 30 and len(asked["diagram"]) > 15
    assert asked["plot"] <= set(catalogue.plots(root))
    assert asked["diagram"] <= set(catalogue.diagrams())


def test_every_chapter_has_its_plots(root: Path) -> None:
    named = catalogue.plots(root)
    (root / "chapters" / "chapter99_new").mkdir()
    try:
        more = catalogue.plots(root).keys() - named.keys()
    finally:
        (root / "chapters" / "chapter99_new").rmdir()
    kinds = ("time", "bandwidth", "blocks", "counters")
    assert more == {f"chapter99_{kind}" for kind in kinds}


def test_a_chapters_module_is_all_that_its_figures_need(repository: Path, tmp_path: Path) -> None:
    copy = tmp_path / "figures"
    shutil.copytree(
        repository / "figures", copy, ignore=shutil.ignore_patterns("data", "tests", "__pycache__")
    )
    (copy / "data").symlink_to(repository / "figures" / "data")
    for name in ("chapters", "common"):
        (tmp_path / name).symlink_to(repository / name)
    (copy / "chapters" / "chapter99_new.py").write_text(
        "from figures.chapters.chapter01_gmem.diagrams import tree_gmem\n"
        "from figures.kit.chapter import Chapter\n"
        "CHAPTER = Chapter('chapter99_new', diagrams={'new_tree': tree_gmem})\n"
    )
    command = [sys.executable, "-m", "figures.draw", "--out", "drawn", "--only"]
    asked = [*command, "new_tree"]
    subprocess.run(asked, check=True, cwd=tmp_path)
    assert [path.name for path in (tmp_path / "drawn").glob("*.json")] == ["new_tree.json"]


def test_only_what_an_edit_changes_is_drawn_again(repository: Path, tmp_path: Path) -> None:
    """By the code that a picture is drawn with, and by the data that it is drawn from."""
    shutil.copytree(
        repository / "figures",
        tmp_path / "figures",
        ignore=shutil.ignore_patterns("tests", "__pycache__"),
    )
    for name in ("chapters", "common"):
        (tmp_path / name).symlink_to(repository / name)
    names = ("tree_gmem", "tree_smem", "chapter01_counters", "chapter02_counters")
    command = [sys.executable, "-m", "figures.draw", "--out", "drawn", "--only", *names]

    def drawn_again() -> set[str]:
        for name in names:  # what is drawn again has no such line any longer
            for path in (tmp_path / "drawn").glob(f"{name}-*.svg"):
                path.write_text(path.read_text() + "<!-- planted -->\n")
        subprocess.run(command, check=True, cwd=tmp_path)
        kept = {p.stem.rpartition("-")[0] for p in (tmp_path / "drawn").glob("*.svg")
                if p.read_text().endswith("<!-- planted -->\n")}  # fmt: skip
        return set(names) - kept

    assert drawn_again() == set(names)
    assert drawn_again() == set()
    code = tmp_path / "figures/chapters/chapter01_gmem/diagrams.py"
    code.write_text(code.read_text() + "# another line\n")
    assert drawn_again() == {"tree_gmem"}
    style = tmp_path / "figures/kit/style.py"
    style.write_text(style.read_text() + "# another line\n")
    assert drawn_again() == set(names)


def test_a_mark_follows_the_data(repository: Path) -> None:
    recordings = Recordings(repository)
    view = View(recordings, recordings.reference)
    make = catalogue.plots(repository)["chapter02_counters"]
    before = marks.mark(make(view), make, repository / draw.DATA)
    assert before == marks.mark(make(view), make, repository / draw.DATA)
    counted = copy.deepcopy(view)
    assert counted.known.counters
    for run in counted.known.counters["runs"]:
        if run["chapter"] == "chapter02_smem":
            metrics = run["launches"][0]["metrics"]
            metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] += 1
    assert marks.mark(make(counted), make, repository / draw.DATA) != before


def test_a_module_that_names_another_chapter_is_refused(repository: Path, tmp_path: Path) -> None:
    copy = tmp_path / "figures"
    shutil.copytree(
        repository / "figures", copy, ignore=shutil.ignore_patterns("data", "tests", "__pycache__")
    )
    (tmp_path / "common").symlink_to(repository / "common")
    (copy / "chapters" / "chapter99_new.py").write_text(
        "from figures.kit.chapter import Chapter\nCHAPTER = Chapter('chapter98_old')\n"
    )
    ask = [sys.executable, "-c", "from figures import chapters; chapters.known()"]
    done = subprocess.run(ask, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "figures/chapters/chapter99_new says that it is of" in done.stderr


def test_two_figures_of_one_name_are_refused() -> None:
    def nothing(view: View) -> Picture:
        raise AssertionError(view)

    with pytest.raises(catalogue.TwoFigures, match="'chapter99_time'"):
        catalogue.plots_of(Chapter("chapter99_new", plots={"chapter99_time": nothing}))


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_says_what_it_shows(name: str, root: Path, recordings: Recordings) -> None:
    picture, drawn_from = draw.make(name, root, recordings)
    assert len(picture.alt) > 60
    assert picture.alt.endswith(".")
    assert picture.caption.endswith(".")
    assert picture.table.rows
    assert all(len(row) == len(picture.table.columns) for row in picture.table.rows)
    said = draw.words(picture, drawn_from)
    if drawn_from:
        assert "Made-up GPU" in picture.alt, "a comparison names its device"
        assert said["provenance"] == "Made-up GPU, 2026-01-02, commit 0123456"
        assert picture.runs
    else:
        assert said["provenance"] is None


@pytest.fixture(scope="module")
def drawn(root: Path, recordings: Recordings) -> Callable[[str], dict[str, str]]:
    """Draws a picture the first time that it is asked for."""

    @functools.cache
    def of(name: str) -> dict[str, str]:
        return draw.drawings(name, draw.make(name, root, recordings)[0])

    return of


Drawn = Callable[[str], dict[str, str]]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_data_give_the_same_bytes(
    name: str, root: Path, recordings: Recordings, drawn: Drawn
) -> None:
    once = drawn(name)
    assert once == draw.drawings(name, draw.make(name, root, recordings)[0])
    assert set(once) == {f"{name}-light.svg", f"{name}-dark.svg"}
    for text in once.values():
        assert "<text" in text, "letters stay letters"
        assert "dc:date" not in text


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_draws_the_same_bytes(
    seed: str, root: Path, drawn: Drawn, tmp_path: Path, repository: Path
) -> None:
    # The order of sets and dictionaries must not show, nor a reader's own matplotlibrc.
    command = ["--out", str(tmp_path / "out"), "--root", str(root), "--only", "spine", "tree_smem"]
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nlines.linewidth: 9\n")
    subprocess.run(
        [sys.executable, "-m", "figures.draw", *command],
        check=True,
        cwd=repository,
        env={**os.environ, "PYTHONHASHSEED": seed, "MATPLOTLIBRC": str(tmp_path)},
    )
    for name, text in {**drawn("spine"), **drawn("tree_smem")}.items():
        assert (tmp_path / "out" / name).read_text() == text


def _coloured_text(svg: str) -> set[str]:
    return set(re.findall(r"<text style=\"[^\"]*fill: (#[0-9a-f]{6})", svg))


@pytest.mark.parametrize("name", NAMES)
def test_letters_stand_out_from_the_page(name: str, drawn: Drawn) -> None:
    files = drawn(name)
    for theme in style.THEMES:
        colours = _coloured_text(files[f"{name}-{theme.name}.svg"])
        assert colours
        for colour in colours:
            if colour == theme.background:
                continue  # letters on a rung, whose colours are tested below
            assert style.contrast(colour, theme.background) >= style.WRITTEN, colour


@pytest.mark.parametrize("theme", style.THEMES, ids=lambda theme: theme.name)
def test_colours_stand_out(theme: style.Theme) -> None:
    for hue in style.OKABE_ITO:
        assert style.contrast(theme.drawn(hue), theme.background) >= style.DRAWN
        assert style.contrast(theme.written(hue), theme.background) >= style.WRITTEN
        for share in (0.75, 0.8, 0.82, 0.6):
            assert style.contrast(theme.ink, theme.tint(hue, share)) >= style.WRITTEN
    for colour in (theme.ink, theme.muted):
        assert style.contrast(colour, theme.background) >= style.WRITTEN


def test_contrast_is_wcags() -> None:
    assert style.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert style.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


# ------------------------------------------------------------------------ words follow data


def _view(root: Path) -> View:
    recordings = Recordings(root)
    return View(recordings, recordings.reference)


def _change(root: Path, chapter: str, variant: str, factor: float) -> None:
    """Makes one variant's times that much longer."""
    path = root / "figures/data" / REFERENCE / f"{chapter}.json"
    data = columns.read(path)
    for run in data["runs"]:
        if run["variant"] == variant:
            run["samples_us"] = [round(sample * factor, 3) for sample in run["samples_us"]]
    columns.write(path, data)


def test_the_fastest_is_computed(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    assert "smem_stride is the fastest" in chapter_time(_view(root), "chapter02_smem").alt
    _change(root, "chapter02_smem", "gmem", 0.05)
    assert "gmem is the fastest" in chapter_time(_view(root), "chapter02_smem").alt


def test_what_cannot_be_told_apart_shares_the_lead(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    path = root / "figures/data" / REFERENCE / "chapter01_gmem.json"
    data = columns.read(path)
    two = ("gmem", "gmem_unrolled")
    data["runs"] = [run for run in data["runs"] if run["variant"] in two]
    for run in data["runs"]:  # in the second recording alone the two are level
        if run["repeat"]:
            middle = statistics.median(run["samples_us"])
            low, high = round(middle / 9, 3), round(middle * 9, 3)
            run["samples_us"] = [low] * 10 + [middle] + [high] * 10
    columns.write(path, data)
    alt = chapter_time(_view(root), "chapter01_gmem").alt
    assert "gmem and gmem_unrolled share the lead" in alt


@pytest.mark.parametrize(
    ("asked", "blocks"),
    [(0, 8), (27 << 10, 8), (28 << 10, 7), (48 << 10, 4), (49025, 4), (227 << 10, 1)],
)
def test_blocks_that_fit_an_sm(asked: int, blocks: int) -> None:
    # What cudaOccupancyMaxActiveBlocksPerMultiprocessor says on an H200 is in the recorded runs.
    assert chapter06_dynamic_smem.blocks_that_fit(synthetic.DEVICE, 256, asked) == blocks


def test_the_rule_of_blocks_that_fit_is_the_calculators(repository: Path) -> None:
    known = Recordings(repository).reference.chapters.get("chapter06_dynamic_smem")
    if known is None:
        pytest.skip("chapter 6 is not recorded yet")
    runs = [run for run in known.runs if "shared_kib" in run["params"] and run["block"] >= 128]
    assert runs
    for run in runs:
        rule = chapter06_dynamic_smem.blocks_that_fit(
            known.data["device"], run["block"], run["shared_bytes"] or 0
        )
        assert rule == run["blocks_per_sm"], run_name(run)


def test_stairs_are_drawn_only_where_the_rule_holds(tmp_path: Path) -> None:
    def steps(edit: bool) -> str:
        root = synthetic.write_root(tmp_path / str(edit))
        path = root / "figures/data" / REFERENCE / "chapter06_dynamic_smem.json"
        data = columns.read(path)
        for run in data["runs"]:
            run["blocks_per_sm"] -= edit and run["params"].get("shared_kib") == 64
        columns.write(path, data)
        picture = chapter06_dynamic_smem.shared_occupancy(_view(root))
        return draw.drawings("x", picture)["x-light.svg"]

    assert len(steps(False)) > len(steps(True)) + 300


def test_a_finished_sum_is_found_by_name_alone(tmp_path: Path) -> None:
    """It is not compared with the first passes that it is recorded among."""
    root = synthetic.write_root(tmp_path)
    chapter, name = "chapter02_smem", "smem_unrolled"
    assert name in _view(root).variants(chapter)
    path = root / "figures/data" / REFERENCE / f"{chapter}.json"
    data = columns.read(path)
    for run in data["runs"]:
        if run["variant"] == name:
            run["params"] = {"finished": 1}
    columns.write(path, data)
    assert name not in _view(root).variants(chapter)
    assert _view(root).find(chapter, name, 2**24).run["variant"] == name


def test_a_chapter_compares_what_can_be_compared(recordings: Recordings) -> None:
    named = catalogue.plots_of(chapter03_divergence.CHAPTER)
    table = named["chapter03_time"](View(recordings, recordings.reference)).table
    assert [row[0] for row in table.rows] == list(chapter03_divergence.TREES)


def test_what_a_path_costs_is_computed(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    before = chapter03_divergence.paths_sweep(_view(root))
    (last,) = [found for found in before.runs if found.run["variant"] == "mixed32"]
    (first,) = [found for found in before.runs if found.run["variant"] == "mixed1"]
    ratio = last.run["median_us"] / first.run["median_us"]
    assert f"{ratio:.2f} times as long" in before.alt
    _change(root, "chapter03_divergence", "mixed32", 2.0)
    assert f"{2 * ratio:.2f} times as long" in chapter03_divergence.paths_sweep(_view(root)).alt


def test_a_derived_count_that_is_off_is_said(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    assert "equals the measured one exactly" in chapter_counters(_view(root), "chapter02_smem").alt
    path = root / "figures/data" / REFERENCE / "counters.json"
    data = columns.read(path)
    for run in data["runs"]:
        if (run["chapter"], run["variant"]) == ("chapter02_smem", "smem"):
            metric = NCU["global_load_sectors"]
            run["launches"][0]["metrics"][metric] += 1
    columns.write(path, data)
    alt = chapter_counters(_view(root), "chapter02_smem").alt
    assert "differs from the measured one for smem." in alt


def test_a_changed_kernel_shows_in_the_provenance(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    path = root / "figures/data" / REFERENCE / "chapter01_gmem.json"
    data = columns.read(path)
    for run in data["runs"]:
        if run["variant"] == "gmem":
            run["kernel_hash"] = "0" * 16
    columns.write(path, data)
    (root / "chapters/chapter01_gmem").mkdir(parents=True)
    picture, drawn_from = draw.make("chapter01_time", root, Recordings(root))
    provenance = draw.words(picture, drawn_from)["provenance"]
    assert provenance.endswith("; measured on an earlier form of gmem")


def test_a_smaller_card_is_drawn_at_the_size_it_has(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    for path in (root / "figures/data" / REFERENCE).glob("chapter*.json"):
        data = columns.read(path)
        for run in data["runs"]:  # chapter 7 has the book's block size in its sweep of blocks alone
            if data["chapter"].startswith("chapter07") and run["block"] != 128:
                run["n"] = min(run["n"], 2**26)
        data["runs"] = [run for run in data["runs"] if run["n"] <= 2**26]
        columns.write(path, data)
    view = _view(root)
    assert "2²⁶" in chapter_time(view, "chapter01_gmem").alt
    with pytest.raises(NoSuchRun, match="one block size only"):
        chapter_blocks(view, "chapter01_gmem")


# --------------------------------------------------------------------------- the local set


def test_the_local_set_takes_over_and_the_reference_is_named(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    (root / "chapters/chapter02_smem").mkdir(parents=True)
    synthetic.write_set(root / "figures/data/local", speed=0.3, device="Reader's GPU")
    picture, drawn_from = draw.make("chapter02_time", root, Recordings(root))
    assert drawn_from == LOCAL
    local, _, reference = picture.alt.partition(" The book's own: ")
    assert local.startswith("On Reader's GPU")
    assert reference.startswith("On Made-up GPU")
    # The README's picture is the reference's in any case.
    before = draw.cover(Recordings(synthetic.write_root(tmp_path / "other")))
    assert draw.cover(Recordings(root)) == before


def test_a_figure_the_local_set_cannot_draw_is_the_references(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    (root / "chapters/chapter02_smem").mkdir(parents=True)
    local = synthetic.write_set(root / "figures/data/local", device="Reader's GPU")
    (local / "counters.json").unlink()
    picture, drawn_from = draw.make("chapter02_counters", root, Recordings(root))
    assert drawn_from == REFERENCE
    assert picture.alt.startswith("On Made-up GPU")


# -------------------------------------------------------------------------- a second card

BESIDE = ("chapter05_in_flight", "chapter07_roof", "chapter10_strides")


def _cards(root: Path, name: str) -> tuple[Picture, list[str]]:
    """A picture, and the devices of its runs and of its table's rows."""
    picture, _ = draw.make(name, root, Recordings(root))
    shown = dict.fromkeys(found.device_name for found in picture.runs)
    assert list(dict.fromkeys(row[0] for row in picture.table.rows)) == list(shown)
    return picture, list(shown)


@pytest.mark.parametrize("name", BESIDE)
def test_never_three_cards_in_a_picture(tmp_path: Path, name: str) -> None:
    root = synthetic.write_root(tmp_path)
    alone, shown = _cards(root, name)
    assert shown == ["Made-up GPU"]
    synthetic.write_set(root / "figures/data/nvidia-h100", speed=0.7, device="Second GPU")
    both, shown = _cards(root, name)
    assert shown == ["Made-up GPU", "Second GPU"]
    assert both.alt.startswith(alone.alt) and "Second GPU, drawn beside it" in both.alt
    synthetic.write_set(root / "figures/data/local", speed=0.3, device="Reader's GPU")
    own, shown = _cards(root, name)
    assert shown == ["Reader's GPU", "Made-up GPU"]
    assert "Second GPU" not in own.alt + own.caption


def test_a_second_card_that_lacks_a_run_is_left_out(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    second = synthetic.write_set(root / "figures/data/nvidia-h100", device="Second GPU")
    (second / "counters.json").unlink()
    assert _cards(root, "chapter05_in_flight")[1] == ["Made-up GPU"]
    assert _cards(root, "chapter07_roof")[1] == ["Made-up GPU", "Second GPU"]


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4"),
    ],
)
def test_a_card_is_called_what_people_call_it(device: str, name: str) -> None:
    assert card(device) == name


# -------------------------------------------------------------------------- the command line


def test_the_command_draws_and_then_leaves_alone(root: Path, tmp_path: Path) -> None:
    command = ["--out", str(tmp_path), "--root", str(root), "--only", "tree_gmem", "chapter01_time"]
    assert draw.main(command) == 0
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(files) == 6
    assert draw.main(command) == 0
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files


def test_a_drawing_that_went_missing_is_made_again(root: Path, tmp_path: Path) -> None:
    command = ["--out", str(tmp_path), "--root", str(root), "--only", "tree_gmem"]
    assert draw.main(command) == 0
    (tmp_path / "tree_gmem-dark.svg").unlink()
    assert draw.main(command) == 0
    assert (tmp_path / "tree_gmem-dark.svg").exists()


def test_changed_data_are_drawn_again(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path / "root")
    (root / "chapters/chapter01_gmem").mkdir(parents=True)
    out = tmp_path / "out"
    command = ["--out", str(out), "--root", str(root), "--only", "chapter01_time"]
    assert draw.main(command) == 0
    before = (out / "chapter01_time-light.svg").read_text()
    _change(root, "chapter01_gmem", "gmem", 2)
    assert draw.main(command) == 0
    assert (out / "chapter01_time-light.svg").read_text() != before


def test_missing_data_skip_a_figure_unless_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["--out", str(out), "--root", str(tmp_path), "--only", "spine", "tree_gmem"]
    out.mkdir()
    (out / "spine-light.svg").write_text("from an earlier time")
    assert draw.main(command) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("figures: spine not drawn: ")
    assert sorted(path.name for path in out.iterdir()) == [
        "tree_gmem-dark.svg",
        "tree_gmem-light.svg",
        "tree_gmem.json",
    ]
    assert draw.main([*command, "--strict"]) == 1


def test_an_unknown_figure_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--out", str(tmp_path), "--root", str(root), "--only", "tree"]
    assert draw.main(command) == 1
    assert "no figure 'tree'" in capsys.readouterr().err


def test_a_broken_reference_fails_the_drawing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = synthetic.write_root(tmp_path)
    (root / "figures/data" / REFERENCE / "chapter01_gmem.json").write_text("{")
    assert draw.main(["--out", str(tmp_path / "out"), "--root", str(root)]) == 1
    assert "chapter01_gmem.json" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    command = ["--out", str(tmp_path / "file" / "out"), "--root", str(root), "--only", "tree_gmem"]
    assert draw.main(command) == 1
    assert f"figures: {tmp_path / 'file'}" in capsys.readouterr().err


def test_no_name_is_no_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        draw.main(["--out", "", "--root", str(root)])
    assert end.value.code == 2
    assert '"" names no folder' in capsys.readouterr().err


def test_a_full_disk_is_said_and_leaves_no_torn_picture(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert draw.main(["--out", str(tmp_path / "out"), "--root", str(root)]) == 1
    assert "the disk is full" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


def test_the_readme_is_that_of_the_recording(repository: Path) -> None:
    for name, text in draw.readme_files(repository, Recordings(repository)).items():
        found = (repository / name).read_text(encoding="utf-8")
        assert found == text, f"{name} is out of date: .venv/bin/python -m figures.draw --readme"


def test_what_is_written_behind_a_bar_stays_in_the_figure() -> None:
    rows = [("a name that takes half of the figure", 1.0, "2623, 647 alone", True)]
    for more in ([], [("short", 0.9, "and 1789 of the others", False)]):
        figure = bar_chart(style.LIGHT, [*rows, *more], "Of them all")
        figure.draw_without_rendering()
        (axes,) = figure.axes
        ends = [text.get_window_extent().x1 for text in axes.texts]
        assert max(ends) <= figure.bbox.x1
        assert axes.get_xlim()[1] < 4, "the bars are still to be seen"
