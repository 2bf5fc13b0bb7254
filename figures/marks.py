"""A mark for each picture, which changes with whatever its drawing depends on.

That is Matplotlib, the code that draws it and all that this code imports, and the values that the
function which draws it has hold of: what it took from the recorded runs.
"""

from __future__ import annotations

import ast
import enum
import hashlib
import marshal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import matplotlib
import numpy as np

from figures.kit.pictures import Picture

ROOT = Path(__file__).resolve().parent.parent


class Opaque(Exception):
    """A value that nothing can be said of."""


def mark(picture: Picture, make: Callable[..., Picture], data: Path) -> str:
    """Of a picture that *make* has made. Where it has hold of something opaque, such as all the
    recordings, every file in *data* stands for that."""
    digest = hashlib.sha256(matplotlib.__version__.encode())
    modules = {ROOT / "figures/kit/style.py"}
    try:
        for part in _parts(picture.draw, modules, set()):
            digest.update(part.encode())
            digest.update(b"\n")
    except Opaque:
        digest.update(_hash_of_all(data))
    _add(modules, make.func if isinstance(make, partial) else make)
    for path in sorted({used for module in modules for used in _code(module)}):
        digest.update(_hash_of(path))
    return digest.hexdigest()


def _parts(value: Any, modules: set[Path], within: set[int]) -> Iterator[str]:
    """A value in words; the files of the functions in it join *modules*."""
    if value is None or isinstance(value, bool | int | float | str | bytes | enum.Enum | range):
        yield repr(value)
        return
    if isinstance(value, type | BuiltinFunctionType | ModuleType | np.ufunc):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
        _add(modules, value)
        return
    if isinstance(value, dict | list | tuple):
        try:  # plain values at once; of this version, as later ones ask who else holds a value
            yield hashlib.sha256(marshal.dumps(value, 0)).hexdigest()
            return
        except ValueError:
            pass
    if id(value) in within:
        yield "itself"
        return
    within = within | {id(value)}
    yield type(value).__qualname__
    for part in _inner(value, modules):
        yield from _parts(part, modules, within)


def _inner(value: Any, modules: set[Path]) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield each
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, set | frozenset):
        yield sorted(value, key=repr)
    elif isinstance(value, np.ndarray | np.generic):
        yield value.tolist()
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, FunctionType):
        _add(modules, value)
        yield value.__qualname__
        yield value.__defaults__
        yield value.__kwdefaults__
        for cell in value.__closure__ or ():
            yield cell.cell_contents
    elif is_dataclass(value):
        for each in fields(value):
            yield getattr(value, each.name)
    else:
        raise Opaque(type(value).__qualname__)


def _add(modules: set[Path], thing: Any) -> None:
    file = getattr(sys.modules.get(getattr(thing, "__module__", "")), "__file__", None)
    if file and Path(file).is_relative_to(ROOT):
        modules.add(Path(file))


@cache
def _code(path: Path) -> frozenset[Path]:
    """A module of the book, and all of the book's that it imports."""
    found, following = {path}, [path]
    while following:
        for imported in _imported(following.pop()):
            if imported not in found:
                found.add(imported)
                following.append(imported)
    return frozenset(found)


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{each.name}" for each in node.names)
    bases = [ROOT / name.replace(".", "/") for name in sorted(names)]
    files = [each for base in bases for each in (base.with_suffix(".py"), base / "__init__.py")]
    return tuple(file for file in files if file.is_file())


@cache
def _hash_of(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _hash_of_all(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.*")):
        if path.is_file() and not any(part[0] == "." for part in path.relative_to(folder).parts):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()
