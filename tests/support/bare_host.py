"""A minimal host of widgets: a page, a Python process, and HTTP between the two.

The page passes a widget only the six functions of a model that anywidget specifies, as Colab,
marimo and VS Code do. ``bare_host.py PORT SCRIPT`` serves the widgets in the script's variable
``shown``. Any Python that has walletframe can run it.
"""

import json
import runpy
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition

from widgets import Line

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Widget</title>
<meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark } body { margin: 16px }</style>
</head><body><main></main></body></html>"""
HOST = """async ([edition, number, script, style, state]) => {
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
        async post(data) { model.take(await window.toPython(edition, number, data)); },
        take: (messages) => messages.forEach(({ data, buffers }) => {
            if (data.method === 'update') {
                Object.assign(model.state, data.state);
                Object.keys(data.state).forEach((name) => model.emit(`change:${name}`));
            } else if (data.method === 'custom') {
                const views = buffers.map((text) => new DataView(
                    Uint8Array.fromBase64(text).buffer));
                model.emit('msg:custom', data.content, views);
            }
        }),
    };
    window.models[number] = model;
    const { get, set, save_changes, on, off, send } = model;
    const specified = Object.freeze({ get, set, save_changes, on, off, send });
    const sheet = document.createElement('style');
    sheet.className = 'of-widget';
    sheet.textContent = style;
    document.head.append(sheet);
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const { default: module } = await import(address);
    const el = document.createElement('div');
    document.querySelector('main').append(el);
    const ends = [
        await module.initialize?.({ model: specified }),
        await module.render({ model: specified, el }),
    ];
    model.end = () => ends.forEach((end) => end?.());
}"""
LISTEN = f"""<script type="module">
const show = {HOST};
let posted = Promise.resolve();
window.models = {{}};
window.toPython = (_edition, number, data) => (posted = posted.then(async () => {{
    await fetch(`widget/${{number}}`, {{ method: 'POST', body: JSON.stringify(data) }});
    return [];
}}));
let [received, widgets] = await (await fetch('widgets')).json();
for (const [number, given] of widgets.entries()) await show([0, number, ...given]);
for (;;) {{
    const messages = await (await fetch(`messages/${{received}}`)).json();
    received += messages.length;
    for (const [number, message] of messages) models[number].take([message]);
}}
</script>"""
WAIT_S = 20


def parts_of(widget):
    """Return the script, the style sheet and the state of a widget."""
    state = widget.get_state()
    script, style = state.pop("_esm"), state.pop("_css")
    return script, style, {name: state[name] for name in state if name != "layout"}


class Wire(Line):
    """A widget's connection to the page; the messages of all widgets are in one queue."""

    def __init__(self, comm_id, number, host):
        super().__init__(comm_id)
        self.number, self.host = number, host

    def send(self, data=None, metadata=None, buffers=None):
        """Append a message to the queue."""
        with self.host.news:
            super().send(data, metadata, buffers)
            self.host.messages += [(self.number, message) for message in self.take()]
            self.host.news.notify_all()


class Host(ThreadingHTTPServer):
    """The server of the page, which also passes on messages.

    Parameters
    ----------
    port : int
        The port on loopback.
    widgets : tuple of Widget
        The page's widgets, one below the other.
    """

    daemon_threads = True

    def __init__(self, port, widgets):
        super().__init__(("127.0.0.1", port), Messages)
        self.widgets, self.messages, self.news = widgets, [], Condition()
        for number, widget in enumerate(widgets):
            widget.comm = Wire(widget.comm.comm_id, number, self)


class Messages(BaseHTTPRequestHandler):
    """One request of the page."""

    def do_GET(self):
        """Send the page, the widgets, or their messages since the last request."""
        host, [kind, *received] = self.server, self.path[1:].split("/")
        with host.news:
            if kind == "widgets":
                body = [len(host.messages), [parts_of(widget) for widget in host.widgets]]
            elif kind == "messages":
                host.news.wait_for(lambda: host.messages[int(received[0]) :], WAIT_S)
                body = host.messages[int(received[0]) :]
            else:
                self._answer(PAGE.replace("</main>", "</main>" + LISTEN).encode(), "text/html")
                return
        self._answer(json.dumps(body).encode(), "application/json")

    def do_POST(self):
        """Pass a message of the page to a widget."""
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"content": {"data": {**data, "buffer_paths": []}}, "buffers": []}
        self.server.widgets[int(self.path.rpartition("/")[2])]._handle_msg(message)
        self._answer(b"", "text/plain")

    def _answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    shown = runpy.run_path(sys.argv[2])["shown"]
    Host(int(sys.argv[1]), shown if isinstance(shown, tuple) else (shown,)).serve_forever()
