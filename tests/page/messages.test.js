// Requests to Python: the newest of each kind counts.

import assert from "node:assert/strict";
import { test } from "node:test";

import explorer from "../../walletframe/pickers/page/explorer.js";
import { Kernel } from "../../walletframe/pickers/page/widget.js";

/** A model like anywidget's, which records its messages. */
function fakeModel() {
  const model = { sent: [], calls: [] };
  model.on = (_name, call) => model.calls.push(call);
  model.off = (_name, call) => model.calls.splice(model.calls.indexOf(call), 1);
  model.send = (content) => model.sent.push(content);
  model.say = (content, buffers) => model.calls.forEach((call) => call(content, buffers));
  return model;
}

test("an answer finds its request", async () => {
  const model = fakeModel();
  const kernel = new Kernel(model, new AbortController().signal);
  const asked = kernel.request("rows", { first: 3 });
  const [{ kind, n, first }] = model.sent;
  assert.deepEqual([kind, first], ["rows", 3]);
  model.say({ kind, n: n + 1, rows: [] });
  model.say({ kind, n, rows: [1] }, ["buffer"]);
  assert.deepEqual(await asked, { content: { kind, n, rows: [1] }, buffers: ["buffer"] });
});

test("the answer to an older request is dropped", async () => {
  const model = fakeModel();
  const kernel = new Kernel(model, new AbortController().signal);
  const [older, newer] = [kernel.request("rows"), kernel.request("rows")];
  for (const { kind, n } of model.sent) model.say({ kind, n });
  assert.equal(await older, null);
  assert.equal((await newer).content.n, model.sent[1].n);
});

test("a request that failed, or whose page is gone, is null", async () => {
  const model = fakeModel();
  const gone = new AbortController();
  const kernel = new Kernel(model, gone.signal);
  const failed = kernel.request("rows");
  model.say({ kind: "rows", n: model.sent[0].n, failed: true });
  assert.equal(await failed, null);
  const left = kernel.request("file");
  gone.abort();
  assert.equal(await left, null);
  assert.equal(model.calls.length, 0);
});

test("an explorer requests plotly.js before it is shown, if Python has it", () => {
  const model = fakeModel();
  const state = { _edition: -1, _plotly: "of this test" };
  model.get = (name) => state[name];
  const end = explorer.initialize({ model });
  assert.deepEqual(model.sent, []);
  state._edition = 0;
  model.say({});
  model.say({});
  assert.deepEqual(
    model.sent.map(({ kind }) => kind),
    ["plotly"],
  );
  end();
  assert.equal(model.calls.length, 0);
});

test("unrequested messages of Python are handled by kind", () => {
  const model = fakeModel();
  const heard = [];
  const kernel = new Kernel(model, new AbortController().signal);
  kernel.onMessage("remain", (content) => heard.push(content.places));
  model.say({ kind: "remain", places: [1] });
  model.say({ kind: "other" });
  kernel.send("seen", { first: 1 });
  assert.deepEqual(heard, [[1]]);
  assert.deepEqual(model.sent, [{ kind: "seen", first: 1 }]);
});
