"""What a warp issues on its way around the loop of a tree, told from the recorded machine code."""

from __future__ import annotations

import re

from common.records.machine_code import Code, Instruction, NoSuchCode, loop

ADD, SHARED, BARRIER, REST = "add", "shared", "barrier", "rest"
_OPERATIONS = {"LDS": SHARED, "STS": SHARED, "BAR": BARRIER}


def kinds(code: Code) -> list[str]:
    """The instructions of the loop in their order, each by what it is for.

    The addition is the one that makes what the loop stores. The loop has to be straight: every warp
    goes through all of it, whether it adds or not.
    """
    body = loop(code)
    if any(each.target is not None for each in body[:-1]):
        raise NoSuchCode("the loop has branches within")
    addition = _addition(body)
    return [ADD if each is addition else _OPERATIONS.get(each.operation, REST) for each in body]


def _addition(body: Code) -> Instruction:
    stores = [place for place, each in enumerate(body) if each.operation == "STS"]
    if len(stores) != 1:
        raise NoSuchCode(f"the loop stores {len(stores)} times")
    stored = re.findall(r"\bR\d+\b", body[stores[0]].text)[-1]
    makes = re.compile(rf"(?:@!?P\d )?\S+ {stored},")
    return [each for each in body[: stores[0]] if makes.match(each.text)][-1]
