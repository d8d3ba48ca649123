// A plotly chart with tools, a title and notes. Clicks in the chart select holdings.

import { makeChartTools } from "./charttools.js";
import { element, setText, uniqueId } from "./elements.js";
import {
  layoutInPageColors,
  loadPlotly,
  requestPlotly,
  tracesInPageColors,
  watchPageColors,
} from "./plotly.js";

const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset+autosize" };
const WIDTH_STEP = 200; // another number of steps requires a new chart
const WIDTHS = { least: 400, most: 1000 };
const NO_PLOTLY = "The chart can't be drawn, because the kernel did not send plotly.js.";
const TITLE_HEIGHT = 36; // in an exported picture, in pixels
const KEYBOARD_HELP =
  "With the keyboard: the filters select what a click in the chart selects, and each cell of the " +
  "table has a button that shows only its wallet, token or blockchain.";
const NOTE_HEIGHT = 15; // of a line of notes, in pixels
const LETTER_WIDTH = 7.2; // in pixels
const TREE_CHARTS = new Set(["treemap", "sunburst"]);

/** Return the clicked node, slice, bar or cell of a chart, or null. */
export function clickedPoint(event) {
  const [point] = event?.points ?? [];
  if (!point) return null;
  const type = point.data?.type;
  if (TREE_CHARTS.has(type)) return point.id === undefined ? null : { id: String(point.id) };
  if (type === "heatmap") return { trace: point.curveNumber, point: [...point.pointNumber] };
  return { trace: point.curveNumber, point: point.pointNumber ?? point.i ?? null };
}

/** Return the clicked legend entry. In a pie, entries are labels of one trace. */
export function clickedLegendEntry(event) {
  const trace = event?.data?.[event.curveNumber];
  if (!trace) return null;
  if (trace.type === "pie") return { token: [...trace.labels].indexOf(event.label) };
  return { token: event.curveNumber };
}

export class Chart {
  #content = null; // the last answer of Python
  #figure = null;
  #plotly = null;
  #requestNumber = 0;
  #drawn = Promise.resolve();
  #drawnType = ""; // the type of the displayed chart
  #width = 0;
  #pageWidth = 0; // the width of the last request
  #isUndrawn = false; // since the element was not in the page

  /**
   * @param {HTMLElement} root
   * @param {any} kernel answers the requests "chart" and "plotly"
   * @param {object} options
   * @param {string} options.version the version of the kernel's plotly.js
   * @param {(content: any) => void} [options.onAnswer] called with Python's answer for each chart
   * @param {HTMLElement} [options.bar] the element for the select boxes; default: above the chart
   * @param {Promise<unknown>} [options.before] ends before plotly.js runs and blocks the page
   * @param {AbortSignal} options.signal removes the chart
   */
  constructor(root, kernel, { version, onAnswer = () => {}, bar, before, signal }) {
    Object.assign(this, { root, kernel, onAnswer, signal });
    requestPlotly(version, kernel);
    this.load = async () => (await before, loadPlotly(version, kernel));
    this.load().catch(() => {}); // #drawOrExplain reports the error
    Object.assign(this, chartParts(root));
    const refresh = (changes) => this.refresh(changes);
    this.showTools = makeChartTools(bar ?? this.tools, this, refresh, signal);
    this.colors = watchPageColors(this.box, () => this.#redraw(), signal);
    const sizes = new ResizeObserver(() => this.#fitWidth());
    sizes.observe(this.box);
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      this.#plotly?.purge(this.plot);
    });
  }

