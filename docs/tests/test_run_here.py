"""Run it here, in a real browser, from the file system: the panel, the heat map and the stepper."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from common.records import columns
from docs.tests.test_browser import (
    EVERY_PAGE,
    GUIDE,
    ROOT,
    SCHEMES,
    SETTLED,
    SIDEWAYS,
    WIDTHS,
    address,
    all_barriers,
    as_wide_as,
)
from tools.tests.built import BUILD
from tools.tests.limits import LIMIT

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide", "embedded_device"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
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


@contextmanager
def looked(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page of such a reader, in which no script fails."""
    context = browser.new_context(reduced_motion="reduce", **options)
    context.add_init_script(LOOKED)
    made = context.new_page()
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    yield made
    context.close()
    assert faults == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with looked(browser) as made:
        yield made


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
    runs = columns.read(ROOT / "figures" / "data" / "embedded" / "counters.json")["runs"]
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
    expect(panel.locator(".run-counters caption")).to_contain_text(
        "n = 2\u00b9\u2074, block 128. Your last"
    )


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
        ({"n": "64Q"}, 'n: "64Q" is not a count; allowed: digits'),
        ({"n": ""}, 'n: "" is not a count; allowed: digits'),
        ({"n": "2^21"}, "n 2\u00b2\u00b9: a page takes n of 0, 1, 31, "),
        ({"n": "999"}, "n 999: a page takes n of 0, 1, 31, "),
        ({"block": "37"}, "block 37: a page takes blocks of 32, 64, 100, "),
        ({"n": "2^99"}, "n 2\u2079\u2079: a page takes n of 0, 1, 31, "),
        ({"n": "0"}, "n = 0"),
        ({"block": "0"}, 'block: "0" is not a whole number in range; allowed: 1 to 1024.'),
        ({"block": "1025"}, 'block: "1025" is not a whole number in range'),
        ({"block": "ten"}, 'block: "ten" is not a whole number in range'),
        ({"seed": "-1"}, 'seed: "-1" is not a whole number in range; allowed: 0 to 18\u202f446'),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_lost(
    page: Page, fields: dict[str, str], sentence: str
) -> None:
    panel = opened(page)
    panel.locator("input[name=seed]").fill("7")
    said = run(panel, **fields)
    assert sentence in said
    assert "as expected" not in said and "--" not in said
    wrong = [name for name in fields if fields != {"n": "0"}]
    marked = panel.locator("input[aria-invalid=true]")
    assert marked.evaluate_all("all => all.map(one => one.name)") == wrong
    for name, text in {"seed": "7", **fields}.items():
        expect(panel.locator(f"input[name={name}]")).to_have_value(text)
    assert panel.locator(".run-counters").count() == 0
    good = {"n": "2^10", "block": "64", "seed": "1"}
    assert run(panel, **good).endswith("as expected.")
    expect(marked).to_have_count(0)


