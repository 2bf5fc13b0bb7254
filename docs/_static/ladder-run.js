// Run it here: what a kernel's fold needs is loaded when the first one opens, and the device itself
// when something first runs. A link's fragment opens its panel. With scripts off the fold has the
// command line that does the same.
(() => {
  const base = new URL("device/", document.currentScript.src).href;
  const wanted = {};

  /** Adds a script of _static/device/ once; fails with one sentence. */
  const load = (name) => {
    wanted[name] ??= new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = base + name;
      script.async = false; // in the order of asking: each may use those before it
      script.onload = done;
      script.onerror = () => {
        delete wanted[name];
        script.remove();
        fail(new Error(`${name} can\u2019t be loaded from _static/device: build the guide again.`));
      };
      document.head.append(script);
    });
    return wanted[name];
  };

  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in made && typeof value !== "string") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  /** Digits in threes, as on the rest of the page. */
  const number = (value) =>
    value >= 10000 ? value.toLocaleString("en").replaceAll(",", "\u202f") : String(value);

  /** 2^16 where it is a power of two from 2^10 on, as the programs say it. */
  const size = (n) => (n >= 1024 && Number.isInteger(Math.log2(n)) ? `2^${Math.log2(n)}` : String(n));

  window.LadderPage = { base, load, make, number, size };

  const open = async (fold) => {
    try {
      await Promise.all(["lines.js", "stepper.js", "run.js"].map(load));
      return await window.LadderRun.panel(fold);
    } catch (error) {
      if (!fold.querySelector(".run-status")) {
        fold.querySelector("summary").after(make("p", { class: "run-status", role: "status" }));
      }
      fold.querySelector(".run-status").textContent = error.message;
      return null;
    }
  };

  for (const fold of document.querySelectorAll("details.run-here")) {
    fold.addEventListener("toggle", () => fold.open && open(fold));
    if (fold.dataset.open) fold.open = true;
  }

  const follow = async () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const fold = document.getElementById(asked.get("run") ?? "");
    if (!fold?.matches("details.run-here")) return;
    for (let above = fold; above; above = above.parentElement.closest("details")) {
      above.hidden = false; // an answer not yet guessed: the link asks for it
      above.open = true;
    }
    (await open(fold))?.follow(Object.fromEntries(asked));
  };
  addEventListener("hashchange", follow);
  follow();
})();
