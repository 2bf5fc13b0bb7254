"""Plans: what a run's host code asks of the device, at each size and block that a panel offers.

A plan is read from what the embedded device wrote down (``EMU_HOST_LOG``): buffers with what is in
them before the first launch, launches with what happens between them, and what is read in the end.
A *recipe* is a variant's plans laid over one another, for each of its ``sizes`` and ``blocks``:

- what is the same in all of them stands once;
- what differs is ``{"by": "n", "of": [...]}``, a value per size; or ``"block"``, per block; or
  ``"both"``, per size and within it per block;
- a list that is not always as long is ``{"first": length, "list": [...]}``: that many of its items.

In a chapter's file, where variants have most of these in common, ``"of"`` is a number in its
``lists``. ``docs/_static/device/plans.js`` takes the plan of a size and a block from it, as
``plan_of`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Plan = dict[str, Any]
Recipe = dict[str, Any]
Event = dict[str, Any]

_ADDRESSES = range(0x2100 << 32, 0x2500 << 32)  # of global memory: emu/memory.hpp


class NoPlan(Exception):
    """A page can't do what the program does, and why."""


# ------------------------------------------------------------------------------- a plan from a log


def plan_in(events: Sequence[Event]) -> Plan:
    """What was asked of the device."""
    sizes: dict[int, int] = {}
    launches = [i for i, event in enumerate(events) if event["event"] == "launch"]
    if not launches:
        raise NoPlan("it launches nothing")
    if any("3cub" in events[i]["kernel"] for i in launches):
        raise NoPlan("CUB chooses its own kernels and launches")
    for event in events[: launches[-1] + 1]:
        if event["event"] == "allocate" and event["name"] == "cudaMalloc":
            sizes[event["buffer"]] = event["bytes"]
    reads: list[Event] = []
    for event in events[launches[-1] + 1 :]:
        if event["event"] != "read":
            break
        # Of a wrong result the program looks at the first wrong element again.
        if not any(_within(event, earlier) for earlier in reads):
            reads.append(event)
    number = {buffer: i for i, buffer in enumerate(sorted(sizes))}

    buffers: list[dict[str, Any]] = [{"bytes": sizes[each], "writes": []} for each in number]
    steps: list[dict[str, Any]] = []
    for i, event in enumerate(events[: launches[-1] + 1]):
        if event["event"] == "launch":
            steps.append(_launch(event, number))
        elif event["event"] == "write" and event["buffer"] in number:
            if i < launches[0]:
                if _holds_addresses(event.get("data", "")):
                    raise NoPlan("its input is addresses, which are the program's own")
                _add_write(buffers[number[event["buffer"]]], event)
            else:
                steps.append(_set(event, number))
        elif event["event"] == "copy":
            raise NoPlan("it copies on the device")
    return {
        "buffers": buffers,
        "steps": steps,
        "read": [
            {"buffer": number[e["buffer"]], "offset": e["offset"], "bytes": e["bytes"]}
            for e in reads
        ],
    }


def _holds_addresses(data: str) -> bool:
    words = [
        int.from_bytes(bytes.fromhex(data[i : i + 16]), "little") for i in range(0, len(data), 16)
    ]
    return bool(words) and all(word in _ADDRESSES for word in words)


def _add_write(buffer: dict[str, Any], event: Event) -> None:
    content = {"repeats": event["repeats"]} if "repeats" in event else {"crc32": event["crc32"]}
    if event["offset"] == 0 and event["bytes"] == buffer["bytes"]:
        buffer["writes"] = [content]  # nothing is left of what was there
    else:
        buffer["writes"].append({"offset": event["offset"], "bytes": event["bytes"], **content})


def _within(event: Event, other: Event) -> bool:
    end, other_end = (each["offset"] + each["bytes"] for each in (event, other))
    begins_within: bool = event["offset"] >= other["offset"]
    return event["buffer"] == other["buffer"] and begins_within and end <= other_end


