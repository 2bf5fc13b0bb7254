"""Runs chapters' programs as a reader would, for tests."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tools.measuring.programs import Variant, find_programs
from tools.tests import built
from tools.tests.built import BUILD, ROOT
from tools.tests.limits import LIMIT


def program(chapter: str) -> Path:
    """A chapter's program, of the build that tests read."""
    path = BUILD / "chapters" / chapter / chapter
    assert path.exists(), f"{path} is not built: tools/test builds it"
    return path


@cache
def variants(chapter: str) -> dict[str, Variant]:
    """What a chapter's program says of its variants, by name."""
    program(chapter)  # or it is told as not built
    with tempfile.TemporaryDirectory() as work:
        (found,) = find_programs([chapter], BUILD, Path(work), rebuild=False)
    return {each.name: each for each in found.variants}


def run(chapter: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(chapter), *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=LIMIT,
        check=False,
    )


def built_for_a_t4(chapter: str, folder: Path) -> Path:
    """The program as a chapter's folder alone gives it, for a card that the build isn't for."""
    make: list[str | Path] = ["cmake", "--build", folder, "--target", f"{chapter}_program"]
    configure: list[str | Path] = ["cmake", "-S", ROOT / "chapters" / chapter, "-B", folder]
    for command in ([*configure, "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"], make):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            env=built.environment(),
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "chapters" / chapter / chapter


def on_embedded(chapter: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A chapter's program on an embedded device with these settings."""
    return built.on_embedded(program(chapter), *arguments, **settings)
