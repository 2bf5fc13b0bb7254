"""What a reader moves by hand shows what the hardware does."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from common.records.counters import NCU
from common.records.recordings import Recordings
from docs.tests.test_browser import GUIDE, address
from docs.tests.test_run_here import looked
from figures.chapters.chapter13_small_and_large import ring
from tools.tests.built import ROOT

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]

BANKS = "chapters/chapter04_bank_conflicts"
PACKER = "chapters/chapter06_dynamic_smem"
PIPE = "chapters/chapter05_unroll4"
SECTORS = "chapters/chapter10_coalescing"
FENCES = "chapters/chapter08_multi_pass"
ROUNDING = "chapters/chapter11_floats"
RING = "chapters/chapter13_small_and_large"
LANES = 32
#: All strides of the slider with the passes that are shown for each.
SHOWN = """toy => {
  const slider = toy.querySelector("input[type=range]");
  return Array.from({ length: 1 + Number(slider.max) }, (_, stride) => {
    slider.value = String(stride);
    slider.dispatchEvent(new Event("input"));
    return Number(toy.dataset.passes);
  });
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with looked(browser, viewport={"width": 1280, "height": 900}) as made:
        yield made


def opened(page: Page, name: str) -> Locator:
    """The only toy of a page, in view."""
    page.goto(address(name))
    toy = page.locator(".toy")
    toy.scroll_into_view_if_needed()
    return toy


def passes(stride: int, spare: bool) -> int:
    """By the rule: words of one bank take turns, and a word goes to all lanes that want it."""
    words = {lane * stride + (lane * stride // LANES if spare else 0) for lane in range(LANES)}
    return max(sum(word % LANES == bank for word in words) for bank in range(LANES))


def test_a_warp_takes_the_passes_that_the_rule_says(page: Page) -> None:
    page.goto(address(BANKS))
    plain, spared = page.locator(".toy").all()
    assert plain.evaluate(SHOWN) == [passes(stride, False) for stride in range(65)]
    assert spared.evaluate(SHOWN) == [passes(stride, False) for stride in range(65)]
    spared.locator("input[type=checkbox]").check()
    assert spared.evaluate(SHOWN) == [passes(stride, True) for stride in range(65)]
    assert plain.evaluate(SHOWN)[32] == 32, "one toy moves the other"


def test_the_gpu_counted_as_many(page: Page) -> None:
    recorded = Recordings(ROOT)
    counted = {
        stride: _wavefronts(recorded, f"stride{stride}") / _wavefronts(recorded, "stride1")
        for stride in range(1, 34)
    }
    page.goto(address(BANKS))
    shown = page.locator(".toy").first.evaluate(SHOWN)
    assert counted == {stride: pytest.approx(shown[stride], rel=0.01) for stride in counted}


def _wavefronts(recorded: Recordings, variant: str) -> float:
    (launch,) = recorded.counters("chapter04_bank_conflicts", variant).run["launches"]
    return launch["metrics"][NCU["shared_load_wavefronts"]]


def test_as_many_blocks_fit_as_the_occupancy_calculator_found(page: Page) -> None:
    page.goto(address(PACKER))
    known = {
        (run["block"], run["registers"], run["shared_bytes"]): run["blocks_per_sm"]
        for recording in Recordings(ROOT).reference.chapters.values()
        for run in recording.data["runs"]
        if run["blocks_per_sm"]
    }
    assert len(known) > 100 and len(set(known.values())) > 8
    fits = page.evaluate(
        "all => all.map(one => LadderPage.fit('H100, H200', ...one).blocks)", list(map(list, known))
    )
    wrong = {
        block: (found, right)
        for (block, right), found in zip(known.items(), fits, strict=True)
        if found != right
    }
    assert not wrong


def test_an_edge_is_felt(page: Page) -> None:
    toy = opened(page, PACKER)
    said = toy.locator("[role=status]")
    expect(said).to_have_text("8 blocks fit, occupancy 100 %. Threads and registers run out first.")
    toy.get_by_label("Shared memory per block").fill("113")
    expect(said).to_have_text("2 blocks fit, occupancy 25 %. Shared memory runs out first.")
    toy.get_by_label("one byte more").check()
    expect(said).to_have_text("1 block fits, occupancy 12.5 %. Shared memory runs out first.")
    toy.get_by_label("Card").select_option("T4")
    expect(said).to_contain_text("The launch is refused: no block may have that much")
    toy.get_by_label("one byte more").uncheck()
    toy.get_by_label("Shared memory per block").fill("1")
    toy.get_by_label("Threads per block").fill("1024")
    toy.get_by_label("Registers per thread").fill("96")
    expect(said).to_contain_text("one block needs more registers than the SM has")


def test_the_pipe_holds_what_little_s_law_says(page: Page) -> None:
    recorded = Recordings(ROOT)
    toy = opened(page, PIPE)
    others = [n for n, known in recorded.second.items() if "chapter00_timing" in known.chapters]
    names = [recorded.reference.name, *others]
    assert others
    assert toy.get_by_label("Card").locator("option").count() == len(names)
    for at, name in enumerate(names):
        device = recorded.device(name)
        chase = recorded.run("chapter00_timing", "pointer_chase", only=name).run
        lone = 1000 * chase["median_us"] / float(chase["params"]["hops"])
        toy.get_by_label("Card").select_option(index=at)
        for loads, bytes_, threads, share, factor in (
            (1, 4, 2048, 100, 100),
            (8, 4, 2048, 65, 200),
            (16, 16, 32, 5, 300),
            (3, 8, 1024, 30, 150),
        ):
            toy.get_by_label("Loads in flight").fill(str(loads))
            toy.get_by_label("Bytes per load").select_option(str(bytes_))
            toy.get_by_label("Threads on the SM").fill(str(threads))
            toy.get_by_label("Share of their lives").fill(str(share))
            toy.get_by_label("A load takes").fill(str(factor))
            latency = lone * factor / 100
            in_flight = threads * loads * bytes_ * share / 100
            rate = min(in_flight * device["sm_count"] / latency, device["peak_gb_per_s"])
            assert float(toy.get_attribute("data-in-flight") or 0) == pytest.approx(in_flight)
            assert float(toy.get_attribute("data-rate") or 0) == pytest.approx(rate)
            said = toy.locator("[role=status]").inner_text()
            assert ("full, at" in said) == (rate == device["peak_gb_per_s"])


def test_a_warp_touches_the_sectors_that_the_gpu_counted(page: Page) -> None:
    recorded = Recordings(ROOT)
    toy = opened(page, SECTORS)
    asked = {f"load_stride{stride}": (stride, 0, 4) for stride in (1, 2, 3, 4, 8, 16, 32)}
    asked |= {f"load_offset{late}": (1, late, 4) for late in (0, 1, 2, 4, 7, 8, 9, 16, 32)}
    asked |= {"copy8": (2, 0, 8), "copy16": (4, 0, 16), "vec3_packed": (3, 0, 4)}
    for variant, (stride, late, width) in asked.items():
        toy.get_by_label("Lane k begins").fill(str(stride))
        toy.get_by_label("plus").fill(str(late))
        toy.get_by_label("Bytes per lane").select_option(str(width))
        (launch,) = recorded.counters("chapter10_coalescing", variant).run["launches"]
        found = [launch["metrics"][NCU[f"global_load_{what}"]]
                 for what in ("sectors", "requests")]  # fmt: skip
        shown = float(toy.get_attribute("data-sectors") or 0)
        assert found[0] / found[1] == pytest.approx(shown, rel=1e-3), variant


def test_a_load_that_is_not_aligned_is_an_error(page: Page) -> None:
    toy = opened(page, SECTORS)
    said = toy.locator("[role=status]")
    toy.get_by_label("Lane k begins").fill("0")
    expect(said).to_have_text("1 sector, 32 bytes: 13 % of them wanted.")
    toy.get_by_label("Bytes per lane").select_option("16")
    expect(said).to_have_text("1 sector, 32 bytes: 50 % of them wanted.")
    toy.get_by_label("Lane k begins").fill("4")
    expect(said).to_have_text("16 sectors, 512 bytes: 100 % of them wanted.")
    toy.get_by_label("plus").fill("2")
    expect(said).to_contain_text("this load is an error")
    assert toy.get_attribute("data-sectors") == "0"


#: Where the sliders end up, wherever they are moved to, and whether the sum is wrong there.
ORDERS = """toy => {
  const [sum, read] = toy.querySelectorAll("input[type=range]");
  const to = (slider, value) => {
    slider.value = String(value);
    slider.dispatchEvent(new Event("input"));
  };
  const found = [];
  for (let arrives = Number(sum.min); arrives <= Number(sum.max); ++arrives) {
    for (let dates = Number(read.min); dates <= Number(read.max); ++dates) {
      to(sum, arrives);
      to(read, dates);
      found.push([Number(sum.value), Number(read.value), toy.dataset.wrong === "yes"]);
    }
  }
  return found;
}"""


def test_only_both_fences_leave_no_order_that_goes_wrong(page: Page) -> None:
    toy = opened(page, FENCES)
    first, last = 2, 8  # before the fence before a ticket, behind the one behind
    for writers in (False, True):
        for readers in (False, True):
            toy.get_by_label("Block 0’s fence").set_checked(writers)
            toy.get_by_label("Block 1’s fence").set_checked(readers)
            expected = {
                (arrives, dates, dates < arrives)
                for arrives in range(11)
                for dates in range(11)
                if (arrives <= first or not writers) and (dates >= last or not readers)
            }
            assert set(map(tuple, toy.evaluate(ORDERS))) == expected
            assert any(wrong for *_, wrong in expected) == (not (writers and readers))


def test_a_toy_and_its_controls_agree_after_going_back(page: Page) -> None:
    toy = opened(page, FENCES)
    toy.get_by_label("sum arrives").fill("9")
    toy.get_by_label("Block 1\u2019s fence").check()
    page.goto(address(BANKS))
    page.go_back()
    toy.scroll_into_view_if_needed()
    expect(toy.get_by_label("sum arrives")).to_have_value("2")
    expect(toy.get_by_label("Block 1\u2019s fence")).not_to_be_checked()
    expect(toy.locator("[role=status]")).to_contain_text("Right this time")


def test_a_wide_table_scrolls_in_its_box(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    toy = opened(page, ROUNDING)
    toy.get_by_label("Add up").select_option(index=1)
    toy.get_by_label("Method").select_option("In a tree")
    toy.get_by_role("button").nth(7).click()
    inner = "one => one.scrollWidth <= one.clientWidth"
    assert toy.evaluate(inner)
    assert page.locator(".content").first.evaluate(inner)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_fence_moves_what_it_forbids(page: Page) -> None:
    toy = opened(page, FENCES)
    said = toy.locator("[role=status]")
    expect(said).to_have_text("Right this time, but nothing guarantees it.")
    toy.get_by_label("sum arrives").fill("9")
    expect(said).to_contain_text("Wrong: block 1 adds up an old value")
    toy.get_by_label("Block 0’s fence").check()
    expect(said).to_have_text("Right this time, but nothing guarantees it.")
    expect(toy.get_by_label("sum arrives")).to_have_value("2")
    toy.get_by_label("sum arrives").press("End")
    expect(toy.get_by_label("sum arrives")).to_have_attribute(
        "aria-valuetext", "moment 2 of 10, before both tickets, held by the fence"
    )
    toy.get_by_label("Block 1 reads what was there").fill("1")
    expect(said).to_contain_text("Wrong")
    toy.get_by_label("Block 1’s fence").check()
    expect(said).to_have_text("Right, in every order that the two fences allow.")


@pytest.mark.parametrize("stages", range(1, 9))
def test_a_ring_turns_as_in_the_picture(page: Page, stages: int) -> None:
    toy = opened(page, RING)
    toy.get_by_label("Stages").fill(str(stages))
    for trip, adds in ((5, 1.25), (5, 2.5), (10, 0.25), (1, 5), (3.5, 0.5), (7, 1)):
        toy.get_by_label("on its way for").fill(str(trip))
        toy.get_by_label("Adding it up takes").fill(str(adds))
        shown = json.loads(toy.get_attribute("data-pieces") or "")
        expected = [
            {name: getattr(piece, name) for name in ("stage", "asked", "there", "begun", "done")}
            for piece in ring.pieces(stages, 20, trip, adds)
        ]
        assert shown == expected
        # In the long run: what is added up at the very end, and at the start, hardly counts.
        idle = ring.idle(ring.pieces(stages, 4000, trip, adds), trip)
        busy = float(toy.get_attribute("data-busy") or 0)
        assert busy == pytest.approx(1 - idle, abs=0.01)
        said = toy.locator("[role=status]").inner_text()
        assert ("never wait" in said) == (idle < 0.005) == (stages >= 1 + trip / adds)


def _one_by_one(xs: list[np.float32]) -> np.float32:
    total = np.float32(0)
    for x in xs:
        total += x
    return total


def _in_a_tree(xs: list[np.float32]) -> np.float32:
    sums, hop = list(xs), len(xs) // 2
    while hop:
        sums[:hop] = [one + other for one, other in zip(sums[:hop], sums[hop:], strict=False)]
        hop //= 2
    return sums[0]


def _kahan(xs: list[np.float32]) -> np.float32:
    total = excess = np.float32(0)
    for x in xs:
        wanted = x - excess
        after = total + wanted
        total, excess = after, (after - total) - wanted
    return total


def _neumaier(xs: list[np.float32]) -> np.float32:
    total = lost = np.float32(0)
    for x in xs:
        after = total + x
        lost += (total - after) + x if abs(total) >= abs(x) else (x - after) + total
        total = after
    return total + lost


def _in_a_double(xs: list[np.float32]) -> np.float32:
    total = np.float64(0)
    for x in xs:
        total += np.float64(x)
    return np.float32(total)


#: As chapter 11's kernels add, in NumPy's floats.
WAYS = {
    "One by one": _one_by_one,
    "In a tree": _in_a_tree,
    "Kahan": _kahan,
    "Neumaier": _neumaier,
    "In a double": _in_a_double,
}
#: The elements of the first data that are moved to the front, one after the other.
FRONTS = (0, 7, 7, 4, 5, 2)


def test_floats_round_as_numpy_s_do(page: Page) -> None:
    toy = opened(page, ROUNDING)
    large, huge, far = 2**24, 2**60, 2**28
    given = [
        [large, 1, 1, 1, 1, 1, 1, 2],
        [large, 3, 5, 7, -large, 1, 2, 3],
        [huge, far, 1, 2, -far, -huge, 3, 4],
    ]
    right: dict[str, list[bool]] = {way: [] for way in WAYS}
    for at, numbers in enumerate(given):
        for way, add in WAYS.items():
            toy.get_by_label("Add up").select_option(index=at)
            toy.get_by_label("Add up").dispatch_event("change")  # back to the order as given
            toy.get_by_label("Method").select_option(way)
            order = list(numbers)
            for front in FRONTS:
                if front:
                    toy.get_by_role("button").nth(front).click()
                    order.insert(0, order.pop(front))
                found = add([np.float32(x) for x in order])
                assert float(toy.get_attribute("data-value") or "nan") == float(found), (way, order)
                right[way].append(float(found) == sum(numbers))
                said = toy.locator("[role=status]").inner_text()
                assert ("exactly right" in said) == right[way][-1]
    for way, verdicts in right.items():
        assert len(set(verdicts)) == 2, f"{way} is always right or never"
    expect(toy.get_by_role("button", name="move to the front")).to_have_count(8)


def test_it_is_moved_by_keys(page: Page) -> None:
    page.goto(address(BANKS))
    toy = page.locator(".toy").last
    toy.scroll_into_view_if_needed()
    slider, said = toy.locator("input[type=range]"), toy.locator("[role=status]")
    expect(said).to_have_text("1 bank is busy, the busiest with 32 words: 32 passes.")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text("32 banks are busy, the busiest with 1 word: 1 pass.")
    expect(slider).to_have_attribute("aria-valuetext", "stride 33")
    page.keyboard.press("Home")
    expect(said).to_contain_text("All lanes want the same word")


def test_without_scripts_nothing_is_there(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in (BANKS, PACKER, PIPE, SECTORS, FENCES, ROUNDING):
        page.goto(address(name))
        for toy in page.locator(".toy").all():
            expect(toy).to_be_hidden()
    context.close()
