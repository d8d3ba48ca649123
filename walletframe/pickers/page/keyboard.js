// Where the keys of a list lead.

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 7, PageUp: -7 };

/**
 * Return the row to which a key leads, or null where it is none of the list's keys.
 *
 * Home and End belong to the text until a row was reached by another key.
 *
 * @param {string} key
 * @param {number} active the row of now, -1 for none
 * @param {number} count of rows
 */
export function rowAfter(key, active, count) {
  if (count === 0) return null;
  if (key in STEPS) {
    if (active < 0) return STEPS[key] > 0 ? 0 : count - 1;
    return Math.max(0, Math.min(count - 1, active + STEPS[key]));
  }
  if (active < 0) return null;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
