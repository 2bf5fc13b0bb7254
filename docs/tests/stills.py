"""What a panel's stepper shows where it starts, as docs/stills.json.gz keeps it.

    python -m docs.tests.stills

writes that file anew from the guide that is built (GUIDE_HTML, else build/guide).
"""

from __future__ import annotations

import functools
import json
from typing import Any

from bs4 import BeautifulSoup
from playwright.sync_api import Page, expect, sync_playwright

from common.records import columns
from docs.tests.test_browser import GUIDE, ROOT, address
from docs.tests.test_run_here import LOOKED, OPEN
from tools.browser import launched

FILE = ROOT / "docs/stills.json.gz"
#: Reads one step off the page: see docs/_ext/ladder/stills.py. Numbers of lines and steps stay out:
#: they change with every line that is added above.
READ = """panel => {
  const text = (root, name) => root.querySelector(name)?.textContent.trim() ?? "";
  const cells = row => [...row.querySelectorAll("i")]
    .map(one => ({ on: "#", was: "+" })[one.className] ?? ".").join("");
  const rows = (root, name) => [...root.querySelectorAll(`${name} .step-row`)]
    .map(row => [text(row, ".step-label").split(",")[0], cells(row)]);
  const block = text(panel, ":scope > .run-status").match(/block .*(?=\\.$)/)[0];
  const lanes = panel.querySelector(".step-lanes");
  const code = text(panel, ".step-source code");
  const race = text(panel, ".step-opened").match(/^Opened at a race: (.*) in step .*?(, .*two\\.)/);
  const place = panel.querySelector(".step-source").firstChild?.data ?? "";
  return {
    head: `${text(panel, ".step-head")}: ${block}.`,
    said: text(panel, ".step-said"),
    race: race ? `A race: ${race[1]}${race[2]}` : "",
    source: [place.replace(/, line \\d+/g, ""), code],
    warps: rows(panel, ".step-grid"),
    lanes: lanes.hidden ? [] : [...lanes.children].map(one =>
      [one.children[1].textContent.trim(), one.children[2].textContent, one.className]),
    key: text(panel, ".step-lanes + .step-legend"),
    access: [...panel.querySelectorAll(".step-access")].filter(one => one.children.length)
      .map(one => ({
        text: text(one, "p"),
        banks: rows(one, ".step-banks"),
        sectors: [...one.querySelectorAll(".step-sectors li")]
          .map(li => [cells(li), li.lastChild.textContent]),
      })),
  };
}"""


@functools.cache
def wanted() -> dict[str, dict[str, str]]:
    """Of each page the panels that have a start, and the button that leads there."""
    found: dict[str, dict[str, str]] = {}
    for path in [*sorted((GUIDE / "chapters").glob("*.html")), GUIDE / "embedded.html"]:
        html = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for panel in html.select("details.run-here"):
            data = json.loads(str(panel["data-run"]))
            steps = [one["label"] for one in data["presets"] if "step" in one]
            if "step" in data:
                page = path.relative_to(GUIDE).with_suffix("").as_posix()
                button = steps[0] if steps else "Step through it"
                found.setdefault(page, {})[str(panel["id"])] = button
    return found


def read(page: Page, panels: dict[str, str]) -> dict[str, Any]:
    """What the panels of the page that is open show."""
    shown = {}
    for name, button in panels.items():
        panel = page.locator(f"#{name}")
        panel.evaluate(OPEN)
        panel.get_by_role("button", name=button, exact=True).click()
        expect(panel.locator(".step-body")).to_be_visible(timeout=60_000)
        shown[name] = panel.evaluate(READ)
    return shown


def main() -> None:
    with sync_playwright() as playwright:
        chromium = launched(playwright)
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        page.add_init_script(LOOKED)
        stills = {}
        for name, panels in wanted().items():
            page.goto(address(name))
            stills[name] = read(page, panels)
        chromium.close()
    FILE.write_bytes(columns.packed(json.dumps(stills)))


if __name__ == "__main__":
    main()
