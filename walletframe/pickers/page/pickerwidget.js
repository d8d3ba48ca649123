// A picker as a widget of its own.

import { Picker } from "./picker.js";
import { widget } from "./widget.js";

export default widget((part) => {
  new Picker(part);
});
