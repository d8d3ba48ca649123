// The tools above a table: search, groups, sort order, number of rows, and headings that sort.

import { element, focusedElement, selectBox, setText } from "./elements.js";

const SEARCH_DELAY_MS = 120; // milliseconds after the last key before a search is sent

/** Return why no row is shown. */
export function noRowsText({ find, by }) {
  if (!find.trim()) return "There are no rows to show.";
  const more = "The search finds only names of groups. To search all balances, group by nothing.";
  return by ? `No row matches. ${more}` : "No row matches.";
}

export class TableTools {
  counted = "";

  /** `open` requests the rows of a changed query. */
  constructor(open, signal) {
    this.open = open;
    this.find = element("input", {
      class: "wf-field",
      type: "search",
      spellcheck: "false",
      placeholder: "Search wallets, tokens, contracts",
      "aria-label": "Search the table",
      oninput: () => this.#searchLater(),
      onkeydown: (event) => this.#handleSearchKey(event),
    });
    this.by = selectBox("Group by", (by) => open({ by, sort: "" }));
    this.sorting = selectBox("Sort by", (order) =>
      open({ sort: order.slice(1), down: order.startsWith("-") }),
    );
    this.countLine = element("span", { class: "wf-said", role: "status" });
    const parts = [this.find, this.by.root, this.sorting.root, this.countLine];
    this.root = element("div", { class: "wf-tools" }, ...parts);
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Show the query and the number of rows. */
  show({ query, groups, columns, counted }) {
    const names = groups.map(({ name, label }) => [name, label || "nothing"]);
    this.by.show(names, query.by);
    const orders = columns.flatMap((column) => sortOptions(column));
    const unsorted = query.sort ? [] : [["", "as fetched"]];
    this.sorting.show([...unsorted, ...orders], orderValue(query));
    this.counted = counted;
    setText(this.countLine, counted);
  }

  /** Show that Python's answer is late, or else the number of rows. */
  showLate(isLate) {
    setText(this.countLine, isLate ? "Waiting for the kernel …" : this.counted);
  }

  #searchLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open({ find: this.find.value }), SEARCH_DELAY_MS);
  }

  #handleSearchKey(event) {
    event.stopPropagation(); // notebooks use this key for commands
    if (event.key === "Escape" && this.find.value) {
      this.find.value = "";
      event.preventDefault();
    } else if (event.key !== "Enter") return;
    clearTimeout(this.timer);
    this.open({ find: this.find.value });
  }
}

function orderValue({ sort, down }) {
  return sort ? `${down ? "-" : "+"}${sort}` : "";
}

function sortOptions({ name, label, number }) {
  const both = [
    [`+${name}`, `${label} ↑`],
    [`-${name}`, `${label} ↓`],
  ];
  return number ? both.reverse() : both;
}

/** Reverse the order of the sort column, or return a column's default order. */
export function nextSort({ name, number }, query) {
  return { sort: name, down: query.sort === name ? !query.down : number };
}

export class TableHead {
  #headings = new Map(); // by column name

  /** @param {(column: object) => void} sort called with the column of a clicked heading */
  constructor(sort) {
    this.sort = sort;
    this.root = element("div", { class: "wf-head", role: "row", "aria-rowindex": "1" });
  }

  /** Make the headings of the displayed columns, and keep the focus. */
  make(columns) {
    const focused = focusedElement();
    const kept = [...this.#headings].find(([, { button }]) => button === focused)?.[0];
    this.#headings = new Map(columns.map((column) => [column.name, this.#heading(column)]));
    this.root.replaceChildren(...[...this.#headings.values()].map(({ cell }) => cell));
    this.#headings.get(kept)?.button.focus({ preventScroll: true });
  }

  #heading(column) {
    const arrow = element("span", { class: "wf-arrow", "aria-hidden": "true" });
    const label = element("span", { class: "wf-text" }, column.label);
    const onclick = () => this.sort(column);
    const attributes = {
      class: "wf-heading",
      type: "button",
      title: `Sort by ${column.label}`,
      onclick,
    };
    const button = element("button", attributes, label, arrow);
    const cell = element("div", cellAttributes(column, "columnheader"), button);
    return { cell, button, arrow };
  }

  /** Mark the heading of the sort column. */
  mark({ sort, down }) {
    for (const [name, { cell, arrow }] of this.#headings) {
      const order = down ? "descending" : "ascending";
      cell.setAttribute("aria-sort", name === sort ? order : "none");
      setText(arrow, name === sort ? (down ? "↓" : "↑") : "");
    }
  }
}

/** Return the attributes of a cell or heading. */
export function cellAttributes(column, role) {
  const area = `${column.line} / ${column.gridColumn}`;
  const kind = column.number ? " wf-number" : "";
  const bar = column.bar && role === "gridcell" ? " wf-bar" : "";
  return {
    class: `wf-cell${kind}${bar}`,
    role,
    "aria-colindex": String(column.index + 1),
    style: `grid-area: ${area}; --wf-decimals-width: ${column.decimalsWidth}`,
  };
}
