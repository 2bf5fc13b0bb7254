"""Chapter 8's race: who is last, and what it finds."""

from __future__ import annotations

import pytest

from figures.chapters.chapter08_multi_pass.hand_over import hand_over, missing_fence

pytestmark = pytest.mark.all


@pytest.mark.parametrize("sum_takes", [0.5, 2.0, 4.0, 8.8, 20.0])
def test_with_a_fence_the_last_block_is_right(sum_takes: float) -> None:
    scene = hand_over(fenced=True, sum_takes=sum_takes)
    assert scene.right
    assert scene.drawn[0] > scene.sum_arrives, "the ticket comes after the sum"


def test_without_it_a_slow_sum_is_missed_and_a_quick_one_is_luck() -> None:
    assert not hand_over(fenced=False).right
    assert hand_over(fenced=False, sum_takes=2.0).right


def test_the_picture_says_who_read_what() -> None:
    rows = missing_fence().table.rows
    assert [(row[0], row[-2], row[-1]) for row in rows] == [
        ("without", 1, "old"),
        ("with", 0, "new"),
    ]
