// The explorer's filters: each is a button that shows the number of options and opens a picker.

import { button, element, setPart, setText, uniqueId } from "./elements.js";
import { Picker } from "./picker.js";

/** Return the text of a filter's button: the number of selected or available options. */
export function filterText({ all, here, chosen }) {
  const count = (number) => number.toLocaleString("en");
  if (chosen > 0) return `${count(chosen)} selected`;
  return here === all ? count(all) : `${count(here)} of ${count(all)}`;
}

class Filter {
  values = [];
  #counts = { all: 0, here: 0 };

  constructor(of, title, { kernel, signal, choose, toggled }) {
    Object.assign(this, { of, title, kernel, signal, toggled });
    this.choose = (values) => {
      this.show(values);
      choose(of, values);
    };
    const id = uniqueId();
    this.said = element("span", { class: "wf-filter-said" });
    this.button = button(title, () => this.open(!this.isOpen), {
      class: "wf-button wf-filter",
      "aria-expanded": "false",
      "aria-controls": id,
    });
    this.button.append(this.said);
    this.place = element("div", { id, hidden: true });
    this.place.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return; // the picker has handled all other uses of Escape
      this.open(false);
      this.button.focus();
    });
  }

  get isOpen() {
    return !this.place.hidden;
  }

  open(isOpen) {
    this.place.hidden = !isOpen;
    setPart(this.button, "aria-expanded", String(isOpen));
    if (isOpen && !this.picker) this.#makePicker();
    this.toggled(this);
    if (isOpen) this.picker.search.focus({ preventScroll: true });
  }

  #makePicker() {
    const { place: root, choose, signal } = this;
    this.picker = new Picker({ root, ask: () => this.#ask(), choose, signal });
    this.picker.rename(this.title);
    this.picker.load();
    this.picker.show(this.values);
  }

  async #ask() {
    const answer = await this.kernel.ask(`options ${this.of}`);
    const { activeElement } = this.button.getRootNode();
    if (activeElement === this.button) setTimeout(() => this.picker.search.focus(), 0);
    return answer;
  }

  show(values) {
    if (JSON.stringify(values) !== JSON.stringify(this.values)) {
      this.values = values;
      this.picker?.show(values);
    }
    this.#say();
  }

  count(counts) {
    this.#counts = counts;
    this.button.hidden = counts.all === 0;
    this.#say();
  }

  #say() {
    const chosen = this.values.length;
    setText(this.said, filterText({ ...this.#counts, chosen }));
    this.button.classList.toggle("wf-filter-on", chosen > 0);
  }
}

export class Filters {
  #offered = null;

  constructor({ kernel, titles, choose, signal }) {
    this.kernel = kernel;
    const given = { kernel, signal, choose, toggled: (filter) => this.#toggled(filter) };
    this.all = Object.entries(titles).map(([of, title]) => new Filter(of, title, given));
    this.buttons = element(
      "div",
      { class: "wf-filters", role: "group", "aria-label": "Filters" },
      ...this.all.map((filter) => filter.button),
    );
    this.places = element("div", { class: "wf-filter-places" }, ...this.all.map((e) => e.place));
    this.places.hidden = true;
  }

  /** Show the selected values of each filter. If the options have changed, load them again. */
  show(chosen, offered) {
    for (const filter of this.all) filter.show(chosen[filter.of]);
    if (this.#offered !== null && this.#offered !== offered) {
      for (const { picker } of this.all) picker?.load();
    }
    this.#offered = offered;
  }

  /** Request the options of each filter that match the selection in the other filters. */
  async narrow() {
    const open = this.all.filter(({ picker }) => picker).map(({ of }) => of);
    const answer = await this.kernel.ask("remaining", { of: open });
    if (!answer) return;
    for (const filter of this.all) {
      filter.count(answer.content.counts[filter.of]);
      const here = answer.content.of[filter.of];
      if (here) filter.picker.narrow(here);
    }
  }

  #toggled(opened) {
    for (const filter of this.all) {
      if (filter !== opened && opened.isOpen && filter.isOpen) filter.open(false);
    }
    this.places.hidden = !this.all.some(({ isOpen }) => isOpen);
  }
}
