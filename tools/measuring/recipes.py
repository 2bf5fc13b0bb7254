"""Recipes: what a variant's host code asks of the device, as formulas in n and the block.

A recipe is fitted to launches that were written down (:mod:`tools.measuring.launches`) and never
typed. Its numbers are expressions: an integer, a name, or a list of an operator and its operands.
The names are

- ``n``, ``block``: what the run was asked for
- ``grid``: blocks of the first launch
- of a table, whose rows are ``columns`` elements each: ``rows``, as many as n elements make
- of a pass, where a kernel is launched until one value is left: ``left``, the elements that it
  takes; ``leaves``, its blocks; ``before``, what all passes before it have left; ``odd``, 1 for
  every second pass

A kernel is a name; a name by the block, where a template has an instance of each; or a list of
names, each with the largest block that it is launched with.

A recipe of a table holds from its first row on. Fewer elements launch nothing, unless it has
``least``: then the program launches something without rows, which a page leaves to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Expression = int | str | list[Any]
Names = Mapping[str, int]
Sample = tuple[Names, int]
Plan = dict[str, Any]
Recipe = dict[str, Any]
Kernel = str | dict[str, str] | list[tuple[int, str]]

#: The kinds of passes: the only one, else the first, those between, and the last.
PASSES = ("only", "first", "between", "last")
#: More would be a loop that does not end.
MOST_PASSES = 64


def evaluate(expression: Expression, names: Names) -> int:
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return names[expression]
    operator, *operands = expression
    values = [evaluate(each, names) for each in operands]
    match operator:
        case "+":
            return sum(values)
        case "-":
            return values[0] - values[1]
        case "*":
            product = 1
            for value in values:
                product *= value
            return product
        case "div":
            return values[0] // values[1]
        case "cdiv":
            return -(-values[0] // values[1])
        case "min":
            return min(values)
        case "max":
            return max(values)
    raise ValueError(f"no operator {operator!r}")


# ----------------------------------------------------------------------------- from recipe to plan


def plan_of(recipe: Recipe, n: int, block: int) -> Plan:
    """What a run does, number by number."""
    names: dict[str, int] = {"n": n, "block": block, **_table(recipe.get("columns"), n)}
    first = recipe["passes"]["first"] if "passes" in recipe else _first_launch(recipe)
    names["grid"] = evaluate(first["grid"][0], names)
    return {
        "buffers": [
            {
                "bytes": evaluate(each["bytes"], names),
                "writes": [_write(write, names) for write in each["writes"]],
            }
            for each in recipe["buffers"]
        ],
        "steps": list(_steps(recipe, names)),
        "read": [_numbers(each, names) for each in recipe["read"]],
    }


def _table(columns: int | None, n: int) -> dict[str, int]:
    return {"rows": n // columns} if columns else {}


def _first_launch(recipe: Recipe) -> dict[str, Any]:
    launch: dict[str, Any] = next(step for step in recipe["steps"] if "kernel" in step)
    return launch


def _numbers(fields: Mapping[str, Any], names: Names) -> dict[str, int]:
    return {key: evaluate(value, names) for key, value in fields.items()}


def _write(write: Mapping[str, Any], names: Names) -> dict[str, Any]:
    content = {key: write[key] for key in ("repeats", "input") if key in write}
    place = {key: write[key] for key in ("offset", "bytes") if key in write}
    return {**_numbers(place, names), **content}


def _steps(recipe: Recipe, names: Names) -> Iterator[dict[str, Any]]:
    if "passes" not in recipe:
        for step in recipe["steps"]:
            yield _step(step, names)
        return
    left, before = names["n"], 0
    for number in range(MOST_PASSES):
        names = {**names, "left": left, "before": before, "odd": number % 2}
        kind = recipe["passes"]["first" if number == 0 else "between"]
        leaves = evaluate(kind["grid"][0], {**names, "leaves": 0})
        names = {**names, "leaves": leaves}
        yield _step(recipe["passes"][pass_kind(number, leaves)], names)
        if leaves == 1:
            return
        left, before = leaves, before + leaves
    raise ValueError("the passes do not end")


def pass_kind(number: int, leaves: int) -> str:
    if number == 0:
        return "only" if leaves == 1 else "first"
    return "last" if leaves == 1 else "between"


def _step(step: Mapping[str, Any], names: Names) -> dict[str, Any]:
    if "set" in step:
        return _numbers(step, names)
    return {
        "kernel": kernel_for(step["kernel"], names["block"]),
        "grid": [evaluate(each, names) for each in step["grid"]],
        "block": [evaluate(each, names) for each in step["block"]],
        "shared": evaluate(step["shared"], names),
        "cooperative": step["cooperative"],
        "arguments": [_argument(each, names) for each in step["arguments"]],
    }


def kernel_for(kernel: Kernel, block: int) -> str:
    if isinstance(kernel, str):
        return kernel
    if isinstance(kernel, dict):
        return kernel[str(block)]
    for most, name in kernel:
        if block <= most:
            return name
    raise KeyError(block)


def all_kernels(kernel: Kernel) -> list[str]:
    """Those of a step, whatever the block."""
    if isinstance(kernel, str):
        return [kernel]
    return list(kernel.values()) if isinstance(kernel, dict) else [name for _, name in kernel]


def kernels_of(recipe: Recipe) -> list[str]:
    """All kernels that a recipe may launch."""
    steps = [*recipe.get("steps", ()), *recipe.get("passes", {}).values()]
    return sorted(
        {name for step in steps if "kernel" in step for name in all_kernels(step["kernel"])}
    )


def _argument(argument: Mapping[str, Any], names: Names) -> dict[str, Any]:
    if "buffer" in argument:
        return {"buffer": argument["buffer"], "offset": evaluate(argument["offset"], names)}
    if "bytes" in argument:
        return {"bytes": argument["bytes"]}
    value = evaluate(argument["value"], names)
    return {"bytes": value.to_bytes(argument["size"], "little").hex()}


# ---------------------------------------------------------------------------- from plans to recipe

#: A plan, with the n and the block that it was written down at.
Written = tuple[int, int, Plan]


class NoFit(Exception):
    """No recipe gives what was written down: which number, and where."""


def fitted(plans: Sequence[Written], columns: int | None = None) -> Recipe:
    """The recipe that gives these plans; NoFit where there is none. *columns* is the length of a
    table's rows, of which each plan has one at least."""
    names = [_known(n, block, plan, columns) for n, block, plan in plans]
    kept = sorted(set().union(*(_buffers_of(plan) for _, _, plan in plans)))
    if len({len(plan["buffers"]) for _, _, plan in plans}) > 1:
        raise NoFit("it asks for more buffers at one shape than at another")
    all_plans = [with_buffers(plan, kept) for _, _, plan in plans]
    recipe: Recipe = {
        **({"columns": columns} if columns else {}),
        "allocations": kept,
        "buffers": [
            _fit_buffer(names, [plan["buffers"][i] for plan in all_plans], f"buffer {i}")
            for i in range(_same(len(plan["buffers"]) for plan in all_plans))
        ],
    }
    inputs = [w for buffer in recipe["buffers"] for w in buffer["writes"] if "input" in w]
    for number, write in enumerate(inputs):
        write["input"] = number
    launches = {len(plan["steps"]) for plan in all_plans}
    if len(launches) == 1:
        first = min(i for i, step in enumerate(all_plans[0]["steps"]) if "kernel" in step)
        recipe["steps"] = [
            _fit_step(
                names, [plan["steps"][i] for plan in all_plans], f"step {i}", first=i == first
            )
            for i in range(launches.pop())
        ]
    else:
        recipe["passes"] = _fit_passes(names, all_plans)
    recipe["read"] = _fit_reads(names, all_plans, [plan.get("wrong", False) for *_, plan in plans])
    return recipe


