// The explorer's pickers: each a button that says what is chosen, and opens the list.

import { element, OWN_KEYS, setPart, setText, uniqueId } from "./elements.js";
import { Picker } from "./picker.js";

/** What a picker needs of a model, where its widget has no such traits. */
class PartModel {
  #calls = new Map();

  constructor(state, choose) {
    Object.assign(this, { state, choose });
  }

  get(name) {
    return this.state[name];
  }

  set(name, value) {
    this.state[name] = value;
    for (const call of this.#calls.get(`change:${name}`) ?? []) call();
  }

  save_changes() {
    this.choose(this.state.value);
  }

  on(name, call) {
    this.#calls.set(name, [...(this.#calls.get(name) ?? []), call]);
  }

  off(name, call) {
    const calls = this.#calls.get(name) ?? [];
    this.#calls.set(
      name,
      calls.filter((each) => each !== call),
    );
  }
}

/** Say what a filter lets through. */
export function filterText({ all, here, chosen }) {
  const count = (number) => number.toLocaleString("en");
  if (chosen > 0) return `${count(chosen)} chosen`;
  return here === all ? `all ${count(all)}` : `${count(here)} of ${count(all)} here`;
}

class Filter {
  narrowed = () => {};
  #counts = { all: 0, here: 0 };

  constructor({ of, title, hint }, { kernel, signal, choose, toggled }) {
    Object.assign(this, { of, kernel, signal, toggled, id: uniqueId() });
    const state = { description: title, value: [], _hint: hint, _pastes: false, _offers: 0 };
    this.model = new PartModel(state, (values) => choose(of, values));
    this.said = element("span", { class: "wf-filter-said" });
    this.button = element(
      "button",
      {
        ...OWN_KEYS,
        class: "wf-button wf-filter",
        type: "button",
        "aria-expanded": "false",
        "aria-controls": this.id,
        onclick: () => this.open(this.place.hidden),
      },
      element("span", {}, title),
      this.said,
    );
    this.place = element("div", { class: "wf-filter-place", id: this.id });
    this.place.hidden = true;
    this.place.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return; // the picker had no use for it
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
    if (isOpen && !this.picker) {
      const { model, place: root, signal } = this;
      const ask = () => this.#ask();
      const kernel = { ask, hear: (_kind, call) => (this.narrowed = call), tell: () => {} };
      this.picker = new Picker({ model, root, kernel, signal });
    }
    this.toggled(this);
    if (isOpen) this.picker.search.focus({ preventScroll: true });
  }

  async #ask() {
    const answer = await this.kernel.ask(`options ${this.of}`);
    const { activeElement } = this.button.getRootNode();
    if (activeElement === this.button) setTimeout(() => this.picker.search.focus(), 0);
    return answer;
  }

  show(values) {
    if (JSON.stringify(values) !== JSON.stringify(this.model.get("value"))) {
      this.model.set("value", values);
    }
    this.#say();
  }

  count(counts) {
    this.#counts = counts;
    this.button.hidden = counts.all === 0;
    this.#say();
  }

  #say() {
    const chosen = this.model.get("value").length;
    setText(this.said, filterText({ ...this.#counts, chosen }));
    this.button.classList.toggle("wf-filter-on", chosen > 0);
  }
}

export class Filters {
  #offered = null;

  /**
   * @param {object} given
   * @param {any} given.kernel answers `options …` and `here`
   * @param {{of: string, title: string, hint: string}[]} given.kinds
   * @param {(of: string, values: any[]) => void} given.choose
   * @param {AbortSignal} given.signal
   */
  constructor({ kernel, kinds, choose, signal }) {
    this.kernel = kernel;
    const given = { kernel, signal, choose, toggled: (filter) => this.#toggled(filter) };
    this.all = kinds.map((kind) => new Filter(kind, given));
    this.buttons = element(
      "div",
      { class: "wf-filters", role: "group", "aria-label": "Pick" },
      ...this.all.map(({ button }) => button),
    );
    this.places = element("div", { class: "wf-filter-places" }, ...this.all.map((e) => e.place));
    this.places.hidden = true;
  }

  /** Show what is chosen of each; what is offered anew is asked for. */
  show(chosen, offered) {
    for (const filter of this.all) filter.show(chosen[filter.of]);
    if (this.#offered !== null && this.#offered !== offered) {
      for (const { model } of this.all) model.set("_offers", model.get("_offers") + 1);
    }
    this.#offered = offered;
  }

  /** Ask what remains of each beside what is chosen of the others. */
  async narrow() {
    const open = this.all.filter(({ picker }) => picker).map(({ of }) => of);
    const answer = await this.kernel.ask("here", { of: open });
    if (!answer) return;
    for (const filter of this.all) {
      filter.count(answer.content.counts[filter.of]);
      const here = answer.content.of[filter.of];
      if (here) filter.narrowed({ here });
    }
  }

  #toggled(opened) {
    for (const filter of this.all) {
      if (filter !== opened && opened.isOpen && filter.isOpen) filter.open(false);
    }
    this.places.hidden = !this.all.some(({ isOpen }) => isOpen);
  }
}
