// What all of our widgets have: a root that bears the theme, a line for errors, and an end.

import { element, setText } from "./elements.js";
import { Kernel } from "./messages.js";

/**
 * Make of a function what anywidget wants of a module.
 *
 * @param {(part: {model: any, root: HTMLElement, kernel: Kernel, signal: AbortSignal}) => Element | void} show
 *   fills the root, and may return what is to hold the line for errors; `signal` says when the
 *   widget leaves the page
 */
export function widget(show) {
  return {
    render({ model, el }) {
      const ended = new AbortController();
      const root = element("div", { class: "wf" });
      const kernel = new Kernel(model, ended.signal);
      const place = show({ model, root, kernel, signal: ended.signal }) ?? root;
      place.append(alertLine(model, ended.signal));
      el.append(root);
      return () => {
        ended.abort();
        root.remove();
      };
    },
  };
}

/** Follow a trait until the signal; the call comes once at first. */
export function follow(model, trait, call, signal) {
  const tell = () => call(model.get(trait));
  model.on(`change:${trait}`, tell);
  signal.addEventListener("abort", () => model.off(`change:${trait}`, tell));
  tell();
}

function alertLine(model, signal) {
  const line = element("div", { class: "wf-alert", role: "alert" });
  const show = (text) => {
    setText(line, text);
    line.hidden = !text;
  };
  follow(model, "_alert", show, signal);
  return line;
}
