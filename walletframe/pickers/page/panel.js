// The fetch panel: a picker for wallets, buttons, and the completeness of the result.

import { element, setText } from "./elements.js";
import { makeFetchButtons, showStatus } from "./fetching.js";
import { connectPicker } from "./modelpicker.js";
import { followTrait, widget } from "./widget.js";

const FETCH_TITLE = "Fetch the selected and pasted wallets";
const BYPASS_CACHE = "Fetch wallets again even if they are in the cache";

export default widget((context) => {
  const { model, root, kernel, signal } = context;
  connectPicker(context);
  const { buttons, retry, progress } = makeFetchButtons(context, "Fetch", FETCH_TITLE);
  buttons[0].classList.add("wf-main-button");
  const box = element("input", { type: "checkbox" });
  box.addEventListener("change", () => {
    model.set("_refresh", box.checked);
    model.save_changes();
  });
  followTrait(model, "_refresh", (isChecked) => (box.checked = isChecked), signal);
  const text = element("span", {}, BYPASS_CACHE);
  const option = element("label", { class: "wf-fetch-anew" }, box, text);
  const alerts = element("div");
  const status = element("div", { class: "wf-status", role: "status" });
  const tools = element("div", { class: "wf-fetch" }, ...buttons, retry, option);
  root.append(tools, progress, alerts, status);
  const show = async (edition) => {
    status.hidden = edition === 0;
    if (edition === 0) return;
    const answer = await kernel.request("status");
    if (answer) showStatus(status, answer.content);
    else setText(status, "");
  };
  followTrait(model, "_edition", show, signal);
  return alerts;
});
