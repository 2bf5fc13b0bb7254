"""What holds for every test of the book: its tier, whether it may be skipped, and its signals."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from tools import tiers

#: Why a test may be skipped: what set-up can't bring, and recordings that others have to make. Any
#: other skip is a failure: a test that isn't run looks like one that passed.
MAY_BE_SKIPPED = (
    r"unshare is not permitted here",
    r"only root can act as another user",
    r"the packages are elsewhere on this machine",
    r"no firefox-esr on this machine",  # a package of Debian's alone
    r"recorded with (CUDA|nvcc) [\d.]+[,;] .*",  # by a toolkit that makes other code
    r"measured on an earlier form, to be recorded again: .*",
    r".* not recorded (yet|with counters yet).*",
)


#: Files that take a minute of a core and more, the longest first: begun last, one would be alone.
FIRST = (
    "tools/tests/test_planted.py",
    "tools/tests/test_guide.py",
    "tools/judging/tests/test_puzzles.py",
    "tools/mutating/tests/test_mistakes.py",
    "docs/tests/test_browser.py",
    "docs/tests/test_editions.py",
    "common/records/tests/test_embedded_set.py",
    "tools/emulator/tests/test_corpus.py",
    "tools/emulator/tests/test_sanitized.py",
    "figures/tests/test_pictures.py",
    "chapters/chapter08_multi_pass/tests/test_take_home.py",
    "tools/tests/test_build.py",
    "docs/tests/test_run_here.py",
    "tools/emulator/tests/test_emulate.py",
    "chapters/tests/test_results.py",
    "tools/judging/tests/test_cheats.py",
    "tools/emulator/tests/test_page_device.py",
    "docs/tests/test_stills.py",
    "chapters/tests/test_embedded_checks.py",
    "chapters/tests/test_schedules.py",
    "docs/tests/test_device_plans.py",
    "common/records/tests/test_lies.py",
    "docs/tests/test_pages_open.py",
    "docs/tests/test_rendered.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tiers.TIERS, help="leave out tests of the tiers above it")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file above the tier that is asked for isn't even imported."""
    asked = config.getoption("--tier")
    if not asked or not collection_path.match("test_*.py"):
        return None
    return tiers.is_above(tiers.tier_of(collection_path), asked) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """tools/test hands files to its workers in this order (--no-loadscope-reorder)."""

    def place(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        return FIRST.index(file) if file in FIRST else len(FIRST)

    asked = config.getoption("--tier") or tiers.TIERS[-1]
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        tier = tiers.highest(mark.name for mark in item.iter_markers())
        (left_out if tiers.is_above(tier, asked) else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted(kept, key=place)


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def _skipped_for(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """The reason, where it is one that doesn't do."""
    if not report.skipped or hasattr(report, "wasxfail") or not isinstance(report.longrepr, tuple):
        return None
    reason = report.longrepr[2].removeprefix("Skipped: ")
    return None if any(re.fullmatch(one, reason) for one in MAY_BE_SKIPPED) else reason


def _failed(report: Report) -> Report:
    if reason := _skipped_for(report):
        report.outcome = "failed"
        report.longrepr = f"must not be skipped: {reason} (conftest.py says what may)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _failed((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _failed((yield))


def pytest_configure() -> None:
    """What ignored a signal would pass that on to all that the tests start, and end by it.

    A job in the background of a script ignores SIGINT, nohup SIGHUP. A handler is not passed on.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
