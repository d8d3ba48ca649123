// The theme's buttons that unfold a part of the navigation have no names.
for (const each of document.querySelectorAll("summary:has(.toctree-toggle)")) {
  each.setAttribute("aria-label", "Pages below");
}
