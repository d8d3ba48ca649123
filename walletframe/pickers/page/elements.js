// Functions to make elements. Untrusted data is inserted as text, never as markup.

// Without this attribute, JupyterLab handles keys of a focused element: `x` cuts the cell.
const OWN_KEYS = "data-lm-suppress-shortcuts";
const KEYED = new Set(["a", "button", "select", "summary"]);

/**
 * Make an element with properties (`onclick`), attributes (`class`), and children.
 *
 * JupyterLab's shortcuts are suppressed on elements that can have the focus.
 */
export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  const isKeyed = KEYED.has(tag) || "tabindex" in given || given.type === "checkbox";
  setPart(made, OWN_KEYS, isKeyed && "true");
  for (const [name, value] of Object.entries(given)) setPart(made, name, value);
  made.append(...children);
  return made;
}

/** Set a property or an attribute. The values null, undefined and false remove an attribute. */
export function setPart(node, name, value) {
  if (name.startsWith("on") || name === "value") node[name] = value;
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** Set the text of an element if it differs, so that screen readers read only changes. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Make a button with a click handler. */
export function button(text, onclick, given = {}) {
  return element("button", { class: "wf-button", type: "button", ...given, onclick }, text);
}

/** Make a button that looks like a link. */
export function linkButton(text, onclick, given = {}) {
  return button(text, onclick, { class: "wf-link", ...given });
}

/** Make a labelled select element of [value, text] options. */
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

/** Make an id that is unique on the page, since each widget has its own copy of this module. */
export function uniqueId() {
  return `wf-${Math.random().toString(36).slice(2)}`;
}

const HEAD = 6;
const TAIL = 4;

/** Shorten a long address in the middle, as Python's `shortened` does. */
export function shortened(text) {
  return text.length <= HEAD + TAIL + 3 ? text : `${text.slice(0, HEAD)}…${text.slice(-TAIL)}`;
}

/** Copy text to the clipboard, and return a message for the user. */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) return "Copying is blocked. Select the text and copy it.";
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

/** Return the focused element, also in shadow roots (marimo puts widgets into one). */
export function focusedElement() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
