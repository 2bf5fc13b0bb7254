// A panel's form: which variant, at which n, block size and seed, with which checks and schedule.
(() => {
  const { make, size, sizeSaid } = window.LadderPage;
  const DEFAULT_SEED = 2018;
  const MOST_BLOCK = 1024n;
  const MOST_SEED = 2n ** 64n - 1n;
  const CHECKS = {
    race: "races between threads of a block",
    memory: "accesses outside allocations",
    init: "reads of what was never written",
    sync: "threads that wait for ever",
  };

  // ------------------------------------------------------------------ what the reader typed

  /** One sentence about one field. */
  class Refused extends Error {
    constructor(field, message) {
      super(message);
      this.field = field;
    }
  }

  /** 65536, 65 536, 2^16 or 64K; NaN for anything else. */
  const count = (text) => {
    const typed = text.replace(/\s/g, "");
    const power = typed.match(/^2\^(\d{1,3})$/);
    const plain = typed.match(/^(\d{1,15})([KMG]?)$/i);
    if (power) return 2 ** Number(power[1]);
    if (plain) return Number(plain[1]) * { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[plain[2].toUpperCase()];
    return Number.NaN;
  };

  // The words of the programs and of tools/emulate, whose options these are.
  const COUNTS = "digits (16777216), a power of two (2^24), or digits with K, M or G (16M)";
  const refused = (name, text, why, allowed) =>
    new Refused(name, `${name}: "${text.trim()}" ${why}; allowed: ${allowed}.`);
  const wholeOf = (name, text, low, high) => {
    const typed = text.replace(/\s/g, "");
    if (!/^\d+$/.test(typed) || BigInt(typed) < low || BigInt(typed) > high) {
      throw refused(name, text, "is not a whole number in range", `${low} to ${high}`);
    }
    return BigInt(typed);
  };
  /** A seed has up to 64 bits, and stays exact where a number would lose some. */
  const exact = (whole) => (whole <= Number.MAX_SAFE_INTEGER ? Number(whole) : whole);

  /** One that is too large is refused where the launch is planned. */
  const countOf = (text, most) => {
    const n = count(text);
    if (Number.isNaN(n)) throw refused("n", text, "is not a count", `${COUNTS}; at most ${size(most)}`);
    return n;
  };

  const scheduleOf = (text) => {
    const typed = text.replace(/\s/g, "");
    if (/^\d{1,19}$/.test(typed)) return exact(BigInt(typed));
    throw new Refused("schedule",
      `schedule apart:${text.trim()}: there are together and apart:SEED, a SEED of up to 19 digits.`);
  };

  // ------------------------------------------------------------------ which variant

  /**
   * What tells the variants apart, if that is one parameter that each of them has, or whether they
   * finish the sum: the name of the choice, and each one's words. Else their names.
   */
  const choiceOf = (offered, region) => {
    const names = { label: "variant", text: (one) => one.name };
    const keys = [...new Set(offered.flatMap((one) => Object.keys(one.params ?? {})))];
    const tells = (value) => new Set(offered.map(value)).size === offered.length;
    if (offered.some((one) => one.region !== region) || keys.length !== 1) return names;
    const [key] = keys;
    if (key === "finished") {
      const text = (one) => (one.params?.finished ? "finished sum" : "first pass");
      return tells(text) ? { label: "sum", text } : names;
    }
    const value = (one) => one.params?.[key];
    return tells(value) && offered.every((one) => value(one) !== undefined)
      ? { label: key.replaceAll("_", " "), text: (one) => String(value(one)) } : names;
  };

  // ------------------------------------------------------------------ the form

  const field = (text, input, hint) => {
    const label = make("label", { class: "run-field" }, make("span", {}, text), input);
    if (hint) label.append(hint);
    return label;
  };

  /**
   * The form for these variants, `{form, buttons, select, chosen, onChosen, fill, asked, mark}`. `name`
   * keeps its radio buttons apart from other panels'; `region` is the panel's kernel; `onChosen` is given
   * what is told which variant is chosen.
   */
  const build = (name, region, offered) => {
    const choice = choiceOf(offered, region);
    const select = make("select", { name: "variant" });
    for (const one of offered) {
      select.append(make("option", { value: one.name }, choice.text(one) + (one.legacy ? " (faulty)" : "")));
    }
    const [nList, blockList] = ["n", "block"].map((one) => make("datalist", { id: `${name}-${one}s` }));
    const n = make("input", { type: "text", name: "n", autocomplete: "off", spellcheck: "false", list: nList.id });
    const block = make("input", { type: "text", name: "block", inputmode: "numeric", autocomplete: "off",
      list: blockList.id });
    const seed = make("input", { type: "text", name: "seed", inputmode: "numeric", autocomplete: "off",
      value: String(DEFAULT_SEED) });
    const nHint = make("span", { class: "run-hint" });
    const blockHint = make("span", { class: "run-hint" });
    const fields = make("div", { class: "run-fields" });
    if (offered.length > 1) fields.append(field(choice.label, select));
    fields.append(field("n", n, nHint), field("block", block, blockHint), field("seed", seed), nList, blockList);

    const boxes = Object.entries(CHECKS).map(([check, text]) => {
      const box = make("input", { type: "checkbox", name: check });
      return { name: check, box, label: make("label", {}, box, ` ${text}`) };
    });
    const together = make("input", { type: "radio", name: `${name}-lanes`, value: "together", checked: true });
    const apart = make("input", { type: "radio", name: `${name}-lanes`, value: "apart" });
    const apartSeed = make("input", { type: "text", inputmode: "numeric", value: "1", class: "run-short",
      "aria-label": "Schedule" });
    const more = make("details", { class: "folded run-more" },
      make("summary", {}, "Checks and schedule"),
      make("fieldset", {}, make("legend", {}, "Look for"), ...boxes.map((one) => one.label)),
      make("fieldset", {}, make("legend", {}, "The lanes of a warp run"),
        make("label", {}, together, " together"),
        make("label", {}, apart, " apart, by schedule "), apartSeed));
    const buttons = make("div", { class: "run-buttons" });
    const form = make("form", { class: "run-form", noValidate: true }, fields, more, buttons);
    const inputs = { n, block, seed, schedule: apartSeed };

    let chosen = offered[0];
    let told = () => {};
    const choose = (wanted) => {
      chosen = offered.find((one) => one.name === wanted) ?? offered[0];
      select.value = chosen.name;
      const rows = chosen.columns ? `rows of ${sizeSaid(chosen.columns)}: ` : "";
      nHint.textContent = `${rows}${chosen.sizes.map(sizeSaid).join(", ")}`;
      blockHint.textContent = chosen.widths.join(", ");
      nList.replaceChildren(...chosen.sizes.map((one) => make("option", { value: size(one) })));
      blockList.replaceChildren(...chosen.widths.map((one) => make("option", { value: String(one) })));
      told(chosen);
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

    /** What the fields say; throws what is wrong with one. */
    const asked = () => ({
      variant: chosen.name,
      n: countOf(n.value, chosen.most),
      block: Number(wholeOf("block", block.value, 1n, MOST_BLOCK)),
      seed: exact(wholeOf("seed", seed.value, 0n, MOST_SEED)),
      checks: boxes.filter((one) => one.box.checked).map((one) => one.name).join(","),
      apart: apart.checked ? scheduleOf(apartSeed.value) : null,
    });

    /** Marks the field that a sentence is about, and no other. */
    const mark = (wrong, sentence) => {
      for (const [each, input] of Object.entries(inputs)) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
        if (each !== wrong) continue;
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", sentence);
      }
    };

    apartSeed.addEventListener("input", () => { apart.checked = true; });
    for (const input of Object.values(inputs)) input.addEventListener("input", () => mark(null));
    return { form, buttons, select, fill, asked, mark, chosen: () => chosen,
      onChosen: (tell) => { told = tell; }, typed: (text) => { n.value = text; } };
  };

  window.LadderForm = { build, field, Refused };
})();
