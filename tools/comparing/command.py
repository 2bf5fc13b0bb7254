"""The command line of tools/compare."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from common.files import named_file, require_writable, write_whole
from common.records.naming import REFERENCE
from common.records.reading import DataError
from common.records.recordings import BrokenLocalSet, Recordings
from figures.cards import MOST_CARDS
from tools.comparing import ROOT, Refused
from tools.comparing.comparison_page import html
from tools.comparing.content import Content, content
from tools.comparing.opening import opened
from tools.terminal import Parser, complain

DESCRIPTION = f"""\
Puts recordings of several cards on one page: the climb of each, which of the book's claims
replicate and which don't, and how the hardware differs. The page is one file, which you can send.

Each RECORDING is a file that tools/measure --export wrote, a folder of recorded files, or the name
of a set of this book's: `local` is what tools/measure recorded here, `{REFERENCE}` the reference. A
single RECORDING is put beside the reference. A recording that is only half there is used as far as
it goes."""

EPILOG = """\
Exit status: 0 done; 1 a recording was refused, with the reason; 2 a wrong option, or a page that
can't be written; 77 the guide's packages aren't installed."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    asked = options.recordings if options.recordings[1:] else [*options.recordings, REFERENCE]
    file = options.output or ROOT / "build" / "compare" / f"{_file_name(asked)}.html"
    try:
        with _written(file):
            require_writable(file)  # before all the drawing
        made = compare(asked, book())
        page = html(made)
        with _written(file):
            write_whole(file, page)
    except (Refused, DataError) as error:
        complain("tools/compare", str(error))
        return error.status if isinstance(error, Refused) else 1
    print(f"The page: {file}")
    for line in made.summary:
        print(f"  {line}")
    return 0


@contextmanager
def _written(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(f"{file} can't be written ({error.strerror})", 2) from None


def book() -> Recordings:
    """The book's own recordings, as this checkout has them."""
    with warnings.catch_warnings():
        # The reader's own set is opened anew where it is asked for, and as far as it goes.
        warnings.simplefilter("ignore", BrokenLocalSet)
        recordings = Recordings(ROOT)
    if not recordings.reference.chapters:
        raise Refused(f"the book's own recording, figures/data/{REFERENCE}, is not there")
    return recordings


def compare(
    asked: Sequence[str], recordings: Recordings, guide: Sequence[Path] | None = None
) -> Content:
    """What there is to say of what was asked for, held against the book's own *recordings*, which
    then know it too; by the claims of the *guide*, or of its pages given."""
    with opened(asked, recordings) as found:
        for one in found:
            recordings.second[one.known.name] = one.known
        return content(found, recordings, guide)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="tools/compare",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "recordings", nargs="+", metavar="RECORDING", help=f"up to {MOST_CARDS} of them"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=named_file,
        metavar="FILE",
        help="the page (default: in build/compare/)",
    )
    options = parser.parse_args(arguments)
    if "" in options.recordings:
        parser.error("a RECORDING is empty: name a file, a folder or a set")
    if len(options.recordings) > MOST_CARDS:
        parser.error(f"{len(options.recordings)} recordings; a page shows up to {MOST_CARDS}")
    twice = {one for one in options.recordings if options.recordings.count(one) > 1}
    if twice:
        parser.error(f"{min(twice)}: given twice")
    if options.recordings == [REFERENCE]:
        parser.error(f"{REFERENCE}: the reference alone; say what to compare it with")
    return options


def _file_name(asked: Sequence[str]) -> str:
    return "-".join(Path(one).name.partition(".")[0] or "set" for one in asked)
