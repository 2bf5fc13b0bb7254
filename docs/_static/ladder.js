// What the page's scripts share; ladder-run.js adds to it.
window.LadderPage = {
  /** An element with attributes (what isn't text is a property where there is one) and children. */
  make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    // A browser that goes back would set its value, of which the script that made it knows nothing.
    if (name === "input" || name === "select") made.autocomplete = "off";
    for (const [key, value] of Object.entries(attributes)) {
      if (key in made && typeof value !== "string") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  },

  /** An element of SVG with attributes, and text where there is any. */
  drawn(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  },

  /** A slider: its label, which shows `text` of its value, the input itself, and `show`, which
   *  writes the text. `moved` is called after each move. */
  slider(id, label, [from, to, step, value], text, moved) {
    const { make } = window.LadderPage;
    const shown = make("output", { class: "toy-value", for: id });
    const input = make("input", {
      type: "range", id, min: String(from), max: String(to), step: String(step),
      value: String(value),
    });
    const show = (...given) => {
      shown.textContent = text(Number(input.value), ...given);
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", moved);
    return { label: make("label", { for: id }, label, shown), input, show };
  },

  /** A choice of one of the names: the select itself and its label. `moved` is called after each. */
  chosen(id, label, names, moved) {
    const { make } = window.LadderPage;
    const select = make("select", { id }, ...names.map((one) => make("option", {}, one)));
    select.addEventListener("change", moved);
    return { select, label: make("label", { class: "toy-check", for: id },
      make("span", {}, label), select) };
  },

  /** Lays out the page's toys of a name. `build` gives a toy's parts, its caption and what shows it
   *  first, or nothing where the page lacks what it needs: then its place stays hidden. */
  toys(name, build) {
    const { make } = window.LadderPage;
    document.querySelectorAll(`[data-toy="${name}"]`).forEach((place, which) => {
      const made = build(place, which);
      if (!made) return;
      place.append(...made.parts, make("p", { class: "toy-caption" }, made.caption));
      made.show();
      place.hidden = false;
    });
  },

  /** What scrolls sideways must be reachable by keyboard. Browsers that do this by themselves lose
   *  nothing; the page reads the same with scripts off. */
  reachable(box) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  },
};

(() => {
  const boxes = ".highlight pre, .table-wrapper, .toy-scroll";
  const reach = () => document.querySelectorAll(boxes).forEach(window.LadderPage.reachable);
  addEventListener("resize", reach);
  // A folded passage has no width until it is opened.
  document.addEventListener("toggle", reach, true);
  reach();
})();

// The list of pages is longer than a window: this page's line in it is in view.
(() => {
  const room = document.querySelector(".sidebar-scroll");
  const line = room?.querySelector("li.current-page");
  if (!line) return;
  const below = line.getBoundingClientRect().bottom - room.getBoundingClientRect().bottom;
  if (below > 0) room.scrollBy({ top: below + room.clientHeight / 2, behavior: "instant" });
})();

// What was searched for is found bit by bit. The search page says in one line when that is done,
// where it is read out: the line is there from the start.
(() => {
  const said = document.getElementById("search-said");
  if (!said) return;
  const results = document.getElementById("search-results");
  new MutationObserver(() => {
    const summary = results.querySelector(".search-summary")?.textContent ?? "";
    if (said.textContent !== summary) said.textContent = summary;
  }).observe(results, { childList: true, subtree: true });
})();

// A picture opens as large as the window, or larger: then it scrolls.
(() => {
  const dialog = document.createElement("dialog");
  dialog.className = "larger";
  dialog.addEventListener("click", () => dialog.close());
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  for (const drawing of document.querySelectorAll("figure.picture .drawing")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "picture-larger";
    button.textContent = "Larger";
    const open = () => {
      const shown = [...drawing.querySelectorAll("img")].find((one) => one.offsetParent);
      if (!shown) return;
      dialog.replaceChildren(close, shown.cloneNode());
      dialog.setAttribute("aria-label", "The picture, larger");
      dialog.showModal();
    };
    button.addEventListener("click", open);
    for (const image of drawing.querySelectorAll("img")) image.addEventListener("click", open);
    drawing.append(button);
  }
  if (document.querySelector(".picture-larger")) document.body.append(dialog);
})();

// What was checked of a sentence closes with Escape, and opens again when the reader comes back.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const claim of document.querySelectorAll(".claim:is(:hover, :focus, :focus-within)")) {
    claim.classList.add("closed");
    const reopen = () => claim.classList.remove("closed");
    for (const kind of ["mouseleave", "focusout"]) {
      claim.addEventListener(kind, reopen, { once: true });
    }
  }
});
