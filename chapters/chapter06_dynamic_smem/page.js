// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { comparePartials, filled, inputOf, problem, sumOf, view } = LadderPlans;

  problem("chapter06::Moments", {
    inputs: [({ n, seed }) => filled(Int32Array, n, inputOf(seed))],
    check: (read, { n, seed }) => {
      const value = inputOf(seed);
      const sums = comparePartials(view(Int32Array, read[0]), sumOf(n, value));
      if (!sums.ok) return sums;
      const squares = view(BigInt64Array, read[1]);
      const expected = `${sumOf(n, (i) => value(i) ** 2)}`;
      if (squares.some((each) => each < 0n)) {
        return { ok: false, got: "", expected, what: "a block left no sum of squares" };
      }
      const got = `${squares.reduce((a, b) => a + b, 0n)}`;
      const what = `sum of squares ${got}, the host's ${expected}`;
      return { ok: got === expected, got, expected, what };
    },
  });

  // Of what the program tries a page tries the last: as much shared memory as there is. The rest is
  // what a host is told that asks for too much.
  const MOST = 232448;
  problem("chapter06::Limits", {
    inputs: [],
    check: ([out]) => {
      const found = view(Int32Array, out)[0];
      const expected = MOST / 4;
      const what = `  launched with ${MOST}, the most asked for: cudaSuccess (0)`;
      const wrong = ", and its ends did not hold what was written";
      const ok = found === expected;
      return { ok, got: `${found}`, expected: `${expected}`, what: ok ? what : what + wrong };
    },
  });
})();
