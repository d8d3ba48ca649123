// A picker as a separate widget.

import { connectPicker } from "./modelpicker.js";
import { widget } from "./widget.js";

export default widget(connectPicker);
