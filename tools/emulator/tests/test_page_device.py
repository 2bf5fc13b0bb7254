"""The device in a page: built from its sources it is what the tree has, and it does what the device
of the CUDA runtime does.

Each case of page/requests.py is told to a program and, as a request, to the device in node and in a
browser: counters, bytes, what a kernel printed, faults, warnings, findings and traces are equal.
"""

from __future__ import annotations

import base64
import csv
import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tools.browser import launched
from tools.emulator.page import artefact
from tools.emulator.tests.page.requests import CASES, Case, write
from tools.tests.built import BUILD, ROOT, nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

HERE = Path(__file__).resolve().parent
PAGE = ROOT / "tools/emulator/page"
DEVICE = ROOT / "docs/_static/device"
EMULATE = ROOT / "tools/emulate"
#: What a reader's browser may have to load, before and after compression.
MOST_BYTES, MOST_COMPRESSED = 1_200_000, 350_000

Json = dict[str, Any]


# ------------------------------------------------------------------ what the tree has


@pytest.mark.release
def test_the_device_in_the_tree_is_of_the_sources_in_the_tree() -> None:
    assert artefact.complaint(DEVICE / "device.js") == ""


@pytest.mark.parametrize(
    "changed", ["src/isa/carry.cpp", "include/emu/launch.hpp", "page/worker.js", "page/limits.hpp"]
)
def test_a_changed_source_is_found(tmp_path: Path, changed: str) -> None:
    copy = tmp_path / "emulator"
    for path in artefact.sources():
        target = copy / path.relative_to(artefact.EMULATOR)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    before = artefact.digest(copy)
    with (copy / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert artefact.digest(copy) != before
    why = artefact.complaint(DEVICE / "device.js", copy)
    assert why.endswith(f"is of other sources; run {artefact.COMMAND}")
    assert (ROOT / artefact.COMMAND).stat().st_mode & 0o111


def test_a_device_that_is_damaged_or_missing_is_found(tmp_path: Path) -> None:
    damaged = tmp_path / "device.js"
    assert artefact.COMMAND in artefact.complaint(damaged)
    damaged.write_text((DEVICE / "device.js").read_text(encoding="utf-8")[:1000])
    assert artefact.COMMAND in artefact.complaint(damaged)


def test_the_guide_asks_for_the_check_whenever_a_source_has_changed() -> None:
    def ninja(*arguments: str) -> list[str]:
        command = ["ninja", "-C", BUILD, "-t", *arguments, "docs/device.stamp"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert "artefact.py check" in ninja("commands")[-1]
    read = {BUILD / line for line in ninja("inputs")}
    assert {path.resolve() for path in artefact.sources()} <= read
    assert {DEVICE / "device.js", DEVICE / "device_sums.js"} <= read
    asks = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "query", "docs/guide.stamp"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "docs/device.stamp" in asks.stdout


def test_a_build_names_an_older_device_and_fails_with_a_damaged_one(tmp_path: Path) -> None:
    older, damaged = tmp_path / "older.js", tmp_path / "damaged.js"
    parts = artefact.unpack((DEVICE / "device.js").read_text(encoding="utf-8"))
    older.write_text(f"self.LADDER_DEVICE = {json.dumps({**parts, 'sources': 'others'})};")
    damaged.write_text(older.read_text()[:1000])
    for scripts, status in (([older], 0), ([damaged], 1), ([older, damaged], 1)):
        done = subprocess.run(
            [PAGE / "artefact.py", "check", *scripts], capture_output=True, text=True, check=False
        )
        assert done.returncode == status
        assert done.stderr.count(artefact.COMMAND) == len(scripts)


def too_large(script: bytes) -> str:
    compressed = len(gzip.compress(script, 9))
    if len(script) > MOST_BYTES or compressed > MOST_COMPRESSED:
        return f"{len(script)} bytes, {compressed} compressed"
    return ""


def test_the_device_is_small_enough_for_a_page() -> None:
    script = (DEVICE / "device.js").read_bytes()
    assert too_large(script) == ""
    assert too_large(b" " * (MOST_BYTES + 1)) and too_large(os.urandom(MOST_COMPRESSED))


# ------------------------------------------------------------------ builds and runs


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The device, from its sources. What an earlier run has compiled serves this one."""
    assert shutil.which("em++"), "emscripten is missing: tools/setup test brings it"
    out = tmp_path_factory.mktemp("built") / "device.js"
    done = subprocess.run(
        [PAGE / "build", out], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return out


@dataclass(frozen=True)
class Kernels:
    program: Path
    ptx: str


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    folder = tmp_path_factory.mktemp("kernels")
    source = HERE / "page/kernels.cu"
    common = [nvcc(), "-std=c++20", "-lineinfo", "-cudart", "shared"]
    linked = [*common, "-arch=compute_90", "-code=compute_90", "-o", folder / "kernels", source]
    as_text = [*common, "-arch=compute_90", "-ptx", "-o", folder / "kernels.ptx", source]
    for command in (linked, as_text):
        subprocess.run(command, check=True, capture_output=True, timeout=LIMIT)
    return Kernels(folder / "kernels", (folder / "kernels.ptx").read_text())


def in_node(device: Path, requests: Path) -> list[Json]:
    done = subprocess.run(
        ["node", HERE / "page/run.js", device, requests],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results: list[Json] = json.loads(done.stdout)
    return results


@pytest.fixture(
    scope="module", params=["the tree's", pytest.param("built", marks=pytest.mark.release)]
)
def results(
    request: pytest.FixtureRequest, kernels: Kernels, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Json]:
    """Of the device in the tree, and of one that is built from the sources, by each case's name."""
    device = DEVICE / "device.js"
    if request.param == "built":
        device = request.getfixturevalue("built")
    requests = tmp_path_factory.mktemp("requests") / "requests.json"
    write(list(CASES.values()), kernels.ptx, requests)
    return dict(zip(CASES, in_node(device, requests), strict=True))


# ------------------------------------------------------------------ the runtime's device


@dataclass(frozen=True)
class Native:
    """What a program had done by the device of the CUDA runtime."""

    printed: str
    said: list[str]
    launches: list[Json]
    findings: list[Json]
    trace: list[Json] | None
    read: bytes


def extent(text: str) -> list[int]:
    return [int(number) for number in text.strip("()").split(",")]


def natively(kernels: Kernels, case: Case, folder: Path) -> Native:
    files = {name: folder / name for name in ("csv", "findings", "trace")}
    options: list[str | Path] = ["--threads", "1", "--csv", files["csv"]]
    if case.checks:
        options += ["--check", case.checks, "--findings", files["findings"]]
        options += ["--fresh", "zeros"]  # as a page's memory is
    if case.apart is not None:
        options += ["--schedule", f"apart:{case.apart}"]
    if case.limit:
        options += ["--max-instructions", str(case.limit)]
    if case.trace:
        launch = sum(
            step.request()["kind"] == "launch" for step in case.steps[: case.trace["step"]]
        )
        options += ["--trace", files["trace"], "--trace-launch", str(launch)]
        options += ["--trace-block", ",".join(map(str, case.trace["block"]))]
        options += ["--trace-limit", str(case.trace["limit"])]
    done = subprocess.run(
        [EMULATE, *options, kernels.program, case.script(folder), folder / "read"],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    launches = []
    if files["csv"].exists():
        with files["csv"].open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["ID"]]
        launches = [
            {
                "kernel": row["Kernel Name"],
                "grid": extent(row["Grid Size"]),
                "block": extent(row["Block Size"]),
                "counters": {name: int(row[name]) for name in row if "__" in name},
            }
            for row in rows
        ]

    def objects(file: Path) -> list[Json]:
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    return Native(
        done.stdout,
        [line.removeprefix("embedded device: ") for line in done.stderr.splitlines()],
        launches,
        objects(files["findings"]) if case.checks and files["findings"].exists() else [],
        objects(files["trace"]) if case.trace else None,
        (folder / "read").read_bytes() if (folder / "read").exists() else b"",
    )


def differences(case: Case, page: Json, native: Native) -> list[str]:
    """What the page's device did otherwise."""
    found = []

    def compare(what: str, here: object, there: object) -> None:
        if here != there:
            found.append(f"{what}: {str(here)[:600]} in the page, {str(there)[:600]} natively")

    compare("error", page.get("error"), None)
    if found:
        return found
    compare("launches", page["launches"], native.launches)
    compare("printed", page["printed"], native.printed)
    compare("bytes", b"".join(base64.b64decode(one) for one in page["read"]), native.read)
    own = ("block", "lines")  # which the runtime doesn't tell
    findings = [{k: v for k, v in one.items() if k not in own} for one in page["findings"]]
    compare("findings", findings, native.findings)
    compare("trace", page["trace"], native.trace)
    told = [line for warning in page["warnings"] for line in warning.splitlines()]
    if page["fault"] and not page["findings"]:
        told += page["fault"]["message"].splitlines()
    for line in told:
        if not any(said.startswith(line) for said in native.said):
            found.append(f"said in the page alone: {line}")
    names = page["counters"]
    sums = {name: sum(one["counters"][name] for one in page["launches"]) for name in names}
    compare("the sum of counters", names, sums)
    if case.lines:
        totals = {
            "instructions": names["source__warp_instructions.sum"],
            "thread_instructions": names["source__thread_instructions.sum"],
            "branches": names["source__branches.sum"],
            "diverging_branches": names["source__diverging_branches.sum"],
        }
        of_lines = {name: sum(one[name] for one in page["lines"]) for name in totals}
        compare("lines", of_lines, totals)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_page_does_what_the_runtime_does(
    results: dict[str, Json], kernels: Kernels, name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    native = natively(kernels, case, tmp_path)
    assert differences(case, results[name], native) == []


def test_a_difference_is_found(results: dict[str, Json], kernels: Kernels, tmp_path: Path) -> None:
    case = CASES["tree"]
    native = natively(kernels, case, tmp_path)
    (launch,) = results["tree"]["launches"]
    name = next(iter(launch["counters"]))
    more = {**launch, "counters": {**launch["counters"], name: launch["counters"][name] + 1}}
    for what, changed in {
        "launches": {"launches": [more]},
        "bytes": {"read": [base64.b64encode(native.read[:-1] + b"x").decode()]},
        "printed": {"printed": "x"},
        "said": {"warnings": ["x"]},
        "findings": {"findings": [{"check": "race"}]},
        "error": {"error": "x"},
    }.items():
        found = differences(case, {**results["tree"], **changed}, native)
        assert found and found[0].startswith(what)


#: Bytes are base64 in what goes to the page and in what comes back.
UNPACKED = """() => window.unpacked = request => {
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  for (const one of request.buffers) if (one.data) one.data = bytes(one.data);
  for (const step of request.steps)
    for (const one of step.args ?? []) if (one.bytes) one.bytes = bytes(one.bytes);
  return request;
}"""
RUN = """async requests => {
  const text = bytes => btoa(Array.from(bytes, c => String.fromCharCode(c)).join(""));
  const device = await LadderDevice.open("device/");
  const results = [];
  for (const request of requests) {
    const result = await device.run(unpacked(request));
    results.push({...result, ...(result.read && {read: result.read.map(text)})});
  }
  return results;
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page on the disk, with the device beside it."""
    shutil.copytree(DEVICE, tmp_path / "device")
    page = '<!doctype html><meta charset="utf-8"><title>A page</title>'
    (tmp_path / "page.html").write_text(f'{page}<script src="device/client.js"></script>')
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        shown = browser.new_page()
        wrong: list[str] = []
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.goto((folder / "page.html").as_uri())
        shown.evaluate(UNPACKED)
        yield shown
        browser.close()
    assert wrong == []


def asked(name: str, kernels: Kernels, **changed: object) -> Json:
    return {**CASES[name].request(kernels.ptx), **changed}


def test_a_browser_does_what_node_does(
    page: Page, results: dict[str, Json], kernels: Kernels
) -> None:
    """With the device of the tree."""
    shown = page.evaluate(RUN, [case.request(kernels.ptx) for case in CASES.values()])
    for name, here in zip(CASES, shown, strict=True):
        there = {key: value for key, value in results[name].items() if key != "progress"}
        assert here == there, name


def test_what_is_wrong_is_one_sentence(page: Page, kernels: Kernels) -> None:
    cases = {
        "PTX line 1: expected a directive of a module, found 'rubbish'": asked(
            "tree", kernels, ptx="rubbish"
        ),
        "kernel none is not in the PTX": asked(
            "tree", kernels, steps=[{**asked("tree", kernels)["steps"][0], "kernel": "none"}]
        ),
        "kernel tree, grid [7,1,1], block [2000,1,1], 0 bytes of dynamic shared memory: "
        "invalid argument": asked(
            "tree", kernels, steps=[{**asked("tree", kernels)["steps"][0], "block": [2000, 1, 1]}]
        ),
        "cudaMalloc takes 300000000 bytes, and 268435456 of the device's memory are free": asked(
            "tree", kernels, buffers=[{"name": "cudaMalloc", "bytes": 300_000_000}]
        ),
        "kernel tree takes 3 arguments, and was given 0": asked(
            "tree", kernels, steps=[{**asked("tree", kernels)["steps"][0], "args": []}]
        ),
        "there is no buffer number 9": asked(
            "tree", kernels, read=[{"buffer": 9, "offset": 0, "bytes": 4}]
        ),
        "a size or a number in the request is not a whole one": asked(
            "tree", kernels, read=[{"buffer": 0, "offset": -1, "bytes": 4}]
        ),
        "--check nothing: there are race, memory, init, sync and all, with commas between": asked(
            "tree", kernels, checks="nothing"
        ),
    }
    assert page.evaluate(RUN, list(cases.values())) == [{"error": why} for why in cases]
    # And after all of that it does what it should.
    (right,) = page.evaluate(RUN, [asked("tree", kernels)])
    assert right["fault"] is None and len(right["launches"]) == 1


def endless_and_tree(kernels: Kernels) -> Json:
    """Two launches: one that never ends, then one that does."""
    endless = asked("loops for ever", kernels, limit=0)
    tree = asked("tree", kernels)
    request = {**tree, "steps": [*endless["steps"], *tree["steps"]]}
    request["buffers"][0] = {"name": "cudaMalloc", "bytes": 4096}
    return request


LONG = """async given => {
  const request = unpacked(given);
  const device = await LadderDevice.open("device/");
  const ended = [], progress = [];
  const first = device.run({...request, steps: request.steps.slice(0, 1)})
    .then(result => (ended.push("first"), result));
  const second = device.run({...request, steps: request.steps.slice(1)},
                            (done, all) => progress.push([done, all]))
    .then(result => (ended.push("second"), result));
  await new Promise(resolve => setTimeout(resolve, 300));
  const before = [...ended];
  device.stop();
  const results = [await first, await second];
  device.stop();  // with nothing to stop
  return {before, ended, results, progress};
}"""


def test_a_kernel_that_loops_is_stopped_and_the_next_one_runs(page: Page, kernels: Kernels) -> None:
    got = page.evaluate(LONG, endless_and_tree(kernels))
    assert got["before"] == [] and got["ended"] == ["first", "second"]
    assert got["results"][0] == {"stopped": True}
    assert got["results"][1]["stopped"] is False
    assert got["results"][1]["launches"][0]["kernel"] == "tree"
    assert got["progress"] and all(0 < done <= 7 == all_ for done, all_ in got["progress"])


WAITING = """async given => {
  const request = unpacked(given);
  const device = await LadderDevice.open("device/");
  const ended = [];
  const begun = (name, step) => {
    const turn = device.run({...request, steps: [request.steps[step]]});
    turn.then(() => ended.push(name));
    return turn;
  };
  const endless = begun("endless", 0), waiting = begun("waiting", 1), last = begun("last", 1);
  await new Promise(resolve => setTimeout(resolve, 300));
  device.stop(waiting);
  const results = [await waiting];
  const before = [...ended];
  device.stop(endless);
  results.push(await endless, await last);
  device.stop(last);  // over: nothing to stop
  return {before, ended, results};
}"""


def test_what_waits_is_stopped_without_what_runs(page: Page, kernels: Kernels) -> None:
    got = page.evaluate(WAITING, endless_and_tree(kernels))
    assert got["before"] == ["waiting"] and got["ended"] == ["waiting", "endless", "last"]
    assert got["results"][:2] == [{"stopped": True}] * 2
    assert got["results"][2]["launches"][0]["kernel"] == "tree"


@pytest.mark.parametrize(
    ("without", "why"),
    [
        ("delete window.WebAssembly", "This browser has no WebAssembly"),
        ("delete window.Worker", "This browser has no workers"),
        ("window.Worker = class { constructor() { throw new Error('Not here.'); } }", "Not here."),
    ],
)
def test_a_browser_that_lacks_something_says_so(
    page: Page, kernels: Kernels, without: str, why: str
) -> None:
    page.evaluate(f"() => {{ {without} }}")
    (result,) = page.evaluate(RUN, [asked("tree", kernels)])
    assert list(result) == ["error"] and result["error"].startswith(why)
    assert result["error"].endswith(".") and "\n" not in result["error"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "The device could not be loaded."),
        ("self.LADDER_DEVICE = {glue: 'throw 1', wasm: ''};", "This browser did not start"),
        ("rest", "This browser is too old for the device"),
    ],
)
def test_a_device_that_does_not_load_says_so(
    folder: Path, page: Page, kernels: Kernels, content: str | None, why: str
) -> None:
    script = folder / "device/device.js"
    if content is None:
        script.unlink()
    elif content == "rest":  # another WebAssembly than there should be
        parts = artefact.unpack(script.read_text(encoding="utf-8"))
        parts["wasm"] = base64.b64encode(gzip.compress(b"\0asm\1\0\0\0\xff")).decode()
        script.write_text(f"self.LADDER_DEVICE = {json.dumps(parts)};")
    else:
        script.write_text(content)
    (result,) = page.evaluate(RUN, [asked("tree", kernels)])
    assert list(result) == ["error"] and result["error"].startswith(why)


def test_no_text_stops_the_device_itself(kernels: Kernels, tmp_path: Path) -> None:
    """What fuzzing has kept: each is refused, or read, and the next is as if it had not been."""
    texts = [
        path.read_text(encoding="latin-1")
        for path in sorted((ROOT / "tools/emulator/fuzz/corpus/ptx").iterdir())
    ]
    assert len(texts) > 10
    empty = {"buffers": [], "steps": [], "read": []}
    requests = [{**empty, "ptx": text} for text in texts]
    file = tmp_path / "requests.json"
    file.write_text(json.dumps([*requests, asked("tree", kernels)]))
    *read, last = in_node(DEVICE / "device.js", file)
    assert all("\n" not in one.get("error", "") for one in read)
    assert any("error" in one for one in read)
    assert last["fault"] is None and len(last["launches"]) == 1
