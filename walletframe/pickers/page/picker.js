// The picker: a line to search, a list to choose from, and buttons for what is chosen.

import { Chips } from "./chips.js";
import { copyText, setPart, setText, shortened, uniqueId } from "./elements.js";
import { nameFrame, pickerFrame } from "./frame.js";
import { rowAfter } from "./keyboard.js";
import { drawOption, FLAT, optionRow, TALL } from "./option.js";
import { keyOf, NO_OPTIONS, Options } from "./options.js";
import { pasteField } from "./paste.js";
import { findPlaces } from "./search.js";
import { VirtualRows } from "./virtual.js";
import { follow } from "./widget.js";
import { allText, countText, statusText } from "./wording.js";

const SEEN_ROWS = 7.5; // half a row says that there are more
const SLOW_MS = 600;
const LOST_MS = 15_000;
const PREPARE_MS = 100;
const READ_OUT_MS = 500; // until what was found is read out

/** A picker in a root, for a model with the traits of `Chooser` and a line to what answers it. */
export class Picker {
  #options = new Options(NO_OPTIONS);
  #chosen = new Set(); // keys
  #marked = new Set(); // their places
  #found = [];
  #active = -1; // a row of what was found
  #reached = false; // by the arrow keys or the mouse, not by typing
  #chosenAlone = false;
  #asking = false;

  constructor({ model, root, kernel, signal }) {
    Object.assign(this, { model, kernel, signal, id: uniqueId() });
    this.chips = new Chips({
      remove: (key) => this.#remove((each) => each === key),
      removeAll: () => this.#remove(() => true),
      toggleChosen: () => this.#showChosenAlone(!this.#chosenAlone),
      orElse: () => this.search,
    });
    Object.assign(this, pickerFrame(this.id, this.chips.root, model.get("_hint")));
    this.rows = new VirtualRows(this.list, {
      height: TALL,
      make: () => this.#makeRow(),
      draw: (row, number) => this.#drawRow(row, number),
      signal,
    });
    root.append(this.box);
    this.#listen();
  }

