// The picker: a search field, a list of options, and a button for each selected option.

import { copyText, setPart, setText, shortened, uniqueId } from "./elements.js";
import { rowAfter } from "./keyboard.js";
import { findPlaces, keyOf, NO_OPTIONS, Options } from "./options.js";
import {
  allText,
  Chips,
  countText,
  drawOption,
  emptyText,
  FLAT,
  listText,
  nameFrame,
  onList,
  optionRow,
  pickerFrame,
  statusText,
  TALL,
} from "./pickerparts.js";
import { VirtualRows } from "./virtual.js";

const SEEN_ROWS = 7.5; // the half row shows that the list can be scrolled
const SLOW_MS = 600;
const LOST_MS = 15_000;
const READ_OUT_MS = 500; // delay before screen readers read the result of a search

export class Picker {
  values = []; // the selected values
  #options = new Options(NO_OPTIONS);
  #chosen = new Set(); // the keys of the selected values
  #marked = new Set(); // the positions of the selected options
  #found = [];
  #active = -1; // the active row among the found options
  #reached = false; // whether arrow keys or the mouse, not typing, made the row active
  #chosenAlone = false;
  #loading = false;
  #unnamed = ""; // a message about the last pasted list

  /**
   * @param {object} given
   * @param {() => Promise<{content: any} | null>} given.ask requests the options
   * @param {(values: any[]) => void} given.choose called with a new selection; must call `show`
   * @param {boolean} [given.pastes] whether there is a field for pasted values
   * @param {AbortSignal} given.signal
   */
  constructor({ root, ask, choose, pastes = false, signal }) {
    Object.assign(this, { ask, choose, pastes, id: uniqueId() });
    this.chips = new Chips({
      remove: (key) => this.#remove((each) => each === key),
      removeAll: () => this.choose([]),
      toggleChosen: () => this.#showChosenAlone(!this.#chosenAlone),
      orElse: () => this.search,
    });
    Object.assign(this, pickerFrame(this.id, this.chips.root));
    this.rows = new VirtualRows(this.list, {
      height: TALL,
      make: () => this.#makeRow(),
      draw: (row, number) => this.#drawRow(row, number),
      signal,
    });
    this.search.oninput = () => this.#find();
    this.search.onkeydown = (event) => this.#press(event);
    onList(this.search, (text) => this.takeList(text));
    this.list.onmousedown = (event) => {
      event.preventDefault(); // the search field keeps the focus
      this.search.focus({ preventScroll: true });
    };
    this.all.onclick = () => this.#chooseFound();
    root.append(this.box);
  }

  rename(text) {
    nameFrame(this, text);
  }

