// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { filled, floatText, inputOf, problem, smallInputOf, sumOf, view, wholeSum } = LadderPlans;

  problem(/^chapter08::Ramp<(.+)>$/, (type) => wholeSum(type, () => (position) => position + 1));
  problem("chapter08::Small", wholeSum("unsigned int", smallInputOf));

  // 1 to 256, each 2^24 + 1 times over: a sum of 2^20 of them is a whole number of JavaScript's.
  const longs = (seed) => {
    const value = inputOf(seed);
    return (position) => (value(position) + 1) * (2 ** 24 + 1);
  };
  // 1 to 8, with either sign.
  const floats = (seed) => {
    const value = inputOf(seed);
    return (position) => {
      const bits = value(position);
      const size = 1 + (bits & 7);
      return bits & 8 ? -size : size;
    };
  };
  const INPUTS = {
    "book::Input": inputOf,
    "book::SmallInput": smallInputOf,
    "chapter08::LongInput": longs,
    "chapter08::FloatInput": floats,
  };
  const TYPES = { int: Int32Array, "long long": BigInt64Array, float: Float32Array };

  problem(/^chapter08::TakeHome<(.+), (.+), (.+)>$/, (In, Out, input) => {
    const big = In === "long long" ? BigInt : (value) => value;
    const text = Out === "float" ? (value) => floatText(Number(value)) : String;
    return {
      sums: true,
      inputs: [
        ({ n, seed }) => {
          const value = INPUTS[input](seed);
          return filled(TYPES[In], n, (i) => big(value(i)));
        },
      ],
      check: ([out, words], { n, seed }) => {
        const got = text(view(TYPES[Out], out)[0]);
        const expected = text(sumOf(n, INPUTS[input](seed)));
        const ok = got === expected;
        const what = `sum is ${got}`;
        if (!ok) return { ok, got, expected, what: `${what}, expected ${expected}` };
        const clear = words.every((byte) => byte === 0);
        const unclear = ", but the workspace isn't clear for the next launch";
        return { ok: clear, got, expected, what: clear ? what : what + unclear };
      },
    };
  });
})();
