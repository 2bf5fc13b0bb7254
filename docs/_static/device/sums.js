// Who is in this sum? What the sum check has said of a run, and its picture: a cell for each element of
// the input, or for as many as fit into one, 32 to a row.
(() => {
  const { make, number } = window.LadderPage;
  const COLUMNS = 32;
  const MOST_CELLS = 1024;
  /** What a cell may be, the worst last: its class, and its words in the legend. */
  const KINDS = [
    ["once", "in it once"],
    ["often", "in it more than once"],
    ["turned", "subtracted"],
    ["missing", "missing"],
  ];
  const ONCE = 0;

  const kindOf = (times) => (times === 0 ? 3 : times < 0 ? 2 : times === 1 ? ONCE : 1);

  /** The worst kind of each cell's elements. */
  const cellsOf = (sum, each) => {
    const cells = new Uint8Array(Math.ceil(sum.elements / each));
    for (const [first, count, step, times] of sum.others) {
      for (let k = 0; k < count; ++k) {
        const cell = Math.floor((first + k * step) / each);
        cells[cell] = Math.max(cells[cell], kindOf(times));
      }
    }
    return cells;
  };

  const picture = (sum, said) => {
    const each = 2 ** Math.max(0, Math.ceil(Math.log2(sum.elements / MOST_CELLS)));
    const cells = cellsOf(sum, each);
    const elements = `${number(sum.elements)} element${sum.elements === 1 ? "" : "s"}`;
    const grid = make("div", { class: "sum-cells", role: "img", "aria-label": `${elements}: ${said}.` });
    cells.forEach((kind, cell) => {
      const first = cell * each;
      const last = Math.min(first + each, sum.elements) - 1;
      const which = first === last ? `element ${first}` : `elements ${first} to ${last}`;
      grid.append(make("i", { class: `sum-${KINDS[kind][0]}`, title: which }));
    });
    const size = each === 1 ? "Each cell is an element" : `Each cell is ${number(each)} elements`;
    const row = cells.length > COLUMNS ? `, each row ${number(each * COLUMNS)}` : "";
    const legend = make("p", { class: "sum-legend" }, `${size}${row}: `);
    KINDS.forEach(([name, words], kind) => {
      if (!cells.includes(kind)) return;
      const some = each > 1 && kind !== ONCE ? `some of them ${words}` : words;
      legend.append(make("span", {}, make("i", { class: `sum-${name}` }), ` ${some}`));
    });
    return [grid, legend];
  };

  /** "argument 2" by the parameter's name, which PTX doesn't keep; else by its kernel too. */
  const named = (kernel) => {
    const names = kernel ? window.LadderLines.parameters(kernel) : null;
    const short = kernel.replace(/<.*>/, "").match(/(\w+)\(/)?.[1];
    return (text) => text.replace(/\bargument (\d+)\b(?! of )/g, (said, place) =>
      names?.[place - 1] ?? (short ? `${said} of ${short}` : said));
  };

  /** One sum, or a sentence on what isn't one. */
  const one = (finding, lineLink) => {
    const { sum, lines } = finding;
    const name = named(finding.kernel ?? "");
    const what = name(finding.what);
    const details = finding.details.map(name);
    const kind = !sum ? "" : finding.fault ? "wrong" : sum.proved ? "right" : "";
    const head = make("p", { class: `sum-said ${kind}` }, `${what}.`);
    const at = make("p", {});
    lines.forEach((line, i) => at.append(i ? ", " : "In the listing: ", lineLink(line)));
    const more = make("ul", {});
    for (const detail of details) more.append(make("li", {}, detail));
    return [head, ...(sum ? picture(sum, what) : []), ...(lines.length ? [at] : []), more];
  };

  /** A section on these findings of the sum check; `lineLink` shows a line of a listing. */
  const show = (findings, lineLink) => {
    const faultsFirst = [...findings].sort((a, b) => Number(b.fault) - Number(a.fault));
    const said = faultsFirst.length ? faultsFirst.flatMap((each) => one(each, lineLink))
      : [make("p", { class: "sum-said" }, "The check says nothing of this run.")];
    return make("section", { class: "run-sum", "aria-label": "Who is in this sum?" }, ...said);
  };

  window.LadderSums = { show };
})();
