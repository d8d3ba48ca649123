// A picker's search, its keys, and its texts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rowAfterKey } from "../../walletframe/pickers/page/keyboard.js";
import { findIndices, keyOf, NO_OPTIONS, Options } from "../../walletframe/pickers/page/options.js";
import {
  balancesText,
  countText,
  selectAllText,
  statusText,
  unknownLinesText,
} from "../../walletframe/pickers/page/pickerparts.js";

const USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
const TOKENS = {
  values: [
    ["ETH", USDC],
    ["ETH", null],
    ["BSC", "0x1"],
  ],
  names: ["USDC", "ETH", "no symbol"],
  chains: ["ETH", "BSC"],
  chain_indices: [0, 0, 1],
  full_texts: [null, "native coin", "0X1"],
  short: { 1: "ETH (ETH native coin)" },
  search_text: { 2: "fake coin" },
  balances: [12, 1, null],
  value_texts: ["1.2M", "", ""],
  sorted: "value in USD",
  remaining: null,
};

test("a line of a pasted list names options in any usual spelling", () => {
  const options = new Options(TOKENS);
  assert.deepEqual(options.indicesInLine(" usdc "), [0]);
  assert.deepEqual(options.indicesInLine(`ETH\t${USDC.toUpperCase()}`), [0]);
  assert.deepEqual(options.indicesInLine("eth"), [1]);
  assert.deepEqual(options.indicesInLine("0x1"), [2]);
  assert.deepEqual(options.indicesInLine("usd"), []);
  assert.equal(unknownLinesText([]), "");
  assert.equal(unknownLinesText(["A", " B"]), "No option is named A, B.");
  assert.equal(unknownLinesText(["A", "B", "C", "D"]), "No option is named A, B, C, and 1 more.");
});

test("words are found in any order and case; the name itself comes first", () => {
  const texts = ["ausd", "usdc eth", "usd near", "usdt"];
  assert.deepEqual(findIndices(texts, [0, 1, 2, 3], " USD "), [2, 1, 3, 0]);
  assert.deepEqual(findIndices(texts, [0, 1, 2, 3], "ETH usdc"), [1]);
  assert.deepEqual(findIndices(texts, [2, 0], ""), [2, 0]);
});

test("twenty thousand options are searched in a moment", () => {
  const texts = Array.from({ length: 20_000 }, (_, number) => `tk${number} bsc 0x${number}`);
  const places = texts.map((_, place) => place);
  assert.equal(findIndices(texts, places, "tk19").length, 1_111);
});

test("an option shows name, blockchain and address, and is found by more", () => {
  const options = new Options(TOKENS);
  assert.equal(options.label(0), `USDC · ETH · ${USDC}`);
  assert.equal(options.fullText(2), "0X1");
  assert.equal(options.short(0), "USDC");
  assert.equal(options.short(1), "ETH (ETH native coin)");
  assert.deepEqual(findIndices(options.searchTexts, options.remaining, "fake"), [2]);
  assert.deepEqual(findIndices(options.searchTexts, options.remaining, USDC.toUpperCase()), [0]);
  assert.equal(options.indexOf(keyOf(["ETH", null])), 1);
  assert.equal(options.indexOf(keyOf("ETH")), undefined);
});

test("a wallet without a name shows its address", () => {
  const columns = {
    ...TOKENS,
    values: ["NEAR.alice.near"],
    full_texts: [null],
    chain_indices: [0],
  };
  const options = new Options({ ...columns, names: [""], chains: ["NEAR"], short: {} });
  assert.equal(options.fullText(0), "alice.near");
  assert.equal(options.short(0), "alice.near");
  assert.equal(options.label(0), "NEAR · alice.near");
});

test("remaining options have their own figures, in their own order", () => {
  const options = new Options(TOKENS);
  assert.deepEqual([options.balances(0), options.valueText(0)], [12, "1.2M"]);
  options.narrow({ indices: [2, 0], balances: [3, 4], value_texts: ["9", ""] });
  assert.deepEqual(options.remaining, [2, 0]);
  assert.deepEqual([options.balances(2), options.valueText(2)], [3, "9"]);
  assert.deepEqual([options.balances(0), options.valueText(0)], [4, ""]);
  assert.equal(options.isRemaining(1), false);
  options.narrow(null);
  assert.deepEqual(options.remaining, [0, 1, 2]);
  assert.equal(options.valueText(0), "1.2M");
});

test("options without figures, or no options", () => {
  const options = new Options(NO_OPTIONS);
  assert.deepEqual([options.count, options.haveBlockchains], [0, false]);
  const { balances, value_texts, ...bare } = TOKENS;
  assert.ok(balances && value_texts);
  assert.deepEqual(
    [new Options(bare).balances(0), new Options(bare).valueText(0)],
    [undefined, ""],
  );
});

test("arrows move, and stop at the ends", () => {
  assert.equal(rowAfterKey("ArrowDown", -1, 10), 0);
  assert.equal(rowAfterKey("ArrowUp", -1, 10), 9);
  assert.equal(rowAfterKey("ArrowDown", 9, 10), 9);
  assert.equal(rowAfterKey("PageUp", 3, 10), 0);
  assert.equal(rowAfterKey("ArrowDown", -1, 0), null);
});

test("Home and End belong to the text until a row was reached", () => {
  assert.equal(rowAfterKey("Home", -1, 10), null);
  assert.equal(rowAfterKey("Home", 4, 10), 0);
  assert.equal(rowAfterKey("End", 4, 10), 9);
  assert.equal(rowAfterKey("a", 4, 10), null);
});

test("a picker shows its counts", () => {
  const all = { typed: "", found: 20_000, remaining: 20_000, all: 20_000, unchosen: 20_000 };
  assert.equal(countText(all), "20,000 to choose from");
  assert.equal(countText({ ...all, typed: "tk", found: 7 }), "7 of 20,000 match");
  assert.equal(countText({ ...all, remaining: 7 }), "7 of 20,000 available");
  assert.equal(selectAllText(all), "Select all 20,000");
  assert.equal(selectAllText({ ...all, typed: "tk", found: 7 }), "Select all 7 that match");
  assert.equal(
    selectAllText({ ...all, remaining: 7, found: 7, unchosen: 0 }),
    "Remove all 7 available",
  );
  assert.equal(selectAllText({ ...all, found: 1 }), "");
  const counts = { ...all, typed: "u", found: 3, chosen: 2 };
  assert.equal(
    statusText({ ...counts, enter: "USDC" }),
    "3 of 20,000 match, 2 selected, Enter selects USDC",
  );
  assert.equal(statusText({ ...all, chosen: 0, enter: "" }), "20,000 to choose from, 0 selected");
  assert.deepEqual(balancesText(1), ["1", " balance"]);
  assert.deepEqual(balancesText(2_000), ["2,000", " balances"]);
  assert.deepEqual(balancesText(null), ["", ""]);
  assert.deepEqual(balancesText(undefined), ["", ""]);
});
