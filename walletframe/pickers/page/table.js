// A table of any number of rows. Python sorts, searches and groups; JavaScript draws the visible rows.

import { cellOf, drawCell, widthsIn } from "./cells.js";
import { element, setPart, setText, uniqueId } from "./elements.js";
import { moved } from "./keyboard.js";
import { RowDetails } from "./rowdetails.js";
import { RowStore } from "./rows.js";
import { cellAttributes, emptySaid, orderMeant, TableHead, TableTools } from "./tabletools.js";
import { scrollTo, VirtualRows } from "./virtual.js";
import { fitColumns } from "./widths.js";

const HEIGHTS = { 1: 30, 2: 50 }; // of a row in pixels, by its number of lines
const PROBED = 20; // number of digits whose width is measured

export class Table {
  #columns = []; // all columns
  #shown = []; // the columns that fit, with their widths
  #active = null; // the row and the column of the active cell
  #rows = null;
  #drawing = null; // aborts the drawing of rows
  #lines = 1;
  #width = 0;

  /**
   * @param {HTMLElement} root
   * @param {any} kernel answers the request "rows" with Python's `HoldingsTable`
   * @param {object} given
   * @param {AbortSignal} given.signal removes the table
   * @param {(said: object) => void} [given.pick] selects the wallet, token or blockchain of a
   *   cell, given the argument of Python's `HoldingsTable.cell_selection`; without `pick`, no
   *   button offers this
   */
  constructor(root, kernel, { signal, pick }) {
    this.id = uniqueId();
    this.store = new RowStore(kernel, {
      opened: (content) => this.#open(content),
      came: (first, end) => this.#came(first, end),
      late: (isLate) => this.tools.wait(isLate),
    });
    this.tools = new TableTools((change) => this.store.open(change), signal);
    this.head = new TableHead((column) => this.store.open(orderMeant(column, this.store.query)));
    const spoken = element("span", { class: "wf-unseen", role: "status" });
    this.details = new RowDetails(
      (said) => setText(spoken, said),
      pick && (() => this.#pick(pick)),
    );
    this.grid = this.#makeGrid();
    this.empty = element("div", { class: "wf-empty", hidden: true });
    const digits = "0".repeat(PROBED);
    this.probe = element("span", { class: "wf-probe", "aria-hidden": "true" }, digits);
    const parts = [this.tools.root, this.grid, this.empty, this.details.root, spoken, this.probe];
    root.append(element("div", { class: "wf-table" }, ...parts));
    const sizes = new ResizeObserver(() => this.#fit());
    sizes.observe(this.grid);
    signal.addEventListener("abort", () => (sizes.disconnect(), this.#drawing?.abort()));
    const frame = () => new Promise(requestAnimationFrame);
    this.painted = this.store.open().then(frame).then(frame);
  }

  #makeGrid() {
    const given = { class: "wf-grid", role: "grid", tabindex: "0", "aria-label": "Holdings" };
    const grid = element("div", given, this.head.root);
    grid.onkeydown = (event) => this.#press(event);
    grid.onclick = (event) => this.#click(event);
    grid.onfocus = () => {
      if (this.#active || !grid.matches(":focus-visible")) return;
      this.#activate({ row: Math.ceil(grid.scrollTop / HEIGHTS[this.#lines]), column: 0 });
    };
    return grid;
  }

  /** Show the rows and columns of a new query. */
  #open(content) {
    if (content.columns) {
      this.#columns = content.columns.map((column, index) => ({ ...column, index }));
      this.groups = content.groups;
      this.#width = 0;
    }
    const { query, count } = this.store;
    const { counted } = content;
    this.tools.show({ query, groups: this.groups, columns: this.#columns, counted });
    this.empty.hidden = count > 0;
    setText(this.empty, emptySaid(query));
    this.grid.setAttribute("aria-rowcount", String(count + 1));
    this.grid.scrollTop = 0;
    this.#activate(null);
    this.#fit();
    this.head.mark(query);
    if (!this.#rows) return; // the table is not visible yet
    this.#rows.count = count;
    this.#setHeight();
  }

  #came(first, end) {
    this.#rows?.refresh(first, end);
    if (this.#active) this.#activate(this.#active);
  }

  /** Choose the columns again if the columns or the width have changed. */
  #fit() {
    const width = this.grid.clientWidth;
    if (!this.#columns.length || !width || width === this.#width) return;
    this.#width = width;
    const ch = this.probe.getBoundingClientRect().width / PROBED;
    const { lines, shown, hidden } = fitColumns(this.#columns, width, ch);
    this.#lines = lines;
    const widthOf = widthsIn(getComputedStyle(this.grid).font);
    const known = new Map(this.#columns.map((column) => [column.name, column]));
    this.#shown = shown.map((fit, at) => {
      const column = known.get(fit.name);
      const place = lines === 1 ? at + 1 : Number(column.number) + 1;
      return { ...column, ...fit, place, widthOf };
    });
    const beside = this.#shown.filter(({ line }) => line === 1).map((fit) => `${fit.width}px`);
    this.grid.style.setProperty("--wf-columns", beside.join(" "));
    this.grid.classList.toggle("wf-two-lines", lines === 2);
    this.grid.setAttribute("aria-colcount", String(this.#columns.length));
    this.tools.sorting.root.hidden = !hidden.length;
    this.head.make(this.#shown);
    this.head.mark(this.store.query);
    this.#makeRows();
  }

  #makeRows() {
    this.#drawing?.abort();
    this.#drawing = new AbortController();
    this.#rows?.canvas.remove();
    this.#rows = new VirtualRows(this.grid, {
      height: HEIGHTS[this.#lines],
      make: () => this.#makeRow(),
      draw: (row, place) => this.#drawRow(row, place),
      seen: (first, end) => this.store.see(first, end),
      signal: this.#drawing.signal,
    });
    this.#rows.count = this.store.count;
    this.#setHeight();
    const { row, column } = this.#active ?? {};
    if (this.#active) this.#activate({ row, column: Math.min(column, this.#shown.length - 1) });
  }

  #setHeight() {
    const rows = this.store.count * HEIGHTS[this.#lines];
    this.grid.style.height = `${this.head.root.offsetHeight + rows + 2}px`;
  }

  /** Copy the last row, so that a row has a text until its own arrives. */
  #makeRow() {
    const { lastChild } = this.#rows.canvas;
    if (lastChild) return lastChild.cloneNode(true);
    const cells = this.#shown.map((each) => element("div", cellAttributes(each, "gridcell")));
    return element("div", { class: "wf-row", role: "row" }, ...cells);
  }

  #drawRow(node, place) {
    node.setAttribute("aria-rowindex", String(place + 2));
    node.dataset.place = String(place);
    const row = this.store.row(place);
    for (const [at, column] of this.#shown.entries()) {
      const cell = node.children[at];
      cell.id = this.#cellId(place, at);
      drawCell(cell, cellOf(row, column.name), column);
    }
    this.#mark(node, place);
  }

  #cellId(row, column) {
    return `${this.id}-${row}-${column}`;
  }

  #mark(node, place) {
    const isActive = this.#active?.row === place;
    node.classList.toggle("wf-chosen", isActive);
    for (const [at, cell] of [...node.children].entries()) {
      cell.classList.toggle("wf-here", isActive && this.#active.column === at);
    }
  }

  /** Make a cell active, for the keyboard, screen readers and the line below the table. */
  #activate(active) {
    const before = this.#active;
    this.#active = active;
    for (const place of [before?.row, active?.row]) {
      const node = this.#rows?.row(place);
      if (node) this.#mark(node, place);
    }
    const { row, column } = active ?? { row: -1 };
    this.details.show(this.store.row(row), this.#shown[column], this.#columns);
    const id = this.store.row(row) && this.#rows?.row(row) ? this.#cellId(row, column) : null;
    setPart(this.grid, "aria-activedescendant", id);
  }

  #click({ target }) {
    const cell = target.closest?.(".wf-cell[role=gridcell]");
    const place = Number(cell?.parentNode.dataset.place);
    if (!cell || target.closest("a")) return;
    this.#activate({ row: place, column: [...cell.parentNode.children].indexOf(cell) });
  }

  #pick(pick) {
    const { row, column } = this.#active;
    pick({ ...this.store.query, place: row, column: this.#shown[column].name });
  }

  #press(event) {
    if (event.target !== this.grid) return event.stopPropagation();
    const far = event.ctrlKey || event.metaKey;
    const page = Math.floor(this.#room() / HEIGHTS[this.#lines]);
    const size = { rows: this.store.count, columns: this.#shown.length, page };
    const to = moved(this.#active ?? { row: 0, column: 0 }, { key: event.key, far }, size);
    if (to) this.#show(to);
    else if (!this.#active || !this.#act(event.key, far)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Handle a key press in the active cell. Return whether it had an effect. */
  #act(key, far) {
    if (key === "Enter") this.details.unfold();
    else if (far && key === "c" && getSelection().isCollapsed) this.details.copyCell();
    else return false;
    return true;
  }

  /** Return the height of the grid that is available for rows, without the headings. */
  #room() {
    return this.grid.clientHeight - this.head.root.offsetHeight;
  }

  #show(active) {
    const height = HEIGHTS[this.#lines];
    this.grid.scrollTop = scrollTo(active.row, this.grid.scrollTop, this.#room(), height);
    this.#rows.refresh(active.row, active.row + 1);
    this.#activate(active);
  }
}
