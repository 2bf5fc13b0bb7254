"""The device that a page loads to tell who is in a sum: it is of the sources in the tree, does what
the page's other device does, and says what tools/emulate --check sum says, with elements to draw.

Needs nvcc and node, and no GPU.
"""

from __future__ import annotations

import dataclasses
import gzip
import os
from pathlib import Path

import pytest

from tools.emulator.page import artefact
from tools.emulator.tests.page.requests import CASES, IN, OUT, Buffer, Case, Launch, Set, u64, write
from tools.emulator.tests.test_page_device import (
    DEVICE,
    Json,
    Kernels,
    in_node,
    kernels,
    natively,
)

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

__all__ = ["kernels"]  # a fixture
SUMS = DEVICE / "device_sums.js"
#: Compressed; a reader's browser loads it when the reader asks.
MOST_COMPRESSED = 400_000

#: Each with what is said of it, and its elements.
ASKED: dict[str, tuple[Case, str, Json]] = {
    "right": (
        Case((IN, Buffer(4 * 8)), (Launch("tree", 8, 128, (0, 1, u64(1024))),), (1,)),
        "each of 1024 elements is in them once, for all data",
        {"elements": 1024, "proved": True, "others": []},
    ),
    "a block too few": (
        Case((IN, Buffer(4 * 7)), (Launch("tree", 7, 128, (0, 1, u64(1024))),), (1,)),
        "elements 896 … 1023 are missing",
        {"elements": 1024, "proved": False, "others": [[896, 128, 1, 0]]},
    ),
    "an output that was set": (
        Case((IN, OUT), (Set(1, 0, 4096, 0xFF), Launch("tree", 8, 128, (0, 1, u64(1024)))), (1,)),
        "each of 1024 elements is in them once, for all data",
        {"elements": 1024, "proved": True, "others": []},
    ),
}


@pytest.mark.release
def test_it_is_of_the_sources_in_the_tree() -> None:
    assert artefact.complaint(SUMS) == ""
    name = SUMS.read_text(encoding="utf-8").splitlines()[1].partition(" = ")[0]
    assert name == "self.LADDER_DEVICE_SUMS"


def test_a_name_that_is_no_device_s_is_told(tmp_path: Path) -> None:
    other = tmp_path / "device_sums.js"
    other.write_text(SUMS.read_text(encoding="utf-8").replace("self.LADDER_DEVICE", "self.A"))
    assert "it names no device" in artefact.complaint(other)


def test_it_is_small_enough_to_be_waited_for() -> None:
    def is_small(script: bytes) -> bool:
        return len(gzip.compress(script, 9)) <= MOST_COMPRESSED

    assert is_small(SUMS.read_bytes())
    assert not is_small(os.urandom(MOST_COMPRESSED))


def test_it_does_what_the_other_device_does(kernels: Kernels, tmp_path: Path) -> None:
    requests = write(list(CASES.values()), kernels.ptx, tmp_path / "requests.json")
    usual, with_sums = (in_node(DEVICE / name, requests) for name in ("device.js", SUMS.name))
    for result in (*usual, *with_sums):
        del result["progress"]  # which goes by the clock
    assert dict(zip(CASES, with_sums, strict=True)) == dict(zip(CASES, usual, strict=True))


def test_it_says_what_the_command_says(kernels: Kernels, tmp_path: Path) -> None:
    cases = {name: dataclasses.replace(case, checks="sum") for name, (case, _, _) in ASKED.items()}
    requests = write(list(cases.values()), kernels.ptx, tmp_path / "requests.json")
    for (name, case), result in zip(cases.items(), in_node(SUMS, requests), strict=True):
        _, said, elements = ASKED[name]
        (folder := tmp_path / name.replace(" ", "_")).mkdir()
        (native,) = natively(kernels, case, folder).findings
        (found,) = result["findings"]
        assert found["what"].endswith(said), name
        assert found["sum"] == elements, name
        assert {key: found[key] for key in native if key != "fault"} == {
            key: value for key, value in native.items() if key != "fault"
        }
        assert found["fault"] == native.get("fault", True) == (not elements["proved"])


def test_the_device_of_every_page_refuses_it_in_a_sentence(
    kernels: Kernels, tmp_path: Path
) -> None:
    case = dataclasses.replace(CASES["tree"], checks="sum")
    requests = write([case], kernels.ptx, tmp_path / "requests.json")
    (refused,) = in_node(DEVICE / "device.js", requests)
    said = "--check sum: there are race, memory, init, sync and all, with commas between"
    assert refused["error"] == said
