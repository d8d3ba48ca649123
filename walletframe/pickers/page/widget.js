// What all of our widgets have: a root that bears the theme, a line for errors, and one to Python.

import { element, setText } from "./elements.js";

/** A widget's line to Python: a request `{kind, n, …}` has an answer of its kind and number. */
export class Kernel {
  // Two pages may show one widget of one kernel, and both hear every answer.
  #number = Math.floor(Math.random() * 2 ** 40);
  #asked = new Map();
  #heard = new Map();

  constructor(model, signal) {
    this.model = model;
    const take = (content, buffers) => this.#take(content, buffers ?? []);
    model.on("msg:custom", take);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", take);
      for (const { settle } of this.#asked.values()) settle(null);
      this.#asked.clear();
    });
  }

  /**
   * Ask something, and forget what was asked of the same kind before.
   *
   * @returns {Promise<{content: any, buffers: DataView[]} | null>} null where a newer request came,
   *   or Python could not answer, which it shows in the widget's line of errors
   */
  ask(kind, said = {}) {
    this.#asked.get(kind)?.settle(null);
    this.#number += 1;
    const number = this.#number;
    return new Promise((settle) => {
      this.#asked.set(kind, { number, settle });
      this.model.send({ ...said, kind, n: number });
    });
  }

  /** Tell whether a question of a kind is still open. */
  isAsked(kind) {
    return this.#asked.has(kind);
  }

  /** Tell Python something that needs no answer. */
  tell(kind, said = {}) {
    this.model.send({ ...said, kind });
  }

  /** Call something with (content, buffers) whenever Python tells of a kind unasked. */
  hear(kind, call) {
    this.#heard.set(kind, call);
  }

  #take(content, buffers) {
    if (content.n === undefined) {
      this.#heard.get(content.kind)?.(content, buffers);
      return;
    }
    const asked = this.#asked.get(content.kind);
    if (asked?.number !== content.n) return;
    this.#asked.delete(content.kind);
    asked.settle(content.failed ? null : { content, buffers });
  }
}

/**
 * Make of a function what anywidget wants of a module.
 *
 * @param {(part: {model: any, root: HTMLElement, kernel: Kernel, signal: AbortSignal}) => Element | void} show
 *   fills the root, and may return what is to hold the line for errors; `signal` says when the
 *   widget leaves the page
 */
export function widget(show) {
  return {
    render({ model, el }) {
      const ended = new AbortController();
      const root = element("div", { class: "wf" });
      const kernel = new Kernel(model, ended.signal);
      const place = show({ model, root, kernel, signal: ended.signal }) ?? root;
      place.append(alertLine(model, ended.signal));
      el.append(root);
      return () => {
        ended.abort();
        root.remove();
      };
    },
  };
}

/** Follow a trait until the signal; the call comes once at first. */
export function follow(model, trait, call, signal) {
  const tell = () => call(model.get(trait));
  model.on(`change:${trait}`, tell);
  signal.addEventListener("abort", () => model.off(`change:${trait}`, tell));
  tell();
}

function alertLine(model, signal) {
  const line = element("div", { class: "wf-alert", role: "alert" });
  const show = (text) => {
    setText(line, text);
    line.hidden = !text;
  };
  follow(model, "_alert", show, signal);
  return line;
}
