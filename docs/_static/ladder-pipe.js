// Bytes in flight, and the bandwidth that Little's law gives for them. What the cards have stands in
// the page, from their recordings.
(() => {
  const { make, slider, chosen, toys } = window.LadderPage;

  /** Bytes in flight in an SM, the room for them at the peak, and GB/s. */
  const little = (card, { loads, bytes, threads, share, latency }) => {
    const inFlight = (threads * loads * bytes * share) / 100;
    const room = (card.peak * latency) / card.sms; // GB/s are bytes per nanosecond
    return { inFlight, room, rate: Math.min((inFlight * card.sms) / latency, card.peak) };
  };

  const three = (value) => Number(value.toPrecision(3));

  const build = (place, which) => {
    const cards = JSON.parse(place.dataset.cards);
    if (!cards.length) return null;
    const id = `toy-pipe-${which}`;
    const made = {};
    const control = (name, label, range, text) => {
      made[name] = slider(`${id}-${name}`, `${label}: `, range, text, () => show());
      return [made[name].label, made[name].input];
    };
    const { select: card, label: cardLabel } = chosen(`${id}-card`, "Card: ",
      cards.map((one) => one.name), () => show());
    const { select: bytes, label: bytesLabel } = chosen(`${id}-bytes`, "Bytes per load: ",
      ["4", "8", "16"], () => show());
    const fill = make("span");
    const bar = make("div", { class: "toy-bar", "aria-hidden": "true" }, fill);
    const said = make("p", { class: "toy-said", role: "status" });

    function show() {
      const known = cards[card.selectedIndex];
      made.threads.input.max = String(known.threads);
      for (const one of Object.values(made)) one.show(known);
      const value = (name) => Number(made[name].input.value);
      const found = little(known, {
        loads: value("loads"), bytes: Number(bytes.value), threads: value("threads"),
        share: value("share"), latency: (known.latency * value("latency")) / 100,
      });
      const isFull = found.inFlight >= found.room;
      fill.style.width = `${Math.min(100, (100 * found.inFlight) / found.room)}%`;
      bar.classList.toggle("toy-tight", isFull);
      const kB = (amount) => `${three(amount / 1000)}\u00a0kB`;
      const rate = found.rate >= 1000 ? Math.round(found.rate) : three(found.rate);
      said.textContent = `${kB(found.inFlight)} in flight in each SM, in a pipe with room for `
        + `${kB(found.room)}: ${isFull ? "full, at " : ""}${rate}\u00a0GB/s.`;
      Object.assign(place.dataset, { inFlight: found.inFlight, room: found.room, rate: found.rate });
    }

    const percent = (value) => `${value}\u00a0%`;
    const field = make("div", { class: "toy-controls" },
      ...control("loads", "Loads in flight per waiting thread", [1, 16, 1, 1], String),
      bytesLabel,
      ...control("threads", "Threads on the SM", [32, 2048, 32, 2048], String),
      ...control("share", "Share of their lives in which they wait for loads", [5, 100, 5, 30],
        percent),
      ...control("latency", "A load takes", [100, 300, 5, 100],
        (value, known) => `${three((known.latency * value) / 100)}\u00a0ns`),
      cardLabel);
    const caption = "By Little\u2019s law, not measured. A busy memory takes longer to answer: what "
      + "does that do to the pipe?";
    return { parts: [bar, said, field], caption, show };
  };

  toys("pipe", build);
})();
