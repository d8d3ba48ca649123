// Buttons for a fetch, its progress, and its completeness.

import { button, element, setText } from "./elements.js";
import { followTrait } from "./widget.js";

const RETRY_TITLE = "Request the unknown wallets again";

/**
 * Make the buttons, which send messages to Python's `FetchingWidget`.
 *
 * @param {{model: any, kernel: any, signal: AbortSignal}} context of the widget
 * @param {string} name the text of the button that starts the fetch
 * @param {string} title the tooltip of this button
 */
export function makeFetchButtons({ model, kernel, signal }, name, title) {
  const start = button(name, () => kernel.send("fetch"), { title });
  const cancel = button("Cancel", () => kernel.send("cancel"));
  const retry = button("", () => kernel.send("retry"), { title: RETRY_TITLE });
  const bar = element("progress", { class: "wf-fetch-bar", "aria-label": "Progress of the fetch" });
  const status = element("span", { role: "status" });
  const details = element("span", { class: "wf-faint" });
  const progress = element("div", { class: "wf-fetch-far" }, bar, status, details);
  const show = ({ done, total, text = "", more = "" }) => {
    const isRunning = total !== undefined;
    start.disabled = retry.disabled = isRunning;
    cancel.hidden = progress.hidden = !isRunning;
    cancel.disabled = text.startsWith("cancelling");
    if (isRunning) [bar.max, bar.value] = [total, done];
    setText(status, text);
    setText(details, more);
  };
  followTrait(model, "_progress", show, signal);
  const showRetry = (label) => {
    setText(retry, label);
    retry.hidden = !label;
  };
  followTrait(model, "_retry_label", showRetry, signal);
  return { buttons: [start, cancel], retry, progress };
}

/** Show the lines and the table of Python's `status_message`. */
export function showStatus(root, { lines, heads, rows, more }) {
  const items = lines.map((line, index) =>
    element(index ? "p" : "strong", { class: "wf-status-line" }, line),
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

function statusCell([text, fullText]) {
  return element("td", fullText ? { title: fullText } : {}, text);
}
