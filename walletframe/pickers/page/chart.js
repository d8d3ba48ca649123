// A plotly chart with tools, a title and notes. A click in the chart selects holdings.

import { chartTools } from "./charttools.js";
import { element, setText, uniqueId } from "./elements.js";
import { pageColors, paintedLayout, plotlyOf, requestPlotly } from "./plotly.js";

const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset+autosize" };
const NARROW = 560;
const NO_PLOTLY = "The chart can't be drawn, because the kernel did not send plotly.js.";
const TITLE = 36; // height in pixels of the title in an exported picture
const KEYS =
  "With the keyboard: the filters select what a click in the chart selects, and each cell of the " +
  "table has a button that shows only its wallet, token or blockchain.";
const NOTE = 15; // and of each line of notes
const LETTER = 7.2; // width in pixels
const NODES = new Set(["treemap", "sunburst"]);

/** Return the clicked node, slice, bar or cell of a chart, or null if there is none. */
export function clickedPoint(event) {
  const [point] = event?.points ?? [];
  if (!point) return null;
  const type = point.data?.type;
  if (NODES.has(type)) return point.id === undefined ? null : { id: String(point.id) };
  if (type === "heatmap") return { trace: point.curveNumber, point: [...point.pointNumber] };
  return { trace: point.curveNumber, point: point.pointNumber ?? point.i ?? null };
}

/** Return the clicked legend entry. In a pie, the entries are labels of a single trace. */
export function clickedEntry(event) {
  const trace = event?.data?.[event.curveNumber];
  if (!trace) return null;
  if (trace.type === "pie") return { token: [...trace.labels].indexOf(event.label) };
  return { token: event.curveNumber };
}

export class Chart {
  #content = null; // Python's last answer about the chart
  #figure = null;
  #plotly = null;
  #number = 0; // of the last request
  #drawn = Promise.resolve();
  #drawnType = ""; // the type of the displayed chart
  #width = 0;
  #missed = false; // not drawn, because the element was not in the page

  /**
   * @param {HTMLElement} root
   * @param {any} kernel answers the requests "chart" and "plotly"
   * @param {object} given
   * @param {string} given.version the version of the kernel's plotly.js
   * @param {(content: any) => void} [given.shown] called with Python's answer for each chart
   * @param {HTMLElement} [given.bar] the element for the choices; default: above the chart
   * @param {Promise<unknown>} [given.before] must end before plotly.js runs, which takes long
   * @param {AbortSignal} given.signal removes the chart
   */
  constructor(root, kernel, { version, shown = () => {}, bar, before, signal }) {
    Object.assign(this, { root, kernel, shown, signal });
    requestPlotly(version, kernel);
    this.load = async () => (await before, plotlyOf(version, kernel));
    this.load().catch(() => {}); // #problem reports the error
    Object.assign(this, chartParts(root));
    const refresh = (said) => this.refresh(said);
    this.showTools = chartTools(bar ?? this.tools, this.words, refresh, signal);
    this.colors = pageColors(this.box, () => this.#redraw(), signal);
    const sizes = new ResizeObserver(() => this.#fit());
    sizes.observe(this.box);
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      this.#plotly?.purge(this.plot);
    });
  }

  /** Request the current chart. `said` contains the changes to send to Python. */
  async refresh(said = {}) {
    this.box.setAttribute("aria-busy", "true");
    const number = (this.#number += 1);
    this.isNarrow = this.#isNarrow();
    const answer = await this.kernel.ask("chart", { narrow: this.isNarrow, ...said });
    this.root.closest(".wf")?.classList.add("wf-live"); // hides the saved view
    if (answer && !this.signal.aborted) {
      this.#content = answer.content;
      await this.#show(answer.buffers);
      this.shown(answer.content);
    }
    if (number === this.#number) this.box.removeAttribute("aria-busy");
  }

  /** Return the chart as a data: URL, with its title, notes and the current background. */
  async image(format) {
    if (!this.#figure || !this.#plotly) return "";
    const { title, subtitle, painted } = this.#content;
    const { layout, clientWidth: width, clientHeight } = this.plot; // plotly's resize drops the height
    const place = { x: 0, xref: "container", y: 1, yref: "container", yanchor: "top" };
    const letters = Math.floor((width - 40) / LETTER);
    const words = subtitle.replaceAll("<br>", " ").trim();
    const lines = words.match(new RegExp(`.{1,${letters}}(\\s|$)`, "g")) ?? [];
    const above = TITLE + NOTE * lines.length;
    const titled = {
      ...layout,
      ...(painted ? {} : { paper_bgcolor: this.colors().back }),
      title: {
        text: escaped(title),
        subtitle: { text: lines.join("<br>"), font: { size: 12 } },
        pad: { l: 16, t: 14 },
        ...place,
      },
      margin: { ...layout.margin, t: (layout.margin?.t ?? 0) + above },
      height: clientHeight + above,
    };
    const size = { width, height: titled.height, scale: format === "png" ? 2 : 1 };
    const data = this.#figure.data.map((trace) => {
      if (trace.colorbar?.y === undefined) return trace;
      const top = (1 - trace.colorbar.y) * clientHeight + above; // its y is a share of the height
      return { ...trace, colorbar: { ...trace.colorbar, y: 1 - top / titled.height } };
    });
    return this.#plotly.toImage({ data, layout: titled }, { format, ...size });
  }

  async #show([figure]) {
    const content = this.#content;
    this.showTools(content);
    this.#figure = figure ? JSON.parse(new TextDecoder().decode(figure)) : null;
    if (figure) content.reason ||= await this.#problem();
    if (this.#content !== content) return;
    setText(this.title, content.title);
    setText(this.line, content.line);
    setText(this.reason, content.reason);
    this.plot.hidden = !figure;
    this.reason.hidden = !content.reason;
    this.fold.hidden = !content.about.length;
    this.about.replaceChildren(...content.about.map((note) => element("li", {}, note)));
    this.plot.setAttribute("aria-label", `${content.title}. ${content.line}`);
  }

  /** Draw with the kernel's plotly.js. Return an error message, or an empty text. */
  async #problem() {
    const content = this.#content;
    try {
      this.#plotly = await this.load();
      if (this.#content === content) await this.#draw();
      return this.#plotly ? "" : NO_PLOTLY;
    } catch (error) {
      return `The chart can't be drawn: ${error.message}`;
    }
  }

  #redraw() {
    this.#draw().catch(() => {});
  }

