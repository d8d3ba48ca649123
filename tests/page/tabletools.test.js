// Clicks on headings, and the text and copy of a cell.

import assert from "node:assert/strict";
import { test } from "node:test";

import { clipboardText, fullText, fullTextWithName } from "../../walletframe/pickers/page/cells.js";
import { nextSort, noRowsText } from "../../walletframe/pickers/page/tabletools.js";

test("a heading sorts numbers by the largest first, texts from A, and then the other way", () => {
  const amount = { name: "amount", number: true };
  assert.deepEqual(nextSort(amount, { sort: "" }), { sort: "amount", down: true });
  assert.deepEqual(nextSort(amount, { sort: "amount", down: true }), {
    sort: "amount",
    down: false,
  });
  const token = { name: "token", number: false };
  assert.deepEqual(nextSort(token, { sort: "amount", down: true }), {
    sort: "token",
    down: false,
  });
});

test("an empty table has its reason, and a hint about a search of groups", () => {
  assert.equal(noRowsText({ find: " ", by: "wallet" }), "There are no rows to show.");
  assert.equal(noRowsText({ find: "usdc", by: "" }), "No row matches.");
  assert.match(
    noRowsText({ find: "usdc", by: "wallet" }),
    /To search all balances, group by nothing/,
  );
});

test("a cell is read and copied exactly", () => {
  assert.equal(fullText({ integer: "12", fraction: "50" }), "12.50");
  assert.equal(fullText({ integer: "<0", fraction: "01", copy: "0.00012" }), "0.00012");
  assert.equal(fullText({ integer: "", fraction: "", note: "5 base units" }), "5 base units");
  assert.equal(fullText({ text: "0xa0b8…eb48", full: "0xa0b86991" }), "0xa0b86991");
  const named = { text: "Ada", aside: ["ETH.0x1…1"], full: "ETH.0x111" };
  assert.deepEqual(
    [fullTextWithName(named), clipboardText(named)],
    ["Ada · ETH.0x111", "ETH.0x111"],
  );
  assert.equal(fullTextWithName({ text: "ETH.0x1…1", aside: [], full: "ETH.0x111" }), "ETH.0x111");
  const formula = { text: "=1+1", copy: "'=1+1" };
  assert.deepEqual([fullText(formula), clipboardText(formula)], ["=1+1", "'=1+1"]);
});
