"""The widgets' table on an otherwise empty page. Python answers the page without a notebook."""

import json

from walletframe.frames.positions import read_positions
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.table import HoldingsTable

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A table</title><style>
body {{ margin: 8px; color-scheme: {scheme}; background: light-dark(#fff, #181818) }} {styles}
</style><main id="root" class="wf"></main></html>"""
START = """
const request = async (kind, query) => ({ content: JSON.parse(await window.answer(query)) });
const pick = (cell) => (globalThis.picked = cell);
const options = { signal: new AbortController().signal, pick };
globalThis.shown = new Table(document.querySelector("#root"), { request }, options);
"""
ADDRESS = "http://127.0.0.1:9/table"  # the port is closed: the test answers
SETTLED = "!document.querySelector('.wf-waiting') && document.querySelector('.wf-said').textContent"

MISPLACED = """(shown) => {
    const root = shown ?? document;
    const found = [];
    const page = document.scrollingElement;
    if (page.scrollWidth > innerWidth) found.push(`the page scrolls: ${page.scrollWidth}`);
    const grid = root.querySelector('.wf-grid');
    if (grid.scrollWidth > grid.clientWidth) found.push(`the table scrolls: ${grid.scrollWidth}`);
    for (const row of grid.querySelectorAll('.wf-row:not([hidden])')) {
        for (const cell of row.querySelectorAll('.wf-number')) {
            const box = cell.getBoundingClientRect();
            for (const part of cell.querySelectorAll('.wf-whole, .wf-fraction, .wf-more')) {
                const { left, right } = part.getBoundingClientRect();
                const isIn = left > box.left && right < box.right;
                if (!isIn || part.scrollWidth > part.clientWidth + 1 && part.clientWidth) {
                    found.push(`${innerWidth}: ${cell.innerText} ${left - box.left}`);
                }
            }
        }
    }
    return found;
}"""


def show_table(page, holdings, wallets=None, *, scheme="light"):
    """Show holdings in a tab, and wait for rows."""
    page.answers = HoldingsTable(read_positions(holdings, wallets))
    page.expose_function("answer", lambda message: json.dumps(page.answers.answer_rows(message)))
    html = PAGE.format(scheme=scheme, styles=join_css("table"))
    page.route(ADDRESS, lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(ADDRESS)
    page.add_script_tag(type="module", content=join_js("table") + START)
    settle(page)


def wait_for_layout(page):
    """Wait until the page's resize observers have run, which happens in the next frame."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def settle(page):
    """Wait until all visible rows are filled."""
    wait_for_layout(page)
    page.wait_for_function(SETTLED)


def column(page, label):
    """Return the visible texts of a column, found by its heading."""
    heads = [text.strip("↑↓") for text in page.locator(".wf-heading").all_text_contents()]
    rows = page.locator(".wf-row:not([hidden])")
    place = f".wf-cell:nth-child({heads.index(label) + 1})"
    result = rows.evaluate_all(
        "(rows, cell) => rows.map(row => [+row.dataset.row, row.querySelector(cell).innerText])",
        place,
    )
    return [text for _, text in sorted(result)]
