// The PTX of a panel, which the reader can change. A change belongs to the variant and the PTX that
// it was made to.
(() => {
  const { make } = window.LadderPage;

  /** The editor, `{element, show, text, isChanged, restore, go}`; `run` runs what it holds. */
  const build = (run) => {
    const gutter = make("pre", { class: "ptx-lines", "aria-hidden": "true" });
    const area = make("textarea", { spellcheck: false, rows: 14, wrap: "off",
      "aria-label": "The PTX, which you can change", autocomplete: "off", autocapitalize: "off" });
    const at = make("span", { class: "run-hint" });
    const go = make("button", { type: "button", class: "run-go" }, "Run this");
    const back = make("button", { type: "button", class: "run-quiet" }, "Back to nvcc\u2019s PTX");
    const mine = make("button", { type: "button", class: "run-quiet", hidden: true }, "Back to my PTX");
    const said = make("span", { class: "run-hint", role: "status" });
    const element = make("details", { class: "folded run-ptx" }, make("summary", {}, "The PTX"),
      make("p", {}, "This is what nvcc made of the kernel, and what the device runs. Change it and run it. " +
        "Your change lasts until you leave this page."),
      make("div", { class: "ptx-editor" }, gutter, area),
      make("div", { class: "run-buttons" }, go, back, mine, at, said));

    const changes = new Map();  // by variant and PTX as nvcc made it
    let shipped = "";
    let key = "";
    let lines = 0;

    const isChanged = () => Boolean(shipped) && area.value !== shipped;
    const render = () => {
      const now = area.value.split("\n").length;
      if (now !== lines) gutter.textContent = Array.from({ length: now }, (_, i) => i + 1).join("\n");
      lines = now;
      gutter.scrollTop = area.scrollTop;
      back.hidden = !isChanged();
      mine.hidden = isChanged() || !changes.has(key);
      place();
    };
    const place = () => {
      const line = area.value.slice(0, area.selectionStart).split("\n").length;
      at.textContent = `PTX line ${line}`;
    };
    const put = (text) => {
      area.value = text;
      render();
    };

    /** Shows a plan's PTX, with what the reader has changed in it. */
    const show = (variant, text) => {
      const wanted = `${variant}\n${text}`;
      if (wanted === key) return;
      key = wanted;
      shipped = text;
      said.textContent = "";
      put(changes.get(key) ?? text);
    };
    /** nvcc's again; a change is kept. */
    const restore = () => {
      if (isChanged()) put(shipped);
    };
    /** Opens it at a line. */
    const goTo = (line) => {
      element.open = true;
      const before = area.value.split("\n").slice(0, line - 1);
      const from = before.length ? before.join("\n").length + 1 : 0;
      const end = area.value.indexOf("\n", from);
      area.focus();
      area.setSelectionRange(from, end < 0 ? area.value.length : end);
      const height = Number.parseFloat(getComputedStyle(area).lineHeight);
      area.scrollTop = Math.max(0, (line - 4) * height);
      area.scrollLeft = 0;
      render();
      area.scrollIntoView({ block: "nearest" });
    };

    area.addEventListener("input", () => {
      said.textContent = "";
      if (isChanged()) changes.set(key, area.value);
      else changes.delete(key);
      render();
    });
    area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === area) place();
    });
    go.addEventListener("click", run);
    back.addEventListener("click", () => {
      put(shipped);
      said.textContent = "This is nvcc\u2019s PTX. Your change is kept.";
      mine.focus();
    });
    mine.addEventListener("click", () => {
      put(changes.get(key));
      said.textContent = "This is your PTX.";
      back.focus();
    });
    return { element, go, show, restore, isChanged, goTo, text: () => area.value };
  };

  const TARGETS = new Set(["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"]);
  const ARCHITECTURES = new Set([10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75,
    80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121]);
  const isTarget = (name) => TARGETS.has(name) || ARCHITECTURES.has(Number(/^sm_(\d+)[af]?$/.exec(name)?.[1]));

  /** What a module is written for that there is not, in one sentence; empty where all is well. The device reads on. */
  const unknown = (text) => {
    const code = text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, " "));
    for (const [whole, directive, given] of code.matchAll(/^[ \t]*\.(version|target)[ \t]+([^\n;]*)/gm)) {
      const line = code.slice(0, code.indexOf(whole)).split("\n").length;
      const said = given.trim();
      if (directive === "version" && !/^[1-9]\.\d$/.test(said)) {
        return `PTX line ${line}: the device reads PTX up to .version 9, and not ${said || "none"}.`;
      }
      const other = directive === "target" && said.split(",").find((name) => !isTarget(name.trim()));
      if (typeof other === "string") {
        return `PTX line ${line}: .target ${other.trim() || "nothing"} is no architecture that there is, such as sm_90.`;
      }
    }
    return "";
  };

  window.LadderPtx = { build, unknown };
})();
