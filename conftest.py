"""What holds for every test of the book: which may be skipped, and the signals they start with."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from typing import TypeVar

import pytest

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
    "tools/tests/test_guide.py",
    "chapters/tests/test_schedules.py",
    "tools/judging/tests/test_puzzles.py",
    "tools/mutating/tests/test_mistakes.py",
    "docs/tests/test_browser.py",
    "docs/tests/test_editions.py",
    "figures/tests/test_embedded_set.py",
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
    "docs/tests/test_device_plans.py",
    "figures/tests/test_lies.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """tools/test hands files to its workers in this order (--no-loadscope-reorder)."""

    def place(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        return FIRST.index(file) if file in FIRST else len(FIRST)

    items.sort(key=place)


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
