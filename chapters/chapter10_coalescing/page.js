// What this chapter's problems are filled with and held to, in a page: problem.cuh is the original,
// and a test holds the two equal.
"use strict";
(() => {
  const { compareEach, filled, inputOf, kPoison, problem, view } = LadderPlans;
  const IN_PLACE = "every element is where it belongs";

  // Which elements a copy takes: `load` apart, from `offset` on, written `store` apart.
  function patternOf({ variant, params }) {
    const { stride = 1, offset = 0 } = params;
    if (variant.startsWith("store_stride")) return { load: 1, store: stride, offset: 0 };
    if (variant === "offset_words") return { load: 1, store: 1, offset: 1 };
    return { load: stride, store: 1, offset };
  }
  problem("chapter10::Copy", {
    inputs: [({ seed }, bytes) => filled(Int32Array, bytes / 4, inputOf(seed))],
    check: ([out], run) => {
      const { load, store, offset } = patternOf(run);
      const value = inputOf(run.seed);
      const copied = (i) => (i % store ? kPoison : value((i / store) * load + offset));
      return compareEach(view(Int32Array, out), copied, IN_PLACE);
    },
  });

  // Vectors of three: packed, each with a word to spare, or in an array for each coordinate.
  const array = (valueOf) => ({ seed }, bytes) =>
    filled(Int32Array, bytes / 4, valueOf(inputOf(seed)));
  const LAYOUTS = [
    [array((value) => value)],
    [array((value) => (i) => (i % 4 === 3 ? kPoison : value(Math.floor(i / 4) * 3 + (i % 4))))],
    [0, 1, 2].map((k) => array((value) => (i) => value(3 * i + k))),
  ];
  problem(/^chapter10::Vectors<\(chapter10::Layout\)(\d)>$/, (layout) => ({
    inputs: LAYOUTS[layout],
    check: ([out], { seed }) => {
      const value = inputOf(seed);
      const squared = (i) => [0, 1, 2].reduce((sum, k) => sum + value(3 * i + k) ** 2, 0);
      return compareEach(view(Int32Array, out), squared, IN_PLACE);
    },
  }));
})();
