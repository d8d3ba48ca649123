"""Widgets as a person has them: found by what stands on them, clicked, typed into, read."""

import base64
import json
import re
import threading
import time

from ipywidgets import HTML, Button, Checkbox, IntProgress, Output

from walletframe.pickers import WalletPicker
from walletframe.pickers.chooser import Chooser

_OURS = "walletframe-panel"  # the thread of a fetch


def wait(seconds=60):
    """Wait until nothing that widgets have begun goes on: what waits for a pause, and fetches."""
    deadline = time.monotonic() + seconds
    while busy := [each for each in threading.enumerate() if _is_work(each)]:
        assert time.monotonic() < deadline, f"still at work: {busy}"
        busy[0].join(0.05)


def _is_work(thread):
    is_other = thread is not threading.current_thread()
    return is_other and (isinstance(thread, threading.Timer) or thread.name == _OURS)


def wait_for(condition, seconds=10):
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def send_state(widget, **state):
    """Set traits of a widget as its page does: as JSON, by a message."""
    data = {"method": "update", "state": json.loads(json.dumps(state)), "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


class Line:
    """A widget's line to the page, which keeps what is said until the page takes it."""

    def __init__(self, comm_id):
        self.comm_id, self.said = comm_id, []

    def send(self, data=None, metadata=None, buffers=None):
        """Keep what is said."""
        texts = [base64.b64encode(bytes(buffer)).decode() for buffer in buffers or []]
        self.said.append({"data": data, "buffers": texts})

    def on_msg(self, callback):
        """Do nothing: the page hands over what it sends."""

    def close(self, *args, **kwargs):
        """Do nothing more."""

    def taken(self):
        """Return what was said since the last time."""
        said, self.said = self.said, []
        return said


def ask(widget, kind, **said):
    """Ask a widget something as its page does, and return the answer, or what it tells unasked."""
    widget.comm = line = Line(widget.comm.comm_id)
    widget._handle_custom_msg({"kind": kind, "n": 7, **said}, [])
    answers = [message["data"].get("content", {}) for message in line.taken()]
    [answer] = [answer for answer in answers if answer.get("kind") == kind]
    assert answer["n"] == 7
    return json.loads(json.dumps(answer))


class Page:
    """What is to be seen of a widget, and what can be done to it."""

    def __init__(self, widget):
        self.widget = widget

    def _seen(self, *kinds, hidden=False):
        """Find the parts of some kinds, in the order in which they are shown."""
        found, rest = [], [self.widget]
        while rest:
            part = rest.pop(0)
            if hidden or part.layout.display != "none":
                found += [part] if isinstance(part, kinds) else []
                rest = [*getattr(part, "children", ()), *rest]
        return found

    def _named(self, label, *kinds):
        """Find the one part that bears a label, a check mark or a cross aside."""
        parts = self._seen(*kinds)
        [part] = [part for part in parts if part.description.strip("✓✕ ") == label]
        return part

    def part(self, kind):
        """Return the widget of a public class that this one contains."""
        [part] = self._seen(kind)
        return part

    def _picker(self, label):
        """Find the one picker that bears a label."""
        [picker] = [part for part in self._seen(Chooser) if part.description == label]
        return picker

    def listed(self, label):
        """Return what a picker lists: name, blockchain and address of each."""
        options = self._picker(label)._options.values()
        parts = [(option.name, option.chain, option.whole) for option in options]
        return [" · ".join(filter(None, each)) for each in parts]

    def pick(self, label, *places):
        """Choose in the picker of a label what is listed at some places, and nothing else."""
        picker = self._picker(label)
        values = [*picker._options]
        send_state(picker, value=[values[place] for place in places])

    def chosen(self, label):
        """Return what stands on the buttons of what is chosen in a picker."""
        picker = self._picker(label)
        options = [picker._options[value] for value in picker.value]
        return [option.short or option.name for option in options]

    def paste(self, text):
        """Type into the field for wallets."""
        send_state(self.part(WalletPicker), _pasted=text)

    def pasted(self):
        """Return what stands in the field for wallets."""
        return self.part(WalletPicker)._pasted

    def add_pasted(self):
        """Click the button below the field for wallets."""
        self.part(WalletPicker)._handle_custom_msg({"kind": "paste"}, [])

    def click(self, label):
        """Click the button of a label, if it can be clicked."""
        button = self._named(label, Button)
        if not button.disabled:
            button.click()

    def can_click(self, label):
        """Return whether there is a button of a label that can be clicked."""
        return any(name.strip("✓✕ ") == label for name in self.buttons())

    def buttons(self):
        """Return what stands on the buttons that can be clicked."""
        return [button.description for button in self._seen(Button) if not button.disabled]

    def tooltips(self):
        """Return what is shown where the mouse rests on a button."""
        return [button.tooltip for button in self._seen(Button) if button.tooltip]

    def check(self, label):
        """Check the box of a label."""
        self._named(label, Checkbox).value = True

    def html(self, *, hidden=False):
        """Return all text that is shown, as HTML; with that of hidden parts where asked for."""
        texts = [part.value for part in self._seen(HTML, hidden=hidden)]
        return "\n".join(text for text in texts if not text.startswith("<style>"))

    def alert(self):
        """Return the HTML of the alerts."""
        shown = [part.value for part in self._seen(HTML) if 'role="alert"' in part.value]
        pickers = self._seen(Chooser)
        shown += [picker._alert for picker in pickers if picker._alert]
        shown += [line for picker in pickers for line in getattr(picker, "_problems", ())]
        return "\n".join(shown)

    def progress(self):
        """Return how far the bar is; None where there is none."""
        return next((bar.value for bar in self._seen(IntProgress)), None)

    def chart(self):
        """Return what is in the place of the chart, by MIME type."""
        [output] = self._seen(Output)
        return output.outputs[0]["data"]

    def download(self, kind):
        """Click the button of a kind of file, and follow the link that appears."""
        self.click(kind)
        assert self.alert() == ""
        [data] = re.findall(r'<a download="[^"]*"[^>]*base64,([^"]*)"', self.html())
        return base64.b64decode(data)
