// Runs before the first paint, so that a chosen theme never flashes the other one.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  /* the system's theme, then */
}
