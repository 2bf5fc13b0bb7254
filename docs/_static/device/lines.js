// The lines of the page's listings: found by file and number, marked, and given numbers of their own.
(() => {
  const { make, scrolling } = window.LadderPage;

  /** Each line of a block of code as an element of its own. */
  const split = (pre) => {
    const lines = [];
    const begin = () => lines.push(make("span", { class: "line" }));
    begin();
    for (const node of [...pre.childNodes]) {
      if (node.nodeType !== Node.TEXT_NODE) {
        lines.at(-1).append(node);
        continue;
      }
      node.data.split("\n").forEach((part, at) => {
        if (at) {
          lines.at(-1).append("\n");
          begin();
        }
        lines.at(-1).append(part);
      });
    }
    if (!lines.at(-1).textContent) lines.pop();
    pre.replaceChildren(...lines);
    return lines;
  };

  /** The lines of the file as it is now: of a diff, those that it took away have no number. */
  const numbered = (block) => {
    const lines = split(block.querySelector("pre"));
    const found = [];
    if (!block.matches(".changed")) {
      const path = block.querySelector(".code-block-caption").textContent.match(/\S+\.cuh?\b/)?.[0];
      for (const line of lines) {
        const number = Number.parseInt(line.querySelector(".linenos")?.textContent, 10);
        if (path && number) found.push({ path, number, line });
      }
      return found;
    }
    let path = "";
    let number = 0;
    for (const line of lines) {
      const text = line.textContent;
      const hunk = text.match(/^@@ .*\+(\d+)(,\d+)? @@/);
      if (text.startsWith("+++ ")) path = text.slice(4).trim();
      else if (hunk) number = Number(hunk[1]);
      else if (!text.startsWith("-")) found.push({ path, number: number++, line });
    }
    return found;
  };

  let known;
  const all = () => {
    known ??= [...document.querySelectorAll(".literal-block-wrapper:is(.listing, .changed)")]
      .filter((block) => block.querySelector("pre"))
      .flatMap((block) => numbered(block));
    return known;
  };

  const sameFile = (file, path) => file === path || file.endsWith(`/${path}`);
  const at = (file, number) =>
    all().filter((one) => one.number === number && sameFile(file, one.path));

  /** A line's code, without numbers and comment. */
  const codeOf = (one) => {
    const copy = one.line.cloneNode(true);
    for (const extra of copy.querySelectorAll(".linenos, .heat")) extra.remove();
    const text = one.line.closest(".changed") ? copy.textContent.slice(1) : copy.textContent;
    return text.replace(/\s*\/\/.*/, "").trim();
  };
  /** The same of a file's line; empty if the page doesn't show it. */
  const source = (file, number) => {
    const [one] = at(file, number);
    return one ? codeOf(one) : "";
  };

  /**
   * What the page's listings call the parameters of a kernel, in order; null where they don't show it, or
   * show several of that name. `kernel` is its name with its types, as the device tells it.
   */
  const parameters = (kernel) => {
    const plain = kernel.replace(/<.*>/, "");
    const [, name, types] = plain.match(/(\w+)\((.*)\)$/) ?? [];
    if (!name) return null;
    const text = all().map(codeOf).join("\n");
    const pattern = new RegExp(`__global__[^{};]*?\\b${name}\\s*\\(([^(){};]*)\\)\\s*\\{`, "g");
    const lists = new Set([...text.matchAll(pattern)].map(([, list]) =>
      list.split(",").map((each) => each.match(/(\w+)\s*$/)?.[1]).join()));
    const [names] = [...lists].map((list) => list.split(","));
    const fits = lists.size === 1 && names.every(Boolean) && names.length === types.split(",").length;
    return fits ? names : null;
  };

  const clear = (name) => {
    for (const one of document.querySelectorAll(`.line.${name}`)) one.classList.remove(name);
  };

  /** Marks these lines and no others with a class. */
  const mark = (name, lines) => {
    clear(name);
    for (const { file, line } of lines) {
      for (const one of at(file, line)) one.line.classList.add(name);
    }
  };

  /** How long a line that was asked for stands out, in milliseconds. */
  const FLASH = 2500;

  /** Shows a line: what it is folded in opens. Whether the page has it. */
  const go = (file, number) => {
    const places = at(file, number).map((one) => one.line);
    const line = places.find((one) => one.offsetParent) ?? places[0];
    if (!line) return false;
    for (let fold = line.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
    line.scrollIntoView({ block: "center", behavior: scrolling() });
    clear("flash");
    line.classList.add("flash");
    setTimeout(() => line.classList.remove("flash"), FLASH);
    return true;
  };

  const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

  const cool = () => {
    for (const one of document.querySelectorAll(".line .heat")) one.remove();
    for (const one of document.querySelectorAll(".line.warm")) {
      one.classList.remove("warm");
      one.style.removeProperty("--share");
    }
  };

  /** Opens what code of a panel is folded in, if the page shows it nowhere else. */
  const unfold = (line, panel) => {
    const fold = line.closest(".run-code");
    if (fold && panel.contains(fold) && !line.closest("[hidden]")) fold.open = true;
  };

  /**
   * Each counted line gets its number and a tint; the other lines of its listing stay in line. What
   * the panel has folded away opens.
   */
  const heat = (counts, what, panel) => {
    cool();
    const most = Math.max(...counts.map((one) => one.value), 1);
    const blocks = new Set();
    for (const { file, line, value } of counts) {
      for (const one of value ? at(file, line) : []) {
        blocks.add(one.line.parentElement);
        one.line.classList.add("warm");
        one.line.style.setProperty("--share", (value / most).toFixed(3));
        one.line.dataset.heat = SHORT.format(value);
        unfold(one.line, panel);
      }
    }
    for (const block of blocks) {
      for (const line of block.children) {
        const cell = make("span", { class: "heat" }, line.dataset.heat ?? "");
        if (line.dataset.heat) cell.title = `${line.dataset.heat} ${what}`;
        delete line.dataset.heat;
        const before = line.querySelector(".linenos");
        if (before) before.after(cell);
        else line.prepend(cell);
      }
    }
  };

  /** The listings inside a fold that the page shows elsewhere, too, are not needed there. */
  const unneeded = (fold) => {
    const shown = new Set();
    for (const block of document.querySelectorAll(".literal-block-wrapper.listing")) {
      if (!block.closest(".run-here")) shown.add(block.querySelector(".code-block-caption").textContent);
    }
    const here = [...fold.querySelectorAll(".run-code .literal-block-wrapper.listing")];
    for (const block of here) {
      block.hidden = shown.has(block.querySelector(".code-block-caption").textContent);
    }
    for (const code of fold.querySelectorAll(".run-code")) {
      code.hidden = !code.querySelector(".literal-block-wrapper.listing:not([hidden])");
    }
  };

  const has = (file, number) => at(file, number).length > 0;

  window.LadderLines = { source, parameters, mark, clear, go, heat, cool, unneeded, has };
})();
