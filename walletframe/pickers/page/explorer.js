// The explorer: a toolbar, a chart, exports, and a table.

import { Chart } from "./chart.js";
import { button, element, setPart, uniqueId } from "./elements.js";
import { fetchBar, showStatus } from "./fetching.js";
import { Filters } from "./filters.js";
import { requestPlotly } from "./plotly.js";
import { Table } from "./table.js";
import { TakeAway } from "./takeaway.js";
import { follow, Kernel, widget } from "./widget.js";

const KEEP_MS = 2_000; // drawing a picture takes plotly as long as drawing the chart

class Explorer {
  #edition = -1; // of the displayed holdings
  #rows = ""; // an id of the displayed rows

  constructor(part) {
    const { model, root, kernel, signal } = part;
    Object.assign(this, { kernel, root });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
    const parts = explorerParts();
    this.alerts = parts.alerts;
    this.filters = new Filters({
      kernel,
      titles: model.get("_filters"),
      choose: (of, values) => this.chart.refresh({ pick: { of, values } }),
      signal,
    });
    this.taken = new TakeAway(kernel, (format) => this.chart.image(format), signal);
    const { buttons, again, far } = fetchBar(part, "Refresh", "Fetch all wallets again");
    parts.tools.append(...buttons, ...this.taken.buttons);
    Object.assign(this, { parts, again });
    this.status = foldOf("About these wallets", (place) => this.#fill(place));
    parts.foot.append(this.status.root, parts.tools);
    const { buttons: filters, places } = this.filters;
    parts.bar.append(filters);
    parts.top.append(viewButton(parts.bar), parts.bar);
    parts.stage.append(element("div", { class: "wf-explorer-both" }, places, parts.main));
    root.append(parts.top, parts.stage, parts.foot, far, this.taken.root, parts.alerts, parts.rows);
    this.table = new Table(parts.rows, kernel, {
      pick: (said) => this.chart.refresh({ only: said }),
      signal,
    });
    this.chart = new Chart(parts.main, kernel, {
      version: model.get("_plotly"),
      shown: (content) => this.#show(content),
      bar: parts.bar,
      before: this.table.painted,
      signal,
    });
    this.chart.refresh();
    follow(model, "_edition", (edition) => this.#follow(edition), signal);
  }

  /** Refresh the chart after a change by Python or by another front end of this widget. */
  #follow(edition) {
    if (!this.kernel.isAsked("chart") && edition > this.#edition) this.chart.refresh();
  }

  #show({ edition, rows, chosen, offered, all_failed: failed }) {
    this.#edition = edition;
    this.#showFailed(failed);
    this.filters.show(chosen, offered);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#keepPicture(), KEEP_MS);
    if (rows === this.#rows) return;
    if (this.#rows) {
      this.table.store.open();
      this.taken.forget();
      this.status.again();
    }
    this.#rows = rows;
    this.filters.narrow();
  }

  /** Send a picture of the chart for the saved notebook, where a style hides the saved view. */
  async #keepPicture() {
    if (!this.root.clientWidth || !this.root.closest(".jp-OutputArea")) return;
    const address = await this.chart.image("webp"); // a PNG would be five times as large
    this.kernel.tell("picture", { image: address.slice("data:".length) });
  }

  /** If all wallets failed, show only the reason and the button that requests them again. */
  #showFailed(failed) {
    const { top, rows, tools } = this.parts;
    top.hidden = rows.hidden = failed;
    if (failed) this.chart.reason.after(this.again);
    else tools.append(this.again);
  }

  async #fill(place) {
    const answer = await this.kernel.ask("status");
    if (answer) showStatus(place, answer.content);
  }
}

function explorerParts() {
  const part = (name) => element("div", { class: `wf-explorer-${name}` });
  const names = ["top", "bar", "foot", "tools", "alerts", "stage", "main", "rows"];
  return Object.fromEntries(names.map((name) => [name, part(name)]));
}

/** Make a button that shows and hides the toolbar on a narrow page. */
function viewButton(bar) {
  bar.id = uniqueId();
  const given = { class: "wf-button wf-filter wf-view", "aria-expanded": "false" };
  const opener = button(
    "View",
    () => setPart(opener, "aria-expanded", String(bar.classList.toggle("wf-open"))),
    {
      ...given,
      "aria-controls": bar.id,
    },
  );
  return opener;
}

/** Make a section that is filled each time it is opened, and when its data changes. */
function foldOf(title, fill) {
  const place = element("div");
  const root = element("details", { class: "wf-status" }, element("summary", {}, title), place);
  const again = () => root.open && fill(place);
  root.addEventListener("toggle", again);
  return { root, again };
}

/** Request plotly.js as soon as Python can send it. It runs after the rows are painted. */
function initialize({ model }) {
  const ended = new AbortController();
  const kernel = new Kernel(model, ended.signal);
  const load = () => requestPlotly(model.get("_plotly"), kernel);
  follow(model, "_edition", (edition) => edition >= 0 && load(), ended.signal);
  return () => ended.abort();
}

export default { initialize, ...widget((part) => new Explorer(part).alerts) };
