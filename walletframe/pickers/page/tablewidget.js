// The table alone, as a widget.

import { table } from "./table.js";
import { widget } from "./widget.js";

export default widget(({ root, kernel, signal }) => {
  const shown = table(root, (kind, said) => kernel.ask(kind, said), { signal });
  kernel.hear("table", shown.reload);
});
