// The full texts of the active cell and its row, below a table.

import { clipboardText, explorerLink, fullTextParts, readCell } from "./cells.js";
import { button, copyText, element, setText } from "./elements.js";

const HINT = "Click a cell or move to it with the arrow keys to see its full text here.";

export class RowDetails {
  isUnfolded = false;

  /**
   * @param {(message: string) => void} showMessage shows a message after copying
   * @param {() => void} [pick] selects only the cell's wallet, token or blockchain
   */
  constructor(showMessage, pick) {
    this.showMessage = showMessage;
    this.name = element("span", { class: "wf-detail-name" });
    this.text = element("span", { class: "wf-detail-text" }, HINT);
    this.link = element("span");
    this.fold = button("Full row", () => this.toggleRow(), { "aria-expanded": "false" });
    const copyCell = button("Copy cell", () => this.copyCell());
    const copyRow = button("Copy row", () => this.#copyRow());
    this.only = button("", pick);
    const buttons = [this.only, copyCell, copyRow, this.fold];
    this.buttons = element("div", { class: "wf-detail-buttons" }, ...buttons);
    const cell = element("div", { class: "wf-detail-cell" }, this.name, this.text, this.link);
    const line = element("div", { class: "wf-detail-line" }, cell, this.buttons);
    this.fullRow = element("dl", { class: "wf-detail-row", hidden: true });
    const attributes = { class: "wf-detail", role: "group", "aria-label": "Selected cell" };
    this.root = element("div", attributes, line, this.fullRow);
    this.buttons.hidden = true;
  }

  /** Show a cell of a row, or else a hint. */
  show(row, column, columns) {
    const cell = row && column ? readCell(row, column.name) : null;
    Object.assign(this, { row, cell, columns });
    this.buttons.hidden = !cell;
    this.fullRow.hidden = !cell || !this.isUnfolded;
    if (cell) return this.#showCell(cell, column);
    setText(this.name, "");
    this.link.replaceChildren();
    setText(this.text, HINT);
  }

  #showCell(cell, { picks, label }) {
    this.only.hidden = !this.only.onclick || !picks || !cell.text;
    setText(this.only, `Show only this ${picks?.slice(0, -1)}`);
    setText(this.name, label);
    this.text.replaceChildren(...fullTextParts(cell));
    this.link.replaceChildren(...(cell.link ? [explorerLink(cell, {})] : []));
    if (this.isUnfolded) this.#fillRow();
  }

  /** Copy the exact text of the cell. */
  async copyCell() {
    this.showMessage(await copyText(clipboardText(this.cell), "the cell"));
  }

  async #copyRow() {
    const cells = this.columns.map(({ name }) => clipboardText(readCell(this.row, name)));
    this.showMessage(await copyText(cells.join("\t"), "the row"));
  }

  toggleRow() {
    this.isUnfolded = !this.isUnfolded;
    this.fullRow.hidden = !this.isUnfolded;
    this.fold.setAttribute("aria-expanded", String(this.isUnfolded));
    if (this.isUnfolded) this.#fillRow();
  }

  #fillRow() {
    const parts = this.columns.flatMap(({ name, label }) => {
      const cell = readCell(this.row, name);
      const text = element("dd", {}, ...fullTextParts(cell));
      if (cell.link) text.append(" ", explorerLink(cell, {}));
      return [element("dt", {}, label), text];
    });
    this.fullRow.replaceChildren(...parts);
  }
}
