// The layout of a table: visible columns, column widths, and lines per row.

const PADDING = 20; // of a cell, left and right together, in pixels
const LINK = 28; // of the link after a text
const ARROW = 14; // of the sort arrow after a heading
const GAP = 0.5; // width of a gap between thousands, in digit widths
const MARK = 1.9; // width of the mark for hidden decimals, in digit widths
const LETTERS = { least: 12, good: 17, most: 36 };
const DECIMALS = { least: 4, good: 8, most: 18, narrow: 2 };
const BAR = 260; // maximum width of a column with bars
const MIN_COLUMNS = 4; // if fewer fit, a row has two lines
const NUMBERS_SHARE = 0.5; // the usual part of the width for numbers in rows with two lines
const MAX_NUMBERS_SHARE = 0.62; // the maximum of this part

/** Return the width of the point, the decimals and the mark, in digit widths. */
function decimalsWidth(decimals, cut) {
  return decimals || cut ? decimals + 0.6 + (cut ? MARK : 0) : 0;
}

/** Return the width in pixels of a number. `ch` is the width of a digit. */
function numberWidth(digits, decimals, cut, ch) {
  const gaps = Math.floor((digits - 1) / 3) * GAP;
  const before = Math.max(digits, 2) + gaps;
  return Math.ceil((before + decimalsWidth(decimals, cut)) * ch) + PADDING;
}

/** Return how many digits before the point fit beside the decimals. */
function digitsThatFit(width, decimals, cut, ch) {
  let digits = 1;
  while (numberWidth(digits + 1, decimals, cut, ch) <= width) digits += 1;
  return digits;
}

/** Return three widths of a column: least, good, and best (the largest that is useful). */
export function columnWidths(column, ch) {
  const heading = Math.ceil(column.label.length * ch) + PADDING + ARROW;
  const [digits, decimals] = column.characters_and_decimals;
  const widthOf = (kind) => {
    if (!column.number) {
      const letters = Math.min(digits, LETTERS[kind]) + 1;
      return Math.ceil(letters * ch) + PADDING + (column.link ? LINK : 0);
    }
    const shown = Math.min(decimals, DECIMALS[kind]);
    return numberWidth(digits, shown, shown < decimals, ch);
  };
  const least = Math.max(heading, widthOf("least"));
  const good = Math.max(least, widthOf("good"));
  return { least, good, best: Math.max(good, widthOf("most")) };
}

/** Return the width for texts, or the maximum numbers of digits and decimals. */
function availableSpace(column, width, ch) {
  if (!column.number) {
    const textWidth = width - PADDING;
    return { textWidth, linkedTextWidth: textWidth - LINK, decimalsWidth: 0 };
  }
  const [digits, decimals] = column.characters_and_decimals;
  let shown = Math.min(decimals, DECIMALS.most);
  const few = Math.min(decimals, DECIMALS.narrow);
  while (shown > few && numberWidth(digits, shown, shown < decimals, ch) > width) shown -= 1;
  const cut = shown < decimals;
  const limits = { digits: digitsThatFit(width, shown, cut, ch), decimals: shown };
  return { ...limits, decimalsWidth: decimalsWidth(shown, cut) };
}

/** Choose the most important columns that fit a width. The order stays. */
export function fitColumns(columns, width, ch) {
  const ranked = [...columns].sort((one, other) => one.rank - other.rank);
  const hasTwoLines = sumWidths(ranked.slice(0, MIN_COLUMNS), "least", ch) > width;
  const chosen = ranked.filter(
    (column, index) =>
      index < MIN_COLUMNS || sumWidths(ranked.slice(0, index + 1), "good", ch) <= width,
  );
  const shown = hasTwoLines ? inTwoLines(ranked, width, ch) : inOneLine(columns, chosen, width, ch);
  const names = new Set(shown.map(({ name }) => name));
  const hidden = columns.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  return { lines: hasTwoLines ? 2 : 1, shown, hidden };
}

function sumWidths(columns, kind, ch) {
  return columns.reduce((sum, column) => sum + columnWidths(column, ch)[kind], 0);
}

function fitColumn(column, width, line, ch) {
  return { name: column.name, width, line, ...availableSpace(column, width, ch) };
}

/** Start with the least widths, and share the rest of the width by importance. */
function inOneLine(columns, chosen, width, ch) {
  const wanted = new Map(chosen.map((column) => [column, columnWidths(column, ch)]));
  const widths = new Map(chosen.map((column) => [column, wanted.get(column).least]));
  let left = width - [...widths.values()].reduce((sum, each) => sum + each, 0);
  const grow = (column, limit) => {
    const more = Math.max(0, Math.min(left, limit - widths.get(column)));
    widths.set(column, widths.get(column) + more);
    left -= more;
  };
  for (const column of chosen) grow(column, wanted.get(column).good);
  const texts = chosen.filter(({ number }) => !number);
  for (const column of [...texts, ...chosen]) grow(column, wanted.get(column).best);
  for (const column of chosen) if (column.bar) grow(column, BAR);
  const share = Math.floor(left / Math.max(texts.length, 1));
  for (const column of texts) grow(column, widths.get(column) + share);
  const order = columns.filter((column) => widths.has(column));
  return order.map((column) => fitColumn(column, widths.get(column), 1, ch));
}

/** Place the first two texts in two lines, and the first two numbers beside them. */
function inTwoLines(ranked, width, ch) {
  const texts = ranked.filter(({ number }) => !number).slice(0, 2);
  const numbers = ranked.filter(({ number }) => number).slice(0, 2);
  const widest = (kind) => Math.max(...numbers.map((column) => columnWidths(column, ch)[kind]));
  const wanted = Math.min(widest("best"), Math.max(widest("least"), width * NUMBERS_SHARE));
  const right = Math.floor(Math.min(wanted, width * MAX_NUMBERS_SHARE));
  const fit = (column, line) =>
    fitColumn(column, column.number ? right : width - right, line + 1, ch);
  return [...texts.map(fit), ...numbers.map(fit)];
}
