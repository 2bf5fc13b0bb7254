"""What the tests of the judge share: the build's kernels and its embedded device."""

from __future__ import annotations

import os
from pathlib import Path

from tools.tests.built import BUILD, nvcc

KERNELS = BUILD / "judging/kernels"
os.environ["EMU_LIBRARY"] = str(BUILD / "emulator/lib")
os.environ["CUDACXX"] = str(nvcc())


def ptx(kind: str, name: str) -> str:
    """What the build has made of a source (tools/judging/prepare.py)."""
    file = KERNELS / kind / Path(name).with_suffix(".ptx")
    assert file.is_file(), f"no {file}: build the target judge_kernels"
    return file.read_text(encoding="utf-8")
