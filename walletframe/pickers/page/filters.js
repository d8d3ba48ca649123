// The explorer's filters: buttons that count options and open pickers.

import { button, element, setProp, setText, uniqueId } from "./elements.js";
import { Picker } from "./picker.js";

/** Return the number of selected or available options as text. */
function filterCountText({ all, remaining, chosen }) {
  const format = (number) => number.toLocaleString("en");
  if (chosen > 0) return format(chosen);
  return remaining === all ? format(all) : `${format(remaining)} of ${format(all)}`;
}

class Filter {
  values = [];
  #counts = { all: 0, remaining: 0 };

  constructor(kind, title, { kernel, signal, choose, onToggle }) {
    Object.assign(this, { kind, title, kernel, signal, onToggle });
    this.choose = (values) => {
      this.show(values);
      choose(kind, values);
    };
    const id = uniqueId();
    this.countText = element("span", { class: "wf-filter-said" });
    this.button = button(title, () => this.toggle(!this.isOpen), {
      class: "wf-button wf-filter",
      "aria-expanded": "false",
      "aria-controls": id,
    });
    this.word = element("span", { class: "wf-filter-said wf-filter-word" }, " selected");
    this.button.append(this.countText, this.word);
    this.panel = element("div", { id, hidden: true });
    this.panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return; // the picker stops its own uses of Escape
      this.toggle(false);
      this.button.focus();
    });
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  toggle(isOpen) {
    this.panel.hidden = !isOpen;
    setProp(this.button, "aria-expanded", String(isOpen));
    if (isOpen && !this.picker) this.#makePicker();
    this.onToggle(this);
    if (isOpen) this.picker.search.focus({ preventScroll: true });
  }

  #makePicker() {
    const { panel: root, choose, signal } = this;
    this.picker = new Picker({ root, request: () => this.#requestOptions(), choose, signal });
    this.picker.rename(this.title);
    this.picker.load();
    this.picker.show(this.values);
  }

  async #requestOptions() {
    const answer = await this.kernel.request(`options ${this.kind}`);
    const { activeElement } = this.button.getRootNode();
    if (activeElement === this.button) setTimeout(() => this.picker.search.focus(), 0);
    return answer;
  }

  show(values) {
    if (JSON.stringify(values) !== JSON.stringify(this.values)) {
      this.values = values;
      this.picker?.show(values);
    }
    this.#showCount();
  }

  showCounts(counts) {
    this.#counts = counts;
    this.button.hidden = counts.all === 0;
    this.#showCount();
  }

  #showCount() {
    const chosen = this.values.length;
    setText(this.countText, filterCountText({ ...this.#counts, chosen }));
    this.word.hidden = chosen === 0;
    this.button.classList.toggle("wf-filter-on", chosen > 0);
  }
}

export class Filters {
  #dataId = null;

  constructor({ kernel, titles, choose, signal }) {
    this.kernel = kernel;
    const options = { kernel, signal, choose, onToggle: (filter) => this.#closeOthers(filter) };
    this.all = Object.entries(titles).map(([kind, title]) => new Filter(kind, title, options));
    this.buttons = element(
      "div",
      { class: "wf-filters", role: "group", "aria-label": "Filters" },
      ...this.all.map((filter) => filter.button),
    );
    const panels = this.all.map((filter) => filter.panel);
    this.panels = element("div", { class: "wf-filter-places" }, ...panels);
    this.panels.hidden = true;
  }

  /** Show the selected values of each filter. A new id of the data reloads all options. */
  show(chosen, dataId) {
    for (const filter of this.all) filter.show(chosen[filter.kind]);
    if (this.#dataId !== null && this.#dataId !== dataId) {
      for (const { picker } of this.all) picker?.load();
    }
    this.#dataId = dataId;
  }

  /** Request the remaining options, which match the selection in the other filters. */
  async narrow() {
    const open = this.all.filter(({ picker }) => picker).map(({ kind }) => kind);
    const answer = await this.kernel.request("remaining", { open });
    if (!answer) return;
    for (const filter of this.all) {
      filter.showCounts(answer.content.counts[filter.kind]);
      const remaining = answer.content.options[filter.kind];
      if (remaining) filter.picker.narrow(remaining);
    }
  }

  #closeOthers(opened) {
    for (const filter of this.all) {
      if (filter !== opened && opened.isOpen && filter.isOpen) filter.toggle(false);
    }
    this.panels.hidden = !this.all.some(({ isOpen }) => isOpen);
  }
}
