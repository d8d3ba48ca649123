"""The key is on none of the surfaces, each of which exists and shows something."""

import io
import logging
import pickle
from collections import Counter
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
import requests
from leak_ground import texts_of, within
from leak_scan import FORMS, KEY, traces
from leak_surfaces import SURFACES

KINDS = [import_module(path.stem) for path in sorted(Path(__file__).parent.glob("leaks_in_*.py"))]
LEAST = 700
MARKED = {"clusters: ": pytest.mark.system, "processes: The start of": pytest.mark.tools}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[MARKED[start] for start in MARKED if name.startswith(start)])
        for name in SURFACES
    ],
)
def test_no_surface_shows_the_key(ground, name):
    """The surface shows something, and the key in no form, whole or half."""
    seen = SURFACES[name](ground)
    assert seen
    assert traces(seen) == []
    print(f"clean: {name}")  # noqa: T201 - the list of surfaces, with -s


def test_there_are_enough_surfaces():
    """At least 700, each with a name of its own, of every kind."""
    kinds = Counter(name.partition(":")[0] for name in SURFACES)
    assert len(SURFACES) >= LEAST
    assert len(kinds) == len(KINDS)
    print(f"{len(SURFACES)} surfaces: {dict(kinds)}")  # noqa: T201 - the count, with -s


@pytest.mark.parametrize("form", FORMS)
def test_a_planted_key_is_found(form):
    """The scanner finds each form in the middle of anything, as text and as bytes."""
    planted = FORMS[form]
    if isinstance(planted, str):
        assert traces(f"<a {planted} z>") != []
        planted = planted.encode()
    assert traces([b"nothing here", b"\x00\xff" + planted + b"\x00"]) != []


@pytest.mark.parametrize(
    "harmless", ["", "apiKey=*", b"\xff\x00", ["no key", b"here"], "Zx9 QmT4v"]
)
def test_harmless_text_has_no_traces(harmless):
    """The scanner reports no false alarm."""
    assert traces(harmless) == []


def _careless(server, path="/"):
    """Send a request as a client without this library would."""
    return requests.get(server.base_url + path, params={"apiKey": KEY}, timeout=5)


def _error(server):
    server.default = (404, {}, b"")
    with pytest.raises(requests.HTTPError) as caught:
        _careless(server).raise_for_status()
    return str(caught.value)


def _locals(server):
    with pytest.raises(requests.ConnectionError) as caught:
        requests.get("http://127.0.0.1:9", params={"apiKey": KEY}, timeout=5)
    return texts_of(caught.value)


def _log(server):
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    logger = logging.getLogger("urllib3")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    _careless(server)
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    return output.getvalue()


CARELESS = {
    "URL": lambda server: _careless(server).url,
    "pickle": lambda server: pickle.dumps(_careless(server)),
    "all within": lambda server: within(_careless(server)),
    "error": _error,
    "traceback with locals": _locals,
    "log": _log,
    "Redis": lambda _: within(redis.Redis.from_url(f"redis://:{quote(KEY, safe='')}@here")),
}


@pytest.mark.parametrize("place", CARELESS)
def test_a_careless_client_leaks(canned, place):
    """The same search finds the key of a client that sends it as usual."""
    assert traces(CARELESS[place](canned)) != []
