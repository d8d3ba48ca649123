// A chart that plotly draws in place: words above it, what it is about below, clicks that pick.

import { clickedEntry, clickedPoint } from "./clicks.js";
import { element, setText } from "./elements.js";
import { pageColors, paintedLayout } from "./paint.js";
import { plotlyOf } from "./plotlib.js";
import { chartTools } from "./charttools.js";

const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset+autosize" };
const NARROW = 560;
const NODE_CLICKS = ["plotly_treemapclick", "plotly_sunburstclick"];

/**
 * Make a chart in an element.
 *
 * @param {HTMLElement} root
 * @param {(kind: string, said?: object) => Promise<{content: any, buffers: DataView[]} | null>} ask
 *   a kernel's, which answers "chart" and "plotly"
 * @param {object} given
 * @param {(content: any) => void} [given.shown] hears what Python said of each picture
 * @param {string} [given.version] of the kernel's plotly.js: then it comes before the first picture
 * @param {HTMLElement} [given.summary] where the line goes that sums up, if not above the chart
 * @param {AbortSignal} given.signal ends it
 * @returns {{refresh: (said?: object) => Promise<void>, image: (format: string) => Promise<string>}}
 *   `refresh` asks anew, and may say what is to change; `image` gives the chart as a data: address
 */
export function chart(root, ask, { version = "", shown = () => {}, summary, signal }) {
  const state = { content: null, figure: null, plotly: null, drawn: Promise.resolve() };
  const parts = chartParts(root);
  state.library = (wanted) =>
    plotlyOf(wanted, async () => (await ask("plotly"))?.buffers[0] ?? null);
  if (version) state.library(version).catch(() => {}); // told where the picture wants it
  const refresh = async (said = {}) => {
    parts.box.setAttribute("aria-busy", "true");
    const number = (state.asked = (state.asked ?? 0) + 1);
    state.narrow = isNarrow(parts);
    const answer = await ask("chart", { narrow: state.narrow, ...said });
    root.closest(".wf")?.classList.add("wf-live"); // takes the place of what was saved
    if (answer && !signal.aborted) {
      state.content = answer.content;
      await showPicture(state, parts, answer.buffers);
      shown(answer.content);
    }
    if (number === state.asked) parts.box.removeAttribute("aria-busy");
  };
  const click = (clicked) => clicked && refresh({ click: clicked, view: state.content.view });
  state.tools = chartTools(parts.tools, refresh, summary ?? parts.tools);
  state.listen = () => listenTo(parts.plot, click);
  const draw = () => drawFigure(state, parts).catch(() => {});
  state.colors = pageColors(parts.box, draw, signal);
  const sizes = new ResizeObserver(() => {
    if (state.asked && parts.box.clientWidth && isNarrow(parts) !== state.narrow) refresh();
    else if (state.missed) draw();
    else fitFigure(state, parts);
  });
  sizes.observe(parts.box);
  signal.addEventListener("abort", () => {
    sizes.disconnect();
    state.plotly?.purge(parts.plot);
  });
  return { refresh, image: (format) => chartImage(state, parts, format) };
}

function chartParts(root) {
  const made = (tag, name, given = {}) => element(tag, { class: `wf-chart-${name}`, ...given });
  const parts = {
    tools: made("div", "tools"),
    title: made("h3", "title"),
    line: made("p", "line"),
    plot: made("div", "plot"),
    reason: made("p", "reason", { role: "status" }),
    about: element("ul"),
  };
  parts.fold = element(
    "details",
    { class: "wf-chart-about" },
    element("summary", {}, "About this chart"),
    parts.about,
  );
  const words = made("div", "words");
  words.append(parts.title, parts.line);
  const order = [parts.tools, words, parts.plot, parts.reason, parts.fold];
  parts.box = element(
    "section",
    { class: "wf-chart", "aria-label": "Picture of holdings" },
    ...order,
  );
  root.append(parts.box);
  return parts;
}

