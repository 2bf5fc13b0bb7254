"""How the guide is made.

tools/guide does this for you. By hand, from the repository's root, in a Python environment with
the packages that tools/guide pins, and doxygen on PATH:

    mkdir -p build/docs/doxygen
    LADDER_DOXYGEN=build/docs/doxygen doxygen docs/Doxyfile
    python -m figures.draw --out build/figures
    LADDER_DOXYGEN=build/docs/doxygen LADDER_FIGURES=build/figures \\
        sphinx-build -n -W --keep-going -b html -d build/docs/doctrees docs build/guide

Settings, each by environment (relative paths count from the repository's root):

    LADDER_DOXYGEN   folder that Doxygen writes xml/ into        build/docs/doxygen
    LADDER_FIGURES   folder that figures.draw wrote into         build/figures
    LADDER_RUNS      folder with what this machine's programs counted   build/runs
    LADDER_STATIC    folder with device/, the kernels that pages run   build/static
    LADDER_URL       where the guide will be served, for link previews
    CUDACXX          the nvcc whose version the colophon gives   nvcc on PATH

A page is rebuilt when what it shows has changed: listings, recorded runs, figures, the extension.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

from ladder.playing import TOYS  # noqa: E402  (it lies in docs/_ext)


def _folder(variable: str, default: str) -> str:
    return str(ROOT / os.environ.get(variable, default))


project = "The Reduction Ladder"
author = "the authors of The Reduction Ladder"
project_copyright = f"2026, {author}. Text and figures CC BY 4.0, code MIT"
language = "en"
exclude_patterns = ["_ext", "_static", "tests", "_templates"]
templates_path = ["_templates"]
nitpicky = True

extensions = ["breathe", "sphinx_copybutton", "ladder"]

# ---------------------------------------------------------------- the book's own vocabulary

ladder_root = str(ROOT)
ladder_figures = _folder("LADDER_FIGURES", "build/figures")
ladder_runs = _folder("LADDER_RUNS", "build/runs")
ladder_programs = {"nvcc": os.environ["CUDACXX"]} if "CUDACXX" in os.environ else {}
gettext_compact = "book"

# ---------------------------------------------------------------- the API of common/

breathe_projects = {"book": str(Path(_folder("LADDER_DOXYGEN", "build/docs/doxygen")) / "xml")}
breathe_default_project = "book"
breathe_domain_by_extension = {"hpp": "cpp", "cuh": "cpp", "cu": "cpp"}
breathe_default_members = ("members",)
cpp_id_attributes = ["__global__", "__device__", "__host__", "__shared__"]

# What Breathe turns into references, and no page of this guide can define:
nitpick_ignore_regex = [
    # the standard library and the CUDA runtime are documented elsewhere;
    ("cpp:identifier", r"(std|nlohmann)(::.*)?"),
    ("cpp:identifier", r"(u?int(8|16|32|64)|size|ptrdiff)_t"),
    ("cpp:identifier", r"cuda[A-Z]\w*(_t)?|dim3|INT32_MIN"),
    # the namespace is one, and pages declare only what is in it.
    ("cpp:identifier", r"book"),
]

# ---------------------------------------------------------------- the page

html_title = "The Reduction Ladder"
html_theme = "furo"
# The kernels that the pages run, where the programs have been built.
html_static_path = ["_static", *filter(os.path.isdir, [_folder("LADDER_STATIC", "build/static")])]
html_css_files = ["ladder.css", "device.css"]
html_js_files = [
    (f"ladder{name}.js", {"defer": "defer"})
    for name in ("", "-play", "-run", *(f"-{toy}" for toy in TOYS))
]
html_copy_source = False
html_baseurl = os.environ.get("LADDER_URL", "")
html_context = {"author": author, "ladder_url": html_baseurl and html_baseurl.rstrip("/") + "/"}
html_extra_path = [str(path) for path in [Path(ladder_figures) / "preview.png"] if path.exists()]
html_show_sphinx = False
# The summary under a search result is fetched, which browsers refuse for pages opened as files.
html_show_search_summary = False
html_theme_options = {
    "navigation_with_keys": False,
    "top_of_page_buttons": [],
}
highlight_language = "none"
# Copy what one would type: no line numbers, no prompt, no output.
copybutton_exclude = ".linenos, .gp, .go, .heat"


def _level_of_captions(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    # Sphinx gives the sidebar's captions the role of a heading without the level that goes with it.
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def setup(app: Sphinx) -> None:
    # After the theme, which renders the tree.
    app.connect("html-page-context", _level_of_captions, priority=900)
