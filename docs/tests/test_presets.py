"""Every preset of every page is clicked: it is accepted, and its label says what comes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Locator, Page, expect

from docs.tests.test_browser import GUIDE, address
from docs.tests.test_run_here import OPEN, counters, looked, outcome

pytestmark = [
    pytest.mark.release,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]


@dataclass
class Outcome:
    """What a panel shows after a preset."""

    preset: dict[str, Any]
    fields: dict[str, str] = field(default_factory=dict)
    is_faulty: bool = False  # the kernel, as the book says
    is_right: bool = False
    status: str = ""
    counters: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    warm: list[str] = field(default_factory=list)  # lines with a number beside them
    opened: str = ""
    said: str = ""

    @property
    def label(self) -> str:
        return str(self.preset["label"])


def same(typed: str, number: int) -> bool:
    base, _, power = typed.partition("^")
    return int(base) ** int(power or 1) == number


#: Of a step that has a name: what its sentence, or the one above it, says.
STEPS = {
    "conflict": r"wavefronts, bank \d+ busiest",
    "branch": r"The warp diverges\.",
    "global": r"global memory",
    "shared": r"shared memory",
    "shared-load": r"load \d+ bytes? each from shared memory",
    "atomic": r"change atomically",
    "shuffle": r"reduce a value over the lanes|hand values to each other",
    "barrier": r"wait at the block\u2019s barrier",
    "warp-barrier": r"wait for the other lanes of the warp",
    "race": r"Opened at a race: .* no barrier stands between the two\.",
}


def check_given(one: Outcome) -> None:
    """What a preset sets is in the form, and what it asks for is shown.

    A right kernel's result is right. A faulty one's fault shows: in the result, or in findings.
    """
    given = one.preset
    if "step" not in given:
        assert one.is_right != one.is_faulty or (one.is_faulty and one.findings), one.status
    for name in ("n", "block", "seed"):
        assert name not in given or same(one.fields[name], given[name]), name
    assert one.fields["variant"] == given["variant"]
    if "checks" in given and "past its end" not in one.status:
        assert one.findings, "the checks found nothing"
    if "apart" in given:
        assert re.search(r"expected|differ", one.status) and "as expected" not in one.status
    if "heat" in given:
        assert one.warm, "no line has a number"
    if "step" in given and not isinstance(given["step"], int):
        name = given["step"].split(":")[0]
        if name in STEPS:
            assert one.opened.startswith("Opened at"), one.opened
            assert re.search(STEPS[name], f"{one.opened} {one.said}"), one.said
        assert one.status.startswith(f"Stepping through block {given.get('in', 0)} of ")


def starts(text: str) -> Callable[[Outcome, re.Match[str]], bool]:
    """The step is one of those that the label names."""
    return lambda one, _: one.preset["step"].split(":")[0] in text.split()


def found(*kinds: str) -> Callable[[Outcome, re.Match[str]], bool]:
    return lambda one, _: any(each.startswith(kinds) for each in one.findings)


def number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def sized(one: Outcome, words: str) -> bool:
    """So many bytes per load: what the step says, or else compared with another preset."""
    return "step" not in one.preset or f"load {number(words)} bytes each" in one.said


#: What a label says, and what is true then. Each must fit one, or be compared with another.
RULES: list[tuple[str, Callable[[Outcome, re.Match[str]], bool]]] = [
    (r"Look for races.*", found("race")),
    (r"Look for what was never written", found("init")),
    (r".*[Ll]anes apart", lambda one, _: "expected" in one.status),
    (r"(\d+ blocks|Blocks) of (\d+)", lambda one, m: one.preset["block"] == int(m[2])),
    (r"n = ([\d ]+)", lambda one, m: one.preset["n"] == number(m[1])),
    (r"n = 2\u00b9\u2076 \+ 1", lambda one, _: one.preset["n"] == 2**16 + 1),
    (r"2\u00b2\u2070 elements", lambda one, _: one.preset["n"] == 2**20),
    (r"One element fewer", lambda one, _: one.preset["n"] == 2**20 - 1),
    (r"2\u00b9\u2076 ints", lambda one, _: one.preset["n"] == 2**16),
    (r"(Step to a load at s|S)tride (\d+)", lambda one, m: one.preset["variant"].endswith(m[2])),
    (r"Count the sectors", lambda one, _: one.counters["Global load sectors"] > 0),
    (r"Which lines (run most often|make the wavefronts)\?", lambda one, _: len(one.warm) > 1),
    (r"Step to the first load of round 3", lambda one, _: "4 of 32 lanes active" in one.said),
    (r"Step to a bank conflict", starts("conflict")),
    (r"Step to the first that diverges", starts("branch")),
    (r"Step to the first barrier", starts("barrier")),
    (r"Step to a barrier of one warp", starts("warp-barrier")),
    (r"Step to the tree\u2019s first load", starts("shared-load")),
    (r"Step to the (first|second) load", starts("global")),
    (r"Step to the loads, a grid apart", starts("global")),
    (r"Step to a warp\u2019s sum", starts("shuffle")),
    (r"Step to (the|a) race", starts("race")),
    (r"Step to (the|a) (last )?(atomic|ticket)", starts("atomic")),
    (r"Step to the atomics: .*", starts("atomic")),
    (r"Step to a (16-byte) load", lambda one, m: sized(one, m[1])),
    (r"(16 bytes) per lane", lambda one, m: sized(one, m[1])),
    (r"One word on", lambda one, _: "5 sectors" in one.said),
    (r"block bytes", lambda one, _: "past its end" in one.status),
    (r"block \* sizeof\(int\) bytes", lambda one, _: "as expected" in one.status),
    (r"Without padding", starts("conflict")),
    (r"Step to a bin", starts("shared-load")),
    (r"(Rows of )?(\d+)( columns)?", lambda one, m: one.preset["variant"].endswith(f"_{m[2]}")),
    (r"Step to a load", starts("global")),
    (r"Step to a piece that is there", starts("shared-load")),
    (r"Four blocks", lambda one, _: one.counters["Shared store wavefronts"] == 4 * 256 / 32),
    (r"Step to a load of 32 rows", lambda one, _: "32 sectors" in one.said),
    (  # a lane per sector
        r"Step to a warp\u2019s load",
        lambda one, _: re.search(r"(\d+) of 32 lanes active: .* \1 sectors", one.said) is not None,
    ),
    (r"Step to the first shuffle", starts("shuffle")),
    (r"exp overflows|Part of a row is masked", lambda one, _: " is nan and should" in one.status),
    (r"A NaN gets lost", lambda one, _: "should be nan" in one.status),
    (
        r"Sum uniform floats|The same floats, by (Kahan|Neumaier)|Ill-conditioned floats, exactly",
        lambda one, _: "this one is the same" in one.status,
    ),
]

DIVERGING = "Diverging branches (of the PTX)"
REQUESTS, SECTORS = "Global load requests", "Global load sectors"
CONFLICTS, SHARED = "Shared load bank conflicts", "Shared load wavefronts"
WARP = "Warp instructions (of the PTX)"
#: By panel: a preset, another, a counter, and from how many to how many times it the other has.
COMPARED: dict[str, list[tuple[str, str, str, float, float]]] = {
    "run-gmem-early-exit": [
        ("The loop", "Written out", SECTORS, 1, 1),
        ("The loop", "Early exit", SECTORS, 1, 1),
        ("The loop", "Written out", WARP, 0.4, 0.5),
        ("Written out", "Early exit", WARP, 0.9, 0.95),
    ],
    "run-mixed-paths": [
        ("1 kind of work per warp", "2 kinds per warp", DIVERGING, 2, 3),
        ("1 kind of work per warp", "32 kinds per warp", DIVERGING, 40, 45),
        ("1 kind of work per warp", "32 kinds, one per warp", DIVERGING, 1, 1),
    ],
    "run-gmem-loop": [
        ("Every second thread adds", "The first half adds", SECTORS, 69 / 255, 69 / 255)
    ],
    "run-gmem-loop-2": [("Blocks of 256", "Blocks of 128", SECTORS, 1.05, 1.1)],
    "run-smem-loop": [("Strided slots", "Neighbouring slots", CONFLICTS, 0, 0)],
    "run-first-add": [("One load per thread", "Two loads per thread", WARP, 0.5, 0.6)],
    "run-last-warp-sync": [
        ("A barrier at every step", "The last warp by itself", WARP, 0.5, 0.7),
        ("A barrier at every step", "The simpler loop alone", WARP, 0.8, 0.85),
    ],
    "run-sums-by-warp": [("The tree", "Sums by warp", SHARED, 1 / 24, 1 / 24)],
    "run-dynamic-unroll": [
        ("1 KiB per block", "227 KiB per block", name, 1, 1) for name in (REQUESTS, SHARED, WARP)
    ],
    "run-wide-by-warps": [
        ("4 bytes per load", "16 bytes per load", REQUESTS, 1 / 4, 1 / 4),
        ("4 bytes per load", "16 bytes per load", SECTORS, 1, 1),
    ],
    "run-atomic-block": [("An atomic per block", "An atomic per thread", WARP, 0.2, 0.3)],
    "run-bins-wide": [("One byte per load", "16 bytes per load", REQUESTS, 1 / 16, 1 / 16)],
    "run-load-stride": [
        ("Stride 1", "Stride 8", REQUESTS, 1 / 8, 1 / 8),
        ("Stride 1", "Stride 8", SECTORS, 1, 1),
    ],
    "run-copy-words": [("4 bytes per lane", "16 bytes per lane", REQUESTS, 1 / 4, 1 / 4)],
    "run-vec3-packed": [
        ("Packed structs", "Padded structs", SECTORS, 16 / 36, 16 / 36),
        ("Packed structs", "Staged in shared memory", SECTORS, 12 / 36, 12 / 36),
    ],
    "run-vec3-arrays": [("Packed structs", "A struct of arrays", SECTORS, 12 / 36, 12 / 36)],
    "run-rows-by-thread": [
        ("Rows of 32", "Rows of 4", SECTORS, 1 / 2, 1 / 2),
        ("Rows of 32", "16 bytes per load", REQUESTS, 1 / 4, 1 / 4),
        ("Rows of 32", "16 bytes per load", SECTORS, 1 / 4, 1 / 4),
    ],
    "run-rows-by-lanes": [
        ("A thread per row", "A team per row", REQUESTS, 1 / 4, 1 / 4),
        ("A thread per row", "A team per row", SECTORS, 1 / 8, 1 / 8),
        ("Sums", "Argmax", SECTORS, 1, 1),
        ("Sums", "Mean and variance", SECTORS, 1, 1),
        ("Sums", "Argmax", WARP, 1.5, 10),
        ("Sums", "Mean and variance", WARP, 1.5, 10),
    ],
    "run-rows-by-blocks": [("A block per row", "Several blocks per row", SECTORS, 1, 1.01)],
    "run-softmax-by-block": [("Kept in registers", "Read twice", SECTORS, 2, 2)],
    "run-softmax-by-blocks": [("Read twice by one block", "Kept by 16 blocks", SECTORS, 0.5, 0.75)],
    "run-layer-norm": [("Softmax", "Layer normalisation", SECTORS, 3, 3)],
    "run-block-alone": [
        ("One block", "Several blocks, one word", REQUESTS, 1, 1),
        ("One block", "Several blocks, one word", WARP, 2, 4),
    ],
    "run-pass-of-two": [
        ("Two launches", "A dependent one", SECTORS, 1, 1),
        ("Two launches", "A dependent one", WARP, 1, 1.1),
    ],
    "run-ring-of-block": [
        ("Loads by threads", "A ring of four stages", SHARED, 256, 260),
        ("Loads by threads", "A ring of four stages", WARP, 2, 2.5),
    ],
    "run-column-per-warp": [("A warp per column", "A lane per column", SECTORS, 1 / 8, 1 / 7)],
}
#: These are named for what they are, and no counter of theirs is the point.
PLAIN = {"Aligned", "One column of padding", "Swizzled"}


def check_label(one: Outcome, panel: str) -> None:
    fits = [(rule, m) for pattern, rule in RULES if (m := re.fullmatch(pattern, one.label))]
    compared = {label for first, other, *_ in COMPARED.get(panel, []) for label in (first, other)}
    assert fits or one.label in compared | PLAIN, f"nothing says what '{one.label}' does"
    for rule, match in fits:
        assert rule(one, match), f"'{one.label}' does something else: {one}"


def check_compared(panel: str, outcomes: list[Outcome]) -> None:
    by_label = {one.label: one.counters for one in outcomes}
    for first, other, name, least, most in COMPARED.get(panel, []):
        if first not in by_label or other not in by_label:
            continue
        before, after = by_label[first][name], by_label[other][name]
        assert before > 0, f"{first}: no {name}"
        assert least <= after / before <= most, f"{first} {before}, {other} {after} {name}"


# ------------------------------------------------------------------ the pages


@cache
def panels(name: str) -> list[dict[str, Any]]:
    """The panels of a page that have presets."""
    text = (GUIDE / f"{name}.html").read_text(encoding="utf-8")
    # Their tags alone: each worker reads all pages before its first test.
    tags = re.findall(r'<details(?:\s+[\w-]+(?:="[^"]*")?)+>', text)
    found = BeautifulSoup("".join(tags), "html.parser").select("details.run-here")
    assert len(found) >= text.count('class="folded run-here"')
    all_of = [{"id": one["id"], **json.loads(str(one["data-run"]))} for one in found]
    return [one for one in all_of if one["presets"]]


PAGES = [
    name
    for path in sorted(GUIDE.rglob("*.html"))
    if not (name := path.relative_to(GUIDE).with_suffix("").as_posix()).startswith("_")
    and 'class="folded run-here"' in path.read_text(encoding="utf-8")
    and panels(name)
]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with looked(browser) as made:
        yield made


def clicked(panel: Locator, preset: dict[str, Any]) -> Outcome:
    status = panel.locator("> .run-status")
    status.evaluate("one => { one.textContent = 'Running\u2026'; }")
    presets = panel.locator(".run-presets")
    presets.get_by_role("button", name=preset["label"], exact=True).click()
    one = Outcome(preset, status=outcome(panel))
    fields = panel.locator(".run-fields").first.locator("input, select")
    one.fields = dict(fields.evaluate_all("all => all.map(one => [one.name, one.value])"))
    one.fields.setdefault("variant", preset["variant"])
    if "step" in preset:
        expect(panel.locator(".step-said")).to_be_visible()
        one.opened = panel.locator(".step-opened").text_content() or ""
        one.said = panel.locator(".step-said").text_content() or ""
        return one
    expect(panel.locator(".run-results")).to_be_visible()
    one.is_right = panel.locator("> .run-status.right").count() == 1
    one.findings = panel.locator(".run-findings > li:not(.run-rest)").all_text_contents()
    one.warm = panel.page.locator(".line.warm").all_text_contents()
    if panel.locator(".run-counters").count():  # none of a launch that was stopped
        one.counters = counters(panel)
    return one


@pytest.mark.parametrize("name", PAGES)
def test_every_preset_does_what_it_says(page: Page, name: str) -> None:
    page.goto(address(name))
    for data in panels(name):
        panel = page.locator(f"#{data['id']}")
        panel.evaluate(OPEN)
        expect(panel.locator(".run-presets")).to_be_visible()
        kinds = f"LadderPlans.variants({data['chapter']!r}).map(one => [one.name, one.legacy])"
        faulty = dict(page.evaluate(kinds))
        outcomes = [clicked(panel, preset) for preset in data["presets"]]
        for one in outcomes:
            one.is_faulty = faulty[one.preset["variant"]]
            check_given(one)
            check_label(one, data["id"])
        check_compared(data["id"], outcomes)


def test_every_story_s_panel_has_presets_or_a_start() -> None:
    """One click leads to the point of each, and its stepper starts there."""
    without = []
    for path in sorted((GUIDE / "chapters").glob("chapter*.html")):
        html = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for one in html.select("details.run-here"):
            data = json.loads(str(one["data-run"]))
            if not data["presets"] or "step" not in data:
                without.append(f"{path.stem} {one['id']}")
    assert without == []


# ------------------------------------------------------------------ what they catch


@pytest.mark.parametrize(
    "wrong",
    [
        Outcome({"label": "Look for races", "variant": "a"}, findings=["init: nothing"]),
        Outcome({"label": "Blocks of 100", "variant": "a", "block": 128}),
        Outcome({"label": "Step to a bank conflict", "variant": "a", "step": "branch"}),
        Outcome({"label": "Stride 6", "variant": "stride7"}),
        Outcome({"label": "block bytes", "variant": "a"}, status="sum 1 as expected."),
        Outcome({"label": "Something new", "variant": "a"}),
    ],
    ids=lambda one: one.label,
)
def test_a_label_that_is_not_true_is_caught(wrong: Outcome) -> None:
    with pytest.raises(AssertionError):
        check_label(wrong, "run-gmem")


def coming_to(preset: dict[str, Any], **shown: Any) -> Outcome:
    """A preset of variant a, and what is shown; a right result where nothing else is said."""
    usual: dict[str, Any] = {"fields": {"variant": "a", "n": "2^4"}, "is_right": True}
    return Outcome({"label": "", "variant": "a", **preset}, **{**usual, **shown})


BLOCK_0 = "Stepping through block 0 of 4."


@pytest.mark.parametrize(
    "wrong",
    [
        coming_to({"n": 32}),
        coming_to({"variant": "b"}),
        coming_to({}, is_right=False),
        coming_to({}, is_faulty=True),
        coming_to({"checks": "race"}),
        coming_to({"apart": 1}, status="sum 1 as expected."),
        coming_to({"heat": "sectors"}),
        coming_to(
            {"step": "race"}, status=BLOCK_0, opened="This block has no race in what is shown."
        ),
        coming_to({"step": "global"}, status=BLOCK_0, opened="Opened at the first barrier."),
        coming_to({"step": "first", "in": 3}, status=BLOCK_0),
    ],
    ids=range(10),
)
def test_a_preset_that_comes_to_something_else_is_caught(wrong: Outcome) -> None:
    with pytest.raises(AssertionError):
        check_given(wrong)


@pytest.mark.parametrize(
    "right",
    [
        coming_to({"n": 16}),
        coming_to({"checks": "race"}, is_faulty=True, is_right=False, findings=["race"]),
        coming_to({"step": "first"}, status=BLOCK_0),
    ],
    ids=range(3),
)
def test_a_preset_that_comes_to_what_it_says_passes(right: Outcome) -> None:
    check_given(right)


def test_presets_that_do_not_differ_are_caught() -> None:
    same_counts = [
        Outcome({"label": label}, counters={CONFLICTS: 7})
        for label in ("Strided slots", "Neighbouring slots")
    ]
    with pytest.raises(AssertionError):
        check_compared("run-smem-loop", same_counts)
