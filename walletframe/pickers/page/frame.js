// The parts of a picker, what they are called, and what they say.

import { element, linkButton, setPart, setText } from "./elements.js";

/** Make the parts, and put them together. */
export function pickerFrame(id, chips) {
  const name = element("label", { class: "wf-picker-name", for: `${id}-search` });
  const count = element("span", { class: "wf-picker-count" });
  const search = element("input", {
    id: `${id}-search`,
    class: "wf-search wf-picker-search",
    role: "combobox",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": `${id}-list`,
  });
  const list = element("div", {
    id: `${id}-list`,
    class: "wf-list",
    role: "listbox",
    tabindex: "-1",
    "aria-multiselectable": "true",
  });
  const note = element("div", { class: "wf-picker-note" });
  const sorted = element("span");
  const all = linkButton("");
  const foot = element("div", { class: "wf-picker-foot" }, sorted, all);
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

function counted(number) {
  return number.toLocaleString("en");
}

/** Say how many options there are, or match, or remain. */
export function countText({ typed, found, here, all }) {
  if (typed) return `${counted(found)} of ${counted(here)} match`;
  return here === all
    ? `${counted(all)} to choose from`
    : `${counted(here)} of ${counted(all)} here`;
}

/** Say what the button does that takes all that was found; empty where there is no use for it. */
export function allText({ typed, found, unchosen, here, all }) {
  if (found < 2) return "";
  const which = typed ? " that match" : here === all ? "" : " here";
  return unchosen > 0
    ? `Select all ${counted(found)}${which}`
    : `Remove all ${counted(found)}${which}`;
}

/** Say to those who don't see it what was found, what is chosen, and what Enter does. */
export function statusText({ chosen, enter, ...counts }) {
  const parts = [countText(counts), `${counted(chosen)} chosen`];
  return [...parts, ...(enter ? [`Enter chooses ${enter}`] : [])].join(", ");
}

/** Say how many balances stand behind an option, and of what; nothing where that is not known. */
export function balancesText(balances) {
  if (balances === null || balances === undefined) return ["", ""];
  return [counted(balances), balances === 1 ? " balance" : " balances"];
}
