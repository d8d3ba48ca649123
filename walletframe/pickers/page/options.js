// The options of a picker. Python sends columns; each option has a position in the columns.

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
  #positionByKey = null;
  #positionsBySpelling = null;
  #remainingIndex = null; // by position: the index into the columns of remaining options
  #remainingColumns = null;

  /** @param {Record<string, any>} columns from Python's `Options.columns` */
  constructor(columns) {
    this.columns = columns;
    this.all = columns.values.map((_, position) => position);
    this.remaining = this.all;
    this.narrow(columns.remaining);
  }

  /** Set the remaining options and their order. Null keeps all options. */
  narrow(columns) {
    const { indices } = columns ?? {};
    this.#remainingColumns = columns;
    this.#remainingIndex = indices && new Map(indices.map((position, index) => [position, index]));
    this.remaining = indices ?? this.all;
  }

  get count() {
    return this.all.length;
  }

  /** Whether the options belong to blockchains, as wallets and tokens do. */
  get haveBlockchains() {
    return this.columns.chains.some((chain) => chain !== "");
  }

  isRemaining(position) {
    return !this.#remainingIndex || this.#remainingIndex.has(position);
  }

  value(position) {
    return this.columns.values[position];
  }

  key(position) {
    return keyOf(this.columns.values[position]);
  }

  /** Return the position of a key, or undefined if it is not among the options. */
  positionOf(key) {
    this.#positionByKey ??= new Map(this.all.map((position) => [this.key(position), position]));
    return this.#positionByKey.get(key);
  }

  /** Return the set of positions of keys. Keys without an option are ignored. */
  positionsOf(keys) {
    return new Set(
      [...keys].map((key) => this.positionOf(key)).filter((position) => position >= 0),
    );
  }

  /** Find the options in a pasted list. Return their positions, and lines without an option. */
  positionsInList(text) {
    const lines = text.split(/[\n,;]+/).filter((line) => line.trim());
    const positions = [...new Set(lines.flatMap((line) => this.positionsInLine(line)))];
    return { positions, unknown: lines.filter((line) => !this.positionsInLine(line).length) };
  }

  /** Return the positions of the options in a line of a pasted list. */
  positionsInLine(line) {
    if (this.#positionsBySpelling === null) {
      this.#positionsBySpelling = new Map();
      for (const position of this.all) {
        const [name, fullText] = [this.name(position), this.fullText(position)];
        const [written, chain] = [[this.value(position)].flat().join(" "), this.chain(position)];
        const spellings = [name, fullText, written, this.short(position), `${chain} ${fullText}`];
        for (const each of new Set(spellings.map((text) => text.toLowerCase()))) {
          this.#positionsBySpelling.set(each, [
            ...(this.#positionsBySpelling.get(each) ?? []),
            position,
          ]);
        }
      }
    }
    return this.#positionsBySpelling.get(line.trim().replace(/\s+/g, " ").toLowerCase()) ?? [];
  }

  name(position) {
    return this.columns.names[position];
  }

  chain(position) {
    return this.columns.chains[this.columns.chain_indices[position]];
  }

  /** Return the full address, a text such as "native coin", or "". */
  fullText(position) {
    return this.columns.full_texts[position] ?? addressOf(this.columns.values[position]);
  }

  /** Return a short name that is unique among the options. */
  short(position) {
    return (
      this.columns.short[position] || this.name(position) || shortenAddress(this.fullText(position))
    );
  }

  /** Return name, blockchain and address in one line. */
  label(position) {
    const parts = [this.name(position), this.chain(position), this.fullText(position)];
    return parts.filter((part) => part !== "").join(" · ");
  }

  balances(position) {
    return this.#stat("balances", position);
  }

  valueText(position) {
    return this.#stat("value_texts", position) ?? "";
  }

  #stat(name, position) {
    const index = this.#remainingIndex?.get(position);
    return index === undefined
      ? this.columns[name]?.[position]
      : this.#remainingColumns[name][index];
  }

  /** Build the slow indices for the first search and the first click. */
  prepare() {
    return [this.searchTexts, this.positionOf("")];
  }

  /** The texts to search, in lower case. Each text begins with the option's name. */
  get searchTexts() {
    this.#searchTexts ??= this.all.map((position) => {
      const value = this.value(position);
      const written = typeof value === "string" ? value : value.join(" ");
      const more = this.columns.search_text[position] ?? "";
      const parts = [
        this.name(position),
        written,
        this.chain(position),
        this.fullText(position),
        more,
      ];
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
 * Return the positions of the texts that contain all typed words. Names that equal the typed text
 * come first, then names that begin with the typed text. A blank text finds everything.
 *
 * @param {string[]} texts by position, in lower case
 * @param {number[]} positions the positions to search
 * @param {string} typed
 */
export function findPositions(texts, positions, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return positions;
  const joined = words.join(" ");
  const found = [[], [], []];
  for (const position of positions) {
    const text = texts[position];
    if (words.every((word) => text.includes(word))) found[matchRank(text, joined)].push(position);
  }
  return found.flat();
}

/** Return 0 if the name equals the typed text, 1 if the name begins with it, and 2 otherwise. */
function matchRank(text, typed) {
  if (!text.startsWith(typed)) return 2;
  return text.length === typed.length || text[typed.length] === " " ? 0 : 1;
}
