// The headings of a table, which sort it.

import { element, focusedElement, setText } from "./elements.js";

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
    const label = element("span", { class: "wf-text", textContent: column.label });
    const given = { class: "wf-heading", type: "button", title: `Sort by ${column.label}` };
    const button = element("button", { ...given, onclick: () => this.sort(column) }, label, arrow);
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
