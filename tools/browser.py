"""Chromium without a window, driven by Playwright: for what looks at rendered pages."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Error, Playwright

#: Debian's. The whole Chromium does the same, and takes a quarter more of the CPU's time for it.
NAME = "chromium-headless-shell"


def launched(playwright: Playwright) -> Browser:
    """Raises Playwright's Error where there is none."""
    found = shutil.which(NAME)
    if not found:
        raise Error(f"this machine lacks {NAME}: tools/setup test brings it")
    # No sandbox: containers that run as root have none. The pages are our own. No GPU: to do one's
    # work in software costs more than to do without.
    return playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