def _set(event: Event, number: dict[int, int]) -> dict[str, Any]:
    if len(event.get("repeats", "")) != 2:
        raise NoPlan("it copies to the device between launches")
    return {
        "set": number[event["buffer"]],
        "offset": event["offset"],
        "bytes": event["bytes"],
        "value": int(event["repeats"], 16),
    }


def _launch(event: Event, number: dict[int, int]) -> dict[str, Any]:
    arguments = []
    for each in event["arguments"]:
        if "buffer" not in each:
            arguments.append({"bytes": each["bytes"]})
        elif each["buffer"] in number:
            arguments.append({"buffer": number[each["buffer"]], "offset": each["offset"]})
        else:
            raise NoPlan("a kernel is given the address of a variable")
    kept = {key: event[key] for key in ("kernel", "grid", "block", "shared", "cooperative")}
    return {**kept, "arguments": arguments}


# ----------------------------------------------------------------------------- plans into a recipe


def recipe_of(
    plans: Sequence[Plan], sizes: Sequence[int], blocks: Sequence[int], other: Plan
) -> Recipe:
    """The plans at each size, and within it at each block, in one. *other* is one of another seed:
    what differs there, or from plan to plan, is input."""
    every = [*plans, other]
    _same((len(plan["buffers"]) for plan in every), "buffers")
    kept = sorted(set().union(*map(_buffers_of, every)))
    every = [with_buffers(plan, kept) for plan in every]
    contents = _contents([plan["buffers"] for plan in every])
    return {
        "sizes": list(sizes),
        "blocks": list(blocks),
        "allocations": kept,
        "buffers": overlaid(contents[:-1], len(blocks)),
        "steps": overlaid([plan["steps"] for plan in every[:-1]], len(blocks)),
        "read": _reads(every),
    }


