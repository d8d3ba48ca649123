// Drawn rows of a long list, and scroll positions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rowsToDraw, scrollPosition } from "../../walletframe/pickers/page/virtual.js";

test("rows in sight and some around them are drawn", () => {
  assert.deepEqual(rowsToDraw(0, 100, 10, 20_000, 3), [0, 13]);
  assert.deepEqual(rowsToDraw(1_000, 100, 10, 20_000, 3), [97, 113]);
  assert.deepEqual(rowsToDraw(199_900, 100, 10, 20_000, 3), [19_987, 20_000]);
});

test("a short or empty list is drawn whole", () => {
  assert.deepEqual(rowsToDraw(0, 100, 10, 4, 3), [0, 4]);
  assert.deepEqual(rowsToDraw(0, 100, 10, 0, 3), [0, 0]);
});

test("a position beyond a shortened list draws its end", () => {
  const [first, end] = rowsToDraw(5_000, 100, 10, 4, 3);
  assert.ok(first <= end && end === 4);
});

test("scrolling goes no further than needed", () => {
  assert.equal(scrollPosition(5, 0, 100, 10), 0);
  assert.equal(scrollPosition(10, 0, 100, 10), 10);
  assert.equal(scrollPosition(3, 50, 100, 10), 30);
});
