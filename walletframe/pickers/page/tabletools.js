// What stands above a table: search, groups, the order where no heading shows it, the count, and
// headings that sort.

import { choice, element, focusedElement, setText } from "./elements.js";

const PAUSE = 120; // milliseconds without a key before Python is asked

/** Say why no row is shown; groups are searched by what stands in them. */
export function emptySaid({ find, by }) {
  if (!find.trim()) return "There is nothing to show.";
  const more = "Only groups are searched: group by nothing to search all balances.";
  return by ? `Nothing matches. ${more}` : "Nothing matches.";
}

export class TableTools {
  counted = "";

  /** `open` asks for rows by another query. */
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

  /** Show what the rows are of. */
  show({ query, groups, columns, counted }) {
    const named = groups.map(({ name, label }) => [name, label || "nothing"]);
    this.by.show(named, query.by);
    const orders = columns.flatMap((column) => ordersOf(column));
    const unsorted = query.sort ? [] : [["", "as fetched"]];
    this.sorting.show([...unsorted, ...orders], orderName(query));
    this.counted = counted;
    setText(this.said, counted);
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

/** Tell which order a click on a heading means: the other one, or what is read first. */
export function orderMeant({ name, number }, query) {
  return { sort: name, down: query.sort === name ? !query.down : number };
}

export class TableHead {
  #headings = new Map(); // by the name of their column

  /** @param {(column: object) => void} sort hears on which heading was clicked */
  constructor(sort) {
    this.sort = sort;
    this.root = element("div", { class: "wf-head", role: "row", "aria-rowindex": "1" });
  }

  /** Make headings for the columns that are shown; the keyboard stays where it was. */
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

  /** Mark the column that sorts. */
  mark({ sort, down }) {
    for (const [name, { cell, arrow }] of this.#headings) {
      const order = down ? "descending" : "ascending";
      cell.setAttribute("aria-sort", name === sort ? order : "none");
      setText(arrow, name === sort ? (down ? "↓" : "↑") : "");
    }
  }
}

/** What a cell or a heading of a column has: its role, and its place beside or above others. */
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
