// A field to paste wallets into, with what is wrong with the lines that can't be read.

import { element, OWN_KEYS, setText } from "./elements.js";
import { follow } from "./widget.js";

const PAUSE_MS = 200;

/** Make the field, which also takes the lines that somebody pastes into the search. */
export function pasteField(model, kernel, search, signal) {
  const { root, field, button, problems } = pasteParts();
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    if (field.value === model.get("_pasted")) return;
    model.set("_pasted", field.value);
    model.save_changes();
  };
  const take = (text) => {
    if (field.value !== text) field.value = text;
    button.hidden = !field.value.trim();
  };
  field.addEventListener("input", () => {
    take(field.value);
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  });
  field.addEventListener("change", save);
  button.addEventListener("click", () => {
    save();
    kernel.tell("paste");
  });
  onLines(search, (lines) => {
    take([field.value.trimEnd(), lines].filter(Boolean).join("\n"));
    save();
    field.focus();
  });
  follow(model, "_pasted", take, signal);
  follow(model, "_problems", (lines) => showProblems(problems, lines), signal);
  return root;
}

function pasteParts() {
  const field = element("textarea", {
    class: "wf-field wf-paste",
    "aria-label": "Paste wallets",
    placeholder: "Paste wallets, one a line:\nETH.0x52…",
    rows: 2,
    spellcheck: "false",
  });
  const given = { ...OWN_KEYS, class: "wf-button", type: "button" };
  const button = element("button", given, "Add wallets");
  const problems = element("div", { class: "wf-alert", role: "alert" });
  const root = element("div", { class: "wf-picker-paste" }, field, button, problems);
  return { root, field, button, problems };
}

/** Several lines are no search. */
function onLines(search, call) {
  search.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    if (!/[\n\t,;]/.test(text)) return;
    event.preventDefault();
    call(text);
  });
}

function showProblems(root, [said = "", ...lines]) {
  const items = lines.map((line) => element("li", {}, line));
  if (!said) setText(root, "");
  else root.replaceChildren(said, element("ul", {}, ...items));
  root.hidden = !said;
}
