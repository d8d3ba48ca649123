// What there is to choose from: columns from Python, each option by its place in them.

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
  #places = null; // by key
  #facts = null; // of what remains, by place
  #remaining = null;

  /** @param {Record<string, any>} columns as `Options.columns` of Python makes them */
  constructor(columns) {
    this.columns = columns;
    this.all = columns.values.map((_, place) => place);
    this.here = this.all;
    this.narrow(columns.here);
  }

  /** Let only some remain, in the order of their places; null for all. */
  narrow(remaining) {
    const { places } = remaining ?? {};
    this.#remaining = remaining;
    this.#facts = places ? new Map(places.map((place, number) => [place, number])) : null;
    this.here = places ?? this.all;
  }

  get count() {
    return this.all.length;
  }

  /** Whether options are somewhere: blockchains themselves are not. */
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

  /** Return the place of a key, undefined where it is not among the options. */
  placeOf(key) {
    this.#places ??= new Map(this.all.map((place) => [this.key(place), place]));
    return this.#places.get(key);
  }

  name(place) {
    return this.columns.names[place];
  }

  chain(place) {
    return this.columns.chains[this.columns.on[place]];
  }

  /** The whole address or contract, perhaps a word for one that there is not; empty for none. */
  whole(place) {
    return this.columns.wholes[place] ?? addressOf(this.columns.values[place]);
  }

  /** A name that no other has. */
  short(place) {
    return this.columns.short[place] || this.name(place) || shortened(this.whole(place));
  }

  /** All that is told of it in one line. */
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

  /** Do what the first search and the first click need, and what takes a while. */
  prepare() {
    return [this.haystacks, this.placeOf("")];
  }

  /** The texts that are searched, in small letters; what people know each by comes first. */
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

/** Return a text that is equal for equal values. */
export function keyOf(value) {
  return JSON.stringify(value);
}

function addressOf(value) {
  return typeof value === "string" ? value.slice(value.indexOf(".") + 1) : value[1];
}

/**
 * Return the places whose text holds all words, those first whose name is the text, then those that
 * begin with it, each in the order given. Blank text finds all.
 *
 * @param {string[]} texts by place, in small letters
 * @param {number[]} places to search in
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

/** 0 where the name is the text, 1 where it begins with it, else 2. */
function nearness(text, whole) {
  if (!text.startsWith(whole)) return 2;
  return text.length === whole.length || text[whole.length] === " " ? 0 : 1;
}
