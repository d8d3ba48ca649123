// A table of many rows. Python sorts, searches and groups; JavaScript draws the visible rows.

import { drawCell, readCell, textMeasureForFont } from "./cells.js";
import { element, setProp, setText, uniqueId } from "./elements.js";
import { cellAfterKey } from "./keyboard.js";
import { RowDetails } from "./rowdetails.js";
import { RowStore } from "./rows.js";
import { cellAttributes, nextSort, noRowsText, TableHead, TableTools } from "./tabletools.js";
import { scrollPosition, VirtualRows } from "./virtual.js";
import { fitColumns } from "./widths.js";

const HEIGHTS = { 1: 30, 2: 50 }; // of a row in pixels, by its number of lines
const PROBE_DIGITS = 20; // number of digits whose width is measured

export class Table {
  #columns = []; // all columns
  #shown = []; // the columns that fit, with their widths
  #active = null; // the row and the column of the active cell
  #rows = null;
  #drawing = null; // the AbortController of the rows
  #lines = 1;
  #width = 0;

  /**
   * @param {HTMLElement} root
   * @param {any} kernel answers the request "rows" with Python's `HoldingsTable`
   * @param {object} options
   * @param {AbortSignal} options.signal removes the table
   * @param {(cell: object) => void} [options.pick] sends the argument of Python's
   *   `HoldingsTable.selection_field_and_key`; without `pick`, there is no button to select a cell
   */
  constructor(root, kernel, { signal, pick }) {
    this.id = uniqueId();
    this.store = new RowStore(kernel, {
      onOpened: (content) => this.#open(content),
      onRows: (first, end) => this.#refreshRows(first, end),
      onLate: (isLate) => this.tools.showLate(isLate),
    });
    this.tools = new TableTools((change) => this.store.open(change), signal);
    this.head = new TableHead((column) => this.store.open(nextSort(column, this.store.query)));
    const spoken = element("span", { class: "wf-unseen", role: "status" });
    this.details = new RowDetails(
      (message) => setText(spoken, message),
      pick && (() => this.#pick(pick)),
    );
    this.grid = this.#makeGrid();
    this.empty = element("div", { class: "wf-empty", hidden: true });
    const digits = "0".repeat(PROBE_DIGITS);
    this.probe = element("span", { class: "wf-probe", "aria-hidden": "true" }, digits);
    const parts = [this.tools.root, this.grid, this.empty, this.details.root, spoken, this.probe];
    root.append(element("div", { class: "wf-table" }, ...parts));
    const sizes = new ResizeObserver(() => this.#fitColumns());
    sizes.observe(this.grid);
    signal.addEventListener("abort", () => (sizes.disconnect(), this.#drawing?.abort()));
    const frame = () => new Promise(requestAnimationFrame);
    this.painted = this.store.open().then(frame).then(frame);
  }

  #makeGrid() {
    const options = { class: "wf-grid", role: "grid", tabindex: "0", "aria-label": "Holdings" };
    const grid = element("div", options, this.head.root);
    grid.onkeydown = (event) => this.#handleKey(event);
    grid.onclick = (event) => this.#handleClick(event);
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
    setText(this.empty, noRowsText(query));
    this.grid.setAttribute("aria-rowcount", String(count + 1));
    this.grid.scrollTop = 0;
    this.#activate(null);
    this.#fitColumns();
    this.head.mark(query);
    if (!this.#rows) return; // the table is not visible yet
    this.#rows.count = count;
    this.#setHeight();
  }

  #refreshRows(first, end) {
    this.#rows?.refresh(first, end);
    if (this.#active) this.#activate(this.#active);
  }

  /** Choose the visible columns after a change of the columns or the width. */
  #fitColumns() {
    const width = this.grid.clientWidth;
    if (!this.#columns.length || !width || width === this.#width) return;
    this.#width = width;
    const ch = this.probe.getBoundingClientRect().width / PROBE_DIGITS;
    const { lines, shown, hidden } = fitColumns(this.#columns, width, ch);
    this.#lines = lines;
    const widthOf = textMeasureForFont(getComputedStyle(this.grid).font);
    const byName = new Map(this.#columns.map((column) => [column.name, column]));
    this.#shown = shown.map((fit, index) => {
      const column = byName.get(fit.name);
      const gridColumn = lines === 1 ? index + 1 : Number(column.number) + 1;
      return { ...column, ...fit, gridColumn, widthOf };
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
      draw: (row, number) => this.#drawRow(row, number),
      onDraw: (first, end) => this.store.setVisibleRows(first, end),
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

  /** Copy the last row, so that a new row has texts until its data arrives. */
  #makeRow() {
    const { lastChild } = this.#rows.canvas;
    if (lastChild) return lastChild.cloneNode(true);
    const cells = this.#shown.map((each) => element("div", cellAttributes(each, "gridcell")));
    return element("div", { class: "wf-row", role: "row" }, ...cells);
  }

  #drawRow(node, number) {
    node.setAttribute("aria-rowindex", String(number + 2));
    node.dataset.row = String(number);
    const row = this.store.row(number);
    for (const [at, column] of this.#shown.entries()) {
      const cell = node.children[at];
      cell.id = this.#cellId(number, at);
      drawCell(cell, readCell(row, column.name), column);
    }
    this.#markActive(node, number);
  }

  #cellId(row, column) {
    return `${this.id}-${row}-${column}`;
  }

  #markActive(node, number) {
    const isActive = this.#active?.row === number;
    node.classList.toggle("wf-chosen", isActive);
    for (const [at, cell] of [...node.children].entries()) {
      cell.classList.toggle("wf-here", isActive && this.#active.column === at);
    }
  }

  /** Make a cell active, and show it below the table. Null deactivates the cell. */
  #activate(active) {
    const before = this.#active;
    this.#active = active;
    for (const number of [before?.row, active?.row]) {
      const node = this.#rows?.row(number);
      if (node) this.#markActive(node, number);
    }
    const { row, column } = active ?? { row: -1 };
    this.details.show(this.store.row(row), this.#shown[column], this.#columns);
    const id = this.store.row(row) && this.#rows?.row(row) ? this.#cellId(row, column) : null;
    setProp(this.grid, "aria-activedescendant", id);
  }

  #handleClick({ target }) {
    const cell = target.closest?.(".wf-cell[role=gridcell]");
    const number = Number(cell?.parentNode.dataset.row);
    if (!cell || target.closest("a")) return;
    this.#activate({ row: number, column: [...cell.parentNode.children].indexOf(cell) });
  }

  #pick(pick) {
    const { row, column } = this.#active;
    pick({ ...this.store.query, row, column: this.#shown[column].name });
  }

  #handleKey(event) {
    if (event.target !== this.grid) return event.stopPropagation();
    const ctrl = event.ctrlKey || event.metaKey;
    const page = Math.floor(this.#rowsHeight() / HEIGHTS[this.#lines]);
    const size = { rows: this.store.count, columns: this.#shown.length, page };
    const active = this.#active ?? { row: 0, column: 0 };
    const next = cellAfterKey(active, { key: event.key, ctrl }, size);
    if (next) this.#moveTo(next);
    else if (!this.#active || !this.#handleCellKey(event.key, ctrl)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Handle a key in the active cell. Return whether the key had an effect. */
  #handleCellKey(key, ctrl) {
    if (key === "Enter") this.details.toggleRow();
    else if (ctrl && key === "c" && getSelection().isCollapsed) this.details.copyCell();
    else return false;
    return true;
  }

  /** Return the height of the grid without the headings. */
  #rowsHeight() {
    return this.grid.clientHeight - this.head.root.offsetHeight;
  }

  #moveTo(active) {
    const [height, seen] = [HEIGHTS[this.#lines], this.#rowsHeight()];
    this.grid.scrollTop = scrollPosition(active.row, this.grid.scrollTop, seen, height);
    this.#rows.refresh(active.row, active.row + 1);
    this.#activate(active);
  }
}
