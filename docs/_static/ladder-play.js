// Predictions are played. A box with data-guess gets a form; its answer opens when the reader locks
// in a guess. Guesses live in this browser's storage and nowhere else. With scripts off each box is
// a question over a fold, and nothing here is missed.
(() => {
  const STORE = "reduction-ladder";
  /** A guess is right within this factor of what was measured, and an eighth of the scale. */
  const CLOSE = 1.25;
  const SHARE = 1 / 8;
  /** "Faster" and "slower" are one guess only as near to 1 as this. */
  const LEVEL = 1.05;

  let memory = { guesses: {}, all: false };
  const load = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(STORE));
      const guesses = Object.entries(kept?.guesses ?? {}).filter(([, one]) => one && "rung" in one);
      memory = { guesses: Object.fromEntries(guesses), all: kept?.all === true };
    } catch {
      // No storage, or something else's: the game is played on this page alone.
    }
  };
  const save = () => {
    try {
      localStorage.setItem(STORE, JSON.stringify(memory));
    } catch {
      // As above.
    }
  };

  const { make } = window.LadderPage;

  const isOtherWay = (data, guess) => data.unit === "×" && (guess - 1) * (data.value - 1) < 0;
  const isClose = (data, guess) => {
    const off = Math.max(guess / data.value, data.value / guess);
    const share = data.from > 0
      ? Math.log(off) / Math.log(data.to / data.from)
      : Math.abs(guess - data.value) / (data.to - data.from);
    return off <= (isOtherWay(data, guess) ? LEVEL : CLOSE) && share <= SHARE;
  };

  const score = () => {
    // Who only looked, has not played.
    const played = Object.values(memory.guesses).filter((one) => "guess" in one);
    const won = played.filter((one) => one.won).length;
    return { played: played.length, won, lost: played.length - won };
  };

  const written = (data, value) => {
    const digits = Number(value.toPrecision(3));
    const number = digits >= 10000 ? digits.toLocaleString("en").replaceAll(",", "\u202f") : digits;
    return `${number}${data.unit === "×" ? "" : "\u00a0"}${data.unit}`;
  };

  // ------------------------------------------------------------------ the climb

  const unblank = () => {
    const open = new Set(Object.values(memory.guesses).map((one) => one.rung));
    for (const bar of document.querySelectorAll(".climb-bar.asked")) {
      bar.classList.toggle("blank", !memory.all && !open.has(bar.dataset.rung));
    }
  };

  // ------------------------------------------------------------------ one box

  const slider = (data, box, changed) => {
    const STEPS = 400;
    const at = (share) =>
      data.wide
        ? data.from * (data.to / data.from) ** share
        : data.from + (data.to - data.from) * share;
    const shown = make("output", { class: "guess-value" });
    const range = make("input", {
      type: "range", min: "0", max: String(STEPS), value: "0", step: "1",
      "aria-labelledby": box.querySelector(".box-title").id,
    });
    let moved = false;
    const value = () => (moved ? at(range.value / STEPS) : null);
    const show = () => {
      shown.textContent = moved ? written(data, value()) : "Tap or drag to guess";
      shown.classList.toggle("unset", !moved);
      range.classList.toggle("unset", !moved);
      range.setAttribute("aria-valuetext", moved ? shown.textContent : "not set");
    };
    const move = () => {
      moved = true;
      show();
      changed();
    };
    range.addEventListener("input", move);
    // Where it stands already, at the lowest value, there is nothing to put in.
    let isPressed = false;
    range.addEventListener("pointerdown", ({ button }) => { isPressed = button === 0; });
    range.addEventListener("pointercancel", () => { isPressed = false; });
    range.addEventListener("pointerup", () => {
      if (isPressed) move();
      isPressed = false;
    });
    range.addEventListener("keydown", ({ key, altKey, ctrlKey, metaKey }) => {
      if (/^(Arrow|Page|Home|End)/.test(key) && !altKey && !ctrlKey && !metaKey) move();
    });
    show();
    const ends = make("span", { class: "guess-ends", "aria-hidden": "true" },
      make("span", {}, written(data, data.from)), make("span", {}, written(data, data.to)));
    return { field: make("div", { class: "guess-scale" }, shown, range, ends), value };
  };

  const choices = (data, box, changed) => {
    const field = make("div", {
      class: "guess-options", role: "radiogroup",
      "aria-labelledby": box.querySelector(".box-title").id,
    });
    const options = data.choices.map((text, at) => {
      const input = make("input", { type: "radio", name: box.id, value: String(at) });
      input.addEventListener("change", changed);
      field.append(make("label", {}, input, ` ${text}`));
      return input;
    });
    const value = () => {
      const at = options.findIndex((one) => one.checked);
      return at < 0 ? null : at;
    };
    return { field, value };
  };

  const verdict = (data, kept) => {
    if (data.kind === "choices") {
      const yours = data.choices[kept.guess];
      return kept.won
        ? `You said \u201c${yours}\u201d, and so does the ${data.device}.`
        : `You said \u201c${yours}\u201d. The ${data.device} says: ${data.text}.`;
    }
    const off = kept.guess / data.value;
    const factor = Math.max(off, 1 / off);
    const words = factor < 1.005 ? "exactly right"
      : factor < 2 ? `${Math.round(100 * Math.abs(off - 1))} % too ${off > 1 ? "high" : "low"}`
      : `${factor.toPrecision(2)} times too ${off > 1 ? "high" : "low"}`;
    const said = `You said ${written(data, kept.guess)}. Measured: ${data.text}. `;
    const why = factor > CLOSE ? ""
      : isOtherWay(data, kept.guess) ? ", and on the other side of 1×"
        : ", which is far on so short a scale";
    return said + (kept.won ? `Close enough: ${words}.` : `Your guess was ${words}${why}.`);
  };

  const boxes = [];

  const prepare = (box) => {
    const data = JSON.parse(box.dataset.guess);
    const title = box.querySelector(".box-title");
    title.id = `${box.id}-question`;
    const fold = box.querySelector("details.answer");
    for (const one of box.querySelectorAll(".guess-choice")) one.hidden = true;

    const form = make("form", { class: "guess-form" });
    const hint = make("span", { class: "guess-hint", role: "status" });
    const asked = (data.kind === "slider" ? slider : choices)(data, box, () => { hint.textContent = ""; });
    const lock = make("button", { type: "submit", class: "guess-lock" }, "Lock in my guess");
    const peek = make("button", { type: "button", class: "guess-quiet" }, "Just show me");
    form.append(asked.field, make("div", { class: "guess-buttons" }, lock, peek, hint));
    if (data.kind === "slider" && !document.querySelector(".guess-rule")) {
      form.append(make("p", { class: "guess-rule" }, "Within about a quarter counts as right."));
    }
    const result = make("p", { class: "guess-result", role: "status", tabIndex: -1 });
    const again = make("button", { type: "button", class: "guess-quiet guess-again" }, "Guess again");
    /** What there was to choose from, with the right one marked, and the reader's. */
    const options = make("ul", { class: "guess-options guess-shown" }, ...(data.choices ?? []).map((text, at) =>
      make("li", { class: at === data.value ? "right" : "" }, text)));
    fold.before(form, options, result, again);

    const render = () => {
      const kept = memory.guesses[box.id];
      const done = Boolean(kept) || memory.all;
      form.hidden = done;
      fold.hidden = !done;
      fold.classList.toggle("unlocked", done);
      if (done) fold.open = true;
      result.hidden = !done;
      const played = kept && "guess" in kept;
      options.hidden = !done || data.kind !== "choices";
      data.choices?.forEach((text, at) => {
        options.children[at].textContent = played && at === kept.guess ? `${text} (your guess)` : text;
      });
      result.textContent = played ? verdict(data, kept) : done ? `Measured: ${data.text}.` : "";
      result.classList.toggle("won", Boolean(kept?.won));
      result.classList.toggle("lost", Boolean(played) && !kept.won);
      again.hidden = !kept || memory.all;
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = asked.value();
      if (value === null) {
        hint.textContent = data.kind === "slider" ? "Move the slider first." : "Pick one first.";
        return;
      }
      const won = data.kind === "choices" ? value === data.value : isClose(data, value);
      memory.guesses[box.id] = { guess: value, won, rung: data.rung ?? null };
      save();
      refresh();
      result.focus({ preventScroll: true });
    });
    peek.addEventListener("click", () => {
      memory.guesses[box.id] = { rung: data.rung ?? null };
      save();
      refresh();
      result.focus({ preventScroll: true });
    });
    again.addEventListener("click", () => {
      delete memory.guesses[box.id];
      save();
      refresh();
      for (const one of form.querySelectorAll("[type=radio]")) one.checked = false;
      form.querySelector("input").focus({ preventScroll: true });
    });
    boxes.push(render);
    box.append(scoreboard(data.device, box.id));
  };

  // ------------------------------------------------------------------ the score

  /** Beneath a page's first question, and beneath each other once it is answered. */
  const scoreboard = (device, id) => {
    const isFirst = !document.querySelector(".guess-score");
    const line = make("p", { class: "guess-score" });
    const words = make("span", { role: "status" });
    line.append(words, ...(isFirst ? controls() : []));
    boxes.push(() => {
      const { played, won, lost } = score();
      words.textContent = played ? `You ${won} : ${lost} ${device}` : "No guesses yet";
      line.hidden = !isFirst && !memory.guesses[id] && !memory.all;
    });
    return line;
  };

  /** What goes for all guesses: once per page. */
  const controls = () => {
    const every = make("button", { type: "button", class: "guess-quiet" });
    const clear = make("button", { type: "button", class: "guess-quiet" }, "Forget all my guesses");
    const undo = make("button", { type: "button", class: "guess-quiet", hidden: true }, "Undo");
    let before = null;  // what was forgotten last, from here
    every.addEventListener("click", () => {
      memory.all = !memory.all;
      save();
      refresh();
    });
    clear.addEventListener("click", () => {
      before = memory;
      memory = { guesses: {}, all: false };
      save();
      refresh();
      undo.focus();
    });
    undo.addEventListener("click", () => {
      memory = before;
      before = null;
      save();
      refresh();
      clear.focus();
    });
    boxes.push(() => {
      const hasGuesses = Object.keys(memory.guesses).length > 0;
      if (hasGuesses) before = null;
      every.textContent = memory.all ? "Hide what I haven\u2019t guessed" : "Show all answers, in all chapters";
      clear.hidden = !hasGuesses && !memory.all;
      undo.hidden = !before;
    });
    return [every, clear, undo];
  };

  // The row that a chapter ends in tells what all its guesses are about.
  const hideRow = (row) => {
    const show = make("button", { type: "button", class: "guess-quiet" }, "Show it anyway");
    const later = make("p", { class: "rung-later" },
      "This chapter\u2019s gain appears here once you have made its guesses. ", show);
    row.before(later);
    let shown = false;
    show.addEventListener("click", () => {
      shown = true;
      refresh();
    });
    boxes.push(() => {
      const open = document.querySelectorAll("form.guess-form:not([hidden])").length;
      row.hidden = Boolean(open) && !shown;
      later.hidden = !row.hidden;
    });
  };

  const refresh = () => {
    for (const render of boxes) render();
    unblank();
  };

  load();
  const played = document.querySelectorAll("[data-guess]");
  played.forEach(prepare);
  if (played.length) document.querySelectorAll("article .rung").forEach(hideRow);
  for (const strip of document.querySelectorAll(".climb-strip[data-device]")) {
    if (strip.querySelector(".blank") && !played.length) strip.append(scoreboard(strip.dataset.device));
  }
  refresh();
  // Another tab of the book may have played on.
  addEventListener("storage", (event) => {
    if (event.key !== STORE) return;
    load();
    refresh();
  });
})();
