// Cells of a table: numbers with aligned decimal points, and shortened texts.

import { element } from "./elements.js";
import { fitNumber, groupThousands, splitDecimals } from "./numbers.js";
import { mapValues } from "./rows.js";

const DASH = "-"; // the text of a missing cell, as in Python's tables
const MIN_ASIDE_WIDTH = 50; // minimum width in pixels of an address after a name
const ASIDE_GAP = 8; // between the name and the address
const MIN_LINK_WIDTH = 80; // minimum width in pixels of a cell with a link

/** Return the fields of a cell (`text`, `integer`, …), or null for a row that is not loaded. */
export function readCell(row, name) {
  const lists = row?.cells[name];
  return lists ? mapValues(lists, (list) => list[row.index]) : null;
}

/** Return the full text of a cell, such as all digits or the full address. */
export function fullText(cell) {
  if (cell.note) return cell.note;
  if (cell.text !== undefined) return cell.full ?? cell.text;
  return cell.copy ?? exactNumber(cell);
}

/** Return the full text of a cell, after its name if it has one. */
export function fullTextWithName(cell) {
  return cell.aside?.length ? `${cell.text} · ${fullText(cell)}` : fullText(cell);
}

/** Return a cell's text for the clipboard, which is safe in a spreadsheet. */
export function clipboardText(cell) {
  return cell.copy ?? fullText(cell);
}

function exactNumber({ integer, fraction }) {
  return fraction ? `${integer}.${fraction}` : integer;
}

/** Draw a cell in the width of its column. Until the row is loaded, the old text is faint. */
export function drawCell(node, cell, column) {
  node.classList.toggle("wf-waiting", cell === null);
  if (cell === null) return;
  if (column.bar) node.style.setProperty("--wf-share", cell.bar);
  if (column.number) drawNumber(node, cell, column);
  else drawText(node, cell, column);
}

function drawText(node, cell, { textWidth, linkedTextWidth, widthOf }) {
  if (!cell.text) return drawNote(node, DASH);
  node.title = fullTextWithName(cell);
  const isLinked = cell.link && linkedTextWidth >= MIN_LINK_WIDTH; // else linked below the table
  const width = isLinked ? linkedTextWidth : textWidth;
  const text = element("span", { class: "wf-text" }, cutText(cell.text, width, widthOf));
  const left = width - widthOf(cell.text) - ASIDE_GAP;
  const [aside = ""] = left < MIN_ASIDE_WIDTH ? [] : (cell.aside ?? []);
  if (aside) text.append(element("span", { class: "wf-aside" }, cutText(aside, left, widthOf)));
  node.replaceChildren(text, ...(isLinked ? [explorerLink(cell)] : []));
}

/** Return a link to a block explorer. Keyboard users find the same link below the table. */
export function explorerLink(cell, attributes = { tabindex: "-1" }) {
  const label = `Open ${fullText(cell)} in a block explorer`;
  const safe = { href: cell.link, target: "_blank", rel: "noopener noreferrer" };
  const names = { title: label, "aria-label": label };
  return element("a", { class: "wf-out", ...safe, ...names, ...attributes }, "↗");
}

function drawNumber(node, cell, column) {
  if (!cell.integer) return drawNote(node, cell.note ?? DASH);
  const shown = fitNumber(cell.integer, cell.fraction, column);
  const exact = clipboardText(cell);
  if (shown.hidden || shown.isApproximate || cell.copy) node.title = exact;
  else node.removeAttribute("title");
  const parts = numberParts(shown, column.decimalsWidth);
  const visible = shown.isApproximate ? approximateParts(parts, exact) : parts;
  node.replaceChildren(element("span", { class: "wf-digits" }, ...visible));
}

function drawNote(node, note) {
  if (note === DASH) node.removeAttribute("title");
  else node.title = note;
  node.replaceChildren(element("span", { class: "wf-note" }, note));
}

/** Return the approximate number, and the exact number for copying and screen readers. */
function approximateParts(parts, exact) {
  const near = element("span", { class: "wf-near", "aria-hidden": "true" }, ...parts);
  return [near, element("span", { class: "wf-unseen" }, exact)];
}

/** Return elements with the full text, or with all digits and separated thousands. */
export function fullTextParts(cell) {
  if (cell.text !== undefined || cell.note) return [fullTextWithName(cell)];
  const [integer, fraction = ""] = fullText(cell).split(".");
  const unlimited = { digits: Infinity, decimals: Infinity };
  return numberParts(fitNumber(integer, fraction, unlimited), fraction.length);
}

/** Return the elements of a number. Margins, which are not copied, separate thousands. */
function numberParts({ sign, integer, fraction, hidden }, decimalsWidth) {
  const groups = /^\d+$/.test(integer) ? groupThousands(integer) : [integer];
  const digits = groups.map((group, index) =>
    element("span", { class: index ? "wf-group" : null }, group),
  );
  const before = element("span", { class: "wf-whole" }, sign, ...digits);
  if (!decimalsWidth) return [before];
  const after = element("span", { class: "wf-fraction" });
  if (fraction) {
    const [bright, faint] = splitDecimals(integer, fraction);
    after.append(`.${bright}`);
    if (faint) after.append(element("span", { class: "wf-faint" }, faint));
  }
  if (hidden) {
    after.append(
      element("span", { class: "wf-unseen" }, hidden),
      element("span", { class: "wf-more", "aria-hidden": "true" }),
    );
  }
  return [before, after];
}

/** Return a function that measures texts by letter. Each letter is measured once. */
export function makeTextMeasure(measureLetter) {
  const widths = new Map();
  return (text) => {
    let sum = 0;
    for (const letter of text) {
      if (!widths.has(letter)) widths.set(letter, measureLetter(letter));
      sum += widths.get(letter);
    }
    return sum;
  };
}

/** Return a function that measures texts in a CSS font. */
export function textMeasureForFont(font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  return makeTextMeasure((letter) => context.measureText(letter).width);
}

/** Shorten a text to a width. In wide columns, texts keep their end. */
export function cutText(text, width, widthOf) {
  if (widthOf(text) <= width) return text;
  const end = /(?<=…)[^…]{1,6}$|[^…]{4}$/u.exec(text)?.[0] ?? "";
  const tail = widthOf(end) * 2 < width ? end : "";
  const headWidth = width - widthOf(`…${tail}`);
  let head = "";
  for (const letter of text) {
    if (widthOf(head + letter) > headWidth) break;
    head += letter;
  }
  return `${head.replace(/[\s…]+$/u, "")}…${tail}`;
}
