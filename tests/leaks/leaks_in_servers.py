"""Surfaces that a Redis offers, whose URL has the key as its password, and which keeps answers."""

import contextlib
import pickle
import signal
import socket
import traceback
import warnings
from urllib.parse import quote

import pytest
import valkeys
from click.testing import CliRunner
from IPython.core.ultratb import VerboseTB
from leak_ground import WALLET, frame_locals, serving, told, within
from leak_scan import KEY
from leak_surfaces import surface, surfaces
from leaks_in_files import echoing
from leaks_in_logs import listening
from leaks_in_values import WAYS

import walletframe as wf
from walletframe.cli import main
from walletframe.settings import ServerUrl, Settings

PASSWORD = quote(KEY, safe="")
PLACE = "127.0.0.1:9"
BRIEFLY = 0.3


def typed(place=PLACE):
    """Return the URL as getpass would: no variable of the caller's holds it."""
    return f"redis://:{PASSWORD}@{place}/0"


def of_it(ground, url=None, **given):
    """Return settings whose cache is named by the environment."""
    ground.patch.setenv("WALLETFRAME_CACHE", url or typed())
    settings = ground.settings(**given)
    del settings["cache"], settings["api_key"]
    ground.patch.setenv("WALLETFRAME_API_KEY", "another key")
    return Settings(**settings)


@contextlib.contextmanager
def secured(ground):
    """Run a real server whose password is the key, and name it in the environment."""
    with valkeys.running(KEY) as server:
        yield server, of_it(ground, server.url)


def fetched(ground, settings):
    """Fetch a wallet; return the client, closed, and what was warned of."""
    ground.answer()
    with warnings.catch_warnings(record=True) as warned, wf.Client(settings) as client:
        warnings.simplefilter("always")
        details = client.fetch(WALLET, on_failure="ignore")
        seen = within(client)
    assert details.wallets.status.item() == "ok"
    ground.server.paths.clear()  # of another key
    return [*seen, *(str(each.message) for each in warned)]


@surfaces(WAYS)
def url(ground, variant):
    """The URL itself."""
    return WAYS[variant](ServerUrl(typed()))


@surfaces(WAYS)
def settings(ground, variant):
    """Settings with the URL."""
    if variant == "unpickled":
        ground.patch.setenv("WALLETFRAME_CACHE", typed())
    return WAYS[variant](Settings(cache=typed(), api_key="another key"))


@surface
def client_at_work(ground):
    """All within a client with its connections."""
    with secured(ground) as (_, settings):
        seen = fetched(ground, settings)
    assert "ConnectionPool" in "".join(seen)
    return seen


@surface
def pacer_at_work(ground):
    """All within a client whose pace is there, all that the server has of it, and all logs."""
    with secured(ground) as (server, settings), listening(ground) as heard:
        chosen = settings.replace(cache="memory", pace=settings.cache)
        seen = fetched(ground, chosen)
        with server.asked() as asked:
            names = asked.keys("*")
            assert b"walletframe:pace:" in b"".join(names)
            values = [asked.dump(name) for name in names]
    assert "RedisSlots" in "".join(seen)
    return [*seen, repr(chosen), *names, *values, heard.getvalue()]


@surface
def pace_that_is_gone(ground):
    """The warning and all within a client whose pace is nowhere."""
    settings = of_it(ground)
    seen = fetched(ground, settings.replace(cache="memory", pace=settings.cache))
    assert "the pace can't be shared in" in "".join(seen)
    return seen


@surface
def pickled_on_the_way(ground):
    """A pickled client that knows the password again where it arrives."""
    with secured(ground) as (_, settings):
        sent = pickle.dumps(wf.Client(settings))
        arrived = pickle.loads(sent)
        assert arrived.settings.cache == settings.cache
    return [sent, *within(arrived)]


@surface
def log(ground):
    """All logs, at their most talkative."""
    with secured(ground) as (_, settings), listening(ground) as heard:
        fetched(ground, settings)
    return [heard.getvalue(), "the log:"]


@surface
def kept_there(ground):
    """All that the server keeps, its log, and its list of slow commands, the answers' key too."""
    echoing(ground)
    with valkeys.running() as server, ground.client(cache=server.url) as client:
        client.fetch(WALLET)
        with server.asked() as asked:
            asked.config_set("slowlog-log-slower-than", 0)
            client.fetch(WALLET, refresh=True)
            names = asked.keys("*")
            assert b"walletframe:answer:" in b"".join(names)
            values = [asked.dump(name) for name in names]
            return [*names, *values, repr(asked.slowlog_get(100)), server.log.read_bytes()]


@surface
def slow_login(ground):
    """The list of slow commands and of clients of a server with a password."""
    with secured(ground) as (server, settings), server.asked() as asked:
        asked.config_set("slowlog-log-slower-than", 0)
        fetched(ground, settings)
        return [repr(asked.slowlog_get(100)), repr(asked.client_list()), server.log.read_bytes()]


