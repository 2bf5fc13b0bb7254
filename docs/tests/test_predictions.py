"""A prediction has one right answer, which the recording gives; the climb's bars open with it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from docs.tests.conftest import SMEM, Book, Built

pytestmark = pytest.mark.all

Render = Callable[[str], Built]

HEAD = "Page\n====\n"
BOX = """
.. predict:: How many times *as fast*?
{options}

   Not quite twice.
"""
SLIDER = f"   :slider: 0.5x to 8x\n   :measured: time of {SMEM} gmem / time of {SMEM} smem\n"
CHOICES = f"""   :choices:
      It gets slower :: {SMEM} smem slower than {SMEM} gmem
      Some faster :: {SMEM} smem between 1.1x and 1.4x faster than {SMEM} gmem
      Twice as fast :: {SMEM} smem 2x faster than {SMEM} gmem
"""


def _data(render: Render, options: str) -> dict[str, object]:
    page = render(BOX.format(options=options)).page()
    (box,) = page.select(".box-predict")
    assert box["id"].startswith("guess-")
    data: dict[str, object] = json.loads(box["data-guess"])
    return data


def test_a_scale_has_the_measured_value(render: Render) -> None:
    assert _data(render, SLIDER) == {
        "kind": "slider", "from": 0.5, "to": 8.0, "unit": "×", "wide": True,
        "value": 1.25, "text": "1.25×", "device": "H200",
    }  # fmt: skip


@pytest.mark.parametrize("ends", ["50 us to 200 us", "50 to 200 us", "50us to 200us"])
def test_a_time_is_in_the_scales_unit(render: Render, ends: str) -> None:
    data = _data(render, f"   :slider: {ends}\n   :measured: time of {SMEM} smem\n")
    assert (data["from"], data["to"], data["value"]) == (50, 200, 80)
    assert (data["unit"], data["text"], data["wide"]) == ("µs", "80.0\u00a0µs", False)


def test_the_recording_decides_which_choice_is_right(render: Render) -> None:
    data = _data(render, CHOICES)
    assert data["choices"] == ["It gets slower", "Some faster", "Twice as fast"]
    assert data["value"] == 1


def test_another_card_may_be_asked(recorded_book: Book) -> None:
    """Also about what it alone has."""
    there = recorded_book.second()
    there.time(SMEM, "smem", 80.0)
    there.time(SMEM, "four", 20.0)
    there.write()
    choices = f"""   :choices:
      Faster :: {SMEM} four 2x faster than {SMEM} smem on nvidia-h100
      Slower :: {SMEM} four slower than {SMEM} smem on nvidia-h100
"""
    data = _data(lambda text: recorded_book.build(index=HEAD + text), choices)
    assert (data["value"], data["device"]) == (0, "H100")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (" on nvidia-h100", "", "are asked on different cards"),
        (" on nvidia-h100", " on nvidia-h100", "nothing is recorded on nvidia-h100"),
    ],
)
def test_one_card_is_asked(recorded_book: Book, first: str, second: str, message: str) -> None:
    choices = f"""   :choices:
      Faster :: {SMEM} smem faster than {SMEM} gmem{first}
      Slower :: {SMEM} smem slower than {SMEM} gmem{second}
"""
    (warning,) = recorded_book.build(index=HEAD + BOX.format(options=choices)).warnings
    assert message in warning


def test_without_scripts_the_answer_is_a_fold_beneath_the_choices(render: Render) -> None:
    (box,) = render(BOX.format(options=CHOICES)).page().select(".box-predict")
    choices = [one.get_text() for one in box.select(".guess-choice")]
    assert choices == ["It gets slower", "Some faster", "Twice as fast"]
    assert "Not quite twice." in box.select_one("details.answer").get_text()
    assert "open" not in box.select_one("details.answer").attrs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("   :slider: 0.5x to 8x\n", "needs :choices:, or :slider: with :measured:"),
        (SLIDER + CHOICES, "needs :choices:, or :slider: with :measured:"),
        (SLIDER.replace("0.5x to 8x", "8x to 0.5x"), "should read FROM to TO"),
        (SLIDER.replace("0.5x to 8x", "0.5x to 8 us"), "should read FROM to TO"),
        (SLIDER.replace("0.5x to 8x", "1 us to 8 us"), ":slider: is a time"),
        (SLIDER.replace("0.5x to 8x", "2x to 8x"), "and 1.25× was measured"),
        (SLIDER.replace(" gmem", " gmen"), "nearest: gmem"),
        (CHOICES.replace("1.1x and 1.4x", "1.3x and 1.4x"), "exactly one must hold on nvidia-h200, "
         "and it is none"),
        (CHOICES.replace("2x faster", "1.2x faster"), "'Some faster', 'Twice as fast'"),
        (CHOICES.replace("slower ::", "slower:"), "should read LABEL :: CLAIM"),
    ],
)  # fmt: skip
def test_a_question_without_one_right_answer_is_refused(
    recorded_book: Book, options: str, message: str
) -> None:
    built = recorded_book.build(index="Book\n====\n" + BOX.format(options=options))
    assert any(message in warning for warning in built.warnings), built.warnings


def test_a_plain_prediction_is_a_fold(recorded_book: Book) -> None:
    built = recorded_book.build(index="Book\n====\n" + BOX.format(options=""))
    assert built.warnings == []
    (box,) = built.page().select(".box-predict")
    assert "data-guess" not in box.attrs


def test_a_strip_says_which_chapter_of_the_climb_has_no_bar() -> None:
    from ladder.climbing import without_a_bar

    assert without_a_bar(["chapter01_gmem", "chapter05_unroll4"]) == []
    assert without_a_bar(["chapter01_gmem", "chapter05_unroll4", "chapter08_multi_pass"]) == [6]
