"""A widget of ours on an otherwise empty page, as any host shows it: real Python, a real browser.

The page gets the widget's script and style sheet and a model; what it sends is handed to the
widget, and the widget's answers go back, as between a notebook's page and its kernel.
"""

from functools import partial

from ipywidgets import Widget
from widgets import Line

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Widget</title>
<meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark } body { margin: 16px }</style>
</head><body><main></main></body></html>"""
EMPTY = """() => {
    for (const model of Object.values(window.models ?? {})) model.end?.();
    window.models = {};
    delete window.__ran;
    for (const { name } of [...document.body.attributes]) document.body.removeAttribute(name);
    document.querySelectorAll('style.of-widget').forEach((each) => each.remove());
    document.querySelector('main').replaceChildren();
}"""
HOST = """async ([turn, number, script, style, state]) => {
    const calls = new Map();
    const model = {
        state,
        changed: {},
        get: (name) => model.state[name],
        set(name, value) {
            model.state[name] = value;
            model.changed[name] = value;
            model.emit(`change:${name}`);
        },
        save_changes() {
            const changed = model.changed;
            model.changed = {};
            model.post({ method: 'update', state: changed });
        },
        on: (name, call) => calls.set(name, [...(calls.get(name) ?? []), call]),
        off: (name, call) => calls.set(name, calls.get(name).filter((each) => each !== call)),
        send: (content) => model.post({ method: 'custom', content }),
        emit: (name, ...given) => (calls.get(name) ?? []).forEach((call) => call(...given)),
        async post(data) { model.take(await window.toPython(turn, number, data)); },
        take: (messages) => messages.forEach(({ data, buffers }) => {
            if (data.method === 'update') {
                Object.assign(model.state, data.state);
                Object.keys(data.state).forEach((name) => model.emit(`change:${name}`));
            } else if (data.method === 'custom') {
                const views = buffers.map((text) => new DataView(
                    Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer));
                model.emit('msg:custom', data.content, views);
            }
        }),
    };
    window.models[number] = model;
    const sheet = document.createElement('style');
    sheet.className = 'of-widget';
    sheet.textContent = style;
    document.head.append(sheet);
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const { default: module } = await import(address);
    const el = document.createElement('div');
    document.querySelector('main').append(el);
    const ends = [await module.initialize?.({ model }), await module.render({ model, el })];
    model.end = () => ends.forEach((end) => end?.());
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
            state = widget.get_state()
            script, style = state.pop("_esm"), state.pop("_css")
            kept = {name: value for name, value in state.items() if name != "layout"}
            page.evaluate(HOST, [self.turn, number, script, style, kept])

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
