// How the words of a warp's 32 lanes fall into the 32 banks of shared memory: lane k wants word
// k * stride, and what lies in one bank is fetched one word after another. A test holds the passes
// to what the GPU counted.
(() => {
  const BANKS = 32;
  const LANES = 32;
  const { make, drawn, slider, toys } = window.LadderPage;
  const CELL = { wide: 0.84, high: 0.28, step: 0.34 };
  const TOP = 0.3;
  const FOOT = TOP + BANKS * CELL.step;

  /** By bank, the words that its lanes want, each once; `spare`: one word after every 32. */
  const words = (stride, spare) => {
    const inBank = Array.from({ length: BANKS }, () => new Set());
    for (let lane = 0; lane < LANES; ++lane) {
      const index = lane * stride;
      const word = index + (spare ? Math.floor(index / BANKS) : 0);
      inBank[word % BANKS].add(word);
    }
    return inBank;
  };

  const draw = (svg, inBank, passes) => {
    svg.replaceChildren();
    inBank.forEach((wanted, bank) => {
      const x = bank + (1 - CELL.wide) / 2;
      // An empty place shows where the bank is.
      for (let place = 0; place < Math.max(wanted.size, 1); ++place) {
        const used = place < wanted.size;
        const busiest = passes > 1 && wanted.size === passes;
        svg.append(drawn("rect", {
          x, y: FOOT - (place + 1) * CELL.step, width: CELL.wide, height: CELL.high, rx: 0.08,
          class: used ? (busiest ? "toy-word toy-busiest" : "toy-word") : "toy-none",
        }));
      }
      if (bank % 8 === 0 || bank === BANKS - 1) {
        svg.append(drawn("text", { x: bank + 0.5, y: FOOT + 1.35, class: "toy-bank" }, bank));
      }
    });
  };

  const build = (place, which) => {
    const id = `toy-banks-${which}`;
    const may = place.dataset.spare === "yes";
    const svg = drawn("svg", { viewBox: `-0.4 0 ${BANKS + 0.8} ${FOOT + 1.7}`, "aria-hidden": "true" });
    const range = [0, 64, 1, may ? 32 : 2];
    const stride = slider(id, "Lane k wants word k · ", range, String, () => show());
    const spare = make("input", { type: "checkbox" });
    const said = make("p", { class: "toy-said", role: "status" });

    const show = () => {
      const step = Number(stride.input.value);
      const inBank = words(step, spare.checked);
      const passes = Math.max(...inBank.map((one) => one.size));
      const used = inBank.filter((one) => one.size > 0).length;
      stride.show();
      stride.input.setAttribute("aria-valuetext", `stride ${step}`);
      const busy = used === 1 ? "1 bank is" : `${used} banks are`;
      const rest = step === 0
        ? "All lanes want the same word, which goes to all of them at once: 1 pass."
        : `${busy} busy, the busiest with ${passes === 1 ? "1 word" : `${passes} words`}: `
          + `${passes === 1 ? "1 pass" : `${passes} passes`}.`;
      said.textContent = rest;
      place.dataset.passes = String(passes);
      draw(svg, inBank, passes);
    };
    spare.addEventListener("change", show);
    const controls = make("div", { class: "toy-controls" }, stride.label, stride.input);
    if (may) {
      controls.append(
        make("label", { class: "toy-check" }, spare, " leave a spare word after every 32"));
    }
    const asked = may
      ? "One odd stride is ruined by the spare word. Which, and why?"
      : "Find a stride that takes 4 passes and isn\u2019t a power of two.";
    const caption = `A column is a bank, a block in it a word that some lane wants. ${asked}`;
    return { parts: [svg, controls, said], caption, show };
  };

  toys("banks", build);
})();
