// The full text of the active cell and of its row, which are shown below a table.

import { cellOf, copiedText, linkTo, wholeParts } from "./cells.js";
import { button, copyText, element, setText } from "./elements.js";

const HINT = "Click a cell or move to it with the arrow keys to see its full text here.";

export class RowDetails {
  unfolded = false;

  /**
   * @param {(said: string) => void} say shows a message after the user has copied a text
   * @param {() => void} [pick] selects only the cell's wallet, token or blockchain
   */
  constructor(say, pick) {
    this.say = say;
    this.name = element("span", { class: "wf-detail-name" });
    this.text = element("span", { class: "wf-detail-text" }, HINT);
    this.out = element("span");
    this.fold = button("Full row", () => this.unfold(), { "aria-expanded": "false" });
    const copyCell = button("Copy cell", () => this.copyCell());
    const copyRow = button("Copy row", () => this.#copyRow());
    this.only = button("", pick);
    const buttons = [this.only, copyCell, copyRow, this.fold];
    this.buttons = element("div", { class: "wf-detail-buttons" }, ...buttons);
    const said = element("div", { class: "wf-detail-cell" }, this.name, this.text, this.out);
    const line = element("div", { class: "wf-detail-line" }, said, this.buttons);
    this.all = element("dl", { class: "wf-detail-row", hidden: true });
    const given = { class: "wf-detail", role: "group", "aria-label": "Selected cell" };
    this.root = element("div", given, line, this.all);
    this.buttons.hidden = true;
  }

  /** Show a cell of a row, or a hint if there is none. */
  show(row, column, columns) {
    const cell = row && column ? cellOf(row, column.name) : null;
    Object.assign(this, { row, cell, columns });
    this.buttons.hidden = !cell;
    this.all.hidden = !cell || !this.unfolded;
    if (cell) return this.#tell(cell, column);
    setText(this.name, "");
    this.out.replaceChildren();
    setText(this.text, HINT);
  }

  #tell(cell, { picks, label }) {
    this.only.hidden = !this.only.onclick || !picks || !cell.text;
    setText(this.only, `Show only this ${picks?.slice(0, -1)}`);
    setText(this.name, label);
    this.text.replaceChildren(...wholeParts(cell));
    this.out.replaceChildren(...(cell.link ? [linkTo(cell, {})] : []));
    if (this.unfolded) this.#fill();
  }

  /** Copy the exact text of the cell. */
  async copyCell() {
    this.say(await copyText(copiedText(this.cell), "the cell"));
  }

  async #copyRow() {
    const cells = this.columns.map(({ name }) => copiedText(cellOf(this.row, name)));
    this.say(await copyText(cells.join("\t"), "the row"));
  }

  unfold() {
    this.unfolded = !this.unfolded;
    this.all.hidden = !this.unfolded;
    this.fold.setAttribute("aria-expanded", String(this.unfolded));
    if (this.unfolded) this.#fill();
  }

  #fill() {
    const parts = this.columns.flatMap(({ name, label }) => {
      const cell = cellOf(this.row, name);
      const text = element("dd", {}, ...wholeParts(cell));
      if (cell.link) text.append(" ", linkTo(cell, {}));
      return [element("dt", {}, label), text];
    });
    this.all.replaceChildren(...parts);
  }
}
