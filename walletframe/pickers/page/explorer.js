// The explorer: a summary line, filters, a chart, a table, and exports.

import { Chart } from "./chart.js";
import { element } from "./elements.js";
import { fetchBar, showStatus } from "./fetching.js";
import { Filters } from "./filters.js";
import { plotlyOf } from "./plotly.js";
import { Table } from "./table.js";
import { TakeAway } from "./takeaway.js";
import { follow, Kernel, widget } from "./widget.js";

class Explorer {
  #edition = -1; // of the displayed holdings
  #rows = ""; // an id of the displayed rows

  constructor(part) {
    const { model, root, kernel, signal } = part;
    this.kernel = kernel;
    const parts = explorerParts();
    this.alerts = parts.alerts;
    this.filters = new Filters({
      kernel,
      titles: model.get("_filters"),
      choose: (of, values) => this.chart.refresh({ pick: { of, values } }),
      signal,
    });
    this.taken = new TakeAway(kernel, (format) => this.chart.image(format), signal);
    const { buttons, far } = fetchBar(part, "Refresh", "Fetch all wallets again");
    parts.tools.append(...buttons, ...this.taken.buttons);
    parts.head.append(parts.summary, parts.tools);
    this.status = foldOf("About these wallets", (place) => this.#fill(place));
    const { buttons: filters, places } = this.filters;
    root.append(parts.head, far, this.status.root, this.taken.root, parts.alerts, filters);
    parts.stage.append(element("div", { class: "wf-explorer-both" }, places, parts.main));
    root.append(parts.stage, parts.rows);
    this.chart = new Chart(parts.main, kernel, {
      version: model.get("_plotly"),
      shown: (content) => this.#show(content),
      summary: parts.summary,
      signal,
    });
    this.chart.refresh();
    this.table = new Table(parts.rows, kernel, {
      pick: (said) => this.chart.refresh({ only: said }),
      signal,
    });
    follow(model, "_edition", (edition) => this.#follow(edition), signal);
  }

  /** Refresh the chart after a change by Python or by another front end of this widget. */
  #follow(edition) {
    if (!this.kernel.isAsked("chart") && edition > this.#edition) this.chart.refresh();
  }

  #show({ edition, rows, chosen, offered }) {
    this.#edition = edition;
    this.filters.show(chosen, offered);
    if (rows === this.#rows) return;
    if (this.#rows) {
      this.table.store.open();
      this.taken.forget();
      this.status.again();
    }
    this.#rows = rows;
    this.filters.narrow();
  }

  async #fill(place) {
    const answer = await this.kernel.ask("status");
    if (answer) showStatus(place, answer.content);
  }
}

function explorerParts() {
  const part = (name) => element("div", { class: `wf-explorer-${name}` });
  const names = ["head", "summary", "tools", "alerts", "stage", "main", "rows"];
  return Object.fromEntries(names.map((name) => [name, part(name)]));
}

/** Make a section that is filled each time it is opened, and when its data changes. */
function foldOf(title, fill) {
  const place = element("div");
  const root = element("details", { class: "wf-status" }, element("summary", {}, title), place);
  const again = () => root.open && fill(place);
  root.addEventListener("toggle", again);
  return { root, again };
}

/** Load plotly.js as soon as Python can send it, since loading it is the slowest step. */
function initialize({ model }) {
  const ended = new AbortController();
  const kernel = new Kernel(model, ended.signal);
  const load = () => plotlyOf(model.get("_plotly"), kernel).catch(() => {}); // see the chart
  follow(model, "_edition", (edition) => edition >= 0 && load(), ended.signal);
  return () => ended.abort();
}

export default { initialize, ...widget((part) => new Explorer(part).alerts) };
