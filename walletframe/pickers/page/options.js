// The options of a picker. Python sends them as columns; each option has a position in them.

import { shortened } from "./elements.js";

export const NO_OPTIONS = {
  values: [],
  names: [],
  chains: [],
  on: [],
  wholes: [],
  short: {},
  words: {},
};

export class Options {
  #haystacks = null;
  #places = null; // positions by key
  #named = null; // positions by each spelling of an option
  #facts = null; // indices into the remaining options' columns, by position
  #remaining = null;

  /** @param {Record<string, any>} columns from Python's `Options.columns` */
  constructor(columns) {
    this.columns = columns;
    this.all = columns.values.map((_, place) => place);
    this.here = this.all;
    this.narrow(columns.here);
  }

  /** Keep only the options at some positions, in the order of the positions; null keeps all. */
  narrow(remaining) {
    const { places } = remaining ?? {};
    this.#remaining = remaining;
    this.#facts = places ? new Map(places.map((place, number) => [place, number])) : null;
    this.here = places ?? this.all;
  }

  get count() {
    return this.all.length;
  }

  /** Whether the options belong to blockchains, as wallets and tokens do. */
  get arePlaced() {
    return this.columns.chains.some((chain) => chain !== "");
  }

  remains(place) {
    return this.#facts === null || this.#facts.has(place);
  }

  value(place) {
    return this.columns.values[place];
  }

  key(place) {
    return keyOf(this.columns.values[place]);
  }

  /** Return the position of a key, or undefined if it is not among the options. */
  placeOf(key) {
    this.#places ??= new Map(this.all.map((place) => [this.key(place), place]));
    return this.#places.get(key);
  }

  /** Return the set of the positions of those keys that are among the options. */
  placesOf(keys) {
    return new Set([...keys].map((key) => this.placeOf(key)).filter((place) => place >= 0));
  }

  /** Return the positions of the options that a pasted list names, and its other lines. */
  namedIn(text) {
    const lines = text.split(/[\n,;]+/).filter((line) => line.trim());
    const places = [...new Set(lines.flatMap((line) => this.named(line)))];
    return { places, unnamed: lines.filter((line) => !this.named(line).length) };
  }

  /** Return the positions of the options that a line of a pasted list names. */
  named(line) {
    if (this.#named === null) {
      this.#named = new Map();
      for (const place of this.all) {
        const [name, whole] = [this.name(place), this.whole(place)];
        const [written, chain] = [[this.value(place)].flat().join(" "), this.chain(place)];
        const spellings = [name, whole, written, this.short(place), `${chain} ${whole}`];
        for (const each of new Set(spellings.map((text) => text.toLowerCase()))) {
          this.#named.set(each, [...(this.#named.get(each) ?? []), place]);
        }
      }
    }
    return this.#named.get(line.trim().replace(/\s+/g, " ").toLowerCase()) ?? [];
  }

  name(place) {
    return this.columns.names[place];
  }

  chain(place) {
    return this.columns.chains[this.columns.on[place]];
  }

  /** Return the full address, or a text such as "native coin", or an empty text. */
  whole(place) {
    return this.columns.wholes[place] ?? addressOf(this.columns.values[place]);
  }

  /** Return a short name that is unique among the options. */
  short(place) {
    return this.columns.short[place] || this.name(place) || shortened(this.whole(place));
  }

  /** Return name, blockchain and address in one line. */
  label(place) {
    const parts = [this.name(place), this.chain(place), this.whole(place)];
    return parts.filter((part) => part !== "").join(" · ");
  }

  balances(place) {
    return this.#fact("balances", place);
  }

  worth(place) {
    return this.#fact("worths", place) ?? "";
  }

  #fact(name, place) {
    const number = this.#facts?.get(place);
    return number === undefined ? this.columns[name]?.[place] : this.#remaining[name][number];
  }

  /** Build the slow indices for the first search and the first click. */
  prepare() {
    return [this.haystacks, this.placeOf("")];
  }

  /** The texts to search, in lower case. Each text begins with the name of its option. */
  get haystacks() {
    this.#haystacks ??= this.all.map((place) => {
      const value = this.value(place);
      const written = typeof value === "string" ? value : value.join(" ");
      const words = this.columns.words[place] ?? "";
      const parts = [this.name(place), written, this.chain(place), this.whole(place), words];
      return parts.join(" ").trim().toLowerCase();
    });
    return this.#haystacks;
  }
}

/** Return a key for a value. The keys of equal values are equal texts. */
export function keyOf(value) {
  return JSON.stringify(value);
}

function addressOf(value) {
  return typeof value === "string" ? value.slice(value.indexOf(".") + 1) : value[1];
}

/**
 * Return the positions of the texts that contain all typed words. Names that equal the typed text
 * come first, then names that begin with it; otherwise the order is kept. Blank text finds all.
 *
 * @param {string[]} texts by position, in lower case
 * @param {number[]} places the positions to search
 * @param {string} typed
 */
export function findPlaces(texts, places, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return places;
  const whole = words.join(" ");
  const found = [[], [], []];
  for (const place of places) {
    const text = texts[place];
    if (words.every((word) => text.includes(word))) found[nearness(text, whole)].push(place);
  }
  return found.flat();
}

/** Return 0 if the name equals the text, 1 if the name begins with it, and 2 otherwise. */
function nearness(text, whole) {
  if (!text.startsWith(whole)) return 2;
  return text.length === whole.length || text[whole.length] === " " ? 0 : 1;
}
