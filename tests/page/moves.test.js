// The keyboard in a grid.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellAfterKey } from "../../walletframe/pickers/page/keyboard.js";

const SIZE = { rows: 100, columns: 4, page: 10 };
const at = (row, column) => ({ row, column });
const press = (from, key, ctrl = false) => cellAfterKey(from, { key, ctrl }, SIZE);

test("arrows move by one, and stop at the edges", () => {
  assert.deepEqual(press(at(3, 1), "ArrowDown"), at(4, 1));
  assert.deepEqual(press(at(0, 0), "ArrowUp"), at(0, 0));
  assert.deepEqual(press(at(0, 0), "ArrowLeft"), at(0, 0));
  assert.deepEqual(press(at(99, 3), "ArrowRight"), at(99, 3));
});

test("pages, and the ends of a row and of all", () => {
  assert.deepEqual(press(at(3, 1), "PageDown"), at(13, 1));
  assert.deepEqual(press(at(3, 1), "PageUp"), at(0, 1));
  assert.deepEqual(press(at(3, 1), "End"), at(3, 3));
  assert.deepEqual(press(at(3, 1), "Home"), at(3, 0));
  assert.deepEqual(press(at(3, 1), "End", true), at(99, 3));
  assert.deepEqual(press(at(3, 1), "Home", true), at(0, 0));
  assert.deepEqual(press(at(3, 1), "ArrowDown", true), at(99, 1));
  assert.deepEqual(press(at(3, 1), "ArrowLeft", true), at(3, 0));
});

test("other keys move nothing, nor does any key without rows", () => {
  assert.equal(press(at(3, 1), "x"), null);
  assert.equal(press(at(3, 1), "toString"), null);
  assert.equal(
    cellAfterKey(at(0, 0), { key: "ArrowDown", ctrl: false }, { ...SIZE, rows: 0 }),
    null,
  );
});
