"""Claims in a build: what fails it, what the reader's card shows, and the page that lists them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from common.records import columns
from docs.tests import fake
from docs.tests.conftest import GMEM, SMEM, Book, Built

pytestmark = pytest.mark.all

FASTER = f"{SMEM} smem faster than {SMEM} gmem"
HALF = f"global_load_sectors of {SMEM} gmem = 2x that of smem"


def page(text: str) -> str:
    return f"Page\n====\n\nText.\n\n{text}\n"


def phrase(words: str, claim: str) -> str:
    return page(f"It is :claim:`{words} <{claim}>`, they say.")


def build(book: Book, text: str) -> Built:
    return book.build(index=text)


def only_warning(built: Built) -> str:
    (warning,) = built.warnings
    return warning


def set_of(one: fake.FakeSet, smem: float, gmem: float = 100.0) -> None:
    one.time(SMEM, "gmem", gmem, source=GMEM)
    one.time(SMEM, "smem", smem)
    one.write()


# ---------------------------------------------------------------------------- the reference


def test_a_true_claim_shows_its_words_and_nothing_else(recorded_book: Book) -> None:
    built = build(recorded_book, phrase("simply faster", f"{FASTER}; {HALF}"))
    assert built.warnings == []
    assert "It is simply faster, they say." in built.text()


def test_a_false_claim_names_sentence_claim_sides_and_data(recorded_book: Book) -> None:
    claim = f"{SMEM} smem 2x faster than {SMEM} gmem"
    warning = only_warning(build(recorded_book, phrase("twice as fast", claim)))
    assert "index.rst:6: WARNING: claim:" in warning
    for part in (
        "\u201ctwice as fast\u201d",
        f"'{claim}' is false on nvidia-h200",
        "smem n=16777216 block=256 80.0\u00a0µs, 80.0\u00a0µs",
        "gmem n=16777216 block=256 100\u00a0µs, 100\u00a0µs",
        "1.25×, 1.25×",
        f"figures/data/nvidia-h200/{SMEM}.json: {SMEM}/smem n=16777216 block=256",
    ):
        assert part in warning


def test_a_reversed_sentence_is_caught(recorded_book: Book) -> None:
    claim = f"{SMEM} gmem faster than {SMEM} smem"
    assert "is false on nvidia-h200" in only_warning(build(recorded_book, phrase("faster", claim)))


def test_a_claim_that_is_true_in_one_pass_only_is_caught(recorded_book: Book) -> None:
    claim = f"time of {SMEM} smem < 90 us"
    assert build(recorded_book, phrase("short", claim)).warnings == []
    path = recorded_book.root / f"figures/data/nvidia-h200/{SMEM}.json"
    data = columns.read(path)
    (second,) = (
        run
        for run in data["runs"]
        if (run["variant"], run["n"], run["repeat"]) == ("smem", 2**24, 1)
    )
    second.update(fake.run("smem", 95.0, chapter=SMEM, region="smem-loop", repeat=1,
                           kernel_hash=second["kernel_hash"]))  # fmt: skip
    columns.write(path, data)
    warning = only_warning(recorded_book.build())
    assert "false in pass 2 of 2" in warning and "80.0\u00a0µs, 95.0\u00a0µs" in warning


def test_the_wrong_variant_is_caught(recorded_book: Book) -> None:
    claim = f"{SMEM} smen faster than {SMEM} gmem"
    assert f"{SMEM} has no variant 'smen'; nearest: smem" in only_warning(
        build(recorded_book, phrase("faster", claim))
    )


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("at 64 MiB", "n is a number of elements (1024, 2^24 or 16M), and '64 MiB'"),
        ("at 24", "n=24 is not there; nearest are 2^24, 2^28"),
        ("from 24", "n=24 is not recorded for all of them; there are 2^24"),
    ],
)
def test_an_axis_in_the_wrong_unit_is_caught(recorded_book: Book, where: str, message: str) -> None:
    assert message in only_warning(build(recorded_book, phrase("faster", f"{FASTER} {where}")))


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (":claim:`faster`", "should read WORDS <CLAIM>"),
        (":claim:`faster <>`", "there is no claim"),
        (f":claim:`faster <{SMEM} smem fster than gmem>`", "nearest: faster"),
    ],
)
def test_what_cannot_be_read_is_a_warning_with_its_line(
    recorded_book: Book, role: str, message: str
) -> None:
    warning = only_warning(build(recorded_book, page(f"It is {role}.")))
    assert "index.rst:6: WARNING:" in warning and message in warning


def test_variants_on_a_chapters_page_are_its_own(recorded_book: Book) -> None:
    toctree = ".. toctree::\n\n   chapters/chapter02_smem\n"
    text = phrase("faster", "smem 1.2x faster than gmem")
    built = recorded_book.build(index=page(toctree), chapters__chapter02_smem=text)
    assert built.warnings == []


def test_before_the_first_recording_the_words_stand_alone(book: Book) -> None:
    built = build(book, phrase("twice as fast", f"{SMEM} smem 2x faster than gmem"))
    assert built.warnings == []
    assert "It is twice as fast, they say." in built.text()


# ---------------------------------------------------------------------------- a paragraph


def paragraph(*claims: str, body: str = "The *words* of a person.") -> str:
    return page(f".. claim:: {claims[0]}\n" + "".join(f"   {c}\n" for c in claims[1:])
                + f"\n   {body}\n\nWhat follows.\n")  # fmt: skip


def test_a_paragraph_keeps_its_words(recorded_book: Book) -> None:
    built = build(recorded_book, paragraph(FASTER, HALF))
    assert built.warnings == []
    assert "The words of a person." in built.text()
    assert "faster" not in built.text()


def test_each_false_claim_of_a_paragraph_is_named(recorded_book: Book) -> None:
    wrong = f"registers of {SMEM} smem = 13", f"{SMEM} smem 2x faster than {SMEM} gmem"
    built = build(recorded_book, paragraph(FASTER, *wrong))
    assert len(built.warnings) == 2
    for claim, warning in zip(wrong, built.warnings, strict=True):
        assert "\u201cThe words of a person.\u201d" in warning and f"'{claim}' is false" in warning


def test_a_claim_behind_a_blank_line_is_refused(recorded_book: Book) -> None:
    """It would be printed, and held against nothing."""
    built = build(recorded_book, paragraph(FASTER, f"\n   {HALF}"))
    assert len(built.warnings) == 1
    assert "is printed as text" in built.warnings[0] and HALF in built.warnings[0]


# ---------------------------------------------------------------------------- a second card


def test_a_second_card_that_contradicts_fails_the_build(recorded_book: Book) -> None:
    assert build(recorded_book, phrase("faster", FASTER)).warnings == []
    set_of(recorded_book.second(), smem=110.0)
    warning = only_warning(recorded_book.build())
    assert f"'{FASTER}' is false on nvidia-h100" in warning
    assert "write ', but not on nvidia-h100' behind the claim" in warning


def test_a_second_card_that_agrees_is_fine(recorded_book: Book) -> None:
    set_of(recorded_book.second(), smem=70.0)
    assert build(recorded_book, phrase("faster", FASTER)).warnings == []


@pytest.mark.parametrize("exception", [", but not on nvidia-h100", " on nvidia-h200 only"])
def test_an_exception_must_be_one(recorded_book: Book, exception: str) -> None:
    text = phrase("faster on this card", FASTER + exception)
    assert build(recorded_book, text).warnings == []  # the second card is not recorded yet
    set_of(recorded_book.second(), smem=110.0)
    assert recorded_book.build().warnings == []
    set_of(recorded_book.second(), smem=70.0)
    assert "is said not to hold on nvidia-h100, and does" in only_warning(recorded_book.build())


def test_a_claim_about_the_second_card_alone(recorded_book: Book) -> None:
    """What is false there is false, whatever our card says."""
    set_of(recorded_book.second(), smem=110.0)
    assert (
        build(
            recorded_book, phrase("slower", f"{SMEM} smem slower than {SMEM} gmem on nvidia-h100")
        ).warnings
        == []
    )
    said = only_warning(build(recorded_book, phrase("faster", f"{FASTER} on nvidia-h100")))
    assert "is false on nvidia-h100" in said and "Say so in the text" not in said


def test_a_second_card_that_is_asked_has_to_answer(recorded_book: Book) -> None:
    there = "nothing is recorded on nvidia-h100"
    assert there in only_warning(build(recorded_book, phrase("faster", f"{FASTER} on nvidia-h100")))
    set_of(recorded_book.second(), smem=70.0)
    far = phrase("faster", f"{FASTER} from 24 on nvidia-h100")
    assert "n=24 is not recorded for all of them" in only_warning(build(recorded_book, far))


def test_a_number_of_the_second_card(recorded_book: Book) -> None:
    set_of(recorded_book.second(), smem=110.0)
    built = build(recorded_book, page(f"It takes :measured:`{SMEM} smem median on nvidia-h100`."))
    assert built.warnings == [] and "It takes 110" in built.text()
    wrong = build(recorded_book, page(f"It is :measured:`{SMEM} smem median on nvidia-h10`."))
    assert "no second card 'nvidia-h10'; nearest: nvidia-h100" in only_warning(wrong)


def test_a_second_card_without_the_run_says_nothing(recorded_book: Book) -> None:
    second = recorded_book.second()
    second.time(GMEM, "gmem", 100.0)
    second.write()
    assert build(recorded_book, phrase("faster", FASTER)).warnings == []


# ---------------------------------------------------------------------------- the reader's card


def test_a_local_card_that_contradicts_is_marked_and_the_build_goes_on(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    built = build(recorded_book, phrase("faster", FASTER))
    assert built.warnings == []
    assert "It is faster (not on your card: 0.90×), they say." in built.text()
    (mark,) = built.page().select(".claim-mark.fails")
    hidden = [piece.get_text() for piece in mark.select(".visually-hidden")]
    assert hidden == [" (", ")"]  # heard, not seen


def test_a_local_card_that_agrees_says_so(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=700.0, gmem=810.0)
    built = build(recorded_book, phrase("faster", FASTER))
    assert "It is faster (holds here), they say." in built.text()


def test_a_local_card_that_lacks_one_of_the_runs_says_how_far_it_holds(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=700.0, gmem=810.0)
    built = build(recorded_book, phrase("faster, with half the sectors", f"{FASTER}; {HALF}"))
    assert built.warnings == []
    text = built.text()
    assert "It is faster, with half the sectors (holds as far as measured), they say." in text


def test_a_local_card_without_the_run_has_no_mark(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=700.0)
    built = build(recorded_book, phrase("half the sectors", HALF))
    assert built.warnings == []
    assert "It is half the sectors, they say." in built.text()


def test_a_broken_local_set_changes_nothing(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=700.0)
    (recorded_book.root / f"figures/data/local/{SMEM}.json").write_text("{")
    built = build(recorded_book, phrase("faster", FASTER))
    assert built.warnings == []
    assert "It is faster, they say." in built.text()


def test_a_paragraph_counts_its_claims(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    built = build(recorded_book, paragraph(FASTER, f"registers of {SMEM} smem = 12"))
    assert built.warnings == []
    assert "of a person. (not on your card: 1 of 2 claims)" in built.text()


def test_numbers_beside_a_claim_are_the_references_first(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    number = f":measured:`{SMEM} smem median`"
    built = build(
        recorded_book,
        page(
            f"Alone {number}.\n\nIn a :claim:`phrase <{FASTER}>` {number}.\n\n"
            f".. claim:: {FASTER}\n\n   In a paragraph {number}.\n"
        ),
    )
    text = built.text()
    assert "Alone 900 µs (H200: 80.0 µs)." in text
    assert "In a phrase (not on your card: 0.90×) 80.0 µs (H200; GTX 1080: 900 µs)." in text
    assert "In a paragraph 80.0 µs (H200; GTX 1080: 900 µs)." in text


def test_a_rungs_sentence_keeps_its_claim_on_every_page(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    number = f":measured:`{SMEM} smem median`"
    rung = f"""\
        .. rung:: {SMEM}
           :before: {SMEM} gmem
           :after: {SMEM} smem
           :predicted: twice as fast
           :gained: :claim:`Faster <{FASTER}>`, in {number}.
           :counter: global_load_sectors
        """
    toctree = ".. ladder-summary::\n\n.. toctree::\n\n   chapters/chapter02_smem\n"
    chapter = page(textwrap.dedent(rung))
    built = recorded_book.build(index=page(toctree), chapters__chapter02_smem=chapter)
    assert built.warnings == []
    said = "Faster (not on your card: 0.90×), in 80.0 µs (H200; GTX 1080: 900 µs)."
    for name in ("index", "chapters/chapter02_smem"):
        assert said in built.text(name)


# ---------------------------------------------------------------------------- the list

LIST = "Claims\n======\n\n.. claim-list::\n"


def listed(book: Book, text: str) -> tuple[Built, list[list[str]]]:
    toctree = "\n.. toctree::\n\n   claims\n"
    built = book.build(index=text + toctree, claims=LIST)
    rows = built.page("claims").select("table.claims tbody tr")
    return built, [[c.get_text().strip() for c in row.select("th, td")] for row in rows]


def test_all_claims_are_listed_on_the_reference_card(recorded_book: Book) -> None:
    built, rows = listed(recorded_book, phrase("simply faster", f"{FASTER}; {HALF}"))
    assert built.warnings == []
    assert rows == [
        ["simply faster", FASTER, "holds, 1.25×"],
        ["", HALF, "holds, 2.00×"],
    ]
    assert "On the H200, 2 of the 2 that were measured hold." in built.text("claims")
    (link,) = built.page("claims").select("table.claims a")
    target = str(link["href"]).removeprefix("index.html#")
    assert str(built.page().find(id=target).contents[0]) == "simply faster"


def test_several_cards_have_a_name_of_their_own(recorded_book: Book) -> None:
    for name in ("nvidia-h200-pair", "nvidia-h200-four"):
        set_of(fake.FakeSet(recorded_book.root, name, fake.REFERENCE_DEVICE), smem=70.0)
    built, _rows = listed(recorded_book, phrase("faster", FASTER))
    head = [cell.get_text() for cell in built.page("claims").select("table.claims thead th")]
    assert head == ["Where", "Claim", "H200", "H200 pair", "four H200s"]
    assert "On the four H200s, 1 of the 1 that were measured hold." in built.text("claims")


def test_the_list_has_a_column_for_each_card(recorded_book: Book) -> None:
    set_of(recorded_book.second(), smem=110.0)
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    built, rows = listed(
        recorded_book, phrase("faster", f"{FASTER}, but not on nvidia-h100; {HALF}")
    )
    assert built.warnings == []
    head = [cell.get_text() for cell in built.page("claims").select("table.claims thead th")]
    assert head == ["Where", "Claim", "H200", "H100", "GTX 1080"]
    assert [row[2:] for row in rows] == [
        ["holds, 1.25×", "does not hold, as the text says, 0.91×", "does not hold, 0.90×"],
        ["holds, 2.00×", "not measured", "not measured"],
    ]
    (mark,) = built.page().select(".claim-mark a")
    assert mark["href"] == f"claims.html#{rows and 'listed-' + built_anchor(built)}"


def built_anchor(built: Built) -> str:
    return str(built.page().select_one("span.claim")["id"])


def test_a_paragraph_is_listed_by_its_words_with_our_numbers(recorded_book: Book) -> None:
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    body = f"It takes :measured:`{SMEM} smem median`, " + 20 * "and so on, "
    built, rows = listed(recorded_book, paragraph(FASTER, body=body))
    assert built.warnings == []
    assert rows[0][0].startswith("It takes 80.0\u00a0µs, and so on") and rows[0][0].endswith("…")


def test_the_list_follows_an_edited_page_and_a_new_recording(recorded_book: Book) -> None:
    listed(recorded_book, phrase("faster", FASTER))
    built, rows = listed(recorded_book, phrase("half", HALF))
    assert [row[0] for row in rows] == ["half"]
    set_of(recorded_book.local(), smem=900.0, gmem=810.0)
    built, _rows = listed(recorded_book, phrase("half", HALF))
    assert "claims" in built.read


# ---------------------------------------------------------------------------- arithmetic

SHOWN = [
    ("256 * 4 / 32", "32"),
    ("2^24 // 1024", "16 384"),
    ("(2**20 + 1) % 32", "1"),
    ("2^32 - 1", "4 294 967 295"),
    ("7 / 3", "2.33"),
    ("-3 + 1", "-2"),
    ("sm_count * threads_sm", "270 336"),
]


def test_arithmetic_is_done_by_the_build(render: Callable[[str], Built]) -> None:
    text = render("\n\n".join(f"Is :calc:`{sum_}`." for sum_, _shown in SHOWN)).text()
    for _sum, shown in SHOWN:
        assert f"Is {shown}." in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 +", "is not a formula, such as 256 * 4 / 32"),
        ("1 / 0", "division by zero"),
        ("sm_cont * 2", "no attribute 'sm_cont'; nearest: sm_count"),
    ],
)
def test_what_is_not_arithmetic_is_a_warning(recorded_book: Book, text: str, message: str) -> None:
    assert message in only_warning(build(recorded_book, page(f"Is :calc:`{text}`.")))


def test_arithmetic_with_a_device_waits_for_a_recording(book: Book) -> None:
    built = build(book, page("Is :calc:`2 * 3`, and :calc:`sm_count * 2`."))
    assert built.warnings == []
    assert "Is 6, and (not recorded yet)." in built.text()


# ---------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (phrase("three times as fast", FASTER), "a number that no claim has"),
        (phrase("slower", FASTER), "a word that no claim says"),
        (phrase("faster", f"{SMEM} smem faster than {SMEM} smem"), "identical sides"),
        (phrase("short", f"time of {SMEM} smem < 900 us"), "a bound far from what was recorded"),
        (paragraph(f"2: {FASTER}"), "there is no sentence 2"),
        (page(f".. claim:: {FASTER}\n\n   One. Two.\n"), "says of which of the 2 sentences"),
        (page(f".. claim:: 1: {HALF}\n\n   Half of it. It is slower.\n"), "between claims"),
    ],
)
def test_words_that_their_claim_doesnt_say_fail_the_build(
    recorded_book: Book, text: str, said: str
) -> None:
    warnings = build(recorded_book, text).warnings
    assert any("index.rst:" in one and said in one for one in warnings), warnings


def test_what_was_checked_stands_beside_the_words(recorded_book: Book) -> None:
    built = build(recorded_book, phrase("faster", FASTER))
    (proof,) = built.page().select(".claim > .claim-proof")
    assert proof.select_one(".claim-checked").get_text() == (
        "chapter02: smem is faster than chapter02: gmem"
    )
    assert proof.select_one(".claim-shown").get_text() == "H200 1.25×"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f"as fast: {SMEM} smem / {SMEM} gmem", "1.25× as fast"),
        (f"as fast: {SMEM} gmem / {SMEM} smem", "0.80× as fast"),
        (f"Faster: {SMEM} smem / {SMEM} gmem", "25\u00a0% faster"),
        (f"faster: {SMEM} gmem / {SMEM} smem", "20\u00a0% slower"),
        (f"longer: {SMEM} gmem / {SMEM} smem", "25\u00a0% longer"),
        (f"as long: {SMEM} smem / {SMEM} smem", "as long"),
        (f"as many: global_load_sectors of {SMEM} gmem / global_load_sectors of {SMEM} smem",
         "twice as many"),
        (f"share: global_load_sectors of {SMEM} smem / global_load_sectors of {SMEM} gmem", "half"),
    ],
)  # fmt: skip
def test_a_comparison_is_said_by_the_recording(recorded_book: Book, said: str, words: str) -> None:
    built = build(recorded_book, page(f"It is :said:`{said}`, they say."))
    assert built.warnings == []
    assert f"It is {words.replace(chr(160), ' ')}, they say." in built.text()


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ((2.0, 2.01), "twice"), ((1.93, 1.96), "nearly twice"), ((2.04, 2.06), "more than twice"),
        ((0.5, 0.5), "half"), ((0.33, 0.34), "about a third"), ((0.125,), "an eighth"),
        ((1.4,), "1.40×"),
    ],
)  # fmt: skip
def test_how_many_times(ratios: tuple[float, ...], words: str) -> None:
    from ladder import said

    assert said.times(ratios) == words
