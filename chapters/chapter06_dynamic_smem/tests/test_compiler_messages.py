"""What a page says that the compiler refuses, it refuses; and in the recorded words.

Run as a program, this writes the recorded words anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHAPTERS = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(CHAPTERS.parent))

from tools.tests.built import nvcc  # noqa: E402

pytestmark = pytest.mark.all

CHAPTER = CHAPTERS / "chapter06_dynamic_smem"
#: A source that is refused has the compiler's words beside it.
REFUSED = sorted(
    path for path in CHAPTERS.glob("chapter*/*.cu") if path.with_suffix(".txt").exists()
)
#: The toolkit whose words are recorded; others may choose theirs.
WORDED_BY = "13.0"


def compiled(source: Path, *more: str) -> tuple[int, str]:
    """Its exit status, and what it says after the command, without this machine's folders."""
    options = ["-std=c++20", "-arch=sm_90", "-c", "-o", os.devnull]
    done = subprocess.run(
        [nvcc(), *options, *more, str(source)], capture_output=True, text=True, check=False
    )
    # The checkout's folder may have a space in its name.
    said = (done.stderr + done.stdout).replace(f"{CHAPTERS}/", "/")
    said = re.sub(r"(?:[^\s\"/]*/)+([\w.]+\.cuh?)", r"\1", said)
    return (
        done.returncode,
        f"$ nvcc -std=c++20 -arch=sm_90 -c {source.name}\n{said}".rstrip() + "\n",
    )


@pytest.mark.parametrize("source", REFUSED, ids=lambda path: path.stem)
@pytest.mark.nvcc
def test_it_is_refused_in_the_recorded_words(source: Path) -> None:
    status, said = compiled(source)
    assert status != 0 and "error" in said
    version = subprocess.run([nvcc(), "--version"], capture_output=True, text=True, check=True)
    if f"release {WORDED_BY}," in version.stdout:
        assert said == source.with_suffix(".txt").read_text(encoding="utf-8")


def test_there_is_something_to_refuse() -> None:
    assert REFUSED


@pytest.mark.parametrize("type_name", ["int", "long long"])
def test_one_type_alone_is_no_clash(type_name: str, tmp_path: Path) -> None:
    source = tmp_path / "one.cu"
    source.write_text(
        f'#include "{CHAPTER / "legacy.cuh"}"\n'
        f"template __global__ void chapter06::legacy::typed_clash<{type_name}>"
        "(const int*, int*, std::size_t);\n"
    )
    assert compiled(source)[0] == 0


def test_the_cure_takes_both_types(tmp_path: Path) -> None:
    source = tmp_path / "both.cu"
    source.write_text(
        f'#include "{CHAPTER / "kernels.cuh"}"\n'
        "template __global__ void chapter06::typed_sum<int>(const int*, int*, std::size_t);\n"
        "template __global__ void chapter06::typed_sum<long long>(const int*, int*, std::size_t);\n"
    )
    assert compiled(source)[0] == 0


if __name__ == "__main__":
    for each in REFUSED:
        each.with_suffix(".txt").write_text(compiled(each)[1], encoding="utf-8")
