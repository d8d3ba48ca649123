// The tools above a chart: the summary, the breadcrumb, and the choices of the chart.

import { choice, element, linkButton, setText } from "./elements.js";

const CHOICES = { chart: "Chart", measure: "Measure", group: "Group by", thing: "Combine" };

/** Make the tools, and return a function that updates them from Python's answer for a chart. */
export function chartTools(root, refresh, head) {
  const summary = summaryLine();
  const path = element("nav", { class: "wf-path", "aria-label": "Selection" });
  const choices = Object.entries(CHOICES).map(([name, label]) => [
    name,
    choice(label, (chosen) => refresh({ [name]: chosen })),
  ]);
  const spam = onOff((on) => refresh({ spam: on }));
  const dust = onOff((on) => refresh({ dust: on }));
  const row = element("div", { class: "wf-chart-row" });
  row.append(...choices.map(([, { root: list }]) => list), spam.root, dust.root);
  head.append(summary.root);
  root.append(row, path);
  return (content) => {
    summary.show(content.summary);
    for (const [name, list] of choices) list.show(content[`${name}s`], content[name]);
    spam.show(content.spam);
    dust.show(content.dust);
    showPath(path, content.crumbs, refresh);
  };
}

/** Make the summary line: the total value, the known wallets, the date and missing prices. */
function summaryLine() {
  const root = element("p", { class: "wf-summary", role: "status" });
  const show = ({ known, value, prices, as_of: asOf, simulated, unpriced }) => {
    const parts = [
      simulated && element("strong", { class: "wf-mark" }, "Simulated data"),
      value && element("strong", { class: "wf-worth" }, value),
      value && prices && element("span", {}, `at ${prices}`),
      element("span", {}, known),
      asOf && element("span", {}, asOf),
      unpriced && element("span", { class: "wf-faint" }, unpriced),
    ];
    root.replaceChildren(...parts.filter(Boolean));
  };
  return { root, show };
}

/** Make a link that shows or hides balances, after a text with their number. */
function onOff(turn) {
  const text = element("span");
  const link = linkButton("");
  const root = element("span", { class: "wf-switch" }, text, " ", link);
  root.hidden = true;
  const show = ({ shown, text: words }) => {
    root.hidden = !words;
    setText(text, words);
    setText(link, shown ? "hide" : "show");
    link.onclick = () => turn(!shown);
  };
  return { root, show };
}

/** Show the breadcrumb of the selection. A click on a part removes the parts after it. */
function showPath(root, crumbs, refresh) {
  root.hidden = !crumbs.length;
  const names = ["All", ...crumbs];
  const items = names.map((name, level) =>
    level === names.length - 1
      ? element("span", { "aria-current": "true" }, name)
      : linkButton(name, () => refresh({ back: level })),
  );
  root.replaceChildren(
    ...items.flatMap((item, place) =>
      place ? [element("span", { "aria-hidden": "true" }, "›"), item] : [item],
    ),
  );
}
