"""Widgets as a person has them: found by what stands on them, clicked, typed into, read."""

import base64
import re
import threading
import time

from ipywidgets import HTML, Button, Checkbox, IntProgress, Output, SelectMultiple, Text, Textarea

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

    def type(self, label, text):
        """Type into the line or the field of a label."""
        self._named(label, Text, Textarea).value = text

    def typed(self, label):
        """Return what stands in the line or the field of a label."""
        return self._named(label, Text, Textarea).value

    def press_enter(self, label):
        """Press Enter in the line of a label."""
        self.send(label, "submit")

    def send(self, label, event):
        """Send what a page sends of a line, which Python alone can't."""
        self._named(label, Text)._handle_custom_msg({"event": event}, [])

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

    def listed(self, label):
        """Return what the list of a label shows."""
        return list(self._named(label, SelectMultiple)._options_labels)

    def marked(self, label):
        """Return the places in the list of a label that are marked."""
        return self._named(label, SelectMultiple).index

    def mark(self, label, *places):
        """Leave the marks in the list of a label at some places: one, as by a plain click."""
        self._named(label, SelectMultiple).index = places

    def on_list_change(self, label, call):
        """Call something whenever the list of a label shows something else."""
        self._named(label, SelectMultiple).observe(call, "_options_labels")

    def labels(self):
        """Return the labels of the inputs."""
        return [part.description for part in self._seen(Text, Textarea, SelectMultiple)]

    def html(self, *, hidden=False):
        """Return all text that is shown, as HTML; with that of hidden parts where asked for."""
        texts = [part.value for part in self._seen(HTML, hidden=hidden)]
        return "\n".join(text for text in texts if not text.startswith("<style>"))

    def alert(self):
        """Return the HTML of the alerts."""
        return "\n".join(part.value for part in self._seen(HTML) if 'role="alert"' in part.value)

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
