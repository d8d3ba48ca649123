// The parts of a picker: the frame and its texts, the rows, and a button per selected option.

import { copyText, element, linkButton, setPart, setText, shortened } from "./elements.js";

/** Make the elements of a picker. */
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

/** Set the labels of a picker's elements to the name of its options. */
export function nameFrame({ name, search, list, chipRow, box }, text) {
  const things = text.toLowerCase();
  setText(name, text);
  setPart(box, "aria-label", text);
  setPart(list, "aria-label", text);
  setPart(search, "aria-label", `Find ${things}`);
  setPart(chipRow, "aria-label", `Selected ${things}`);
}

function counted(number) {
  return number.toLocaleString("en");
}

/** Return a text with the number of options, of matches, or of available options. */
export function countText({ typed, found, here, all }) {
  if (typed) return `${counted(found)} of ${counted(here)} match`;
  return here === all
    ? `${counted(all)} to choose from`
    : `${counted(here)} of ${counted(all)} available`;
}

/** Return the reason why no option is found, or a message about the last pasted list. */
export function emptyText(typed, [found, among, all], unnamed) {
  if (found > 0) return typed ? "" : unnamed;
  if (typed && among > 0) return "No option matches. Press Esc to clear the search.";
  return all > 0 ? "No option matches the other filters." : "There are no options.";
}

/** Return the text of the button for all found options, or an empty text if fewer than two. */
export function allText({ typed, found, unchosen, here, all }) {
  if (found < 2) return "";
  const which = typed ? " that match" : here === all ? "" : " available";
  return unchosen > 0
    ? `Select all ${counted(found)}${which}`
    : `Remove all ${counted(found)}${which}`;
}

/** Return the text for screen readers: the counts, and the option that Enter selects. */
export function statusText({ chosen, enter, ...counts }) {
  const parts = [countText(counts), `${counted(chosen)} selected`];
  return [...parts, ...(enter ? [`Enter selects ${enter}`] : [])].join(", ");
}

/** Call a function with the text if a list is pasted into a field, which would join its lines. */
export function onList(search, call) {
  search.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    if (!/[\n\t,;]/.test(text)) return;
    event.preventDefault();
    call(text);
  });
}

/** Return a text with the lines of a pasted list that name no option, or an empty text. */
export function listText(lines) {
  if (lines.length === 0) return "";
  const shown = lines.slice(0, 3).map((line) => shortened(line.trim()));
  const more = lines.length > 3 ? `, and ${counted(lines.length - 3)} more` : "";
  return `No option is named ${shown.join(", ")}${more}.`;
}

/** Return the number of balances of an option and the unit, or empty texts if it is unknown. */
export function balancesText(balances) {
  if (balances === null || balances === undefined) return ["", ""];
  return [counted(balances), balances === 1 ? " balance" : " balances"];
}

export const TALL = 46; // height of a row with two lines
export const FLAT = 32; // height of a row with one line, for blockchains

/** Make an empty row. `said` is called with a message after the user has copied the address. */
export function optionRow(said) {
  const row = element("div", { class: "wf-option", role: "option" });
  row.parts = {
    name: element("span", { class: "wf-option-name" }),
    worth: element("span", { class: "wf-option-worth" }),
    chain: element("span", { class: "wf-option-chain" }),
    address: element("span", { class: "wf-option-address" }),
    count: element("span", { class: "wf-option-count" }),
    number: element("span"),
    unit: element("span", { class: "wf-option-unit" }),
  };
  const copy = element("span", { class: "wf-copy", title: "Copy the full address" });
  copy.addEventListener("click", async (event) => {
    event.stopPropagation(); // copying does not select the option
    said(await copyText(row.whole, shortened(row.whole)));
  });
  row.parts.copy = copy;
  const { name, worth, chain, address, count, number, unit } = row.parts;
  count.append(number, unit);
  const called = element("span", { class: "wf-option-called" }, name);
  const where = element("span", { class: "wf-option-where" }, chain, address, copy);
  row.append(element("span", { class: "wf-check", "aria-hidden": "true" }), called, worth);
  row.append(where, count);
  return row;
}

/** Show an option in a row. */
export function drawOption(row, options, place, { selected, active, count, number, id }) {
  const [name, whole] = [options.name(place), options.whole(place)];
  const { parts } = row;
  const isAddress = name === "" && whole !== "";
  row.whole = whole;
  row.id = id;
  setText(parts.name, isAddress ? shortened(whole) : name);
  parts.name.classList.toggle("wf-option-address", isAddress);
  parts.name.title = isAddress ? whole : name;
  setText(parts.worth, options.worth(place));
  setText(parts.chain, options.chain(place));
  setText(parts.address, isAddress ? "" : shortened(whole));
  parts.address.title = whole;
  const beside = (isAddress ? parts.name : parts.address).parentNode;
  if (parts.copy.parentNode !== beside) beside.append(parts.copy);
  const isWord = whole.includes(" "); // such as "native coin"
  parts.address.classList.toggle("wf-option-address", !isWord);
  parts.copy.hidden = whole === "" || isWord;
  const balances = balancesText(options.balances(place)); // number and unit
  setText(parts.number, balances[0]);
  setText(parts.unit, balances[1]);
  parts.count.hidden = !balances[0];
  setPart(row, "aria-selected", String(selected));
  setPart(row, "aria-posinset", number + 1);
  setPart(row, "aria-setsize", count);
  row.classList.toggle("wf-active", active);
}

export class Chips {
  /** `orElse` returns the element that gets the focus when no button is left. */
  constructor({ remove, removeAll, toggleChosen, orElse }) {
    Object.assign(this, { remove, orElse });
    const small = { class: "wf-link wf-chips-more" };
    this.rest = linkButton("", toggleChosen, { ...small, "aria-pressed": "false" });
    this.clear = linkButton("Remove all", removeAll, small);
    this.root = element("div", { class: "wf-chips", role: "group" });
  }

  /** Show the first selected options, of `count`; `alone`: the list shows only selected options. */
  show(first, count, alone) {
    const focused = this.#focused();
    const rest = count - first.length;
    const chips = first.map((chosen) => this.#chip(chosen));
    this.rest.textContent = alone ? "Show all" : `and ${rest.toLocaleString("en")} more`;
    setPart(this.rest, "aria-pressed", String(alone));
    const tools = [...(rest > 0 || alone ? [this.rest] : []), ...(count > 1 ? [this.clear] : [])];
    this.root.replaceChildren(...chips, ...tools);
    this.root.hidden = count === 0;
    const next = chips[Math.min(focused, chips.length - 1)] ?? this.orElse();
    if (focused >= 0) next.focus({ preventScroll: true });
  }

  #focused() {
    return [...this.root.children].findIndex((chip) => chip.matches(":focus"));
  }

  #chip({ key, short, label, here }) {
    const aside = here ? "" : "\nThis option does not match the selection in the other pickers.";
    const given = {
      class: here ? "wf-chip" : "wf-chip wf-chip-away",
      type: "button",
      title: `Remove ${label}${aside}`,
      "aria-label": `Remove ${label.includes(short) ? label : short}`, // contains the visible text
      onclick: () => this.remove(key),
    };
    return element("button", given, element("span", {}, short), " ✕");
  }
}
