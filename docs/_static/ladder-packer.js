// How many blocks an SM has room for: the four limits of the programming guide's table of compute
// capabilities, each with the unit in which the hardware hands it out. A test holds the H200's to
// what the occupancy calculator gave for every recorded kernel.
(() => {
  const KIB = 1024;
  const REGISTERS = 65536;
  /** threads, blocks and bytes per SM; of bytes, the most per block and the driver's per block. */
  const CARDS = {
    "H100, H200": { threads: 2048, blocks: 32, bytes: 228 * KIB, most: 227 * KIB, driver: KIB, unit: 128 },
    "RTX 40xx": { threads: 1536, blocks: 24, bytes: 100 * KIB, most: 99 * KIB, driver: KIB, unit: 128 },
    "T4": { threads: 1024, blocks: 16, bytes: 64 * KIB, most: 64 * KIB, driver: 0, unit: 256 },
    "GTX 1050 Ti": { threads: 2048, blocks: 32, bytes: 96 * KIB, most: 48 * KIB, driver: 0, unit: 256 },
  };
  const { make, slider, chosen, toys } = window.LadderPage;

  const up = (value, unit) => Math.ceil(value / unit) * unit;

  /** What a block takes of each, and how many blocks that allows. */
  const fit = (card, threads, registers, bytes) => {
    const warps = Math.ceil(threads / 32);
    const perWarp = up(registers * 32, 256);
    const shared = up(bytes + card.driver, card.unit);
    // Registers belong to the SM's four quarters, each with a quarter of the warps.
    const warpsByRegisters = 4 * Math.floor(REGISTERS / 4 / perWarp);
    const limits = [
      { name: "threads", takes: 32 * warps, of: card.threads },
      { name: "block slots", takes: 1, of: card.blocks },
      { name: "registers", takes: warps * perWarp, of: REGISTERS,
        fit: Math.floor(warpsByRegisters / warps) },
      { name: "shared memory", takes: shared, of: card.bytes },
    ].map((one) => ({ fit: one.takes > 0 ? Math.floor(one.of / one.takes) : Infinity, ...one }));
    const refused = bytes > card.most;
    const blocks = refused ? 0 : Math.min(...limits.map((one) => one.fit));
    return { limits, blocks, refused, warps };
  };

  const build = (place, which) => {
    const id = `toy-packer-${which}`;
    const made = {};
    const control = (name, label, range, text) => {
      made[name] = slider(`${id}-${name}`, `${label}: `, range, text, () => show());
      return [made[name].label, made[name].input];
    };
    const { select: card, label: cardLabel } = chosen(`${id}-card`, "Card: ",
      Object.keys(CARDS), () => show());
    const more = make("input", { type: "checkbox" });
    const bars = make("div", { class: "toy-bars", "aria-hidden": "true" });
    const said = make("p", { class: "toy-said", role: "status" });

    function show() {
      const known = CARDS[card.value];
      const { bytes: bytesField } = made;
      bytesField.input.max = String(known.most / KIB);
      for (const one of Object.values(made)) one.show();
      const threads = Number(made.threads.input.value);
      const bytes = Number(bytesField.input.value) * KIB + (more.checked ? 1 : 0);
      const found = fit(known, threads, Number(made.registers.input.value), bytes);
      bars.replaceChildren();
      for (const one of found.limits) {
        const isTight = !found.refused && one.fit === found.blocks;
        const bar = make("div", { class: isTight ? "toy-bar toy-tight" : "toy-bar" });
        for (let block = 0; block < found.blocks; ++block) {
          const part = make("span");
          part.style.width = `${(100 * one.takes) / one.of}%`;
          bar.append(part);
        }
        bars.append(make("span", { class: "toy-name" }, one.name), bar);
      }
      const tight = found.limits.filter((one) => one.fit === found.blocks).map((one) => one.name);
      const share = (100 * found.blocks * found.warps * 32) / known.threads;
      const fits = found.blocks === 1 ? "1 block fits" : `${found.blocks} blocks fit`;
      const all = tight.length > 1
        ? `${tight.slice(0, -1).join(", ")} and ${tight[tight.length - 1]}` : tight[0];
      const first = `${all[0].toUpperCase()}${all.slice(1)} ${all === "shared memory" ? "runs" : "run"}`;
      said.textContent = found.refused
        ? "The launch is refused: no block may have that much shared memory on this card."
        : found.blocks === 0
          ? "The launch is refused: one block needs more registers than the SM has."
          : `${fits}, occupancy ${Number(share.toFixed(1))} %. ${first} out first.`;
      place.dataset.blocks = String(found.blocks);
    }

    const field = make("div", { class: "toy-controls" },
      ...control("threads", "Threads per block", [32, 1024, 32, 256], String),
      ...control("registers", "Registers per thread", [16, 255, 1, 32], String),
      ...control("bytes", "Shared memory per block", [0, 227, 1, 1], (x) => `${x}\u00a0KiB`),
      make("label", { class: "toy-check" }, more, " and one byte more"),
      cardLabel);
    more.addEventListener("change", show);
    const caption = "A bar for each limit, a piece of it for each block. Give every block 113 KiB, "
      + "and then one byte more.";
    return { parts: [bars, said, field], caption, show };
  };

  window.LadderPage.fit = (card, ...block) => fit(CARDS[card], ...block);
  toys("packer", build);
})();
