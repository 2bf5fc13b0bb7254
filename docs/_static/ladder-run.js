// Run it here: what a kernel's fold needs is loaded when the first one opens, and the device itself
// when something first runs. A link's fragment opens its panel. With scripts off the fold has the
// command line that does the same.
(() => {
  const base = new URL("device/", document.currentScript.src).href;
  const SCRIPTS = ["lines.js", "starts.js", "stepper.js", "form.js", "sums.js", "results.js", "ptx.js",
    "run.js"];
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

  const { make } = window.LadderPage;

  /** Digits in threes, as on the rest of the page. */
  const number = (value) =>
    value >= 10000 ? value.toLocaleString("en").replaceAll(",", "\u202f") : String(value);

  /** 2^16 where it is a power of two from 2^10 on, as the programs say it. */
  const size = (n) => (n >= 1024 && Number.isInteger(Math.log2(n)) ? `2^${Math.log2(n)}` : String(n));

  const POWERS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  const raised = (digits) => [...String(digits)].map((one) => POWERS[one]).join("");

  /** As size, but as the book prints it: with a raised exponent, or with digits in threes. */
  const sizeSaid = (n) => {
    const typed = size(n);
    return typed.startsWith("2^") ? `2${raised(typed.slice(2))}` : number(n);
  };

  /** A program's sentence with its numbers as the book prints them. */
  const printed = (text) =>
    text.replace(/(?<![\w.])2\^(\d+)/g, (_, power) => `2${raised(power)}`)
      .replace(/(?<![\w.\u2070-\u2079])\d{5,}(?![\w.]*\w)/g, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, "\u202f"));

  /** How to scroll, for a reader who may want no motion. */
  const scrolling = () =>
    (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

  Object.assign(window.LadderPage, { base, load, number, size, sizeSaid, printed, scrolling });

  const open = async (fold) => {
    try {
      await Promise.all(SCRIPTS.map(load));
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

  // The theme's way to the top would lie over a panel that one works with.
  const seen = new Set();
  const tell = () =>
    document.body.classList.toggle("run-seen", [...seen].some((fold) => fold.open));
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
    tell();
  });
  for (const fold of document.querySelectorAll("details.run-here")) {
    watch.observe(fold);
    fold.addEventListener("toggle", tell);
  }

  /** The answer that a fold is locked in until the reader has guessed. */
  const lockOf = (fold) => fold.parentElement.closest("details.answer[hidden]");

  /** Pictures above a place move it until they are there. */
  const laidOut = document.readyState === "complete" ? null
    : new Promise((done) => addEventListener("load", done, { once: true }));

  let waiting = null;
  const follow = async () => {
    waiting?.disconnect();
    const asked = new URLSearchParams(location.hash.slice(1));
    const fold = document.getElementById(asked.get("run") ?? "");
    if (!fold?.matches("details.run-here")) return;
    const lock = lockOf(fold);
    if (lock) {
      const box = lock.closest("[data-guess]") ?? lock.parentElement;
      const later = box.querySelector(".run-later") ?? make("p", { class: "run-later", role: "status" },
        "Your link leads into this answer. It opens when you have made your guess.");
      lock.before(later);
      await laidOut;
      later.scrollIntoView({ block: "center", behavior: scrolling() });
      waiting = new MutationObserver(() => {
        if (lockOf(fold)) return;
        later.remove();
        follow();
      });
      waiting.observe(lock, { attributes: true, attributeFilter: ["hidden"] });
      return;
    }
    for (let above = fold; above; above = above.parentElement.closest("details")) above.open = true;
    (await open(fold))?.follow(Object.fromEntries(asked));
  };
  addEventListener("hashchange", follow);
  follow();
})();
