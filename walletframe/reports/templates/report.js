const charts = [...document.querySelectorAll(".chart")];
for (const chart of charts) {
  const figure = JSON.parse(chart.nextElementSibling.textContent);
  Plotly.newPlot(chart, figure.data, figure.layout, {{ config | tojson }});
}
const paper = 690 / 0.8; // what A4 leaves between its margins, in CSS pixels, at the zoom of print
addEventListener("beforeprint", () => charts.forEach(chart => Plotly.relayout(chart, { width: paper, autosize: false })));
addEventListener("afterprint", () => charts.forEach(chart => Plotly.relayout(chart, { width: null, autosize: true })));
