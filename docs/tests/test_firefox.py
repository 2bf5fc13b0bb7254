"""The device in the page, in Debian's Firefox and from the file system."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docs.tests.firefox import FIREFOX, Firefox, firefox
from docs.tests.test_browser import GUIDE, address
from docs.tests.test_run_here import recorded

pytestmark = [
    pytest.mark.release,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
    pytest.mark.skipif(not FIREFOX, reason="no firefox-esr on this machine"),
]

LINK = "#run=run-interleaved-modulo&variant=interleaved&n=2^20&block=256"
#: Waits for what a panel says of its run, and gives that with the table's counters.
SHOWN = """
  const panel = document.getElementById("run-interleaved-modulo");
  const status = () => panel.querySelector(".run-status")?.textContent ?? "";
  const soon = () => new Promise(done => setTimeout(done, 20));
  while (!status() || status().startsWith("Running")) await soon();
  const rows = [...panel.querySelectorAll(".run-counters tbody tr")]
    .map(one => [one.cells[0].textContent, Number(one.cells[1].textContent.replace(/\\D/g, ""))]);
  return { said: status(), counters: Object.fromEntries(rows) };
"""
STEPPED = """
  const panel = document.getElementById("run-interleaved-modulo");
  while (!panel.querySelector(".step-body")) await new Promise(done => setTimeout(done, 20));
  const said = panel.querySelector(".step-said").textContent;
  panel.querySelector('[aria-label="One step forward"]').click();
  return [said, panel.querySelector(".step-said").textContent];
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(tmp_path_factory.mktemp("firefox")) as session:
        yield session


def test_a_kernel_runs_and_counts_as_recorded(browser: Firefox) -> None:
    browser.open(address("chapters/chapter02_smem") + LINK)
    assert browser.run("return navigator.userAgent").count("Firefox/")
    assert browser.run("return location.protocol") == "file:"
    shown = browser.run(SHOWN)
    assert shown["said"].endswith("as expected.")
    native = recorded("chapter02_smem", "interleaved", 2**20)
    names = {
        "Global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "Global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "Global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "Shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "Shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "Warp instructions (of the PTX)": "source__warp_instructions.sum",
        "Thread instructions (of the PTX)": "source__thread_instructions.sum",
        "Diverging branches (of the PTX)": "source__diverging_branches.sum",
    }
    assert {name: shown["counters"][name] for name in names} == {
        name: native[metric] for name, metric in names.items()
    }


def test_the_stepper_steps(browser: Firefox) -> None:
    browser.open("about:blank")
    browser.open(address("chapters/chapter02_smem") + LINK.replace("2^20", "2^12") + "&step=global")
    first, then = browser.run(STEPPED)
    assert "32 of 32 lanes active: load 4 bytes each from global memory, 4 sectors" in first
    assert then.startswith("Warp ") and then != first


def test_another_count_would_be_seen(browser: Firefox) -> None:
    """At another size the same panel shows other counters: what was compared came of the run."""
    browser.open("about:blank")
    browser.open(address("chapters/chapter02_smem") + LINK.replace("2^20", "2^12"))
    native = recorded("chapter02_smem", "interleaved", 2**20)
    sectors = browser.run(SHOWN)["counters"]["Global load sectors"]
    assert 256 * sectors == native["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]


def test_what_fails_in_a_page_fails_here(browser: Firefox) -> None:
    with pytest.raises(AssertionError, match="nothing of that name"):
        browser.run("throw new Error('nothing of that name')")
