"""Who is in this sum? Asked of a kernel's panel, in a real browser, from the file system."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from docs.tests.test_browser import SIDEWAYS, address
from docs.tests.test_run_here import looked, opened, outcome, page, run

pytestmark = [pytest.mark.all, pytest.mark.built("guide")]

__all__ = ["page"]
ASK = "Who is in this sum?"
#: Edits of the PTX of `interleaved`, and what is then said.
FAULTS = {
    "subtracted": (
        r"(ld\.shared\.u32.*\s+ld\.shared\.u32.*\s+)add\.s32",
        r"\1sub.s32",
        "are subtracted",
        "turned",
    ),
    "missing": (r"shl\.b32(\s+%r\d+, %r\d+), 1;", r"shl.b32\1, 2;", "are missing", "missing"),
    "twice": (
        r"(ld\.shared\.u32\s+(%r\d+), \[%r5\];\s+ld\.shared\.u32\s+(%r\d+).*\s+"
        r"add\.s32\s+%r\d+, )%r\d+, %r\d+;",
        r"\1\3, \3;",
        "in it",
        "often",
    ),
}
#: All variants of the page's chapters whose results are sums, at a small size: those that are right
#: with lanes together, or the classic faulty forms, with lanes apart too.
EVERY = """async (legacy) => {
  await LadderPage.load("plans.js");
  await LadderPage.load("client.js");
  const base = LadderPage.base;
  const device = await LadderDevice.open(base, "device_sums");
  const told = [];
  for (const chapter of ["chapter01_gmem", "chapter02_smem", "chapter03_divergence",
      "chapter04_bank_conflicts", "chapter05_unroll4", "chapter06_dynamic_smem",
      "chapter07_effective_bandwidth", "chapter08_multi_pass", "chapter12_rows"]) {
    await LadderPlans.load(base, chapter);
    for (const variant of LadderPlans.variants(chapter)) {
      if (!variant.sums || Boolean(variant.legacy) !== legacy) continue;
      const offered = (n) => variant.sizes.find((one) => one >= n) ?? variant.sizes.at(-1);
      const tries = [1000, ...(legacy ? [4096, 1] : [])].flatMap((n) =>
        [null, ...(legacy ? [1] : [])].map((apart) => [offered(n), apart]));
      for (const [n, apart] of tries) {
        const plan = LadderPlans.plan(chapter, variant.name, {n, block: variant.default_block});
        const name = `${chapter} ${variant.name}, n = ${n}, schedule ${apart}`;
        if (!plan.request) { told.push({name, why: JSON.stringify(plan)}); continue; }
        const result = await device.run({...plan.request, checks: "sum", apart, limit: 0});
        const stopped = Boolean(result.error || result.fault);
        const ok = !stopped && plan.expect(result.read).ok;
        const sums = (result.findings ?? []).filter(one => one.check === "sum");
        told.push({name, ok, stopped, sums, error: result.error});
      }
    }
  }
  return told;
}"""


def ask(panel: Locator, **fields: str) -> tuple[str, Locator]:
    """What the panel says, and its section on the sum."""
    for name, text in fields.items():
        panel.locator(f"input[name={name}]").fill(text)
    panel.get_by_role("button", name=ASK).click()
    return outcome(panel), panel.get_by_role("region", name=ASK)


def test_a_right_sum_is_proved_and_drawn(page: Page) -> None:
    panel = opened(page)
    run(panel, n="1000")
    loaded = page.locator("script[src$='device_sums.js']")
    assert loaded.count() == 0, "readers who don't ask don't wait for it"
    said, sums = ask(panel)
    assert loaded.count() == 1
    assert said.endswith("as expected.")
    expect(sums.locator(".sum-said.right")).to_contain_text("each of 1000 elements is in them once")
    expect(sums).to_contain_text("proved for all data of this size and launch")
    assert sums.locator(".sum-cells i").count() == 1000
    assert sums.locator(".sum-cells i:not(.sum-once)").count() == 0
    label = sums.get_by_role("img").get_attribute("aria-label") or ""
    assert label.startswith("1000 elements: ") and "is in them once, for all data" in label
    run(panel)
    expect(sums).to_have_count(0)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_sum_names_its_elements_and_the_line(page: Page, fault: str) -> None:
    pattern, to, words, kind = FAULTS[fault]
    panel = opened(page)
    panel.locator("input[name=n]").fill("1000")
    panel.get_by_text("The PTX", exact=True).click()
    editor = panel.locator("textarea")
    expect(editor).not_to_have_value("")
    ptx = editor.input_value()
    changed = re.sub(pattern, to, ptx, count=1)
    assert changed != ptx
    editor.fill(changed)
    _, sums = ask(panel)
    assert panel.locator("> .run-status.wrong").count() == 1
    expect(sums.locator(".sum-said.wrong")).to_contain_text(words)
    cells = sums.locator(f".sum-cells .sum-{kind}").count()
    assert 0 < cells < 1000
    assert sums.locator(f".sum-legend .sum-{kind}").count() == 1
    expect(page.locator(".line.found").first).to_contain_text("tile[t]")
    sums.get_by_role("button", name=re.compile(r"kernels\.cuh:\d+")).first.click()
    expect(page.locator(".line.flash").first).to_be_in_viewport()


def test_a_large_sum_has_cells_of_several_elements(page: Page) -> None:
    _, sums = ask(opened(page), n="2^14")
    assert sums.locator(".sum-cells i").count() == 1024
    expect(sums.locator(".sum-legend")).to_contain_text("Each cell is 16 elements, each row 512")


def test_it_is_asked_by_keyboard_and_by_link(page: Page) -> None:
    panel = opened(page)
    panel.locator("input[name=n]").fill("33")
    button = panel.get_by_role("button", name=ASK)
    button.focus()
    page.keyboard.press("Enter")
    outcome(panel)
    panel.get_by_role("button", name="Copy link").click()
    expect(panel.locator("> .run-status")).to_contain_text("link")
    assert "checks=sum" in page.url
    page.reload()
    expect(page.get_by_role("region", name=ASK)).to_contain_text("each of 33 elements")


def test_where_nothing_is_summed_it_is_not_offered(page: Page) -> None:
    page.goto(address("chapters/chapter10_coalescing"))
    panel = page.locator("details.run-here").first
    panel.evaluate("one => { one.open = true; }")
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_visible()
    assert panel.get_by_role("button", name=ASK).count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser: Any, scheme: str) -> None:
    options = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with looked(browser, **options) as narrow:
        _, sums = ask(opened(narrow), n="1000")
        box = sums.locator(".sum-cells").bounding_box()
        assert box and box["width"] <= 340
        assert not narrow.evaluate(SIDEWAYS)


def test_no_right_kernel_of_the_book_is_accused(page: Page) -> None:
    page.goto(address("chapters/chapter02_smem"))
    told = page.evaluate(EVERY, False)
    assert len(told) > 30
    for each in told:
        assert each.get("ok"), each
        sums = each["sums"]
        assert sums and not any(one["fault"] for one in sums), each
        assert any(one["sum"] and not one["sum"]["others"] for one in sums), each


def test_of_the_faulty_forms_it_says_what_is_so(page: Page) -> None:
    """A wrong sum has its elements named; a right one is accused only where it is right by luck."""
    page.goto(address("chapters/chapter02_smem"))
    told = page.evaluate(EVERY, True)
    assert len({each["name"].partition(",")[0] for each in told}) >= 10
    accused = 0
    for each in told:
        assert "why" not in each and not each["error"], each
        sums = each["sums"]
        if each["stopped"]:
            assert not any(one["fault"] or one["sum"] for one in sums), each
        elif each["ok"]:
            faults = [one["what"] for one in sums if one["fault"]]
            assert sums and all("memory that was never written" in what for what in faults), each
        else:
            lines = [line for one in sums for line in (one["what"], *one["details"])]
            foreign = any("elements of other memory too" in line for line in lines)
            none = any("nothing back that an element of its data is in" in line for line in lines)
            unwritten = any("memory that was never written" in line for line in lines)
            named = any(one["fault"] and one["sum"] and one["sum"]["others"] for one in sums)
            assert named or foreign or none or unwritten, each
            assert not any(one["sum"] and one["sum"]["proved"] for one in sums), each
            accused += 1
    assert accused >= 4


def test_parameters_have_the_names_of_the_listing(page: Page) -> None:
    _, sums = ask(opened(page), n="1000")
    expect(sums.locator(".sum-said").first).to_contain_text("partial[0 … 3] are sums of in: each")
    assert "argument" not in sums.inner_text()
    names = page.evaluate("""() => ["chapter02::interleaved(const int *, int *, unsigned long)",
      "interleaved(const int *)", "not_shown(int *)"].map(window.LadderLines.parameters)""")
    assert names == [["in", "partial", "n"], None, None]
