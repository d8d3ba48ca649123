// The loaded rows of a table, in blocks, and the requests for more rows.

const BLOCK = 64;
const MOST_BLOCKS = 80;
const MOST_ASKED = 6; // maximum number of blocks per request
const AHEAD = 10; // number of scroll steps, as long as the last one, to load ahead
const FARTHEST = 4 * BLOCK;
const PATIENCE = 800; // milliseconds before a late answer is reported

/**
 * Find the first missing blocks in a range of rows, as one range of rows to request.
 *
 * @returns {[number, number] | null} the first row and the number of rows
 */
export function missingRows(first, end, count, has) {
  const stop = Math.min(end, count);
  let from = Math.floor(Math.max(first, 0) / BLOCK);
  const last = Math.ceil(stop / BLOCK);
  while (from < last && has(from)) from += 1;
  let to = from;
  while (to < last && !has(to) && to - from < MOST_ASKED) to += 1;
  return to > from ? [from * BLOCK, (to - from) * BLOCK] : null;
}

/** Extend a range of rows in the scroll direction, farther if the user scrolls faster. */
export function rowsAhead([first, end], step) {
  const ahead = Math.max(-FARTHEST, Math.min(step * AHEAD, FARTHEST));
  return ahead < 0 ? [first + ahead, end] : [first, end + ahead];
}

/** Return a copy of an object, with a function applied to each value. */
export function mapped(named, call) {
  return Object.fromEntries(Object.entries(named).map(([name, each]) => [name, call(each)]));
}

export class RowStore {
  #blocks = new Map();
  #asked = null; // the query of the pending request
  #sight = [0, 2 * BLOCK];
  #step = 0; // number of rows of the last scroll step
  #table = "";

  /**
   * @param {any} kernel answers the request "rows"
   * @param {object} calls
   * @param {(content: any) => void} calls.opened called when the rows of a new query arrive
   * @param {(first: number, end: number) => void} calls.came called when more rows arrive
   * @param {(isLate: boolean) => void} calls.late called if an answer is late, and when it arrives
   */
  constructor(kernel, { opened, came, late }) {
    Object.assign(this, { kernel, opened, came, late });
    this.query = { by: "", sort: "", down: false, find: "" };
    this.count = 0;
  }

  /** Request the rows of a changed query. The old rows are shown until the new rows arrive. */
  async open(change = {}) {
    const query = { ...this.query, ...change };
    this.query = query;
    this.#asked = query;
    const said = { ...query, start: 0, count: 2 * BLOCK, table: this.#table };
    const answer = await this.#request(said);
    if (this.#asked !== query) return;
    this.#asked = null;
    if (!answer) return;
    const { by, sort, down, table, total } = answer.content;
    this.query = { ...query, by, sort, down };
    this.#table = table;
    this.count = total;
    this.#blocks.clear();
    this.#sight = [0, 2 * BLOCK];
    this.#keep(answer.content);
    this.opened(answer.content);
  }

  /** Request the missing visible rows, and then the rows before and after the visible rows. */
  see(first, end) {
    this.#step = first - this.#sight[0];
    this.#sight = [first, end];
    this.#fetch();
  }

  /**
   * Return the block of a row and the row's index in it, or undefined if it is not loaded.
   *
   * @returns {{cells: Record<string, Record<string, any[]>>, at: number} | undefined}
   */
  row(place) {
    const cells = this.#blocks.get(Math.floor(place / BLOCK));
    return cells && { cells, at: place % BLOCK };
  }

  async #request(said) {
    const timer = setTimeout(() => this.late(true), PATIENCE);
    const answer = await this.kernel.ask("rows", said);
    clearTimeout(timer);
    this.late(false);
    return answer;
  }

  async #fetch() {
    if (this.#asked !== null) return; // only one request at a time
    const has = (block) => this.#blocks.has(block);
    const [first, end] = this.#sight;
    const missing =
      missingRows(...rowsAhead(this.#sight, this.#step), this.count, has) ??
      missingRows(first - BLOCK, end + BLOCK, this.count, has);
    if (!missing) return;
    const [start, count] = missing;
    const query = this.query;
    this.#asked = query;
    const answer = await this.#request({ ...query, start, count, table: this.#table });
    if (this.#asked !== query) return;
    this.#asked = null;
    if (!answer) return;
    if (answer.content.table !== this.#table) return void this.open();
    this.#keep(answer.content);
    this.came(start, start + count);
    this.#fetch();
  }

  #keep({ start, count, cells }) {
    for (let from = 0; from < count; from += BLOCK) {
      const part = (lists) => mapped(lists, (list) => list.slice(from, from + BLOCK));
      this.#blocks.set((start + from) / BLOCK, mapped(cells, part));
    }
    this.#forget();
  }

  /** Drop the blocks that are farthest from the visible rows. */
  #forget() {
    const middle = (this.#sight[0] + this.#sight[1]) / 2 / BLOCK;
    const far = (block) => Math.abs(block + 0.5 - middle);
    const blocks = [...this.#blocks.keys()].sort((one, other) => far(other) - far(one));
    for (const block of blocks.slice(0, Math.max(0, blocks.length - MOST_BLOCKS))) {
      this.#blocks.delete(block);
    }
  }
}
