"""Recipes are fitted to what host code does, and refuse what they don't fit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tools.measuring import launches, page
from tools.measuring.ptx import modules
from tools.measuring.recipes import NoFit, Written, all_kernels, evaluate, fitted, plan_of

pytestmark = pytest.mark.all

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


COLUMNS = 48
TABLES = [(rows * COLUMNS + rows % 3, 256) for rows in (1, 2, 3, 7, 33, 1000, 20_000)] + [
    (rows * COLUMNS, block) for block in (32, 96, 512, 1024) for rows in (1, 33, 1000)
]
OTHER_TABLES = [(rows * COLUMNS + 5, block) for rows, block in ((1, 64), (4, 160), (127, 992))]


def table(n: int, block: int) -> Plan:
    """Rows of 48 columns: a grid of pieces of rows, two kernels, and words that aren't all set."""
    rows = n // COLUMNS
    pieces = -(-COLUMNS // (4 * block))
    grid = rows * pieces
    words = rows * (COLUMNS // (32 * block) + 1)
    half = {"offset": 0, "bytes": 8 * grid} if grid < words else {}
    kernel = "_Z5small" if block <= 512 else "_Z5large"
    arguments = [at(0), at(1), number(rows), number(COLUMNS, 4), number(pieces, 4)]
    return {
        "buffers": [
            {"bytes": 4 * COLUMNS * rows, "writes": [{"crc32": n}]},
            {"bytes": 4 * rows, "writes": [{"repeats": "addec07f"}]},
            {"bytes": 8 * words, "writes": [{**half, "repeats": "ff"}]},
        ],
        "steps": [
            {"set": 2, "offset": 0, "bytes": 8 * grid, "value": 255},
            launch(grid, block, [*arguments, at(2)], kernel),
        ],
        "read": [{"buffer": 1, "offset": 0, "bytes": 4 * rows}],
    }


def column_sums(n: int, block: int) -> Plan:
    """Strips of 32 columns, in as many slices as a device holds blocks."""
    rows = n // COLUMNS
    slices = min(-(-4 * rows // block), max(132 * (2048 // block) // 2, 1))
    return {
        "buffers": [
            {"bytes": 4 * COLUMNS * rows, "writes": [{"crc32": n}]},
            {"bytes": 4 * COLUMNS, "writes": []},
        ],
        "steps": [launch(2 * slices, block, [at(0), at(1), number(rows), number(slices, 4)])],
        "read": [{"buffer": 1, "offset": 0, "bytes": 4 * COLUMNS}],
    }


def of(make: Callable[[int, int], Plan], shapes: list[tuple[int, int]]) -> list[Written]:
    return [(n, block, make(n, block)) for n, block in shapes]


@pytest.mark.parametrize("make", [one_pass, passes])
def test_a_recipe_holds_where_it_was_not_fitted(make: Callable[[int, int], Plan]) -> None:
    shapes = SHAPES + [(n, 2) for n in (1000, 4097, 1 << 20)] if make is passes else SHAPES
    recipe = fitted(of(make, shapes))
    for n, block, plan in of(make, OTHERS):
        assert launches.differences(recipe, n, block, plan) == ""


@pytest.mark.parametrize("make", [table, column_sums])
def test_a_recipe_of_a_table_counts_its_rows(make: Callable[[int, int], Plan]) -> None:
    recipe = fitted(of(make, TABLES), COLUMNS)
    assert recipe["columns"] == COLUMNS
    for n, block, plan in of(make, OTHER_TABLES):
        assert launches.differences(recipe, n, block, plan) == ""
    with pytest.raises(NoFit):  # formulas of n alone don't do
        fitted(of(make, TABLES))


def test_a_kernel_may_be_for_blocks_up_to_a_size() -> None:
    recipe = fitted(of(table, TABLES), COLUMNS)
    assert recipe["steps"][1]["kernel"] == [(512, "_Z5small"), (1024, "_Z5large")]
    assert all_kernels(recipe["steps"][1]["kernel"]) == ["_Z5small", "_Z5large"]
    kernels = [plan_of(recipe, 99, b)["steps"][1]["kernel"] for b in (1, 512, 513, 1024)]
    assert kernels == ["_Z5small"] * 2 + ["_Z5large"] * 2
    plans = of(table, TABLES)
    for _, block, plan in plans:
        if block == 96:  # between two that have the same
            plan["steps"][1]["kernel"] = "_Z5other"
    with pytest.raises(NoFit, match="between its blocks another"):
        fitted(plans, COLUMNS)


def test_a_check_may_end_at_what_is_wrong() -> None:
    plans = of(table, TABLES)
    for *_, plan in plans:
        plan["read"].append({"buffer": 2, "offset": 0, "bytes": 8})
    recipe = fitted(plans, COLUMNS)
    n, block, plan = plans[2]
    plan["read"].pop()
    with pytest.raises(NoFit):
        fitted(plans, COLUMNS)
    assert "read" in launches.differences(recipe, n, block, plan)
    plan["wrong"] = True
    assert fitted(plans, COLUMNS)["read"] == recipe["read"]
    assert launches.differences(recipe, n, block, plan) == ""
    plan["read"][0]["bytes"] += 1
    assert "read" in launches.differences(recipe, n, block, plan)


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
    recipe = fitted(of(one_pass, SHAPES))
    missing = "the page's device leaves out mma.sync.aligned.m8n8k4"
    assert launches.left_out_of_pages(ptx, recipe) == missing
    recipe["steps"][1]["kernel"] = "_Z5other"
    assert launches.left_out_of_pages(ptx, recipe) == ""
    recipe["steps"][1]["kernel"] = [(512, "_Z5other"), (1024, "_Z3sum")]
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
    recipe = fitted(of(one_pass, SHAPES))
    recipe["steps"][1]["kernel"] = "_Z3sum"
    recipe["steps"].append({**recipe["steps"][1], "kernel": "_Z5other"})
    why = launches.left_out_of_pages(modules(head + kernels), recipe)
    assert why.startswith("a page's launches run one after another") == is_left_out


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
        (["max", ["div", "block", "n"], 1], 1),
    ],
)
def test_expressions(expression: Any, value: int) -> None:
    assert evaluate(expression, {"n": 1000, "block": 28}) == value


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="no operator 'mod'"):
        evaluate(["mod", 7, 2], {})


# ---------------------------------------------------------------------------- what is committed

CHAPTERS = launches.chapters()
#: Of several GPUs, where a page has one.
SEVERAL = "chapter14_many_gpus"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_recipe_stays_within_its_buffers(chapter: str) -> None:
    recipes = page.committed(chapter)["variants"]
    assert recipes or chapter == SEVERAL
    for name, recipe in recipes.items():
        blocks = recipe.get("steps", [{}])[-1].get("block", ["block"])
        block = 256 if blocks[0] in ("block", 256) or blocks[0] == 32 else blocks[0]
        columns = recipe.get("columns")
        for n in (columns, 7 * columns + 1) if columns else (31, 512):
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
