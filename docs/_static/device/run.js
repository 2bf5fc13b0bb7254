// A kernel's panel: what to run, what came of it, and where in the listing. The device executes
// (client.js), the plans say what a variant launches (plans.js), the stepper shows one block.
(() => {
  const { base, load, make, number, size } = window.LadderPage;
  const Lines = window.LadderLines;
  const TRACE_LIMIT = 10000;
  /** Shown at once; what is found after them is folded. */
  const FINDINGS = 3;
  const DEFAULT_SEED = 2018;
  const WHAT = "Your browser executes the PTX that nvcc made of this kernel, and counts what hardware " +
    "counts. It takes no times.";

  // ------------------------------------------------------------------ words

  const L1 = "l1tex__";
  const ROWS = [
    [`${L1}t_requests_pipe_lsu_mem_global_op_ld.sum`, "Global load requests"],
    [`${L1}t_sectors_pipe_lsu_mem_global_op_ld.sum`, "Global load sectors"],
    [`${L1}t_requests_pipe_lsu_mem_global_op_st.sum`, "Global store requests"],
    [`${L1}t_sectors_pipe_lsu_mem_global_op_st.sum`, "Global store sectors"],
    [`${L1}data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`, "Shared load wavefronts"],
    [`${L1}data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`, "Shared load bank conflicts"],
    [`${L1}data_pipe_lsu_wavefronts_mem_shared_op_st.sum`, "Shared store wavefronts"],
    [`${L1}data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum`, "Shared store bank conflicts"],
    ["source__warp_instructions.sum", "Warp instructions (of the PTX)"],
    ["source__thread_instructions.sum", "Thread instructions (of the PTX)"],
    ["source__branches.sum", "Branches (of the PTX)"],
    ["source__diverging_branches.sum", "Diverging branches (of the PTX)"],
  ];
  const HEATS = {
    instructions: ["instructions", "warp instructions"],
    sectors: ["global_sectors", "global sectors"],
    wavefronts: ["shared_wavefronts", "shared wavefronts"],
  };
  const CHECKS = {
    race: "races between threads of a block",
    memory: "accesses outside allocations",
    init: "reads of what was never written",
    sync: "threads that wait for ever",
  };

  const change = (now, before) => {
    if (now === before) return "";
    if (!before) return "was 0";
    const ratio = now / before;
    if (ratio >= 2) return `\u25b2 \u00d7\u202f${Number(ratio.toPrecision(3))}`;
    if (!now) return "\u25bc to 0";
    const percent = 100 * (ratio - 1);
    const digits = Math.abs(percent) < 10 ? Math.abs(percent).toPrecision(2) : Math.abs(percent).toFixed(0);
    return `${ratio > 1 ? "\u25b2 +" : "\u25bc \u2212"}${Number(digits)}\u202f%`;
  };

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

  const shapeSaid = ({ n, block }) => `n = ${size(n)}, block ${block}`;

  // ------------------------------------------------------------------ what the reader typed

  /** 65536, 2^16 or 64K, as the programs take it; else what was typed, which the plan refuses. */
  const count = (text) => {
    const typed = text.trim();
    const power = typed.match(/^2\^(\d{1,2})$/);
    const plain = typed.match(/^(\d{1,15})([KMG]?)$/i);
    if (power) return 2 ** Number(power[1]);
    if (plain) return Number(plain[1]) * { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[plain[2].toUpperCase()];
    return typed;
  };

  /** A seed has up to 64 bits: digits only, and kept as text where a number would lose some. */
  const seedOf = (name, text) => {
    const typed = text.trim();
    if (!/^\d{1,20}$/.test(typed) || BigInt(typed) >= 2n ** 64n) {
      throw new Error(`${name} \u201c${typed}\u201d is not a whole number from 0 to 18446744073709551615.`);
    }
    return Number.isSafeInteger(Number(typed)) ? Number(typed) : BigInt(typed);
  };

  const field = (text, input, hint) => {
    const label = make("label", { class: "run-field" }, make("span", {}, text), input);
    if (hint) label.append(hint);
    return label;
  };

  // ------------------------------------------------------------------ one panel

  const panels = new Map();
  let marked = null;  // whose marks the listings have

  const build = async (fold) => {
    const data = JSON.parse(fold.dataset.run);
    const without = fold.querySelector(".run-without");
    const status = fold.querySelector(".run-status") ?? make("p", { class: "run-status", role: "status" });
    without.after(status);
    const say = (text, kind = "") => {
      status.textContent = text;
      status.className = `run-status ${kind}`;
    };
    await load("plans.js");
    await window.LadderPlans.load(base, data.chapter);
    const known = window.LadderPlans.variants(data.chapter);
    const offered = data.variants
      .map(({ name, region }) => ({ ...known.find((one) => one.name === name), region }))
      .filter((one) => one.name);
    if (!offered.length) {
      say("This kernel can\u2019t be run in the page.");
      return null;
    }
    without.hidden = true;
    Lines.unneeded(fold);

    // ---------------------------------------------------------------- the form

    const own = offered.filter((one) => one.region === data.region);
    const keys = [...new Set(own.flatMap((one) => Object.keys(one.params ?? {})))];
    const varying = keys.filter((key) => new Set(own.map((one) => one.params?.[key])).size > 1);
    // Where one parameter tells all variants apart, it is what one chooses.
    const key = varying.length === 1 && own.length === offered.length &&
      new Set(own.map((one) => one.params?.[varying[0]])).size === own.length ? varying[0] : null;
    const select = make("select", { name: "variant" });
    for (const one of offered) {
      const text = (key ? String(one.params[key]) : one.name) + (one.legacy ? " (faulty)" : "");
      select.append(make("option", { value: one.name }, text));
    }
    const n = make("input", { type: "text", name: "n", autocomplete: "off", spellcheck: "false" });
    const block = make("input", { type: "text", name: "block", inputmode: "numeric", autocomplete: "off" });
    const seed = make("input", { type: "text", name: "seed", inputmode: "numeric", autocomplete: "off",
      value: String(DEFAULT_SEED) });
    const nHint = make("span", { class: "run-hint" });
    const blockHint = make("span", { class: "run-hint" });
    const fields = make("div", { class: "run-fields" });
    if (offered.length > 1) fields.append(field(key ?? "variant", select));
    fields.append(field("n", n, nHint), field("block", block, blockHint), field("seed", seed));

    const boxes = Object.entries(CHECKS).map(([name, text]) => {
      const box = make("input", { type: "checkbox", name });
      return { name, box, label: make("label", {}, box, ` ${text}`) };
    });
    const together = make("input", { type: "radio", name: `${fold.id}-lanes`, value: "together", checked: true });
    const apart = make("input", { type: "radio", name: `${fold.id}-lanes`, value: "apart" });
    const apartSeed = make("input", { type: "text", inputmode: "numeric", value: "1", class: "run-short",
      "aria-label": "Seed of the schedule" });
    const more = make("details", { class: "folded run-more" },
      make("summary", {}, "Checks and schedule"),
      make("fieldset", {}, make("legend", {}, "Look for"), ...boxes.map((one) => one.label)),
      make("fieldset", {}, make("legend", {}, "The lanes of a warp run"),
        make("label", {}, together, " together"),
        make("label", {}, apart, " apart, by schedule "), apartSeed));

    const go = make("button", { type: "submit", class: "run-go" }, "Run");
    const stop = make("button", { type: "button", class: "run-stop", hidden: true }, "Stop");
    const step = make("button", { type: "button", class: "run-quiet" }, "Step through it");
    const link = make("button", { type: "button", class: "run-quiet" }, "Copy link");
    const bar = make("progress", { hidden: true, "aria-label": "Progress of the launch" });
    const form = make("form", { class: "run-form", noValidate: true }, fields, more,
      make("div", { class: "run-buttons" }, go, stop, step, link, bar));

    const presetRow = make("div", { class: "run-presets", role: "group", "aria-label": "Try" });
    for (const one of data.presets) {
      const button = make("button", { type: "button" }, one.label);
      button.addEventListener("click", () => {
        fill(one);
        if ("step" in one) stepThrough(one.step);
        else run({ heat: one.heat });
      });
      presetRow.append(button);
    }

    const results = make("div", { class: "run-results", hidden: true });
    const steps = make("section", { class: "run-steps", hidden: true, "aria-label": "Step by step" });

    const text = make("textarea", { spellcheck: false, rows: 14, wrap: "off",
      "aria-label": "The PTX, which you can change", autocomplete: "off", autocapitalize: "off" });
    const runText = make("button", { type: "button", class: "run-go" }, "Run this");
    const restore = make("button", { type: "button", class: "run-quiet" }, "Back to nvcc\u2019s");
    const ptx = make("details", { class: "folded run-ptx" }, make("summary", {}, "The PTX"),
      make("p", {}, "This is what nvcc made of the kernel, and what the device runs. Change it and run it."),
      text, make("div", { class: "run-buttons" }, runText, restore));

    const presets = data.presets.length ? [presetRow] : [];
    status.before(make("p", { class: "run-what" }, WHAT), ...presets, form);
    status.after(results, steps, ptx);

    // ---------------------------------------------------------------- state

    let chosen = offered[0];
    let shipped = "";  // PTX as nvcc made it, of the plan that the text area shows
    let previous = null;
    let stepper = null;
    let traced = null;  // what the stepper shows: {step, block}
    let turn = 0;

    const choose = (name) => {
      chosen = offered.find((one) => one.name === name) ?? offered[0];
      select.value = chosen.name;
      blockHint.textContent = chosen.blocks.text.replace(/^blocks? (of )?/, "");
      nHint.textContent = `at most ${size(chosen.most)}`;
    };

    const fill = (given) => {
      const before = chosen;
      if (given.variant) choose(given.variant);
      if ("n" in given) n.value = size(Number(given.n));
      else if (given.variant && (before !== chosen || !n.value)) n.value = size(chosen.default_n);
      if ("block" in given) block.value = String(given.block);
      else if (given.variant && (before !== chosen || !block.value)) block.value = String(chosen.default_block);
      if ("seed" in given) seed.value = String(given.seed);
      if (given.variant || "checks" in given) {
        const on = given.checks === "all" ? Object.keys(CHECKS) : String(given.checks ?? "").split(",");
        for (const one of boxes) one.box.checked = on.includes(one.name);
      }
      if (given.variant || "apart" in given) {
        apart.checked = "apart" in given;
        together.checked = !apart.checked;
        if ("apart" in given) apartSeed.value = String(given.apart);
      }
      more.open ||= apart.checked || boxes.some((one) => one.box.checked);
    };

    const asked = () => ({
      variant: chosen.name,
      n: count(n.value),
      block: count(block.value),
      seed: seedOf("seed", seed.value),
      checks: boxes.filter((one) => one.box.checked).map((one) => one.name).join(","),
      apart: apart.checked ? seedOf("schedule", apartSeed.value) : null,
    });

    /** What to launch, or nothing where a sentence says why not. */
    const planned = async () => {
      let shape;
      try {
        shape = asked();
      } catch (error) {
        say(error.message, "wrong");
        return null;
      }
      const plan = await window.LadderPlans.plan(data.chapter, shape.variant,
        { n: shape.n, block: shape.block, seed: shape.seed });
      if (plan.refused ?? plan.nothing) {
        say(plan.refused ?? plan.nothing, plan.refused ? "wrong" : "");
        return null;
      }
      return { shape, plan };
    };

    const edited = () => Boolean(shipped) && text.value !== shipped;
    const showText = (plan) => {
      if (!edited()) text.value = plan.request.ptx;
      shipped = plan.request.ptx;
    };

    // ---------------------------------------------------------------- running

    /** The device's answer to a request; nothing where a sentence says why there is none. */
    const execute = async (request) => {
      const mine = ++turn;
      go.disabled = true;
      runText.disabled = true;
      stop.hidden = false;
      bar.hidden = false;
      bar.removeAttribute("value");
      say("Running\u2026");
      try {
        let device = null;
        let isHalted = false;
        stop.onclick = () => {
          isHalted = true;
          device?.stop();
        };
        await load("client.js");
        device = await window.LadderDevice.open(base);
        const result = isHalted ? { stopped: true } : await device.run(request, (done, all) => {
          if (mine === turn) bar.value = done / all;
        });
        if (mine !== turn) return null; // the reader has asked for something else by now
        if (result.error) throw new Error(result.error);
        if (result.stopped) throw new Error("Stopped. Nothing is shown of a launch that did not end.");
        return result;
      } catch (error) {
        if (mine === turn) say(error.message, "wrong");
        return null;
      } finally {
        if (mine === turn) {
          go.disabled = false;
          runText.disabled = false;
          stop.hidden = true;
          bar.hidden = true;
        }
      }
    };

    const requestOf = ({ shape, plan }, extra) => ({
      ...plan.request,
      ptx: edited() ? text.value : plan.request.ptx,
      checks: shape.checks, apart: shape.apart, limit: 0, lines: true, trace: null, ...extra,
    });

    const run = async ({ heat } = {}) => {
      const wanted = await planned();
      if (!wanted) return;
      showText(wanted.plan);
      const changed = edited();
      const result = await execute(requestOf(wanted, {}));
      if (!result) return;
      steps.hidden = true;
      Lines.clear("now");
      verdict(result, wanted.plan, changed);
      report(result, wanted.shape, changed, heat);
    };

    const verdict = (result, plan, changed) => {
      const whose = changed ? "Your PTX: " : "";
      if (result.fault) {
        say(`${whose}${result.fault.message}`, "wrong");
        return;
      }
      const held = plan.expect(result.read);
      say(`${whose}${held.what}.`, held.ok ? "right" : "wrong");
    };

    // ---------------------------------------------------------------- what came of it

    const lineLink = ({ file, line }) => {
      const name = `${file.split("/").at(-1)}:${line}`;
      if (!Lines.has(file, line)) return make("span", {}, name);
      const made = make("button", { type: "button", class: "run-quiet" }, name);
      made.addEventListener("click", () => Lines.go(file, line));
      return made;
    };

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
      const rest = [...list.children].slice(FINDINGS);
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

    const counterTable = (result, shape, label) => {
      const hardware = window.LadderPlans.hardware(data.chapter, shape.variant, { n: shape.n, block: shape.block });
      const seen = ROWS.filter(([name]) => result.counters[name] || hardware?.[name] || previous?.counters[name]);
      const heading = make("tr", {}, make("th", { scope: "col" }, "Counter"),
        make("th", { scope: "col", class: "num" }, "This run"));
      if (previous) heading.append(make("th", { scope: "col", class: "num" }, "Change"),
        make("th", { scope: "col", class: "num" }, "Your last try"));
      if (hardware) heading.append(make("th", { scope: "col", class: "num" }, `${data.device}\u2019s own`));
      const body = make("tbody", {});
      for (const [name, words] of seen) {
        const now = result.counters[name] ?? 0;
        const row = make("tr", {}, make("th", { scope: "row" }, words), make("td", { class: "num" }, number(now)));
        if (previous) {
          const before = previous.counters[name] ?? 0;
          row.append(make("td", { class: "num run-change" }, change(now, before)),
            make("td", { class: "num" }, number(before)));
        }
        if (hardware) {
          const there = hardware[name];
          const differs = there !== undefined && there !== now;
          row.append(make("td", { class: `num${differs ? " difference" : ""}` },
            there === undefined ? "\u2013" : number(there)));
        }
        body.append(row);
      }
      const caption = `Counted over ${result.launches.length === 1 ? "one launch" : `${result.launches.length} launches`}: ` +
        `${label}${previous ? `. Your last try: ${previous.label}` : ""}.`;
      const table = make("table", { class: "docutils run-counters" }, make("caption", {}, caption),
        make("thead", {}, heading), body);
      return { table: make("div", { class: "table-wrapper" }, table), hardware };
    };

    const elsewhere = (shape) => {
      const shapes = (window.LadderPlans.shapes(data.chapter, shape.variant) ?? [])
        .slice(0, 6);
      if (!shapes.length) return make("p", { class: "run-note" },
        `We have no counters of the ${data.device} for this kernel at a size that fits here.`);
      const row = make("p", { class: "run-note" }, `The ${data.device} counted this kernel at: `);
      for (const one of shapes) {
        const button = make("button", { type: "button", class: "run-quiet" }, shapeSaid(one));
        button.addEventListener("click", () => {
          fill(one);
          run();
        });
        row.append(button, " ");
      }
      return row;
    };

    /** The counters of the launches that ended, kept for the next try. */
    const counted = (result, shape, label) => {
      if (!result.launches.length) return [];
      const { table, hardware } = counterTable(result, shape, label);
      previous = { label, counters: result.counters };
      return [table, ...(hardware ? [] : [elsewhere(shape)])];
    };

    const heatChoice = (lines, asked) => {
      const usable = Object.entries(HEATS).filter(([, [name]]) => lines.some((one) => one[name]));
      if (!usable.length) return [];
      const set = make("fieldset", { class: "run-heat" }, make("legend", {}, "Beside the listing\u2019s lines"));
      const show = (name) => {
        if (!name) return Lines.cool();
        const [counter, words] = HEATS[name];
        marked = fold;
        return Lines.heat(lines.map((one) => ({ ...one, value: one[counter] })), words);
      };
      for (const [name, words] of [["", "nothing"], ...usable.map(([name, [, words]]) => [name, words])]) {
        const on = name === (usable.some(([one]) => one === asked) ? asked : "");
        const radio = make("input", { type: "radio", name: `${fold.id}-heat`, value: name, checked: on });
        radio.addEventListener("change", () => show(name));
        set.append(make("label", {}, radio, ` ${words}`));
        if (on) show(name);
      }
      return [set];
    };

    const unseen = (lines) => {
      const hidden = lines.filter((one) => !Lines.has(one.file, one.line)).length;
      return hidden ? [make("p", { class: "run-note" },
        `${hidden} of the ${lines.length} lines that ran are in code that this page doesn\u2019t show.`)] : [];
    };

    const report = (result, shape, changed, heat) => {
      const label = `${shape.variant}, ${shapeSaid(shape)}${shape.apart === null ? "" : `, lanes apart by ${shape.apart}`}` +
        (changed ? ", your PTX" : "");
      const keep = results.querySelector(".run-heat input:checked")?.value;
      Lines.cool();
      const lines = byLine(result.lines);
      const findings = result.findings.map((one) =>
        ({ ...one, lines: one.lines.map((each) => shownLine(each, result.lines)) }));
      Lines.mark("found", [...findings.flatMap((one) => one.lines), ...faultAt(result)]);
      marked = fold;
      const found = findingList(findings);
      const checked = shape.checks && !found.childElementCount
        ? [make("p", { class: "run-note" }, `Nothing found (${shape.checks.replaceAll(",", ", ")}).`)] : [];
      const printed = result.printed ? [make("pre", { class: "run-printed", tabIndex: 0 }, result.printed)] : [];
      const warned = result.warnings.map((one) => make("p", { class: "run-note" }, one));
      results.replaceChildren(...(found.childElementCount ? [found] : checked), ...warned, ...printed,
        ...counted(result, shape, label), ...heatChoice(lines, heat ?? keep), ...unseen(lines));
      results.hidden = false;
    };

    // ---------------------------------------------------------------- step by step

    const stepThrough = async (at, where = {}) => {
      const wanted = await planned();
      if (!wanted) return;
      showText(wanted.plan);
      const launches = wanted.plan.request.steps
        .map((one, index) => ({ ...one, index })).filter((one) => one.kind === "launch");
      const launch = launches[Math.min(where.launch ?? 0, launches.length - 1)];
      const [x, y] = launch.grid;
      const blocks = launch.grid.reduce((one, other) => one * other, 1);
      const index = Math.min(where.block ?? 0, blocks - 1);
      const place = [index % x, Math.floor(index / x) % y, Math.floor(index / (x * y))];
      const result = await execute(requestOf(wanted, {
        checks: "", lines: false, trace: { step: launch.index, block: place, limit: TRACE_LIMIT },
      }));
      if (!result) return;
      say(`Block ${number(index)} of ${number(blocks)}, ${shapeSaid(wanted.shape)}.`);
      traced = { launch: launches.indexOf(launch), block: index };
      const pick = make("input", { type: "text", inputmode: "numeric", class: "run-short", value: String(index) });
      pick.addEventListener("change", () => {
        const typed = Number(pick.value);
        if (!Number.isInteger(typed) || typed < 0 || typed >= blocks) {
          say(`block \u201c${pick.value}\u201d is not one of 0 to ${blocks - 1}.`, "wrong");
          return;
        }
        stepThrough(undefined, { launch: traced.launch, block: typed });
      });
      const which = make("select", {});
      launches.forEach((one, i) => {
        which.append(make("option", { value: String(i), selected: one === launch },
          `${i + 1}: grid ${one.grid[0]}, block ${one.block[0]}`));
      });
      which.addEventListener("change", () => stepThrough(undefined, { launch: Number(which.value) }));
      const close = make("button", { type: "button", class: "run-quiet" }, "Close");
      close.addEventListener("click", () => {
        steps.hidden = true;
        Lines.clear("now");
        step.focus();
      });
      const body = make("div", {});
      steps.replaceChildren(
        make("div", { class: "run-fields" },
          ...(launches.length > 1 ? [field("launch", which)] : []),
          field("block of the grid", pick, make("span", { class: "run-hint" }, `0 to ${number(blocks - 1)}`)), close),
        body);
      steps.hidden = false;
      marked = fold;
      stepper = window.LadderStepper.show(body, { trace: result.trace ?? [], at, lines: Lines });
      stepper?.focus();
    };

    // ---------------------------------------------------------------- a link to it

    const copy = async () => {
      let shape;
      try {
        shape = asked();
      } catch (error) {
        say(error.message, "wrong");
        return;
      }
      const state = new URLSearchParams({ run: fold.id, variant: shape.variant, n: typeof shape.n === "number" ? size(shape.n) : shape.n,
        block: String(shape.block), seed: String(shape.seed) });
      if (shape.checks) state.set("checks", shape.checks);
      if (shape.apart !== null) state.set("apart", String(shape.apart));
      if (stepper && !steps.hidden) {
        state.set("step", String(stepper.at()));
        if (traced.block) state.set("in", String(traced.block));
        if (traced.launch) state.set("launch", String(traced.launch));
      }
      const address = `${location.href.replace(/#.*/, "")}#${state.toString().replaceAll("%5E", "^").replaceAll("%2C", ",")}`;
      history.replaceState(null, "", address);
      try {
        await navigator.clipboard.writeText(address);
        say("The link is copied; it opens this panel as it is.");
      } catch {
        say("The link stands in the address bar; it opens this panel as it is.");
      }
    };

    const follow = (given) => {
      const one = offered.some((each) => each.name === given.variant) ? given.variant : offered[0].name;
      const { n: typed, ...rest } = given;
      fill({ ...rest, variant: one });
      if (typed) n.value = typed;
      fold.scrollIntoView({ block: "start" });
      if (given.step === undefined) return run();
      const at = /^\d+$/.test(given.step) ? Number(given.step) : given.step;
      return stepThrough(at, { block: Number(given.in) || 0, launch: Number(given.launch) || 0 });
    };

    // ---------------------------------------------------------------- who does what

    select.addEventListener("change", () => fill({ variant: select.value }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run();
    });
    apartSeed.addEventListener("input", () => { apart.checked = true; });
    step.addEventListener("click", () => stepThrough());
    link.addEventListener("click", copy);
    runText.addEventListener("click", () => run());
    restore.addEventListener("click", () => {
      text.value = shipped;
      say("This is nvcc\u2019s again.");
    });
    ptx.addEventListener("toggle", async () => {
      if (!ptx.open || shipped) return;
      const wanted = await planned();
      if (wanted) showText(wanted.plan);
    });
    fold.addEventListener("toggle", () => {
      if (fold.open || marked !== fold) return;
      marked = null;
      Lines.cool();
      Lines.clear("found");
      Lines.clear("now");
    });
    fill({ variant: offered[0].name });
    return { follow };
  };

  window.LadderRun = {
    /** A fold's panel, which is made once. */
    panel: (fold) => {
      if (!panels.has(fold)) {
        panels.set(fold, build(fold).catch((error) => {
          panels.delete(fold);
          throw error;
        }));
      }
      return panels.get(fold);
    },
  };
})();
