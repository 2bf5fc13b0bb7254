"""The command line of tools/update."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.files import write_whole
from tools.terminal import Parser, complain
from tools.updating import ROOT, Refused
from tools.updating.pins import lists, planned

DESCRIPTION = """\
Tries newer versions of the Python packages that tools/requirements*.txt pin. It asks the package
index what is newer, builds the guide with the old versions and with the new ones, and puts the
pages that differ side by side: their text, and pictures of them. Look at that page, then accept or
refuse.

All of it happens in a folder beside the checkout, named like it with `.update` at the end. The
checkout stays as it is until you accept. What you have not committed is not in the trial. Stopped
half-way, the same command goes on where it was. A package keeps its version where its comment in
the list begins with `held:`."""

EPILOG = """\
Exit status: 0 done, or nothing is newer; 1 the index, pip or a build refused, with the reason; 2 a
wrong option; 77 what it needs isn't there; 130 stopped by Ctrl-C."""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = _options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = root.with_name(f"{root.name}.update")
    try:
        if options.accept or options.refuse:
            if not folder.is_dir():
                raise Refused(f"there is no trial: {folder} is not there")
            with _alone(folder):
                if options.accept:
                    _accept(root, folder)
                _remove(folder)
        else:
            commit = _checked(root)
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise Refused(f"{folder} can't be made ({error.strerror})") from None
            with _alone(folder):
                _try(root, folder, commit, options.only)
    except Refused as refused:
        complain("tools/update", str(refused))
        return refused.status
    except OSError as error:
        complain("tools/update", f"{error.filename}: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        complain("tools/update", "stopped; the same command goes on from here", before="\n")
        return 130
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="tools/update",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument(
        "--only", metavar="NAME", help="try this package alone, with what it requires"
    )
    one_of.add_argument(
        "--accept", action="store_true", help="write the new versions into the checkout's lists"
    )
    one_of.add_argument("--refuse", action="store_true", help="remove the trial")
    return parser.parse_args(arguments)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """The trial to itself: two would build in one place."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not folder.exists() or os.fstat(handle).st_ino != folder.stat().st_ino:
            raise BlockingIOError  # another has just removed it
        yield
    except BlockingIOError:
        raise Refused(f"another tools/update is at work in {folder}") from None
    finally:
        os.close(handle)


def _checked(root: Path) -> str:
    """The commit to try, once all that a trial needs is there."""
    git = ["git", "-C", str(root)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        raise Refused(f"{root} isn't a git checkout, and a trial is built in a clone of one", 77)
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", "tools/requirements*.txt"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    if changed:
        raise Refused(
            f"{changed.split()[-1]} has changes that are not committed: commit them first"
        )
    python = root / ".venv/bin/python"
    asked = [
        str(python),
        "-B",
        *(str(root / "tools" / name) for name in ("packages.py", *lists(root))),
    ]
    lacking = subprocess.run(asked, capture_output=True, text=True, check=False)
    if lacking.returncode or lacking.stdout:
        raise Refused("the pinned packages aren't all installed: run tools/setup test first", 77)
    return head.stdout.strip()


def _try(root: Path, folder: Path, commit: str, only: str | None) -> None:
    file = folder / "plan.json"
    this = {"commit": commit, "only": only}
    if file.exists():
        plan = json.loads(file.read_text(encoding="utf-8"))
        if {key: plan[key] for key in this} != this:
            was = f"of {plan['only'] or 'all packages'} at commit {plan['commit'][:7]}"
            raise Refused(f"there is a trial {was}: accept it, or remove it with --refuse")
        print(f"going on with the trial in {folder}")
    else:
        print("asking the package index what is newer ...", flush=True)
        made = planned(root / ".venv/bin/python", root, only)
        plan = {**this, "old": lists(root), "new": made.new, "rows": made.rows}
        if made.rows:
            write_whole(file, json.dumps(plan))
    if not plan["rows"]:
        print("Nothing newer that the lists allow.")
        _remove(folder)
        return
    columns = [max(len(row[k]) for row in plan["rows"]) for k in range(4)]
    for row in plan["rows"]:
        cells = (cell.ljust(width) for cell, width in zip(row, columns, strict=True))
        print(" ", "  ".join(cells).rstrip())
    if (folder / "index.html").exists():
        print(f"old against new: {folder / 'index.html'}")
        return
    book = folder / "book"
    if not (folder / "old").exists():
        _clone(root, book, commit)
        _guide(root, book, "old", "with the old versions:")
        (book / "build/guide").rename(folder / "old")
    if not (folder / "new").exists():
        _raise_pins(book, plan["new"])
        _run(root, book, ["tools/setup", "test"], "the new versions can't be installed", "Set-up:")
        _guide(root, book, "new", "with the new versions:")
        (book / "build/guide").rename(folder / "new")
    from tools.updating.pages import compared  # brings much along

    begin = time.monotonic()

    def said(at: int, of: int, name: str) -> None:
        left = (time.monotonic() - begin) / (at - 1) * (of - at + 1) if at > 1 else 0
        rest = f", about {left:.0f} s left" if left else ""
        print(f"  page {at} of {of}: {name}{rest}", flush=True)

    count, changes, unseen = compared(folder / "old", folder / "new", folder / "pictures", said)
    _write_page(folder, plan, count=count, changes=changes, unseen=unseen)
    if unseen:
        print(f"no pictures: the browser said: {unseen}")
    seen = sum(change.seen for change in changes)
    alike = len(changes) - seen
    rest = f", {alike} in their markup alone" if alike else ""
    print(f"{seen} of {count} pages differ{rest}: {folder / 'index.html'}")
    print("Look at it, then: tools/update --accept, or tools/update --refuse")


def _clone(root: Path, book: Path, commit: str) -> None:
    """A clone with the checkout's own packages. It borrows the commits."""
    if not (book / ".venv").is_symlink():
        shutil.rmtree(book, ignore_errors=True)
        subprocess.run(
            ["git", "clone", "--quiet", "--shared", "--no-checkout", root, book], check=True
        )
        subprocess.run(["git", "-C", book, "checkout", "--quiet", "--detach", commit], check=True)
        (book / ".venv").symlink_to(root / ".venv")


def _raise_pins(book: Path, new: dict[str, str]) -> None:
    """The new lists, an environment still to be made, and nothing drawn or read before."""
    if (book / ".venv").is_symlink():
        (book / ".venv").unlink()
        for stamp in (book / "build/tools/docs").glob("*.stamp"):
            stamp.unlink()
        for made in ("build/guide", "build/figures", "build/tools/docs/doctrees"):
            shutil.rmtree(book / made, ignore_errors=True)
    for name, text in new.items():
        write_whole(book / "tools" / name, text)


def _guide(root: Path, book: Path, which: str, title: str) -> None:
    why = f"the guide doesn't build with the {which} versions"
    if which == "new":
        why += (
            "; --refuse this trial, then hold a package by `# held: WHY` after its pin and commit"
            " that, or try one package alone with --only NAME"
        )
    _run(root, book, ["tools/guide"], why, f"The guide {title}")
    if not (book / "build/guide/index.html").exists():
        raise Refused(f"{book}/tools/guide left no build/guide/index.html")


def _run(root: Path, book: Path, command: list[str], why: str, title: str) -> None:
    """One of the house's tools in the clone. What it prints is ours to show."""
    print(title, flush=True)
    # Ctrl-C comes to us alone, and is passed on once.
    tool = subprocess.Popen(command, cwd=book, start_new_session=True)
    try:
        status = tool.wait()
    except KeyboardInterrupt:
        tool.send_signal(signal.SIGINT)
        tool.wait()
        raise
    if status:
        raise Refused(why)


def _write_page(folder: Path, plan: dict[str, Any], **shown: Any) -> None:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from figures.kit import style
    from tools.updating.pages import SHOWN, WIDTH

    here = Path(__file__).resolve().parent
    templates = Environment(
        loader=FileSystemLoader(here),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = (here.parent / "comparing/page.css").read_text(encoding="utf-8")
    html = templates.get_template("page.html.jinja").render(
        css=css, light=style.LIGHT, dark=style.DARK, width=WIDTH, shown=SHOWN, **plan, **shown
    )
    write_whole(folder / "index.html", html)


def _accept(root: Path, folder: Path) -> None:
    if not (folder / "index.html").exists():
        raise Refused("the trial has not come to its end: run tools/update again")
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    if lists(root) != plan["old"]:
        raise Refused("the lists have changed since the trial began: --refuse it and try again")
    try:
        for name, text in plan["new"].items():
            write_whole(root / "tools" / name, text)
    except OSError as error:
        for name in plan["new"]:  # all of them or none
            if lists(root)[name] != plan["old"][name]:
                write_whole(root / "tools" / name, plan["old"][name])
        raise Refused(f"the lists can't be written ({error.strerror})") from None
    print("The lists have the new versions. Now: tools/setup test, tools/test, and commit.")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)
