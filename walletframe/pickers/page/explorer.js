// The explorer: a toolbar, a chart, exports, and a table.

import { Chart } from "./chart.js";
import { button, element, setProp, uniqueId } from "./elements.js";
import { makeFetchButtons, showStatus } from "./fetching.js";
import { Filters } from "./filters.js";
import { requestPlotly } from "./plotly.js";
import { Table } from "./table.js";
import { Exports } from "./exports.js";
import { followTrait, Kernel, widget } from "./widget.js";

const PICTURE_DELAY_MS = 2_000; // a picture takes as long as the chart itself

class Explorer {
  #edition = -1; // of the displayed holdings
  #rowsId = ""; // of the displayed rows

  constructor(context) {
    const { model, root, kernel, signal } = context;
    Object.assign(this, { kernel, root });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
    const parts = explorerParts();
    this.alerts = parts.alerts;
    this.filters = new Filters({
      kernel,
      titles: model.get("_filters"),
      choose: (filter, values) => this.chart.refresh({ pick: { filter, values } }),
      signal,
    });
    this.exports = new Exports(kernel, (format) => this.chart.exportImage(format), signal);
    const fetching = makeFetchButtons(context, "Refresh", "Fetch all wallets again");
    parts.tools.append(...fetching.buttons, ...this.exports.buttons);
    Object.assign(this, { parts, retry: fetching.retry });
    this.status = makeSection("About these wallets", (panel) => this.#fillStatus(panel));
    const { buttons, panels } = this.filters;
    parts.bar.append(buttons);
    parts.top.append(makeViewButton(parts.bar), parts.bar);
    parts.stage.append(element("div", { class: "wf-explorer-both" }, panels, parts.main));
    root.append(parts.top, parts.stage, parts.foot, fetching.progress, this.exports.root);
    root.append(parts.alerts, parts.rows);
    this.table = new Table(parts.rows, kernel, {
      pick: (cell) => this.chart.refresh({ only: cell }),
      signal,
    });
    this.chart = new Chart(parts.main, kernel, {
      version: model.get("_plotly"),
      onAnswer: (content) => this.#show(content),
      bar: parts.bar,
      before: this.table.painted,
      signal,
    });
    parts.foot.append(this.chart.notesSection, this.status.root, parts.tools);
    this.chart.refresh();
    followTrait(model, "_edition", (edition) => this.#showEdition(edition), signal);
  }

  /** Refresh the chart after a change by Python or by another front end. */
  #showEdition(edition) {
    if (!this.kernel.isPending("chart") && edition > this.#edition) this.chart.refresh();
  }

  #show({ edition, rows, chosen, data_id: dataId, all_failed: failed }) {
    this.#edition = edition;
    this.#showFailed(failed);
    this.filters.show(chosen, dataId);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#sendPicture(), PICTURE_DELAY_MS);
    if (rows === this.#rowsId) return;
    if (this.#rowsId) {
      this.table.store.open();
      this.exports.hide();
      this.status.refill();
    }
    this.#rowsId = rows;
    this.filters.narrow();
  }

  /** Send a picture of the chart for the saved notebook. */
  async #sendPicture() {
    if (!this.root.clientWidth || !this.root.closest(".jp-OutputArea")) return;
    const url = await this.chart.exportImage("webp"); // a PNG would be five times as large
    this.kernel.send("picture", { image: url.slice("data:".length) });
  }

  /** If all wallets failed, show only the reason and the retry button. */
  #showFailed(failed) {
    const { top, rows, tools } = this.parts;
    top.hidden = rows.hidden = failed;
    if (failed) this.chart.reason.after(this.retry);
    else tools.append(this.retry);
  }

  async #fillStatus(panel) {
    const answer = await this.kernel.request("status");
    if (answer) showStatus(panel, answer.content);
  }
}

function explorerParts() {
  const part = (name) => element("div", { class: `wf-explorer-${name}` });
  const names = ["top", "bar", "foot", "tools", "alerts", "stage", "main", "rows"];
  return Object.fromEntries(names.map((name) => [name, part(name)]));
}

/** Make a button that shows and hides the toolbar on a narrow page. A choice hides it, too. */
function makeViewButton(bar) {
  bar.id = uniqueId();
  const toggle = () => setProp(opener, "aria-expanded", String(bar.classList.toggle("wf-open")));
  bar.addEventListener("change", () => {
    if (!bar.classList.contains("wf-open")) return;
    toggle();
    opener.focus({ preventScroll: true });
  });
  const opener = button("View", toggle, {
    class: "wf-button wf-filter wf-view",
    "aria-expanded": "false",
    "aria-controls": bar.id,
  });
  return opener;
}

/** Make a section that is filled when it opens, and by `refill`. */
function makeSection(title, fill) {
  const panel = element("div");
  const root = element("details", { class: "wf-status" }, element("summary", {}, title), panel);
  const refill = () => root.open && fill(panel);
  root.addEventListener("toggle", refill);
  return { root, refill };
}

/** Request plotly.js as soon as Python can send the script. It runs after the rows are painted. */
function initialize({ model }) {
  const ended = new AbortController();
  const kernel = new Kernel(model, ended.signal);
  const load = () => requestPlotly(model.get("_plotly"), kernel);
  followTrait(model, "_edition", (edition) => edition >= 0 && load(), ended.signal);
  return () => ended.abort();
}

export default { initialize, ...widget((context) => new Explorer(context).alerts) };
