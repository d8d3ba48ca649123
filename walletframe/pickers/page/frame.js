// The parts of a picker, and what they are called.

import { element, OWN_KEYS, setPart, setText } from "./elements.js";

/** Make the parts, and put them together. */
export function pickerFrame(id, chips, hint) {
  const name = element("label", { class: "wf-picker-name", for: `${id}-search` });
  const count = element("span", { class: "wf-picker-count" });
  const search = element("input", {
    id: `${id}-search`,
    class: "wf-search wf-picker-search",
    role: "combobox",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: hint,
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": `${id}-list`,
  });
  const list = element("div", {
    id: `${id}-list`,
    ...OWN_KEYS,
    class: "wf-list",
    role: "listbox",
    tabindex: "-1",
    "aria-multiselectable": "true",
  });
  const note = element("div", { class: "wf-picker-note" });
  const sorted = element("span");
  const all = element("button", { class: "wf-link", type: "button" });
  const foot = element("div", { ...OWN_KEYS, class: "wf-picker-foot" }, sorted, all);
  const status = element("div", { class: "wf-unseen", role: "status" });
  const head = element("div", { class: "wf-picker-head" }, name, count);
  const field = element("div", { class: "wf-picker-field" }, chips, search, list, note, foot);
  const box = element("div", { class: "wf-picker", role: "group" }, head, field, status);
  return { name, count, search, list, note, sorted, all, foot, status, field, chipRow: chips, box };
}

/** Name the parts after what is chosen in them. */
export function nameFrame({ name, search, list, chipRow, box }, text) {
  const things = text.toLowerCase();
  setText(name, text);
  setPart(box, "aria-label", text);
  setPart(list, "aria-label", text);
  setPart(search, "aria-label", `Find ${things}`);
  setPart(chipRow, "aria-label", `Chosen ${things}`);
}