  /** Show the selected values. If a value is not an option, load the options again. */
  show(values) {
    this.values = values;
    this.#mark();
    if (this.#marked.size < this.#chosen.size && !this.#loading) this.load();
  }

  /** Request the options from Python and show them. */
  async load() {
    const timers = [
      setTimeout(() => this.#say("Waiting for the kernel …"), SLOW_MS),
      setTimeout(() => this.#say("The kernel does not answer. Run the cell again."), LOST_MS),
    ];
    this.#loading = true;
    const answer = await this.ask();
    timers.forEach((timer) => clearTimeout(timer));
    if (!answer) return;
    this.#loading = false;
    this.#options = new Options(answer.content);
    this.rows.height = this.#options.arePlaced ? TALL : FLAT;
    this.box.classList.toggle("wf-flat", !this.#options.arePlaced);
    this.search.placeholder = answer.content.hint;
    setText(this.sorted, answer.content.sorted && `by ${answer.content.sorted}`);
    this.#mark();
    this.#find();
    setTimeout(() => this.#options.prepare(), 100); // so that the first key press is fast
  }

  /** Show only the options that match the selection in the other pickers. */
  narrow(here) {
    if (this.#loading) return; // the pending answer contains these options
    this.#options.narrow(here);
    this.#find({ stay: true });
  }

  #say(text) {
    setText(this.note, text);
    this.note.hidden = !text;
  }

  #mark() {
    this.#chosen = new Set(this.values.map(keyOf));
    this.#marked = this.#options.placesOf(this.#chosen);
    if (this.#chosenAlone) return this.#showChosenAlone(this.#chosen.size > 0);
    this.#showChips();
    this.rows.refresh();
    this.#showCounts();
  }

  #showChips() {
    const first = [...this.#chosen].slice(0, 8).map((key) => {
      const place = this.#options.placeOf(key);
      const known = place !== undefined;
      const written = [JSON.parse(key)].flat().filter(Boolean).join(" ");
      return {
        key,
        short: known ? this.#options.short(place) : shortened(written),
        label: known ? this.#options.label(place) : written,
        here: !known || this.#options.remains(place),
      };
    });
    this.chips.show(first, this.#chosen.size, this.#chosenAlone);
  }

  #showChosenAlone(alone) {
    this.#chosenAlone = alone;
    this.#find();
  }

  /** Show the options that match the search. `stay` keeps the active row and scroll position. */
  #find({ stay = false } = {}) {
    const typed = this.search.value.trim();
    const among = this.#chosenAlone ? [...this.#marked] : this.#options.here;
    const [before, scrolled] = [this.#found[this.#active], this.list.scrollTop];
    this.#found = typed ? findPlaces(this.#options.haystacks, among, typed) : among;
    this.#reached &&= stay && this.#found.includes(before);
    const first = (place) => (this.#reached ? place === before : typed && !this.#marked.has(place));
    this.#active = this.#found.findIndex(first);
    this.list.style.height = `${Math.min(SEEN_ROWS, among.length) * this.rows.height}px`;
    this.rows.count = this.#found.length;
    this.list.scrollTop = stay ? scrolled : 0;
    if (this.#active >= 0 && !stay) this.rows.show(this.#active);
    const counts = [this.#found.length, among.length, this.#options.count];
    this.#say(emptyText(typed, counts, this.#unnamed));
    this.#showActive();
    this.#showCounts();
    this.#showChips();
  }

  #showActive() {
    const row = this.#active < 0 ? null : this.rows.row(this.#active);
    setPart(this.search, "aria-activedescendant", row?.id);
  }

  #showCounts() {
    const [all, here] = [this.#options.count, this.#options.here.length];
    this.list.hidden = this.search.hidden = this.foot.hidden = this.count.hidden = all === 0;
    this.field.hidden = all + this.#chosen.size === 0 && this.pastes;
    const found = this.#found.length;
    const unchosen = this.#found.filter((place) => !this.#marked.has(place)).length;
    const typed = this.search.value.trim();
    const first = typed && !this.#reached && this.#active >= 0 ? this.#found[this.#active] : null;
    const counts = { typed, found, here, all, unchosen, chosen: this.#chosen.size };
    setText(this.count, countText(counts));
    setText(this.all, allText(counts));
    this.all.hidden = !this.all.textContent;
    clearTimeout(this.pause);
    const enter = first === null ? "" : this.#options.short(first);
    this.pause = setTimeout(
      () => setText(this.status, statusText({ ...counts, enter })),
      READ_OUT_MS,
    );
  }

  #makeRow() {
    const row = optionRow((said) => this.#tellCopied(said));
    row.addEventListener("click", () => {
      this.#reach(row.number);
      this.#toggle(row.number);
    });
    return row;
  }

  #drawRow(row, number) {
    const place = this.#found[number];
    row.number = number;
    drawOption(row, this.#options, place, {
      selected: this.#marked.has(place),
      active: number === this.#active,
      count: this.#found.length,
      number,
      id: `${this.id}-${place}`,
    });
  }

  #tellCopied(said) {
    setText(this.count, said);
    setText(this.status, said);
    setTimeout(() => this.#showCounts(), 1_500);
  }

  #reach(number) {
    const before = this.#active;
    this.#active = number;
    this.#reached = true;
    this.rows.show(number);
    this.rows.refresh(before, before + 1);
    this.rows.refresh(number, number + 1);
    this.#showActive();
  }

  #toggle(number) {
    const place = this.#found[number];
    if (this.#marked.has(place)) this.#remove((key) => key === this.#options.key(place));
    else this.#add([place]);
  }

  #remove(isGone) {
    this.choose(this.values.filter((value) => !isGone(keyOf(value))));
  }

  /** Select all found options, or remove them if all of them are selected. */
  #chooseFound() {
    const found = new Set(this.#found.map((place) => this.#options.key(place)));
    const areChosen = this.#found.every((place) => this.#marked.has(place));
    if (areChosen) this.#remove((key) => found.has(key));
    else this.#add(this.#found);
  }

  #add(places) {
    const added = places.filter((place) => !this.#marked.has(place));
    this.choose([...this.values, ...added.map((place) => this.#options.value(place))]);
  }

  /** Select the options that a pasted list names. A field for pasted wallets takes it instead. */
  takeList(text) {
    const { places, unnamed } = this.#options.namedIn(text);
    this.#unnamed = listText(unnamed);
    this.#clearText();
    this.#add(places);
  }

  #clearText() {
    this.search.value = "";
    this.#find();
  }

  #press(event) {
    if (event.isComposing) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "c") this.#copyActive();
      return;
    }
    const row = event.shiftKey ? null : rowAfter(event.key, this.#active, this.#found.length);
    if (row !== null && (this.#reached || !["Home", "End"].includes(event.key))) this.#reach(row);
    else if (!this.#pressOther(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Handle a key that does not change the active row. Return whether the key had an effect. */
  #pressOther({ key, repeat }) {
    const { value } = this.search;
    if (key === "Enter") this.#enter();
    else if (key === "Backspace" && value === "" && !repeat) this.choose(this.values.slice(0, -1));
    else if (key === "Escape" && (value || this.#active >= 0)) this.#clearText();
    else return false;
    return true;
  }

  /** Select or remove the active option. If the search made it active, clear the search. */
  #enter() {
    if (this.#active < 0) return;
    this.#toggle(this.#active);
    if (!this.#reached) this.#clearText();
  }

  async #copyActive() {
    const { selectionStart, selectionEnd } = this.search;
    if (selectionStart !== selectionEnd || this.#active < 0) return;
    const whole = this.#options.whole(this.#found[this.#active]);
    this.#tellCopied(await copyText(whole, shortened(whole)));
  }
}
