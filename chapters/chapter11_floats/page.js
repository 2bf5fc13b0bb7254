// What this chapter's problem is filled with and held to, in a page: problem.cuh and exact_host.hpp
// are the original, and a test holds the two equal.
"use strict";
(() => {
  const { bitsOf, digitsText, filled, problem, view } = LadderPlans;

  const word = new Uint32Array(1);
  const asFloat = new Float32Array(word.buffer);
  function floatOf(bits) {
    word[0] = bits;
    return asFloat[0];
  }
  function wordOf(value) {
    asFloat[0] = value;
    return word[0];
  }

  // A float of each kind of data: uniform, mixed, ill, wide.
  const KINDS = [
    (seed) => {
      const bits = bitsOf(seed);
      return (position) => (bits(position).high >>> 8) * 2 ** -24;
    },
    (seed) => {
      const bits = bitsOf(seed);
      return (position) => ((bits(position).high >>> 7) - 2 ** 24) * 2 ** -24;
    },
    (seed) => {
      const bits = bitsOf(seed);
      const others = bitsOf(BigInt(seed) + 1n);
      return (position) => {
        const pair = (position % 4096) + Math.floor(position / 8192) * 4096;
        const large = 1 + (bits(pair).high >>> 21) * 2 ** -11;
        const small = (others(position).high >>> 21) * 2 ** -23;
        return (position & 4096) === 0 ? large + small : small - large;
      };
    },
    (seed) => {
      const bits = bitsOf(seed);
      return (position) => {
        const { high, low } = bits(position);
        const power = ((low & 0xffff) * 120) >>> 16;
        return floatOf((high & 0x807fffff) | ((67 + power) << 23));
      };
    },
  ];

  /** The exact sum: units of 2^-149 as a BigInt, and the sum of the magnitudes. */
  function exactSum(n, value) {
    const at = new Array(255).fill(0);
    const sizes = new Array(255).fill(0);
    for (let i = 0; i < n; ++i) {
      const bits = wordOf(value(i));
      const exponent = (bits >>> 23) & 255;
      const whole = (bits & 0x7fffff) + (exponent > 0 ? 0x800000 : 0);
      at[exponent] += bits >>> 31 ? -whole : whole;
      sizes[exponent] += whole;
    }
    let units = 0n;
    let magnitudes = 0;
    for (let e = 0; e < 255; ++e) {
      units += BigInt(at[e]) << BigInt(Math.max(e, 1) - 1);
      magnitudes += sizes[e] * 2 ** (Math.max(e, 1) - 150);
    }
    return { units, magnitudes };
  }

  // The leading bits of a number, rounded to the nearest, of two as near to the even one, or cut.
  function leading(units, count, round) {
    const negative = units < 0n;
    const size = negative ? -units : units;
    const length = size === 0n ? 0 : size.toString(2).length;
    const cut = BigInt(Math.max(length - count, 0));
    let kept = size >> cut;
    if (round && cut > 0n) {
      const half = 1n << (cut - 1n);
      const rest = size - (kept << cut);
      if (rest > half || (rest === half && kept % 2n === 1n)) ++kept;
    }
    const value = Number(kept) * 2 ** (Number(cut) - 149);
    return negative ? -value : value;
  }
  const nearest = (units) => Math.fround(leading(units, 24, true));

  const text = (value) => digitsText(value, 9);
  const shortText = (value) => digitsText(value, 3);

  const HALF_ULP = 2 ** -24;
  const ALLOWED = [
    () => 0,
    (depth, { magnitudes }) => depth * HALF_ULP * magnitudes,
    (depth, { magnitudes }) => 4 * HALF_ULP * magnitudes,
    (depth, { magnitudes, value }) =>
      2 * HALF_ULP * Math.abs(value) + depth * depth * HALF_ULP * HALF_ULP * magnitudes,
  ];

  const name = /^chapter11::FloatSum<chapter11::Floats<\(chapter11::Data\)(\d)>, \(chapter11::Bound\)(\d)>$/;
  problem(name, (kind, bound) => ({
    inputs: [({ n, seed }) => filled(Float32Array, n, KINDS[kind](seed))],
    check: ([out, state], { n, seed, grid, block }) => {
      const found = view(Float32Array, out)[0];
      const exact = exactSum(n, KINDS[kind](seed));
      exact.value = leading(exact.units, 53, false);
      const expected = nearest(exact.units);
      const off = Math.abs(found - exact.value);
      const depth = Math.ceil(n / Math.max(1, grid * block)) + 64 + grid / 32;
      const allowed = ALLOWED[bound](depth, exact);
      const sum = `sum is ${text(found)}`;
      const agreed = `the exact sum, to the nearest float: ${text(expected)}`;
      let ok = off <= allowed;
      let what = ok
        ? agreed
        : `${sum}, and the exact one ${text(expected)}: off by ${text(Math.fround(off))}, ` +
          `where rounding explains ${text(Math.fround(allowed))}`;
      if (bound === "0") {
        ok = Object.is(found, expected);
        what = ok ? agreed : `${sum}, and the float nearest to the exact sum ${text(expected)}`;
        if (ok && view(Uint32Array, state).some((each) => each !== 0)) {
          ok = false;
          what = `${sum}, but its digits aren't clear for the next launch`;
        }
      }
      // A program has a column for this.
      const error = Math.abs(off / exact.value).toExponential(1);
      const aside = found === expected ? "this one is the same" : `this one, ${text(found)}, is off by ${error}`;
      return { ok, got: text(found), expected: text(expected), what, aside };
    },
  }));

  // ------------------------------------------------------------------------ elements of 16 bits

  // To the nearest whole number, of two as near to the even one.
  function whole(x) {
    const below = Math.floor(x);
    const rest = x - below;
    return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
  }
  // Per type: its significant bits, and the least exponent of a normal number.
  const TYPES = {
    __half: { digits: 11, least: -14 },
    __nv_bfloat16: { digits: 8, least: -126 },
  };
  /** The nearest value of a type, and its bits. The chapter's inputs are at most 1. */
  function rounded(x, { digits, least }) {
    const size = Math.abs(x);
    let exponent = size > 0 ? Math.max(Math.floor(Math.log2(size)), least) : least;
    while (size >= 2 ** (exponent + 1)) ++exponent; // where the logarithm was rounded
    const step = 2 ** (exponent - digits + 1);
    const steps = whole(size / step);
    const value = steps * step * (x < 0 ? -1 : 1);
    // The bits count on from one exponent to the next.
    const bits = (exponent - least) * 2 ** (digits - 1) + steps;
    return { value, bits: bits + (x < 0 ? 0x8000 : 0) };
  }

  const halves = /^chapter11::HalfSum<(__half|__nv_bfloat16), chapter11::Floats<\(chapter11::Data\)(\d)>, \(chapter11::Short\)(\d), 0u?>$/;
  problem(halves, (type, kind, short) => {
    const at = (seed) => {
      const value = KINDS[kind](seed);
      return (position) => rounded(value(position), TYPES[type]);
    };
    return {
      inputs: [
        ({ n, seed }) => {
          const element = at(seed);
          return filled(Uint16Array, n, (position) => element(position).bits);
        },
      ],
      check: ([out, ticket], { n, seed, grid, block }) => {
        const found = view(Float32Array, out)[0];
        const element = at(seed);
        const { units, magnitudes } = exactSum(n, (position) => element(position).value);
        const exact = leading(units, 53, false);
        const expected = nearest(units);
        const off = Math.abs(found - exact);
        const each = Math.ceil(n / Math.max(1, grid * block)) + 8;
        const shorts = [0, 3, each][short];
        const lost = 2 * (each + 64 + grid / 32) * HALF_ULP + shorts * 2 ** -TYPES[type].digits;
        const allowed = (lost / (1 - Math.min(lost, 0.5))) * magnitudes;
        let ok = off <= allowed;
        let what = "each sum of 16-bit floats as near as its roundings allow";
        if (!ok) {
          what = `sum is ${text(found)}, and the exact one ${text(exact)}: off by ${shortText(off)}, ` +
            `where rounding explains ${shortText(allowed)}`;
        } else if (view(Uint32Array, ticket)[0] !== 0) {
          ok = false;
          what = "the ticket is not back at 0";
        }
        const error = Math.abs(off / exact).toExponential(1);
        const aside = found === expected ? "this one is the same" : `this one, ${text(found)}, is off by ${error}`;
        return { ok, got: text(found), expected: text(expected), what, aside };
      },
    };
  });
})();
