// Table cells: numbers with aligned decimal points, and shortened texts with their full texts.

import { element } from "./elements.js";
import { brightDecimals, numberShown, thousands } from "./numbers.js";
import { mapped } from "./rows.js";

const NONE = "-"; // as in Python's tables
const FOR_ASIDE = 50; // minimum width in pixels of an address after a name
const GAP_BESIDE = 8; // between the name and the address
const FOR_LINKS = 80; // minimum width in pixels of a cell with a link

/** Return the parts of a cell by name (`text`, `whole`, …), or null if it is not loaded. */
export function cellOf(row, name) {
  const lists = row?.cells[name];
  return lists ? mapped(lists, (list) => list[row.at]) : null;
}

/** Return the full text of a cell, such as all digits or the full address. */
export function wholeText(cell) {
  if (cell.note) return cell.note;
  if (cell.text !== undefined) return cell.whole ?? cell.text;
  return cell.copy ?? exactText(cell);
}

/** Return the full text of a cell, after its name if it has one. */
export function namedText(cell) {
  return cell.aside?.length ? `${cell.text} · ${wholeText(cell)}` : wholeText(cell);
}

/** Return the text of a cell for the clipboard, which is safe to paste into a spreadsheet. */
export function copiedText(cell) {
  return cell.copy ?? wholeText(cell);
}

function exactText({ whole, fraction }) {
  return fraction ? `${whole}.${fraction}` : whole;
}

/** Draw a cell in the width of its column. Its old text is faint until its data is loaded. */
export function drawCell(node, cell, column) {
  node.classList.toggle("wf-waiting", cell === null);
  if (cell === null) return;
  if (column.bar) node.style.setProperty("--wf-share", cell.bar);
  if (column.number) drawNumber(node, cell, column);
  else drawText(node, cell, column);
}

function drawText(node, cell, { text: room, linked, widthOf }) {
  if (!cell.text) return drawNote(node, NONE);
  node.title = namedText(cell);
  const isLinked = cell.link && linked >= FOR_LINKS; // otherwise the link is below the table
  const width = isLinked ? linked : room;
  const text = element("span", { class: "wf-text" }, cutText(cell.text, width, widthOf));
  const left = width - widthOf(cell.text) - GAP_BESIDE;
  const [aside = ""] = left < FOR_ASIDE ? [] : (cell.aside ?? []);
  if (aside) text.append(element("span", { class: "wf-aside" }, cutText(aside, left, widthOf)));
  node.replaceChildren(text, ...(isLinked ? [linkTo(cell)] : []));
}

/** Return a link to a block explorer. Keyboard users find the same link below the table. */
export function linkTo(cell, given = { tabindex: "-1" }) {
  const label = `Open ${wholeText(cell)} in a block explorer`;
  const safe = { href: cell.link, target: "_blank", rel: "noopener noreferrer" };
  const said = { title: label, "aria-label": label };
  return element("a", { class: "wf-out", ...safe, ...said, ...given }, "↗");
}

function drawNumber(node, cell, column) {
  if (!cell.whole) return drawNote(node, cell.note ?? NONE);
  const shown = numberShown(cell.whole, cell.fraction, column);
  const exact = copiedText(cell);
  if (shown.rest || shown.instead || cell.copy) node.title = exact;
  else node.removeAttribute("title");
  const parts = numberParts(shown, column.behind);
  const said = shown.instead ? insteadOf(parts, exact) : parts;
  node.replaceChildren(element("span", { class: "wf-digits" }, ...said));
}

/** Draw a note in a cell without a text or number. */
function drawNote(node, note) {
  if (note === NONE) node.removeAttribute("title");
  else node.title = note;
  node.replaceChildren(element("span", { class: "wf-note" }, note));
}

/** Return an approximate number to show, and the exact one for copying and screen readers. */
function insteadOf(parts, exact) {
  const near = element("span", { class: "wf-near", "aria-hidden": "true" }, ...parts);
  return [near, element("span", { class: "wf-unseen" }, exact)];
}

/** Return elements with the full text of a cell, or its full number with separated thousands. */
export function wholeParts(cell) {
  const said = wholeText(cell);
  if (cell.text !== undefined || cell.note) return [namedText(cell)];
  const [whole, fraction = ""] = said.split(".");
  const room = { digits: Infinity, decimals: Infinity };
  return numberParts(numberShown(whole, fraction, room), fraction.length);
}

/** Return the elements of a number. Thousands are separated by margins, which are not copied. */
function numberParts({ sign, whole, fraction, rest }, behind) {
  const groups = /^\d+$/.test(whole) ? thousands(whole) : [whole];
  const digits = groups.map((group, place) =>
    element("span", { class: place ? "wf-group" : null }, group),
  );
  const before = element("span", { class: "wf-whole" }, sign, ...digits);
  if (!behind) return [before];
  const after = element("span", { class: "wf-fraction" });
  if (fraction) {
    const [bright, faint] = brightDecimals(whole, fraction);
    after.append(`.${bright}`);
    if (faint) after.append(element("span", { class: "wf-faint" }, faint));
  }
  if (rest) {
    after.append(
      element("span", { class: "wf-unseen" }, rest),
      element("span", { class: "wf-more", "aria-hidden": "true" }),
    );
  }
  return [before, after];
}

/** Return a function that sums the widths of a text's letters, and measures each letter once. */
export function summedWidths(measure) {
  const known = new Map();
  return (text) => {
    let sum = 0;
    for (const letter of text) {
      if (!known.has(letter)) known.set(letter, measure(letter));
      sum += known.get(letter);
    }
    return sum;
  };
}

/** Return a function that measures texts in a CSS font. */
export function widthsIn(font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  return summedWidths((letter) => context.measureText(letter).width);
}

/** Shorten a text to a width. The end of a shortened address is kept if there is space. */
export function cutText(text, width, widthOf) {
  if (widthOf(text) <= width) return text;
  const end = /(?<=…)[^…]{1,6}$/u.exec(text)?.[0] ?? "";
  const tail = widthOf(end) * 2 < width ? end : "";
  const room = width - widthOf(`…${tail}`);
  let head = "";
  for (const letter of text) {
    if (widthOf(head + letter) > room) break;
    head += letter;
  }
  return `${head.replace(/[\s…]+$/u, "")}…${tail}`;
}
