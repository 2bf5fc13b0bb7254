// A kernel's panel: the form, what came of a run, the stepper, and a link to all that. The device
// executes (client.js), the plans say what a variant launches (plans.js), form.js, results.js,
// ptx.js and stepper.js each show their part.
(() => {
  const { base, load, make, number, size, printed, scrolling } = window.LadderPage;
  const Lines = window.LadderLines;
  const { field } = window.LadderForm;
  const { shapeSaid } = window.LadderResults;
  const TRACE_LIMIT = 10000;
  // Warp instructions of a launch that is stepped through: some seconds. One that never ends can be
  // stepped through, too.
  const TRACE_WORK = 2 ** 26;
  /** Milliseconds without a block done after which a launch may be one that never ends. */
  const PATIENCE = 5000;
  const ENDLESS = "Still running, and no block is done yet. If it may never end: Stop, then Step through it.";
  const WHAT = "Your browser executes the PTX that nvcc made of this kernel, and counts what hardware " +
    "counts. It measures no times.";

  const panels = new Map();
  let marked = null;  // whose marks the listings have

  /** The variants that a panel offers, with all that the plans know of them. */
  const offeredOf = async (data) => {
    await load("plans.js");
    await window.LadderPlans.load(base, data.chapter);
    const known = window.LadderPlans.variants(data.chapter);
    return data.variants
      .map(({ name, region }) => ({ ...known.find((one) => one.name === name), region }))
      .filter((one) => one.name);
  };

  const build = async (fold) => {
    const data = JSON.parse(fold.dataset.run);
    const without = fold.querySelector(".run-without");
    const status = fold.querySelector(".run-status") ?? make("p", { class: "run-status", role: "status" });
    status.id = `${fold.id}-status`;
    without.after(status);
    /** A sentence; where one that is wrong names a line of the PTX, with a way there. */
    const say = (text, kind = "") => {
      status.textContent = text;
      status.className = `run-status ${kind}`;
      const line = kind === "wrong" && Number(text.match(/\bline (\d+)/i)?.[1]);
      if (!line || !/\bPTX\b/.test(text)) return;
      const there = make("button", { type: "button", class: "run-quiet" }, `Go to PTX line ${line}`);
      there.addEventListener("click", () => ptx.goTo(line));
      status.append(" ", there);
    };
    /** On a phone, or below the PTX, what asked for it is far from where the answer stands. */
    const showStatus = () => status.scrollIntoView({ block: "nearest", behavior: scrolling() });
    const offered = await offeredOf(data);
    if (!offered.length) {
      say("This kernel can\u2019t be run in the page.");
      return null;
    }
    without.remove();
    Lines.unneeded(fold);

    // ---------------------------------------------------------------- what there is

    const form = window.LadderForm.build(fold.id, data.region, offered);
    const go = make("button", { type: "submit", class: "run-go" }, "Run");
    const stop = make("button", { type: "button", class: "run-stop", hidden: true }, "Stop");
    const who = make("button", { type: "button", class: "run-quiet", hidden: true }, "Who is in this sum?");
    const step = make("button", { type: "button", class: "run-quiet" }, "Step through it");
    const link = make("button", { type: "button", class: "run-quiet" }, "Copy link");
    const bar = make("progress", { hidden: true, "aria-label": "Progress of the launch" });
    form.buttons.append(go, stop, who, step, link, bar);

    /** Whether a preset or a link has the sum check among its checks. */
    const asksWho = ({ checks }) => String(checks ?? "").split(",").includes("sum");
    const presetRow = make("div", { class: "run-presets", role: "group", "aria-label": "Try" });
    for (const one of data.presets) {
      const button = make("button", { type: "button" }, one.label);
      button.addEventListener("click", () => {
        fill(one, button);
        if ("step" in one) stepThrough(one.step, { block: one.in, isShipped: true });
        else run({ heat: one.heat, isShipped: true, asksWho: asksWho(one) });
      });
      presetRow.append(button);
    }
    /** Marks the preset that the form was filled from, or none. */
    const press = (pressed) => {
      for (const one of presetRow.children) one.setAttribute("aria-pressed", String(one === pressed));
    };
    const fill = (shape, preset = null) => {
      press(preset);
      form.fill(shape);
    };
    for (const name of ["input", "change"]) form.form.addEventListener(name, () => press(null));

    const usual = (variant) => offered.find((one) => one.name === variant)?.default_block;
    const results = window.LadderResults.build(fold, data, usual, (shape) => {
      fill(shape);
      run();
    });
    const steps = make("section", { class: "run-steps", hidden: true, "aria-label": "Step by step" });
    const ptx = window.LadderPtx.build(() => isRunning || run());
    status.before(make("p", { class: "run-what" }, WHAT), ...(data.presets.length ? [presetRow] : []), form.form);
    status.after(results.element, steps, ptx.element);

    let stepper = null;
    let traced = null;  // what the stepper shows: {wanted, launch, block}
    let turn = 0;
    let isRunning = false;
    let verdict = null;  // of the run whose results there are

    // ---------------------------------------------------------------- running

    const refuse = (fieldName, message) => {
      say(printed(message), "wrong");
      showStatus();
      form.mark(fieldName, status.id);
    };

    /** What the form asks for, or nothing where a sentence says why not. */
    const asked = () => {
      form.mark(null);
      try {
        return form.asked();
      } catch (error) {
        refuse(error.field, error.message);
        return null;
      }
    };

    /** What to launch, or nothing where a sentence says why not. */
    const planned = async () => {
      const shape = asked();
      if (!shape) return null;
      const plan = await window.LadderPlans.plan(data.chapter, shape.variant,
        { n: shape.n, block: shape.block, seed: shape.seed });
      if (plan.refused) {
        const why = plan.refused.replace(/^--/, "").replace(/\.$/, "");
        refuse(why.startsWith("n ") ? "n" : "block", `${why}.`);
      }
      else if (plan.nothing) say(`${plan.nothing}.`);
      else return { shape, plan };
      return null;
    };

    /** While it runs, and where nothing came of it, the last run's results are not to be seen. */
    const begin = () => {
      for (const one of [results.element, steps]) one.classList.add("run-waits");
      results.wipe();
      Lines.clear("now");
    };
    const end = (shown) => {
      for (const one of [results.element, steps]) one.classList.remove("run-waits");
      if (!shown) verdict = null;
      if (shown !== "results") results.hide();
      if (shown !== "steps") steps.hidden = true;
      // What had the focus is gone, such as the button that stops.
      if (document.activeElement === document.body) go.focus({ preventScroll: true });
    };

    const busy = (isBusy) => {
      isRunning = isBusy;
      for (const button of [go, who, ptx.go]) {
        if (isBusy) button.setAttribute("aria-disabled", "true");
        else button.removeAttribute("aria-disabled");
      }
      stop.hidden = !isBusy;
      bar.hidden = !isBusy;
      if (isBusy) bar.removeAttribute("value");
    };

    let halt = () => {};

    /** Ends a turn of which nothing is shown, and says why. */
    const giveUp = (why, kind) => {
      busy(false);
      say(why, kind);
      end("");
      return null;
    };

    /** The device's answer to a request; nothing where a sentence says why there is none. */
    const execute = async (request) => {
      const mine = ++turn;
      halt(); // a panel runs one thing at a time: what is asked for last
      busy(true);
      say("Running\u2026");
      if (!request.trace || steps.hidden) showStatus();
      let late = 0;
      try {
        let isHalted = false;
        stop.onclick = () => {
          isHalted = true;
          halt();
        };
        const unknown = window.LadderPtx.unknown(request.ptx);
        if (unknown) throw new Error(unknown);
        await load("client.js");
        const device = await window.LadderDevice.open(base, asksWho(request) ? "device_sums" : "device");
        if (mine !== turn) return null;
        let result = { stopped: true };
        if (!isHalted) {
          const job = device.run(request, (done, all) => {
            if (mine === turn) bar.value = done / all;
          });
          halt = () => device.stop(job);
          // What is traced ends by itself, if late.
          if (!request.trace) {
            late = setTimeout(() => mine === turn && bar.value === 0 && say(ENDLESS), PATIENCE);
          }
          result = await job;
        }
        if (mine !== turn) return null; // the reader has asked for something else by now
        if (result.error) throw new Error(result.error);
        if (result.stopped) return giveUp("Stopped. Nothing is shown of a launch that did not end.");
        return result;
      } catch (error) {
        return mine === turn ? giveUp(error.message, "wrong") : null;
      } finally {
        clearTimeout(late);
        if (mine === turn) busy(false);
      }
    };

    const requestOf = ({ shape, plan }, extra) => ({
      ...plan.request, ptx: ptx.text(),
      checks: shape.checks, apart: shape.apart, limit: 0, lines: true, trace: null, ...extra,
    });

    /** What to launch, with its PTX in the editor; `isShipped`: as nvcc made it. */
    const prepared = async (isShipped) => {
      const wanted = await planned();
      if (!wanted) {
        end("");
        return null;
      }
      ptx.show(wanted.shape.variant, wanted.plan.request.ptx);
      if (isShipped) ptx.restore();
      return wanted;
    };

    const run = async ({ heat, isShipped, asksWho = false } = {}) => {
      begin();
      const wanted = await prepared(isShipped);
      if (!wanted) return;
      if (asksWho) wanted.shape.checks = [wanted.shape.checks, "sum"].filter(Boolean).join();
      const isChanged = ptx.isChanged();
      if (isChanged) press(null);
      const result = await execute(requestOf(wanted, {}));
      if (!result) return;
      marked = fold;
      verdict = results.verdict(result, wanted.plan, isChanged);
      say(...verdict);
      results.show(result, wanted.shape, isChanged, heat);
      end("results");
    };

    // ---------------------------------------------------------------- step by step

    const stepThrough = async (at, { isShipped, ...where } = {}) => {
      begin();
      const wanted = await prepared(isShipped);
      if (wanted) await trace(wanted, at, where);
    };

    /** Of lines that were inlined, the call in the kernel; none where several calls brought them. */
    const callsOf = (ran) => {
      const calls = new Map();
      for (const { file, line, inlined_at: call } of ran) {
        const key = `${file}:${line}`;
        const isSame = !calls.has(key) || JSON.stringify(calls.get(key)) === JSON.stringify(call);
        calls.set(key, isSame ? call : undefined);
      }
      return calls;
    };

    /** Steps through one block of a launch. */
    const trace = async (wanted, at, where) => {
      begin();
      ptx.show(wanted.shape.variant, wanted.plan.request.ptx);
      const launches = wanted.plan.request.steps
        .map((one, index) => ({ ...one, index })).filter((one) => one.kind === "launch");
      const launch = launches[Math.min(where.launch ?? 0, launches.length - 1)];
      const [x, y] = launch.grid;
      const blocks = launch.grid.reduce((one, other) => one * other, 1);
      const index = Math.min(where.block ?? 0, blocks - 1);
      const place = [index % x, Math.floor(index / x) % y, Math.floor(index / (x * y))];
      const isChanged = ptx.isChanged();
      const result = await execute(requestOf(wanted, {
        checks: "", limit: TRACE_WORK, trace: { step: launch.index, block: place, limit: TRACE_LIMIT },
      }));
      if (!result) return;
      traced = { wanted, launch: launches.indexOf(launch), block: index };
      const head = `${wanted.shape.variant}, ${shapeSaid(wanted.shape)}` +
        `${wanted.shape.apart === null ? "" : `, lanes apart, schedule ${wanted.shape.apart}`}${isChanged ? ", your PTX" : ""}`;
      say(`Stepping through block ${number(index)} of ${number(blocks)}.`);
      const body = make("div", {});
      steps.replaceChildren(make("p", { class: "step-head" }, head), choices(launches, launch, index, blocks), body);
      steps.hidden = false;
      marked = fold;
      stepper = window.LadderStepper.show(body, {
        trace: result.trace ?? [], at, usual: data.step, lines: Lines, calls: callsOf(result.lines), close,
      });
      end("steps");
      stepper?.focus();
      steps.scrollIntoView({ block: "start", behavior: scrolling() });
    };

    /** Which block of which launch the stepper shows. */
    const choices = (launches, launch, index, blocks) => {
      const pick = make("input", { type: "text", inputmode: "numeric", class: "run-short", value: String(index) });
      pick.addEventListener("change", () => {
        const typed = Number(pick.value.replace(/\s/g, "") || Number.NaN);
        const isThere = Number.isInteger(typed) && typed >= 0 && typed < blocks;
        pick.setAttribute("aria-invalid", String(!isThere));
        if (isThere) trace(traced.wanted, undefined, { launch: traced.launch, block: typed });
        else {
          say(`which block: write a number from 0 to ${number(blocks - 1)}.`, "wrong");
          showStatus();
        }
      });
      const which = make("select", {});
      launches.forEach((one, i) => {
        which.append(make("option", { value: String(i), selected: one === launch },
          `${i + 1}: ${number(one.grid[0])} block${one.grid[0] === 1 ? "" : "s"} of ${one.block[0]}`));
      });
      which.addEventListener("change", () => trace(traced.wanted, undefined, { launch: Number(which.value) }));
      const shut = make("button", { type: "button", class: "run-quiet" }, "Close");
      shut.addEventListener("click", close);
      return make("div", { class: "run-fields" },
        ...(launches.length > 1 ? [field("launch", which)] : []),
        field("which block", pick, make("span", { class: "run-hint" }, `0 to ${number(blocks - 1)}`)), shut);
    };

    const close = () => {
      steps.hidden = true;
      Lines.clear("now");
      say(...(verdict ?? [""]));
      if (verdict) results.back();
      step.focus();
    };

    // ---------------------------------------------------------------- a link to it

    const copy = async () => {
      const isStepping = stepper && !steps.hidden;
      const shape = isStepping ? traced.wanted.shape : asked();
      if (!shape) return;
      const state = new URLSearchParams({ run: fold.id, variant: shape.variant, n: size(shape.n),
        block: String(shape.block), seed: String(shape.seed) });
      const checks = [shape.checks, !isStepping && results.asksWho() && "sum"].filter(Boolean).join();
      if (checks) state.set("checks", checks);
      if (shape.apart !== null) state.set("apart", String(shape.apart));
      if (results.heat()) state.set("heat", results.heat());
      if (isStepping) {
        state.set("step", String(stepper.at()));
        if (traced.block) state.set("in", String(traced.block));
        if (traced.launch) state.set("launch", String(traced.launch));
      }
      const address = `${location.href.replace(/#.*/, "")}#${state.toString().replaceAll("%5E", "^").replaceAll("%2C", ",")}`;
      history.replaceState(null, "", address);
      const opens = ptx.isChanged() ? "opens this panel without your PTX" : "opens this panel as it is";
      try {
        await navigator.clipboard.writeText(address);
        say(`The link is copied. It ${opens}.`);
      } catch {
        say(`The link stands in the address bar. It ${opens}.`);
      }
    };

    const whole = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : 0);
    const follow = (given) => {
      const one = offered.some((each) => each.name === given.variant) ? given.variant : offered[0].name;
      const { n: typed, ...rest } = given;
      fill({ ...rest, variant: one });
      if (typed) form.typed(typed);
      fold.scrollIntoView({ block: "start" });
      if (given.step === undefined) return run({ heat: given.heat, asksWho: asksWho(given) });
      const at = /^\d+$/.test(given.step) ? Number(given.step) : given.step;
      return stepThrough(at, { block: whole(given.in), launch: whole(given.launch) });
    };

    // ---------------------------------------------------------------- who does what

    /** The PTX of what the form asks for, without a word where it asks for nothing that runs. */
    const showPtx = () => {
      try {
        const { variant, ...shape } = form.asked();
        const plan = window.LadderPlans.plan(data.chapter, variant, shape);
        if (plan.request) ptx.show(variant, plan.request.ptx);
      } catch (error) {
        if (!(error instanceof window.LadderForm.Refused)) throw error;
      }
    };
    form.onChosen((variant) => { who.hidden = !variant.sums; });
    form.select.addEventListener("change", () => {
      form.fill({ variant: form.select.value });
      showPtx();
    });
    form.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!isRunning) run();
    });
    who.addEventListener("click", () => isRunning || run({ asksWho: true }));
    step.addEventListener("click", () => stepThrough());
    link.addEventListener("click", copy);
    ptx.element.addEventListener("toggle", () => ptx.element.open && showPtx());
    fold.addEventListener("toggle", () => {
      if (fold.open && verdict && steps.hidden) {
        marked = fold;
        results.back();
      }
      if (fold.open || marked !== fold) return;
      marked = null;
      results.wipe();
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
