// Exports: code, files of the rows, a report, and images of the chart.

import { button, copyText, element, linkButton, setProp, setText, uniqueId } from "./elements.js";

const FILES = ["CSV", "Parquet", "Excel", "Report"];
const IMAGES = { PNG: "image/png", SVG: "image/svg+xml" };
const TOAST_MS = 5_000;

/** Return a file size as text. */
export function sizeText(bytes) {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export class Exports {
  #url = "";

  /** `exportImage(format)` returns the chart as a data: URL. */
  constructor(kernel, exportImage, signal) {
    Object.assign(this, { kernel, exportImage });
    const id = uniqueId();
    this.message = element("span", { role: "status" });
    this.text = element("pre", { class: "wf-code", tabindex: "0", "aria-label": "Code" });
    const hideCode = linkButton("Hide the code", () => this.showCode(""));
    this.code = element("div", {}, this.text, hideCode);
    const files = FILES.map((format) => button(format, () => this.#downloadFile(format)));
    const images = Object.keys(IMAGES).map((format) =>
      button(format, () => this.#downloadImage(format)),
    );
    this.files = element(
      "div",
      { class: "wf-tool-row", id, role: "group", "aria-label": "Download" },
      element("span", { class: "wf-faint" }, "Rows"),
      ...files.slice(0, -1),
      element("span", { class: "wf-faint" }, "Chart"),
      ...images,
      element("span", { class: "wf-faint" }, "All"),
      ...files.slice(-1),
    );
    this.files.hidden = this.code.hidden = true;
    const attributes = { "aria-expanded": "false", "aria-controls": id };
    const download = button("Download", () => this.#toggleFiles(download), attributes);
    this.buttons = [button("Copy code", () => this.#copyCode()), download];
    this.link = element("a", { class: "wf-file", hidden: true });
    const toast = element("div", { class: "wf-toast" }, this.message, this.link);
    this.root = element("div", { class: "wf-takeaway" }, toast, this.files, this.code);
    const leave = (event) => event.composedPath().includes(toast) || this.#hideToast();
    document.addEventListener("pointerdown", leave, { signal });
    kernel.onMessage("file", (content, buffers) => this.#showLink(content, buffers[0]));
    signal.addEventListener("abort", () => {
      clearTimeout(this.timer);
      URL.revokeObjectURL(this.#url);
    });
  }

  /** Hide the exports of earlier rows. */
  hide() {
    this.#hideToast();
    this.showCode("");
  }

  #hideToast() {
    setText(this.message, "");
    this.link.hidden = true;
  }

  showCode(text) {
    setText(this.text, text);
    this.code.hidden = !text;
  }

  #toggleFiles(download) {
    this.files.hidden = !this.files.hidden;
    setProp(download, "aria-expanded", String(!this.files.hidden));
  }

  async #copyCode() {
    const answer = await this.kernel.request("code");
    if (!answer) return;
    const { text } = answer.content;
    const message = await copyText(text, "details.wf.where(…) and the chart");
    this.showCode(message.startsWith("Copied") ? "" : text);
    this.link.hidden = true;
    setText(this.message, message);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => setText(this.message, ""), TOAST_MS);
  }

  async #downloadFile(format) {
    setText(this.message, `Preparing the download (${format}) …`);
    const answer = await this.kernel.request("file", { format });
    setText(this.message, "");
    if (!answer) return;
    this.#showLink(answer.content, answer.buffers[0]);
    this.link.click();
  }

  #showLink({ name, type }, data) {
    URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(new Blob([data], { type }));
    setText(this.link, `Download ${name} (${sizeText(data.byteLength)})`);
    setProp(this.link, "href", this.#url);
    setProp(this.link, "download", name);
    this.link.hidden = false;
  }

  async #downloadImage(format) {
    const url = await this.exportImage(format.toLowerCase());
    if (!url) {
      setText(this.message, "There is no chart to download.");
      return;
    }
    setText(this.message, "");
    const text = url.slice(url.indexOf(",") + 1);
    const data =
      format === "PNG"
        ? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
        : new TextEncoder().encode(decodeURIComponent(text));
    this.#showLink({ name: `chart.${format.toLowerCase()}`, type: IMAGES[format] }, data);
    this.link.click();
  }
}
