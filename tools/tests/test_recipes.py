"""Recipes are fitted to what host code does, and refuse what they don't fit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tools.measuring import launches, page
from tools.measuring.recipes import NoFit, Written, evaluate, fitted, plan_of

SHAPES = [(n, 256) for n in (1, 33, 1000, 4097, 65_536, 300_001, 1 << 20)] + [
    (n, block) for block in (32, 100, 512, 1024) for n in (1, 4097, 1 << 20)
]
OTHERS = [(2, 37), (31, 256), (10_007, 384), (65_537, 992), ((1 << 20) - 3, 48)]
Plan = dict[str, Any]


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
    """Four elements per thread; no more blocks than are there at once."""
    grid = min(-(-n // (4 * block)), 132 * (2048 // block))
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
    return {
        "buffers": [
            {"bytes": 4 * n, "writes": [{"crc32": n}]},
            {"bytes": 8 * first, "writes": [{"repeats": "00"}]},
            {"bytes": 4, "writes": [{"repeats": "00"}]},
        ],
        "steps": steps,
        "read": [{"buffer": 2, "offset": 0, "bytes": 4}],
    }


def of(make: Callable[[int, int], Plan], shapes: list[tuple[int, int]]) -> list[Written]:
    return [(n, block, make(n, block)) for n, block in shapes]


@pytest.mark.parametrize("make", [one_pass, passes])
def test_a_recipe_holds_where_it_was_not_fitted(make: Callable[[int, int], Plan]) -> None:
    shapes = SHAPES + [(n, 2) for n in (1000, 4097, 1 << 20)] if make is passes else SHAPES
    recipe = fitted(of(make, shapes))
    for n, block, plan in of(make, OTHERS):
        assert launches.differences(recipe, n, block, plan) == ""


def test_what_is_not_used_is_left_out() -> None:
    recipe = fitted(of(one_pass, SHAPES))
    assert recipe["allocations"] == [0, 2]
    assert [len(buffer["writes"]) for buffer in recipe["buffers"]] == [1, 1]
    assert recipe["buffers"][0]["writes"] == [{"input": 0}]
    assert recipe["buffers"][1]["writes"] == [{"repeats": "ad0b0080"}]


def test_a_template_has_a_kernel_for_each_block() -> None:
    def make(n: int, block: int) -> Plan:
        plan = one_pass(n, block)
        plan["steps"][1]["kernel"] = f"_Z3sumILj{block}E"
        return plan

    recipe = fitted(of(make, SHAPES))
    assert plan_of(recipe, 1000, 512)["steps"][1]["kernel"] == "_Z3sumILj512E"
    n, block = 1000, 48  # at which it was never seen
    assert "no such plan" in launches.differences(recipe, n, block, make(n, block))


def _one_more_block(plan: Plan) -> None:
    plan["steps"][1]["grid"][0] += 1


def _another_buffer(plan: Plan) -> None:
    plan["steps"][1]["arguments"][1]["buffer"] = 0


def _another_kernel(plan: Plan) -> None:
    plan["steps"][1]["kernel"] = "_Z5other"


def _an_odd_number(plan: Plan) -> None:
    plan["steps"][1]["arguments"][2] = number(12_345)


def _longer_read(plan: Plan) -> None:
    plan["read"][0]["bytes"] += 1


def _a_number_for_a_pointer(plan: Plan) -> None:
    plan["steps"][1]["arguments"][0] = number(1)


def _a_copy_less(plan: Plan) -> None:
    plan["buffers"][0]["writes"] = []


SPOILT = [
    _one_more_block,
    _another_buffer,
    _another_kernel,
    _an_odd_number,
    _longer_read,
    _a_number_for_a_pointer,
    _a_copy_less,
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_one_run_that_differs_is_no_fit(spoil: Callable[[Plan], None]) -> None:
    plans = copy.deepcopy(of(one_pass, SHAPES))
    spoil(plans[3][2])
    with pytest.raises(NoFit):
        fitted(plans)


@pytest.mark.parametrize("spoil", SPOILT[:-1])
def test_a_plan_that_differs_is_told(spoil: Callable[[Plan], None]) -> None:
    recipe = fitted(of(one_pass, SHAPES))
    plan = one_pass(10_007, 384)
    assert launches.differences(recipe, 10_007, 384, plan) == ""
    spoil(plan)
    assert launches.differences(recipe, 10_007, 384, plan) != ""


def test_passes_that_never_end_are_told() -> None:
    recipe = fitted(of(passes, [*SHAPES, *((n, 2) for n in (1000, 4097, 1 << 20))]))
    recipe["passes"]["between"]["grid"][0] = "left"
    assert "do not end" in launches.differences(recipe, 1 << 20, 2, passes(1 << 20, 2))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (7, 7),
        ("n", 1000),
        (["cdiv", "n", ["*", 4, "block"]], 9),
        (["div", "n", "block"], 35),
        (["min", ["*", 2, 3], "n"], 6),
        (["-", ["+", "n", 1], "block"], 973),
    ],
)
def test_expressions(expression: Any, value: int) -> None:
    assert evaluate(expression, {"n": 1000, "block": 28}) == value


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="no operator 'mod'"):
        evaluate(["mod", 7, 2], {})


# ---------------------------------------------------------------------------- what is committed

CHAPTERS = launches.chapters()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_recipe_stays_within_its_buffers(chapter: str) -> None:
    recipes = page.committed(chapter)["variants"]
    assert recipes
    for name, recipe in recipes.items():
        blocks = recipe.get("steps", [{}])[-1].get("block", ["block"])
        block = 256 if blocks[0] in ("block", 256) or blocks[0] == 32 else blocks[0]
        for n in (31, 512):
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


def test_what_a_page_leaves_out_has_its_reason() -> None:
    left_out = {
        (chapter, name): why
        for chapter in CHAPTERS
        for name, why in page.committed(chapter)["left_out"].items()
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
    }
