// Buttons to fetch, to cancel and to ask again, and how far a fetch is.

import { element, OWN_KEYS, setText } from "./elements.js";
import { follow } from "./widget.js";

/**
 * Make the buttons; Python's `Fetches` hears them.
 *
 * @param {{model: any, kernel: any, signal: AbortSignal}} part of a widget
 * @param {string} name of the button that begins
 * @param {string} title what it does
 */
export function fetchBar({ model, kernel, signal }, name, title) {
  const button = (text, kind, given = {}) =>
    element(
      "button",
      buttonParts(given, () => kernel.tell(kind)),
      text,
    );
  const start = button(name, "fetch", { title });
  const cancel = button("Cancel", "cancel");
  const again = button("", "again");
  const bar = element("progress", { class: "wf-fetch-bar", "aria-label": "Fetched" });
  const said = element("span", { role: "status" });
  const more = element("span", { class: "wf-faint" });
  const far = element("div", { class: "wf-fetch-far" }, bar, said, more);
  const show = ({ done, total, said: text = "", more: rest = "" }) => {
    const busy = total !== undefined;
    start.disabled = again.disabled = busy;
    cancel.hidden = far.hidden = !busy;
    cancel.disabled = text.startsWith("cancelling");
    if (busy) [bar.max, bar.value] = [total, done];
    setText(said, text);
    setText(more, rest);
  };
  follow(model, "_under_way", show, signal);
  const offer = (text) => {
    setText(again, text);
    again.hidden = !text;
  };
  follow(model, "_again", offer, signal);
  return { buttons: [start, cancel, again], far };
}

function buttonParts(given, onclick) {
  return { ...OWN_KEYS, class: "wf-button", type: "button", ...given, onclick };
}
