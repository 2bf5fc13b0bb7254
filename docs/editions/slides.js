// One slide at a time; the address remembers which, so that a reload stays there.
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  const where = document.body.appendChild(document.createElement("p"));
  where.className = "where";
  let at = 0;
  const show = (wanted) => {
    at = Math.max(0, Math.min(slides.length - 1, wanted || 0));
    slides.forEach((one, place) => one.classList.toggle("shown", place === at));
    where.textContent = `${at + 1} / ${slides.length}`;
    history.replaceState(null, "", `#${at + 1}`);
  };
  const steps = {
    ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1,
    Home: -Infinity, End: Infinity,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      event.preventDefault();
      show(at + (event.key === " " && event.shiftKey ? -1 : steps[event.key]));
    } else if (event.key.toLowerCase() === "n") {
      document.body.classList.toggle("with-notes");
    }
  });
  addEventListener("click", (event) => show(at + (event.clientX < innerWidth / 4 ? -1 : 1)));
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
  show(Number(location.hash.slice(1)) - 1);
})();
