// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { compareEach, filled, floatText, inputOf, problem, view } = LadderPlans;
  const ROUNDS = 256;

  // A walk ends as far on as it took rounds from where its warp began, in a ring.
  problem(/^chapter04::Walk<(\d+)u>$/, (ring) => ({
    inputs: [],
    check: ([out], { block }) => {
      const end = (thread) => {
        const warp = Math.floor((thread % block) / 32);
        return (Math.floor(thread / block) + warp + ROUNDS) % Number(ring);
      };
      return compareEach(view(Uint32Array, out), end, "every walk ends where it must");
    },
  }));

  // A · Aᵀ for rows of digits 0…15.
  const digits = (seed) => {
    const value = inputOf(seed);
    return (position) => value(position) % 16;
  };
  problem("chapter04::Product", {
    inputs: [({ n, seed }) => filled(Float32Array, n * n, digits(seed))],
    check: ([out], { n, seed }) => {
      const a = new Int32Array(filled(Int32Array, n * n, digits(seed)).buffer);
      const c = view(Float32Array, out);
      for (let i = 0; i < n; ++i) {
        for (let j = 0; j < n; ++j) {
          let sum = 0;
          for (let k = 0; k < n; ++k) sum += a[i * n + k] * a[j * n + k];
          const found = c[i * n + j];
          if (found !== sum) {
            const got = floatText(found);
            return {
              ok: false,
              got,
              expected: floatText(sum),
              what: `row ${i}, column ${j} is ${got}`,
            };
          }
        }
      }
      const all = `${n * n} elements`;
      const what = "every element of C agrees with the host's";
      return { ok: true, got: all, expected: all, what };
    },
  });
})();
