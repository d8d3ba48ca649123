// A picker that follows a widget's traits, and the field for pasted wallets.

import { button, element, setText } from "./elements.js";
import { Picker } from "./picker.js";
import { followTrait } from "./widget.js";

const SAVE_DELAY_MS = 200;

/** Show a picker for the model of Python's `Picker`. */
export function connectPicker({ model, root, kernel, signal }) {
  const picker = new Picker({
    root,
    request: () => kernel.request("options"),
    choose(values) {
      model.set("value", values);
      model.save_changes();
    },
    pastes: model.get("_pastes"),
    signal,
  });
  if (picker.pastes) picker.box.append(makePasteField(model, kernel, picker, signal));
  followTrait(model, "description", (text) => picker.rename(text), signal);
  followTrait(model, "_offer_count", () => picker.load(), signal);
  followTrait(model, "value", (values) => picker.show(values), signal);
  kernel.onMessage("narrowed", ({ remaining }) => picker.narrow(remaining));
}

/** Make the field for pasted wallets. It also receives lists that are pasted into the search. */
function makePasteField(model, kernel, picker, signal) {
  const { root, field, add, problems } = pasteParts();
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    if (field.value === model.get("_pasted")) return;
    model.set("_pasted", field.value);
    model.save_changes();
  };
  const setField = (text) => {
    if (field.value !== text) field.value = text;
    add.hidden = !field.value.trim();
  };
  field.addEventListener("input", () => {
    setField(field.value);
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_DELAY_MS);
  });
  field.addEventListener("change", save);
  add.onclick = () => {
    save();
    kernel.send("paste");
  };
  picker.handlePastedList = (lines) => {
    setField([field.value.trimEnd(), lines].filter(Boolean).join("\n"));
    save();
    field.focus();
  };
  followTrait(model, "_pasted", setField, signal);
  followTrait(model, "_problems", (lines) => showProblems(problems, lines), signal);
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

function showProblems(root, [heading = "", ...lines]) {
  const items = lines.map((line) => element("li", {}, line));
  if (!heading) setText(root, "");
  else root.replaceChildren(heading, element("ul", {}, ...items));
  root.hidden = !heading;
}
