"""A widget of ours on an otherwise empty page, as any host shows it: real Python, a real browser.

The page gets the widget's script and style sheet and a model; what it sends is handed to the
widget, and the widget's answers go back, as between a notebook's page and its kernel.
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
        The tab. Where it has shown widgets before they leave it, and plotly.js stays.
    widgets : Widget
        What it shows, one below the other.
    """

    def __init__(self, page, *widgets: Widget):
        self.page, self.widgets, self.comms = page, widgets, []
        self.sent = []  # what the page sent: the number of the widget, and the message
        before, page.bare = getattr(page, "bare", None), self
        self.turn = 1 if before is None else before.turn + 1
        if before is None:
            page.expose_function("toPython", partial(_told, page))
            page.set_content(PAGE)
        page.evaluate(EMPTY)
        for number, widget in enumerate(widgets):
            widget.comm = comm = Line(widget.comm.comm_id)
            self.comms.append(comm)
            page.evaluate(HOST, [self.turn, number, *parts_of(widget)])

    def _take(self, turn, number, data):
        if turn != self.turn:  # a widget that has left
            return []
        self.sent.append((number, data))
        message = {"content": {"data": {**data, "buffer_paths": []}}, "buffers": []}
        self.widgets[number]._handle_msg(message)
        return self.comms[number].taken()

    def follow(self):
        """Let the page follow what Python did to the widgets."""
        for number, comm in enumerate(self.comms):
            self.page.evaluate("([n, said]) => models[n].take(said)", [number, comm.taken()])


def _told(page, turn, number, data):
    return page.bare._take(turn, number, data)
