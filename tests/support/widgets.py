"""Use widgets as a person does: find them by label, click, type and read."""

import base64
import json
import threading
import time

from ipywidgets import Widget
from ipywidgets.widgets import widget as _ipywidgets

from walletframe.pickers import HoldingsExplorer

MODELS = _ipywidgets._instances if hasattr(_ipywidgets, "_instances") else Widget.widgets
"""All open widgets by model id. ipywidgets 7 and 8 store them in different places."""
_OURS = "walletframe-panel"  # the thread of a fetch


def wait(seconds=60):
    """Wait until no widget has delayed work or a running fetch."""
    deadline = time.monotonic() + seconds
    while busy := [each for each in threading.enumerate() if _is_work(each)]:
        assert time.monotonic() < deadline, f"still at work: {busy}"
        busy[0].join(0.05)


def _is_work(thread):
    is_other = thread is not threading.current_thread()
    return is_other and (isinstance(thread, threading.Timer) or thread.name == _OURS)


def wait_for(condition, seconds=60):
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def send_state(widget, **state):
    """Set traits of a widget as its page does: as JSON, by a message."""
    data = {"method": "update", "state": json.loads(json.dumps(state)), "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


class Line(getattr(_ipywidgets, "Comm", object)):  # ipywidgets 7 requires this class
    """A widget's connection to the page. It keeps messages until the page takes them."""

    kernel = "the page"  # without a kernel, ipywidgets 7 sends nothing

    def __init__(self, comm_id):
        self.comm_id, self.messages = comm_id, []

    def send(self, data=None, metadata=None, buffers=None):
        """Keep a message."""
        texts = [base64.b64encode(bytes(buffer)).decode() for buffer in buffers or []]
        self.messages.append({"data": data, "buffers": texts})

    def on_msg(self, callback):
        """Ignore the page's handler: tests pass messages to the widget."""

    def close(self, *args, **kwargs):
        """Close nothing, since nothing is open."""

    def take(self):
        """Return the messages since the last call."""
        taken, self.messages = self.messages, []
        return taken


def ask(widget, kind, **text):
    """Send a request as the widget's page does, and return the answer."""
    return ask_for_data(widget, kind, **text)[0]


def ask_for_data(widget, kind, **text):
    """Send a request whose answer has binary data, and return both."""
    widget.comm = line = Line(widget.comm.comm_id)
    widget._handle_custom_msg({"kind": kind, "n": 7, **text}, [])
    taken = [(message["data"].get("content", {}), message["buffers"]) for message in line.take()]
    [(answer, buffers)] = [each for each in taken if each[0].get("kind") == kind]
    assert answer["n"] == 7
    return json.loads(json.dumps(answer)), [base64.b64decode(each) for each in buffers]


class Page:
    """The visible parts of a picker, a panel or an explorer, and a person's actions on them."""

    def __init__(self, widget):
        self.widget = widget

    def listed(self, label=None):
        """Return the list of a picker: name, blockchain and address of each entry."""
        if isinstance(self.widget, HoldingsExplorer):
            answer = ask(self.widget, f"options {label.lower()}")
            chains = [answer["chains"][place] for place in answer["chain_indices"]]
            wholes = [
                (value.partition(".")[2] if isinstance(value, str) else value[1])
                if whole is None
                else whole
                for whole, value in zip(answer["full_texts"], answer["values"], strict=True)
            ]
            parts = zip(answer["names"], chains, wholes, strict=True)
        else:
            options = self.widget._options.values()
            parts = [(option.name, option.chain, option.full_text) for option in options]
        return [" · ".join(filter(None, each)) for each in parts]

    def chosen(self, label=None):
        """Return the labels of the buttons of a picker's selection."""
        result = [self.widget._options[value] for value in self.widget.value]
        return [option.short or option.name for option in result]

    def pick(self, label, *places):
        """Choose in a picker the entries at some positions, and nothing else."""
        if isinstance(self.widget, HoldingsExplorer):
            values = ask(self.widget, f"options {label.lower()}")["values"]
            self.choose(label.lower(), *(values[place] for place in places))
        else:
            values = [*self.widget._options]
            send_state(self.widget, value=[values[place] for place in places])

    def choose(self, kind, *values):
        """Choose values in a picker of the explorer."""
        return self.look(pick={"filter": kind, "values": [*values]})

    def look(self, **query):
        """Return the explorer's answer to its page's request for the chart."""
        answer, buffers = ask_for_data(self.widget, "chart", **query)
        figure = json.loads(buffers[0]) if buffers else None
        return answer | {"figure": figure}

    def plotted(self):
        """Return the chart."""
        return self.look()["figure"]

    def rows(self, **query):
        """Return the texts of the table, row by row."""
        cells = ask(self.widget, "rows", **query)["cells"]
        return json.dumps(cells, ensure_ascii=False)

    def status(self):
        """Return the lines, and the table of wallets with an error message, as a text."""
        answer = ask(self.widget, "status")
        return "\n".join([*answer["lines"], *(" ".join(map(str, row)) for row in answer["rows"])])

    def file(self, kind):
        """Return a file of the shown rows."""
        answer, [data] = ask_for_data(self.widget, "file", format=kind)
        assert self.alert() == "", answer
        return data

    def paste(self, text):
        """Type into the field for wallets."""
        send_state(self.widget, _pasted=text)

    def pasted(self):
        """Return the text in the field for wallets."""
        return self.widget._pasted

    def add_pasted(self):
        """Click the button below the field for wallets."""
        self.click("paste")

    def click(self, kind):
        """Click a button that sends Python a message."""
        self.widget._handle_custom_msg({"kind": kind}, [])

    def alert(self):
        """Return the text of the alerts."""
        return "\n".join([self.widget._alert, *getattr(self.widget, "_problems", ())]).strip()

    def is_busy(self):
        """Return whether a fetch is under way."""
        return bool(self.widget._progress)

    def progress(self):
        """Return how many wallets are done."""
        return self.widget._progress.get("done")
