// Exact numbers in a column's width: whole, shortened with a mark, or rounded.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  approximate,
  fitNumber,
  groupThousands,
  splitDecimals,
} from "../../walletframe/pickers/page/numbers.js";

const ROOM = { digits: 9, decimals: 4 };
const written = ({ sign, integer, fraction }) => `${sign}${integer}${fraction && `.${fraction}`}`;

test("digits are grouped from the right", () => {
  assert.deepEqual(groupThousands("1234567"), ["1", "234", "567"]);
  assert.deepEqual(groupThousands("123"), ["123"]);
  assert.deepEqual(groupThousands(""), []);
});

test("a number that fits is whole", () => {
  for (const [integer, fraction] of [
    ["0", ""],
    ["0", "5"],
    ["123456789", "1234"],
  ]) {
    const shown = fitNumber(integer, fraction, ROOM);
    assert.equal(written(shown), fraction ? `${integer}.${fraction}` : integer);
    assert.deepEqual([shown.hidden, shown.isApproximate], ["", false]);
  }
});

test("decimals that don't fit are hidden, digit for digit", () => {
  const shown = fitNumber("1", "123456789", ROOM);
  assert.equal(written(shown), "1.1234");
  assert.deepEqual([shown.hidden, shown.isApproximate], ["56789", false]);
});

test("a number too small to display is never zero", () => {
  assert.equal(written(fitNumber("0", "000001", ROOM)), "<0.0001");
  assert.equal(written(fitNumber("-0", "000001", ROOM)), ">-0.0001");
  assert.equal(written(fitNumber("0", "000001", { digits: 9, decimals: 0 })), "<1");
  assert.equal(fitNumber("0", "00001", ROOM).isApproximate, true);
  assert.equal(written(fitNumber("0", "00012", ROOM)), "0.0001");
});

test("a number too large to display is rounded, with a mark", () => {
  const largest = String(2n ** 256n - 1n);
  const shown = fitNumber(largest, "5", ROOM);
  assert.equal(written(shown), "≈1.16e77");
  assert.equal(shown.isApproximate, true);
  assert.equal(written(fitNumber(`-${largest}`, "", ROOM)), "≈-1.16e77");
});

test("rough numbers carry, however long they are", () => {
  assert.equal(approximate("9999999999"), "1.00e10");
  assert.equal(approximate("1".repeat(4000)), "1.11e3999");
});

test("signs and other texts are unchanged", () => {
  assert.equal(written(fitNumber("-12", "5", ROOM)), "-12.5");
  assert.equal(written(fitNumber("<0", "01", ROOM)), "<0.01");
  assert.equal(written(fitNumber("Infinity", "", ROOM)), "Infinity");
});

test("decimals beyond the usual ones are dimmed", () => {
  assert.deepEqual(splitDecimals("12", "123456"), ["1234", "56"]);
  assert.deepEqual(splitDecimals("0", "00000123"), ["0000012", "3"]);
  assert.deepEqual(splitDecimals("0", "5"), ["5", ""]);
});
