// A picker as a separate widget.

import { pickerOf } from "./modelpicker.js";
import { widget } from "./widget.js";

export default widget(pickerOf);
