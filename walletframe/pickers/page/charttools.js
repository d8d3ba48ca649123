// The tools above a chart: select boxes, breadcrumb and summary.

import { button, element, linkButton, selectBox, setProp, setText, uniqueId } from "./elements.js";

const CHOICES = { chart: "Chart", measure: "Measure", group: "Group by", combine: "Combine" };

const INCLUDED = ["spam", "small", "bridged"];

/**
 * Make the tools of a chart. Return a function that shows Python's answer in these tools.
 *
 * @param {HTMLElement} bar the element for the select boxes
 * @param {{heading: HTMLElement, title: HTMLElement}} parts the breadcrumb precedes the title, and
 *   the summary ends the heading
 * @param {(changes: object) => void} refresh sends changes to Python
 * @param {AbortSignal} signal removes the listeners
 */
export function makeChartTools(bar, { heading, title }, refresh, signal) {
  const summary = makeSummaryLine();
  const path = element("nav", { class: "wf-path", "aria-label": "Selection" });
  const choices = Object.entries(CHOICES).map(([name, label]) => [
    name,
    selectBox(label, (chosen) => refresh({ [name]: chosen })),
  ]);
  const included = makeIncludedMenu(refresh, signal);
  const row = element("div", { class: "wf-chart-row", role: "group", "aria-label": "Chart" });
  row.append(...choices.map(([, { root: list }]) => list), included.root);
  bar.append(row);
  title.before(path);
  heading.append(summary.root);
  return (content) => {
    summary.show(content.summary);
    for (const [name, list] of choices) list.show(content[`${name}s`], content[name]);
    included.show(content);
    showBreadcrumb(path, content.crumbs, refresh);
  };
}

/** Make the summary line: total value, known wallets, date and missing prices. */
function makeSummaryLine() {
  const root = element("p", { class: "wf-summary", role: "status" });
  const show = ({ known, value, prices, as_of: asOf, simulated, unpriced }) => {
    const counts = [known, asOf, unpriced].filter(Boolean).map((text) => element("span", {}, text));
    const parts = [
      simulated && element("strong", { class: "wf-mark" }, "Simulated data"),
      value && element("strong", { class: "wf-worth" }, value),
      value && prices && element("span", {}, `at ${prices}`),
      element("span", { class: "wf-counts" }, ...counts),
    ];
    root.replaceChildren(...parts.filter(Boolean));
  };
  return { root, show };
}

/** Make a menu of buttons that show or hide balances, such as spam. */
function makeIncludedMenu(refresh, signal) {
  const items = INCLUDED.map((name) => [name, button("", () => {}, { class: "wf-menu-item" })]);
  const buttons = items.map(([, item]) => item);
  const names = { class: "wf-menu-items", id: uniqueId(), role: "group", "aria-label": "Included" };
  const list = element("div", { ...names, hidden: true }, ...buttons);
  const open = (isOpen) => {
    list.hidden = !isOpen;
    setProp(opener, "aria-expanded", String(isOpen));
  };
  const opener = button("Included", () => open(list.hidden), {
    class: "wf-button wf-filter",
    "aria-expanded": "false",
    "aria-controls": list.id,
  });
  const root = element("div", { class: "wf-menu" }, opener, list);
  root.onkeydown = (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    event.stopPropagation();
    open(false);
    opener.focus();
  };
  const leave = (event) => event.composedPath().includes(root) || open(false);
  document.addEventListener("pointerdown", leave, { signal });
  const show = (content) => {
    for (const [name, item] of items) {
      const { shown, text } = content[name];
      item.hidden = !text;
      setText(item, text);
      item.onclick = () => refresh({ [name]: !shown });
    }
    root.hidden = buttons.every((item) => item.hidden);
  };
  return { root, show };
}

/** Show the breadcrumb of the selection. A click on a crumb removes all later crumbs. */
function showBreadcrumb(root, crumbs, refresh) {
  root.hidden = !crumbs.length;
  const names = ["All", ...crumbs];
  const items = names.map((name, level) =>
    level === names.length - 1
      ? element("span", { "aria-current": "true" }, name)
      : linkButton(name, () => refresh({ back: level })),
  );
  root.replaceChildren(
    ...items.flatMap((item, index) =>
      index ? [element("span", { "aria-hidden": "true" }, "›"), item] : [item],
    ),
  );
}
