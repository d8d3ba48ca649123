// Import the kernel's plotly.js once per page, and read the page's colours.

import { element } from "./elements.js";

const SCRIPTS = Symbol.for("walletframe.plotly");
const PREFIX = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
const SUFFIX = "\nexport default module.exports;\n";

/** Request the script of plotly.js, unless the page has it. Return the page's entry. */
export function requestPlotly(version, kernel) {
  const entries = (globalThis[SCRIPTS] ??= new Map());
  if (!entries.has(version)) {
    const script = kernel.request("plotly").then((answer) => answer?.buffers[0]);
    script.then((buffer) => buffer || entries.delete(version));
    entries.set(version, { script });
  }
  return entries.get(version);
}

/** Return plotly.js from the page or the kernel, or null if the kernel does not answer. */
export function loadPlotly(version, kernel) {
  const entry = requestPlotly(version, kernel);
  entry.plotly ??= entry.script.then(importScript).catch((error) => {
    globalThis[SCRIPTS].delete(version);
    throw error;
  });
  delete entry.script; // megabytes
  return entry.plotly;
}

/** Import a script as a module, and restore the page's global variable Plotly. */
async function importScript(script) {
  if (!script) return null;
  const before = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const blob = new Blob([PREFIX, script, SUFFIX], { type: "text/javascript" });
  const url = URL.createObjectURL(blob);
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
    if (before) Object.defineProperty(globalThis, "Plotly", before);
    else delete globalThis.Plotly;
  }
}

const VARIABLES = { text: "--wf-text", back: "--wf-back", line: "--wf-line", faint: "--wf-faint" };
const TRANSPARENT = "rgba(0, 0, 0, 0)";

/** Convert a computed colour, such as `color(srgb …)`, to a colour for plotly. */
export function toRgba(computed) {
  const match = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)$/.exec(
    computed,
  );
  if (!match) return computed;
  const [red, green, blue] = match.slice(1, 4).map((part) => Math.round(255 * Number(part)));
  return `rgba(${red}, ${green}, ${blue}, ${Number(match[4] ?? 1)})`;
}

/** Call `onChange` when the theme changes. Return a function that reads the theme's colours. */
export function watchPageColors(root, onChange, signal) {
  const probe = (variable) => {
    const made = element("span", { class: "wf-unseen", "aria-hidden": "true" });
    made.style.color = `var(${variable})`;
    root.append(made);
    return made;
  };
  const probes = Object.entries(VARIABLES).map(([name, variable]) => {
    // A transition ends after each change of the theme.
    const watched = probe(variable);
    watched.style.setProperty("transition", "color 1ms step-end", "important");
    watched.addEventListener("transitionend", onChange, { signal });
    // Without a transition, there are no intermediate colours.
    const still = probe(variable);
    still.style.setProperty("transition", "none", "important");
    return [name, still];
  });
  return () => ({
    ...Object.fromEntries(
      probes.map(([name, still]) => [name, toRgba(getComputedStyle(still).color)]),
    ),
    font: getComputedStyle(root).fontFamily,
  });
}

/** Return a layout in the page's colours. The figure's own axis options are kept. */
export function layoutInPageColors(layout, colors) {
  const axis = { gridcolor: colors.line, zerolinecolor: colors.line, ticks: "" };
  const painted = {
    ...layout,
    paper_bgcolor: TRANSPARENT,
    plot_bgcolor: TRANSPARENT,
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
    // By default, plotly draws labels inside the plot in the colour for a white page.
    const tickfont = { ...layout[name].tickfont, color: colors.text };
    painted[name] = { ...axis, ...layout[name], tickfont };
  }
  return painted;
}

/** Return traces with the small values of a heatmap in colours near the page's background. */
export function tracesInPageColors(traces, colors) {
  const reversescale = Number(/\d+/.exec(colors.text)) > 128; // light text on a dark page
  return traces.map((each) => (each.type === "heatmap" ? { ...each, reversescale } : each));
}
