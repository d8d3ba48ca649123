// plotly.js: the kernel's own, imported once for all widgets of a page.

const SHELF = Symbol.for("walletframe.plotly");
const BEFORE = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
const BEHIND = "\nexport default module.exports;\n";

/**
 * Give a version of plotly.js, from another widget of this page or from the kernel.
 *
 * @param {string} version
 * @param {() => Promise<DataView | null>} load asks the kernel for the script
 * @returns {Promise<object | null>} null where the kernel did not answer
 */
export async function plotlyOf(version, load) {
  const shelf = (globalThis[SHELF] ??= new Map());
  if (!shelf.has(version)) {
    shelf.set(version, load().then(importedScript));
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
