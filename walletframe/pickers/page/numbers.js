// Numbers in the width of a column: with all digits, with hidden decimals, or approximate.

const ROUGH_DIGITS = 15; // number of digits that a float holds exactly
const BRIGHT_DECIMALS = 4; // number of decimals that are not dimmed

/** Split the digits before the decimal point into groups of three, from the right. */
export function groupThousands(digits) {
  return digits.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? [];
}

/** Round a large integer to three significant digits, such as 1.16e77. */
export function approximate(digits) {
  const head = digits.slice(0, ROUGH_DIGITS);
  const [mantissa, power] = Number(head).toExponential(2).split("e");
  return `${mantissa}e${Number(power) + digits.length - head.length}`;
}

/**
 * Fit a number into the width of its column: exact, with hidden decimals, or approximate.
 *
 * @param {string} integer the integer part, with a sign
 * @param {string} fraction the digits after the decimal point
 * @param {{digits: number, decimals: number}} limits the maximum numbers of digits
 * @returns {{sign: string, integer: string, fraction: string, hidden: string,
 *   isApproximate: boolean}} a mark stands for the `hidden` decimals
 */
export function fitNumber(integer, fraction, limits) {
  const [, sign, digits] = /^([<>]?-?)(.*)$/.exec(integer);
  const exact = { sign, integer: digits, fraction, hidden: "", isApproximate: false };
  if (!/^\d*$/.test(digits)) return { ...exact, fraction: "" };
  if (digits.length > limits.digits) {
    const rounded = { sign: `≈${sign}`, integer: approximate(digits), fraction: "" };
    return { ...exact, ...rounded, isApproximate: true };
  }
  if (fraction.length <= limits.decimals) return exact;
  const kept = fraction.slice(0, limits.decimals);
  if (digits !== "0" || /[1-9]/.test(kept)) {
    return { ...exact, fraction: kept, hidden: fraction.slice(limits.decimals) };
  }
  return { ...exact, ...numberBound(sign, limits.decimals), isApproximate: true };
}

/** Return a bound such as <0.01 for a number that is too small for the available decimals. */
function numberBound(sign, decimals) {
  const [integer, fraction] = decimals ? ["0", "1".padStart(decimals, "0")] : ["1", ""];
  return { integer, fraction, sign: sign ? `>${sign}` : "<" };
}

/** Split decimals into bright decimals and dimmed decimals. */
export function splitDecimals(integer, fraction) {
  const zeros = integer === "0" ? /^0*/.exec(fraction)[0].length : 0;
  const bright = Math.max(BRIGHT_DECIMALS, zeros + 2);
  return [fraction.slice(0, bright), fraction.slice(bright)];
}
