// The common parts of all widgets: a root element with the theme, an error line, and messages.

import { element, setText } from "./elements.js";

/** The messages of a widget. An answer has the kind and the request id `n` of the request. */
export class Kernel {
  // The first id is random, since two front ends can show the same widget and get all answers.
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
   * Send a request, and drop an earlier request of the same kind.
   *
   * @returns {Promise<{content: any, buffers: DataView[]} | null>} null if a newer
   *   request replaced this one, or if Python failed, which it shows in the widget's error line
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

  /** Return whether a request of a kind is pending. */
  isAsked(kind) {
    return this.#asked.has(kind);
  }

  /** Send Python a message that needs no answer. */
  tell(kind, said = {}) {
    this.model.send({ ...said, kind });
  }

  /** Call a function with (content, buffers) for each message of a kind that is not an answer. */
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
 * Return the default export that anywidget requires, made from a function.
 *
 * @param {(part: {model: any, root: HTMLElement, kernel: Kernel, signal: AbortSignal}) => Element | void} show
 *   fills the root, and may return the element for the error line; `signal` aborts when the
 *   widget is removed from the page
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

/** Call a function with the value of a trait, now and after each change. */
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
