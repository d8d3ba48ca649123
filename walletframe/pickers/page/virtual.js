// A list of many rows of equal height. The page has elements only for visible rows.

import { element } from "./elements.js";

const EXTRA_ROWS = 12; // the number of rows to draw before and after the visible rows

/**
 * Return the range of rows to draw: the visible rows, with `spare` more rows at both ends.
 *
 * @returns {[number, number]} the first row, and the row after the last
 */
export function rowsToDraw(scrolled, viewportHeight, height, count, spare) {
  const first = Math.floor(scrolled / height) - spare;
  const end = Math.ceil((scrolled + viewportHeight) / height) + spare;
  const last = Math.min(count, Math.max(end, 0));
  return [Math.max(0, Math.min(first, last)), last];
}

/** Return the nearest scroll position at which a row is fully visible. */
export function scrollPosition(row, scrolled, viewportHeight, height) {
  if (row * height < scrolled) return row * height;
  return Math.max(scrolled, (row + 1) * height - viewportHeight);
}

export class VirtualRows {
  #rows = new Map(); // elements by row number
  #unusedRows = [];
  #count = 0;
  #range = [0, 0];

  /**
   * @param {HTMLElement} viewport the element that scrolls
   * @param {object} options
   * @param {number} options.height the height of a row, in CSS pixels
   * @param {() => HTMLElement} options.make makes an empty row
   * @param {(row: HTMLElement, number: number) => void} options.draw fills a row
   * @param {(first: number, end: number) => void} [options.onDraw] called with the range of drawn rows
   * @param {AbortSignal} options.signal removes the listeners
   */
  constructor(viewport, { height, make, draw, onDraw = () => {}, signal }) {
    Object.assign(this, { viewport, height, make, draw, onDraw });
    this.canvas = element("div", { class: "wf-rows", role: "presentation" });
    viewport.append(this.canvas);
    viewport.addEventListener("scroll", () => this.#move(), { passive: true, signal });
    const sizes = new ResizeObserver(() => this.#move());
    sizes.observe(viewport);
    signal.addEventListener("abort", () => sizes.disconnect());
  }

  /** Set the number of rows, and redraw. */
  set count(count) {
    this.#count = count;
    this.canvas.style.height = `${count * this.height}px`;
    this.refresh();
  }

  /** Redraw the visible rows, or those in a range. */
  refresh(first = 0, end = this.#count) {
    this.#move();
    for (const [number, row] of this.#rows)
      if (number >= first && number < end) this.draw(row, number);
  }

  /** Scroll until a row is visible. */
  scrollTo(number) {
    const { scrollTop, clientHeight } = this.viewport;
    this.viewport.scrollTop = scrollPosition(number, scrollTop, clientHeight, this.height);
    this.#move();
  }

  /** Return the element of a drawn row. */
  row(number) {
    return this.#rows.get(number);
  }

  #move() {
    const { scrollTop, clientHeight } = this.viewport;
    const range = rowsToDraw(scrollTop, clientHeight, this.height, this.#count, EXTRA_ROWS);
    const [first, end] = range;
    for (const [number, row] of this.#rows) {
      if (number < first || number >= end) this.#release(number, row);
    }
    let next = null;
    for (let number = end - 1; number >= first; number -= 1) {
      next = this.#rows.get(number) ?? this.#insertRow(number, next);
    }
    for (const row of this.#unusedRows) row.hidden = true;
    if (first !== this.#range[0] || end !== this.#range[1]) {
      this.#range = range;
      this.onDraw(first, end);
    }
  }

  #release(number, row) {
    this.#rows.delete(number);
    this.#unusedRows.push(row);
  }

  /** Insert a row before the next row: screen readers and selections need the order. */
  #insertRow(number, next) {
    const row = this.#unusedRows.pop() ?? this.make();
    this.canvas.insertBefore(row, next);
    row.hidden = false;
    row.style.transform = `translateY(${number * this.height}px)`;
    this.#rows.set(number, row);
    this.draw(row, number);
    return row;
  }
}
