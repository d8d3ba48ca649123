// Elements made of data that strangers may have written: it is always text, never markup.

// JupyterLab takes keys for its own commands where such a thing has the keyboard: `x` cuts the cell.
const OWN_KEYS = "data-lm-suppress-shortcuts";
const KEYED = new Set(["a", "button", "select", "summary"]);

/**
 * Make an element with properties (`onclick`), attributes (`class`), and children.
 *
 * What can have the keyboard keeps its keys.
 */
export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  const isKeyed = KEYED.has(tag) || "tabindex" in given || given.type === "checkbox";
  setPart(made, OWN_KEYS, isKeyed && "true");
  for (const [name, value] of Object.entries(given)) setPart(made, name, value);
  made.append(...children);
  return made;
}

/** Set a property or an attribute; null, undefined and false take an attribute away. */
export function setPart(node, name, value) {
  if (name.startsWith("on") || name === "value") node[name] = value;
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** Set the text of an element, if it is another one: what stays the same is not read out anew. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Make a button that does something. */
export function button(text, onclick, given = {}) {
  return element("button", { class: "wf-button", type: "button", ...given, onclick }, text);
}

/** Make a button that looks like a link. */
export function linkButton(text, onclick, given = {}) {
  return button(text, onclick, { class: "wf-link", ...given });
}

/** Make a list, [value, text], of which one is chosen; it is made anew only where it is another. */
export function choice(label, choose) {
  const list = element("select", { class: "wf-field", onchange: () => choose(list.value) });
  const root = element("label", { class: "wf-choice" }, element("span", {}, label), list);
  let before = "";
  const show = (options, chosen) => {
    const now = JSON.stringify(options);
    if (now !== before) {
      list.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    }
    before = now;
    list.value = chosen;
    list.disabled = options.length < 2;
    root.hidden = options.length === 0;
  };
  return { root, show };
}

/** Make an id that no other widget of the page has: each has these modules for itself. */
export function uniqueId() {
  return `wf-${Math.random().toString(36).slice(2)}`;
}

const HEAD = 6;
const TAIL = 4;

/** Cut a long address in the middle, as Python's `shortened` does: people look at both ends. */
export function shortened(text) {
  return text.length <= HEAD + TAIL + 3 ? text : `${text.slice(0, HEAD)}…${text.slice(-TAIL)}`;
}

/** Copy text, where the page may not by way of a field, and return what to tell people of it. */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) return "The browser blocks copying: select the text and copy it";
  }
  return `Copied ${what}`;
}

function copySelected(text) {
  const focused = focusedElement();
  const field = element("textarea", { class: "wf-unseen", "aria-hidden": "true", value: text });
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}

/** Return what has the keyboard, within shadow roots, too (marimo puts widgets into one). */
export function focusedElement() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
