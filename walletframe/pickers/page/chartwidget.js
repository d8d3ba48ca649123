// A chart as a widget of its own.

import { chart } from "./chart.js";
import { widget } from "./widget.js";

export default widget(({ model, root, kernel, signal }) => {
  const version = model.get("_plotly");
  const made = chart(root, (kind, said) => kernel.ask(kind, said), { version, signal });
  kernel.hear("changed", () => made.refresh());
  root.chart = made; // for whoever wants a picture of it
  made.refresh();
});
