// One option as a row of the list.

import { copyText, element, setPart, setText, shortened } from "./elements.js";
import { balancesText } from "./frame.js";

export const TALL = 46; // two lines
export const FLAT = 32; // of what is nowhere but itself

/** Make an empty row; `said` hears what became of copying. */
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
  const copy = element("span", { class: "wf-copy", title: "Copy the whole address" });
  copy.addEventListener("click", async (event) => {
    event.stopPropagation(); // it chooses nothing
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

/** Fill a row with an option. */
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
  const isWord = whole.includes(" "); // such as native coin
  parts.address.classList.toggle("wf-option-address", !isWord);
  parts.copy.hidden = whole === "" || isWord;
  const balances = balancesText(options.balances(place)); // a narrow list has a shorter unit
  setText(parts.number, balances[0]);
  setText(parts.unit, balances[1]);
  parts.count.hidden = !balances[0];
  setPart(row, "aria-selected", String(selected));
  setPart(row, "aria-posinset", number + 1);
  setPart(row, "aria-setsize", count);
  row.classList.toggle("wf-active", active);
}
