// Import the kernel's plotly.js once for all widgets of a page, and read the page's colours.

import { element } from "./elements.js";

const SHELF = Symbol.for("walletframe.plotly");
const BEFORE = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
const BEHIND = "\nexport default module.exports;\n";

/** Request the script of plotly.js, unless the page has it. Return its entry of the shelf. */
export function requestPlotly(version, kernel) {
  const shelf = (globalThis[SHELF] ??= new Map());
  if (!shelf.has(version)) {
    const script = kernel.ask("plotly").then((answer) => answer?.buffers[0]);
    script.then((found) => found || shelf.delete(version));
    shelf.set(version, { script });
  }
  return shelf.get(version);
}

/** Return plotly.js, from the page or the kernel, or null if the kernel does not answer. */
export function plotlyOf(version, kernel) {
  const entry = requestPlotly(version, kernel);
  entry.plotly ??= entry.script.then(importedScript).catch((error) => {
    globalThis[SHELF].delete(version);
    throw error;
  });
  delete entry.script; // megabytes
  return entry.plotly;
}

/** Import a script as a module, and restore the page's global variable Plotly. */
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

/** Convert a computed colour for plotly: browsers write mixed colours as `color(srgb …)`. */
export function asRgb(computed) {
  const found = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)$/.exec(
    computed,
  );
  if (!found) return computed;
  const [red, green, blue] = found.slice(1, 4).map((part) => Math.round(255 * Number(part)));
  return `rgba(${red}, ${green}, ${blue}, ${Number(found[4] ?? 1)})`;
}

/** Call `changed` after the theme's colours change. Return a function that reads the colours. */
export function pageColors(root, changed, signal) {
  const probe = (variable) => {
    const made = element("span", { class: "wf-unseen", "aria-hidden": "true" });
    made.style.color = `var(${variable})`;
    root.append(made);
    return made;
  };
  const probes = Object.entries(PARTS).map(([name, variable]) => {
    // This detects every way of changing the theme: a changed colour ends a transition.
    const watched = probe(variable);
    watched.style.setProperty("transition", "color 1ms step-end", "important");
    watched.addEventListener("transitionend", changed, { signal });
    // During a transition, plotly can't read the colour, so an element without transition is read.
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

/** Return a layout in the page's colours. Axis options that the figure sets are kept. */
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
    if (!/^[xy]axis\d*$/.test(name)) continue;
    // Without a colour, plotly draws labels inside the plot for a white page.
    const tickfont = { ...layout[name].tickfont, color: colors.text };
    painted[name] = { ...axis, ...layout[name], tickfont };
  }
  return painted;
}