def said_natively(*command: str | Path) -> str:
    """The one sentence that a command line is refused with, without whose it is."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 2, done
    return done.stderr.strip().split(": --", 1)[1]


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("seed", "-1"),
        ("seed", "many"),
        ("seed", str(2**64)),
        ("block", "0"),
        ("block", "ten"),
        ("n", "64Q"),
        ("schedule", "x"),
        ("schedule", "-1"),
        ("schedule", 20 * "9"),
    ],
)
def test_what_is_refused_is_refused_in_the_command_line_s_words(
    page: Page, field: str, typed: str
) -> None:
    program = BUILD / "chapters/chapter02_smem/chapter02_smem"
    if field == "schedule":
        said = said_natively(ROOT / "tools/emulate", "--schedule", f"apart:{typed}", program)
    else:
        said = said_natively(program, "--once", "--variant", "interleaved", f"--{field}={typed}")
    panel = opened(page)
    if field == "schedule":
        panel.get_by_text("Checks and schedule").click()
        panel.get_by_role("textbox", name="Schedule").fill(typed)
        panel.get_by_role("button", name="Run", exact=True).click()
    shown = outcome(panel) if field == "schedule" else run(panel, **{field: typed})
    # A page takes fewer elements than a program does.
    expected = page.evaluate("text => LadderPage.printed(text)", said).replace(
        "2\u2076\u2070", "2\u00b2\u2070"
    )
    assert shown == f"{expected}."


def test_a_program_s_own_refusal_has_no_flags(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    said = run(panel, block="100")
    assert said == "block 100: smem_classic takes powers of two from 1 to 1024."
    expect(panel.locator("input[name=block]")).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("typed", ["65536", "65 536", "65\u202f536", "64K", "2^16"])
def test_a_number_may_be_written_in_several_ways(page: Page, typed: str) -> None:
    panel = opened(page)
    assert run(panel, n=typed) == "sum 8\u202f363\u202f911 as expected."


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
    panel.get_by_role("button", name="Back to nvcc\u2019s PTX").click()
    assert run(panel, n="2^10").endswith("as expected.")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("replace(/\\.version .*/, '.version 99.9')", "up to .version 9, and not 99.9."),
        ("replace(/\\.target .*/, '.target sm_999')", ".target sm_999 is no architecture"),
        ("replace(/\\.target .*/, '.target sm_90, fast')", ".target fast is no architecture"),
    ],
)
def test_ptx_for_what_there_is_not_is_one_sentence(page: Page, change: str, said: str) -> None:
    panel = opened(page)
    change_ptx(panel, f"text.{change}")
    assert re.match(rf"PTX line \d+: .*{re.escape(said)}", outcome(panel))


def test_changed_ptx_runs_and_is_called_yours(page: Page) -> None:
    panel = opened(page)
    # Each block stores its number of threads in place of its sum.
    change_ptx(panel, r"text.replace(/(st\.global\.u32\s+\[%rd\d+\]),\s+%r\d+/, '$1, %ntid.x')")
    assert outcome(panel).startswith("Your PTX: sum is 65\u202f536, expected ")


def test_a_launch_is_stopped_and_the_next_one_runs(page: Page) -> None:
    panel = opened(page)
    change_ptx(panel, "text.replace(/bar\\.sync\\s+0;/, 'FOR_EVER: bra FOR_EVER;')")
    panel.get_by_role("button", name="Stop").click()
    assert outcome(panel).startswith("Stopped.")
    panel.get_by_role("button", name="Back to nvcc\u2019s PTX").click()
    assert run(panel, n="2^10").endswith("as expected.")


ENDLESS = "text.replace(/bar\\.sync\\s+0;/, 'FOR_EVER: bra FOR_EVER;')"


def test_what_is_asked_for_last_is_what_runs(page: Page) -> None:
    """A panel whose kernel never ends does something else when it is asked to."""
    panel = opened(page)
    change_ptx(panel, ENDLESS)
    panel.get_by_role("button", name="Back to nvcc\u2019s PTX").click()
    expect(panel.locator("> .run-status")).to_have_text("Running\u2026")
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-body")).to_be_visible(timeout=20_000)
    assert outcome(panel).startswith("Stepping through block 0")


def test_an_endless_kernel_can_be_stepped_through(page: Page) -> None:
    panel = opened(page)
    change_ptx(panel, ENDLESS)
    panel.get_by_role("button", name="Stop").click()
    outcome(panel)
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-body")).to_be_visible(timeout=60_000)
    expect(panel.locator(".step-count")).to_contain_text("Cut after 10\u202f000 instructions")


@pytest.mark.parametrize(
    "more", ["step=__proto__", "step=hasOwnProperty", "step=1&launch=-1&in=-1"]
)
def test_a_link_with_nonsense_opens_the_stepper_all_the_same(page: Page, more: str) -> None:
    page.goto(f"{address(STORY)}#run={PANEL}&n=2^10&block=64&{more}")
    panel = page.locator(f"#{PANEL}")
    expect(panel.locator(".step-said")).to_contain_text("lanes", timeout=60_000)
    assert outcome(panel).startswith("Stepping through block 0")


@pytest.mark.parametrize("missing", ["WebAssembly", "Worker"])
def test_a_browser_without_it_is_told(page: Page, missing: str) -> None:
    page.add_init_script(f"delete window.{missing};")
    panel = opened(page)
    said = run(panel, n="2^10")
    assert said.count(".") == 1
    assert re.search(missing, said, re.IGNORECASE)


# ------------------------------------------------------------------ the form and its outcomes


def test_the_first_pass_and_the_finished_sum_have_words(page: Page) -> None:
    panel = opened(page)
    choice = panel.locator(".run-field", has=page.locator("select"))
    expect(choice.locator("span")).to_have_text("sum")
    select = choice.locator("select")
    assert select.locator("option").all_text_contents() == ["first pass", "finished sum"]
    select.select_option(label="finished sum")
    assert run(panel).startswith("finished sum ")


def test_what_comes_of_a_try_hides_the_last_one(page: Page) -> None:
    panel = opened(page)
    results = panel.locator(".run-results")
    for field, text in [("n", "0"), ("n", "x"), ("block", "0"), ("seed", "x")]:
        run(panel, n="2^12", block="64", seed="1")
        panel.get_by_label("warp instructions").check()
        expect(results).to_be_visible()
        run(panel, **{field: text})
        expect(results).to_be_hidden()
        assert page.locator(".line.warm").count() == 0
    run(panel, n="2^12", block="64", seed="1")
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-body")).to_be_visible()
    expect(results).to_be_hidden()
    panel.get_by_role("button", name="Close").click()
    expect(results).to_be_visible()
    assert outcome(panel).endswith("as expected.")


def test_a_stopped_launch_leaves_no_results(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12")
    change_ptx(panel, "text.replace(/bar\\.sync\\s+0;/, 'FOR_EVER: bra FOR_EVER;')")
    stop = panel.get_by_role("button", name="Stop")
    stop.focus()
    page.keyboard.press("Enter")
    assert outcome(panel).startswith("Stopped.")
    expect(panel.locator(".run-results")).to_be_hidden()
    assert panel.locator(".run-form .run-go").evaluate("one => one === document.activeElement")


def test_run_keeps_the_focus(page: Page) -> None:
    panel = opened(page)
    go = panel.get_by_role("button", name="Run", exact=True)
    go.focus()
    page.keyboard.press("Enter")
    outcome(panel)
    assert go.evaluate("one => one === document.activeElement")


def test_the_heat_map_opens_what_it_colours(page: Page) -> None:
    """This page lists the kernel's code only in the panel's fold."""
    panel = opened(page, "chapters/chapter04_bank_conflicts", "run-smem-loop")
    code = panel.locator(".run-code").first
    code.evaluate("one => one.open = false")
    run(panel, n="2^12")
    panel.get_by_label("warp instructions").check()
    expect(code.locator(".line.warm").first).to_be_visible()


# ------------------------------------------------------------------ the table


def test_a_count_of_no_conflicts_is_shown(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12")
    shown = counters(panel)
    assert shown["Shared load bank conflicts"] == shown["Shared store bank conflicts"] == 0
    panel = opened(page, "chapters/chapter01_gmem", "run-gmem-interleaved")
    run(panel, n="2^12")
    assert not any(name.startswith("Shared") for name in counters(panel))


def test_counts_can_be_per_block(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12", block="64")
    caption = panel.locator(".run-counters caption")
    expect(caption).to_contain_text(
        "one launch of 64 blocks: interleaved, n = 2\u00b9\u00b2, block 64"
    )
    whole = counters(panel)
    panel.get_by_label("Counts per block").check()
    assert counters(panel) == {name: count // 64 for name, count in whole.items()}


def test_a_large_change_is_a_ratio(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^20", block="256")
    run(panel, n="2^10")
    loads = panel.locator(".run-counters tr", has_text="Global load requests")
    expect(loads.locator(".run-change")).to_have_text("\u25bc \u00f7\u202f1024")


def test_lanes_apart_are_not_held_against_hardware(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    run(panel, n="2^14", block="256")
    expect(panel.locator(".run-counters")).to_contain_text("H200\u2019s own")
    panel.get_by_role("button", name="Lanes apart").click()
    outcome(panel)
    expect(panel.locator(".run-counters caption")).to_contain_text("lanes apart, schedule 1")
    expect(panel.locator(".run-counters")).not_to_contain_text("H200\u2019s own")
    expect(panel.locator(".run-results")).to_contain_text("belong to lanes that run together")


def test_few_shapes_of_hardware_are_offered(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    run(panel, n="2^17", block="256")
    shapes = panel.locator(".run-note button").all_text_contents()
    assert 1 <= len(shapes) <= 3
    assert all(
        re.fullmatch(r"n = 2[\u2070-\u2079\u00b9\u00b2\u00b3]+, block 256", one) for one in shapes
    )


def test_every_row_s_term_is_in_the_glossary(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12")
    terms = panel.locator(".run-counters a").evaluate_all("all => all.map(one => one.href)")
    assert len(terms) == panel.locator(".run-counters tbody tr").count()
    glossary = (GUIDE / "glossary.html").read_text(encoding="utf-8")
    for address_of_term in set(terms):
        path, _, term = address_of_term.partition("#")
        assert path == address("glossary")
        assert f'id="{term}"' in glossary, term


def test_a_right_sum_with_a_race_has_no_tick(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    said = outcome(panel)
    assert re.search(r"as expected this time, but the checks found \d+ races?\.", said)
    expect(panel.locator("> .run-status.right")).to_have_count(0)
    expect(panel.locator("> .run-status.doubt")).to_be_visible()


def test_a_race_names_the_write_first_and_the_line_stands_out(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    outcome(panel)
    finding = panel.locator(".run-findings > li", has_text="read after write").first
    write, read = finding.locator(".run-quiet").all_text_contents()
    details = finding.locator("li").all_text_contents()
    assert any("writes" in one and write in one for one in details)
    assert any("reads" in one and read in one for one in details)
    finding.get_by_role("button").first.click()
    flashed = page.locator(".line.flash")
    expect(flashed).to_have_count(1)
    assert (flashed.locator(".linenos").text_content() or "").strip() == write.split(":")[1]


def test_a_narrow_screen_shows_one_finding(page: Page) -> None:
    as_wide_as(page, 360)
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    outcome(panel)
    assert panel.locator(".run-results > .run-findings > li:not(.run-rest)").count() == 1
    expect(panel.locator(".run-rest")).to_contain_text("more findings")


def test_a_mark_leaves_the_line_s_number_alone(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    panel.get_by_role("button", name="Look for races").click()
    outcome(panel)
    line = page.locator(".line.found:has(.linenos)").first
    ends = line.evaluate("""one => {
      const bar = getComputedStyle(one, "::before");
      const left = one.getBoundingClientRect().left + parseFloat(bar.left);
      const text = document.createRange();
      text.selectNodeContents(one.querySelector(".linenos"));
      return [left + parseFloat(bar.width), text.getBoundingClientRect().left, bar.content];
    }""")
    assert ends[0] < ends[1] and ends[2] == '""'


# ------------------------------------------------------------------ the PTX


def test_the_ptx_has_numbered_lines_and_an_error_leads_to_its_own(page: Page) -> None:
    panel = opened(page)
    change_ptx(panel, "text.replace('ld.shared', 'ld.sharded')")
    said = outcome(panel)
    (line,) = re.findall(r"PTX line (\d+):", said)
    panel.get_by_role("button", name=f"Go to PTX line {line}").click()
    area = panel.locator("textarea")
    assert area.evaluate("one => one === document.activeElement")
    chosen = area.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)")
    assert "ld.sharded" in chosen
    numbers = panel.locator(".ptx-lines")
    written = (numbers.text_content() or "").split("\n")
    assert written == [str(1 + at) for at in range(len(area.input_value().split("\n")))]
    style = "one => [getComputedStyle(one).fontFamily, getComputedStyle(one).lineHeight]"
    assert area.evaluate(style) == numbers.evaluate(style)
    assert "mono" in area.evaluate(style)[0].lower()
    assert area.evaluate("one => one.scrollTop") == numbers.evaluate("one => one.scrollTop") > 0


def test_a_change_of_the_ptx_belongs_to_its_variant(page: Page) -> None:
    panel = opened(page, "chapters/chapter04_bank_conflicts", "run-stride-walk")
    change_ptx(panel, "text + '\\n// mine'")
    assert outcome(panel).startswith("Your PTX: ")
    area = panel.locator("textarea")
    select = panel.locator("select[name=variant]")
    first = select.input_value()
    select.select_option(index=3)
    assert "// mine" not in area.input_value()
    assert not run(panel).startswith("Your PTX")
    select.select_option(first)
    assert area.input_value().endswith("// mine")
    panel.get_by_role("button", name="Copy link").click()
    expect(panel.locator("> .run-status")).to_contain_text("without your PTX")


def test_a_preset_runs_nvcc_s_ptx(page: Page) -> None:
    panel = opened(page, "notebooks/chapter02_smem", FAULTY)
    panel.locator("input[name=n]").fill("2^14")
    change_ptx(panel, "text + '\\n// mine'")
    assert outcome(panel).startswith("Your PTX: ")
    panel.get_by_role("button", name="Look for races").click()
    assert not outcome(panel).startswith("Your PTX")
    assert "// mine" not in panel.locator("textarea").input_value()
    panel.get_by_role("button", name="Back to my PTX").click()
    assert panel.locator("textarea").input_value().endswith("// mine")


# ------------------------------------------------------------------ links


def test_a_link_has_the_heat_map(page: Page) -> None:
    panel = opened(page)
    run(panel, n="2^12")
    panel.get_by_label("shared wavefronts").check()
    panel.get_by_role("button", name="Copy link").click()
    expect(panel.locator("> .run-status")).to_contain_text("opens this panel as it is")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(f"#{PANEL}").get_by_label("shared wavefronts")).to_be_checked()
    assert page.locator(".line.warm").count() > 0


def test_a_link_into_an_answer_waits_for_the_guess(browser: Browser) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    name = "run-interleaved-modulo"
    page.goto(f"{address('chapters/chapter03_divergence')}#run={name}&variant=interleaved&n=2^12")
    panel = page.locator(f"#{name}")
    box = page.locator("[data-guess]", has=panel)
    expect(box.locator(".run-later")).to_be_in_viewport()
    expect(panel).to_be_hidden()
    box.get_by_role("button", name="Just show me").click()
    expect(panel.locator("> .run-status")).to_contain_text("as expected")
    expect(box.locator(".run-later")).to_have_count(0)
    context.close()


def test_the_way_to_the_top_is_not_over_an_open_panel(page: Page) -> None:
    panel = opened(page)
    page.evaluate("document.querySelector('.back-to-top').style.display = 'block'")
    panel.scroll_into_view_if_needed()
    expect(page.locator(".back-to-top")).to_be_hidden()
    panel.locator("summary").first.click()
    expect(page.locator(".back-to-top")).to_be_visible()


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
    expect(panel.locator(".step-said")).to_contain_text("load 4 bytes each from shared memory")
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


@pytest.mark.parametrize(
    ("name", "panel"),
    [(STORY, FAULTY), ("notebooks/chapter05_unroll4", "run-last-warp-classic")],
)
def test_a_faulty_kernel_opens_between_the_lines_that_race(
    page: Page, name: str, panel: str
) -> None:
    stepper = stepping(page, name, panel)
    opened_at = stepper.locator(".step-opened")
    expect(opened_at).to_contain_text("Opened at a race: lane 0 reads what lane 16 wrote in step ")
    here, _last = at_step(stepper)
    second = stepper.locator(".step-source").text_content() or ""
    assert "[t + 16]" in second
    opened_at.get_by_role("button").click()
    assert at_step(stepper)[0] < here
    expect(stepper.locator(".step-said")).to_contain_text("store 4 bytes each to shared memory")
    assert "[t + 32]" in (stepper.locator(".step-source").text_content() or "")


#: What follows each other in the one warp of a trace, and whether the first race is at the end.
ORDERS = [
    (["write 0", "read 4"], True),
    (["read 4", "write 0"], True),
    (["write 0", "write 4"], True),
    (["write 0", "change 4"], True),
    (["write 0", "read 0"], False),
    (["read 0", "read 4"], False),
    (["change 0", "change 4"], False),
    (["write 0", "bar.sync 0", "read 4"], False),
    (["write 0", "bar.warp.sync -1", "read 4"], False),
    (["write 0", "bar.warp.sync -1", "read 64"], True),  # a barrier of one warp is not the block's
    (["write 0", "bar.sync 0", "read 64"], False),
    (["write 0", "add.s32 %r1", "read 4"], True),
]
TRACED = """orders => {
  const KINDS = { write: "store", read: "load", change: "atomic" };
  const steps = orders.flatMap(order => {
    const [what, thread] = order.split(" ");
    if (!KINDS[what]) return [0, 1, 2].map(warp =>
      ({ warp, op: order, active: Array.from({ length: 32 }, (_, lane) => lane) }));
    const lane = thread % 32;
    return [{ warp: Math.floor(thread / 32), op: what, active: [lane], access: [
      { space: "shared", direction: KINDS[what], bytes: 4, lanes: [lane], address: [128] }] }];
  });
  const race = LadderStarts.firstRace(steps);
  return race && race.now.at === steps.length - 1;
}"""


def test_a_race_is_what_no_barrier_orders(page: Page) -> None:
    opened(page)
    for orders, races in ORDERS:
        assert bool(page.evaluate(TRACED, orders)) == races, orders


def test_an_instruction_of_a_header_is_shown_at_its_call(page: Page) -> None:
    panel = stepping(page, "chapters/chapter08_multi_pass", "run-last-block")
    source = panel.locator(".step-source")
    expect(source).to_contain_text("device_atomic_functions.hpp, line ")
    expect(source).to_contain_text("called at kernels.cuh, line ")
    expect(source.locator("code")).to_contain_text("atomicInc(ticket, gridDim.x - 1)")
    expect(page.locator(".listing .line.now").first).to_contain_text("atomicInc(ticket")


def test_the_addresses_of_the_lanes_are_a_fold(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    fold = panel.locator(".run-steps details", has_text="Addresses, from the start of the block")
    expect(fold.locator("li").first).to_be_hidden()
    fold.locator("summary").click()
    written = fold.locator("li").all_text_contents()
    assert written[:2] == ["lane 0: 0x80", "lane 2: 0x88"]  # of warp 1
    page.keyboard.press("PageDown")  # it stays open
    expect(fold.locator("li").first).to_be_visible()
    panel.locator(".step-body").focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    addresses = panel.locator(".step-addresses li").all_text_contents()
    numbers = [int(one.split(": ")[1], 16) for one in addresses]
    assert [each - numbers[0] for each in numbers] == [4 * lane for lane in range(32)]
    assert numbers[0] > 2**32


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


def test_the_stepper_is_on_screen_and_says_why_it_begins_there(page: Page) -> None:
    panel = opened(page, "chapters/chapter03_divergence")
    run(panel, n="2^12", block="64")
    panel.get_by_role("button", name="Step through it").click()
    expect(panel.locator(".step-said")).to_be_in_viewport()
    expect(panel.locator(".step-said")).to_contain_text("16 lanes jump, 16 go on.")
    begun = "Opened at the first branch that parts the lanes."
    expect(panel.locator(".step-opened")).to_contain_text(begun)
    expect(panel.locator(".step-head")).to_have_text("interleaved, n = 2\u00b9\u00b2, block 64")
    expect(panel.get_by_text(re.compile("^Keys: .*Escape closes"))).to_be_visible()


def test_what_the_stepper_shows_stays_its_own_launch(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    panel.locator("input[name=n]").fill("2^13")
    panel.get_by_label("which block").fill("3")
    page.keyboard.press("Tab")
    expect(panel.locator("> .run-status")).to_have_text("Stepping through block 3 of 64.")
    expect(panel.locator(".step-head")).to_contain_text("n = 2\u00b9\u00b2")
    panel.get_by_label("which block").fill("64")
    page.keyboard.press("Tab")
    expect(panel.locator("> .run-status")).to_contain_text("a number from 0 to 63")
    panel.locator(".step-body").focus()
    page.keyboard.press("Escape")
    expect(panel.locator(".run-steps")).to_be_hidden()
    assert panel.get_by_role("button", name="Step through it").evaluate(
        "one => one === document.activeElement"
    )


def test_the_stepper_speaks_in_words(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    panel.get_by_role("button", name="First step").click()
    expect(panel.locator(".step-said")).to_contain_text("read a kernel argument")
    expect(panel.get_by_role("button", name="warp 1, not begun")).to_be_visible()
    expect(panel.locator(".step-lanes")).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(panel.locator(".step-lanes")).to_be_visible()
    expect(panel.locator(".run-steps")).to_contain_text("s is the sector")
    # No instruction of this kernel is without its words.
    page.keyboard.press("Home")
    last = at_step(panel)[1]
    spoken = set()
    for _ in range(last - 1):
        spoken.add(panel.locator(".step-said").text_content())
        page.keyboard.press("ArrowRight")
    assert not [one for one in spoken if re.search(r"%|\[", one or "")]


def test_the_stepper_finds_the_next_line_and_the_next_barrier(page: Page) -> None:
    panel = stepping(page, block="64", n="2^12")
    panel.get_by_role("button", name="First step").click()
    source = panel.locator(".step-source")
    before = source.text_content()
    page.keyboard.press("l")
    assert source.text_content() != before
    panel.get_by_role("button", name="Next barrier").click()
    expect(panel.locator(".step-said")).to_contain_text("wait at the block\u2019s barrier")
    here = at_step(panel)[0]
    page.keyboard.press("b")
    assert at_step(panel)[0] > here
    expect(panel.locator(".step-op")).to_contain_text("bar.sync")


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
      await LadderPage.load("starts.js");
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
            choices = panel.locator("select[name=variant] option").all_text_contents()
            if "undefined" in choices or len(set(choices)) < len(choices):
                unknown[f"{name}#{panel.get_attribute('id')}"] = str(choices)
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
    assert not page.evaluate(SIDEWAYS)


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
    command = "../tools/emulate ./run --once --variant interleaved"
    expect(panel.locator(".run-without")).to_contain_text(command)
    context.close()
