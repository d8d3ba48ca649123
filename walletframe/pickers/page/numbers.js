// How exact numbers are shown in the room of a column: whole, cut with a mark, or told roughly.

const ROUGH_DIGITS = 15; // that a float holds exactly
const BRIGHT = 4; // decimals that are not dimmed

/** Split the digits before a point into groups of three, from the right. */
export function thousands(digits) {
  return digits.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? [];
}

/** Write a whole number of many digits in three of them: 1.16e77. */
export function roughly(digits) {
  const head = digits.slice(0, ROUGH_DIGITS);
  const [mantissa, power] = Number(head).toExponential(2).split("e");
  return `${mantissa}e${Number(power) + digits.length - head.length}`;
}

/**
 * Decide how to show a number, whose parts are exact text, in the room of its column.
 *
 * @param {string} whole what stands before the point, with a sign
 * @param {string} fraction what stands behind it
 * @param {{digits: number, decimals: number}} room
 * @returns {{sign: string, whole: string, fraction: string, rest: string, instead: boolean}}
 *   `rest` are digits that are not shown, which a mark has to tell; `instead` says that what is to
 *   be shown is not the number, but near it
 */
export function numberShown(whole, fraction, room) {
  const [, sign, digits] = /^([<>]?-?)(.*)$/.exec(whole);
  const shown = { sign, whole: digits, fraction, rest: "", instead: false };
  if (!/^\d*$/.test(digits)) return { ...shown, fraction: "" };
  if (digits.length > room.digits) {
    return {
      ...shown,
      sign: `≈${shown.sign}`,
      whole: roughly(digits),
      fraction: "",
      instead: true,
    };
  }
  if (fraction.length <= room.decimals) return shown;
  const kept = fraction.slice(0, room.decimals);
  if (digits !== "0" || /[1-9]/.test(kept)) {
    return { ...shown, fraction: kept, rest: fraction.slice(room.decimals) };
  }
  return { ...shown, ...lessThan(shown.sign, room.decimals), instead: true };
}

/** Say of what is too small to be seen that it is there. */
function lessThan(sign, decimals) {
  const step = decimals ? { whole: "0", fraction: "1".padStart(decimals, "0") } : { whole: "1" };
  return { fraction: "", ...step, sign: sign ? `>${sign}` : "<" };
}

/** Split decimals into those that people read, and those that are dimmed. */
export function brightDecimals(whole, fraction) {
  const zeros = whole === "0" ? /^0*/.exec(fraction)[0].length : 0;
  const bright = Math.max(BRIGHT, zeros + 2);
  return [fraction.slice(0, bright), fraction.slice(bright)];
}
