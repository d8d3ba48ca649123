"""Widgets of walletframe on an otherwise empty page, with real Python and a real browser.

The page gets each widget's script, style sheet and model. Messages pass between the page and the
widgets as between a notebook's page and its kernel.
"""

from functools import partial

from bare_host import HOST, PAGE, parts_of
from ipywidgets import Widget
from widgets import Line

EMPTY = """() => {
    for (const model of Object.values(window.models ?? {})) model.end?.();
    window.models = {};
    delete window.__ran;
    for (const { name } of [...document.body.attributes]) document.body.removeAttribute(name);
    document.querySelectorAll('style.of-widget').forEach((each) => each.remove());
    document.querySelector('main').replaceChildren();
}"""


class BarePage:
    """A page that shows widgets.

    Parameters
    ----------
    page : playwright.sync_api.Page
        The tab. Earlier widgets are removed from the tab, but not plotly.js.
    widgets : Widget
        The page's widgets, one below the other.
    """

    def __init__(self, page, *widgets: Widget):
        self.page, self.widgets, self.comms = page, widgets, []
        self.sent = []  # the page's messages: the number of the widget, and the data
        before, page.bare = getattr(page, "bare", None), self
        self.edition = 1 if before is None else before.edition + 1
        if before is None:
            page.expose_function("toPython", partial(_deliver, page))
            page.set_content(PAGE)
        page.evaluate(EMPTY)
        for number, widget in enumerate(widgets):
            widget.comm = comm = Line(widget.comm.comm_id)
            self.comms.append(comm)
            page.evaluate(HOST, [self.edition, number, *parts_of(widget)])

    def _take(self, edition, number, data):
        if edition != self.edition:  # a removed widget
            return []
        self.sent.append((number, data))
        message = {"content": {"data": {**data, "buffer_paths": []}}, "buffers": []}
        self.widgets[number]._handle_msg(message)
        return self.comms[number].take()

    def send_changes(self):
        """Send the page the changes that Python made to the widgets."""
        for number, comm in enumerate(self.comms):
            self.page.evaluate("([n, messages]) => models[n].take(messages)", [number, comm.take()])


def _deliver(page, edition, number, data):
    return page.bare._take(edition, number, data)