  /** Send changes to Python, and show the chart in the answer. */
  async refresh(changes = {}) {
    this.box.setAttribute("aria-busy", "true");
    const number = (this.#requestNumber += 1);
    this.#pageWidth = this.#measurePage();
    const answer = await this.kernel.request("chart", { width: this.#pageWidth, ...changes });
    this.root.closest(".wf")?.classList.add("wf-live"); // hides the saved view
    if (answer && !this.signal.aborted) {
      this.#content = answer.content;
      await this.#show(answer.buffers);
      this.onAnswer(answer.content);
    }
    if (number === this.#requestNumber) this.box.removeAttribute("aria-busy");
  }

  /** Return the chart as a data: URL, with title, notes and the current background. */
  async exportImage(format) {
    if (!this.#figure || !this.#plotly) return "";
    const { title, subtitle, has_template: hasTemplate } = this.#content;
    const { data, layout, clientWidth: width, clientHeight } = this.plot; // resizing drops the height
    const position = { x: 0, xref: "container", y: 1, yref: "container", yanchor: "top" };
    const letters = Math.floor((width - 40) / LETTER_WIDTH);
    const notes = subtitle.replaceAll("<br>", " ").trim();
    const lines = notes.match(new RegExp(`.{1,${letters}}(\\s|$)`, "g")) ?? [];
    const above = TITLE_HEIGHT + NOTE_HEIGHT * lines.length;
    const titled = {
      ...layout,
      ...(hasTemplate ? {} : { paper_bgcolor: this.colors().back }),
      title: {
        text: escapeForPlotly(title),
        subtitle: { text: lines.join("<br>"), font: { size: 12 } },
        pad: { l: 16, t: 14 },
        ...position,
      },
      margin: { ...layout.margin, t: (layout.margin?.t ?? 0) + above },
      height: clientHeight + above,
    };
    const size = { width, height: titled.height, scale: format === "png" ? 2 : 1 };
    return this.#plotly.toImage({ data, layout: titled }, { format, ...size });
  }

  async #show([figure]) {
    const content = this.#content;
    this.showTools(content);
    this.#figure = figure ? JSON.parse(new TextDecoder().decode(figure)) : null;
    if (figure) content.reason ||= await this.#drawOrExplain();
    if (this.#content !== content) return;
    setText(this.title, content.heading);
    setText(this.line, content.line);
    setText(this.reason, content.reason);
    this.plot.hidden = !figure;
    this.reason.hidden = !content.reason;
    this.notesSection.hidden = !content.about.length;
    this.notes.replaceChildren(...content.about.map((note) => element("li", {}, note)));
    this.plot.setAttribute("aria-label", `${content.title}. ${content.line}`);
  }

  /** Draw with the kernel's plotly.js. Return an error message or "". */
  async #drawOrExplain() {
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

  /** Draw after earlier drawings. The zoom is reset when the chart's id changes. */
  #draw() {
    this.#drawn = this.#drawn.catch(() => {}).then(() => this.#drawNow());
    return this.#drawn;
  }

  async #drawNow() {
    const [figure, plotly, content] = [this.#figure, this.#plotly, this.#content];
    const { view, has_template: hasTemplate, chart } = content;
    if (!figure || !plotly) return;
    this.#isUndrawn = !this.box.isConnected;
    if (this.#isUndrawn) return;
    this.plot.hidden = false;
    this.plot.style.height = `${figure.layout.height}px`;
    const bare = { ...figure.layout, uirevision: view, autosize: true };
    const layout = hasTemplate ? bare : layoutInPageColors(bare, this.colors());
    const data = hasTemplate ? figure.data : tracesInPageColors(figure.data, this.colors());
    if (chart === this.#drawnType) {
      await plotly.react(this.plot, data, layout, CONFIG);
    } else {
      // With another type, `react` would keep the margins of the old chart.
      await plotly.newPlot(this.plot, data, layout, CONFIG);
      this.#listenForClicks();
    }
    this.#drawnType = chart;
    this.#width = this.plot.clientWidth;
  }

  #measurePage() {
    const width = Math.floor((this.box.clientWidth || WIDTHS.most) / WIDTH_STEP) * WIDTH_STEP;
    return Math.min(Math.max(width, WIDTHS.least), WIDTHS.most);
  }

  #fitWidth() {
    const width = this.plot.clientWidth;
    const isShown = this.#requestNumber && this.box.clientWidth;
    if (isShown && this.#measurePage() !== this.#pageWidth) this.refresh();
    else if (this.#isUndrawn) this.#redraw();
    else if (this.#plotly && this.plot.layout && width && width !== this.#width) {
      this.#width = width;
      this.#plotly.Plots.resize(this.plot);
    }
  }

  /** Select holdings after clicks, which otherwise zoom or hide a series. */
  #listenForClicks() {
    const pick = (click) => {
      if (click) this.refresh({ click, view: this.#content.view });
      return false;
    };
    this.plot.on("plotly_click", (event) => {
      const clicked = clickedPoint(event);
      if (!clicked?.id) pick(clicked);
    });
    for (const type of TREE_CHARTS) {
      this.plot.on(`plotly_${type}click`, (event) => pick(clickedPoint(event)));
    }
    this.plot.on("plotly_legendclick", (event) => pick(clickedLegendEntry(event)));
    this.plot.on("plotly_legenddoubleclick", () => false);
  }
}

function chartParts(root) {
  const make = (tag, name, more = {}) => element(tag, { class: `wf-chart-${name}`, ...more });
  const parts = {
    tools: make("div", "tools"),
    title: make("h3", "title"),
    line: make("p", "line"),
    plot: make("div", "plot", { role: "img" }),
    reason: make("p", "reason", { role: "status" }),
    notes: element("ul"),
    notesSection: make("details", "about"),
    heading: make("div", "words"),
  };
  const { tools, heading, title, line, plot, reason, notes, notesSection } = parts;
  notesSection.append(element("summary", {}, "About this chart"), notes);
  heading.append(element("div", { class: "wf-chart-name" }, title), line);
  const id = uniqueId();
  const help = element("p", { class: "wf-unseen", id }, KEYBOARD_HELP);
  plot.setAttribute("aria-describedby", id);
  const attributes = { class: "wf-chart", "aria-label": "Chart of holdings" };
  const box = element("section", attributes, tools, heading, plot, help, reason, notesSection);
  root.append(box);
  return { ...parts, box };
}

export function escapeForPlotly(text) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return text.replace(/[&<>$]/g, (sign) => signs[sign]);
}
