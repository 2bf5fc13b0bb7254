"""Regions: found, hashed, and refused where their markers are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from figures import regions
from figures.regions import RegionError, region_hash

Sources = Callable[..., Path]


def test_a_region_is_the_text_between_its_markers(sources: Sources) -> None:
    root = sources(chapter01_a__kernels="top\n  // begin one\nint a;\nint b;\n  // end one\n")
    region = regions.regions(root)["one"]
    assert region.text == "int a;\nint b;\n"
    assert (region.first_line, region.last_line) == (3, 4)
    assert (region.chapter, region.kind) == ("chapter01_a", "kernels")
    assert region.path == Path("chapters/chapter01_a/kernels.cuh")


def test_the_kind_follows_the_file(sources: Sources) -> None:
    root = sources(
        chapter01_a__legacy="// begin old\n// end old\n",
        chapter01_a__answers="// begin answer\n// end answer\n",
    )
    assert {r.name: r.kind for r in regions.regions(root).values()} == {
        "old": "legacy",
        "answer": "answers",
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("// begin one\nint a;\n", 1, "never ended"),
        ("int a;\n// end one\n", 2, "without its begin"),
        ("// begin one\n// end two\n", 2, "'end two' without its begin"),
        ("// begin one\n// begin two\n// end two\n// end one\n", 2, "begins inside 'one'"),
        ("// begin one\n// end one\n// begin one\n// end one\n", 3, "already begun"),
        ("// begin One\n// end One\n", 1, "no region name"),
        ("// begin smem\n// end smem\n// begin smem-loop\n// end smem-loop\n", 3, "'smem'"),
        ("// begin one uses gone\n// end one\n", 1, "'gone' after 'uses'"),
    ],
)
def test_a_wrong_marker_is_named(sources: Sources, text: str, line: int, words: str) -> None:
    root = sources(chapter01_a__kernels=text)
    with pytest.raises(RegionError) as caught:
        regions.regions(root)
    assert str(caught.value).startswith(f"chapters/chapter01_a/kernels.cuh:{line}: ")
    assert words in str(caught.value)


def test_names_are_unique_over_all_chapters(sources: Sources) -> None:
    text = "// begin one\n// end one\n"
    root = sources(chapter01_a__kernels=text, chapter02_b__kernels=text)
    with pytest.raises(RegionError, match=r"chapter02_b/kernels.cuh:1: .*chapter01_a"):
        regions.regions(root)


def test_the_hash_ignores_comments_and_white_space() -> None:
    plain = 'int a = 1\'000;\nconst char* s = "// no comment";\n'
    dressed = 'int  a =\t1\'000;  // why\n/* a\nlong one */ const char* s =\n"// no comment";'
    assert region_hash(plain) == region_hash(dressed)
    assert len(region_hash(plain)) == 16


@pytest.mark.parametrize(
    "changed",
    [
        'int a = 2; const char* s = "// x";',
        'int a = 1; const char* s = "// y";',
        'int b = 1; const char* s = "// x";',
    ],
)
def test_the_hash_changes_with_the_code(changed: str) -> None:
    assert region_hash('int a = 1; const char* s = "// x";') != region_hash(changed)


def test_the_hash_of_a_region_covers_what_it_uses(sources: Sources) -> None:
    text = "// begin loop uses tree\nint a;\n// end loop\n// begin tree\nint {};\n// end tree\n"
    before = regions.regions(sources(chapter01_a__kernels=text.format("b")))
    after = regions.regions(sources(chapter01_a__kernels=text.format("c")))
    assert before["loop"].text == after["loop"].text
    assert before["loop"].hash != after["loop"].hash


def test_the_books_own_regions_are_in_order(repository: Path) -> None:
    found = regions.regions(repository)
    assert found, "no region in chapters/: the markers are not being found"
    for region in found.values():
        assert region.text.strip(), f"{region.name} is empty"
