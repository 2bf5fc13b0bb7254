"""The plan of a course: what each chapter is for, and how long it takes."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from .gathering import FORMS, Gather, link, title
from .strings import _
from .table import Column, table


class CoursePlan(Gather):
    """``.. course-plan::``: a row per chapter, of its page's ``:goal:`` and ``:hours:`` fields.

    The measuring chapter comes last, as in the book.
    """

    form = "plan"


def _plan(app: Sphinx, page: str, argument: str) -> list[nodes.Node]:
    chapters = [one for one in app.env.found_docs if re.match(r"chapters/chapter\d", one)]
    rows, total = [], 0.0
    for chapter in sorted(chapters, key=lambda one: ("chapter00" in one, one)):
        said = app.env.metadata[chapter]
        hours = float(said.get("hours", 0))
        total += hours
        to = link(app, page, chapter, title(app.env, chapter))
        rows.append([to, said.get("goal", ""), f"{hours:g}"])
    rows.append([_("All chapters"), "", f"{total:g}"])
    columns = [Column(_("chapter")), Column(_("after it you can")), Column(_("hours"), True)]
    return [table(columns, rows, "course-plan")]


def setup(app: Sphinx) -> None:
    FORMS["plan"] = _plan
    app.add_directive("course-plan", CoursePlan)