def overlaid(values: Sequence[Any], width: int) -> Any:
    """Values, one per size and within it per block, *width* of those, laid over one another."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {key: overlaid([value[key] for value in values], width) for key in first}
    if all(isinstance(value, list) for value in values):
        lengths = [len(value) for value in values]
        if len(set(lengths)) == 1:
            return [overlaid(each, width) for each in zip(*values, strict=True)]
        filled = _filled(values, max(lengths))
        return {"first": overlaid(lengths, width), "list": overlaid(filled, width)}
    rows = [list(values[i : i + width]) for i in range(0, len(values), width)]
    if all(row == [row[0]] * width for row in rows):
        return {"by": "n", "of": [row[0] for row in rows]}
    if all(row == rows[0] for row in rows):
        return {"by": "block", "of": rows[0]}
    return {"by": "both", "of": list(values)}


def _filled(lists: Sequence[list[Any]], length: int) -> list[list[Any]]:
    """Lists of one length: what one lacks, and nobody looks at, is as in the one before it."""
    last = next(each for each in lists if len(each) == length)
    filled = []
    for each in lists:
        last = [*each, *last[len(each) :]]
        filled.append(last)
    return filled


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
        **plan,
        "buffers": [plan["buffers"][each] for each in kept],
        "steps": steps,
        "read": [renamed(each, "buffer") for each in plan["read"]],
    }


def _same(counts: Iterable[int], what: str) -> int:
    different = set(counts)
    if len(different) != 1:
        raise NoPlan(f"it has sometimes {min(different)} and sometimes {max(different)} {what}")
    return different.pop()


def _contents(plans: Sequence[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """The buffers of each plan, with the numbers of inputs for what is input."""
    made = [[{"bytes": buffer["bytes"], "writes": []} for buffer in plan] for plan in plans]
    inputs = 0
    for i in range(len(plans[0])):
        for j in range(_same((len(plan[i]["writes"]) for plan in plans), "writes")):
            writes = [plan[i]["writes"][j] for plan in plans]
            # What fills a part of the buffer at one shape may fill all of it at another.
            has_place = any("offset" in write for write in writes)
            units = {write.get("repeats") for write in writes}
            content = {"repeats": units.pop()} if len(units) == 1 else {}
            if content.get("repeats") is None:
                content = {"input": inputs}
                inputs += 1
            for write, plan, new in zip(writes, plans, made, strict=True):
                everywhere = {"offset": 0, "bytes": plan[i]["bytes"]}
                place = {key: write.get(key, all_of) for key, all_of in everywhere.items()}
                new[i]["writes"].append({**(place if has_place else {}), **content})
    return made


def _reads(plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """What is read in the end: whole buffers, which say no more, or a piece that never differs.
    Nothing where a fault ends the run before."""
    most = max((plan["read"] for plan in plans), key=len)
    reads = []
    for i, read in enumerate(most):
        # A check ends at the first result that is wrong.
        there = [plan for plan in plans if plan["read"][i:]]
        if any(plan not in there and not plan.get("ended") for plan in plans):
            raise NoPlan("its check reads more at one shape than at another")
        each = [plan["read"][i] for plan in there]
        if all(
            one == {"buffer": read["buffer"], "offset": 0, "bytes": _size(plan, one)}
            for plan, one in zip(there, each, strict=True)
        ):
            reads.append({"buffer": read["buffer"]})
        elif all(one == read for one in each):
            reads.append(read)
        else:
            raise NoPlan(f"its check reads different pieces of buffer {read['buffer']}")
    return reads


def _size(plan: Plan, read: Mapping[str, int]) -> int:
    size: int = plan["buffers"][read["buffer"]]["bytes"]
    return size


def with_lists(recipes: Any) -> tuple[list[Any], Any]:
    """The lists of values in these, each once, and the recipes with their numbers."""
    lists: list[Any] = []

    def numbered(laid: Any) -> Any:
        if isinstance(laid, list):
            return [numbered(each) for each in laid]
        if not isinstance(laid, dict):
            return laid
        if "by" not in laid:
            return {key: numbered(value) for key, value in laid.items()}
        if laid["of"] not in lists:
            lists.append(laid["of"])
        return {**laid, "of": lists.index(laid["of"])}

    return lists, numbered(recipes)


def without_lists(lists: Sequence[Any], laid: Any) -> Any:
    """Recipes with their lists of values."""
    if isinstance(laid, list):
        return [without_lists(lists, each) for each in laid]
    if not isinstance(laid, dict):
        return laid
    if "by" in laid:
        return {**laid, "of": lists[laid["of"]]}
    return {key: without_lists(lists, value) for key, value in laid.items()}


# ----------------------------------------------------------------------------- a plan from a recipe


def plan_of(recipe: Recipe, n: int, block: int) -> Plan:
    """What a run does, number by number; KeyError where the recipe has no such size or block."""
    try:
        i, j = recipe["sizes"].index(n), recipe["blocks"].index(block)
    except ValueError:
        raise KeyError(f"n = {n}, block {block}") from None
    place = {"n": i, "block": j, "both": i * len(recipe["blocks"]) + j}
    buffers, steps = (_at(recipe[key], place) for key in ("buffers", "steps"))
    whole = [{"offset": 0, "bytes": buffers[read["buffer"]]["bytes"]} for read in recipe["read"]]
    read = [{**all_of, **each} for all_of, each in zip(whole, recipe["read"], strict=True)]
    return {"buffers": buffers, "steps": steps, "read": read}


def _at(laid: Any, place: Mapping[str, int]) -> Any:
    if isinstance(laid, list):
        return [_at(each, place) for each in laid]
    if not isinstance(laid, dict):
        return laid
    if "by" in laid:
        return laid["of"][place[laid["by"]]]
    if "first" in laid:
        return _at(laid["list"], place)[: _at(laid["first"], place)]
    return {key: _at(value, place) for key, value in laid.items()}


def kernels_of(recipe: Recipe) -> list[str]:
    """All kernels that a recipe launches."""
    plans = (plan_of(recipe, n, block) for n in recipe["sizes"] for block in recipe["blocks"])
    return sorted({step["kernel"] for plan in plans for step in plan["steps"] if "kernel" in step})
