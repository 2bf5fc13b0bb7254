"""Numbers and lists in words."""

from __future__ import annotations

import math
import random
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest

from figures.kit.words import bytes_text, listed, short_size, significant, size, time_text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 3, "0"),
        (-0.0, 3, "0"),
        (0.5, 1, "0.5"),
        (0.5, 2, "0.50"),
        (0.5, 3, "0.500"),
        (5, 3, "5.00"),
        (4.19, 3, "4.19"),
        (74.62, 3, "74.6"),
        (811.2, 3, "811"),
        (4190.3, 3, "4190"),
        (12345.6, 2, "12346"),
        # Rounding makes a digit more before the point, and that leaves one less behind it.
        (9.994, 3, "9.99"),
        (9.995, 3, "9.99"),  # as a float it lies just below
        (9.9951, 3, "10.0"),
        (99.94, 3, "99.9"),
        (99.95, 3, "100"),  # as a float just above
        (99.96, 3, "100"),
        (999.4, 3, "999"),
        (999.5, 3, "1000"),
        (999.96, 3, "1000"),
        (0.0994, 2, "0.099"),
        (0.0996, 2, "0.10"),
        (0.9996, 3, "1.00"),
        (9.96, 1, "10"),
        (-99.96, 3, "-100"),
        (-0.5, 3, "-0.500"),
        (-9.9951, 3, "-10.0"),
        (0.000012345, 3, "0.0000123"),
        (1e-12, 2, "0.0000000000010"),
        (5e-324, 1, "0." + 323 * "0" + "5"),
        (1e22, 3, "10000000000000000000000"),
    ],
)
def test_a_number_has_its_significant_digits(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


def test_numbers_of_any_size_are_rounded_once() -> None:
    chance = random.Random(14)
    for _ in range(5000):
        value = chance.choice((1, -1)) * 10 ** chance.uniform(-9, 9)
        digits = chance.randint(1, 6)
        text = significant(value, digits)
        rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(Decimal(value))
        if rounded.adjusted() < digits:  # no digit before the point was rounded away
            assert Decimal(text) == rounded, (value, digits)
            shown = text.lstrip("-").lstrip("0.").replace(".", "")
            assert len(shown) == digits, (value, digits)
        else:
            assert int(text) == round(value), (value, digits)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_written_as_one(value: float) -> None:
    with pytest.raises(ValueError):
        significant(value)


def test_a_size_is_a_power_of_two_where_it_is_one() -> None:
    assert (size(2**24), size(1000)) == ("2²⁴", "1000")
    assert (short_size(2**24), short_size(1024), short_size(1000)) == ("16M", "1K", "1000")


def test_a_time_is_in_the_unit_that_keeps_it_short() -> None:
    assert (time_text(74.62), time_text(999.4), time_text(1331.2)) == (
        "74.6 µs",
        "999 µs",
        "1.33 ms",
    )


def test_bytes_are_in_binary_units() -> None:
    assert (bytes_text(62914560), bytes_text(500), bytes_text(3 * 2**29)) == (
        "60 MiB",
        "500 bytes",
        "1.5 GiB",
    )


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [listed(["a", "b", "c"][:count]) for count in (1, 2, 3)] == [
        "a",
        "a and b",
        "a, b and c",
    ]
