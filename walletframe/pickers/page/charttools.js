// What stands above a chart: what is summed up, what is picked, and which chart of what it is.

import { choice, element, linkButton, setText } from "./elements.js";

/**
 * Make the tools of a chart.
 *
 * @param {HTMLElement} root
 * @param {(said: object) => void} refresh asks for another picture
 * @param {HTMLElement} head where the line goes that sums up
 * @returns {(content: any) => void} shows what Python said of a picture
 */
export function chartTools(root, refresh, head) {
  const summary = summaryLine();
  const path = element("nav", { class: "wf-path", "aria-label": "What is picked" });
  const kinds = choice("Chart", (name) => refresh({ chart: name }));
  const measures = choice("Measure", (name) => refresh({ measure: name }));
  const groups = choice("Group by", (name) => refresh({ group: name }));
  const things = choice("Add up", (name) => refresh({ things: name }));
  const spam = onOff((on) => refresh({ spam: on }), ["show", "hide"]);
  const dust = onOff((on) => refresh({ dust: on }), ["unfold", "fold"]);
  const row = element("div", { class: "wf-chart-row" });
  row.append(kinds.root, measures.root, groups.root, things.root, spam.root, dust.root);
  head.append(summary.root);
  root.append(row, path);
  return (content) => {
    summary.show(content.summary);
    kinds.show(
      content.charts.map((name) => [name, name]),
      content.chart,
    );
    measures.show(content.measures, content.measure);
    groups.show(content.groups, content.group);
    things.show(
      content.things.map((name) => [name, name]),
      content.thing,
    );
    spam.show(content.spam);
    dust.show(content.dust);
    showPath(path, content.crumbs, refresh);
  };
}

/** One line of what matters, and what is left out behind it. */
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

/** A switch that says how much it is about. */
function onOff(turn, [on, off]) {
  const text = element("span");
  const link = linkButton("");
  const root = element("span", { class: "wf-switch" }, text, " ", link);
  root.hidden = true;
  const show = (told) => {
    root.hidden = !told.text;
    setText(text, told.text);
    setText(link, told.shown ? off : on);
    link.onclick = () => turn(!told.shown);
  };
  return { root, show };
}

/** What is picked, kind by kind; a click on one takes back what was picked behind it. */
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
