// What came of a panel's run: findings, the counters beside hardware's and the last try's, and the
// numbers beside the lines of the listings.
(() => {
  const { base, make, number, sizeSaid, printed } = window.LadderPage;
  const Lines = window.LadderLines;
  /** Shown at once, on a narrow screen and elsewhere; what is found after them is folded. */
  const FINDINGS = { narrow: 1, wide: 3 };
  const NARROW = "(max-width: 30em)";
  /** So many shapes that hardware's counters were recorded at are offered. */
  const SHAPES = 3;

  // ------------------------------------------------------------------ words

  /** A counter, its words with the term of the glossary in brackets, and whose count makes a 0 worth showing. */
  const ROWS = [
    ["global_load_requests", "Global load [requests|request]"],
    ["global_load_sectors", "Global load [sectors|sector]"],
    ["global_store_requests", "Global store [requests|request]"],
    ["global_store_sectors", "Global store [sectors|sector]"],
    ["shared_load_wavefronts", "Shared load [wavefronts|wavefront]"],
    ["shared_load_conflicts", "Shared load [bank conflicts|bank-conflict]", "shared_load_wavefronts"],
    ["shared_store_wavefronts", "Shared store [wavefronts|wavefront]"],
    ["shared_store_conflicts", "Shared store [bank conflicts|bank-conflict]", "shared_store_wavefronts"],
    ["warp_instructions", "[Warp|warp] instructions (of the PTX)"],
    ["thread_instructions", "[Thread|thread] instructions (of the PTX)"],
    ["branches", "Branches (of the [PTX|PTX])"],
    ["diverging_branches", "[Diverging|divergence] branches (of the PTX)", "branches"],
  ];
  const ASSEMBLED = "Rows \u201cof the PTX\u201d count PTX instructions, and the assembler changes some of them on the way to " +
    "machine code. Chapter 3 shows which.";
  const HEATS = {
    instructions: ["instructions", "warp instructions"],
    sectors: ["global_sectors", "global sectors"],
    wavefronts: ["shared_wavefronts", "shared wavefronts"],
  };
  const FOUND = {
    race: ["race", "races"],
    memory: ["bad access", "bad accesses"],
    init: ["read of what was never written", "reads of what was never written"],
    sync: ["faulty barrier", "faulty barriers"],
    sum: ["wrong sum", "wrong sums"],
  };

  const rowName = (text) => {
    const [before, words, term, after] = text.match(/^(.*)\[(.*)\|(.*)\](.*)$/).slice(1);
    const address = new URL(`../../glossary.html#term-${term}`, base).href;
    return [before, make("a", { href: address, class: "run-term" }, words), after];
  };

  const digits = (ratio) => number(Number.isInteger(ratio) ? ratio : Number(ratio.toPrecision(3)));
  const change = (now, before) => {
    if (now === before) return "";
    if (!before) return "was 0";
    if (!now) return "\u25bc to 0";
    const ratio = now / before;
    if (ratio >= 2) return `\u25b2 \u00d7\u202f${digits(ratio)}`;
    if (ratio <= 0.5) return `\u25bc \u00f7\u202f${digits(1 / ratio)}`;
    const percent = 100 * (ratio - 1);
    const exact = Math.abs(percent) < 10 ? Math.abs(percent).toPrecision(2) : Math.abs(percent).toFixed(0);
    return `${ratio > 1 ? "\u25b2 +" : "\u25bc \u2212"}${Number(exact)}\u202f%`;
  };

  const shapeSaid = ({ n, block }) => `n = ${sizeSaid(n)}, block ${block}`;

  /** "2 races and 1 bad access" */
  const foundSaid = (findings) => {
    const parts = Object.entries(FOUND).flatMap(([check, [one, more]]) => {
      const count = findings.filter((each) => each.check === check).length;
      return count ? [`${count} ${count === 1 ? one : more}`] : [];
    });
    return parts.join(" and ") || `${findings.length} faults`;
  };

  // ------------------------------------------------------------------ lines

  /**
   * A line as the page can show it: where the page hasn't the code that was inlined, the kernel's line
   * that it was inlined at; and a file that is called by its last name only, by its whole one.
   */
  const shownLine = (one, lines) => {
    if (Lines.has(one.file, one.line)) return one;
    const whole = (name) => lines.find((each) => each.file === name || each.file.endsWith(`/${name}`))?.file;
    const own = { ...one, file: whole(one.file) ?? one.file };
    const at = one.inlined_at ?? lines.find((each) => each.file === own.file && each.line === own.line)?.inlined_at;
    return at ? { ...own, ...at } : own;
  };

  /** What ran, by lines that the page can show, each once. */
  const byLine = (lines) => {
    const found = new Map();
    for (const one of lines.filter((each) => each.line)) {
      const shown = shownLine(one, lines);
      const key = `${shown.file}:${shown.line}`;
      const sum = found.get(key) ?? { file: shown.file, line: shown.line };
      for (const [counter] of Object.values(HEATS)) sum[counter] = (sum[counter] ?? 0) + one[counter];
      found.set(key, sum);
    }
    return [...found.values()];
  };

  const lineName = ({ file, line }) => `${file.split("/").at(-1)}:${line}`;

  /** A race's lines, those that write before those that read. */
  const inOrder = (finding) => {
    const reads = (place) => !finding.details.some((one) => one.includes("writes") && one.includes(place));
    const places = finding.lines.map((line, i) => ({ line, reads: reads(finding.places[i] ?? lineName(line)) }));
    return places.sort((one, other) => one.reads - other.reads).map((one) => one.line);
  };

  const lineLink = (line) => {
    if (!Lines.has(line.file, line.line)) return make("span", {}, lineName(line));
    const made = make("button", { type: "button", class: "run-quiet" }, lineName(line));
    made.addEventListener("click", () => Lines.go(line.file, line.line));
    return made;
  };

  // ------------------------------------------------------------------ findings

  const findingList = (findings) => {
    const list = make("ul", { class: "run-findings" });
    for (const one of findings) {
      const times = one.count > 1 ? ` (${number(one.count)} times)` : "";
      const details = make("ul", {});
      for (const detail of one.details) details.append(make("li", {}, detail));
      const at = make("p", {});
      one.lines.forEach((line, i) => at.append(i ? ", " : "In the listing: ", lineLink(line)));
      list.append(make("li", {},
        make("p", {}, make("strong", {}, one.check), `: ${one.what}${times}`),
        one.lines.length ? at : "", details));
    }
    const rest = [...list.children].slice(matchMedia(NARROW).matches ? FINDINGS.narrow : FINDINGS.wide);
    if (rest.length > 1) {
      const others = make("ul", { class: "run-findings" }, ...rest);
      list.append(make("li", { class: "run-rest" },
        make("details", { class: "folded" }, make("summary", {}, `${rest.length} more findings`), others)));
    }
    return list;
  };

  /** The line that a fault's message names in brackets, as it does for the command line. */
  const faultAt = (result) => {
    const [, file, line] = result.fault?.message.match(/\((\S+?):(\d+)[),]/) ?? [];
    return file ? [shownLine({ file, line: Number(line) }, result.lines)] : [];
  };

  // ------------------------------------------------------------------ one panel's results

  /**
   * `{element, verdict, show, hide, back, wipe, heat, asksWho}`. `data` is the panel's, `usual(variant)` the block size
   * that a variant starts with, and `again(shape)` runs another shape.
   */
  const build = (fold, data, usual, again) => {
    const element = make("div", { class: "run-results", hidden: true });
    let previous = null;
    let isPerBlock = false;
    let hasAskedWho = false;
    let mark = () => {};  // writes the last run's marks into the listings

    /** What to say of a run: [sentence, "right", "wrong" or "doubt"]. */
    const verdict = (result, plan, isChanged) => {
      const whose = isChanged ? "Your PTX: " : "";
      if (result.fault) return [printed(`${whose}${result.fault.message}`), "wrong"];
      const held = plan.expect(result.read);
      const what = held.ok && held.aside ? `${held.what}; ${held.aside}` : held.what;
      const faults = result.findings.filter((one) => one.fault !== false);
      if (!held.ok || !faults.length) {
        return [printed(`${whose}${what}.`), held.ok ? "right" : "wrong"];
      }
      return [printed(`${whose}${what} this time, but the checks found ${foundSaid(faults)}.`), "doubt"];
    };

    const blocksOf = (result) => result.launches.reduce((sum, { grid }) => sum + grid[0] * grid[1] * grid[2], 0);
    const blocksSaid = (result) => {
      const blocks = blocksOf(result);
      const launches = result.launches.length === 1 ? "one launch" : `${result.launches.length} launches`;
      return `${launches} of ${number(blocks)} block${blocks === 1 ? "" : "s"}${result.launches.length > 1 ? " together" : ""}`;
    };

    const counterTable = (result, counts, label, hardware, before) => {
      const blocks = isPerBlock ? blocksOf(result) : 1;
      const blocksBefore = isPerBlock ? before?.blocks : 1;
      const told = (value) => number(isPerBlock ? Number(value.toPrecision(4)) : value);
      const has = (name) => counts[name] || hardware?.[name] || before?.counters[name];
      const seen = ROWS.filter(([name, , needed]) => has(name) || has(needed));
      const heading = make("tr", {}, make("th", { scope: "col" }, isPerBlock ? "Per block" : "Counter"),
        make("th", { scope: "col", class: "num" }, "This run"));
      if (before) heading.append(make("th", { scope: "col", class: "num" }, "Change"),
        make("th", { scope: "col", class: "num" }, "Your last try"));
      if (hardware) heading.append(make("th", { scope: "col", class: "num" }, `${data.device}\u2019s own`));
      const body = make("tbody", {});
      for (const [name, words] of seen) {
        const now = (counts[name] ?? 0) / blocks;
        const row = make("tr", {}, make("th", { scope: "row" }, ...rowName(words)), make("td", { class: "num" }, told(now)));
        if (before) {
          const then = (before.counters[name] ?? 0) / blocksBefore;
          row.append(make("td", { class: "num run-change" }, change(now, then)),
            make("td", { class: "num" }, told(then)));
        }
        if (hardware) {
          const there = hardware[name] === undefined ? undefined : hardware[name] / blocks;
          const differs = there !== undefined && there !== now;
          row.append(make("td", { class: `num${differs ? " difference" : ""}` },
            there === undefined ? "\u2013" : told(there)));
        }
        body.append(row);
      }
      const caption = `Counted over ${blocksSaid(result)}: ${label}${before ? `. Your last try: ${before.label}` : ""}.`;
      const table = make("table", { class: "docutils run-counters" }, make("caption", {}, caption),
        make("thead", {}, heading), body);
      return make("div", { class: "table-wrapper" }, table);
    };

    /** Up to three shapes: the usual block size first, then sizes that are powers of two, then large ones. */
    const shapesOf = (variant) => {
      const worth = ({ n, block }) => 2 * (block === usual(variant)) + Number.isInteger(Math.log2(n));
      return [...(window.LadderPlans.shapes(data.chapter, variant) ?? [])]
        .sort((one, other) => worth(other) - worth(one) || other.n - one.n).slice(0, SHAPES);
    };

    const elsewhere = (shape, isChanged) => {
      const note = (...said) => make("p", { class: "run-note" }, ...said);
      if (shape.apart !== null) return note(`The ${data.device}\u2019s counters belong to lanes that run together.`);
      if (isChanged) return note(`The ${data.device}\u2019s counters belong to nvcc\u2019s PTX.`);
      const shapes = shapesOf(shape.variant);
      if (!shapes.length) return note(`We have no counters of the ${data.device} for this kernel at a size that fits here.`);
      const row = note(`The ${data.device} counted this kernel at: `);
      for (const one of shapes) {
        const button = make("button", { type: "button", class: "run-quiet" }, shapeSaid(one));
        button.addEventListener("click", () => again(one));
        row.append(button, " ");
      }
      return row;
    };

    /** The counters of the launches that ended, kept for the next try. */
    const counted = (result, shape, label, isChanged) => {
      if (!result.launches.length) return [];
      const before = previous;
      const counts = window.LadderPlans.named(data.chapter, result.counters);
      previous = { label, counters: counts, blocks: blocksOf(result) };
      const hardware = shape.apart !== null || isChanged ? null
        : window.LadderPlans.hardware(data.chapter, shape.variant, { n: shape.n, block: shape.block });
      let table = counterTable(result, counts, label, hardware, before);
      const box = make("input", { type: "checkbox", checked: isPerBlock });
      box.addEventListener("change", () => {
        isPerBlock = box.checked;
        const other = counterTable(result, counts, label, hardware, before);
        table.replaceWith(other);
        table = other;
      });
      const choice = make("label", { class: "run-per" }, box, " Counts per block");
      return [table, choice, make("p", { class: "run-note" }, ASSEMBLED),
        ...(hardware ? [] : [elsewhere(shape, isChanged)])];
    };

    // ---------------------------------------------------------------- beside the lines

    const heat = () => (element.hidden ? "" : element.querySelector(".run-heat input:checked")?.value ?? "");

    const heatChoice = (lines, asked) => {
      const usable = Object.entries(HEATS).filter(([, [name]]) => lines.some((one) => one[name]));
      if (!usable.length) return [];
      const set = make("fieldset", { class: "run-heat" }, make("legend", {}, "Beside the listing\u2019s lines"));
      for (const [name, words] of [["", "nothing"], ...usable.map(([name, [, words]]) => [name, words])]) {
        const on = name === (usable.some(([one]) => one === asked) ? asked : "");
        const radio = make("input", { type: "radio", name: `${fold.id}-heat`, value: name, checked: on });
        radio.addEventListener("change", () => mark());
        set.append(make("label", {}, radio, ` ${words}`));
      }
      return [set];
    };

    const unseen = (lines) => {
      const hidden = lines.filter((one) => !Lines.has(one.file, one.line)).length;
      return hidden ? [make("p", { class: "run-note" },
        `${hidden} of the ${lines.length} lines that ran are in code that this page doesn\u2019t show.`)] : [];
    };

    const show = (result, shape, isChanged, asked) => {
      const label = `${shape.variant}, ${shapeSaid(shape)}${shape.apart === null ? "" : `, lanes apart, schedule ${shape.apart}`}` +
        (isChanged ? ", your PTX" : "");
      const keep = element.querySelector(".run-heat input:checked")?.value;
      const lines = byLine(result.lines);
      const findings = result.findings.map((one) =>
        ({ ...one, lines: inOrder(one).map((each) => shownLine(each, result.lines)) }));
      const sums = findings.filter((one) => one.check === "sum");
      const others = findings.filter((one) => one.check !== "sum");
      const list = findingList(others);
      hasAskedWho = shape.checks.split(",").includes("sum");
      const looked = shape.checks.split(",").filter((one) => one && one !== "sum");
      const checked = looked.length && !others.length
        ? [make("p", { class: "run-note" }, `Nothing found (${looked.join(", ")}).`)] : [];
      const who = hasAskedWho && !result.fault ? [window.LadderSums.show(sums, lineLink)] : [];
      const output = result.printed ? [make("pre", { class: "run-printed", tabIndex: 0 }, result.printed)] : [];
      const warned = result.warnings.map((one) => make("p", { class: "run-note" }, one));
      element.replaceChildren(...who, ...(others.length ? [list] : checked), ...warned, ...output,
        ...counted(result, shape, label, isChanged), ...heatChoice(lines, asked ?? keep), ...unseen(lines));
      element.hidden = false;
      mark = () => {
        Lines.mark("found", [...findings.flatMap((one) => one.lines), ...faultAt(result)]);
        const name = heat();
        if (!name) return Lines.cool();
        const [counter, words] = HEATS[name];
        return Lines.heat(lines.map((one) => ({ ...one, value: one[counter] })), words, fold);
      };
      mark();
    };

    const wipe = () => {
      Lines.cool();
      Lines.clear("found");
    };
    const hide = () => {
      element.hidden = true;
      wipe();
    };
    const back = () => {
      element.hidden = !element.childElementCount;
      if (!element.hidden) mark();
    };
    const asksWho = () => !element.hidden && hasAskedWho;
    return { element, verdict, show, hide, back, wipe, heat, asksWho };
  };

  window.LadderResults = { build, shapeSaid };
})();
