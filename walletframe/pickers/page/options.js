// The options of a picker. Python sends columns; each option has an index in the columns.

import { shortenAddress } from "./elements.js";

export const NO_OPTIONS = {
  values: [],
  names: [],
  chains: [],
  chain_indices: [],
  full_texts: [],
  short: {},
  search_text: {},
};

export class Options {
  #searchTexts = null;
  #indexByKey = null;
  #indicesBySpelling = null;
  #remainingRow = null; // by option index: the row in `#remainingColumns`
  #remainingColumns = null;

  /** @param {Record<string, any>} columns from Python's `Options.to_lists` */
  constructor(columns) {
    this.columns = columns;
    this.all = columns.values.map((_, index) => index);
    this.remaining = this.all;
    this.narrow(columns.remaining);
  }

  /** Set the remaining options and their order. Null keeps all options. */
  narrow(columns) {
    const { indices } = columns ?? {};
    this.#remainingColumns = columns;
    this.#remainingRow = indices && new Map(indices.map((index, row) => [index, row]));
    this.remaining = indices ?? this.all;
  }

  get count() {
    return this.all.length;
  }

  /** Whether the options have blockchains, as wallets and tokens do. */
  get haveBlockchains() {
    return this.columns.chains.some((chain) => chain !== "");
  }

  isRemaining(index) {
    return !this.#remainingRow || this.#remainingRow.has(index);
  }

  value(index) {
    return this.columns.values[index];
  }

  key(index) {
    return keyOf(this.columns.values[index]);
  }

  /** Return the index of a key, or undefined if no option has the key. */
  indexOf(key) {
    this.#indexByKey ??= new Map(this.all.map((index) => [this.key(index), index]));
    return this.#indexByKey.get(key);
  }

  /** Return the indices of keys as a set. Keys without an option are ignored. */
  indicesOf(keys) {
    return new Set([...keys].map((key) => this.indexOf(key)).filter((index) => index >= 0));
  }

  /** Return the indices of the options in a pasted list, and the lines without an option. */
  indicesInList(text) {
    const lines = text.split(/[\n,;]+/).filter((line) => line.trim());
    const indices = [...new Set(lines.flatMap((line) => this.indicesInLine(line)))];
    return { indices, unknown: lines.filter((line) => !this.indicesInLine(line).length) };
  }

  /** Return the indices of the options in a line of a pasted list. */
  indicesInLine(line) {
    if (this.#indicesBySpelling === null) {
      this.#indicesBySpelling = new Map();
      for (const index of this.all) {
        const [name, fullText] = [this.name(index), this.fullText(index)];
        const [written, chain] = [[this.value(index)].flat().join(" "), this.chain(index)];
        const spellings = [name, fullText, written, this.short(index), `${chain} ${fullText}`];
        for (const each of new Set(spellings.map((text) => text.toLowerCase()))) {
          this.#indicesBySpelling.set(each, [...(this.#indicesBySpelling.get(each) ?? []), index]);
        }
      }
    }
    return this.#indicesBySpelling.get(line.trim().replace(/\s+/g, " ").toLowerCase()) ?? [];
  }

  name(index) {
    return this.columns.names[index];
  }

  chain(index) {
    return this.columns.chains[this.columns.chain_indices[index]];
  }

  /** Return the full address, a text such as "native coin", or "". */
  fullText(index) {
    return this.columns.full_texts[index] ?? addressOf(this.columns.values[index]);
  }

  /** Return a short name that is unique among the options. */
  short(index) {
    return this.columns.short[index] || this.name(index) || shortenAddress(this.fullText(index));
  }

  /** Return name, blockchain and address in one line. */
  label(index) {
    const parts = [this.name(index), this.chain(index), this.fullText(index)];
    return parts.filter((part) => part !== "").join(" · ");
  }

  balances(index) {
    return this.#stat("balances", index);
  }

  valueText(index) {
    return this.#stat("value_texts", index) ?? "";
  }

  #stat(name, index) {
    const row = this.#remainingRow?.get(index);
    return row === undefined ? this.columns[name]?.[index] : this.#remainingColumns[name][row];
  }

  /** Build the slow indices before the first search and the first click. */
  prepare() {
    return [this.searchTexts, this.indexOf("")];
  }

  /** The texts to search, in lower case. Each text begins with the option's name. */
  get searchTexts() {
    this.#searchTexts ??= this.all.map((index) => {
      const value = this.value(index);
      const written = typeof value === "string" ? value : value.join(" ");
      const more = this.columns.search_text[index] ?? "";
      const parts = [this.name(index), written, this.chain(index), this.fullText(index), more];
      return parts.join(" ").trim().toLowerCase();
    });
    return this.#searchTexts;
  }
}

/** Return a key for a value: equal values have equal keys. */
export function keyOf(value) {
  return JSON.stringify(value);
}

function addressOf(value) {
  return typeof value === "string" ? value.slice(value.indexOf(".") + 1) : value[1];
}

/**
 * Return the indices of the texts that contain all typed words. Names that equal the typed text
 * come first, then names that begin with it. A blank text finds everything.
 *
 * @param {string[]} texts by index, in lower case
 * @param {number[]} indices the indices to search
 * @param {string} typed
 */
export function findIndices(texts, indices, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return indices;
  const joined = words.join(" ");
  const found = [[], [], []];
  for (const index of indices) {
    const text = texts[index];
    if (words.every((word) => text.includes(word))) found[matchRank(text, joined)].push(index);
  }
  return found.flat();
}

/** Return 0 if the name equals the typed text, 1 if the name begins with it, and 2 otherwise. */
function matchRank(text, typed) {
  if (!text.startsWith(typed)) return 2;
  return text.length === typed.length || text[typed.length] === " " ? 0 : 1;
}
