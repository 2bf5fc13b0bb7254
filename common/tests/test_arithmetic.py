"""Formulas of puzzles and pages: what they come to, and what is none."""

from __future__ import annotations

import pytest

from common.arithmetic import NoFormula, value, whole_value


@pytest.mark.parametrize(
    ("formula", "comes_to"),
    [
        ("256 * 4 / 32", 32),
        ("2^24 // 1024", 16_384),
        ("(2**20 + 1) % 32", 1),
        ("-3 + 1", -2),
        ("7 / 2 * 1.5", 5.25),
        ("up(n, 8) + 2^10", 3 + 1024),
        ("max(min(n, 4, 9) - 1, 0) * 7 // 2 % 5", 0),
    ],
)
def test_what_formulas_come_to(formula: str, comes_to: float) -> None:
    assert value(formula, {"n": 17}) == comes_to


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("2 +", "not a formula, such as"),
        ("up(n", "not a formula, such as"),
        ("n.__class__", "not a formula: numbers"),
        ("__import__('os')", "not a formula: numbers"),
        ("n < 3", "not a formula: numbers"),
        ("True", "not a formula: numbers"),
        ("max(n)", "not a formula: numbers"),
        ("m", "not a formula of block, n"),
        ("1 / (n - 3)", "division by zero"),
        ("up(1, 2, 3)", "up"),
        ("9^9^9", "too large an exponent"),
        ("n / 2", "comes to 1.5"),
    ],
)
def test_what_is_no_formula_is_told(formula: str, message: str) -> None:
    with pytest.raises(NoFormula, match=message):
        whole_value(formula, {"n": 3, "block": 1})
