// What a click in a chart was on, in words that Python understands.

const NODES = new Set(["treemap", "sunburst"]);

/** Say what was clicked in a chart: a node, a slice, a bar or a cell; null where it was nothing. */
export function clickedPoint(event) {
  const [point] = event?.points ?? [];
  if (!point) return null;
  const type = point.data?.type;
  if (NODES.has(type)) return point.id === undefined ? null : { id: String(point.id) };
  if (type === "heatmap") return { trace: point.curveNumber, point: [...point.pointNumber] };
  return { trace: point.curveNumber, point: point.pointNumber ?? point.i ?? null };
}

/** Say which entry of a legend was clicked: slices of a pie share a trace, and have labels. */
export function clickedEntry(event) {
  const trace = event?.data?.[event.curveNumber];
  if (!trace) return null;
  if (trace.type === "pie") return { token: [...trace.labels].indexOf(event.label) };
  return { token: event.curveNumber };
}
