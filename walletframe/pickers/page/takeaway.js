// Exports: the code, files with the rows, the report, and images of the chart.

import { button, copyText, element, linkButton, setPart, setText, uniqueId } from "./elements.js";

const FILES = ["CSV", "Parquet", "Excel", "Report"];
const IMAGES = { PNG: "image/png", SVG: "image/svg+xml" };
const TOAST_MS = 5_000;

/** Return a file size as text. */
export function sizeText(bytes) {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export class TakeAway {
  #address = "";

  /** `image` is a function of a format that returns the chart as a data: URL. */
  constructor(kernel, image, signal) {
    Object.assign(this, { kernel, image });
    const id = uniqueId();
    this.said = element("span", { role: "status" });
    this.text = element("pre", { class: "wf-code", tabindex: "0", "aria-label": "Code" });
    const hide = linkButton("Hide the code", () => this.showCode(""));
    this.code = element("div", {}, this.text, hide);
    const files = FILES.map((format) => button(format, () => this.#file(format)));
    const images = Object.keys(IMAGES).map((format) => button(format, () => this.#picture(format)));
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
    const given = { "aria-expanded": "false", "aria-controls": id };
    const download = button("Download", () => this.#open(download), given);
    this.buttons = [button("Copy code", () => this.#copy()), download];
    this.link = element("a", { class: "wf-file", hidden: true });
    const toast = element("div", { class: "wf-toast" }, this.said, this.link);
    this.root = element("div", { class: "wf-takeaway" }, toast, this.files, this.code);
    kernel.hear("file", (content, buffers) => this.#offer(content, buffers[0]));
    signal.addEventListener("abort", () => {
      clearTimeout(this.timer);
      URL.revokeObjectURL(this.#address);
    });
  }

  /** Hide the exports after the displayed rows have changed. */
  forget() {
    setText(this.said, "");
    this.link.hidden = true;
    this.showCode("");
  }

  showCode(text) {
    setText(this.text, text);
    this.code.hidden = !text;
  }

  #open(download) {
    this.files.hidden = !this.files.hidden;
    setPart(download, "aria-expanded", String(!this.files.hidden));
  }

  async #copy() {
    const answer = await this.kernel.ask("code");
    if (!answer) return;
    const { text } = answer.content;
    const said = await copyText(text, "details.wf.where(…) and the chart");
    this.showCode(said.startsWith("Copied") ? "" : text);
    this.link.hidden = true;
    setText(this.said, said);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => setText(this.said, ""), TOAST_MS);
  }

  async #file(format) {
    setText(this.said, `Preparing the download (${format}) …`);
    const answer = await this.kernel.ask("file", { format });
    setText(this.said, "");
    if (!answer) return;
    this.#offer(answer.content, answer.buffers[0]);
    this.link.click();
  }

  #offer({ name, type }, data) {
    URL.revokeObjectURL(this.#address);
    this.#address = URL.createObjectURL(new Blob([data], { type }));
    this.#point(name, this.#address, data.byteLength);
  }

  #point(name, address, size) {
    setText(this.link, `Download ${name} (${sizeText(size)})`);
    setPart(this.link, "href", address);
    setPart(this.link, "download", name);
    this.link.hidden = false;
  }

  async #picture(format) {
    const address = await this.image(format.toLowerCase());
    if (!address) {
      setText(this.said, "There is no chart to download.");
      return;
    }
    setText(this.said, "");
    const text = address.slice(address.indexOf(",") + 1);
    const data =
      format === "PNG"
        ? Uint8Array.from(atob(text), (each) => each.charCodeAt(0))
        : new TextEncoder().encode(decodeURIComponent(text));
    this.#offer({ name: `chart.${format.toLowerCase()}`, type: IMAGES[format] }, data);
    this.link.click();
  }
}
