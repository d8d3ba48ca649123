"""Surfaces that DataFrames offer where the service repeats the key, in any of its forms."""

import pickle
import warnings

from canned_service import answer, balance, wallet
from leak_ground import WALLET
from leak_scan import ECHOES, KEY
from leak_surfaces import surface, surfaces


def shown(details):
    """Return the text and the data of both frames."""
    return [
        *(frame.to_string() for frame in details),
        *(repr(frame.to_dict()) for frame in details),
        pickle.dumps(details),
    ]


@surfaces(ECHOES)
def error(ground, variant):
    """The column error, repeated as."""
    ground.echo(ECHOES[variant])
    details = ground.fetch()
    assert "no: \u2215wallets" in details.wallets.error.item()
    return shown(details)


@surfaces(ECHOES)
def answered(ground, variant):
    """Both frames, repeated in the explorer's address as."""
    form = ECHOES[variant]
    text = form if isinstance(form, bytes) else form.encode()
    body = answer(wallet(explorerUrl="https://explorer.example/?apiKey=@"))
    ground.server.default = (200, {}, body.replace(b"@", text))
    return shown(ground.fetch())


FIELDS = {
    "symbol": wallet(balances=[balance(symbol=KEY)]),
    "token address": wallet(balances=[balance(address=KEY)]),
    "token blockchain": wallet(balances=[balance(blockchain=KEY)]),
    "amount": wallet(balances=[balance(amount=KEY)]),
    "decimals": wallet(balances=[balance(decimals=KEY)]),
    "field beside": wallet(request=KEY),
    "name of a field": wallet(**{KEY: 1}),
}


@surfaces(FIELDS)
def field(ground, variant):
    """Both frames, repeated in the field."""
    ground.server.default = (200, {}, answer(FIELDS[variant]))
    with warnings.catch_warnings(record=True, action="always") as caught:  # about unreadable fields
        details = ground.fetch()
    return (*shown(details), *(str(each.message) for each in caught))


BODIES = {
    "HTML": f"<html><a href='/?apiKey={KEY}'>".encode(),
    "text": KEY.encode(),
    "a list": answer(wallet(KEY)).replace(b"{", b"[{", 1) + b"]",
    "of a wallet that failed": answer(wallet(failed=True, explorerUrl=KEY)),
}


@surfaces(BODIES)
def body(ground, variant):
    """Both frames of an invalid answer."""
    ground.server.default = (200, {}, BODIES[variant])
    details = ground.fetch()
    assert details.wallets.status.item() in ("invalid", "failed")
    return shown(details)


STATUSES = (400, 401, 403, 404, 429, 500, 502)


@surfaces(STATUSES)
def status(ground, variant):
    """Both frames after an error."""
    ground.echo(status=variant)
    return shown(ground.fetch())


@surface
def stale(ground):
    """The error of a stale answer."""
    ground.answer()
    with ground.client(expire_after_s=0) as client:
        client.fetch(WALLET)
        ground.echo()
        details = client.fetch(WALLET, on_failure="ignore")
    assert details.wallets.source.item() == "stale"
    return shown(details)


DISPLAYS = {
    "repr": repr,
    "HTML": lambda details: [frame._repr_html_() for frame in details],
    "attrs": lambda details: repr([(frame.attrs, vars(frame).keys()) for frame in details]),
    "info": lambda details: [repr(frame.describe(include="all")) for frame in details],
    "JSON": lambda details: [frame.astype(str).to_json() for frame in details],
}


@surfaces(DISPLAYS)
def display(ground, variant):
    """The frames as a person sees them."""
    ground.echo()
    return DISPLAYS[variant](ground.fetch())
