"""A header of common/ with all that it declares, each symbol once, in the header's order."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from . import inputs
from .book import Book, Lost, nearest
from .directive import LookupDirective

#: Breathe's directive for each kind of member that Doxygen tells of.
MEMBERS = {
    "define": "doxygendefine",
    "enum": "doxygenenum",
    "function": "doxygenfunction",
    "typedef": "doxygentypedef",
    "variable": "doxygenvariable",
}


class Header(LookupDirective):
    """``.. header:: timer.hpp``: what the file says of itself, then its symbols, by Breathe.

    Breathe's own directive for a file declares the namespace anew for each header, which Sphinx
    refuses; so the symbols are asked for one by one.
    """

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("HEADER")
        xml = Path(self.config.breathe_projects[self.config.breathe_default_project])
        inputs.note(self.env, sorted(xml.glob("*.xml")))
        files = {_name(one): one for one in _compounds(xml, "*_8hpp.xml")}
        if name not in files:
            raise Lost(f"Doxygen read no header '{name}'{nearest(name, files)}")
        namespaces = list(_compounds(xml, "namespace*.xml"))
        symbols = sorted(_symbols(files[name], namespaces, xml))
        lines = [line for _place, block in symbols for line in block]
        return self._parsed(_said(files[name])) + self._parsed(lines)

    def _parsed(self, lines: list[str]) -> list[nodes.Node]:
        holder = nodes.Element()
        source = self.get_source_info()[0]
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, holder)
        return list(holder.children)


def _compounds(xml: Path, pattern: str) -> Iterator[ElementTree.Element]:
    for path in sorted(xml.glob(pattern)):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        if compound is not None:
            yield compound


def _name(compound: ElementTree.Element) -> str:
    return compound.findtext("compoundname", "")


def _said(file: ElementTree.Element) -> list[str]:
    paragraphs = file.findall("briefdescription/para") + file.findall("detaileddescription/para")
    return [
        line for para in paragraphs for line in (" ".join("".join(para.itertext()).split()), "")
    ]


def _symbols(
    file: ElementTree.Element, namespaces: list[ElementTree.Element], xml: Path
) -> Iterator[tuple[int, list[str]]]:
    """Each symbol's line in the header, and the directive that shows it."""
    classes = {one.text or "": one.get("refid", "") for one in file.findall("innerclass")}
    for name, refid in classes.items():
        if name.rpartition("::")[0] in classes:
            continue  # shown with the class that it lies in
        directive = "doxygenstruct" if refid.startswith("struct") else "doxygenclass"
        (compound,) = _compounds(xml, f"{refid}.xml")
        yield (
            _line(compound),
            [f".. {directive}:: {name}", "   :members:", "   :undoc-members:", ""],
        )
    path = _path(file)
    for holder, scope in [(file, ""), *((one, _name(one) + "::") for one in namespaces)]:
        for member in holder.iterfind("sectiondef/memberdef"):
            kind = member.get("kind", "")
            if _path(member) != path or kind not in MEMBERS or not _is_documented(member):
                continue
            name = scope + member.findtext("name", "")
            if kind == "function":
                name += member.findtext("argsstring", "")
            yield _line(member), [f".. {MEMBERS[kind]}:: {name}", ""]


def _is_documented(member: ElementTree.Element) -> bool:
    return any(member.findall(f"{kind}description/para") for kind in ("brief", "detailed"))


def _path(element: ElementTree.Element) -> str:
    location = element.find("location")
    return location.get("file", "") if location is not None else ""


def _line(element: ElementTree.Element) -> int:
    location = element.find("location")
    return int(location.get("line", "0")) if location is not None else 0


def setup(app: Sphinx) -> None:
    app.add_directive("header", Header)
