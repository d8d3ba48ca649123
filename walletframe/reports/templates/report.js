const config = {{ config | tojson }};
const charts = [...document.querySelectorAll(".chart")];
const figures = new Map(charts.map(chart => [chart, JSON.parse(chart.nextElementSibling.textContent)]));
const height = chart => chart._fullLayout.height;

async function draw(chart, width) {
  const { data, layout } = figures.get(chart);
  const size = width ? { width, autosize: false } : { width: null, autosize: true };
  if (chart.data) Plotly.relayout(chart, { height: layout.height, ...size });
  else Plotly.newPlot(chart, data, { ...layout, ...size }, config);
  // names and legends need more space on narrow pages, so the chart gets higher by this space
  const lacking = layout.height - layout.margin.t - layout.margin.b - chart._fullLayout._size.h;
  if (lacking > 1) Plotly.relayout(chart, { height: Math.round(height(chart) + lacking) });
}

const drawSeen = () => charts.filter(chart => chart.offsetParent).forEach(chart => draw(chart));
drawSeen();
let seen = innerWidth;
addEventListener("resize", () => { if (seen !== innerWidth) { seen = innerWidth; drawSeen(); } });

const paper = 690 / 0.8; // the width between the margins of A4, in CSS pixels, at the zoom of the print style
const printing = document.documentElement.classList;
addEventListener("beforeprint", () => {
  printing.add("printing");
  charts.filter(chart => chart.offsetParent).forEach(chart => draw(chart, paper));
});
addEventListener("afterprint", () => { printing.remove("printing"); drawSeen(); });
