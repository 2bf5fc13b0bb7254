"""Chapter 12's classic mistakes: what the check of their results says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.tests.built import BUILD, on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device", "matrices")]

MISTAKES = {
    "maximum_from_zero": "row 0 of 10: the maximum is 0 and should be -inf",
    "maximum_without_nan": r"row 1 of 10: the maximum is [\d.]+ and should be nan",
    "argmax_any_tie": r"row 0 of 10: the maximum is said to be in column [1-9]\d* and first is",
    "moments_added_up": r"row 0 of 10: the mean is [\d.]+ and should be [\d.]+",
    "moments_of_squares": r"row 0 of 10: the variance is 32 and should be 0\.08",
    "row_of_one_block": r"row 0 of 10: the sum is -?[\d.]+ and should be [\d.]+",
    "softmax_without_maximum": r"row 0 of 10: element \d+ is -?nan and should be ",
    "softmax_masked": "row 3 of 10: element 0 is -?nan and should be 0,",
}


@pytest.mark.parametrize(("variant", "said"), MISTAKES.items())
def test_a_mistake_is_told(variant: str, said: str, tmp_path: Path) -> None:
    cases = tmp_path / "cases.txt"
    cases.write_text(f"--once --variant {variant} --block 256 --n 20000\n", encoding="utf-8")
    done = on_embedded(BUILD / "chapters/tests/chapter12_rows_matrix", cases)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("exit 1 ") and re.search(said, done.stdout), done.stdout
