// The picker: a search field, a list of options, and a button for each selected option.

import { copyText, setProp, setText, shortenAddress, uniqueId } from "./elements.js";
import { rowAfterKey } from "./keyboard.js";
import { findIndices, keyOf, NO_OPTIONS, Options } from "./options.js";
import {
  Chips,
  countText,
  drawOption,
  emptyText,
  FLAT_ROW,
  labelPicker,
  makeOptionRow,
  makePickerFrame,
  onPastedList,
  selectAllText,
  statusText,
  TALL_ROW,
  unknownLinesText,
} from "./pickerparts.js";
import { VirtualRows } from "./virtual.js";

const MAX_VISIBLE_ROWS = 7.5; // the half row shows that the list can be scrolled
const SLOW_ANSWER_MS = 600;
const NO_ANSWER_MS = 15_000;
const NO_ANSWER = "The kernel does not answer. Run the cell again.";
const STATUS_DELAY_MS = 500; // delay before screen readers read the result of a search

export class Picker {
  values = []; // the selected values
  #options = new Options(NO_OPTIONS);
  #selectedKeys = new Set(); // the keys of the selected values
  #selectedIndices = new Set(); // the indices of the selected options
  #found = [];
  #active = -1; // the active row of the found options, or -1
  #isReached = false; // whether arrow keys or the mouse made the row active, not typing
  #showsOnlySelected = false;
  #loading = false;
  #pasteMessage = ""; // about the last pasted list

  /**
   * @param {object} options
   * @param {() => Promise<{content: any} | null>} options.request requests the options
   * @param {(values: any[]) => void} options.choose called with a new selection; calls `show`
   * @param {boolean} [options.pastes] whether there is a field for pasted values
   * @param {AbortSignal} options.signal
   */
  constructor({ root, request, choose, pastes = false, signal }) {
    Object.assign(this, { request, choose, pastes, id: uniqueId() });
    this.chips = new Chips({
      remove: (key) => this.#remove((each) => each === key),
      removeAll: () => this.choose([]),
      toggleOnlySelected: () => this.#showOnlySelected(!this.#showsOnlySelected),
      fallback: () => this.search,
    });
    Object.assign(this, makePickerFrame(this.id, this.chips.root));
    this.rows = new VirtualRows(this.list, {
      height: TALL_ROW,
      make: () => this.#makeRow(),
      draw: (row, number) => this.#drawRow(row, number),
      signal,
    });
    this.search.oninput = () => this.#find();
    this.search.onkeydown = (event) => this.#handleKey(event);
    onPastedList(this.search, (text) => this.handlePastedList(text));
    this.list.onmousedown = (event) => {
      event.preventDefault(); // the search field keeps the focus
      this.search.focus({ preventScroll: true });
    };
    this.all.onclick = () => this.#toggleFound();
    root.append(this.box);
  }

  rename(text) {
    labelPicker(this, text);
  }