  #listen() {
    const { model, kernel, signal, search } = this;
    search.addEventListener("input", () => this.#find());
    search.addEventListener("keydown", (event) => this.#press(event));
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the line keeps the keyboard
      search.focus({ preventScroll: true });
    });
    this.all.addEventListener("click", () => this.#chooseFound());
    if (model.get("_pastes")) this.box.append(pasteField(model, kernel, search, signal));
    follow(model, "description", (text) => nameFrame(this, text), signal);
    follow(model, "value", () => this.#take({ again: true }), signal);
    follow(model, "_offers", () => this.#ask(), signal);
    kernel.hear("narrowed", ({ here }) => {
      if (this.#asking) return; // the answer will say it, too
      this.#options.narrow(here);
      this.#find({ stay: true });
    });
  }

  async #ask() {
    const told = [
      setTimeout(() => this.#say("Asking the kernel …"), SLOW_MS),
      setTimeout(() => this.#say("No answer from the kernel: run the cell again."), LOST_MS),
    ];
    this.#asking = true;
    const answer = await this.kernel.ask("options");
    told.forEach((timer) => clearTimeout(timer));
    if (!answer) return;
    this.#asking = false;
    this.#options = new Options(answer.content);
    this.rows.height = this.#options.arePlaced ? TALL : FLAT;
    this.box.classList.toggle("wf-flat", !this.#options.arePlaced);
    setText(this.sorted, answer.content.sorted && `by ${answer.content.sorted}`);
    this.#take();
    this.#find();
    setTimeout(() => this.#options.prepare(), PREPARE_MS); // or the first key would wait for it
  }

  #say(text) {
    setText(this.note, text);
    this.note.hidden = !text;
  }

  /** Follow what is chosen; what is not among the options was perhaps added to them by Python. */
  #take({ again = false } = {}) {
    this.#chosen = new Set(this.model.get("value").map(keyOf));
    const places = [...this.#chosen].map((key) => this.#options.placeOf(key));
    this.#marked = new Set(places.filter((place) => place !== undefined));
    if (again && this.#marked.size < this.#chosen.size && !this.#asking) this.#ask();
    if (this.#chosenAlone) {
      this.#showChosenAlone(this.#chosen.size > 0);
      return;
    }
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

  /** Show what the words find; where Python changed what there is, stay at the marked row. */
  #find({ stay = false } = {}) {
    const typed = this.search.value.trim();
    const among = this.#chosenAlone ? [...this.#marked] : this.#options.here;
    const [before, scrolled] = [this.#found[this.#active], this.list.scrollTop];
    this.#found = typed ? findPlaces(this.#options.haystacks, among, typed) : among;
    this.#reached &&= stay && this.#found.includes(before);
    const first = (place) => (this.#reached ? place === before : typed && !this.#isChosen(place));
    this.#active = this.#found.findIndex(first);
    this.list.style.height = `${Math.min(SEEN_ROWS, among.length) * this.rows.height}px`;
    this.rows.count = this.#found.length;
    this.list.scrollTop = stay ? scrolled : 0;
    if (this.#active >= 0 && !stay) this.rows.show(this.#active);
    this.#say(this.#emptyText(typed, among.length));
    this.#showActive();
    this.#showCounts();
    this.#showChips();
  }

  #emptyText(typed, count) {
    if (this.#found.length > 0) return "";
    if (typed && count > 0) return "Nothing matches. Esc takes the words away.";
    return this.#options.count > 0
      ? "The other pickers leave nothing here."
      : "Nothing to choose from.";
  }

  #isChosen(place) {
    return this.#marked.has(place);
  }

  #showActive() {
    const row = this.#active < 0 ? null : this.rows.row(this.#active);
    setPart(this.search, "aria-activedescendant", row?.id);
  }

  #showCounts() {
    const [all, here] = [this.#options.count, this.#options.here.length];
    this.list.hidden = this.search.hidden = this.foot.hidden = this.count.hidden = all === 0;
    this.field.hidden = all + this.#chosen.size === 0 && this.model.get("_pastes") === true;
    const found = this.#found.length;
    const unchosen = this.#found.filter((place) => !this.#isChosen(place)).length;
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
    const row = optionRow((whole, copied) => this.#tellCopied(whole, copied));
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
      selected: this.#isChosen(place),
      active: number === this.#active,
      count: this.#found.length,
      number,
      id: `${this.id}-${place}`,
    });
  }

  #tellCopied(whole, copied) {
    const said = copied ? `Copied ${shortened(whole)}` : "The page may not copy";
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
    if (this.#isChosen(place)) this.#remove((key) => key === this.#options.key(place));
    else this.#set([...this.model.get("value"), this.#options.value(place)]);
  }

  #remove(isGone) {
    this.#set(this.model.get("value").filter((value) => !isGone(keyOf(value))));
  }

  #set(values) {
    this.model.set("value", values);
    this.model.save_changes();
  }

  /** Choose all that was found; where all of it is chosen, none. */
  #chooseFound() {
    const unchosen = this.#found.filter((place) => !this.#isChosen(place));
    const found = new Set(this.#found.map((place) => this.#options.key(place)));
    if (unchosen.length === 0) this.#remove((key) => found.has(key));
    else
      this.#set([...this.model.get("value"), ...unchosen.map((each) => this.#options.value(each))]);
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

  /** Do what a key does beside moving; tell whether it did something. */
  #pressOther({ key, repeat }) {
    const { value } = this.search;
    if (key === "Enter") this.#enter();
    else if (key === "Backspace" && value === "" && !repeat) this.#removeLast();
    else if (key === "Escape" && (value || this.#active >= 0)) this.#clearText();
    else return false;
    return true;
  }

  /** Choose what is marked; what typing alone found is chosen, and another search begins. */
  #enter() {
    if (this.#active < 0) return;
    this.#toggle(this.#active);
    if (!this.#reached) this.#clearText();
  }

  #removeLast() {
    this.#set(this.model.get("value").slice(0, -1));
  }

  async #copyActive() {
    const { selectionStart, selectionEnd } = this.search;
    if (selectionStart !== selectionEnd || this.#active < 0) return;
    const whole = this.#options.whole(this.#found[this.#active]);
    this.#tellCopied(whole, await copyText(whole));
  }
}
