// One block, instruction by instruction: warps as rows, lanes as columns, and what each lane touches.
// It draws the objects of a trace (tools/emulator/README.md) and knows nothing of where they come from.
(() => {
  const { make, number } = window.LadderPage;
  const { start, counted, opcode, touches, isBarrier } = window.LadderStarts;
  const LANES = 32;
  const WORD = 4;
  const SECTOR = 32;

  // ------------------------------------------------------------------ what an access costs

  /** Rounds in which 32 banks hand out their words: a word goes to all lanes that want it. */
  const rounds = (lanes) => {
    const banks = new Map();
    for (const one of lanes) {
      for (const word of one.words) {
        const bank = word % LANES;
        if (!banks.has(bank)) banks.set(bank, []);
        if (!banks.get(bank).includes(word)) banks.get(bank).push(word);
      }
    }
    const most = Math.max(0, ...[...banks.values()].map((words) => words.length));
    return Array.from({ length: most }, (_, at) =>
      lanes.filter((one) => one.words.some((word) => banks.get(word % LANES)[at] === word))
        .map((one) => ({
          lane: one.lane,
          banks: one.words.filter((word) => banks.get(word % LANES)[at] === word)
            .map((word) => word % LANES),
        })));
  };

  /** The passes of one access to shared memory, by the rules that the embedded device counts by. */
  const passes = (access) => {
    const per = Math.max(1, access.bytes / WORD);
    const lanes = access.lanes.map((lane, at) => {
      const first = Math.floor(access.address[at] / WORD);
      return { lane, address: access.address[at], words: Array.from({ length: per }, (_, i) => first + i) };
    });
    if (access.bytes <= WORD) return rounds(lanes);
    const size = access.bytes === 8 ? 16 : 8;
    const agree = (group, distance) =>
      group.every((one) => {
        const partner = group.find((other) => other.lane === (one.lane ^ distance));
        return !partner || partner.address === one.address;
      });
    const served = [];
    for (let first = 0; first < LANES; first += 2 * size) {
      const part = (from, to) => lanes.filter((one) => one.lane >= from && one.lane < to);
      const both = part(first, first + 2 * size);
      const joined = access.direction === "load" && (agree(both, 1) || agree(both, 2));
      served.push(...(joined
        ? rounds(both)
        : [...rounds(part(first, first + size)), ...rounds(part(first + size, first + 2 * size))]));
    }
    return served;
  };

  /**
   * How a step's access to shared memory is served, if that is what the device counted: as it stands
   * or, where the assembler merges neighbouring loads, as one load of more bytes.
   */
  const servedAs = (step, access) => {
    const fronts = counted(step, "shared", "wavefronts");
    for (const bytes of access.direction === "load" ? [1, 2, 4].map((k) => k * access.bytes) : [access.bytes]) {
      const address = access.address.map((one) => (bytes === access.bytes ? one : one - (one % bytes)));
      const served = bytes <= 16 && access.direction !== "atomic" ? passes({ ...access, bytes, address }) : [];
      if (served.length && served.length === fronts) return { served, bytes };
    }
    return null;
  };

  /** The sectors that an access to global memory touches, in the order of their addresses. */
  const sectors = (access) => {
    const from = access.offset ?? access.address;
    const found = new Map();
    access.lanes.forEach((lane, at) => {
      const sector = Math.floor(from[at] / SECTOR);
      if (!found.has(sector)) found.set(sector, { sector, lanes: [], words: new Set() });
      const here = found.get(sector);
      here.lanes.push(lane);
      for (let byte = from[at] % SECTOR; byte < Math.min(SECTOR, (from[at] % SECTOR) + access.bytes); byte += 1) {
        here.words.add(Math.floor(byte / WORD));
      }
    });
    return [...found.values()].sort((one, other) => one.sector - other.sector);
  };

  // ------------------------------------------------------------------ in words

  const plural = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

  /** "0–15 and 31" */
  const ranges = (lanes) => {
    const parts = [];
    for (const lane of lanes) {
      const last = parts.at(-1);
      if (last && last[1] === lane - 1) last[1] = lane;
      else parts.push([lane, lane]);
    }
    const said = parts.map(([from, to]) => (from === to ? `${from}` : `${from}\u2013${to}`));
    return said.length < 2 ? said.join("") : `${said.slice(0, -1).join(", ")} and ${said.at(-1)}`;
  };
  const lanesSaid = (lanes) => `lane${lanes.length === 1 ? "" : "s"} ${ranges(lanes)}`;

  const busiest = (access) => {
    const words = new Map();
    access.bank.forEach((bank, at) => {
      if (!words.has(bank)) words.set(bank, new Set());
      words.get(bank).add(Math.floor(access.address[at] / WORD));
    });
    return [...words].sort((one, other) => other[1].size - one[1].size || one[0] - other[0])[0]?.[0];
  };

  const VERBS = {
    load: ["load", "from"], store: ["store", "to"], atomic: ["change atomically", "in"],
  };
  const accessSaid = (step, access) => {
    const [verb, from] = VERBS[access.direction];
    const begin = `${verb} ${plural(access.bytes, "byte")} each ${from} ${access.space} memory`;
    if (access.space === "global") {
      const bound = access.direction === "atomic" ? "" : `, ${plural(sectors(access).length, "sector")}`;
      return begin + bound;
    }
    const fronts = counted(step, "shared", "wavefronts");
    if (access.space !== "shared" || !fronts) return begin;
    const conflict = counted(step, "shared", "conflicts")
      ? `, bank ${busiest(access)} busiest`
      : ", no bank conflict";
    return `${begin}, ${plural(fronts, "wavefront")}${conflict}`;
  };

  /** What an instruction that touches no memory does, in words; the first that fits. */
  const DOES = [
    [/^ld\.param/, "read a kernel argument"],
    [/^mov\S*\s+\S+\s+%(tid|ntid|ctaid|nctaid|laneid|warpid)/, "read their place in the grid"],
    [/^mov/, "copy a value"],
    [/^cvta/, "convert an address"],
    [/^cvt/, "convert a value"],
    [/^add/, "add"],
    [/^sub/, "subtract"],
    [/^(mad|fma)/, "multiply and add"],
    [/^mul/, "multiply"],
    [/^div/, "divide"],
    [/^rem/, "take a remainder"],
    [/^neg/, "change the sign"],
    [/^min/, "take the smaller value"],
    [/^max/, "take the larger value"],
    [/^setp/, "compare"],
    [/^selp/, "choose one of two values"],
    [/^(and|or|xor|not)\.pred/, "combine two comparisons"],
    [/^(and|or|xor|not|lop3|bfi|bfe|prmt|brev)/, "combine bits"],
    [/^sh[lrf]\./, "shift bits"],
    [/^(popc|bfind|clz)/, "count bits"],
    [/^(activemask|match|vote)/, "ask which lanes there are"],
    [/^redux/, "reduce a value over the lanes"],
    [/^shfl/, "hand values to each other"],
    [/^bar(rier)?\.warp/, "wait for the other lanes of the warp"],
    [/^bar/, "wait at the block\u2019s barrier"],
    [/^(ret|exit)/, "are done"],
    [/^bra/, "jump"],
  ];
  const isBranch = (step) => /^bra\b/.test(opcode(step));
  const opSaid = (step) => {
    const op = opcode(step);
    return DOES.find(([pattern]) => pattern.test(op))?.[1] ?? (op || "execute an instruction");
  };

  const placeSaid = ({ file, line }) => `${file.split("/").at(-1)}, line ${line}`;
  const lanesCounted = (count) => `${count} lane${count === 1 ? "" : "s"}`;

  /** Of a branch that parts the lanes: those that jump, and those that were with them before and go on. */
  const parted = (steps, at) => {
    const step = steps[at];
    const jump = lanesCounted(step.active.length);
    for (let i = at - 1; i >= 0; i -= 1) {
      const before = steps[i];
      if (before.warp !== step.warp || !step.active.every((lane) => before.active.includes(lane))) continue;
      const rest = before.active.length - step.active.length;
      if (rest > 0) return `${jump} jump${step.active.length === 1 ? "s" : ""}, ${rest} go${rest === 1 ? "es" : ""} on`;
      break;
    }
    return `${jump} jump${step.active.length === 1 ? "s" : ""}, and the others go on`;
  };

  const said = (steps, at) => {
    const step = steps[at];
    if (step.diverging_branches) return `Warp ${step.warp}: ${parted(steps, at)}. The warp diverges.`;
    if (!step.active.length) {
      return isBranch(step) ? `Warp ${step.warp}: no lane jumps, and all go on.`
        : `Warp ${step.warp}, no lane active: the guard is off for all of them.`;
    }
    const who = `Warp ${step.warp}, ${step.active.length} of ${LANES} lanes active: `;
    const what = (step.access ?? []).map((access) => accessSaid(step, access)).join("; ");
    return `${who}${what || opSaid(step)}.`;
  };

  // ------------------------------------------------------------------ drawing

  const KEYS_SAID = "Keys: \u2190 \u2192 step, \u2191 \u2193 step this warp, Page Up and Page Down find an access to memory, " +
    "L the next line, B the next barrier, Home and End the ends. Escape closes.";
  const LEGEND = "Filled: active now. Outlined: active in this warp\u2019s latest instruction. A warp\u2019s name goes to its next step.";

  const bankRows = (served) => {
    const rows = make("div", { class: "step-banks", "aria-hidden": "true" });
    served.forEach((pass, at) => {
      const busy = new Set(pass.flatMap((one) => one.banks));
      const row = make("div", { class: `step-row front-${at ? "late" : "first"}` });
      row.append(make("span", { class: "step-label" }, `wavefront ${at + 1}`));
      for (let bank = 0; bank < LANES; bank += 1) {
        row.append(make("i", { class: busy.has(bank) ? "on" : "" }));
      }
      rows.append(row);
    });
    return rows;
  };

  const sectorRows = (found) => {
    const rows = make("ul", { class: "step-sectors" });
    for (const one of found) {
      const words = make("span", { class: "step-words", "aria-hidden": "true" });
      for (let word = 0; word < SECTOR / WORD; word += 1) {
        words.append(make("i", { class: one.words.has(word) ? "on" : "" }));
      }
      rows.append(make("li", {}, words, make("span", {}, `sector ${number(one.sector)}: ${lanesSaid(one.lanes)}`)));
    }
    return rows;
  };

  const accessDrawn = (step, access) => {
    const box = make("div", { class: "step-access" });
    const where = access.in && access.in !== "cudaMalloc" ? ` (${access.in})` : "";
    if (access.space === "global" || access.space === "constant") {
      const found = sectors(access);
      box.append(make("p", {}, `${plural(found.length, "sector")} of 32 bytes${where}; ` +
        "each frame is one, and filled words are the ones the warp asked for:"), sectorRows(found));
      return box;
    }
    if (access.space !== "shared") return box;
    const found = servedAs(step, access);
    if (!found) {
      const why = access.direction === "atomic" ? ""
        : " The assembler merges this load with a neighbour, and the two are counted there.";
      box.append(make("p", {}, `Banks ${ranges([...new Set(access.bank)].sort((a, b) => a - b))}.${why}`));
      return box;
    }
    const { served, bytes } = found;
    const merged = bytes === access.bytes ? "" : `The assembler makes one load of ${bytes} bytes of this and its neighbours. `;
    const list = make("ol", { class: "step-fronts" });
    for (const pass of served) list.append(make("li", {}, lanesSaid(pass.map((one) => one.lane))));
    box.append(
      make("p", {}, merged + (served.length === 1 ? "1 wavefront" : `${served.length} wavefronts, one after another`) +
        "; a column is a bank, from 0 to 31:"),
      bankRows(served),
      served.length > 1 ? make("details", { class: "folded" },
        make("summary", {}, "Which lanes each wavefront serves"), list) : "",
    );
    return box;
  };

  /** Each lane's address; what is `seen` stays open from step to step. */
  const addressesDrawn = (access, seen) => {
    const list = make("ul", { class: "step-addresses" });
    access.lanes.forEach((lane, at) => {
      list.append(make("li", {}, `lane ${lane}: `, make("code", {}, `0x${access.address[at].toString(16)}`)));
    });
    const from = access.space === "shared" ? ", from the start of the block\u2019s shared memory" : "";
    const fold = make("details", { class: "folded", open: seen.addresses },
      make("summary", {}, `Addresses${from}`), list);
    fold.addEventListener("toggle", () => { seen.addresses = fold.open; });
    return fold;
  };

  /** What a lane touches, short enough for its cell: a bank or a sector, and its wavefront if there are several. */
  const touched = (step) => {
    const cells = new Map();
    for (const access of step.access ?? []) {
      if (access.space === "shared") {
        const served = servedAs(step, access)?.served ?? [];
        access.lanes.forEach((lane, at) => {
          const turn = served.findIndex((one) => one.some((each) => each.lane === lane));
          cells.set(lane, { text: `b${access.bank[at]}`, turn: served.length > 1 ? `w${turn + 1}` : "", late: turn > 0 });
        });
      } else if (access.space === "global" || access.space === "constant") {
        const from = access.offset ?? access.address;
        access.lanes.forEach((lane, at) => {
          cells.set(lane, { text: `s${Math.floor(from[at] / SECTOR)}`, turn: "", late: false });
        });
      }
    }
    return cells;
  };

  /** What the letters in the cells mean. */
  const cellsSaid = (cells) => {
    const all = [...cells.values()];
    const parts = [];
    if (all.some((one) => one.text.startsWith("b"))) parts.push("b is the bank of shared memory that the lane asks for.");
    if (all.some((one) => one.turn)) parts.push("w is the wavefront that serves it.");
    if (all.some((one) => one.text.startsWith("s"))) parts.push("s is the sector, counted from the start of its allocation.");
    return parts.join(" ");
  };

  // ------------------------------------------------------------------ the stepper

  /**
   * Fills `root` with the stepper of a trace. `at` is where the reader wants it to begin, `usual`
   * where the page does (starts.js); `lines` are the page's listings, and `calls` where the kernel
   * calls what they lack; `close` is what Escape does.
   */
  const show = (root, { trace, at, usual, lines, calls, close }) => {
    const head = trace.find((one) => "trace" in one) ?? {};
    const foot = trace.find((one) => "end" in one) ?? {};
    const steps = trace.filter((one) => "warp" in one);
    root.replaceChildren();
    if (!steps.length) {
      root.append(make("p", {}, `Nothing to step through: ${foot.why ?? "the block carried out no instruction"}.`));
      return null;
    }
    const warps = Math.max(...steps.map((one) => one.warp)) + 1;
    let here = -1;
    const seen = { addresses: false };

    const button = (text, label, act) => {
      const made = make("button", { type: "button", class: "step-button", "aria-label": label, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    const range = make("input", {
      type: "range", min: "0", max: String(steps.length - 1), value: "0", step: "1", "aria-label": "Step",
    });
    const controls = make("div", { class: "step-controls" },
      button("|\u25c0\ufe0e", "First step", () => go(0)),
      button("\u25c0\ufe0e", "One step back", () => go(here - 1)),
      button("\u25b6\ufe0e", "One step forward", () => go(here + 1)),
      button("\u25b6\ufe0e|", "Last step", () => go(steps.length - 1)),
      range,
      make("span", { class: "step-jumps" },
        button("\u21e4 mem", "Previous access to memory", () => memory(-1)),
        button("mem \u21e5", "Next access to memory", () => memory(1))),
      make("span", { class: "step-jumps" },
        button("line \u21e5", "Next line of this warp", () => line()),
        button("barrier \u21e5", "Next barrier", () => barrier())));
    const count = make("p", { class: "step-count" });
    const opened = make("p", { class: "step-opened" });
    const live = make("p", { class: "step-said", "aria-live": "polite" });
    const op = make("code", { class: "step-op" });
    const source = make("p", { class: "step-source" });
    const grid = make("div", { class: "step-grid" });
    const rows = Array.from({ length: warps }, (_, warp) => {
      const label = make("button", { type: "button", class: "step-label" });
      label.addEventListener("click", () => next(warp, 1));
      const cells = Array.from({ length: LANES }, () => make("i", {}));
      const row = make("div", { class: "step-row" }, label, ...cells);
      grid.append(row);
      return { row, label, cells };
    });
    const lanes = make("ol", { class: "step-lanes" });
    const laneCells = Array.from({ length: LANES }, (_, lane) => {
      const made = make("li", {}, make("span", { class: "step-lane" }, String(lane)), make("span", {}),
        make("span", {}));
      lanes.append(made);
      return made;
    });
    const key = make("p", { class: "step-legend" });
    const access = make("div", {});
    const cut = foot.end === "cut"
      ? `Cut after ${number(steps.length)} instructions: the block goes on.`
      : foot.end === "stopped" ? `Stopped: ${foot.why}.` : "";

    const go = (to) => {
      const wanted = Math.min(Math.max(to, 0), steps.length - 1);
      if (wanted === here) return;
      here = wanted;
      draw();
    };
    /** Goes to the nearest step that way which passes the test, if there is one. */
    const seek = (way, test) => {
      for (let i = here + way; i >= 0 && i < steps.length; i += way) {
        if (test(steps[i])) {
          go(i);
          return;
        }
      }
    };
    const memory = (way) => seek(way, (one) => touches(one, "global") || touches(one, "shared"));
    const next = (warp, way) => seek(way, (one) => one.warp === warp);
    const line = () => {
      const from = steps[here];
      seek(1, (one) => one.warp === from.warp && one.line && (one.line !== from.line || one.file !== from.file));
    };
    const barrier = () => seek(1, isBarrier);

    const draw = () => {
      const step = steps[here];
      range.value = String(here);
      live.textContent = said(steps, here);
      range.setAttribute("aria-valuetext", `${here + 1} of ${steps.length}`);
      count.textContent = `Step ${number(here + 1)} of ${number(steps.length)}. ${cut}`;
      op.textContent = step.op ?? `PTX line ${step.ptx_line}`;
      source.replaceChildren();
      lines.clear("now");
      if (step.file) {
        const call = lines.has(step.file, step.line) ? null : calls.get(`${step.file}:${step.line}`);
        const { file, line } = call ?? step;
        const code = lines.source(file, line);
        source.append(`${call ? `${placeSaid(step)}, called at ` : ""}${placeSaid({ file, line })}` +
          `${code ? ": " : " (not shown on this page)"}`, code ? make("code", {}, code) : "");
        lines.mark("now", [{ file, line }]);
      }

      const latest = new Map();
      for (let i = here; i >= 0 && latest.size < warps; i -= 1) {
        if (!latest.has(steps[i].warp)) latest.set(steps[i].warp, steps[i]);
      }
      rows.forEach(({ row, label, cells }, warp) => {
        const own = latest.get(warp);
        const now = warp === step.warp;
        row.classList.toggle("now", now);
        const where = own ? (own.line ? `, line ${own.line}` : "") : ", not begun";
        label.replaceChildren(`warp ${warp}`, make("span", { class: "step-at" }, where));
        label.title = `Go to warp ${warp}\u2019s next step`;
        const active = new Set(own?.active ?? []);
        cells.forEach((cell, lane) => {
          cell.className = active.has(lane) ? (now ? "on" : "was") : "";
        });
      });

      const cells = touched(step);
      const active = new Set(step.active);
      laneCells.forEach((cell, lane) => {
        const what = cells.get(lane);
        cell.className = what?.late ? "late" : active.has(lane) ? "on" : "";
        cell.children[1].textContent = what?.text ?? "\u00a0";
        cell.children[2].textContent = what?.turn ?? "";
      });
      lanes.hidden = !cells.size;
      key.hidden = !cells.size;
      lanes.setAttribute("aria-label", `Warp ${step.warp}\u2019s lanes`);
      key.textContent = cellsSaid(cells);
      access.replaceChildren(...(step.access ?? []).flatMap((one) =>
        [accessDrawn(step, one), addressesDrawn(one, seen)]));
    };

    range.addEventListener("input", () => go(Number(range.value)));
    const KEYS = {
      ArrowRight: () => go(here + 1), ArrowLeft: () => go(here - 1),
      ArrowDown: () => next(steps[here].warp, 1), ArrowUp: () => next(steps[here].warp, -1),
      Home: () => go(0), End: () => go(steps.length - 1),
      PageDown: () => memory(1), PageUp: () => memory(-1),
      l: line, b: barrier, Escape: () => close?.(),
    };
    const body = make("div", { class: "step-body", role: "group", tabIndex: 0,
      "aria-label": `Block ${(head.block ?? [0, 0, 0]).join(", ")}, step by step` },
      controls, make("p", { class: "step-legend step-keys" }, KEYS_SAID), opened, count, live,
      make("div", { class: "step-where" }, op, source),
      grid, make("p", { class: "step-legend" }, LEGEND),
      lanes, key, access);
    body.addEventListener("keydown", (event) => {
      const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      act();
    });
    // A finger that sweeps over the grid steps, too.
    let from = null;
    grid.addEventListener("touchstart", (event) => { from = event.touches[0].clientX; }, { passive: true });
    grid.addEventListener("touchend", (event) => {
      const swept = from === null ? 0 : event.changedTouches[0].clientX - from;
      from = null;
      if (Math.abs(swept) > 40) go(here + (swept < 0 ? 1 : -1));
    }, { passive: true });
    root.append(body);
    const begun = start(steps, at, usual);
    opened.textContent = begun.why;
    if (begun.before !== undefined) {
      const there = make("button", { type: "button", class: "run-quiet" }, `Go to step ${number(begun.before + 1)}`);
      there.addEventListener("click", () => go(begun.before));
      opened.append(" ", there);
    }
    opened.hidden = !begun.why;
    go(begun.at);
    return { go, at: () => here, focus: () => body.focus({ preventScroll: true }) };
  };

  window.LadderStepper = { show, servedAs, sectors, said };
})();