  /** Show the selected values. If a value is not an option, reload the options. */
  show(values) {
    this.values = values;
    this.#showSelected();
    if (this.#selectedIndices.size < this.#selectedKeys.size && !this.#loading) this.load();
  }

  /** Request the options from Python and show them. */
  async load() {
    const timers = [
      setTimeout(() => this.#showNote("Waiting for the kernel …"), SLOW_ANSWER_MS),
      setTimeout(() => this.#showNote(NO_ANSWER), NO_ANSWER_MS),
    ];
    this.#loading = true;
    const answer = await this.request();
    timers.forEach((timer) => clearTimeout(timer));
    if (!answer) return;
    this.#loading = false;
    this.#options = new Options(answer.content);
    this.rows.height = this.#options.haveBlockchains ? TALL_ROW : FLAT_ROW;
    this.box.classList.toggle("wf-flat", !this.#options.haveBlockchains);
    this.search.placeholder = answer.content.hint;
    setText(this.sorted, answer.content.sorted && `by ${answer.content.sorted}`);
    this.#showSelected();
    this.#find();
    setTimeout(() => this.#options.prepare(), 100); // for a fast first search
  }

  /** Show only the remaining options, which match the selection in other pickers. */
  narrow(columns) {
    if (this.#loading) return; // the pending answer contains these options
    this.#options.narrow(columns);
    this.#find({ stay: true });
  }

  #showNote(text) {
    setText(this.note, text);
    this.note.hidden = !text;
  }

  #showSelected() {
    this.#selectedKeys = new Set(this.values.map(keyOf));
    this.#selectedIndices = this.#options.indicesOf(this.#selectedKeys);
    if (this.#showsOnlySelected) return this.#showOnlySelected(this.#selectedKeys.size > 0);
    this.#showChips();
    this.rows.refresh();
    this.#showCounts();
  }

  #showChips() {
    const first = [...this.#selectedKeys].slice(0, 8).map((key) => {
      const index = this.#options.indexOf(key);
      const known = index !== undefined;
      const written = [JSON.parse(key)].flat().filter(Boolean).join(" ");
      return {
        key,
        short: known ? this.#options.short(index) : shortenAddress(written),
        label: known ? this.#options.label(index) : written,
        isRemaining: !known || this.#options.isRemaining(index),
      };
    });
    this.chips.show(first, this.#selectedKeys.size, this.#showsOnlySelected);
  }

  #showOnlySelected(isOn) {
    this.#showsOnlySelected = isOn;
    this.#find();
  }

  /** Show the options that match the search. `stay` keeps the active row and the scrolling. */
  #find({ stay = false } = {}) {
    const typed = this.search.value.trim();
    const among = this.#showsOnlySelected ? [...this.#selectedIndices] : this.#options.remaining;
    const [before, scrolled] = [this.#found[this.#active], this.list.scrollTop];
    this.#found = typed ? findIndices(this.#options.searchTexts, among, typed) : among;
    this.#isReached &&= stay && this.#found.includes(before);
    const first = (index) =>
      this.#isReached ? index === before : typed && !this.#selectedIndices.has(index);
    this.#active = this.#found.findIndex(first);
    this.list.style.height = `${Math.min(MAX_VISIBLE_ROWS, among.length) * this.rows.height}px`;
    this.rows.count = this.#found.length;
    this.list.scrollTop = stay ? scrolled : 0;
    if (this.#active >= 0 && !stay) this.rows.scrollTo(this.#active);
    const counts = [this.#found.length, among.length, this.#options.count];
    this.#showNote(emptyText(typed, counts, this.#pasteMessage));
    this.#showActive();
    this.#showCounts();
    this.#showChips();
  }

  #showActive() {
    const row = this.#active < 0 ? null : this.rows.row(this.#active);
    setProp(this.search, "aria-activedescendant", row?.id);
  }

  #showCounts() {
    const [all, remaining] = [this.#options.count, this.#options.remaining.length];
    this.list.hidden = this.search.hidden = this.foot.hidden = this.count.hidden = all === 0;
    this.field.hidden = all + this.#selectedKeys.size === 0 && this.pastes;
    const found = this.#found.length;
    const unchosen = this.#found.filter((index) => !this.#selectedIndices.has(index)).length;
    const typed = this.search.value.trim();
    const first = typed && !this.#isReached && this.#active >= 0 ? this.#found[this.#active] : null;
    const counts = { typed, found, remaining, all, unchosen, chosen: this.#selectedKeys.size };
    setText(this.count, countText(counts));
    setText(this.all, selectAllText(counts));
    this.all.hidden = !this.all.textContent;
    clearTimeout(this.pause);
    const enter = first === null ? "" : this.#options.short(first);
    const showStatus = () => setText(this.status, statusText({ ...counts, enter }));
    this.pause = setTimeout(showStatus, STATUS_DELAY_MS);
  }

  #makeRow() {
    const row = makeOptionRow((message) => this.#showCopyMessage(message));
    row.addEventListener("click", () => {
      this.#moveTo(row.number);
      this.#toggle(row.number);
    });
    return row;
  }

  #drawRow(row, number) {
    const index = this.#found[number];
    row.number = number;
    drawOption(row, this.#options, index, {
      selected: this.#selectedIndices.has(index),
      active: number === this.#active,
      count: this.#found.length,
      number,
      id: `${this.id}-${index}`,
    });
  }

  #showCopyMessage(message) {
    setText(this.count, message);
    setText(this.status, message);
    setTimeout(() => this.#showCounts(), 1_500);
  }

  #moveTo(number) {
    const before = this.#active;
    this.#active = number;
    this.#isReached = true;
    this.rows.scrollTo(number);
    this.rows.refresh(before, before + 1);
    this.rows.refresh(number, number + 1);
    this.#showActive();
  }

  #toggle(number) {
    const index = this.#found[number];
    if (this.#selectedIndices.has(index)) this.#remove((key) => key === this.#options.key(index));
    else this.#add([index]);
  }

  #remove(isGone) {
    this.choose(this.values.filter((value) => !isGone(keyOf(value))));
  }

  #toggleFound() {
    const found = new Set(this.#found.map((index) => this.#options.key(index)));
    const areChosen = this.#found.every((index) => this.#selectedIndices.has(index));
    if (areChosen) this.#remove((key) => found.has(key));
    else this.#add(this.#found);
  }

  #add(indices) {
    const added = indices.filter((index) => !this.#selectedIndices.has(index));
    this.choose([...this.values, ...added.map((index) => this.#options.value(index))]);
  }

  /** Select the options in a pasted list. Wallet pickers replace this method. */
  handlePastedList(text) {
    const { indices, unknown } = this.#options.indicesInList(text);
    this.#pasteMessage = unknownLinesText(unknown);
    this.#clearText();
    this.#add(indices);
  }

  #clearText() {
    this.search.value = "";
    this.#find();
  }

  #handleKey(event) {
    if (event.isComposing) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "c") this.#copyActive();
      return;
    }
    const row = event.shiftKey ? null : rowAfterKey(event.key, this.#active, this.#found.length);
    if (row !== null && (this.#isReached || !["Home", "End"].includes(event.key)))
      this.#moveTo(row);
    else if (!this.#handleOtherKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Handle a key that keeps the active row. Return whether the key had an effect. */
  #handleOtherKey({ key, repeat }) {
    const { value } = this.search;
    if (key === "Enter") this.#enter();
    else if (key === "Backspace" && value === "" && !repeat) this.choose(this.values.slice(0, -1));
    else if (key === "Escape" && (value || this.#active >= 0)) this.#clearText();
    else return false;
    return true;
  }

  /** Select or remove the active option. Clear the search if typing made the option active. */
  #enter() {
    if (this.#active < 0) return;
    this.#toggle(this.#active);
    if (!this.#isReached) this.#clearText();
  }

  async #copyActive() {
    const { selectionStart, selectionEnd } = this.search;
    if (selectionStart !== selectionEnd || this.#active < 0) return;
    const fullText = this.#options.fullText(this.#found[this.#active]);
    this.#showCopyMessage(await copyText(fullText, shortenAddress(fullText)));
  }
}
