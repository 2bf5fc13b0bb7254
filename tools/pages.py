"""Two builds of the guide, page by page: what their text says, and which of their files differ.

usage: python -m tools.pages OLD NEW PAGE

Writes an HTML page with the text that differs and links to both versions, and says how many do.
"""

from __future__ import annotations

import difflib
import html
import os
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from common.files import write_whole

CSS = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: auto; padding: 1rem; }
pre { white-space: pre-wrap; background: #8881; padding: .5rem; }
:root { color-scheme: light dark; }
del { color: light-dark(#a00, #f99); text-decoration: none; }
ins { color: light-dark(#060, #9f9); text-decoration: none; }
"""


def text(page: Path) -> list[str]:
    """A page's words, a line each, with what its pictures say; none if it is not there."""
    if not page.exists():
        return []
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for hidden in soup(["script", "style", "template"]):
        hidden.decompose()
    for picture in soup("img"):
        picture.replace_with(f"\n[{picture.get('alt') or 'a picture'}]\n")
    return [" ".join(line.split()) for line in soup.get_text().splitlines() if line.strip()]


def differences(old: Path, new: Path) -> tuple[dict[str, list[str]], list[str]]:
    """The pages whose text differs, with how, and all other files that do: by their bytes."""
    names = sorted({str(file.relative_to(guide)) for guide in (old, new)
                    for file in guide.rglob("*") if file.is_file()})  # fmt: skip
    pages, files = {}, []
    for name in names:
        before, after = old / name, new / name
        if before.exists() and after.exists() and before.read_bytes() == after.read_bytes():
            continue
        said = []
        if name.endswith(".html"):
            said = [*difflib.unified_diff(text(before), text(after), n=1, lineterm="")][2:]
        if said:
            pages[name] = said
        else:
            files.append(name)
    return pages, files


def report(old: Path, new: Path, page: Path) -> str:
    pages, files = differences(old, new)

    def link(guide: Path, name: str, label: str) -> str:
        where = os.path.relpath(guide / name, page.parent)
        return f'<a href="{html.escape(where)}">{label}</a>' if (guide / name).exists() else ""

    def marked(line: str) -> str:
        tag = {"-": "del", "+": "ins"}.get(line[:1], "span")
        return f"<{tag}>{html.escape(line)}</{tag}>"

    body = []
    for name, said in pages.items():
        body.append(f"<h2>{html.escape(name)}</h2>")
        body.append(f"<p>{link(old, name, 'before')} {link(new, name, 'after')}</p>")
        body.append("<pre>" + "\n".join(map(marked, said)) + "</pre>")
    alike = "".join(f"<li>{link(old, one, 'before')} {link(new, one, 'after')} "
                    f"{html.escape(one)}</li>" for one in files)  # fmt: skip
    title = f"{len(pages)} pages differ in their text, and {len(files)} other files differ"
    write_whole(page, f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
                "<meta name=viewport content='width=device-width'>"
                f"<style>{CSS}</style><h1>{title}</h1>{''.join(body)}"
                f"<h2>Other files</h2><ul>{alike}</ul></html>\n")  # fmt: skip
    return title


if __name__ == "__main__":
    old, new, page = map(Path, sys.argv[1:])
    print(f"{report(old, new, page)}: {page}")
