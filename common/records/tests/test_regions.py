"""Regions: found, hashed, and refused where their markers are wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from common.records import regions
from common.records.declarations import declarations
from common.records.regions import RegionError, region_hash

Sources = Callable[..., Path]


def test_a_region_is_the_text_between_its_markers(sources: Sources) -> None:
    root = sources(chapter01_a__kernels="// top\n\n  // begin one\nint a;\nint b;\n  // end one\n")
    region = regions.regions(root)["one"]
    assert region.text == "int a;\nint b;\n"
    assert (region.first_line, region.last_line) == (4, 5)
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
        ("// why\n// begin one\n// end one\n", 2, "comment above 'one' is not in it"),
        ("// begin one\n// end two\n", 2, "'end two' without its begin"),
        ("// begin one\n// begin two\n// end two\n// end one\n", 2, "begins inside 'one'"),
        ("// begin one\n// end one\n// begin one\n// end one\n", 3, "already begun"),
        ("// begin One\n// end One\n", 1, "cannot name a region"),
        ("// begin one uses two\n// end one\n", 1, "name it alone"),
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


def test_a_name_may_begin_another(sources: Sources) -> None:
    text = "// begin smem\nint a;\n// end smem\n// begin smem-loop\nint b;\n// end smem-loop\n"
    found = regions.regions(sources(chapter01_a__kernels=text))
    assert {name: region.text for name, region in found.items()} == {
        "smem": "int a;\n",
        "smem-loop": "int b;\n",
    }


# ---------------------------------------------------------------------------- what uses what

TREE = """#pragma once
namespace chapter01 {
// begin tree
__device__ inline void add_up(int* tile) { tile[0] += 1; }
// end tree
constexpr unsigned kHalf = 2, kWhole = 4;
struct Plain { static constexpr unsigned kSize = 32; };
// begin sum
template <class Layout>
__global__ void sum(int* tile) { tile[Layout::kSize] = 3; }
// end sum
}  // namespace chapter01
"""
LOOP = """#include "../chapter01_a/kernels.cuh"
namespace chapter02 {{
// begin loop
__global__ void loop(int* tile) {{ {body} }}
// end loop
}}  // namespace chapter02
"""


def _loop(sources: Sources, body: str, **more: str) -> regions.Region:
    files = {"chapter01_a__kernels": TREE, "chapter02_b__kernels": LOOP.format(body=body)}
    return regions.regions(sources(**{**files, **more}))["loop"]


def test_a_region_uses_what_it_names(sources: Sources) -> None:
    loop = _loop(sources, "chapter01::add_up(tile);")
    assert loop.uses == ("tree",)
    assert [str(path) for path in loop.paths] == [
        "chapters/chapter02_b/kernels.cuh",
        "chapters/chapter01_a/kernels.cuh",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "add_up(tile);",  # another namespace's
        "tile.add_up(); tile->add_up();",  # members
        "// chapter01::add_up(tile)",
        'tile = "chapter01::add_up(tile)";',
    ],
)
def test_what_only_looks_like_a_use_is_none(sources: Sources, body: str) -> None:
    assert _loop(sources, body + "\n").uses == ()


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        ("chapter01::add_up(tile);", "tile[0] += 1", "tile[0] += 2"),
        ("tile[chapter01::kWhole] = 0;", "kWhole = 4", "kWhole = 8"),  # in no region
        ("tile[chapter01::Plain::kSize] = 0;", "kSize = 32", "kSize = 33"),
    ],
)
def test_the_hash_covers_what_is_used(sources: Sources, body: str, before: str, after: str) -> None:
    old = _loop(sources, body)
    assert before in TREE
    new = _loop(sources, body, chapter01_a__kernels=TREE.replace(before, after))
    assert old.text == new.text
    assert old.hash != new.hash
    assert (
        _loop(sources, "").hash
        == _loop(sources, "", chapter01_a__kernels=TREE.replace(before, after)).hash
    )


def test_what_uses_what_is_used_counts_too(sources: Sources) -> None:
    between = TREE.replace(
        "constexpr unsigned kHalf", "inline void twice(int* t) { add_up(t); }\nint x"
    )
    loop = _loop(sources, "chapter01::twice(tile);", chapter01_a__kernels=between)
    assert loop.uses == ("tree",)


def test_a_launch_tells_what_a_template_is_made_with(sources: Sources) -> None:
    root = sources(chapter01_a__kernels=TREE)
    before = regions.regions(root)["sum"]
    (root / "chapters/chapter01_a/main.cu").write_text("auto k = chapter01::sum<Plain>;\n")
    after = regions.regions(root)["sum"]
    assert before.hash != after.hash
    (root / "chapters/chapter01_a/main.cu").write_text("bool k = chapter01::sum < Plain; // >\n")
    assert regions.regions(root)["sum"].hash == before.hash


def test_another_name_for_a_built_in_type_makes_no_other_instance(sources: Sources) -> None:
    root = sources(chapter01_a__kernels=TREE, chapter02_b__kernels="using Sum = long long;\n")
    before = regions.regions(root)["sum"]
    launch = root / "chapters/chapter02_b/main.cu"
    launch.write_text("using namespace chapter02;\nauto k = chapter01::sum<Sum>;\n")
    assert regions.regions(root)["sum"].hash == before.hash
    kernels = root / "chapters/chapter02_b/kernels.cuh"
    kernels.write_text("struct Sum {\n  long long held;\n};\n")
    assert regions.regions(root)["sum"].hash != before.hash


def test_a_namesake_is_no_use_of_itself(sources: Sources) -> None:
    text = "// begin {0}\nvoid hand_in({1});\n// end {0}\n"
    found = regions.regions(
        sources(chapter01_a__kernels=text.format("wide", "long") + text.format("narrow", "int"))
    )
    assert found["wide"].uses == found["narrow"].uses == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\n#define kHalf 2\n", 2, "'kHalf' is a macro"),
        ('#include <cstddef>\n#include "book/input.hpp"\n', 2, "is not kernel code"),
        ("namespace a {\nusing namespace b;\n}\n", 2, "'using namespace'"),
        ("namespace a {\nint b;\n", 2, "'a' is not closed"),
        ("int b;\n}\n", 2, "closes nothing"),
        ("void f() {\n", 1, "does not end"),
        ("namespace a = b;\n", 1, "alias of a namespace"),
        ("void f() {\n  namespace b = a;\n}\n", 2, "namespace"),
        ("inline namespace a {\n}\n", 1, "'inline namespace'"),
        ('extern "C" {\nint a;\n}\n', 1, "extern"),
        ("using enum A;\n", 1, "'using enum'"),
        ("struct A { int x; } a;\n", 1, "a type and a variable"),
        ("struct { int x; };\n", 1, "without a name"),
        ("int operator+(A a, A b) { return 1; }\n", 1, "operator"),
        ("void f() {\n// begin one\nint a;\n// end one\n}\n", 2, "part of a declaration"),
        ("// begin one\nvoid f() {\n// end one\n}\n", 1, "part of a declaration"),
    ],
)
def test_code_that_cannot_be_followed_is_refused(
    sources: Sources, text: str, line: int, words: str
) -> None:
    with pytest.raises(RegionError) as caught:
        regions.regions(sources(chapter01_a__kernels=text))
    assert str(caught.value).startswith(f"chapters/chapter01_a/kernels.cuh:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "template <class T, unsigned N = (1 > 2)> __device__ T* shared() { return 0; }",
            ["shared"],
        ),
        ("__global__ void __launch_bounds__(1024, 2) f(int* a) {}", ["f"]),
        ("constexpr unsigned kA = f(1, 2), kB[2] = {3, 4};", ["kA", "kB"]),
        ("std::array<int, 3> a;", ["a"]),
        ("extern __shared__ int tile[];", ["tile"]),
        ("struct alignas(16) V { int x; };", ["V"]),
        ("enum class E : int { kA, kB };", ["E"]),
        ("enum E { kA, kB = 2 };", ["E", "kA", "kB"]),
        ("using T = int; using a::b;", ["T", "b"]),
        ("typedef unsigned word;", ["word"]),
        ("template <> __device__ int f<V<int>>(int a) { return a; }", ["f"]),
        ("template <class T> requires (sizeof(T) > 2) T g(T a);", ["g"]),
        ("[[nodiscard]] constexpr int h() { return 1; }", ["h"]),
        ("inline void V::f() {}", ["V"]),
        ("static_assert(f(1) == 2);", []),
        ("constexpr auto kF = [](int a) { return a; };", ["kF"]),
    ],
)
def test_what_is_declared(text: str, names: list[str]) -> None:
    assert [name for each in declarations(text) for name in each.names] == names


# -------------------------------------------------------------------------------- the book's


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("width-walk", "stride-walk"),
        ("in-int", "typed-tree"),
        ("tile-product", "tile-layouts"),  # known from the launch alone
        ("tile-vectors", "tile-layouts"),
        ("whole-sum", "word-of-32"),
    ],
)
def test_the_books_regions_use_each_other(repository: Path, name: str, used: str) -> None:
    assert used in regions.regions(repository)[name].uses


def test_what_lies_in_no_region_is_in_the_hash(repository: Path, tmp_path: Path) -> None:
    shutil.copytree(repository / "chapters", tmp_path / "chapters")
    kernels = tmp_path / "chapters/chapter04_bank_conflicts/kernels.cuh"
    before = regions.regions(tmp_path)
    text = kernels.read_text(encoding="utf-8")
    assert "kTile = 32;" in text
    kernels.write_text(text.replace("kTile = 32;", "kTile = 16;"), encoding="utf-8")
    after = regions.regions(tmp_path)
    changed = {name for name, region in after.items() if region.hash != before[name].hash}
    assert changed == {"tile-product", "tile-vectors"}


def test_the_books_own_regions_are_in_order(repository: Path) -> None:
    found = regions.regions(repository)
    assert found, "no region in chapters/: the markers are not being found"
    for region in found.values():
        assert region.text.strip(), f"{region.name} is empty"