def _fit_reads(
    names: Sequence[Names], plans: Sequence[Plan], wrong: Sequence[bool]
) -> list[dict[str, Any]]:
    reads = [plan["read"] for plan in plans]
    # Where nothing is read, a fault has ended the run first: what else is read, others know.
    if not all(reads):
        return []
    # A check ends at the first result that is wrong.
    count = max(map(len, reads))
    _same({len(read) for read, ended in zip(reads, wrong, strict=True) if not ended} | {count})
    fits: list[dict[str, Any]] = []
    for i in range(count):
        there = [(known, read[i]) for known, read in zip(names, reads, strict=True) if read[i:]]
        fits.append(
            {
                key: _fit(
                    [known for known, _ in there],
                    [one[key] for _, one in there],
                    f"read {i}, {key}",
                )
                for key in ("buffer", "offset", "bytes")
            }
        )
    return fits


def _buffers_of(plan: Plan) -> set[int]:
    """Those that a kernel is given, or that are read in the end."""
    given = {
        argument["buffer"]
        for step in plan["steps"]
        for argument in step.get("arguments", ())
        if "buffer" in argument
    }
    return given | {each["buffer"] for each in plan["read"]}


def with_buffers(plan: Plan, kept: Sequence[int]) -> Plan:
    """The plan with these of its buffers alone, which are numbered anew."""
    number = {buffer: i for i, buffer in enumerate(kept)}

    def renamed(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
        return {**fields, key: number[fields[key]]} if key in fields else dict(fields)

    steps = []
    for step in plan["steps"]:
        if "set" in step and step["set"] not in number:
            continue
        step = renamed(step, "set")
        if "arguments" in step:
            step["arguments"] = [renamed(each, "buffer") for each in step["arguments"]]
        steps.append(step)
    return {
        "buffers": [plan["buffers"][each] for each in kept],
        "steps": steps,
        "read": [renamed(each, "buffer") for each in plan["read"]],
    }


def _known(n: int, block: int, plan: Plan, columns: int | None) -> dict[str, int]:
    launch = next(step for step in plan["steps"] if "kernel" in step)
    # For those who look for formulas, a name more: the length of rows.
    table = {"columns": columns, **_table(columns, n)} if columns else {}
    return {"n": n, "block": block, "grid": launch["grid"][0], **table}


def _same(counts: Iterable[int]) -> int:
    different = set(counts)
    if len(different) != 1:
        raise NoFit(f"there are sometimes {min(different)} and sometimes {max(different)}")
    return different.pop()


def _fit_buffer(names: Sequence[Names], buffers: Sequence[Plan], where: str) -> dict[str, Any]:
    writes = []
    for i in range(_same(len(each["writes"]) for each in buffers)):
        each = [buffer["writes"][i] for buffer in buffers]
        write: dict[str, Any] = {}
        if any("offset" in one for one in each):
            # What fills a part of the buffer at one shape may fill all of it at another.
            each = [whole(one, buffer) for one, buffer in zip(each, buffers, strict=True)]
            for key in ("offset", "bytes"):
                write[key] = _fit(names, [one[key] for one in each], f"{where}, {key}")
        units = {one.get("repeats") for one in each}
        write |= {"repeats": units.pop()} if len(units) == 1 and None not in units else {"input": 0}
        writes.append(write)
    sizes = _fit(names, [each["bytes"] for each in buffers], f"{where}, bytes")
    return {"bytes": sizes, "writes": writes}


def whole(write: Plan, buffer: Plan) -> Plan:
    """A write that says where, though it be everywhere."""
    return {"offset": 0, "bytes": buffer["bytes"], **write}


def _fit_passes(names: Sequence[Names], plans: Sequence[Plan]) -> dict[str, Any]:
    found: dict[str, list[tuple[Names, Plan]]] = {kind: [] for kind in PASSES}
    for known, plan in zip(names, plans, strict=True):
        left, before = known["n"], 0
        for number, step in enumerate(plan["steps"]):
            if "kernel" not in step:
                raise NoFit("something else than a launch between passes")
            leaves = step["grid"][0]
            last = number == len(plan["steps"]) - 1
            if last != (leaves == 1):
                raise NoFit("the passes do not end with one block")
            more = {"left": left, "leaves": leaves, "before": before, "odd": number % 2}
            found[pass_kind(number, leaves)].append(({**known, **more}, step))
            left, before = leaves, before + leaves
    made: dict[str, dict[str, Any]] = {}
    likely: Expression | None = None
    for kind, steps in found.items():
        if not steps:
            raise NoFit(f"no pass was the {kind} one")
        first = kind in ("only", "first")
        made[kind] = _fit_step(
            [known for known, _ in steps],
            [step for _, step in steps],
            f"the {kind} pass",
            first=first,
            grid=1 if kind in ("only", "last") else likely,
        )
        if kind == "first":  # those after it are mostly as it is, of what is left
            likely = _of_left(made[kind]["grid"][0])
    return made


def _of_left(expression: Expression) -> Expression:
    if isinstance(expression, list):
        return [expression[0], *map(_of_left, expression[1:])]
    return "left" if expression == "n" else expression


def _fit_step(
    names: Sequence[Names],
    steps: Sequence[Plan],
    where: str,
    *,
    first: bool,
    grid: Expression | None = None,
) -> dict[str, Any]:
    """A step of a recipe. *grid* is a likely formula for its blocks."""
    if any("set" in step for step in steps):
        keys = ("set", "offset", "bytes", "value")
        return {key: _fit(names, [step[key] for step in steps], f"{where}, {key}") for key in keys}
    # What the first launch's grid is a formula of can't be the grid itself.
    hidden = {"grid", "leaves", "left"} if first else {"leaves"}
    of_grid = [{k: v for k, v in each.items() if k not in hidden} for each in names]
    blocks = [step["grid"][0] for step in steps]
    if grid is not None and [evaluate(grid, each) for each in of_grid] == blocks:
        x = grid
    else:
        x = _fit_grid(of_grid, blocks, f"{where}, grid")
    return {
        "kernel": _fit_kernel(names, [step["kernel"] for step in steps], where),
        "grid": [
            x,
            *(
                _fit_grid(of_grid, [step["grid"][axis] for step in steps], f"{where}, grid")
                for axis in (1, 2)
            ),
        ],
        "block": [
            _fit_extent(names, [step["block"][axis] for step in steps], f"{where}, block")
            for axis in range(3)
        ],
        "shared": _fit_by_block(names, [step["shared"] for step in steps], f"{where}, shared"),
        "cooperative": bool(_same(int(step["cooperative"]) for step in steps)),
        "arguments": [
            _fit_argument(names, [step["arguments"][i] for step in steps], f"{where}, argument {i}")
            for i in range(_same(len(step["arguments"]) for step in steps))
        ],
    }


def _fit_extent(names: Sequence[Names], values: Sequence[int], where: str) -> Expression:
    """The block that was asked for, if that is what it is at one block alone, too."""
    if all(value == known["block"] for value, known in zip(values, names, strict=True)):
        return "block"
    return _fit(names, values, where)


def _fit_kernel(names: Sequence[Names], kernels: Sequence[str], where: str) -> Kernel:
    if len(set(kernels)) == 1:
        return kernels[0]
    of_block: dict[int, str] = {}
    for known, kernel in zip(names, kernels, strict=True):
        if of_block.setdefault(known["block"], kernel) != kernel:
            raise NoFit(f"{where}: two kernels for one block, {kernel} and another")
    by_block = sorted(of_block.items())
    most = {kernel: block for block, kernel in by_block}  # the largest of each
    if len(most) == len(by_block):
        return {str(block): kernel for block, kernel in by_block}
    ranges = [(block, kernel) for kernel, block in most.items()]
    for block, kernel in by_block:
        if kernel_for(ranges, block) != kernel:
            raise NoFit(f"{where}: {kernel} at {block}, and between its blocks another")
    return ranges


def _fit_argument(
    names: Sequence[Names], arguments: Sequence[Mapping[str, Any]], where: str
) -> dict[str, Any]:
    if all("buffer" in each for each in arguments):
        (buffer,) = {each["buffer"] for each in arguments} if _one_buffer(arguments) else {None}
        if buffer is None:
            raise NoFit(f"{where}: sometimes one buffer, sometimes another")
        offset = _fit(names, [each["offset"] for each in arguments], f"{where}, offset")
        return {"buffer": buffer, "offset": offset}
    if any("buffer" in each for each in arguments):
        raise NoFit(f"{where}: sometimes a pointer, sometimes a number")
    texts = [each["bytes"] for each in arguments]
    if len(set(texts)) == 1:
        return {"bytes": texts[0]}
    values = [int.from_bytes(bytes.fromhex(text), "little") for text in texts]
    return {"value": _fit(names, values, where), "size": len(texts[0]) // 2}


def _one_buffer(arguments: Sequence[Mapping[str, Any]]) -> bool:
    return len({each["buffer"] for each in arguments}) == 1


# -------------------------------------------------------------------------------------- one number

_OF_PASSES: tuple[Expression, ...] = (
    "left",
    "leaves",
    "before",
    ["-", "before", "left"],
    ["*", "odd", "grid"],
    ["*", ["-", 1, "odd"], "grid"],
)
_WARPS: tuple[Expression, ...] = (["cdiv", "block", 32], ["div", "block", 32])
_ATOMS: tuple[Expression, ...] = (
    "n",
    *_OF_PASSES,
    "grid",
    "block",
    *_WARPS,
    ["*", "grid", "block"],
    *(["*", "grid", warps] for warps in _WARPS),
    ["*", "n", "n"],
    *(["cdiv", "n", share] for share in (2, 3, 4, 8, 16, 32)),
)


def _of_table(columns: int) -> tuple[Expression, ...]:
    """What may grow with a table's rows, or with their parts."""
    per_thread: Expression = ["div", columns, ["*", 32, "block"]]
    return (
        "rows",
        "grid",
        ["div", "grid", "rows"],
        ["div", "grid", _strips(columns)],
        ["*", "rows", ["+", per_thread, 1]],
    )


def _strips(columns: int) -> int:
    """Columns go to the lanes of a warp."""
    return -(-columns // 32)


def _fit(names: Sequence[Names], values: Sequence[int], where: str) -> Expression:
    """A number that is the same everywhere, or grows with another."""
    if len(set(values)) == 1:
        return values[0]
    columns = names[0].get("columns")
    for atom in (*(_of_table(columns) if columns else ()), *_ATOMS):
        line = _line(atom, names, values)
        if line is not None:
            return line
    shown = ", ".join(
        f"{value} at {dict(known)}" for known, value in zip(names, values, strict=True)
    )
    raise NoFit(f"{where}: no formula for {shown[:400]}")


def _line(atom: Expression, names: Sequence[Names], values: Sequence[int]) -> Expression | None:
    """`factor * atom + more`, where that is what the values are."""
    try:
        points = [evaluate(atom, each) for each in names]
    except KeyError:
        return None
    other = next((i for i, point in enumerate(points) if point != points[0]), None)
    if other is None:
        return None
    factor, rest = divmod(values[other] - values[0], points[other] - points[0])
    more = values[0] - factor * points[0]
    if rest or any(
        factor * point + more != value for point, value in zip(points, values, strict=True)
    ):
        return None
    product: Expression = atom if factor == 1 else ["*", factor, atom]
    return product if more == 0 else ["+", product, more]


def _fit_by_block(names: Sequence[Names], values: Sequence[int], where: str) -> Expression:
    return _fit([{"block": each["block"]} for each in names], values, where)


_SHARES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def _covers() -> Iterator[Expression]:
    """As many blocks as elements need, for every share of a block."""
    for source in ("left", "n", "grid"):
        for share in _SHARES:
            yield ["cdiv", source, ["*", share, "block"] if share > 1 else "block"]
        for share in (2, 3, 4):
            yield ["cdiv", ["*", share, source], "block"]
        for share in _SHARES[1:]:
            yield ["cdiv", source, share]


def _fit_grid(names: Sequence[Names], values: Sequence[int], where: str) -> Expression:
    """A constant; blocks that cover the elements; or no more of them than some most. Blocks that
    share a table's rows, or its columns."""
    if len(set(values)) == 1:
        return values[0]
    if "columns" in names[0]:
        for shared in _shared(names[0]["columns"]):
            if [evaluate(shared, each) for each in names] == list(values):
                return shared
    for cover in _covers():
        try:
            wanted = [evaluate(cover, each) for each in names]
        except KeyError:
            continue
        if any(value > want for value, want in zip(values, wanted, strict=True)):
            continue
        if len({v for v, want in zip(values, wanted, strict=True) if v == want}) < 3:
            continue
        if list(values) == wanted:
            return cover
        most = _fit_most(names, values, wanted)
        if most is not None:
            return ["min", cover, most]
    return _fit(names, values, where)


SMS = 132  # of the device that the embedded one passes for


def _shared(columns: int) -> Iterator[Expression]:
    """Blocks for a table: lanes or threads per row, pieces of each, slices of each strip."""
    yield "rows"
    for times in (1, 2, 4, 8, 16, 32):
        lanes: Expression = ["*", times, "rows"] if times > 1 else "rows"
        yield ["cdiv", lanes, "block"]
        if times > 1:
            yield ["cdiv", "rows", ["*", times, "block"]]
    yield ["cdiv", 32 * columns, "block"]  # a warp per column
    for share in (4, 32):
        pieces: Expression = ["cdiv", columns, ["*", share, "block"]]
        yield ["*", "rows", pieces]
        for per_sm in (1, 2, 4):
            yield ["*", "rows", ["min", pieces, ["cdiv", per_sm * SMS, "rows"]]]
    strips = _strips(columns)
    held: Expression = ["*", SMS, ["div", 2048, "block"]]
    most: Expression = ["max", ["div", held, strips], 1] if strips > 1 else held
    for times in (1, 2, 4, 8):
        slices: Expression = ["min", ["cdiv", ["*", times, "rows"], "block"], most]
        yield ["*", strips, slices] if strips > 1 else slices


def _mosts() -> Iterator[Expression]:
    """Blocks that the device holds at once: by threads and by warps on an SM, and by a number."""
    by_threads: list[Expression] = [["div", threads, "block"] for threads in (2048, 1024)]
    by_warps: Expression = ["div", 64, ["cdiv", "block", 32]]
    yield from (["*", SMS, each] for each in by_threads)
    yield ["*", SMS, ["min", 32, by_warps]]
    for most in range(1, 33):
        for by in (*by_threads, by_warps):
            yield ["*", SMS, ["min", most, by]]
        for threads in by_threads:
            yield ["*", SMS, ["min", most, threads, by_warps]]


def _fit_most(
    names: Sequence[Names], values: Sequence[int], wanted: Sequence[int]
) -> Expression | None:
    fewer = {value for value, want in zip(values, wanted, strict=True) if value < want}
    constants: list[Expression] = [fewer.pop()] if len(fewer) == 1 else []
    for most in (*constants, *_mosts()):
        limits = [evaluate(most, each) for each in names]
        if all(
            value == min(want, limit)
            for value, want, limit in zip(values, wanted, limits, strict=True)
        ):
            return most
    return None
