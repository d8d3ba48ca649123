// Texts truncated to a width.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cutText, makeTextMeasure } from "../../walletframe/pickers/page/cells.js";

const one = (text) => [...text].length;

test("a text that fits is whole", () => {
  assert.equal(cutText("ETH.0x1111…1111", 15, one), "ETH.0x1111…1111");
});

test("the end of a text is kept", () => {
  assert.equal(cutText("ETH.0x1111…1111", 12, one), "ETH.0x1…1111");
  assert.equal(cutText("Treasury of the foundation", 12, one), "Treasur…tion");
});

test("with room for one end alone, the first is kept", () => {
  assert.equal(cutText("ETH.0x1111…1111", 8, one), "ETH.0x1…");
  assert.equal(cutText("ETH.0x1111…1111", 9, one), "ETH.…1111");
});

test("no two marks are adjacent, and letters stay whole", () => {
  assert.equal(cutText("ETH.0x1111…1111", 11, one), "ETH.0x…1111");
  assert.equal(cutText("a…bbbbbbbbbbbb", 3, one), "a…");
  assert.equal(cutText("😀😀😀😀", 3, one), "😀😀…");
});

test("each letter is measured once", () => {
  const measured = [];
  const widthOf = makeTextMeasure((letter) => measured.push(letter) && 2);
  assert.equal(widthOf("aba") + widthOf("ab"), 10);
  assert.deepEqual(measured, ["a", "b"]);
});
