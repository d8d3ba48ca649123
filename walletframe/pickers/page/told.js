// What is told of a fetch beside its holdings: how complete it is, which wallets failed, and why.

import { element } from "./elements.js";

/** Show the lines and the table that Python's `told` gives. */
export function showTold(root, { lines, heads, rows, more }) {
  const items = lines.map((line, place) =>
    element(place ? "p" : "strong", { class: "wf-known-line" }, line),
  );
  root.replaceChildren(...items);
  if (rows.length === 0) return;
  const titles = heads.map((head) => element("th", { scope: "col" }, head));
  const body = rows.map((row) => element("tr", {}, ...row.map(toldCell)));
  const grid = element(
    "table",
    { class: "wf-known-table", "aria-label": "Wallets with a remark" },
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...body),
  );
  root.append(grid);
  if (more > 0) root.append(element("p", { class: "wf-faint" }, `and ${more} more`));
}

function toldCell([text, whole]) {
  return element("td", whole ? { title: whole } : {}, text);
}
