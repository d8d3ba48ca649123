// Keyboard navigation in a list and in a grid.

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 7, PageUp: -7 };

/**
 * Return the row to which a key moves from row `active` (-1: none), or null. Without an active
 * row, Home and End move in the text field.
 */
export function rowAfterKey(key, active, count) {
  if (count === 0) return null;
  if (key in STEPS) {
    if (active < 0) return STEPS[key] > 0 ? 0 : count - 1;
    return Math.max(0, Math.min(count - 1, active + STEPS[key]));
  }
  if (active < 0) return null;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/** Return the cell to which a key moves in a WAI-ARIA grid, or null. */
export function cellAfterKey({ row, column }, { key, ctrl }, { rows, columns, page }) {
  const keys = {
    ArrowDown: [ctrl ? rows : row + 1, column],
    ArrowUp: [ctrl ? 0 : row - 1, column],
    ArrowRight: [row, ctrl ? columns : column + 1],
    ArrowLeft: [row, ctrl ? 0 : column - 1],
    PageDown: [row + page, column],
    PageUp: [row - page, column],
    Home: [ctrl ? 0 : row, 0],
    End: [ctrl ? rows : row, columns],
  };
  if (!Object.hasOwn(keys, key) || !rows || !columns) return null;
  const within = (position, count) => Math.max(0, Math.min(position, count - 1));
  return { row: within(keys[key][0], rows), column: within(keys[key][1], columns) };
}
