"""The page, by its template: one file, which fetches nothing and runs nothing."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from figures.kit import style
from tools.comparing.content import Content

_HERE = Path(__file__).resolve().parent


def html(content: Content) -> str:
    """Everything escaped: names and messages in a recording are other people's."""
    templates = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = (_HERE / "page.css").read_text(encoding="utf-8")
    return templates.get_template("page.html.jinja").render(
        page=content, css=css, light=style.LIGHT, dark=style.DARK
    )
