// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { compareEach, filled, floatText, inputOf, problem, sumOf, view } = LadderPlans;
  const SCALE = 3;
  const next = (seed) => BigInt(seed) + 1n;
  const wholes = (seedOf) => ({ n, seed }) => filled(Float64Array, n, inputOf(seedOf(seed)));
  const x = wholes((seed) => seed);
  const y = wholes(next);

  const each = (name, value) => ([out], { seed }) => {
    const agreed = `${name}: every element as expected`;
    return compareEach(view(Float64Array, out), value(seed), agreed, floatText);
  };
  const roofs = [
    {
      inputs: [x],
      check: ([out], { n, seed }) => {
        const got = `${view(Float64Array, out).reduce((a, b) => a + b, 0)}`;
        const expected = `${sumOf(n, inputOf(seed))}`;
        const what = `read: sum ${got}, the host's ${expected}`;
        return { ok: got === expected, got, expected, what };
      },
    },
    { inputs: [x], check: each("copy", inputOf) },
    {
      inputs: [x, y],
      check: each("triad", (seed) => {
        const one = inputOf(seed);
        const other = inputOf(next(seed));
        return (i) => one(i) + SCALE * other(i);
      }),
    },
  ];
  problem(/^chapter07::Stream<\(chapter07::Roof\)(\d)>$/, (roof) => roofs[roof]);
})();
