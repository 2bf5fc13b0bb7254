// What this chapter's tables are filled with and held to, in a page: problem.cuh, facts.hpp and ways.cuh
// are the originals, and a test holds the two equal.
"use strict";
(() => {
  const { bitsOf, digitsText: text, filled, inputOf, problem, view } = LadderPlans;
  const { fround } = Math;

  // ----------------------------------------------------------------------------------- the elements

  // Of those variants whose elements aren't numbers from -8 to 12.
  const DATA = {
    maximum_from_zero: "special",
    maximum_without_nan: "special",
    argmax_any_tie: "special",
    softmax_masked: "special",
    softmax_without_maximum: "large",
    moments_of_squares: "offset",
  };

  /** A table's elements, as functions of row and column. */
  function elementOf({ seed, columns, variant }) {
    const data = DATA[variant] ?? "numbers";
    const bits = bitsOf(seed);
    const others = bitsOf(BigInt(seed) + 1n);
    const placeOf = (row) => {
      const { high, low } = others(row);
      return ((high % columns) * (2 ** 32 % columns) + (low % columns)) % columns;
    };
    return (row, column) => {
      const { high, low } = bits(row * columns + column);
      if (data === "offset") return fround(16384 + (high >>> 22) * 2 ** -10);
      const unit = (high >>> 8) * 2 ** -24;
      const number = fround(fround(16 * unit - 8) + fround((4 * column) / columns));
      if (data === "numbers") return number;
      if (data === "large") return fround(100 * number);
      switch ((row + columns) % 10) {
        case 0: return -Infinity;
        case 1: return column === placeOf(row) ? NaN : number;
        case 2: return column === placeOf(row) ? Infinity : number;
        case 3: return low % 2 === 0 ? -Infinity : number;
        case 4: return 3;
        case 5: return low % 4 === 0 ? -0 : 0;
        case 6: return fround(number - 100);
        case 7: return fround(100 * number);
        case 8: return column === placeOf(row) ? number : -Infinity;
        default: return column === placeOf(row) ? NaN : -Infinity;
      }
    };
  }

  const weightBits = inputOf(1);
  const biasBits = inputOf(2);
  const weightOf = (column) => 0.5 + weightBits(column) * 2 ** -7;
  const biasOf = (column) => (biasBits(column) - 128) * 2 ** -5;
  const EPSILON = fround(1e-5);

  // --------------------------------------------------------- how many roundings an element goes through

  const depthOf = (length, team) => Math.ceil(length / Math.max(team, 1)) + 24;
  // Lanes per row, where they add it up and where they keep it.
  const adding = (columns) => (columns <= 4 ? 1 : columns <= 16 ? 4 : columns <= 32 ? 8 : 32);
  const keeping = (columns) => (columns <= 4 ? 1 : columns <= 16 ? 2 : columns <= 32 ? 4 : 32);
  const shared = (columns, pieces, block) => depthOf(columns, pieces * block) + depthOf(pieces, block);

  const DEPTHS = [
    [/^copy_rows/, () => 0],
    [/^column_warps/, ({ rows }) => depthOf(rows, 32)],
    [/^column_sum/, ({ rows, columns, grid, block }) => {
      const slices = Math.floor(grid / Math.ceil(columns / 32));
      const warps = block / 32;
      return depthOf(rows, slices * warps) + depthOf(slices, warps) + 2 * warps;
    }],
    [/_(thread|wide)_\d+$/, ({ columns }) => depthOf(columns, 1)],
    [/^(softmax|layer_norm)_lanes/, ({ columns }) => depthOf(columns, keeping(columns))],
    [/_lanes_\d+$/, ({ columns }) => depthOf(columns, adding(columns))],
    [/_blocks_\d+$/, ({ columns, rows, grid, block }) => shared(columns, Math.floor(grid / rows), block)],
    [/./, ({ columns, block }) => depthOf(columns, block)], // a block per row
  ];

  // ------------------------------------------------------------------------------ what is true of a row

  /** Of `length` elements at(0), at(1) …, in double; what costs a second reading where it is asked for. */
  function factsOf(length, at, { spread = false, exponentials = false }) {
    const facts = { sum: 0, magnitudes: 0, most: -Infinity, least: Infinity, column: 2 ** 32 - 1 };
    for (let i = 0; i < length; ++i) {
      const x = at(i);
      facts.sum += x;
      facts.magnitudes += Math.abs(x);
      if (x < facts.least) facts.least = x;
      if (x > facts.most || (Number.isNaN(x) && !Number.isNaN(facts.most)) || facts.column === 2 ** 32 - 1) {
        facts.most = x;
        facts.column = i;
      }
    }
    facts.finite = length > 0 && Number.isFinite(facts.sum);
    facts.largest = Math.max(Math.abs(facts.most), Math.abs(facts.least));
    facts.range = facts.most - facts.least;
    facts.mean = facts.sum / length;
    facts.variance = 0;
    for (let i = 0; spread && i < length; ++i) {
      const away = at(i) - facts.mean;
      facts.variance += (away * away) / length;
    }
    facts.exponential = [];
    facts.exponentials = 0;
    for (let i = 0; exponentials && i < length; ++i) {
      facts.exponential.push(Math.exp(at(i) - facts.most));
      facts.exponentials += facts.exponential[i];
    }
    return facts;
  }

  // ------------------------------------------------------------------------------------- in words

  const HALF_ULP = 2 ** -24;

  function differs(what, { value, bits }, exact, allowed) {
    const found = Number.isNaN(value) && bits >>> 31 ? "-nan" : text(value, 9);
    return `${what} is ${found} and should be ${text(exact, 9)}, give or take ${text(allowed, 2)}`;
  }
  /** What is wrong where a number is further off than allowed; empty where nothing is. */
  function unlessNear(what, found, exact, allowed) {
    if (Number.isNaN(exact) ? Number.isNaN(found.value) : found.value === exact) return "";
    if (Number.isFinite(exact) && Math.abs(found.value - exact) <= allowed) return "";
    return differs(what, found, exact, Number.isFinite(exact) ? allowed : 0);
  }

  // ------------------------------------------------------------------------- what becomes of the rows

  const sums = {
    name: "sum",
    wrong: (facts, { depth }, found) =>
      unlessNear("the sum", found(0), facts.sum, depth * HALF_ULP * facts.magnitudes),
  };
  const meanOff = (facts, depth) => (depth + 32) * HALF_ULP * facts.largest;
  const varianceOff = (facts, depth) =>
    (depth + 32) * HALF_ULP * facts.variance + 4 * meanOff(facts, depth) * facts.range;

  // By what the program calls it: its name, whether it is of columns instead, what the check needs to know,
  // and what is wrong with a row's results: found(0) or, where there are several, `each` of them.
  const KINDS = {
    SumOfRow: sums,
    SumOfColumn: { ...sums, byColumn: true },
    CopyOfRow: {
      name: "copied element",
      wrong: (facts, { at, each }, found) => {
        for (let i = 0; i < each; ++i) {
          if (!Object.is(found(i).value, at(i))) return differs(`element ${i}`, found(i), at(i), 0);
        }
        return "";
      },
    },
    MaximumOfRow: {
      name: "maximum",
      wrong: (facts, _, found) => unlessNear("the maximum", found(0), facts.most, 0),
    },
    ArgmaxOfRow: {
      name: "place of a maximum",
      wrong: (facts, _, found) => {
        const { bits } = found(0);
        return bits === facts.column
          ? ""
          : `the maximum is said to be in column ${bits} and first is in ${facts.column}`;
      },
    },
    MomentsOfRow: {
      name: "mean and variance",
      needs: { spread: true },
      wrong: (facts, { depth }, found) => {
        const [mean, variance] = facts.finite ? [facts.mean, facts.variance] : [NaN, NaN];
        return unlessNear("the mean", found(0), mean, meanOff(facts, depth)) ||
          unlessNear("the variance", found(1), variance, varianceOff(facts, depth));
      },
    },
    SoftmaxOfRow: {
      name: "softmax",
      needs: { exponentials: true },
      wrong: (facts, { at, each, depth }, found) => {
        for (let i = 0; i < each; ++i) {
          const below = at(i) - facts.most;
          const exact = facts.exponential[i] / facts.exponentials;
          const roundings = 3 * depth + 64 - (Number.isFinite(below) ? 2 * below : 0);
          const said = unlessNear(`element ${i}`, found(i), exact, roundings * HALF_ULP * exact + 2 ** -147);
          if (said) return said;
        }
        return "";
      },
    },
    LayerNormOfRow: {
      name: "normalised row",
      needs: { spread: true },
      wrong: (facts, { at, each, depth }, found) => {
        const spread = facts.variance + EPSILON;
        const scale = 1 / Math.sqrt(spread);
        const meanError = meanOff(facts, depth);
        const scaleError = varianceOff(facts, depth) / spread / 2 + 8 * HALF_ULP;
        for (let i = 0; i < each; ++i) {
          const weight = weightOf(i);
          const bias = biasOf(i);
          const scaled = (at(i) - facts.mean) * scale * weight;
          const exact = facts.finite ? scaled + bias : NaN;
          const allowed = meanError * scale * weight + scaleError * Math.abs(scaled) +
            4 * HALF_ULP * (Math.abs(scaled) + Math.abs(bias));
          const said = unlessNear(`element ${i}`, found(i), exact, allowed);
          if (said) return said;
        }
        return "";
      },
    },
  };

  const UNWRITTEN = 0x7fc0dead; // what results hold before the launch

  /** What is wrong with the first row, or column, that is wrong. */
  function firstWrong(kind, run, out) {
    const { rows, columns } = run;
    const element = elementOf(run);
    const depth = DEPTHS.find(([pattern]) => pattern.test(run.variant))[1](run);
    const [values, words] = [view(Float32Array, out), view(Uint32Array, out)];
    const [count, length] = kind.byColumn ? [columns, rows] : [rows, columns];
    const each = values.length / count;
    for (let which = 0; which < count; ++which) {
      const first = which * each;
      const place = `${kind.byColumn ? "column" : "row"} ${which} of ${count}`;
      const unwritten = words.subarray(first, first + each).indexOf(UNWRITTEN);
      if (unwritten >= 0) return `${place}: result ${unwritten} was never written`;
      const at = kind.byColumn ? (i) => element(i, which) : (i) => element(which, i);
      const facts = factsOf(length, at, kind.needs ?? {});
      const found = (i) => ({ value: values[first + i], bits: words[first + i] });
      const said = kind.wrong(facts, { at, each, depth }, found);
      if (said) return `${place}: ${said}`;
    }
    return "";
  }

  problem(/^chapter12::Rows<chapter12::(\w+)>$/, (what) => {
    const kind = KINDS[what];
    return {
      sums: kind.name === "sum",
      inputs: [
        (run, bytes) => {
          const element = elementOf(run);
          return filled(Float32Array, bytes / 4, (i) =>
            element(Math.floor(i / run.columns), i % run.columns));
        },
        ({ columns }) => filled(Float32Array, columns, weightOf),
        ({ columns }) => filled(Float32Array, columns, biasOf),
      ],
      check: ([out, tickets], run) => {
        const wrong = firstWrong(kind, run, out) ||
          (tickets?.some((byte) => byte !== 0) ? "a ticket is not back at 0" : "");
        const all = `every ${kind.name} as in double, but for rounding`;
        // What n elements make, which a program's options say.
        const aside = `${run.rows} ${run.rows === 1 ? "row" : "rows"} of ${run.columns}`;
        return { ok: !wrong, got: wrong || all, expected: all, what: wrong || all, aside };
      },
    };
  });
})();
