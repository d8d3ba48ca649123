const config = {{ config | tojson }};
const charts = [...document.querySelectorAll(".chart")];
const figures = new Map(charts.map(chart => [chart, JSON.parse(chart.nextElementSibling.textContent)]));
const dark = matchMedia("(prefers-color-scheme: dark)");
const followsPage = {{ follows_page | tojson }}; // not with a template of the user

function colored(layout) {
  const clear = "rgba(0,0,0,0)", axis = { ...layout.xaxis, gridcolor: "#3a4047", zerolinecolor: "#3a4047" };
  return { ...layout, paper_bgcolor: clear, plot_bgcolor: clear, font: { ...layout.font, color: "#e4e6e8" }, xaxis: axis };
}

async function draw(chart, width) {
  const { data, layout } = figures.get(chart);
  const size = width ? { width, autosize: false } : { autosize: true };
  const shown = dark.matches && followsPage && !width ? colored(layout) : layout;
  await Plotly.react(chart, data, { ...shown, ...size }, config);
  // names and legends need more space on narrow pages, so the chart gets higher by this space
  const lacking = layout.height - layout.margin.t - layout.margin.b - chart._fullLayout._size.h;
  if (lacking > 1) await Plotly.relayout(chart, { height: Math.round(layout.height + lacking) });
}

const drawAll = width => { drawn = Promise.all(charts.map(chart => draw(chart, width))); };
let drawn, seen = innerWidth;
drawAll();
addEventListener("resize", () => { if (seen !== innerWidth) { seen = innerWidth; drawAll(); } });
dark.addEventListener("change", () => drawAll());
const column = 340 / 0.8; // the width of a chart on A4 in CSS pixels, and its zoom
addEventListener("beforeprint", () => drawAll(column));
addEventListener("afterprint", () => drawAll());
