"""Debian's Firefox without a window, driven by the protocol that it speaks itself (Marionette)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr")
#: Seconds until it has begun, and until it answers.
BEGIN, ANSWER = 120, 300
#: Nothing of its own is fetched, and a port that is free is taken.
SETTINGS = """\
user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


class Firefox:
    """One session: messages are ``LENGTH:[0, NUMBER, COMMAND, PARAMETERS]`` and back."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER)
        self._answers = self._socket.makefile("rb")
        self._number = 0
        self._read()
        self._ask("WebDriver:NewSession", {"strictFileInteractability": False})
        milliseconds = {"script": 1000 * ANSWER, "pageLoad": 1000 * ANSWER}
        self._ask("WebDriver:SetTimeouts", milliseconds)

    def _read(self) -> Any:
        length = b""
        while (byte := self._answers.read(1)) != b":":
            assert byte, "Firefox has hung up"
            length += byte
        return json.loads(self._answers.read(int(length)))

    def _ask(self, command: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        asked = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(asked), asked))
        _kind, _number, error, result = self._read()
        assert error is None, error
        return result

    def open(self, address: str) -> None:
        self._ask("WebDriver:Navigate", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script of that page resolves with: the body of an async function."""
        body = (
            "const done = arguments[arguments.length - 1];"
            f"(async (...given) => {{ {script} }})(...[...arguments].slice(0, -1))"
            ".then(value => done({ value }), error => done({ error: String(error) }));"
        )
        parameters = {"script": body, "args": arguments, "sandbox": None}
        answer = self._ask("WebDriver:ExecuteAsyncScript", parameters)["value"]
        assert "error" not in answer, answer["error"]
        return answer.get("value")

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """It writes down where it listens."""
    written = profile / "MarionetteActivePort"
    until = time.monotonic() + BEGIN
    while time.monotonic() < until:
        assert process.poll() is None, f"Firefox ended with status {process.returncode}"
        if written.exists() and (text := written.read_text(encoding="utf-8")):
            return int(text)
        time.sleep(0.1)
    raise AssertionError(f"Firefox has not begun after {BEGIN} s")


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A browser with a new profile in that folder."""
    assert FIREFOX
    profile = folder / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(SETTINGS, encoding="utf-8")
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with (folder / "firefox.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, "HOME": str(folder)}
        )
        try:
            session = Firefox(_port(profile, process))
            try:
                yield session
            finally:
                session.close()
        finally:
            process.terminate()
            process.wait(timeout=30)
