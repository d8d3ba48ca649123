// Shortened addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shortenAddress } from "../../walletframe/pickers/page/elements.js";

test("a long address keeps both ends, a short one is whole", () => {
  assert.equal(shortenAddress("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"), "0xa0b8…eb48");
  assert.equal(shortenAddress("alice.near"), "alice.near");
  assert.equal(shortenAddress("abcdefghijklm"), "abcdefghijklm");
});
