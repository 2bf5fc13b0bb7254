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
