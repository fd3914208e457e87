"use strict";
(() => {
  const button = document.getElementById("theme");

  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(theme === "dark"));
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", "Dark colors");
    if (keep) try { localStorage.setItem("tir-theme", theme); } catch { /* no local storage */ }
  }

  function startTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    let kept = null;
    try { kept = localStorage.getItem("tir-theme"); } catch { /* no local storage */ }
    setTheme(kept || (system.matches ? "dark" : "light"), false);
    system.addEventListener("change", (event) => { if (!kept) setTheme(event.matches ? "dark" : "light", false); });
    button.addEventListener("click", () => {
      kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      setTheme(kept, true);
    });
  }

  startTheme();
})();
