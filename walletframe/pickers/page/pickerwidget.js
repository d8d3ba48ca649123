// A picker as a widget of its own.

import { pickerOf } from "./modelpicker.js";
import { widget } from "./widget.js";

export default widget(pickerOf);
