"""Run it here, in a real browser, from the file system: the panel, the heat map and the stepper."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from docs.tests.test_browser import (
    CHROMIUM,
    EVERY_PAGE,
    GUIDE,
    ROOT,
    SCHEMES,
    SETTLED,
    WIDTHS,
    address,
    all_barriers,
    as_wide_as,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
    pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine"),
]

#: Opens a fold, and those that it is in.
OPEN = """one => {
  for (let each = one; each; each = each.parentElement.closest("details")) each.open = true;
}"""
#: A reader who has looked at all answers: panels in them are to be seen.
LOOKED = """if (location.protocol === "file:")
  localStorage.setItem("reduction-ladder", '{"guesses": {}, "all": true}');"""
STORY = "chapters/chapter02_smem"
PANEL = "run-interleaved-modulo"
FAULTY = "run-smem-classic"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(LOOKED)
    made = context.new_page()
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    yield made
    context.close()
    assert faults == []


def opened(page: Page, name: str = STORY, panel: str = PANEL) -> Locator:
    """The page with one panel open, and what it is folded in."""
    page.goto(address(name))
    found = page.locator(f"#{panel}")
    found.evaluate(OPEN)
    expect(found.get_by_role("button", name="Run", exact=True)).to_be_visible()
    return found


def run(panel: Locator, **fields: str) -> str:
    """Runs it, and gives the sentence that came of it."""
    for name, text in fields.items():
        panel.locator(f"input[name={name}]").fill(text)
    panel.get_by_role("button", name="Run", exact=True).click()
    return outcome(panel)


def outcome(panel: Locator) -> str:
    status = panel.locator("> .run-status")
    expect(status).to_have_text(re.compile(r"^(?!Running).+"), timeout=60_000)
    return status.text_content() or ""


def counters(panel: Locator, column: int = 1) -> dict[str, int]:
    """A column of the table: this run's, or another's."""
    rows = panel.locator(".run-counters tbody tr").evaluate_all(
        f"all => all.map(one => [one.cells[0].textContent, one.cells[{column}].textContent])"
    )
    return {name: int(re.sub(r"\D", "", text)) for name, text in rows}


def recorded(chapter: str, variant: str, n: int) -> dict[str, int]:
    """What the embedded device counted natively, summed over the launches."""
    path = ROOT / "figures" / "data" / "embedded" / "counters.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    asked = (chapter, variant, n, 256)
    (one,) = (
        run for run in runs if (run["chapter"], run["variant"], run["n"], run["block"]) == asked
    )
    total: dict[str, int] = {}
    for launch in one["launches"]:
        for name, value in launch["metrics"].items():
            total[name] = total.get(name, 0) + int(value)
    return total


# ------------------------------------------------------------------ what comes of a run


def test_a_run_agrees_with_the_native_device(page: Page) -> None:
    panel = opened(page)
    assert run(panel, n="2^20", block="256").endswith("as expected.")
    native = recorded("chapter02_smem", "interleaved", 2**20)
    shown = counters(panel)
    assert shown["Global load sectors"] == native["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    assert shown["Warp instructions (of the PTX)"] == native["source__warp_instructions.sum"]
    wavefronts = native["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
    assert shown["Shared load wavefronts"] == wavefronts


def test_hardware_stands_beside_where_it_was_recorded(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^16", block="100")
    shapes = panel.get_by_role("button", name=re.compile(r"^n = "))
    assert shapes.count() > 0, "else it says where hardware's are"
    shapes.first.click()
    expect(panel.locator(".run-counters")).to_contain_text("H200\u2019s own")


def test_the_next_try_is_held_against_the_last(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^14", block="256")
    before = counters(panel)
    run(panel, block="128")
    assert counters(panel, 3) == before
    stores = panel.locator(".run-counters tr", has_text="Global store sectors")
    expect(stores.locator(".run-change")).to_have_text("\u25b2 \u00d7\u202f2")
    expect(panel.locator(".run-counters caption")).to_contain_text("n = 2^14, block 128. Your last")


def test_the_lines_add_up_to_the_counter(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12", block="256")
    panel.get_by_label("warp instructions").check()
    lines = page.locator(".listing .line.warm")
    assert lines.count() > 5
    shown = lines.locator(".heat").all_text_contents()
    scale = {"": 1, "K": 1e3, "M": 1e6}
    total = sum(float(text.rstrip("KM")) * scale[text[-1:].strip("0123456789.")] for text in shown)
    assert total == pytest.approx(counters(panel)["Warp instructions (of the PTX)"], rel=0.01)
    share = "one => Number(one.style.getPropertyValue('--share'))"
    (hottest,) = (one for one in lines.all() if one.evaluate(share) == 1)
    assert "tile[t] += tile[t + s]" in (hottest.text_content() or "")
    panel.get_by_label("nothing").check()
    assert page.locator(".line .heat").count() == 0


def test_a_race_is_shown_between_its_lines(page: Page) -> None:
    panel = opened(page, panel=FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    outcome(panel)
    finding = panel.locator(".run-findings > li").first
    expect(finding).to_contain_text("read after write in shared memory")
    marked = panel.locator(".line.found")
    assert marked.count() >= 2
    finding.get_by_role("button", name=re.compile(r"legacy\.cuh:\d+")).first.click()
    expect(marked.first).to_be_in_viewport()
    panel.get_by_role("button", name="Run its lanes apart").click()
    assert "expected" in outcome(panel)
    expect(panel.locator("> .run-status.wrong")).to_be_visible()
    assert page.locator(".line.found").count() == 0


def test_shutting_a_panel_takes_its_marks_away(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12")
    panel.get_by_label("warp instructions").check()
    assert page.locator(".line.warm").count() > 0
    panel.locator("summary").first.click()
    expect(page.locator(".line.warm")).to_have_count(0)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"n": "64Q"}, '"64Q" is not a count'),
        ({"n": ""}, "is not a count"),
        ({"n": "2^21"}, "2^20"),
        ({"n": "0"}, "n = 0"),
        ({"block": "0"}, "--block"),
        ({"block": "1025"}, "--block"),
        ({"block": "ten"}, '"ten" is not a whole number'),
        ({"seed": "-1"}, "is not a whole number"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_lost(
    page: Page, fields: dict[str, str], sentence: str
) -> None:
    panel = opened(page)
    panel.locator("input[name=seed]").fill("7")
    said = run(panel, **fields)
    assert sentence in said
    assert "as expected" not in said
    for name, text in {"seed": "7", **fields}.items():
        expect(panel.locator(f"input[name={name}]")).to_have_value(text)
    assert panel.locator(".run-counters").count() == 0
    good = {"n": "2^10", "block": "64", "seed": "1"}
    assert run(panel, **good).endswith("as expected.")


def change_ptx(panel: Locator, change: str) -> None:
    """Changes the PTX by a JavaScript expression over `text`, and begins to run that."""
    panel.get_by_text("The PTX", exact=True).click()
    area = panel.locator("textarea")
    expect(area).to_have_value(re.compile(r"\.version"))
    before = area.input_value()
    area.fill(area.evaluate(f"one => {{ const text = one.value; return {change}; }}"))
    assert area.input_value() != before
    panel.get_by_role("button", name="Run this").click()


def test_ptx_that_cannot_be_read_is_one_sentence(page: Page) -> None:
    panel = opened(page)
    change_ptx(panel, "text.replace('ld.shared', 'ld.sharded')")
    assert re.search(r"line \d+.*ld\.sharded", outcome(panel))
    assert "ld.sharded" in panel.locator("textarea").input_value()
    panel.get_by_role("button", name="Back to nvcc\u2019s").click()
    assert run(panel, n="2^10").endswith("as expected.")


def test_changed_ptx_runs_and_is_called_yours(page: Page) -> None:
    panel = opened(page)
    # Each block stores its number of threads in place of its sum.
    change_ptx(panel, r"text.replace(/(st\.global\.u32\s+\[%rd\d+\]),\s+%r\d+/, '$1, %ntid.x')")
    assert outcome(panel).startswith("Your PTX: sum is 65536, expected ")


def test_a_launch_is_stopped_and_the_next_one_runs(page: Page) -> None:
    panel = opened(page)
    change_ptx(panel, "text.replace(/bar\\.sync\\s+0;/, 'FOR_EVER: bra FOR_EVER;')")
    panel.get_by_role("button", name="Stop").click()
    assert outcome(panel).startswith("Stopped.")
    panel.get_by_role("button", name="Back to nvcc\u2019s").click()
    assert run(panel, n="2^10").endswith("as expected.")


@pytest.mark.parametrize("missing", ["WebAssembly", "Worker"])
def test_a_browser_without_it_is_told(page: Page, missing: str) -> None:
    page.add_init_script(f"delete window.{missing};")
    panel = opened(page)
    said = run(panel, n="2^10")
    assert said.count(".") == 1
    assert re.search(missing, said, re.IGNORECASE)


# ------------------------------------------------------------------ step by step


def stepping(page: Page, name: str = STORY, panel: str = PANEL, **fields: str) -> Locator:
    found = opened(page, name, panel)
    for field, text in fields.items():
        found.locator(f"input[name={field}]").fill(text)
    found.get_by_role("button", name="Step through it").click()
    expect(found.locator(".step-body")).to_be_visible()
    return found


def at_step(panel: Locator) -> tuple[int, int]:
    found = re.match(r"Step (\S+) of (\S+)\.", panel.locator(".step-count").text_content() or "")
    assert found
    here, last = (int(re.sub(r"\D", "", text)) for text in found.groups())
    return here, last


def test_the_stepper_begins_where_it_is_interesting(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    expect(panel.locator(".step-said")).to_contain_text("the warp diverges")
    expect(page.locator(".line.now")).to_have_count(2)  # in the listing, and in what changed
    panel = opened(page, "chapters/chapter03_divergence", "run-strided-index")
    panel.get_by_role("button", name="Step to a bank conflict").click()
    said = panel.locator(".step-said")
    expect(said).to_have_text(
        "Warp 0, 32 of 32 lanes active: load 4 bytes each from shared memory, 2 wavefronts, "
        "bank 0 busiest."
    )
    assert panel.locator(".step-banks .step-row").count() == 2
    assert panel.locator(".step-lanes .late").count() == 16


def test_the_stepper_goes_by_keyboard(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    start, last = at_step(panel)
    press = page.keyboard.press
    press("ArrowRight")
    assert at_step(panel)[0] == start + 1
    press("ArrowLeft")
    assert at_step(panel)[0] == start
    press("End")
    assert at_step(panel)[0] == last
    press("PageUp")
    expect(panel.locator(".step-said")).to_contain_text("memory")
    press("Home")
    assert at_step(panel)[0] == 1
    press("PageDown")
    expect(panel.locator(".step-said")).to_contain_text("load 4 bytes each from global memory")
    assert panel.locator(".step-sectors li").count() == 4
    live = panel.locator(".step-said")
    assert live.get_attribute("aria-live") == "polite"


def test_the_stepper_goes_by_buttons_and_slider(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    panel.get_by_role("button", name="First step").click()
    panel.get_by_role("button", name="One step forward").click()
    assert at_step(panel)[0] == 2
    panel.get_by_role("button", name="Next access to memory").click()
    assert at_step(panel)[0] > 2
    panel.get_by_role("slider", name="Step").fill("9")
    assert at_step(panel)[0] == 10
    panel.get_by_role("button", name="Last step").click()
    assert len(set(at_step(panel))) == 1


def test_a_link_opens_the_same_step(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12", seed="11")
    page.keyboard.press("PageDown")
    place = at_step(panel)
    said = panel.locator(".step-said").text_content()
    panel.get_by_role("button", name="Copy link").click()
    expect(panel.locator("> .run-status")).to_contain_text("opens this panel as it is")
    link = page.url
    assert "#run=" in link
    page.goto("about:blank")
    page.goto(link)
    panel = page.locator(f"#{PANEL}")
    expect(panel.locator(".step-body")).to_be_visible()
    assert at_step(panel) == place
    assert panel.locator(".step-said").text_content() == said
    expect(panel.locator("input[name=seed]")).to_have_value("11")
    assert panel.locator(".step-body").evaluate("one => one === document.activeElement")


def test_a_long_trace_is_cut_and_says_so(page: Page) -> None:
    panel = stepping(page, "notebooks/chapter04_bank_conflicts", "run-tile-product")
    expect(panel.locator(".step-count")).to_contain_text("Cut after 10\u202f000 instructions")


#: Each step's access to shared and global memory as the stepper draws it, and as it was counted.
AGREES = """trace => trace.filter(one => one.access).map(step => {
  const passes = (step, one) => LadderStepper.servedAs(step, one)?.served.length ?? 0;
  const of = space => step.access.filter(one => one.space === space && one.direction !== "atomic");
  const sum = (name, space) => ["load", "store"]
    .reduce((all, way) => all + (step[`${space}_${way}_${name}`] ?? 0), 0);
  return [
    of("shared").reduce((all, one) => all + passes(step, one), 0),
    of("shared").length ? sum("wavefronts", "shared") : 0,
    of("global").reduce((all, one) => all + LadderStepper.sectors(one).length, 0),
    of("global").length ? sum("sectors", "global") : 0,
  ];
})"""


@pytest.mark.parametrize(
    ("name", "panel"),
    [
        ("chapters/chapter03_divergence", "run-strided-index"),
        ("notebooks/chapter04_bank_conflicts", "run-tile-product"),
        ("notebooks/chapter04_bank_conflicts", "run-tile-vectors"),
        ("notebooks/chapter04_bank_conflicts", "run-width-walk"),
        ("chapters/chapter10_coalescing", "run-load-stride"),
        ("chapters/chapter10_coalescing", "run-copy-words"),
    ],
)
def test_what_is_drawn_is_what_was_counted(page: Page, name: str, panel: str) -> None:
    page.goto(address(name))
    page.evaluate("""async () => {
      await LadderPage.load("stepper.js");
      const show = LadderStepper.show;
      LadderStepper.show = (root, given) => {
        window.traced = given.trace;
        return show(root, given);
      };
    }""")
    stepping_panel = page.locator(f"#{panel}")
    stepping_panel.evaluate(OPEN)
    select = stepping_panel.locator("select[name=variant]")
    expect(stepping_panel.get_by_role("button", name="Step through it")).to_be_visible()
    variants: list[Any] = (
        select.locator("option").evaluate_all("all => all.map(one => one.value)")
        if select.count()
        else [None]
    )
    seen = 0
    for variant in variants[:8]:
        if variant:
            select.select_option(variant)
        page.evaluate("window.traced = null")
        stepping_panel.get_by_role("button", name="Step through it").click()
        page.wait_for_function("window.traced")
        for served, wavefronts, drawn, sectors in page.evaluate(f"({AGREES})(window.traced)"):
            seen += served + drawn
            assert (served, drawn) == (wavefronts, sectors), variant
    assert seen > 10
    # A count that the drawing doesn't have is seen.
    page.evaluate("""() => {
      const names = ["global_load_sectors", "global_store_sectors"];
      const one = traced.find(one => names.some(name => one[name]));
      one[names.find(name => one[name])] += 1;
    }""")
    spoiled = page.evaluate(f"({AGREES})(window.traced)")
    assert any((served, drawn) != (w, s) for served, w, drawn, s in spoiled)


# ------------------------------------------------------------------ everywhere


def test_every_preset_runs(page: Page) -> None:
    """A right kernel's result is right, and a faulty one's fault shows: in a wrong result, or in
    what the checks find."""
    seen = 0
    wrong = {}
    for name in EVERY_PAGE:
        page.goto(address(name))
        for panel in page.locator("details.run-here").all():
            data = json.loads(panel.get_attribute("data-run") or "")
            if not data["presets"]:
                continue
            panel.evaluate(OPEN)
            kinds = f"LadderPlans.variants({data['chapter']!r}).map(one => [one.name, one.legacy])"
            expect(panel.locator(".run-presets")).to_be_visible()
            faulty = dict(page.evaluate(kinds))
            for preset in data["presets"]:
                panel.get_by_role("button", name=preset["label"], exact=True).click()
                said = outcome(panel)
                seen += 1
                if "step" in preset:
                    right = panel.locator(".step-body").is_visible()
                else:
                    is_right = panel.locator("> .run-status.right").count() == 1
                    found = panel.locator(".run-findings > li").count()
                    right = (not is_right or found > 0) if faulty[preset["variant"]] else is_right
                if not right:
                    wrong[f"{name}: {preset['label']}"] = said
    assert seen > 20
    assert wrong == {}


def test_every_panel_knows_its_variants(page: Page) -> None:
    unknown = {}
    for name in EVERY_PAGE:
        page.goto(address(name))
        for panel in page.locator("details.run-here").all():
            panel.evaluate("one => one.open = true")
            go = panel.locator(".run-form .run-go")
            try:
                expect(go).to_have_count(1)
            except AssertionError:
                unknown[f"{name}#{panel.get_attribute('id')}"] = panel.text_content()
    assert unknown == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_scrolls_sideways_with_all_open(page: Page, width: int) -> None:
    as_wide_as(page, width)
    panel = stepping(page, "chapters/chapter03_divergence", "run-strided-index")
    run(panel, block="100")
    run(panel, block="256")
    panel.get_by_text("The PTX", exact=True).click()
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-body")).to_be_visible()
    page.evaluate(SETTLED)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_no_barrier_with_all_open(page: Page) -> None:
    panel = opened(page, panel=FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    outcome(panel)
    run(panel, block="128")
    panel.get_by_label("warp instructions").check()
    panel.get_by_text("The PTX", exact=True).click()
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-body")).to_be_visible()
    page.evaluate("document.querySelectorAll('.run-here details').forEach(one => one.open = true)")
    page.evaluate("scrollTo(0, 0)")  # else the theme offers to go there
    assert all_barriers(page) == set()


def test_paper_has_no_panel(page: Page) -> None:
    panel = opened(page)
    page.emulate_media(media="print")
    assert not panel.is_visible()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_scripts_it_is_the_command(browser: Browser, scheme: str) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address(STORY))
    panel = page.locator(f"#{PANEL}")
    panel.locator("summary").first.click()
    command = "./tools/emulate ./run --once --variant interleaved"
    expect(panel.locator(".run-without")).to_contain_text(command)
    context.close()
