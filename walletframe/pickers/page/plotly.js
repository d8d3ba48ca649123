// plotly.js: the kernel's own, imported once for all widgets of a page, in the page's colours.

import { element } from "./elements.js";

const SHELF = Symbol.for("walletframe.plotly");
const BEFORE = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
const BEHIND = "\nexport default module.exports;\n";

/** Give a version of plotly.js, which the page has already or the kernel sends; null for no answer. */
export async function plotlyOf(version, kernel) {
  const shelf = (globalThis[SHELF] ??= new Map());
  if (!shelf.has(version)) {
    const asked = kernel.ask("plotly");
    shelf.set(
      version,
      asked.then((answer) => importedScript(answer?.buffers[0])),
    );
    shelf.get(version).then(
      (found) => found || shelf.delete(version),
      () => shelf.delete(version),
    );
  }
  return shelf.get(version);
}

/** Import a script as a module of its own: what else the page calls Plotly stays what it was. */
async function importedScript(script) {
  if (!script) return null;
  const before = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const blob = new Blob([BEFORE, script, BEHIND], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  try {
    return (await import(address)).default;
  } finally {
    URL.revokeObjectURL(address);
    if (before) Object.defineProperty(globalThis, "Plotly", before);
    else delete globalThis.Plotly;
  }
}

const PARTS = { text: "--wf-text", back: "--wf-back", line: "--wf-line", faint: "--wf-faint" };
const CLEAR = "rgba(0, 0, 0, 0)";

/** Write a computed colour as plotly reads it: browsers write mixed ones as `color(srgb …)`. */
export function asRgb(computed) {
  const found = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)$/.exec(
    computed,
  );
  if (!found) return computed;
  const [red, green, blue] = found.slice(1, 4).map((part) => Math.round(255 * Number(part)));
  return `rgba(${red}, ${green}, ${blue}, ${Number(found[4] ?? 1)})`;
}

/** Follow the colours of a root that bears the theme; what is returned tells those of now. */
export function pageColors(root, changed, signal) {
  const probe = (variable) => {
    const made = element("span", { class: "wf-unseen", "aria-hidden": "true" });
    made.style.color = `var(${variable})`;
    root.append(made);
    return made;
  };
  const probes = Object.entries(PARTS).map(([name, variable]) => {
    // However a page changes its theme: a colour that changes is a transition that ends.
    const watched = probe(variable);
    watched.style.setProperty("transition", "color 1ms step-end", "important");
    watched.addEventListener("transitionend", changed, { signal });
    // While it goes on, a colour is of a space that plotly can't read: another one has none.
    const still = probe(variable);
    still.style.setProperty("transition", "none", "important");
    return [name, still];
  });
  return () => ({
    ...Object.fromEntries(
      probes.map(([name, still]) => [name, asRgb(getComputedStyle(still).color)]),
    ),
    font: getComputedStyle(root).fontFamily,
  });
}

/** Return a layout in the colours of a page; what a figure says itself is left as it is. */
export function paintedLayout(layout, colors) {
  const axis = {
    gridcolor: colors.line,
    zerolinecolor: colors.line,
    linecolor: colors.line,
    tickcolor: colors.line,
  };
  const painted = {
    ...layout,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    font: { family: colors.font, color: colors.text, size: 12 },
    hoverlabel: {
      ...layout.hoverlabel,
      bgcolor: colors.back,
      bordercolor: colors.faint,
      font: { family: colors.font, color: colors.text, size: 12 },
    },
  };
  for (const name of Object.keys(layout)) {
    if (/^[xy]axis\d*$/.test(name)) painted[name] = { ...axis, ...layout[name] };
  }
  return painted;
}
