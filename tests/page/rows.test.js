// The rows that the page has: in blocks, one request at a time, the newest order first.

import assert from "node:assert/strict";
import { test } from "node:test";

import { missingRows, rowsAhead, RowStore } from "../../walletframe/pickers/page/rows.js";

/** Python as the page sees it: it counts rows, and answers on command. */
function fakePython(total) {
  const python = { asked: [], table: "1" };
  python.request = (kind, said) =>
    new Promise((settle) => python.asked.push({ kind, ...said, settle }));
  python.answer = ({ start, count, sort, settle }, failed = false) => {
    const end = Math.min(start + count, total);
    const text = Array.from({ length: end - start }, (_, at) => `${sort} ${start + at}`);
    const given = { by: "", sort, down: false, table: python.table, total };
    settle(
      failed ? null : { content: { ...given, start, count: text.length, cells: { a: { text } } } },
    );
    return new Promise((done) => setImmediate(done));
  };
  return python;
}

function storeOf(python) {
  const heard = { opened: 0, rows: [] };
  const store = new RowStore(python, {
    onOpened: () => (heard.opened += 1),
    onRows: (first, end) => heard.rows.push([first, end]),
    onLate: (isLate) => (heard.late = isLate),
  });
  return { store, heard };
}

const textOf = (store, place) => {
  const row = store.row(place);
  return row?.cells.a.text[row.index];
};

test("missing blocks are requested as one range", () => {
  const has = (block) => block === 0 || block === 3;
  assert.deepEqual(missingRows(0, 64, 1000, has), null);
  assert.deepEqual(missingRows(10, 300, 1000, has), [64, 128]);
  assert.deepEqual(missingRows(-50, 70, 66, has), [64, 64]);
  assert.deepEqual(
    missingRows(0, 9999, 9999, () => false),
    [0, 384],
  );
});

test("rows are prefetched in the direction of movement, but not too far", () => {
  assert.deepEqual(rowsAhead([100, 140], 0), [100, 140]);
  assert.deepEqual(rowsAhead([100, 140], 3), [100, 170]);
  assert.deepEqual(rowsAhead([1000, 1040], -999), [744, 1040]);
});

test("a query's answer replaces the rows, which stay until then", async () => {
  const python = fakePython(1000);
  const { store, heard } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  assert.equal(textOf(store, 5), " 5");
  store.open({ sort: "a" });
  assert.equal(textOf(store, 5), " 5");
  await python.answer(python.asked[1]);
  assert.equal(textOf(store, 5), "a 5");
  assert.deepEqual([heard.opened, store.count, store.query.sort], [2, 1000, "a"]);
});

test("an older query's answer changes nothing", async () => {
  const python = fakePython(1000);
  const { store, heard } = storeOf(python);
  store.open({ sort: "old" });
  store.open({ sort: "new" });
  await python.answer(python.asked[0]);
  assert.equal(store.row(0), undefined);
  await python.answer(python.asked[1]);
  assert.equal(textOf(store, 0), "new 0");
  assert.equal(heard.opened, 1);
});

test("one request at a time, then one for the rows in sight", async () => {
  const python = fakePython(100_000);
  const { store, heard } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  store.setVisibleRows(5000, 5040);
  store.setVisibleRows(70_000, 70_040);
  assert.equal(python.asked.length, 2);
  await python.answer(python.asked[1]);
  assert.equal(textOf(store, 5010), " 5010");
  assert.equal(python.asked.length, 3);
  await python.answer(python.asked[2]);
  assert.equal(textOf(store, 70_020), " 70020");
  assert.equal(heard.rows.length, 2);
});

test("neighbours are fetched after the rows in sight, and then nothing more", async () => {
  const python = fakePython(100_000);
  const { store } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  store.setVisibleRows(0, 40);
  store.setVisibleRows(0, 40);
  for (let turn = 1; turn < python.asked.length; turn += 1) await python.answer(python.asked[turn]);
  assert.ok(python.asked.length <= 3);
});

test("a failed request is not repeated until something moves", async () => {
  const python = fakePython(100_000);
  const { store } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  store.setVisibleRows(5000, 5040);
  await python.answer(python.asked[1], true);
  assert.equal(python.asked.length, 2);
  store.setVisibleRows(5001, 5041);
  assert.equal(python.asked.length, 3);
});

test("rows of another table are requested again", async () => {
  const python = fakePython(100_000);
  const { store, heard } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  python.table = "2";
  store.setVisibleRows(5000, 5040);
  await python.answer(python.asked[1]);
  assert.equal(python.asked[2].start, 0);
  await python.answer(python.asked[2]);
  assert.deepEqual([heard.opened, heard.rows.length], [2, 0]);
});

test("distant rows are dropped", async () => {
  const python = fakePython(100_000);
  const { store } = storeOf(python);
  store.open();
  await python.answer(python.asked[0]);
  for (let place = 1000; place < 60_000; place += 384) {
    store.setVisibleRows(place, place + 40);
    await python.answer(python.asked.at(-1));
  }
  assert.equal(store.row(0), undefined);
});
