// Numbers in the width of a column: all digits, the first digits with a mark, or approximate.

const ROUGH_DIGITS = 15; // number of digits that a float holds exactly
const BRIGHT = 4; // number of decimals that are not dimmed

/** Split the digits before the decimal point into groups of three, from the right. */
export function thousands(digits) {
  return digits.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? [];
}

/** Format a large integer with three significant digits, such as 1.16e77. */
export function roughly(digits) {
  const head = digits.slice(0, ROUGH_DIGITS);
  const [mantissa, power] = Number(head).toExponential(2).split("e");
  return `${mantissa}e${Number(power) + digits.length - head.length}`;
}

/**
 * Return how a number is shown in the width of its column; its parts are exact text.
 *
 * @param {string} whole the integer part, with a sign
 * @param {string} fraction the digits after the decimal point
 * @param {{digits: number, decimals: number}} room the maximum numbers of digits
 * @returns {{sign: string, whole: string, fraction: string, rest: string, instead: boolean}}
 *   `rest` contains the digits that are replaced by a mark; `instead` is true if the returned
 *   number is approximate
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

/** Return a bound such as <0.01 for a number that is too small for the available decimals. */
function lessThan(sign, decimals) {
  const step = decimals ? { whole: "0", fraction: "1".padStart(decimals, "0") } : { whole: "1" };
  return { fraction: "", ...step, sign: sign ? `>${sign}` : "<" };
}

/** Split decimals into bright decimals and dimmed decimals. */
export function brightDecimals(whole, fraction) {
  const zeros = whole === "0" ? /^0*/.exec(fraction)[0].length : 0;
  const bright = Math.max(BRIGHT, zeros + 2);
  return [fraction.slice(0, bright), fraction.slice(bright)];
}
