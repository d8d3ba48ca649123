// The tools above a table: search, groups, sort order and count; and the headings, which sort.

import { choice, element, focusedElement, setText } from "./elements.js";

const PAUSE = 120; // milliseconds after the last key before a search is sent

/** Return the reason why no row is shown. */
export function emptySaid({ find, by }) {
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
      oninput: () => this.#findSoon(),
      onkeydown: (event) => this.#findNow(event),
    });
    this.by = choice("Group by", (by) => open({ by, sort: "" }));
    this.sorting = choice("Sort by", (order) =>
      open({ sort: order.slice(1), down: order.startsWith("-") }),
    );
    this.said = element("span", { class: "wf-said", role: "status" });
    const parts = [this.find, this.by.root, this.sorting.root, this.said];
    this.root = element("div", { class: "wf-tools" }, ...parts);
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Show the query and the number of rows. */
  show({ query, groups, columns, counted }) {
    const named = groups.map(({ name, label }) => [name, label || "nothing"]);
    this.by.show(named, query.by);
    const orders = columns.flatMap((column) => ordersOf(column));
    const unsorted = query.sort ? [] : [["", "as fetched"]];
    this.sorting.show([...unsorted, ...orders], orderName(query));
    this.counted = counted;
    setText(this.said, counted);
  }

  /** Show that the answer of Python is late, or show the number of rows again. */
  wait(isLate) {
    setText(this.said, isLate ? "Waiting for the kernel …" : this.counted);
  }

  #findSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open({ find: this.find.value }), PAUSE);
  }

  #findNow(event) {
    event.stopPropagation(); // notebooks use this key for commands
    if (event.key === "Escape" && this.find.value) {
      this.find.value = "";
      event.preventDefault();
    } else if (event.key !== "Enter") return;
    clearTimeout(this.timer);
    this.open({ find: this.find.value });
  }
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

/** Return the sort order after a click on a heading: the reverse order, or the column's default. */
export function orderMeant({ name, number }, query) {
  return { sort: name, down: query.sort === name ? !query.down : number };
}

export class TableHead {
  #headings = new Map(); // by column name

  /** @param {(column: object) => void} sort called with the column of a clicked heading */
  constructor(sort) {
    this.sort = sort;
    this.root = element("div", { class: "wf-head", role: "row", "aria-rowindex": "1" });
  }

  /** Make headings for the displayed columns, and keep the focus. */
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
    const given = {
      class: "wf-heading",
      type: "button",
      title: `Sort by ${column.label}`,
      onclick,
    };
    const button = element("button", given, label, arrow);
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

/** Return the attributes of a cell or heading: its role and its position. */
export function cellAttributes(column, role) {
  const kind = column.number ? " wf-number" : "";
  const bar = column.bar && role === "gridcell" ? " wf-bar" : "";
  return {
    class: `wf-cell${kind}${bar}`,
    role,
    "aria-colindex": String(column.index + 1),
    style: `grid-area: ${column.line} / ${column.place}; --wf-behind: ${column.behind}`,
  };
}
