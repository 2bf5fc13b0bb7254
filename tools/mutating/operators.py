"""The changes that are made to a kernel, each at one place of its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from tools.mutating.mutant import Mutant

COMPARISONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
}
ARITHMETIC = {
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("/",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("+=",),
    "/=": ("-=",),
    "^=": ("=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "|=": ("=",),
    "++": ("--",),
    "--": ("++",),
}
INDICES = {
    "threadIdx.x": ("(threadIdx.x + 1)", "blockIdx.x"),
    "threadIdx.y": ("(threadIdx.y + 1)", "threadIdx.x"),
    "blockIdx.x": ("(blockIdx.x + 1)", "threadIdx.x"),
    "blockIdx.y": ("(blockIdx.y + 1)", "blockIdx.x"),
    "blockDim.x": ("(blockDim.x + 1)", "gridDim.x"),
    "gridDim.x": ("(gridDim.x + 1)", "blockDim.x"),
}
SHUFFLES = {"__shfl_xor_sync": ("__shfl_up_sync", "__shfl_sync"), "__activemask": ("~0u ^ 0 *",)}
TYPES = {"long long": "int", "unsigned long long": "unsigned"}
BARRIERS = ("__syncthreads", "__syncwarp", "sync_first")


def mutants(file: str, source: bytes) -> list[Mutant]:
    """All changes of a source, in its order, each once."""
    # tree-sitter's grammar doesn't know __align__, and places must stay where they are.
    readable = re.sub(rb"__align__\(\d+\)", lambda m: b" " * len(m[0]), source)
    tree = Parser(Language(tree_sitter_cuda.language())).parse(readable)
    found: dict[tuple[int, int, str], Mutant] = {}
    for function, part in _device_parts(tree.root_node):
        for node in _walk(part):
            for operator, at, after in _changes(node):
                before = source[at.start_byte : at.end_byte].decode()
                if after != before:
                    found.setdefault(
                        (at.start_byte, at.end_byte, after),
                        Mutant(
                            file,
                            at.start_point.row + 1,
                            at.start_point.column + 1,
                            at.start_byte,
                            at.end_byte,
                            operator,
                            before,
                            after,
                            function,
                        ),
                    )
    return [found[key] for key in sorted(found)]


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def _device_parts(root: Node) -> Iterator[tuple[str, Node]]:
    """Bodies of functions that run on the device, and constants outside of functions."""
    for node in root.children:
        if node.type == "function_definition":
            body = node.child_by_field_name("body")
            head = _text(node)[: body.start_byte - node.start_byte] if body else ""
            if body is not None and re.search(r"__(global|device)__", head):
                yield _name(node), body
                # The initialisers of a constructor's members.
                for child in node.children:
                    if child.type == "field_initializer_list":
                        yield _name(node), child
        elif node.type in ("declaration", "field_declaration"):
            if "constexpr" in _text(node):
                yield "", node
        elif node.type not in ("comment", "preproc_include", "alias_declaration"):
            yield from _device_parts(node)


def _name(function: Node) -> str:
    at = function.child_by_field_name("declarator")
    while at is not None and at.type != "function_declarator":
        at = at.child_by_field_name("declarator") or next(
            (child for child in at.children if child.type == "function_declarator"), None
        )
    return _text(at.child_by_field_name("declarator")) if at is not None else ""


Change = tuple[str, Node, str]


def _changes(node: Node) -> Iterator[Change]:
    for kind in _KINDS.get(node.type, ()):
        yield from kind(node)


def _operator(node: Node) -> Iterator[Change]:
    sign = node.child_by_field_name("operator")
    if sign is None:
        return
    text = _text(sign)
    for other in COMPARISONS.get(text, ()):
        yield "comparison", sign, other
    for other in ARITHMETIC.get(text, ()):
        yield "arithmetic", sign, other
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if text in ("&&", "||"):
        yield "condition", sign, "||" if text == "&&" else "&&"
        yield "condition", node, _text(left)
        yield "condition", node, _text(right)


def _unary(node: Node) -> Iterator[Change]:
    sign, of = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    if sign is not None and of is not None and _text(sign) in ("!", "-"):
        yield ("condition" if _text(sign) == "!" else "arithmetic"), node, _text(of)


def _choice(node: Node) -> Iterator[Change]:
    for arm in ("consequence", "alternative"):
        yield "condition", node, f"({_text(node.child_by_field_name(arm))})"


def _if(node: Node) -> Iterator[Change]:
    condition = node.child_by_field_name("condition")
    if condition is None or _text(node).startswith("if constexpr"):
        return
    for value in ("true", "false"):
        yield "condition", condition, f"({value})"


def _number(node: Node) -> Iterator[Change]:
    text = _text(node)
    found = re.fullmatch(r"(0x[0-9a-fA-F']+|[0-9']+)([uUlL]*)", text)
    if found is None:
        return
    value, suffix = int(found[1].replace("'", ""), 0), found[2]
    if value == 0xFFFFFFFF:  # a mask of lanes, or of bits
        others = ["0xfffffffe" + suffix, "0x7fffffff" + suffix, "0x0000ffff" + suffix]
    else:
        others = [f"{other}{suffix}" for other in (value - 1, value + 1, 0) if other >= 0]
    for other in others:
        yield "constant", node, other


def _call(node: Node) -> Iterator[Change]:
    function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
    name = _text(function)
    if function is None:
        return
    if name == "__syncthreads":
        yield "barrier", function, "__syncwarp"
    elif name == "__threadfence":
        yield "fence", function, "__threadfence_block"
    elif name.startswith("atomic"):
        of_device = name.removesuffix("_system")
        yield "atomic", function, f"mutating::plain_{of_device.removeprefix('atomic')}"
        if name != of_device:
            yield "atomic", function, of_device
        yield "atomic", function, f"{of_device}_block"
    for other in SHUFFLES.get(name, ()):
        yield "shuffle", function, other
    if name in ("__shfl_xor_sync", "__reduce_add_sync") and arguments is not None:
        # The value itself, as if no other lane had one.
        values = [child for child in arguments.children if child.is_named]
        yield "shuffle", node, f"({_text(values[1])})"


def _built_in(node: Node) -> Iterator[Change]:
    for other in INDICES.get(_text(node), ()):
        yield "index", node, other


def _subscript(node: Node) -> Iterator[Change]:
    indices = node.child_by_field_name("indices")
    values = [child for child in indices.children if child.is_named] if indices else []
    if len(values) == 1 and not re.fullmatch(r"\d+", _text(values[0])):
        yield "index", values[0], f"{_text(values[0])} + 1"
        yield "index", values[0], f"{_text(values[0])} - 1"


def _statement(node: Node) -> Iterator[Change]:
    text = _text(node)
    called = re.match(r"([\w:]+)\(|cooperative_groups::", text)
    name = called[1] if called else ""
    if name in BARRIERS or ".sync()" in text:
        yield "barrier", node, ";"
        if name == "__syncthreads":
            yield "statement", node, "if (threadIdx.x % 32 == 31) return; __syncthreads();"
    elif name == "__threadfence":
        yield "fence", node, ";"
    elif text != ";":
        yield "statement", node, ";"


def _return(node: Node) -> Iterator[Change]:
    if _text(node) == "return;":
        yield "statement", node, ";"


def _declared(node: Node) -> Iterator[Change]:
    # 16 bits stand for 32: an index that wraps does so within reach of a test on a CPU.
    if re.match(r"(const )?std::size_t \w+ = ", _text(node)):
        kind = node.child_by_field_name("type")
        if kind is not None:
            yield "type", kind, "unsigned short"
    kind = node.child_by_field_name("type")
    if kind is not None and _text(kind) in TYPES:
        yield "type", kind, TYPES[_text(kind)]


def _cast(node: Node) -> Iterator[Change]:
    name = node.child_by_field_name("function")
    match = re.fullmatch(r"static_cast<(.*)>", _text(name))
    if name is not None and match and match[1] in TYPES:
        yield "type", name, f"static_cast<{TYPES[match[1]]}>"


_KINDS: dict[str, tuple[Callable[[Node], Iterator[Change]], ...]] = {
    "binary_expression": (_operator,),
    "assignment_expression": (_operator,),
    "update_expression": (_operator,),
    "unary_expression": (_unary,),
    "pointer_expression": (),
    "conditional_expression": (_choice,),
    "if_statement": (_if,),
    "number_literal": (_number,),
    "call_expression": (_call, _cast),
    "field_expression": (_built_in,),
    "subscript_expression": (_subscript,),
    "expression_statement": (_statement,),
    "return_statement": (_return,),
    "declaration": (_declared,),
}
