// Finding options by words, in any case and order.

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
