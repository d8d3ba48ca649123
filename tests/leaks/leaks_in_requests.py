"""Surfaces that requests and urllib3 offer: requests, responses, sessions and pools."""

import copy
import pickle
from urllib.parse import quote_plus

from canned_service import answer, wallet
from leak_ground import WALLET, within
from leak_scan import KEY
from leak_surfaces import surface, surfaces

HEADER = KEY.encode().decode("latin-1")  # the server echoes the bytes


def exchange(ground, status=302, **headers):
    """Fetch once, and return the response as requests made it, with its session."""
    result = []
    ground.server.add_reply(answer(wallet()), status=status, **headers)
    with ground.client() as client:
        session = client._session_and_limiter()[0]._session
        session.hooks["response"].append(lambda response, **_: result.append(response))
        client.fetch(WALLET, on_failure="ignore")
    for each in (session, result[0].request):
        each.hooks["response"].clear()
    assert result[0].status_code == status
    return result[0], session


PARTS = {
    "url": lambda response: response.request.url,
    "path_url": lambda response: response.request.path_url,
    "headers": lambda response: repr(response.request.headers),
    "pickle": lambda response: pickle.dumps(response.request),
    "copy": lambda response: within(response.request.copy()),
}


@surfaces(PARTS)
def request(ground, variant):
    """A prepared request."""
    return PARTS[variant](exchange(ground, 200)[0])


SHOWN = {
    "url": lambda response: response.url,
    "repr": repr,
    "headers": lambda response: repr(response.headers),
    "history and next": lambda response: repr(
        [response.history, response.next, response.is_redirect]
    ),
    "links": lambda response: repr(response.links),
    "cookies": lambda response: repr(response.cookies),
    "reason": lambda response: repr(response.reason),
    "pickle": pickle.dumps,
    "urllib3's response": lambda response: within(response.raw),
    "urllib3's address": lambda response: response.raw.geturl(),
    "urllib3's retries": lambda response: repr(
        [response.raw.retries, response.raw.retries.history]
    ),
    "all within": within,
}


@surfaces(SHOWN)
def response(ground, variant):
    """A response whose headers repeat the key."""
    echo = {
        "Location": f"http://elsewhere.example/?apiKey={HEADER}",
        "Link": f"<http://elsewhere.example/?apiKey={HEADER}>; rel=next",
        "Set-Cookie": f"key={quote_plus(KEY)}; Path=/",
        "X-Request": HEADER,
        "WWW-Authenticate": f'Key realm="{HEADER}"',
    }
    return SHOWN[variant](exchange(ground, **echo)[0])


HELD = {
    "cookies": lambda session: repr(session.cookies),
    "headers": lambda session: repr(session.headers),
    "adapters and pools": lambda session: within(session.adapters),
    "all within": within,
    "pickle": pickle.dumps,
    "copy": lambda session: within(copy.copy(session)),
}


@surfaces(HELD)
def session(ground, variant):
    """The session after an exchange."""
    return HELD[variant](exchange(ground, **{"Set-Cookie": f"key={quote_plus(KEY)}"})[1])


@surface
def connection(ground):
    """A connection while it waits for the next request."""
    with ground.client() as client:
        ground.answer()
        client.fetch(WALLET)
        manager = next(iter(client._session._session.adapters.values())).poolmanager
        pool = manager.pools.get(next(iter(manager.pools.keys())))
        link = pool.pool.get(block=False)
        pool.pool.put(link)
        assert link.sock is not None
        return within(link)
