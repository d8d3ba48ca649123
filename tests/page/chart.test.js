// Charts: clicks and colours.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clickedLegendEntry,
  clickedPoint,
  escapeForPlotly,
} from "../../walletframe/pickers/page/chart.js";
import { layoutInPageColors, toRgba } from "../../walletframe/pickers/page/plotly.js";

test("a click is on a node, a bar, a slice or a cell", () => {
  const clicked = (point) => clickedPoint({ points: [point] });
  assert.deepEqual(clicked({ data: { type: "treemap" }, id: "t5w3b0" }), { id: "t5w3b0" });
  assert.equal(clicked({ data: { type: "sunburst" } }), null);
  const cell = { data: { type: "heatmap" }, curveNumber: 0, pointNumber: [2, 3] };
  assert.deepEqual(clicked(cell), { trace: 0, point: [2, 3] });
  const bar = { data: { type: "bar" }, curveNumber: 4, pointNumber: 1 };
  assert.deepEqual(clicked(bar), { trace: 4, point: 1 });
  assert.deepEqual(clicked({ data: { type: "pie" }, curveNumber: 0, i: 2 }), {
    trace: 0,
    point: 2,
  });
  assert.equal(clickedPoint(undefined), null);
  assert.equal(clickedPoint({ points: [] }), null);
});

test("an entry of a legend is a series, or a slice by its label", () => {
  const bars = [{ type: "bar" }, { type: "bar" }];
  assert.deepEqual(clickedLegendEntry({ data: bars, curveNumber: 1 }), { token: 1 });
  const pie = [{ type: "pie", labels: ["ETH", "USDC"] }];
  assert.deepEqual(clickedLegendEntry({ data: pie, curveNumber: 0, label: "USDC" }), { token: 1 });
  assert.equal(clickedLegendEntry({ data: [], curveNumber: 0 }), null);
});

test("mixed colours are written as plotly reads them", () => {
  assert.equal(toRgba("rgb(1, 2, 3)"), "rgb(1, 2, 3)");
  assert.equal(toRgba("color(srgb 1 0.5 0)"), "rgba(255, 128, 0, 1)");
  assert.equal(toRgba("color(srgb 0 0 1e-3 / 0.25)"), "rgba(0, 0, 0, 0.25)");
});

test("a layout is painted, and its own colours stay", () => {
  const colors = { text: "#111", back: "#fff", line: "#ccc", faint: "#777", font: "Sans" };
  const given = { height: 9, xaxis: { gridcolor: "red", side: "top" }, yaxis2: {} };
  const painted = layoutInPageColors(given, colors);
  assert.equal(painted.font.color, "#111");
  assert.equal(painted.height, 9);
  assert.deepEqual([painted.xaxis.gridcolor, painted.xaxis.side], ["red", "top"]);
  assert.equal(painted.yaxis2.gridcolor, "#ccc");
  assert.ok(painted.font.size >= 11 && painted.hoverlabel.font.size >= 11);
  assert.deepEqual(given.yaxis2, {});
});

test("text is escaped for plotly", () => {
  assert.equal(escapeForPlotly("<b>$A & B$</b>"), "&lt;b&gt;&#36;A &amp; B&#36;&lt;/b&gt;");
});
