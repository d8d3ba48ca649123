// What the page asks of Python, and what Python tells the page.

/**
 * A widget's line to Python. A request is `{kind, n, …}`; its answer bears the same kind and
 * number. What Python tells of itself has a kind alone.
 */
export class Kernel {
  // Two pages may show one widget of one kernel, and both hear every answer.
  #number = Math.floor(Math.random() * 2 ** 40);
  #asked = new Map();
  #heard = new Map();

  /**
   * @param model what anywidget gives `render`
   * @param {AbortSignal} signal ends the listening
   */
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
   * @param {string} kind
   * @param {Record<string, any>} said
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
