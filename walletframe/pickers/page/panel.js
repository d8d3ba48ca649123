// The fetch panel: a picker for wallets, buttons, and the completeness of the result.

import { element, setText } from "./elements.js";
import { fetchBar, showStatus } from "./fetching.js";
import { pickerOf } from "./modelpicker.js";
import { follow, widget } from "./widget.js";

const ANEW = "Fetch wallets again even if they are in the cache";

export default widget((part) => {
  const { model, root, kernel, signal } = part;
  pickerOf(part);
  const { buttons, again, far } = fetchBar(part, "Fetch", "Fetch the selected and pasted wallets");
  buttons[0].classList.add("wf-main-button");
  const box = element("input", { type: "checkbox" });
  box.addEventListener("change", () => {
    model.set("_refresh", box.checked);
    model.save_changes();
  });
  follow(model, "_refresh", (anew) => (box.checked = anew), signal);
  const anew = element("label", { class: "wf-fetch-anew" }, box, element("span", {}, ANEW));
  const alerts = element("div");
  const came = element("div", { class: "wf-status", role: "status" });
  root.append(element("div", { class: "wf-fetch" }, ...buttons, again, anew), far, alerts, came);
  const show = async (edition) => {
    came.hidden = edition === 0;
    if (edition === 0) return;
    const answer = await kernel.ask("status");
    if (answer) showStatus(came, answer.content);
    else setText(came, "");
  };
  follow(model, "_edition", show, signal);
  return alerts;
});
