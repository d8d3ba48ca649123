// A list of many rows of equal height, in which only visible rows are elements of the page.

import { element } from "./elements.js";

const SPARE = 12; // number of rows that are drawn before and after the visible rows

/**
 * Return the range of rows to draw: the visible rows, and `spare` rows before and after them.
 *
 * @returns {[number, number]} the first row, and the row after the last
 */
export function rowsInSight(scrolled, seen, height, count, spare) {
  const first = Math.floor(scrolled / height) - spare;
  const end = Math.ceil((scrolled + seen) / height) + spare;
  const last = Math.min(count, Math.max(end, 0));
  return [Math.max(0, Math.min(first, last)), last];
}

/** Return the nearest scroll position at which a row is fully visible. */
export function scrollTo(row, scrolled, seen, height) {
  if (row * height < scrolled) return row * height;
  return Math.max(scrolled, (row + 1) * height - seen);
}

export class VirtualRows {
  #rows = new Map(); // elements by row number
  #free = [];
  #count = 0;
  #range = [0, 0];

  /**
   * @param {HTMLElement} viewport the element that scrolls
   * @param {object} given
   * @param {number} given.height the height of a row, in CSS pixels
   * @param {() => HTMLElement} given.make makes an empty row, which is reused for other rows
   * @param {(row: HTMLElement, place: number) => void} given.draw fills a row
   * @param {(first: number, end: number) => void} [given.seen] called with the range of drawn rows
   * @param {AbortSignal} given.signal removes the listeners
   */
  constructor(viewport, { height, make, draw, seen = () => {}, signal }) {
    Object.assign(this, { viewport, height, make, draw, seen });
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

  /** Redraw all visible rows, or only the visible rows in a range. */
  refresh(first = 0, end = this.#count) {
    this.#move();
    for (const [place, row] of this.#rows) if (place >= first && place < end) this.draw(row, place);
  }

  /** Scroll until a row is visible. */
  show(place) {
    const { scrollTop, clientHeight } = this.viewport;
    this.viewport.scrollTop = scrollTo(place, scrollTop, clientHeight, this.height);
    this.#move();
  }

  /** Return the element of a row, if it is drawn. */
  row(place) {
    return this.#rows.get(place);
  }

  #move() {
    const { scrollTop, clientHeight } = this.viewport;
    const range = rowsInSight(scrollTop, clientHeight, this.height, this.#count, SPARE);
    const [first, end] = range;
    for (const [place, row] of this.#rows) {
      if (place < first || place >= end) this.#release(place, row);
    }
    let next = null;
    for (let place = end - 1; place >= first; place -= 1) {
      next = this.#rows.get(place) ?? this.#place(place, next);
    }
    for (const row of this.#free) row.hidden = true;
    if (first !== this.#range[0] || end !== this.#range[1]) {
      this.#range = range;
      this.seen(first, end);
    }
  }

  #release(place, row) {
    this.#rows.delete(place);
    this.#free.push(row);
  }

  /** Insert a row before the next one, so that screen readers and selections see them in order. */
  #place(place, next) {
    const row = this.#free.pop() ?? this.make();
    this.canvas.insertBefore(row, next);
    row.hidden = false;
    row.style.transform = `translateY(${place * this.height}px)`;
    this.#rows.set(place, row);
    this.draw(row, place);
    return row;
  }
}
