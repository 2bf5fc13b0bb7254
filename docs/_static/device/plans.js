// What each variant launches, on which data, and how its result is checked: what was recorded of the
// programs' own host code at the sizes and blocks that a panel offers (tools/measuring/plans.py says
// what is in a recipe), with the book's inputs and checks. A chapter's file, <chapter>.js beside this
// one, brings its recipes, its PTX, and the inputs and checks that are its own.
"use strict";
(() => {
  const MOST_N = 2 ** 20;
  const chapters = new Map();
  const loading = new Map();
  const problems = [];

  // -------------------------------------------------------------------------- what is recorded of one

  /** What a recipe has at one place: which of its sizes, of its blocks, and of both. */
  function at(laid, place, lists) {
    if (laid === null || typeof laid !== "object") return laid;
    if (Array.isArray(laid)) return laid.map((each) => at(each, place, lists));
    if ("by" in laid) return lists[laid.of][place[laid.by]];
    if ("first" in laid) return at(laid.list, place, lists).slice(0, at(laid.first, place, lists));
    return Object.fromEntries(Object.entries(laid).map(([key, value]) => [key, at(value, place, lists)]));
  }

  const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

  const argumentOf = (argument) =>
    ("bytes" in argument ? { bytes: bytesOf(argument.bytes) } : argument);

  function stepOf(step) {
    if ("set" in step) {
      const { set, ...where } = step;
      return { kind: "set", buffer: set, ...where };
    }
    const { arguments: given, ...launch } = step;
    return { kind: "launch", ...launch, args: given.map(argumentOf) };
  }

  // ------------------------------------------------------------------------------ the book's input

  // Products of 64 bits, as two halves: the low half of a · b, and what it carries over.
  function highOf(a, b) {
    const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
    const middle = a1 * b0 + ((a0 * b0) >>> 16);
    const other = a0 * b1 + (middle & 0xffff);
    return (a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536)) >>> 0;
  }

  /** A function of the position: the halves of input_bits (common/include/book/input.hpp). */
  function bitsOf(seed) {
    const whole = BigInt.asUintN(64, BigInt(seed));
    const seedHigh = Number(whole >> 32n), seedLow = Number(whole & 0xffffffffn);
    return (position) => {
      const p = position + 1;
      const pHigh = Math.floor(p / 2 ** 32), pLow = p >>> 0;
      // z = seed + (position + 1) * 0x9e3779b97f4a7c15
      const low = seedLow + (Math.imul(pLow, 0x7f4a7c15) >>> 0);
      let zl = low >>> 0;
      let zh = (seedHigh + highOf(pLow, 0x7f4a7c15) + Math.imul(pLow, 0x9e3779b9) +
        Math.imul(pHigh, 0x7f4a7c15) + (low > 0xffffffff ? 1 : 0)) >>> 0;
      // z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
      zl = (zl ^ ((zl >>> 30) | (zh << 2))) >>> 0;
      zh = (zh ^ (zh >>> 30)) >>> 0;
      zh = (highOf(zl, 0x1ce4e5b9) + Math.imul(zl, 0xbf58476d) + Math.imul(zh, 0x1ce4e5b9)) >>> 0;
      zl = Math.imul(zl, 0x1ce4e5b9) >>> 0;
      // z = (z ^ z >> 27) * 0x94d049bb133111eb
      zl = (zl ^ ((zl >>> 27) | (zh << 5))) >>> 0;
      zh = (zh ^ (zh >>> 27)) >>> 0;
      zh = (highOf(zl, 0x133111eb) + Math.imul(zl, 0x94d049bb) + Math.imul(zh, 0x133111eb)) >>> 0;
      zl = Math.imul(zl, 0x133111eb) >>> 0;
      // z ^ z >> 31
      return { high: (zh ^ (zh >>> 31)) >>> 0, low: (zl ^ ((zl >>> 31) | (zh << 1))) >>> 0 };
    };
  }
  /** A function of the position: input_value, 0…255, the bits' highest byte. */
  function inputOf(seed) {
    const bits = bitsOf(seed);
    return (position) => bits(position).high >>> 24;
  }
  const smallInputOf = (seed) => {
    const value = inputOf(seed);
    return (position) => value(position) >> 5;
  };

  /** The bytes of an array whose elements are functions of their position. */
  function filled(Type, count, value) {
    const array = new Type(count);
    for (let i = 0; i < count; ++i) array[i] = value(i);
    return new Uint8Array(array.buffer);
  }
  function sumOf(count, value) {
    let sum = 0;
    for (let i = 0; i < count; ++i) sum += value(i);
    return sum;
  }

  /** What was read, as an array of that type. */
  const view = (Type, bytes) => new Type(bytes.slice().buffer);

  // ------------------------------------------------------------------------------------- problems

  // problem(type, {inputs, check}): how a C++ type of problem fills its inputs and checks its result.
  // `inputs` are functions of the run, {n, block, seed, grid, params, variant} and of a table {rows,
  // columns}, and of the size in bytes. `check(read, run)` gives {ok, got, expected, what}, `what` in the
  // program's words. `sums` where a right result has each element of the input once. For a template: a
  // pattern, and a function of its groups that gives the same.
  function problem(type, how) {
    problems.push({ type, how });
  }
  function problemOf(name) {
    for (const { type, how } of problems) {
      if (type === name) return how;
      const groups = type instanceof RegExp && name.match(type);
      if (groups) return how(...groups.slice(1));
    }
    return null;
  }

  /** Compares each element with a function of its position, as the programs' arrays do. */
  function compareEach(found, value, agreed, text = String) {
    let wrong = 0;
    let first = -1;
    for (let i = 0; i < found.length; ++i) {
      if (found[i] !== value(i) && wrong++ === 0) first = i;
    }
    const what = wrong === 0
      ? agreed
      : `${wrong} of ${found.length} elements are wrong; the first, ${first}, is ` +
        `${text(found[first])} and should be ${text(value(first))}`;
    const right = `${found.length - wrong} of ${found.length}`;
    return { ok: wrong === 0, got: right, expected: `${found.length}`, what };
  }
  /** A floating-point number as std::to_string has it. */
  const floatText = (value) => (Number.isNaN(value) ? "nan" : value.toFixed(6));
  /** A number as printf's %.{digits}g has it. */
  function digitsText(value, digits) {
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    const [significant, power] = value.toExponential(digits - 1).split("e");
    const exponent = Number(power);
    const trimmed = (number) => (number.includes(".") ? number.replace(/\.?0+$/, "") : number);
    if (exponent >= -4 && exponent < digits) return trimmed(value.toFixed(digits - 1 - exponent));
    const size = `${Math.abs(exponent)}`.padStart(2, "0");
    return `${trimmed(significant)}e${exponent < 0 ? "-" : "+"}${size}`;
  }

  const kPoison = -(2 ** 31) + 0xbad; // book::kPoison: what memory holds before a launch

  function comparePartials(partials, expected) {
    let sum = 0;
    for (let i = 0; i < partials.length; ++i) {
      if (partials[i] < 0) {
        const why = partials[i] === kPoison
          ? "was never written"
          : `is ${partials[i]}, but a sum of values 0 to 255 cannot be negative`;
        const what = `partial sum of block ${i} ${why}`;
        return { ok: false, got: "", expected: `${expected}`, what };
      }
      sum += partials[i];
    }
    const what = sum === expected
      ? `sum ${sum} as expected`
      : `sum is ${sum}, expected ${expected} (off by ${sum - expected})`;
    return { ok: sum === expected, got: `${sum}`, expected: `${expected}`, what };
  }

  problem("book::Sum", {
    sums: true,
    inputs: [({ n, seed }) => filled(Int32Array, n, inputOf(seed))],
    check: ([partials], { n, seed }) =>
      comparePartials(view(Int32Array, partials), sumOf(n, inputOf(seed))),
  });

  problem("book::FinishedSum", {
    sums: true,
    inputs: [({ n, seed }) => filled(Int32Array, n, smallInputOf(seed))],
    check: ([out], { n, seed }) => {
      const found = view(Int32Array, out)[0];
      const expected = sumOf(n, smallInputOf(seed));
      const what = found === kPoison
        ? "no sum was written"
        : found === expected
          ? `finished sum ${found} as expected`
          : `finished sum is ${found}, expected ${expected} (off by ${found - expected})`;
      return { ok: found === expected, got: `${found}`, expected: `${expected}`, what };
    },
  });

  // A whole sum, of what `value` gives at each position: long long, int, or unsigned modulo 2^32.
  function wholeSum(type, value) {
    const [Type, signed] = {
      "long long": [BigInt64Array, true],
      int: [Int32Array, true],
      "unsigned int": [Uint32Array, false],
    }[type];
    return {
      sums: true,
      inputs: [({ n, seed }) => filled(Int32Array, n, value(seed))],
      check: ([out, word, ticket], { n, seed }) => {
        const found = BigInt(view(Type, out)[0]);
        const expected = BigInt(sumOf(n, value(seed)));
        const modulo = signed ? expected : BigInt.asUintN(32, expected);
        let ok = found === modulo;
        let what = `sum is ${found}`;
        if (!ok) what += `, expected ${expected}`;
        if (modulo !== expected) what += ` (modulo 2^32 of ${expected})`;
        const left = [...view(BigUint64Array, word)].find((each) => each !== 0n);
        const next = view(Uint32Array, ticket)[0];
        if (ok && (next !== 0 || left !== undefined)) {
          ok = false;
          what += `, but the next launch begins with ticket ${next}`;
          if (left !== undefined) what += ` and word ${left}`;
        }
        return { ok, got: `${found}`, expected: `${modulo}`, what };
      },
    };
  }
  for (const type of ["long long", "int", "unsigned int"]) {
    problem(`book::WholeSum<${type}>`, wholeSum(type, inputOf));
  }

  // ------------------------------------------------------------------------------------ the plan

  // A number as the programs print it.
  function countText(n) {
    if (n >= 1024 && Number.isInteger(Math.log2(n))) return `2^${Math.log2(n)}`;
    const digits = Number.isInteger(n) ? `${BigInt(n)}` : `${n}`; // a large number's own text is 1e+21
    return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, " ");
  }

  /** "32, 64 or 100" */
  const listText = (numbers) =>
    numbers.map(countText).join(", ").replace(/, (?=[^,]*$)/, " or ");

  function takes(blocks, block) {
    return block >= blocks.low && block <= blocks.high && block % blocks.multiple_of === 0 &&
      (!blocks.powers_of_two || (block & (block - 1)) === 0);
  }

  const found = (chapter, variant) => {
    const known = chapters.get(chapter);
    return known && known.variants.find((each) => each.name === variant);
  };

  // Why it can't run so, in the words of the command line; empty where it can.
  function refusal(words, variant, n, block) {
    const { refusals, sizes, blocks: offered } = variant.recipe;
    if (!Number.isInteger(n) || n < 0) return words.no_n.replace("{n}", n);
    if (!Number.isInteger(block) || block < 1 || block > 1024) {
      return words.no_block.replace("{block}", block);
    }
    if (!takes(variant.blocks, block)) return refusals.block.replace("{block}", block);
    if (n > variant.most && refusals.n) return refusals.n.replace("{n}", countText(n));
    if (n > 0 && !sizes.includes(n)) {
      return `--n ${countText(n)}: a page takes n of ${listText([0, ...sizes])}; the program itself takes others`;
    }
    if (!offered.includes(block)) {
      return `--block ${block}: a page takes blocks of ${listText(offered)}; the program itself takes others`;
    }
    return "";
  }

  function contentOf({ bytes: size, writes: recorded }, inputs, run) {
    const writes = recorded.map((write) => ({ offset: 0, bytes: size, ...write }));
    if (writes.length === 0) return { bytes: size };
    // One byte again and again is no data that could be in a sum.
    if (writes.every((write) => write.repeats?.length === 2)) {
      const sets = writes.map(({ offset, bytes, repeats }) => ({ offset, bytes, value: bytesOf(repeats)[0] }));
      return { bytes: size, sets };
    }
    const data = new Uint8Array(size);
    for (const write of writes) {
      const { offset, bytes } = write;
      if ("input" in write) {
        data.set(inputs[write.input](run, bytes), offset);
      } else {
        const unit = bytesOf(write.repeats);
        for (let i = 0; i < bytes; ++i) data[offset + i] = unit[i % unit.length];
      }
    }
    return { bytes: size, data };
  }

  /** The PTX of these kernels, with what they refer to: a module of its own. */
  function moduleOf(ptx, kernels) {
    const needed = new Set(kernels.flatMap((kernel) => ptx.uses[kernel]));
    const items = Object.keys(ptx.items).filter((name) => needed.has(name));
    return [ptx.head, ...items.map((name) => ptx.items[name]), ptx.files, ""].join("\n\n");
  }

  function plan(chapter, name, { n, block, seed = 2018 }) {
    const variant = found(chapter, name);
    if (!variant) return { refused: `${chapter} has no variant ${name} that runs in a page` };
    const { words, ptx, lists } = chapters.get(chapter);
    const refused = refusal(words, variant, n, block);
    if (refused) return { refused };
    if (n === 0) return { nothing: words.no_elements };

    const { sizes, blocks, columns, ...laid } = variant.recipe;
    const [size, width] = [sizes.indexOf(n), blocks.indexOf(block)];
    const place = { n: size, block: width, both: size * blocks.length + width };
    const [buffers, recorded] = [laid.buffers, laid.steps].map((each) => at(each, place, lists));
    const how = problemOf(variant.problem);
    if (!how) return { refused: `${name}: a page has no inputs for ${variant.problem}` };
    const steps = recorded.map(stepOf);
    const launches = steps.filter((step) => step.kind === "launch");
    const table = columns ? { columns, rows: Math.floor(n / columns) } : {};
    const [grid] = launches[0].grid;
    const run = { n, block, grid, ...table, seed, params: variant.params, variant: name };
    const request = {
      ptx: moduleOf(ptx, [...new Set(launches.map((step) => step.kernel))]),
      buffers: buffers.map((buffer) => ({ name: "cudaMalloc", ...contentOf(buffer, how.inputs, run) })),
      steps,
      read: laid.read.map((each) => ({ offset: 0, bytes: buffers[each.buffer].bytes, ...each })),
    };
    const unfinished = { ok: false, got: "", expected: "", what: "the run ended without a result" };
    const expect = (read) => (read.length ? how.check(read, run) : unfinished);
    return { request, expect };
  }

  function load(base, chapter) {
    if (!loading.has(chapter)) {
      loading.set(chapter, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${base.replace(/\/?$/, "/")}${chapter}.js`;
        script.addEventListener("load", () => resolve());
        script.addEventListener("error", () => {
          loading.delete(chapter); // so that another try may do better
          reject(new Error(`${script.src} can't be loaded`));
        });
        document.head.append(script);
      }));
    }
    return loading.get(chapter);
  }

  // What hardware counted of a variant: n, block, and a count of each of the first counters; null
  // where two of hardware's own launches differed.
  const counted = (chapter, variant) =>
    (chapters.get(chapter)?.hardware ?? []).filter(([name]) => name === variant);

  function hardware(chapter, variant, { n, block }) {
    const run = counted(chapter, variant).find((each) => each[1] === n && each[2] === block);
    if (!run) return null;
    const names = Object.keys(chapters.get(chapter).counters);
    return Object.fromEntries(run[3].flatMap((count, i) => (count === null ? [] : [[names[i], count]])));
  }

  // What the device counted, which says so in ncu's words, by the book's names: common/counters.json.
  const named = (chapter, counts) =>
    Object.fromEntries(Object.entries(chapters.get(chapter).counters).map(([name, ncu]) => [name, counts[ncu]]));

  const SHOWN = [
    "name", "region", "from", "legacy", "params", "default_block", "default_n", "most", "findings",
  ];

  globalThis.LadderPlans = {
    MOST_N,
    load,
    plan,
    add: (chapter, data) => chapters.set(chapter, data),
    problem,
    chapters: () => [...chapters.keys()],
    variants: (chapter) =>
      (chapters.get(chapter)?.variants ?? []).map((variant) => ({
        ...Object.fromEntries(SHOWN.map((key) => [key, variant[key]])),
        columns: variant.recipe.columns ?? null, // of a table
        sizes: [0, ...variant.recipe.sizes],
        widths: variant.recipe.blocks,
        sums: Boolean(problemOf(variant.problem)?.sums),
      })),
    hardware,
    named,
    shapes: (chapter, variant) =>
      counted(chapter, variant).map(([, n, block]) => ({ n, block })),
    ptxHash: (chapter) => chapters.get(chapter)?.ptx.hash,
    // For the chapters' own problems.
    bitsOf, inputOf, smallInputOf, filled, sumOf, view, wholeSum, comparePartials, compareEach, floatText,
    digitsText, kPoison,
  };
})();