class _Echo(socket.socket):
    """A server that knows no commands, and repeats what it was told."""

    base_url = None

    def __init__(self):
        super().__init__()
        self.bind(("127.0.0.1", 0))
        self.listen()
        self.place = "{}:{}".format(*self.getsockname())
        self.is_ended = False

    def serve_forever(self, poll_interval):
        """Answer whoever connects."""
        self.settimeout(poll_interval)
        while not self.is_ended:
            with contextlib.suppress(OSError):
                self._answer(self.accept()[0])

    def _answer(self, connection):
        with connection:
            connection.settimeout(2)
            while said := connection.recv(65536):
                connection.sendall(b"-ERR unknown: " + said.replace(b"\r\n", b" ") + b"\r\n")

    def shutdown(self):
        """Let it end."""
        self.is_ended = True


@surface
def echo(ground):
    """The warning where the server repeats the login."""
    with serving(_Echo()) as server:
        seen = fetched(ground, of_it(ground, typed(server.place)))
    assert "they are kept in memory instead" in "".join(seen)
    return seen


@surface
def nobody(ground):
    """The warning and all within a client where nobody listens."""
    seen = fetched(ground, of_it(ground))
    assert "it can't be reached" in "".join(seen)
    return seen


@surface
def refused(ground):
    """The warning where the server refuses the password."""
    with valkeys.running("another") as server:
        seen = fetched(ground, of_it(ground, server.url.replace("another", PASSWORD)))
    assert "it refuses the login" in "".join(seen)
    return seen


@surface
def warned_as_an_error(ground):
    """The error, with locals, that a filter makes of the warning."""
    client = wf.Client(of_it(ground))
    warnings.simplefilter("error")  # as pytest has it, too
    with pytest.raises(wf.CacheWarning) as caught:
        client.fetch(WALLET)
    error = caught.value
    return [*told(error), VerboseTB("nocolor").text(type(error), error, error.__traceback__)]


class AlarmError(Exception):
    """What a caller's own handler of signals raises."""


def _interrupted(ground, handler):
    """Wait for a server that takes the login and says nothing; return the handler's error."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = wf.Client(of_it(ground, typed("{}:{}".format(*silent.getsockname()))))
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, BRIEFLY)
        with pytest.raises(AlarmError) as caught:
            client.fetch(WALLET, offline=True)
        signal.signal(signal.SIGALRM, before)
    return caught.value


@surface
def alarm(ground):
    """The traceback, with locals, of an alarm while the login is waited for."""

    def ring(_number, _frame):
        raise AlarmError

    error = _interrupted(ground, ring)
    return [*told(error), VerboseTB("nocolor").text(type(error), error, error.__traceback__)]


@surface
def frames(ground):
    """The frames, with their locals, of who waits for the login."""
    seen = []

    def look(_number, frame):
        stack = [
            each
            for each in traceback.walk_stack(frame)
            if "tests" not in each[0].f_code.co_filename
        ]
        assert any("redis" in each.f_code.co_filename for each, _ in stack)
        seen.extend(frame_locals(stack))
        raise AlarmError

    _interrupted(ground, look)
    return seen


WRONG = {
    "with a port that is none": lambda: f"redis://:{PASSWORD}@host:port/0",
    "with a name for a number": lambda: f"redis://:{PASSWORD}@host/name",
    "with another scheme": lambda: f"reddis://:{PASSWORD}@host/0",
    "with an unknown option": lambda: f"redis://:{PASSWORD}@host/0?timeout=5",
    "with the password as an option": lambda: f"redis://host/0?password={PASSWORD}",
    "with a fragment": lambda: f"redis://host/0#{PASSWORD}",
    "as it is": lambda: f"redis://:{KEY}@host/0",
    "behind a number": lambda: f"redis://ann:12/{PASSWORD}@host/0",
    "behind a question mark": lambda: f"redis://ann:12?{PASSWORD}@host",
    "without a host": lambda: f"redis://:{PASSWORD}@",
    "on two lines": lambda: f"redis://:{PASSWORD}@host\n/0",
    "in a socket's path": lambda: f"unix://ann:12/{PASSWORD}@/x",
}


@surfaces(WRONG)
def wrong(ground, variant):
    """The error where the URL is given."""
    with pytest.raises(wf.SettingsError) as caught:
        Settings(cache=WRONG[variant]())
    error = caught.value
    return [*told(error), VerboseTB("nocolor").text(type(error), error, error.__traceback__)]


COMMANDS = {
    "settings": ["settings"],
    "cache path": ["cache", "path"],
    "cache clear": ["cache", "clear"],
    "fetch": ["fetch", WALLET],
    "fetch offline": ["fetch", WALLET, "--offline"],
}


@surfaces(COMMANDS)
def command(ground, variant):
    """The output of a command."""
    with secured(ground):
        ground.patch.setenv("WALLETFRAME_KEY_KIND", "private")
        ground.patch.setenv("WALLETFRAME_BASE_URL", ground.server.base_url)
        ground.answer()
        output = CliRunner().invoke(main, COMMANDS[variant], catch_exceptions=False).output
    ground.server.paths.clear()
    return output
