// A ring of bulk copies in time: a stage fetches a piece, the warps add it up, the stage fetches
// again. By a model of two lengths, not measured. A test holds it to the model that the chapter's
// picture is drawn by.
(() => {
  const STAGES = 8;
  const END = 20;
  const ROW = 5;
  const { make, drawn, slider, toys } = window.LadderPage;

  /** The pieces that are asked for before END: one is added up at a time, in order. */
  const pieces = (stages, trip, adds) => {
    const free = Array(stages).fill(0);
    const found = [];
    for (let last = 0; ;) {
      const stage = found.length % stages;
      const asked = free[stage];
      if (asked >= END) return found;
      const begun = Math.max(asked + trip, last);
      last = begun + adds;
      free[stage] = last;
      found.push({ stage, asked, there: asked + trip, begun, done: last });
    }
  };

  const draw = (svg, stages, found) => {
    const scale = 100 / END;
    svg.replaceChildren();
    for (let row = 0; row < stages; ++row) {
      const y = (row + 0.5) * ROW;
      svg.append(drawn("line", { x1: 0, y1: y, x2: 100, y2: y, class: "toy-time" }));
    }
    for (const piece of found) {
      const y = piece.stage * ROW + 0.5;
      const bar = (from, to, name) => {
        if (from >= END) return;
        svg.append(drawn("rect", {
          x: from * scale, y, width: (Math.min(to, END) - from) * scale - 0.3, height: ROW - 1,
          class: name,
        }));
      };
      bar(piece.asked, piece.there, "toy-moved");
      bar(piece.begun, piece.done, "toy-word");
    }
  };

  const build = (place, which) => {
    const id = `toy-ring-${which}`;
    const svg = drawn("svg", { viewBox: `0 0 100 ${STAGES * ROW}`, "aria-hidden": "true" });
    const units = (value) => (value === 1 ? "1 unit" : `${value} units`);
    const count = slider(`${id}-stages`, "Stages: ", [1, STAGES, 1, 1], String, () => show());
    const trip = slider(`${id}-trip`, "A piece is on its way for ", [1, 10, 0.25, 5], units,
      () => show());
    const adds = slider(`${id}-adds`, "Adding it up takes ", [0.25, 5, 0.25, 1.25], units,
      () => show());
    const said = make("p", { class: "toy-said", role: "status" });

    const show = () => {
      for (const one of [count, trip, adds]) one.show();
      const [stages, way, work] = [count, trip, adds].map(({ input }) => Number(input.value));
      const found = pieces(stages, way, work);
      draw(svg, stages, found);
      // A stage takes a trip and an addition for each piece; the warps do one addition at a time.
      const busy = Math.min(1, (stages * work) / (way + work));
      Object.assign(place.dataset, { busy, pieces: JSON.stringify(found) });
      said.textContent = busy === 1
        ? "After the first trip, a piece is always there: the warps never wait."
        : `The warps add for ${Math.round(100 * busy)}\u00a0% of the time and wait for the rest.`;
    };
    const caption = "A row is a stage. Faint: a piece is on its way. Solid: the warps add it up. Add "
      + "stages until the warps never wait. How many does it take if adding takes twice as long?";
    const controls = make("div", { class: "toy-controls" },
      count.label, count.input, trip.label, trip.input, adds.label, adds.input);
    return { parts: [svg, controls, said], caption, show };
  };

  toys("ring", build);
})();
