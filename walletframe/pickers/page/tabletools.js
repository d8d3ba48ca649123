// What stands above a table: search, groups, the order where no heading shows it, and the count.

import { element, setText } from "./elements.js";

const KINDS = ["wallet", "token", "asset", "blockchain"];
const PAUSE = 120; // milliseconds without a key before Python is asked

/** Say how many rows there are, of how many. */
export function countSaid({ by, total, of, find }) {
  const noun = by === "" ? "balances" : `${KINDS.includes(by) ? by : "group"}s`;
  const all = of.toLocaleString("en");
  const said = of === 1 ? noun.slice(0, -1) : noun;
  if (!find.trim()) return `${all} ${said}`;
  return `${total.toLocaleString("en")} of ${all} ${said} ${total === 1 ? "matches" : "match"}`;
}

export class TableTools {
  counted = "";

  /**
   * @param {object} calls
   * @param {(change: object) => void} calls.open asks for rows by another query
   * @param {AbortSignal} signal
   */
  constructor({ open }, signal) {
    this.open = open;
    this.find = element("input", { class: "wf-field", type: "search", spellcheck: "false" });
    this.find.placeholder = "Search wallets, tokens, contracts";
    this.find.setAttribute("aria-label", "Search the table");
    this.find.oninput = () => this.#findSoon();
    this.find.onkeydown = (event) => this.#findNow(event);
    this.by = element("select", { class: "wf-field", onchange: () => this.#group() });
    this.sort = element("select", { class: "wf-field", onchange: () => this.#order() });
    this.said = element("span", { class: "wf-said", role: "status" });
    this.sorting = labelled("Sort by", this.sort);
    const parts = [this.find, labelled("Group by", this.by), this.sorting, this.said];
    this.root = element("div", { class: "wf-tools" }, ...parts);
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Show what the rows are of. */
  show({ query, groups, columns, total, of }) {
    const named = groups.map(({ name, label }) => [name, label || "nothing"]);
    setOptions(this.by, named, query.by);
    const orders = columns.flatMap((column) => ordersOf(column));
    const unsorted = query.sort ? [] : [["", "as fetched"]];
    setOptions(this.sort, [...unsorted, ...orders], orderName(query));
    this.counted = countSaid({ ...query, total, of });
    setText(this.said, this.counted);
  }

  /** Say that Python is busy with something else, or again what there is. */
  wait(isLate) {
    setText(this.said, isLate ? "Waiting for the kernel …" : this.counted);
  }

  #findSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open({ find: this.find.value }), PAUSE);
  }

  #findNow(event) {
    event.stopPropagation(); // a notebook has keys of its own
    if (event.key === "Escape" && this.find.value) {
      this.find.value = "";
      event.preventDefault();
    } else if (event.key !== "Enter") return;
    clearTimeout(this.timer);
    this.open({ find: this.find.value });
  }

  #group() {
    this.open({ by: this.by.value, sort: "" });
  }

  #order() {
    const down = this.sort.value.startsWith("-");
    this.open({ sort: this.sort.value.replace(/^[-+]/, ""), down });
  }
}

function labelled(text, field) {
  return element("label", { class: "wf-label" }, element("span", { textContent: text }), field);
}

function orderName({ sort, down }) {
  return sort ? `${down ? "-" : "+"}${sort}` : "";
}

function ordersOf({ name, label, number }) {
  const both = [
    [`+${name}`, `${label} ↑`],
    [`-${name}`, `${label} ↓`],
  ];
  return number ? both.reverse() : both;
}

/** Offer options (value, text), if they are others than before, and choose one. */
function setOptions(select, options, chosen) {
  const key = JSON.stringify(options);
  if (select.dataset.offered !== key) {
    select.dataset.offered = key;
    const made = options.map(([value, text]) => element("option", { value, textContent: text }));
    select.replaceChildren(...made);
  }
  select.value = chosen;
}
