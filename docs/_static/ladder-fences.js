// A hand-over from block 0 to block 1, which draws the last ticket: when block 0's sum arrives, and
// how old the value is that block 1 reads. A fence takes orders away. A test tries all that are left.
(() => {
  const END = 10;
  /** When the tickets are drawn: between the moments that the sliders go to. */
  const TICKETS = [3.5, 6.5];
  /** Where a fence stands, and what it leaves of its slider. */
  const FENCES = [{ at: 2.75, from: 0, to: 2 }, { at: 7.25, from: 8, to: END }];
  const { make, drawn, slider, toys } = window.LadderPage;
  const ROW = [10, 26];
  const at = (moment) => 8 + 8.4 * moment;

  const label = (x, y, text, anchor = "middle") =>
    drawn("text", { x, y, class: "toy-said-at", "text-anchor": anchor }, text);

  const draw = (svg, { sum, read, fences }) => {
    svg.replaceChildren();
    const wrong = read < sum;
    ROW.forEach((y, block) => {
      svg.append(label(1, block ? y + 7 : y - 5, `block ${block}`, "start"));
      svg.append(drawn("line", { x1: at(0) - 6, y1: y, x2: at(END) + 6, y2: y, class: "toy-time" }));
      const x = at(TICKETS[block]);
      svg.append(drawn("path", { d: `M${x} ${y - 3}l3 3l-3 3l-3 -3z`, class: "toy-ticket" }));
      svg.append(block ? label(x, y + 7, "last ticket") : label(x, y - 5, "ticket"));
    });
    const [from, to] = [at(sum), at(read)];
    svg.append(drawn("line", {
      x1: from, y1: ROW[0], x2: to, y2: ROW[1], class: wrong ? "toy-astray" : "toy-handed",
    }));
    svg.append(drawn("rect", {
      x: from - 2.4, y: ROW[0] - 2.4, width: 4.8, height: 4.8, class: "toy-word",
    }));
    svg.append(drawn("circle", {
      cx: to, cy: ROW[1], r: 2.5, class: wrong ? "toy-busiest" : "toy-word",
    }));
    ROW.forEach((y, block) => {
      if (!fences[block]) return;
      const bar = at(FENCES[block].at);
      svg.append(drawn("line", { x1: bar, y1: y - 4, x2: bar, y2: y + 4, class: "toy-fence" }));
    });
    return wrong;
  };

  const build = (place, which) => {
    const id = `toy-fences-${which}`;
    const svg = drawn("svg", { viewBox: "0 0 100 35", "aria-hidden": "true" });
    const moment = (value) => {
      if (value < TICKETS[0]) return "before both tickets";
      return value < TICKETS[1] ? "between the tickets" : "after both tickets";
    };
    const sum = slider(`${id}-sum`, "Block 0\u2019s sum arrives ", [0, END, 1, 2], moment,
      () => show());
    const read = slider(`${id}-read`, "Block 1 reads what was there ", [0, END, 1, 8], moment,
      () => show());
    const fence = (name, text) => {
      const box = make("input", { type: "checkbox", id: `${id}-${name}` });
      box.addEventListener("change", () => show());
      return { box, label: make("label", { class: "toy-check" }, box, text) };
    };
    const writers = fence("writer", "Block 0\u2019s fence: its sum before its ticket");
    const readers = fence("reader", "Block 1\u2019s fence: nothing older than its ticket");
    const said = make("p", { class: "toy-said", role: "status" });

    const show = () => {
      const fences = [writers.box.checked, readers.box.checked];
      const [arrives, dates] = [sum, read].map(({ input, show: written }, block) => {
        // A fence stops the slider that it is for: its scale stays the drawing's.
        const { from, to } = fences[block] ? FENCES[block] : { from: 0, to: END };
        const asked = Number(input.value);
        const value = Math.min(Math.max(asked, from), to);
        input.value = String(value);
        written();
        const held = value === asked ? "" : ", held by the fence";
        const text = `moment ${value} of ${END}, ${moment(value)}${held}`;
        input.setAttribute("aria-valuetext", text);
        return value;
      });
      const wrong = draw(svg, { sum: arrives, read: dates, fences });
      place.dataset.wrong = wrong ? "yes" : "no";
      said.textContent = wrong
        ? "Wrong: block 1 adds up an old value, from before block 0\u2019s sum arrived."
        : fences[0] && fences[1] ? "Right, in every order that the two fences allow."
          : "Right this time, but nothing guarantees it.";
    };
    const caption = "Time runs to the right. Try to make block 1 add up an old value: with no fence, "
      + "with one, with both. Block 1 always reads after its ticket (a diamond), but its L1 may hold "
      + "an older value: the circle marks how old. The square marks when block 0\u2019s sum arrives. "
      + "A fence (a bar) stops one of the sliders. A dashed line is a wrong sum.";
    const controls = make("div", { class: "toy-controls" },
      sum.label, sum.input, read.label, read.input, writers.label, readers.label);
    return { parts: [svg, controls, said], caption, show };
  };

  toys("fences", build);
})();
