// The parts of a picker: a frame, texts, rows, and a button for each selected option.

import { copyText, element, linkButton, setProp, setText, shortenAddress } from "./elements.js";

/** Make the elements of a picker. */
export function makePickerFrame(id, chips) {
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

/** Label a picker's elements with the name of its options. */
export function labelPicker({ name, search, list, chipRow, box }, text) {
  const things = text.toLowerCase();
  setText(name, text);
  setProp(box, "aria-label", text);
  setProp(list, "aria-label", text);
  setProp(search, "aria-label", `Find ${things}`);
  setProp(chipRow, "aria-label", `Selected ${things}`);
}

function formatCount(number) {
  return number.toLocaleString("en");
}

/** Return the number of options, matches or available options as text. */
export function countText({ typed, found, remaining, all }) {
  if (typed) return `${formatCount(found)} of ${formatCount(remaining)} match`;
  return remaining === all
    ? `${formatCount(all)} to choose from`
    : `${formatCount(remaining)} of ${formatCount(all)} available`;
}

/** Return why no option is found, or a message about the last pasted list. */
export function emptyText(typed, [found, among, all], pasteMessage) {
  if (found > 0) return typed ? "" : pasteMessage;
  if (typed && among > 0) return "No option matches. Press Esc to clear the search.";
  return all > 0 ? "No option matches the other filters." : "There are no options.";
}

/** Return the text of the button for all found options, or "" for fewer than two. */
export function selectAllText({ typed, found, unchosen, remaining, all }) {
  if (found < 2) return "";
  const which = typed ? " that match" : remaining === all ? "" : " available";
  return unchosen > 0
    ? `Select all ${formatCount(found)}${which}`
    : `Remove all ${formatCount(found)}${which}`;
}

/** Return the counts, and the option that Enter selects, for screen readers. */
export function statusText({ chosen, enter, ...counts }) {
  const parts = [countText(counts), `${formatCount(chosen)} selected`];
  return [...parts, ...(enter ? [`Enter selects ${enter}`] : [])].join(", ");
}

/** Call a function for a list that is pasted into a field. The field would join its lines. */
export function onPastedList(field, onList) {
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    if (!/[\n\t,;]/.test(text)) return;
    event.preventDefault();
    onList(text);
  });
}

/** Return a message about pasted lines without an option, or "". */
export function unknownLinesText(lines) {
  if (lines.length === 0) return "";
  const shown = lines.slice(0, 3).map((line) => shortenAddress(line.trim()));
  const more = lines.length > 3 ? `, and ${formatCount(lines.length - 3)} more` : "";
  return `No option is named ${shown.join(", ")}${more}.`;
}

/** Return the number of balances and the unit, or two empty texts if unknown. */
export function balancesText(balances) {
  if (balances === null || balances === undefined) return ["", ""];
  return [formatCount(balances), balances === 1 ? " balance" : " balances"];
}

export const TALL_ROW = 46; // height of a row with two lines
export const FLAT_ROW = 32; // height of a row with one line, for blockchains

/** Make an empty row. After the address is copied, `onCopied` receives a message. */
export function makeOptionRow(onCopied) {
  const row = element("div", { class: "wf-option", role: "option" });
  row.parts = {
    name: element("span", { class: "wf-option-name" }),
    valueText: element("span", { class: "wf-option-worth" }),
    chain: element("span", { class: "wf-option-chain" }),
    address: element("span", { class: "wf-option-address" }),
    count: element("span", { class: "wf-option-count" }),
    number: element("span"),
    unit: element("span", { class: "wf-option-unit" }),
  };
  const copy = element("span", { class: "wf-copy", title: "Copy the full address" });
  copy.addEventListener("click", async (event) => {
    event.stopPropagation(); // copying does not select the option
    onCopied(await copyText(row.fullText, shortenAddress(row.fullText)));
  });
  row.parts.copy = copy;
  const { name, valueText, chain, address, count, number, unit } = row.parts;
  count.append(number, unit);
  const called = element("span", { class: "wf-option-called" }, name);
  const where = element("span", { class: "wf-option-where" }, chain, address, copy);
  row.append(element("span", { class: "wf-check", "aria-hidden": "true" }), called, valueText);
  row.append(where, count);
  return row;
}

/** Show an option in a row. */
export function drawOption(row, options, index, { selected, active, count, number, id }) {
  const [name, fullText] = [options.name(index), options.fullText(index)];
  const { parts } = row;
  const isAddress = name === "" && fullText !== "";
  row.fullText = fullText;
  row.id = id;
  setText(parts.name, isAddress ? shortenAddress(fullText) : name);
  parts.name.classList.toggle("wf-option-address", isAddress);
  parts.name.title = isAddress ? fullText : name;
  setText(parts.valueText, options.valueText(index));
  setText(parts.chain, options.chain(index));
  setText(parts.address, isAddress ? "" : shortenAddress(fullText));
  parts.address.title = fullText;
  const beside = (isAddress ? parts.name : parts.address).parentNode;
  if (parts.copy.parentNode !== beside) beside.append(parts.copy);
  const isWord = fullText.includes(" "); // such as "native coin"
  parts.address.classList.toggle("wf-option-address", !isWord);
  parts.copy.hidden = fullText === "" || isWord;
  const balances = balancesText(options.balances(index)); // number and unit
  setText(parts.number, balances[0]);
  setText(parts.unit, balances[1]);
  parts.count.hidden = !balances[0];
  setProp(row, "aria-selected", String(selected));
  setProp(row, "aria-posinset", number + 1);
  setProp(row, "aria-setsize", count);
  row.classList.toggle("wf-active", active);
}

export class Chips {
  /** `fallback` returns the element to focus when no button remains. */
  constructor({ remove, removeAll, toggleOnlySelected, fallback }) {
    Object.assign(this, { remove, fallback });
    const small = { class: "wf-link wf-chips-more" };
    this.rest = linkButton("", toggleOnlySelected, { ...small, "aria-pressed": "false" });
    this.clear = linkButton("Remove all", removeAll, small);
    this.root = element("div", { class: "wf-chips", role: "group" });
  }

  /** Show the first of `count` selected options. `alone`: the list shows only these options. */
  show(first, count, alone) {
    const focused = this.#focused();
    const rest = count - first.length;
    const chips = first.map((chosen) => this.#chip(chosen));
    this.rest.textContent = alone ? "Show all" : `and ${rest.toLocaleString("en")} more`;
    setProp(this.rest, "aria-pressed", String(alone));
    const tools = [...(rest > 0 || alone ? [this.rest] : []), ...(count > 1 ? [this.clear] : [])];
    this.root.replaceChildren(...chips, ...tools);
    this.root.hidden = count === 0;
    const next = chips[Math.min(focused, chips.length - 1)] ?? this.fallback();
    if (focused >= 0) next.focus({ preventScroll: true });
  }

  #focused() {
    return [...this.root.children].findIndex((chip) => chip.matches(":focus"));
  }

  #chip({ key, short, label, isRemaining }) {
    const note = isRemaining
      ? ""
      : "\nThis option does not match the selection in the other pickers.";
    const attributes = {
      class: isRemaining ? "wf-chip" : "wf-chip wf-chip-away",
      type: "button",
      title: `Remove ${label}${note}`,
      "aria-label": `Remove ${label.includes(short) ? label : short}`, // with the visible text
      onclick: () => this.remove(key),
    };
    return element("button", attributes, element("span", {}, short), " ✕");
  }
}
