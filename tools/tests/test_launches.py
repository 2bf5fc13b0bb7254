"""A variant's plans at all sizes and blocks are one recipe, and each comes out of it as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tools.measuring import launches, page
from tools.measuring.plans import (
    NoPlan,
    Plan,
    Recipe,
    kernels_of,
    overlaid,
    plan_in,
    plan_of,
    recipe_of,
    with_lists,
    without_lists,
)
from tools.measuring.ptx import modules

pytestmark = pytest.mark.all

SIZES, BLOCKS = (33, 1000, 4096), (32, 256)


def launch(grid: int, block: int, arguments: list[Plan], kernel: str = "_Z3sum") -> Plan:
    return {
        "kernel": kernel,
        "grid": [grid, 1, 1],
        "block": [block, 1, 1],
        "shared": 0,
        "cooperative": False,
        "arguments": arguments,
    }


def number(value: int, size: int = 8) -> Plan:
    return {"bytes": value.to_bytes(size, "little").hex()}


def at(buffer: int, offset: int = 0) -> Plan:
    return {"buffer": buffer, "offset": offset}


def one_pass(n: int, block: int) -> Plan:
    """A block's partial sums, into memory that is set between the launches."""
    grid = -(-n // block)
    return {
        "buffers": [
            {"bytes": 4 * n, "writes": [{"crc32": n}]},
            {"bytes": 16, "writes": []},  # that nobody uses
            {"bytes": 4 * grid, "writes": [{"repeats": "ad0b0080"}]},
        ],
        "steps": [
            {"set": 2, "offset": 0, "bytes": 4 * grid, "value": 7},
            launch(grid, block, [at(0), at(2), number(n), number(5, 4)]),
        ],
        "read": [{"buffer": 2, "offset": 0, "bytes": 4 * grid}],
    }


def passes(n: int, block: int) -> Plan:
    """Again and again on what is left, to and fro between two halves of a buffer."""
    first = -(-n // (2 * block))
    steps = []
    left, source, target = n, at(0), at(1)
    while True:
        grid = -(-left // (2 * block))
        target = at(2) if grid == 1 else target
        steps.append(launch(grid, block, [source, target, number(left)]))
        if grid == 1:
            break
        source, target = target, at(1, 4 * first if target["offset"] == 0 else 0)
        left = grid
    half = {"offset": 0, "bytes": 4 * first} if first > 2 else {}
    return {
        "buffers": [
            {"bytes": 4 * n, "writes": [{"crc32": n}]},
            {"bytes": 8 * first, "writes": [{**half, "repeats": "00"}]},
            {"bytes": 4, "writes": [{"repeats": "00"}]},
        ],
        "steps": steps,
        "read": [{"buffer": 2, "offset": 0, "bytes": 4}],
    }


def every(make: Callable[[int, int], Plan]) -> list[Plan]:
    return [make(n, block) for n in SIZES for block in BLOCKS]


def laid(make: Callable[[int, int], Plan]) -> Recipe:
    other = make(SIZES[0], BLOCKS[0])
    return recipe_of(every(make), SIZES, BLOCKS, other)


@pytest.mark.parametrize("make", [one_pass, passes])
def test_each_plan_comes_out_as_it_was(make: Callable[[int, int], Plan]) -> None:
    lists, numbered = with_lists(laid(make))
    recipe = without_lists(lists, numbered)
    assert recipe == laid(make)
    kept = recipe["allocations"]
    assert kept == ([0, 2] if make is one_pass else [0, 1, 2])
    for n in SIZES:
        for block in BLOCKS:
            plan, was = plan_of(recipe, n, block), make(n, block)
            sizes = [buffer["bytes"] for buffer in plan["buffers"]]
            assert sizes == [was["buffers"][each]["bytes"] for each in kept]
            grids = [step["grid"] for step in plan["steps"] if "kernel" in step]
            assert grids == [step["grid"] for step in was["steps"] if "kernel" in step]
            if make is passes:
                assert (plan["steps"], plan["read"]) == (was["steps"], was["read"])
    with pytest.raises(KeyError):
        plan_of(recipe, 34, 32)


def test_what_is_not_the_same_is_input() -> None:
    buffers = laid(one_pass)["buffers"]
    assert [buffer["writes"] for buffer in buffers] == [[{"input": 0}], [{"repeats": "ad0b0080"}]]
    other = one_pass(SIZES[0], BLOCKS[0])
    other["buffers"][2]["writes"] = [{"repeats": "01000000"}]
    (_, partial) = recipe_of(every(one_pass), SIZES, BLOCKS, other)["buffers"]
    assert partial["writes"] == [{"input": 1}]


def test_a_part_of_a_buffer_stays_a_part() -> None:
    recipe = laid(passes)
    parts = [plan_of(recipe, n, 256)["buffers"][1]["writes"][0] for n in (33, 4096)]
    assert parts == [
        {"offset": 0, "bytes": 8, "repeats": "00"},  # all of it
        {"offset": 0, "bytes": 32, "repeats": "00"},
    ]


@pytest.mark.parametrize(
    ("values", "one"),
    [
        ([7, 7, 7, 7], 7),
        ([1, 1, 2, 2], {"by": "n", "of": [1, 2]}),
        ([1, 2, 1, 2], {"by": "block", "of": [1, 2]}),
        ([1, 2, 3, 4], {"by": "both", "of": [1, 2, 3, 4]}),
        ([{"a": 1}] * 3 + [{"a": 2}], {"a": {"by": "both", "of": [1, 1, 1, 2]}}),
        ([[5], [5], [5, 6], [5, 6]], {"first": {"by": "n", "of": [1, 2]}, "list": [5, 6]}),
    ],
)
def test_what_differs_stands_once_each(values: list[Any], one: Any) -> None:
    assert overlaid(values, 2) == one


def test_a_check_may_end_at_what_is_wrong() -> None:
    def two_reads(n: int, block: int) -> Plan:
        plan = one_pass(n, block)
        plan["read"].append({"buffer": 0, "offset": 4, "bytes": 8})
        return plan

    recipe = laid(two_reads)
    assert recipe["read"] == [{"buffer": 1}, {"buffer": 0, "offset": 4, "bytes": 8}]
    plans = every(two_reads)
    plans[2]["read"].pop()
    with pytest.raises(NoPlan, match="reads more at one shape"):
        recipe_of(plans, SIZES, BLOCKS, plans[0])
    plans[2]["ended"] = True
    assert recipe_of(plans, SIZES, BLOCKS, plans[0]) == recipe
    plans[1]["read"][1]["bytes"] = 12
    with pytest.raises(NoPlan, match="reads different pieces"):
        recipe_of(plans, SIZES, BLOCKS, plans[0])


def test_all_kernels_of_a_recipe_are_known() -> None:
    def by_block(n: int, block: int) -> Plan:
        plan = one_pass(n, block)
        plan["steps"][1]["kernel"] = f"_Z3sumILj{block}E"
        return plan

    assert kernels_of(laid(by_block)) == ["_Z3sumILj256E", "_Z3sumILj32E"]


ALLOCATE = {"event": "allocate", "buffer": 3, "bytes": 16, "name": "cudaMalloc"}
LAUNCH = {"event": "launch", **launch(1, 32, [at(3)])}


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([ALLOCATE], "it launches nothing"),
        ([{**LAUNCH, "kernel": "_ZN3cub6kernelE"}], "CUB chooses its own"),
        ([LAUNCH], "given the address of a variable"),
        ([ALLOCATE, {"event": "copy"}, LAUNCH], "it copies on the device"),
        (
            [ALLOCATE, LAUNCH, {"event": "write", "buffer": 3, "repeats": "0102"}, LAUNCH],
            "copies to the device between launches",
        ),
    ],
)
def test_what_a_page_cannot_do_is_told(events: list[Plan], why: str) -> None:
    with pytest.raises(NoPlan, match=why):
        plan_in(events)


def test_what_the_page_s_device_leaves_out_is_found() -> None:
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    kernels = "".join(
        f".visible .entry {name}()\n{{\n{code}\nret;\n}}\n"
        for name, code in {
            "_Z3sum": "call.uni helper, ();",
            "_Z5other": "mov.u32 %tex.x, %mma.x;",
        }.items()
    )
    helper = ".func helper()\n{\n{mma.sync.aligned.m8n8k4 %r1;}\nret;\n}\n"
    ptx = modules(head + helper + kernels)
    recipe = laid(one_pass)
    missing = "the page's device leaves out mma.sync.aligned.m8n8k4"
    assert launches.left_out_of_pages(ptx, recipe) == missing
    recipe["steps"][1]["kernel"] = "_Z5other"
    assert launches.left_out_of_pages(ptx, recipe) == ""
    recipe["steps"][1]["kernel"] = {"by": "block", "of": ["_Z5other", "_Z3sum"]}
    assert launches.left_out_of_pages(ptx, recipe) == missing


@pytest.mark.parametrize(
    ("second", "is_left_out"),
    [("griddepcontrol.wait;", False), ("", True), ("griddepcontrol.launch_dependents;", True)],
)
def test_a_fault_of_launches_that_overlap_is_left_out(second: str, is_left_out: bool) -> None:
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    kernels = "".join(
        f".visible .entry {name}()\n{{\n{code}\nret;\n}}\n"
        for name, code in {
            "_Z3sum": "griddepcontrol.launch_dependents;",
            "_Z5other": second,
        }.items()
    )
    recipe = laid(one_pass)
    recipe["steps"][1]["kernel"] = "_Z3sum"
    recipe["steps"].append({**recipe["steps"][1], "kernel": "_Z5other"})
    why = launches.left_out_of_pages(modules(head + kernels), recipe)
    assert why.startswith("a page's launches run one after another") == is_left_out


# ---------------------------------------------------------------------------- what is committed

CHAPTERS = launches.chapters()
#: Of several GPUs, where a page has one.
SEVERAL = "chapter14_many_gpus"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_plan_stays_within_its_buffers(chapter: str) -> None:
    known = page.committed(chapter)
    recipes = without_lists(known["lists"], known["variants"])
    assert recipes or chapter == SEVERAL
    for name, recipe in recipes.items():
        for n in recipe["sizes"]:
            for block in recipe["blocks"]:
                plan = plan_of(recipe, n, block)
                sizes = [buffer["bytes"] for buffer in plan["buffers"]]
                for step in plan["steps"]:
                    for argument in step.get("arguments", ()):
                        if "buffer" in argument:
                            assert argument["offset"] < sizes[argument["buffer"]], name
                    if "grid" in step:
                        assert min(step["grid"]) > 0, name
                for read in plan["read"]:
                    assert read["offset"] + read["bytes"] <= sizes[read["buffer"]], name


def test_no_page_runs_what_is_about_several_gpus() -> None:
    known = page.committed(SEVERAL)
    assert known["variants"] == {}
    assert set(known["left_out"].values()) == {"a page has one GPU"}


def test_what_a_page_leaves_out_has_its_reason() -> None:
    left_out = {
        (chapter, name): why
        for chapter in CHAPTERS
        for name, why in page.committed(chapter)["left_out"].items()
        if chapter != SEVERAL
    }
    cub = "CUB chooses its own kernels and launches"
    assert left_out == {
        ("chapter07_effective_bandwidth", "sum_cub"): cub,
        **{("chapter08_multi_pass", f"cub{x}"): cub for x in ("", "32", "_sum", "_long", "_float")},
        **{
            ("chapter09_histogram", f"cub_{data}"): cub
            for data in ("uniform", "bell", "mostly", "equal")
        },
        ("chapter10_coalescing", "allocations"): (
            "its input is addresses, which are the program's own"
        ),
        **{
            ("chapter11_floats", f"cub_{data}"): cub for data in ("uniform", "mixed", "ill", "wide")
        },
        **{
            ("chapter11_floats", f"{kind}_matrix_{data}"): (
                "the page's device leaves out "
                f"mma.sync.aligned.m16n8k16.row.col.f32.{short}.{short}.f32"
            )
            for kind, short in (("half", "f16"), ("bfloat16", "bf16"))
            for data in ("uniform", "mixed")
        },
        **{
            ("chapter12_rows", f"sum_cub_{columns}"): cub
            for columns in (4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072, 1 << 20)
        },
        ("chapter13_small_and_large", "cub"): cub,
        **{
            ("chapter13_small_and_large", f"empty{how}"): "it computes nothing"
            for how in ("", "_twice", "_graph", "_dependent", "_cluster")
        },
        **{
            ("chapter13_small_and_large", name): "the page's device leaves out mapa.u64"
            for name in ("cluster_8", "sent_8", "sent_16")
        },
        ("chapter13_small_and_large", "two_unwaited"): (
            "a page's launches run one after another, and its fault is not to wait for the last"
        ),
    }
