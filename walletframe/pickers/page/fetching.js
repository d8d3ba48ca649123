// Buttons for a fetch, the progress of the fetch, and its completeness.

import { button, element, setText } from "./elements.js";
import { follow } from "./widget.js";

const AGAIN = "Request the wallets without an answer again";

/**
 * Make the buttons. Python's `FetchingWidget` handles the messages that they send.
 *
 * @param {{model: any, kernel: any, signal: AbortSignal}} part the widget's model and kernel
 * @param {string} name the text of the button that starts the fetch
 * @param {string} title the tooltip of this button
 */
export function fetchBar({ model, kernel, signal }, name, title) {
  const start = button(name, () => kernel.tell("fetch"), { title });
  const cancel = button("Cancel", () => kernel.tell("cancel"));
  const again = button("", () => kernel.tell("again"), { title: AGAIN });
  const bar = element("progress", { class: "wf-fetch-bar", "aria-label": "Progress of the fetch" });
  const status = element("span", { role: "status" });
  const more = element("span", { class: "wf-faint" });
  const far = element("div", { class: "wf-fetch-far" }, bar, status, more);
  const show = ({ done, total, text = "", more: rest = "" }) => {
    const busy = total !== undefined;
    start.disabled = again.disabled = busy;
    cancel.hidden = far.hidden = !busy;
    cancel.disabled = text.startsWith("cancelling");
    if (busy) [bar.max, bar.value] = [total, done];
    setText(status, text);
    setText(more, rest);
  };
  follow(model, "_progress", show, signal);
  const offer = (text) => {
    setText(again, text);
    again.hidden = !text;
  };
  follow(model, "_retry_label", offer, signal);
  return { buttons: [start, cancel], again, far };
}

/** Show the lines and the table that Python's `wallet_status` returns. */
export function showStatus(root, { lines, heads, rows, more }) {
  const items = lines.map((line, place) =>
    element(place ? "p" : "strong", { class: "wf-status-line" }, line),
  );
  root.replaceChildren(...items);
  if (rows.length === 0) return;
  const titles = heads.map((head) => element("th", { scope: "col" }, head));
  const body = rows.map((row) => element("tr", {}, ...row.map(statusCell)));
  const grid = element(
    "table",
    { class: "wf-status-table", "aria-label": "Wallets with an error message" },
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...body),
  );
  root.append(element("div", { class: "wf-status-place" }, grid));
  if (more > 0) root.append(element("p", { class: "wf-faint" }, `and ${more} more`));
}

function statusCell([text, whole]) {
  return element("td", whole ? { title: whole } : {}, text);
}
