// Where a stepper begins: the first step of a trace that passes a test, such as the first load from
// shared memory, the second access to global memory ("global:2"), or the first race.
(() => {
  const LANES = 32;

  const counted = (step, space, what) =>
    (step[`${space}_load_${what}`] ?? 0) + (step[`${space}_store_${what}`] ?? 0);
  const opcode = (step) => (step.op ?? "").replace(/^@!?%\w+\s+/, "");
  const touches = (step, space) => (step.access ?? []).some((one) => one.space === space);
  const moves = (step, direction) => (step.access ?? []).some((one) => one.direction === direction);

  const isWarpBarrier = (step) => /^bar(rier)?\.warp/.test(opcode(step));
  const isBarrier = (step) => /^bar/.test(opcode(step)) && !isWarpBarrier(step);

  /** Each test, and what its first step is called. */
  const TESTS = {
    conflict: [(step) => counted(step, "shared", "conflicts") > 0, "bank conflict"],
    branch: [(step) => step.diverging_branches > 0, "branch that parts the lanes"],
    global: [(step) => touches(step, "global"), "access to global memory"],
    shared: [(step) => touches(step, "shared"), "access to shared memory"],
    "shared-load": [(step) => touches(step, "shared") && moves(step, "load"), "load from shared memory"],
    atomic: [(step) => moves(step, "atomic"), "atomic operation"],
    shuffle: [(step) => /^(shfl|redux)/.test(opcode(step)), "exchange between the lanes of a warp"],
    barrier: [isBarrier, "barrier"],
    "warp-barrier": [isWarpBarrier, "barrier of one warp"],
  };
  /** The first of these that the trace has, if neither reader nor author asks for a step. */
  const USUAL = ["conflict", "branch", "global"];
  const ORDINALS = ["first", "second", "third", "fourth"];

  // ------------------------------------------------------------------ the first race

  /**
   * The first access to shared memory that meets another thread's with no barrier between the two:
   * {at, before, thread, other, kind, otherKind}. Of two that meet, one at least writes.
   */
  const firstRace = (steps) => {
    const passed = { block: new Map(), warp: new Map() }; // barriers that each thread has passed
    const words = new Map(); // of each byte: its last write, and the reads since
    const met = (kind, thread) => passed[kind].get(thread) ?? 0;
    const isOrdered = (one, now) => one.thread === now.thread || one.at === now.at || one.block !== now.block ||
      (Math.floor(one.thread / LANES) === Math.floor(now.thread / LANES) && one.warp !== now.warp);

    const clash = (now, byte) => {
      const known = words.get(byte) ?? { write: null, reads: [] };
      words.set(byte, known);
      const others = now.kind === "load" ? [known.write] : [known.write, ...known.reads];
      const found = others.find((one) => one && !isOrdered(one, now) &&
        !(one.kind === "atomic" && now.kind === "atomic"));
      if (now.kind === "load") known.reads.push(now);
      else Object.assign(known, { write: now, reads: [] });
      return found;
    };

    for (const [at, step] of steps.entries()) {
      const threadOf = (lane) => step.warp * LANES + lane;
      for (const [kind, test] of [["block", isBarrier], ["warp", isWarpBarrier]]) {
        if (!test(step)) continue;
        for (const lane of step.active) passed[kind].set(threadOf(lane), met(kind, threadOf(lane)) + 1);
      }
      for (const access of (step.access ?? []).filter((one) => one.space === "shared")) {
        for (const [i, lane] of access.lanes.entries()) {
          const thread = threadOf(lane);
          const now = { at, thread, kind: access.direction, block: met("block", thread), warp: met("warp", thread) };
          for (let byte = 0; byte < access.bytes; byte += 1) {
            const before = clash(now, access.address[i] + byte);
            if (before) return { now, before };
          }
        }
      }
    }
    return null;
  };

  const DOES = { load: "reads", store: "writes", atomic: "changes" };
  const DID = { load: "read", store: "wrote", atomic: "changed" };
  const raceSaid = ({ now, before }) => {
    const warp = (thread) => Math.floor(thread / LANES);
    const who = ({ thread }) => `lane ${thread % LANES}` +
      (warp(now.thread) === warp(before.thread) ? "" : ` of warp ${warp(thread)}`);
    return `Opened at a race: ${who(now)} ${DOES[now.kind]} what ${who(before)} ${DID[before.kind]} ` +
      `in step ${before.at + 1}, and no barrier stands between the two.`;
  };

  // ------------------------------------------------------------------ where to begin

  const BACK = "|\u25c0\ufe0e goes to the start.";

  /** The step that a name or a number asks for, {at, why, before}; nothing where there is none. */
  const found = (steps, asked) => {
    const last = steps.length - 1;
    if (Number.isInteger(asked)) return { at: Math.min(Math.max(asked, 0), last), why: "" };
    if (asked === "first") return { at: 0, why: "" };
    if (asked === "last") return { at: last, why: "" };
    if (asked === "race") {
      const race = firstRace(steps);
      return race && { at: race.now.at, why: raceSaid(race), before: race.before.at };
    }
    const [name, which = "1"] = String(asked).split(":");
    if (!Object.hasOwn(TESTS, name)) return null;
    const [test, what] = TESTS[name];
    let left = Number(which);
    const at = steps.findIndex((step) => test(step) && --left === 0);
    if (at < 0) return null;
    return { at, why: `Opened at the ${ORDINALS[which - 1] ?? `${which}th`} ${what}. ${BACK}` };
  };

  /** "race" for "This block has no race", and so on. */
  const named = (asked) => (asked === "race" ? "race" : TESTS[String(asked).split(":")[0]]?.[1]);

  /**
   * Where to begin: where the reader asks for, else where the page's author does, else by rule.
   * `why` is a sentence; `before` the step that a race is with.
   */
  const start = (steps, asked, usual) => {
    const wanted = found(steps, asked);
    if (wanted) return wanted;
    const rule = [usual, ...USUAL].map((name) => found(steps, name)).find(Boolean) ?? { at: 0, why: "" };
    const missing = asked === undefined ? undefined : named(asked);
    return missing ? { ...rule, why: `This block has no ${missing} in what is shown.` } : rule;
  };

  window.LadderStarts = { start, firstRace, counted, opcode, touches, isBarrier };
})();
