// Functions to make elements. Untrusted data is inserted as text, never as markup.

// Without this attribute, JupyterLab handles the keys of a focused element: `x` cuts the cell.
const NO_SHORTCUTS = "data-lm-suppress-shortcuts";
const FOCUSABLE = new Set(["a", "button", "select", "summary"]);

/**
 * Make an element with properties (`onclick`), attributes (`class`) and children. Focusable
 * elements suppress JupyterLab's shortcuts.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  const isFocusable =
    FOCUSABLE.has(tag) || "tabindex" in attributes || attributes.type === "checkbox";
  setProp(made, NO_SHORTCUTS, isFocusable && "true");
  for (const [name, value] of Object.entries(attributes)) setProp(made, name, value);
  made.append(...children);
  return made;
}

/** Set a property or an attribute. Null, undefined and false remove an attribute. */
export function setProp(node, name, value) {
  if (name.startsWith("on") || name === "value") node[name] = value;
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** Set the text of an element, unless it is equal: screen readers read each change. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Make a button with a click handler. */
export function button(text, onclick, attributes = {}) {
  return element("button", { class: "wf-button", type: "button", ...attributes, onclick }, text);
}

/** Make a button that looks like a link. */
export function linkButton(text, onclick, attributes = {}) {
  return button(text, onclick, { class: "wf-link", ...attributes });
}

/** Make a select element with a label. `show` sets the [value, text] options. */
export function selectBox(label, onChoice) {
  const list = element("select", { class: "wf-field", onchange: () => onChoice(list.value) });
  const root = element("label", { class: "wf-choice" }, element("span", {}, label), list);
  let shown = "";
  const show = (options, chosen) => {
    const wanted = JSON.stringify(options);
    if (wanted !== shown) {
      list.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    }
    shown = wanted;
    list.value = chosen;
    root.hidden = options.length < 2;
  };
  return { root, show };
}

/** Make an id that is unique on the page, although each widget has a copy of this module. */
export function uniqueId() {
  return `wf-${Math.random().toString(36).slice(2)}`;
}

const HEAD = 6;
const TAIL = 4;

/** Shorten a long address in the middle, as Python's `abbreviate` does. */
export function shortenAddress(text) {
  return text.length <= HEAD + TAIL + 3 ? text : `${text.slice(0, HEAD)}…${text.slice(-TAIL)}`;
}

/** Copy text to the clipboard, and return a message for the user. */
export async function copyText(text, name) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyBySelection(text)) return "Copying is blocked. Select the text and copy it.";
  }
  return `Copied ${name}`;
}

function copyBySelection(text) {
  const focused = focusedElement();
  const field = element("textarea", { class: "wf-unseen", "aria-hidden": "true", value: text });
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}

/** Return the focused element, also in a shadow root, as in marimo. */
export function focusedElement() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
