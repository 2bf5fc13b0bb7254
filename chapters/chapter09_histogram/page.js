// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { inputOf, problem, view } = LadderPlans;
  const BINS = 256;

  // A byte of each kind of data: uniform, bell, mostly, equal.
  const later = (seed, by) => inputOf(BigInt(seed) + BigInt(by));
  const KINDS = [
    inputOf,
    (seed) => {
      const four = [0, 1, 2, 3].map((by) => later(seed, by));
      return (position) => four.reduce((sum, value) => sum + value(position), 0) >> 2;
    },
    (seed) => {
      const value = inputOf(seed);
      const other = later(seed, 1);
      return (position) => value(other(position) < 241 ? 0 : position);
    },
    (seed) => {
      const value = inputOf(seed)(0);
      return () => value;
    },
  ];
  function countOf(n, value) {
    const counts = new Array(BINS).fill(0);
    for (let i = 0; i < n; ++i) ++counts[value(i)];
    return counts;
  }
  // The bytes, after `offset` others that don't count.
  const bytesOf = (kind, offset) => ({ n, seed }) => {
    const value = KINDS[kind](seed);
    return Uint8Array.from({ length: n + offset }, (_, i) => (i < offset ? 0 : value(i - offset)));
  };

  problem(/^chapter09::Histogram<\(chapter09::Data\)(\d), (\d+)u>$/, (kind, offset) => ({
    inputs: [bytesOf(kind, Number(offset))],
    check: ([bins], { n, seed }) => {
      const found = view(Uint32Array, bins);
      const expected = countOf(n, KINDS[kind](seed));
      const wrong = [...expected.keys()].filter((bin) => found[bin] !== expected[bin]);
      const got = `${BINS - wrong.length} of ${BINS}`;
      if (wrong.length === 0) {
        return { ok: true, got, expected: `${BINS}`, what: "all 256 counts agree with the host's" };
      }
      const [first] = wrong;
      const what = `${wrong.length} of 256 counts differ, the first of value ${first}: ` +
        `${found[first]}, the host's ${expected[first]}`;
      return { ok: false, got, expected: `${BINS}`, what };
    },
  }));

  const total = (words) => view(Uint32Array, words).reduce((a, b) => a + b, 0);
  problem("chapter09::Reading", {
    inputs: [bytesOf(0, 0)],
    check: ([sums], { n, seed }) => {
      const got = total(sums);
      const value = inputOf(seed);
      let expected = 0;
      for (let i = 0; i < n; ++i) expected += value(i);
      const what = `the sum of the bytes is ${got}, the host's ${expected}`;
      return { ok: got === expected, got: `${got}`, expected: `${expected}`, what };
    },
  });
  problem(/^chapter09::Meeting<(\d+)u>$/, (stride) => ({
    inputs: [],
    check: ([sums], { n, grid, block }) => {
      const WORDS = 32 * 32; // of a block
      const expected = new Array(grid * WORDS).fill(0);
      for (let t = 0; t < grid * block; ++t) {
        const [of, lane] = [Math.floor(t / block), (t % block) % 32];
        const turns = Math.floor(n / (grid * block)) + (t < n % (grid * block) ? 1 : 0);
        expected[of * WORDS + lane * Number(stride)] += turns;
      }
      const found = view(Uint32Array, sums);
      const wrong = found.findIndex((sum, i) => sum !== expected[i]);
      const what = wrong < 0
        ? `additions of 1: ${n} of ${n}`
        : `word ${wrong % WORDS} of block ${Math.floor(wrong / WORDS)} is ${found[wrong]} ` +
          `and should be ${expected[wrong]}`;
      return { ok: wrong < 0, got: `${total(sums)}`, expected: `${n}`, what };
    },
  }));
})();
