"""The notebook for Colab, as far as it can be tested elsewhere: its cells, without a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from tools.tests.limits import LIMIT

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "colab" / "chapter01.ipynb"

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Commands = Callable[..., Path]
Checkout = Callable[..., Path]


def notebook() -> nbformat.NotebookNode:
    return nbformat.read(FILE, as_version=4)


def cells() -> dict[str, str]:
    return {cell.id: cell.source for cell in notebook().cells if cell.cell_type == "code"}


def test_it_is_a_notebook_without_output() -> None:
    nbformat.validate(notebook())
    for cell in notebook().cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None), cell.id
    assert notebook().metadata.accelerator == "GPU"


def test_a_cell_that_nbformat_refuses(tmp_path: Path) -> None:
    spoilt = notebook()
    del spoilt.cells[1]["outputs"]
    with pytest.raises(nbformat.ValidationError):
        nbformat.validate(spoilt)


@pytest.mark.parametrize("name", [name for name in cells() if name != "address"])
def test_a_cell_is_a_script(name: str, tmp_path: Path) -> None:
    """Bash that shellcheck accepts."""
    first, _newline, script = cells()[name].partition("\n")
    assert first == "%%bash"
    path = tmp_path / "cell.sh"
    path.write_text(f"#!/usr/bin/env bash\n{script}\n")
    done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_asks_for_the_packages_that_the_readme_names() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.search(r"It needs the packages\s+`([^`]+)`", readme)
    device = re.search(r"you also need\s+`([^`]+)`", readme)
    assert named and device
    asked = cells()["packages"].split()
    assert {*named[1].split(), *device[1].split()} <= set(asked)


def test_without_an_address_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", cells()["address"]],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Fill in ADDRESS above, then run this cell again.\n"


@pytest.fixture
def machine(checkout: Checkout) -> Iterator[tuple[Path, Path]]:
    """What Colab starts with, an empty folder; and the repository that it clones."""
    origin = checkout("colab origin")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All"]):
        subprocess.run([*git, *command], cwd=origin, check=True, capture_output=True)
    here = origin.parents[1] / "colab" / origin.name
    here.mkdir(parents=True)
    yield here, origin
    shutil.rmtree(here.parent)
    shutil.rmtree(origin.parent)


@pytest.mark.release
def test_its_cells_run_from_the_top(
    run: Run, machine: tuple[Path, Path], commands: Commands
) -> None:
    here, origin = machine
    path = commands(without=["nvidia-smi"], **{"apt-get": "exit 0"})
    said = {}
    for name, text in cells().items():
        if name == "address":
            continue
        done = run(
            "bash", "-c", text.partition("\n")[2], cwd=here, timeout=LIMIT,
            PATH=str(path), ADDRESS=origin.as_uri(),
        )  # fmt: skip
        log = here / "reduction_ladder" / "build.log"
        assert done.returncode == 0, (
            name,
            done.stdout,
            done.stderr,
            log.exists() and log.read_text(),
        )
        said[name] = done.stdout
    assert "No GPU here" in said["gpu"]
    assert said["build"] == "built\n"
    assert "gmem_interleaved" in said["run"] and "as expected" in said["run"]
    assert "nothing to measure" in said["measure"]
    again = run("bash", "-c", cells()["clone"].partition("\n")[2], cwd=here, PATH=str(path))
    assert again.stdout == "The book is here already.\n"


def test_a_clone_that_fails_stops_it(run: Run, tmp_path: Path) -> None:
    script = cells()["clone"].partition("\n")[2]
    done = run("bash", "-c", script, cwd=tmp_path, ADDRESS=f"{tmp_path}/gone", CUDACXX="nvcc")
    assert done.returncode != 0 and "gone" in done.stderr


def test_a_build_that_fails_shows_why(run: Run, tmp_path: Path, commands: Commands) -> None:
    (tmp_path / "reduction_ladder").mkdir()
    path = commands(cmake="echo no compiler here >&2; exit 1")
    script = cells()["build"].partition("\n")[2]
    done = run("bash", "-c", script, cwd=tmp_path, PATH=str(path), CUDACXX="nvcc")
    assert done.returncode == 1 and "no compiler here" in done.stdout