  /** Draw after earlier drawings have ended. The zoom is kept until the chart's id changes. */
  #draw() {
    this.#drawn = this.#drawn.catch(() => {}).then(() => this.#drawNow());
    return this.#drawn;
  }

  async #drawNow() {
    const [figure, plotly, { view, painted, chart }] = [this.#figure, this.#plotly, this.#content];
    if (!figure || !plotly) return;
    this.#missed = !this.box.isConnected;
    if (this.#missed) return;
    this.plot.hidden = false;
    this.plot.style.height = `${figure.layout.height}px`;
    const bare = { ...figure.layout, uirevision: view, autosize: true };
    const layout = painted ? bare : paintedLayout(bare, this.colors());
    if (chart === this.#drawnType) {
      await plotly.react(this.plot, figure.data, layout, CONFIG);
    } else {
      // For a chart of another type, react would keep the margins for the names of the old chart.
      await plotly.newPlot(this.plot, figure.data, layout, CONFIG);
      this.#listen();
    }
    this.#drawnType = chart;
    this.#width = this.plot.clientWidth;
  }

  #isNarrow() {
    return this.box.clientWidth > 0 && this.box.clientWidth < NARROW;
  }

  #fit() {
    const width = this.plot.clientWidth;
    if (this.#number && this.box.clientWidth && this.#isNarrow() !== this.isNarrow) this.refresh();
    else if (this.#missed) this.#redraw();
    else if (this.#plotly && this.plot.layout && width && width !== this.#width) {
      this.#width = width;
      this.#plotly.Plots.resize(this.plot);
    }
  }

  /** Make clicks select holdings, instead of zooming or hiding a series. */
  #listen() {
    const pick = (click) => {
      if (click) this.refresh({ click, view: this.#content.view });
      return false;
    };
    this.plot.on("plotly_click", (event) => {
      const clicked = clickedPoint(event);
      if (!clicked?.id) pick(clicked);
    });
    for (const type of NODES) {
      this.plot.on(`plotly_${type}click`, (event) => pick(clickedPoint(event)));
    }
    this.plot.on("plotly_legendclick", (event) => pick(clickedEntry(event)));
    this.plot.on("plotly_legenddoubleclick", () => false);
  }
}

function chartParts(root) {
  const made = (tag, name, given = {}) => element(tag, { class: `wf-chart-${name}`, ...given });
  const parts = {
    tools: made("div", "tools"),
    title: made("h3", "title"),
    line: made("p", "line"),
    plot: made("div", "plot", { role: "img" }),
    reason: made("p", "reason", { role: "status" }),
    about: element("ul"),
    fold: made("details", "about"),
    words: made("div", "words"),
  };
  const { tools, words, title, line, plot, reason, about, fold } = parts;
  fold.append(element("summary", {}, "About this chart"), about);
  words.append(title, line);
  const id = uniqueId();
  const keys = element("p", { class: "wf-unseen", id }, KEYS);
  plot.setAttribute("aria-describedby", id);
  const given = { class: "wf-chart", "aria-label": "Chart of holdings" };
  const box = element("section", given, tools, words, plot, keys, reason, fold);
  root.append(box);
  return { ...parts, box };
}

/** Escape text so that plotly shows it unchanged. */
export function escaped(text) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return text.replace(/[&<>$]/g, (sign) => signs[sign]);
}
