// What scrolls sideways must be reachable by keyboard. Browsers that do this by themselves lose
// nothing; the page reads the same with scripts off.
(() => {
  const reach = () => {
    for (const box of document.querySelectorAll(".highlight pre, .table-wrapper")) {
      const scrolls = box.scrollWidth > box.clientWidth;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reach);
  // A folded passage has no width until it is opened.
  document.addEventListener("toggle", reach, true);
  reach();
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
