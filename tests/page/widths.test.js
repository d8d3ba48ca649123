// Columns for a width: the important ones first, and never wider than there is room.

import assert from "node:assert/strict";
import { test } from "node:test";

import { columnWidths, fitColumns } from "../../walletframe/pickers/page/widths.js";

const CH = 8;
const text = (name, rank, letters) => ({
  name,
  label: name,
  rank,
  number: false,
  characters_and_decimals: [letters, 0],
});
const number = (name, rank, room, bar = false) => ({
  name,
  label: name,
  rank,
  number: true,
  characters_and_decimals: room,
  bar,
});
const COLUMNS = [
  text("wallet", 3, 18),
  text("token", 0, 24),
  text("contract", 90, 11),
  number("amount", 1, [13, 18]),
  number("price", 4, [5, 6]),
  number("value", 2, [7, 2], true),
  text("owner", 20, 14),
];
const names = ({ shown }) => shown.map(({ name }) => name);
const sum = (columns) => columns.reduce((all, { width }) => all + width, 0);

test("no width is too small or unused, and no column exceeds the table", () => {
  for (let width = 180; width <= 1800; width += 7) {
    const { lines, shown } = fitColumns(COLUMNS, width, CH);
    for (let line = 1; line <= lines; line += 1) {
      const beside = shown.filter((column) => lines === 1 || column.line === line);
      assert.ok(sum(beside) <= width, `${width}: ${sum(beside)}`);
    }
    assert.ok(shown.every((column) => column.width > 0));
  }
});

test("a narrow page has two lines of the four that matter most", () => {
  const { lines, shown, hidden } = fitColumns(COLUMNS, 340, CH);
  assert.equal(lines, 2);
  assert.deepEqual(names({ shown }), ["token", "wallet", "amount", "value"]);
  assert.deepEqual(
    shown.map(({ line }) => line),
    [1, 2, 1, 2],
  );
  assert.deepEqual(hidden, ["contract", "price", "owner"]);
});

test("a wide page has all, in their order", () => {
  const fit = fitColumns(COLUMNS, 1600, CH);
  assert.deepEqual(
    names(fit),
    COLUMNS.map(({ name }) => name),
  );
  assert.deepEqual([fit.lines, fit.hidden], [1, []]);
});

test("hidden columns are less important than shown ones", () => {
  for (let width = 600; width <= 1600; width += 10) {
    const { lines, shown, hidden } = fitColumns(COLUMNS, width, CH);
    const rank = (name) => COLUMNS.find((column) => column.name === name).rank;
    if (lines === 2 || !hidden.length) continue;
    const worst = Math.max(...names({ shown }).map(rank));
    assert.ok(Math.min(...hidden.map(rank)) > worst);
  }
});

test("a number has room for its digits, and for decimals as far as they fit", () => {
  for (let width = 180; width <= 1800; width += 13) {
    for (const column of fitColumns(COLUMNS, width, CH).shown) {
      const { number: isNumber, characters_and_decimals: room } = COLUMNS.find(
        ({ name }) => name === column.name,
      );
      if (!isNumber) continue;
      assert.ok(column.decimals >= Math.min(room[1], 2));
      if (width >= 340) assert.ok(column.digits >= room[0], `${width} ${column.name}`);
    }
  }
});

test("bars get the width that texts don't need", () => {
  const value = fitColumns(COLUMNS, 1600, CH).shown.find(({ name }) => name === "value");
  const { best } = columnWidths(
    COLUMNS.find(({ name }) => name === "value"),
    CH,
  );
  assert.ok(value.width > best);
});

test("a table of few columns has one line if they fit", () => {
  const few = [text("blockchain", 0, 9), number("value", 2, [7, 2]), number("tokens", 5, [3, 0])];
  assert.equal(fitColumns(few, 400, CH).lines, 1);
  assert.equal(fitColumns(few, 250, CH).lines, 2);
});
