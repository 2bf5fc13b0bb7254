"""A small made-up book, built through the real extension."""

from __future__ import annotations

import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, expect, sync_playwright
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "_ext"))

from docs.tests import fake
from tools.browser import launched

GMEM, SMEM = "chapter01_gmem", "chapter02_smem"

KERNELS = {
    GMEM: """\
        #pragma once
        namespace chapter01 {

        // begin gmem-loop
        __global__ void gmem(int* data, int* partial) {
          partial[blockIdx.x] = data[0];
        }
        // end gmem-loop

        }  // namespace chapter01
        """,
    SMEM: """\
        #pragma once
        namespace chapter02 {

        // begin smem-loop
        __global__ void smem(const int* in, int* partial) {
          partial[blockIdx.x] = in[0];  // a comment
        }
        // end smem-loop

        }  // namespace chapter02
        """,
}

MAIN = """\
    int main() {
      chapter.add<book::Sum>({
          .name = "gmem",
          .launch = [](const Launch& l) { gmem<<<l.grid, l.block>>>(l.in, ")"); },
      });
      // begin run-smem
      chapter.add(sum, {.name = "smem"});
      // end run-smem
    }
    """


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")


@dataclass
class Built:
    """What a build left behind."""

    html: dict[str, str]
    warnings: list[str]
    read: list[str]

    def page(self, name: str = "index") -> BeautifulSoup:
        return BeautifulSoup(self.html[name], "html.parser")

    def text(self, name: str = "index") -> str:
        """The page's words, all white space (also the no-break kinds) as single spaces."""
        body = self.page(name).find("div", {"class": "body"}) or self.page(name)
        for proof in body.select(".claim-proof"):  # shown where the reader points
            proof.decompose()
        return re.sub(r"\s+", " ", body.get_text())


@dataclass
class Book:
    """A repository in a temporary folder, and how to build its guide."""

    root: Path
    pages: dict[str, str] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)

    @property
    def figures(self) -> Path:
        return self.root / "build" / "figures"

    def reference(self) -> fake.FakeSet:
        return fake.FakeSet(self.root, "nvidia-h200", fake.REFERENCE_DEVICE)

    def second(self) -> fake.FakeSet:
        return fake.FakeSet(self.root, "nvidia-h100", fake.SECOND_DEVICE)

    def local(self) -> fake.FakeSet:
        return fake.FakeSet(self.root, "local", fake.LOCAL_DEVICE)

    def record(self) -> None:
        """The reference set that most tests read: smem is 1.25 times as fast as gmem."""
        one = self.reference()
        one.time(GMEM, "gmem", 100.0, region="gmem-loop")
        one.time(SMEM, "gmem", 100.0, region="gmem-loop", source=GMEM)
        one.time(SMEM, "smem", 80.0, region="smem-loop")
        one.time(SMEM, "smem", 1300.0, region="smem-loop", n=2**28)
        one.time(SMEM, "chase", 650.0, params={"hops": 1000})
        one.count(SMEM, "gmem", global_load_sectors=4194304, dram_read_bytes=67108864)
        more = {"dram_read_bytes": 67108864, "stall_long_scoreboard": 12.34}
        one.count(SMEM, "smem", global_load_sectors=2097152, **more)
        one.find(SMEM, "smem", "memcheck", findings=0)
        one.find(SMEM, "smem_classic", "memcheck", findings=0, right=False)
        one.find(SMEM, "smem_classic", "racecheck", "Race at <here>", findings=1037)
        one.find(SMEM, "smem_classic", "synccheck", "Race at <here>", findings=1037)
        one.write()
        fake.draw(self.figures, "ladder")

    def build(self, **pages: str) -> Built:
        """Builds the pages given before and now; only what changed is read again."""
        self.pages.update(pages)
        source = self.root / "docs"
        write(source / "conf.py", "extensions = ['ladder']\nhtml_theme = 'basic'\n")
        for name, text in self.pages.items():
            path = source / f"{name.replace('__', '/')}.rst"
            if not path.exists() or path.read_text(encoding="utf-8") != textwrap.dedent(text):
                write(path, text)
        warnings = io.StringIO()
        read: list[str] = []
        settings = {
            "ladder_root": str(self.root),
            "ladder_figures": str(self.figures),
            "ladder_runs": str(self.root / "build" / "runs"),
            **self.overrides,
        }
        with patch_docutils(source), docutils_namespace():
            app = Sphinx(
                source,
                source,
                self.root / "out",
                self.root / "doctrees",
                "html",
                confoverrides=settings,
                status=None,
                warning=warnings,
            )
            app.connect("source-read", lambda _app, page, _text: read.append(page))
            app.build()
        html = {
            page: (self.root / "out" / f"{page}.html").read_text(encoding="utf-8")
            for page in app.env.found_docs
        }
        said = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue()).splitlines()
        return Built(html, [line for line in said if line], sorted(read))


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """Sources and no recording."""
    for chapter, text in KERNELS.items():
        write(tmp_path / "chapters" / chapter / "kernels.cuh", text)
    write(tmp_path / "chapters" / SMEM / "main.cu", MAIN)
    return Book(tmp_path)


@pytest.fixture
def recorded_book(book: Book) -> Book:
    book.record()
    return book


@pytest.fixture
def render(recorded_book: Book) -> Callable[[str], Built]:
    """Builds one page over the recorded book and wants it without a warning."""

    def build(text: str) -> Built:
        title = "Page\n====\n\n"
        built = recorded_book.build(index=title + textwrap.dedent(text))
        assert built.warnings == []
        return built

    return build


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for a file's tests."""
    with sync_playwright() as playwright:
        chromium = launched(playwright)
        expect.set_options(timeout=30_000)  # a busy machine takes longer than five seconds
        yield chromium
        chromium.close()
