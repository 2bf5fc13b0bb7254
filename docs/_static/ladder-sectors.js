// Which sectors of memory a warp's 32 lanes touch: lane k reads some words from word
// start + k * stride on. A test holds the sectors to what the GPU counted per request.
(() => {
  const LANES = 32;
  const WORDS = 8; // in a sector of 32 bytes
  const SECTORS = 144; // as far as the sliders reach
  const ROW = 16;
  const { make, drawn, slider, chosen, toys } = window.LadderPage;
  const CELL = { wide: 0.92, high: 0.62, step: 0.8 };

  /** The words that the lanes want, each once; none where a lane's load isn't aligned. */
  const words = (stride, start, width) => {
    const wanted = new Set();
    for (let lane = 0; lane < LANES; ++lane) {
      const first = start + lane * stride;
      if (first % width !== 0) return null;
      for (let k = 0; k < width; ++k) wanted.add(first + k);
    }
    return wanted;
  };

  const draw = (svg, wanted) => {
    svg.replaceChildren();
    const moved = new Set([...wanted].map((word) => Math.floor(word / WORDS)));
    for (let sector = 0; sector < SECTORS; ++sector) {
      const x = (sector % ROW) + (1 - CELL.wide) / 2;
      const y = Math.floor(sector / ROW) * CELL.step + (CELL.step - CELL.high) / 2;
      svg.append(drawn("rect", {
        x, y, width: CELL.wide, height: CELL.high, rx: 0.06,
        class: moved.has(sector) ? "toy-moved" : "toy-cell",
      }));
      for (let k = 0; k < WORDS; ++k) {
        if (!wanted.has(sector * WORDS + k)) continue;
        svg.append(drawn("rect", {
          x: x + (k * CELL.wide) / WORDS, y, width: (0.86 * CELL.wide) / WORDS, height: CELL.high,
          class: "toy-word",
        }));
      }
    }
    return moved.size;
  };

  const build = (place, which) => {
    const id = `toy-sectors-${which}`;
    const viewBox = `0 0 ${ROW} ${(SECTORS / ROW) * CELL.step}`;
    const svg = drawn("svg", { viewBox, "aria-hidden": "true" });
    const stride = slider(`${id}-stride`, "Lane k begins at word k \u00b7 ", [0, 32, 1, 2], String,
      () => show());
    const start = slider(`${id}-start`, "plus ", [0, 32, 1, 0], String, () => show());
    const { select: bytes, label: bytesLabel } = chosen(`${id}-bytes`, "Bytes per lane: ",
      ["4", "8", "16"], () => show());
    const said = make("p", { class: "toy-said", role: "status" });

    const show = () => {
      stride.show();
      start.show();
      stride.input.setAttribute("aria-valuetext", `stride ${stride.input.value}`);
      start.input.setAttribute("aria-valuetext", `${start.input.value} words late`);
      const width = Number(bytes.value) / 4;
      const wanted = words(Number(stride.input.value), Number(start.input.value), width);
      const sectors = draw(svg, wanted ?? new Set());
      place.dataset.sectors = String(sectors);
      if (!wanted) {
        said.textContent = `Some lane\u2019s ${bytes.value} bytes don\u2019t begin at a multiple of `
          + `${bytes.value}: this load is an error, and the kernel stops.`;
        return;
      }
      const used = (100 * wanted.size) / (sectors * WORDS);
      const share = `${used < 10 ? used.toPrecision(2) : Math.round(used)}\u00a0%`;
      said.textContent = `${sectors === 1 ? "1 sector" : `${sectors} sectors`}, `
        + `${sectors * 32} bytes: ${share} of them wanted.`;
    };
    const caption = "A cell is a sector, a solid strip in it a word that some lane wants. With 16 "
      + "bytes per lane, find the stride that wastes nothing. Then begin a few words late.";
    const controls = make("div", { class: "toy-controls" },
      stride.label, stride.input, start.label, start.input, bytesLabel);
    return { parts: [svg, controls, said], caption, show };
  };

  toys("sectors", build);
})();