async function showPicture(state, parts, [figure]) {
  const { content } = state;
  state.tools(content);
  if (figure) {
    state.figure = JSON.parse(new TextDecoder().decode(figure));
    content.reason ||= await drawnFirst(state, parts);
  } else {
    state.figure = null;
  }
  if (state.content !== content) return;
  setText(parts.title, content.title);
  setText(parts.line, content.line);
  setText(parts.reason, content.reason);
  parts.plot.hidden = !figure;
  parts.reason.hidden = !content.reason;
  parts.fold.hidden = !content.about.length;
  parts.about.replaceChildren(...content.about.map((note) => element("li", {}, note)));
  parts.plot.setAttribute("role", "img");
  parts.plot.setAttribute("aria-label", `${content.title}. ${content.line}`);
}

/** Draw with the kernel's plotly.js, and return what went wrong, if anything did. */
async function drawnFirst(state, parts) {
  const { content } = state;
  try {
    state.plotly = await state.library(content.version);
    if (state.content === content) await drawFigure(state, parts);
    return state.plotly ? "" : "No chart: the kernel gave no plotly.js.";
  } catch (error) {
    return `No chart: ${error.message}`;
  }
}

/** Draw in place, one drawing after the other: what a person zoomed stays in the same view. */
function drawFigure(state, parts) {
  const before = state.drawn.catch(() => {});
  state.drawn = before.then(async () => {
    const { figure, plotly, content } = state;
    if (!figure || !plotly) return;
    state.missed = !parts.box.isConnected; // where nothing has a size or a colour
    if (state.missed) return;
    parts.plot.hidden = false;
    parts.plot.style.height = `${figure.layout.height}px`;
    const bare = { ...figure.layout, uirevision: content.view, autosize: true };
    const layout = content.painted ? bare : paintedLayout(bare, state.colors());
    if (content.chart === state.drawnChart) {
      await plotly.react(parts.plot, figure.data, layout, CONFIG);
    } else {
      // Of another kind: room made for names of the old one would stay. All in one frame, too.
      await plotly.newPlot(parts.plot, figure.data, layout, CONFIG);
      state.listen();
    }
    state.drawnChart = content.chart;
    state.width = parts.plot.clientWidth;
  });
  return state.drawn;
}

function isNarrow({ box }) {
  return box.clientWidth > 0 && box.clientWidth < NARROW;
}

function fitFigure(state, { plot }) {
  const width = plot.clientWidth;
  if (state.plotly && plot.layout && width && width !== state.width) {
    state.width = width;
    state.plotly.Plots.resize(plot);
  }
}

/** A click picks: nothing is zoomed into, no series hidden. */
function listenTo(plot, click) {
  plot.on("plotly_click", (event) => {
    const clicked = clickedPoint(event);
    if (!clicked?.id) click(clicked);
  });
  for (const name of NODE_CLICKS) {
    plot.on(name, (event) => {
      click(clickedPoint(event));
      return false;
    });
  }
  plot.on("plotly_legendclick", (event) => {
    click(clickedEntry(event));
    return false;
  });
  plot.on("plotly_legenddoubleclick", () => false);
}

/** Draw the chart as a picture for other programs: on the paper of now, with its title. */
async function chartImage(state, { plot }, format) {
  const { figure, plotly, content } = state;
  if (!figure || !plotly) return "";
  const paper = content.painted ? {} : { paper_bgcolor: state.colors().back };
  const title = { text: escaped(content.title), x: 0, xref: "container", pad: { l: 16, t: 14 } };
  const margin = { ...plot.layout.margin, t: (plot.layout.margin?.t ?? 0) + TITLE };
  const height = plot.layout.height + TITLE;
  const layout = {
    ...plot.layout,
    ...paper,
    title: { ...title, y: 1, yref: "container", yanchor: "top" },
  };
  const size = { width: plot.clientWidth, height };
  return plotly.toImage(
    { data: figure.data, layout: { ...layout, margin, height } },
    { format, ...size, scale: format === "png" ? 2 : 1 },
  );
}

const TITLE = 36;

/** Write text so that plotly shows it as it is. */
export function escaped(text) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return text.replace(/[&<>$]/g, (sign) => signs[sign]);
}
