// A chart that plotly draws in place: words above it, what it is about below, clicks that pick.

import { chartTools } from "./charttools.js";
import { element, setText } from "./elements.js";
import { pageColors, paintedLayout, plotlyOf } from "./plotly.js";

const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset+autosize" };
const NARROW = 560;
const TITLE = 36; // pixels for it in a picture for other programs
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

export class Chart {
  #content = null; // what Python said of the picture
  #figure = null;
  #plotly = null;
  #number = 0; // of the last question
  #drawn = Promise.resolve();
  #drawnType = ""; // which chart stands there
  #width = 0;
  #missed = false; // it was to be drawn where nothing has a size or a colour

  /**
   * @param {HTMLElement} root
   * @param {any} kernel answers "chart" and "plotly"
   * @param {object} given
   * @param {string} given.version of the kernel's plotly.js
   * @param {(content: any) => void} [given.shown] hears what Python said of each picture
   * @param {HTMLElement} [given.summary] where the line goes that sums up, if not above the chart
   * @param {AbortSignal} given.signal ends it
   */
  constructor(root, kernel, { version, shown = () => {}, summary, signal }) {
    Object.assign(this, { root, kernel, shown, signal });
    this.load = () => plotlyOf(version, kernel);
    this.load().catch(() => {}); // told where a picture wants it
    Object.assign(this, chartParts(root));
    this.showTools = chartTools(this.tools, (said) => this.refresh(said), summary ?? this.tools);
    this.colors = pageColors(this.box, () => this.#redraw(), signal);
    const sizes = new ResizeObserver(() => this.#fit());
    sizes.observe(this.box);
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      this.#plotly?.purge(this.plot);
    });
  }

  /** Ask for the picture of now; `said` tells Python what is to change. */
  async refresh(said = {}) {
    this.box.setAttribute("aria-busy", "true");
    const number = (this.#number += 1);
    this.isNarrow = this.#isNarrow();
    const answer = await this.kernel.ask("chart", { narrow: this.isNarrow, ...said });
    this.root.closest(".wf")?.classList.add("wf-live"); // takes the place of what was saved
    if (answer && !this.signal.aborted) {
      this.#content = answer.content;
      await this.#show(answer.buffers);
      this.shown(answer.content);
    }
    if (number === this.#number) this.box.removeAttribute("aria-busy");
  }

  /** Return the chart as a data: address, for other programs: on the paper of now, with its title. */
  async image(format) {
    if (!this.#figure || !this.#plotly) return "";
    const { title, painted } = this.#content;
    const { layout, clientWidth: width } = this.plot;
    const place = { x: 0, xref: "container", y: 1, yref: "container", yanchor: "top" };
    const titled = {
      ...layout,
      ...(painted ? {} : { paper_bgcolor: this.colors().back }),
      title: { text: escaped(title), pad: { l: 16, t: 14 }, ...place },
      margin: { ...layout.margin, t: (layout.margin?.t ?? 0) + TITLE },
      height: layout.height + TITLE,
    };
    const size = { width, height: titled.height, scale: format === "png" ? 2 : 1 };
    return this.#plotly.toImage({ data: this.#figure.data, layout: titled }, { format, ...size });
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

  /** Draw with the kernel's plotly.js, and return what went wrong, if anything did. */
  async #problem() {
    const content = this.#content;
    try {
      this.#plotly = await this.load();
      if (this.#content === content) await this.#draw();
      return this.#plotly ? "" : "No chart: the kernel sent no plotly.js.";
    } catch (error) {
      return `No chart: ${error.message}`;
    }
  }

  #redraw() {
    this.#draw().catch(() => {});
  }

  /** Draw in place, one drawing after the other: what a person zoomed stays in the same view. */
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
      // Of another kind: room made for names of the old one would stay. All in one frame, too.
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

  /** A click picks: nothing is zoomed into, no series hidden. */
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
  };
  const { tools, title, line, plot, reason, about, fold } = parts;
  fold.append(element("summary", {}, "About this chart"), about);
  const words = made("div", "words");
  words.append(title, line);
  const given = { class: "wf-chart", "aria-label": "Chart of holdings" };
  const box = element("section", given, tools, words, plot, reason, fold);
  root.append(box);
  return { ...parts, box };
}

/** Write text so that plotly shows it as it is. */
export function escaped(text) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return text.replace(/[&<>$]/g, (sign) => signs[sign]);
}
