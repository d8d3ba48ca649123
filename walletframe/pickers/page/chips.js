// What is chosen, as buttons that take it away again.

import { element, linkButton, setPart } from "./elements.js";

const SHOWN = 8;

export class Chips {
  /** `orElse` gives what takes the keyboard when no button is left. */
  constructor({ remove, removeAll, toggleChosen, orElse }) {
    Object.assign(this, { remove, orElse });
    const small = { class: "wf-link wf-chips-more" };
    this.rest = linkButton("", toggleChosen, { ...small, "aria-pressed": "false" });
    this.clear = linkButton("Remove all", removeAll, small);
    this.root = element("div", { class: "wf-chips", role: "group" });
  }

  /** Show the first of what is chosen, and how many there are; `alone` if the list shows them alone. */
  show(first, count, alone) {
    const focused = this.#focused();
    const rest = count - Math.min(SHOWN, first.length);
    const chips = first.slice(0, SHOWN).map((chosen) => this.#chip(chosen));
    this.rest.textContent = alone ? "Show all" : `and ${rest.toLocaleString("en")} more`;
    setPart(this.rest, "aria-pressed", String(alone));
    const tools = [...(rest > 0 || alone ? [this.rest] : []), ...(count > 1 ? [this.clear] : [])];
    this.root.replaceChildren(...chips, ...tools);
    this.root.hidden = count === 0;
    const next = chips[Math.min(focused, chips.length - 1)] ?? this.orElse();
    if (focused >= 0) next.focus({ preventScroll: true });
  }

  #focused() {
    return [...this.root.children].findIndex((chip) => chip.matches(":focus"));
  }

  #chip({ key, short, label, here }) {
    const aside = here ? "" : "\nIt is not among what the other pickers leave.";
    const given = {
      class: here ? "wf-chip" : "wf-chip wf-chip-away",
      type: "button",
      title: `Remove ${label}${aside}`,
      "aria-label": `Remove ${label.includes(short) ? label : short}`, // has what is seen
      onclick: () => this.remove(key),
    };
    return element("button", given, element("span", {}, short), " ✕");
  }
}
