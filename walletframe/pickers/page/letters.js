// How wide texts are, and where to cut one that is too wide.

/**
 * Measure letters, each once.
 *
 * @param {(letter: string) => number} measure in pixels
 * @returns {(text: string) => number}
 */
export function summedWidths(measure) {
  const known = new Map();
  return (text) => {
    let sum = 0;
    for (const letter of text) {
      if (!known.has(letter)) known.set(letter, measure(letter));
      sum += known.get(letter);
    }
    return sum;
  };
}

/** Measure texts in a font, as CSS writes it. */
export function widthsIn(font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  return summedWidths((letter) => context.measureText(letter).width);
}

/** Cut a text to a width; what ends with the end of an address keeps that, if there is room. */
export function cutText(text, width, widthOf) {
  if (widthOf(text) <= width) return text;
  const end = /(?<=…)[^…]{1,6}$/u.exec(text)?.[0] ?? "";
  const tail = widthOf(end) * 2 < width ? end : "";
  const room = width - widthOf(`…${tail}`);
  let head = "";
  for (const letter of text) {
    if (widthOf(head + letter) > room) break;
    head += letter;
  }
  return `${head.replace(/[\s…]+$/u, "")}…${tail}`;
}
