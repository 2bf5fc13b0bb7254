// Eight floats, added up in the reader's order and in the ways of chapter 11's kernels. Each operation
// rounds as the kernels' do: Math.fround is a conversion to float. A test does the same in NumPy.
(() => {
  const { make, chosen, reachable, toys } = window.LadderPage;
  const f = Math.fround;
  const [LARGE, HUGE, FAR] = [2 ** 24, 2 ** 60, 2 ** 28];
  const DATA = {
    "One large, seven small": [LARGE, 1, 1, 1, 1, 1, 1, 2],
    "Two cancel": [LARGE, 3, 5, 7, -LARGE, 1, 2, 3],
    "Four cancel, far apart": [HUGE, FAR, 1, 2, -FAR, -HUGE, 3, 4],
  };

  /** One by one: what `step` makes of the state and an element, row by row. */
  const inTurn = (names, start, step, value) => (xs) => {
    let state = start;
    const rows = xs.map((x) => {
      state = step(state, x);
      return state;
    });
    return { names, rows, value: value(state) };
  };
  /** A tree: element i takes in the one that is four on, then two, then one. */
  const tree = (xs) => {
    const rows = xs.map(() => []);
    const sums = [...xs];
    for (let hop = xs.length / 2; hop >= 1; hop /= 2) {
      for (let at = 0; at < hop; ++at) {
        sums[at] = f(sums[at] + sums[at + hop]);
        rows[at].push(sums[at]);
      }
    }
    return { names: ["1st", "2nd", "3rd step"], rows, value: sums[0] };
  };
  const WAYS = {
    "One by one": inTurn(["sum"], [0], ([sum], x) => [f(sum + x)], ([sum]) => sum),
    "In a tree": tree,
    "Kahan": inTurn(["sum", "excess"], [0, 0], ([sum, excess], x) => {
      const wanted = f(x - excess);
      const next = f(sum + wanted);
      return [next, f(f(next - sum) - wanted)];
    }, ([sum]) => sum),
    "Neumaier": inTurn(["sum", "lost"], [0, 0], ([sum, lost], x) => {
      const next = f(sum + x);
      const rest = Math.abs(sum) >= Math.abs(x) ? f(f(sum - next) + x) : f(f(x - next) + sum);
      return [next, f(lost + rest)];
    }, ([sum, lost]) => f(sum + lost)),
    "In a double": inTurn(["sum"], [0], ([sum], x) => [sum + x], ([sum]) => f(sum)),
  };

  const raised = (power) => [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  /** In powers of two and a rest: 2²⁴ + 3. */
  const written = (value) => {
    const terms = [];
    let rest = value;
    while (Math.abs(rest) >= 2 ** 20) {
      const power = Math.round(Math.log2(Math.abs(rest)));
      terms.push([rest < 0, `2${raised(power)}`]);
      rest -= Math.sign(rest) * 2 ** power;
    }
    if (rest !== 0 || terms.length === 0) terms.push([rest < 0, String(Math.abs(rest))]);
    return terms.map(([minus, text], at) => {
      if (at === 0) return minus ? `\u2212${text}` : text;
      return `\u00a0${minus ? "\u2212" : "+"}\u00a0${text}`;
    }).join("");
  };

  const build = (place, which) => {
    const id = `toy-rounding-${which}`;
    const data = chosen(`${id}-data`, "Add up: ", Object.keys(DATA), () => begin());
    const way = chosen(`${id}-way`, "Method: ", Object.keys(WAYS), () => show());
    const table = make("table", { class: "toy-table" });
    const box = make("div", { class: "toy-scroll" }, table);
    const said = make("p", { class: "toy-said", role: "status" });
    let xs = [];

    const show = () => {
      const { names, rows, value } = WAYS[way.select.value](xs);
      const head = make("tr", {}, ...["element", ...names].map((one) => make("th", { scope: "col" }, one)));
      table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...xs.map((x, at) => {
        const button = make("button", {
          type: "button", class: "guess-quiet", disabled: at === 0,
          "aria-label": `Element ${at + 1}, ${written(x)}: move to the front`,
        }, written(x));
        button.addEventListener("click", (event) => {
          xs = [x, ...xs.filter((_, other) => other !== at)];
          show();
          // Pressed by keys, the page follows; under a pointer it stays.
          const preventScroll = event.detail > 0;
          const next = Math.min(at + 1, xs.length - 1);
          table.querySelectorAll("button")[next].focus({ preventScroll });
        });
        const cells = names.map((_, column) => make("td", {},
          rows[at][column] === undefined ? "" : written(rows[at][column])));
        return make("tr", {}, make("th", { scope: "row" }, button), ...cells);
      })));
      reachable(box);
      const exact = Number(xs.reduce((sum, x) => sum + BigInt(x), 0n));
      place.dataset.value = String(value);
      said.textContent = value === exact
        ? `${written(value)}: exactly right.`
        : `${written(value)}, but the exact sum is ${written(exact)}.`;
    };
    const begin = () => {
      xs = [...DATA[data.select.value]];
      show();
    };
    const caption = "Press an element to move it to the front. Each row shows the sum after its "
      + "element; in a tree, what the element holds after each step. Which methods get \u201cTwo "
      + "cancel\u201d right in every order? Can you find an order of \u201cFour cancel, far "
      + "apart\u201d that Neumaier\u2019s gets right, and one for the double?";
    const controls = make("div", { class: "toy-controls" }, data.label, way.label);
    return { parts: [controls, box, said], caption, show: begin };
  };

  toys("rounding", build);
})();
