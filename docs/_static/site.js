// The theme's buttons that expand a section of the navigation have no accessible name.
for (const each of document.querySelectorAll("summary:has(.toctree-toggle)")) {
  each.setAttribute("aria-label", "Pages below");
}
