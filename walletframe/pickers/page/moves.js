// Where the arrow keys lead in a grid.

const ARROWS = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

/**
 * Move the active cell by a key, as the grid pattern of WAI-ARIA has it.
 *
 * @param {{row: number, column: number}} active
 * @param {{key: string, far: boolean}} pressed `far` is with Ctrl, or the command key
 * @param {{rows: number, columns: number, page: number}} size
 * @returns {{row: number, column: number} | null} null where the key moves nothing
 */
export function moved({ row, column }, { key, far }, { rows, columns, page }) {
  const to = target({ row, column }, key, far, { rows, columns, page });
  if (!to || !rows || !columns) return null;
  const within = (place, count) => Math.max(0, Math.min(place, count - 1));
  return { row: within(to.row, rows), column: within(to.column, columns) };
}

function target({ row, column }, key, far, { rows, columns, page }) {
  if (Object.hasOwn(ARROWS, key)) {
    const [down, right] = ARROWS[key];
    if (!far) return { row: row + down, column: column + right };
    return { row: down ? down * rows : row, column: right ? right * columns : column };
  }
  const leads = {
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: far ? 0 : row, column: 0 },
    End: { row: far ? rows : row, column: columns },
  };
  return Object.hasOwn(leads, key) ? leads[key] : null;
}
