// The loaded rows of a table, in blocks, and requests for more rows.

const BLOCK = 64;
const MAX_BLOCKS = 80;
const MAX_BLOCKS_PER_REQUEST = 6;
const STEPS_AHEAD = 10; // number of scroll steps to load ahead
const MAX_AHEAD = 4 * BLOCK;
const LATE_MS = 800; // an answer is late after this time

/**
 * Return the first missing rows in a range of rows, as whole blocks.
 *
 * @returns {[number, number] | null} the first row and the number of rows
 */
export function missingRows(first, end, count, isLoaded) {
  const stop = Math.min(end, count);
  let from = Math.floor(Math.max(first, 0) / BLOCK);
  const last = Math.ceil(stop / BLOCK);
  while (from < last && isLoaded(from)) from += 1;
  let to = from;
  while (to < last && !isLoaded(to) && to - from < MAX_BLOCKS_PER_REQUEST) to += 1;
  return to > from ? [from * BLOCK, (to - from) * BLOCK] : null;
}

/** Extend a range of rows in the scroll direction, in proportion to the scroll step. */
export function rowsAhead([first, end], step) {
  const ahead = Math.max(-MAX_AHEAD, Math.min(step * STEPS_AHEAD, MAX_AHEAD));
  return ahead < 0 ? [first + ahead, end] : [first, end + ahead];
}

/** Return a copy of an object, with a function applied to each value. */
export function mapValues(object, convert) {
  return Object.fromEntries(Object.entries(object).map(([name, each]) => [name, convert(each)]));
}

export class RowStore {
  #blocks = new Map();
  #pendingQuery = null; // the query of the pending request
  #visible = [0, 2 * BLOCK];
  #step = 0; // number of rows of the last scroll step
  #table = "";

  /**
   * @param {any} kernel answers the request "rows"
   * @param {object} callbacks
   * @param {(content: any) => void} callbacks.onOpened called when the rows of a new query arrive
   * @param {(first: number, end: number) => void} callbacks.onRows called when more rows arrive
   * @param {(isLate: boolean) => void} callbacks.onLate called if an answer is late, and when it arrives
   */
  constructor(kernel, { onOpened, onRows, onLate }) {
    Object.assign(this, { kernel, onOpened, onRows, onLate });
    this.query = { by: "", sort: "", down: false, find: "" };
    this.count = 0;
  }

  /** Request the rows of a changed query. Old rows are shown until the new rows arrive. */
  async open(change = {}) {
    const query = { ...this.query, ...change };
    this.query = query;
    this.#pendingQuery = query;
    const request = { ...query, start: 0, count: 2 * BLOCK, table: this.#table };
    const answer = await this.#request(request);
    if (this.#pendingQuery !== query) return;
    this.#pendingQuery = null;
    if (!answer) return;
    const { by, sort, down, table, total } = answer.content;
    this.query = { ...query, by, sort, down };
    this.#table = table;
    this.count = total;
    this.#blocks.clear();
    this.#visible = [0, 2 * BLOCK];
    this.#storeBlocks(answer.content);
    this.onOpened(answer.content);
  }

  /** Request the missing visible rows, then the rows before and after. */
  setVisibleRows(first, end) {
    this.#step = first - this.#visible[0];
    this.#visible = [first, end];
    this.#requestMissing();
  }

  /**
   * Return the block of a row and the row's index in the block, or undefined for missing rows.
   *
   * @returns {{cells: Record<string, Record<string, any[]>>, index: number} | undefined}
   */
  row(number) {
    const cells = this.#blocks.get(Math.floor(number / BLOCK));
    return cells && { cells, index: number % BLOCK };
  }

  async #request(request) {
    const timer = setTimeout(() => this.onLate(true), LATE_MS);
    const answer = await this.kernel.request("rows", request);
    clearTimeout(timer);
    this.onLate(false);
    return answer;
  }

  async #requestMissing() {
    if (this.#pendingQuery !== null) return; // only one request at a time
    const isLoaded = (block) => this.#blocks.has(block);
    const [first, end] = this.#visible;
    const missing =
      missingRows(...rowsAhead(this.#visible, this.#step), this.count, isLoaded) ??
      missingRows(first - BLOCK, end + BLOCK, this.count, isLoaded);
    if (!missing) return;
    const [start, count] = missing;
    const query = this.query;
    this.#pendingQuery = query;
    const answer = await this.#request({ ...query, start, count, table: this.#table });
    if (this.#pendingQuery !== query) return;
    this.#pendingQuery = null;
    if (!answer) return;
    if (answer.content.table !== this.#table) return void this.open();
    this.#storeBlocks(answer.content);
    this.onRows(start, start + count);
    this.#requestMissing();
  }

  #storeBlocks({ start, count, cells }) {
    for (let from = 0; from < count; from += BLOCK) {
      const part = (lists) => mapValues(lists, (list) => list.slice(from, from + BLOCK));
      this.#blocks.set((start + from) / BLOCK, mapValues(cells, part));
    }
    this.#dropFarBlocks();
  }

  #dropFarBlocks() {
    const middle = (this.#visible[0] + this.#visible[1]) / 2 / BLOCK;
    const far = (block) => Math.abs(block + 0.5 - middle);
    const blocks = [...this.#blocks.keys()].sort((one, other) => far(other) - far(one));
    for (const block of blocks.slice(0, Math.max(0, blocks.length - MAX_BLOCKS))) {
      this.#blocks.delete(block);
    }
  }
}
