"""What the pages show of machine code is what nvcc makes of the kernels today.

Run as a program, this writes the listings that pages show (figures/data/machine_code.json).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from chapters.tests import machine  # noqa: E402
from common.records import machine_code  # noqa: E402

pytestmark = pytest.mark.all


def test_the_listings_shown_are_what_nvcc_makes() -> None:
    recorded = machine_code.load(ROOT)
    if recorded.nvcc != machine.toolkit():
        pytest.skip(f"recorded with nvcc {recorded.nvcc}; this is {machine.toolkit()}")
    made = machine.all_shown()
    assert recorded == made, f"if that is right, run {Path(__file__).relative_to(ROOT)}"


if __name__ == "__main__":
    text = machine.all_shown().text()
    (ROOT / machine_code.FILE).write_text(text, encoding="utf-8")
