// A picker connected to a widget's traits, and its field for pasted wallets.

import { button, element, setText } from "./elements.js";
import { Picker } from "./picker.js";
import { follow } from "./widget.js";

const PAUSE_MS = 200;

/** Show a picker for a model that has the traits of Python's `Picker`. */
export function pickerOf({ model, root, kernel, signal }) {
  const picker = new Picker({
    root,
    ask: () => kernel.ask("options"),
    choose(values) {
      model.set("value", values);
      model.save_changes();
    },
    pastes: model.get("_pastes"),
    signal,
  });
  if (picker.pastes) picker.box.append(pasteField(model, kernel, picker, signal));
  follow(model, "description", (text) => picker.rename(text), signal);
  follow(model, "_offers", () => picker.load(), signal);
  follow(model, "value", (values) => picker.show(values), signal);
  kernel.hear("narrowed", ({ here }) => picker.narrow(here));
}

/** Make the field for pasted wallets. Lines that are pasted into the search are moved there. */
function pasteField(model, kernel, picker, signal) {
  const { root, field, add, problems } = pasteParts();
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    if (field.value === model.get("_pasted")) return;
    model.set("_pasted", field.value);
    model.save_changes();
  };
  const take = (text) => {
    if (field.value !== text) field.value = text;
    add.hidden = !field.value.trim();
  };
  field.addEventListener("input", () => {
    take(field.value);
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  });
  field.addEventListener("change", save);
  add.onclick = () => {
    save();
    kernel.tell("paste");
  };
  picker.takeList = (lines) => {
    take([field.value.trimEnd(), lines].filter(Boolean).join("\n"));
    save();
    field.focus();
  };
  follow(model, "_pasted", take, signal);
  follow(model, "_problems", (lines) => showProblems(problems, lines), signal);
  return root;
}

function pasteParts() {
  const field = element("textarea", {
    class: "wf-field wf-paste",
    "aria-label": "Paste wallets",
    placeholder: "Paste wallets, one per line:\nETH.0x52…",
    rows: 2,
    spellcheck: "false",
  });
  const add = button("Add wallets");
  const problems = element("div", { class: "wf-alert", role: "alert" });
  const root = element("div", { class: "wf-picker-paste" }, field, add, problems);
  return { root, field, add, problems };
}

function showProblems(root, [said = "", ...lines]) {
  const items = lines.map((line) => element("li", {}, line));
  if (!said) setText(root, "");
  else root.replaceChildren(said, element("ul", {}, ...items));
  root.hidden = !said;
}
