// The base of all widgets: a root element with the theme, an error line, and messages.

import { element, setText } from "./elements.js";

/** The messages of a widget. Answers repeat the kind and the id `n` of their request. */
export class Kernel {
  // The first id is random, because all front ends of a widget receive all answers.
  #number = Math.floor(Math.random() * 2 ** 40);
  #pending = new Map();
  #listeners = new Map();

  constructor(model, signal) {
    this.model = model;
    const receive = (content, buffers) => this.#receive(content, buffers ?? []);
    model.on("msg:custom", receive);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", receive);
      for (const { settle } of this.#pending.values()) settle(null);
      this.#pending.clear();
    });
  }

  /**
   * Send a request, and drop an earlier request of the same kind.
   *
   * @returns {Promise<{content: any, buffers: DataView[]} | null>} null after a newer request of
   *   this kind, or after an error, which Python shows
   */
  request(kind, fields = {}) {
    this.#pending.get(kind)?.settle(null);
    this.#number += 1;
    const number = this.#number;
    return new Promise((settle) => {
      this.#pending.set(kind, { number, settle });
      this.model.send({ ...fields, kind, n: number });
    });
  }

  isPending(kind) {
    return this.#pending.has(kind);
  }

  /** Send a message without waiting for an answer. */
  send(kind, fields = {}) {
    this.model.send({ ...fields, kind });
  }

  /** Call a function with (content, buffers) for each message of a kind, except answers. */
  onMessage(kind, listener) {
    this.#listeners.set(kind, listener);
  }

  #receive(content, buffers) {
    if (content.n === undefined) {
      this.#listeners.get(content.kind)?.(content, buffers);
      return;
    }
    const pending = this.#pending.get(content.kind);
    if (pending?.number !== content.n) return;
    this.#pending.delete(content.kind);
    pending.settle(content.failed ? null : { content, buffers });
  }
}

/**
 * Return the default export that anywidget requires.
 *
 * @param {(context: {model: any, root: HTMLElement, kernel: Kernel, signal: AbortSignal}) => Element | void} show
 *   fills the root, and may return the element for the error line; removing the widget from the
 *   page aborts `signal`
 */
export function widget(show) {
  return {
    render({ model, el }) {
      const ended = new AbortController();
      const root = element("div", { class: "wf" });
      const kernel = new Kernel(model, ended.signal);
      const alertParent = show({ model, root, kernel, signal: ended.signal }) ?? root;
      alertParent.append(alertLine(model, ended.signal));
      el.append(root);
      return () => {
        ended.abort();
        root.remove();
      };
    },
  };
}

/** Call a function with the value of a trait, now and after each change. */
export function followTrait(model, trait, show, signal) {
  const update = () => show(model.get(trait));
  model.on(`change:${trait}`, update);
  signal.addEventListener("abort", () => model.off(`change:${trait}`, update));
  update();
}

function alertLine(model, signal) {
  const line = element("div", { class: "wf-alert", role: "alert" });
  const show = (text) => {
    setText(line, text);
    line.hidden = !text;
  };
  followTrait(model, "_alert", show, signal);
  return line;
}
