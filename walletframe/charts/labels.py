"""Short names of the tokens and wallets that a chart draws: unique in it, and one line each.

They are plain text: what plotly would take for markup is still in them, until the canvas draws
them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.frames import is_unknown
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.frames import Identities

SHORT = 24
_SHORTER = 12
_HEAD, _TAIL = 6, 4
_WHOLE_ADDRESS = 100


def token_labels(
    holdings: pd.DataFrame, tokens: Identities, places: Iterable[int]
) -> dict[int, str]:
    """Name tokens.

    Parameters
    ----------
    holdings : DataFrame
        With the columns ``symbol`` and ``token_address``.
    tokens : Identities
        Of all its rows.
    places : iterable of int
        Which of them to name.

    Returns
    -------
    dict of int to str
        For each place: the symbol, with the blockchain where another token of the frame has
        it too, and with the contract where that is not enough, or where letters beyond ASCII may
        look like others.
    """
    codes, symbols = pd.factorize(
        holdings["symbol"].array.take(tokens.first), use_na_sentinel=False
    )
    shown_as = np.array([_symbol(each) for each in np.asarray(symbols, dtype=object)], dtype=object)
    alike, names = pd.factorize(shown_as)
    bearers = alike[codes].tolist()
    alone = Counter(bearers)
    on_chain = Counter(zip(bearers, (key[0] for key in tokens.keys), strict=True))

    def label(place: int) -> str:
        bearer, chain = bearers[place], tokens.keys[place][0]
        name = str(names[bearer])
        if is_unknown(tokens.keys[place]):
            return f"{shown(name, _SHORTER)} (unknown token)".lstrip()
        if not name or not name.isascii() or on_chain[bearer, chain] > 1:
            contract = _text(holdings["token_address"].iloc[tokens.first[place]])
            where = short_address(contract) if contract else "native coin"
            return f"{shown(name, _SHORTER)} ({shown(chain, _SHORTER)} {where})".lstrip()
        return name if alone[bearer] == 1 else f"{name} ({shown(chain, _SHORTER)})"

    return _distinct({place: label(place) for place in places})


def whole_token(holdings: pd.DataFrame, tokens: Identities, place: int) -> tuple[str, str]:
    """Name a token at length.

    Parameters
    ----------
    holdings : DataFrame
        With the columns ``symbol`` and ``token_address``.
    tokens : Identities
        Of all its rows.
    place : int
        Which of them.

    Returns
    -------
    tuple of (str, str)
        The symbol; the blockchain and the whole contract.
    """
    row = tokens.first[place]
    name = shown(_text(holdings["symbol"].iloc[row]))
    if is_unknown(tokens.keys[place]):
        return name or "no symbol", "unknown token"
    contract = shown(_text(holdings["token_address"].iloc[row]), _WHOLE_ADDRESS)
    return name or "no symbol", f"{shown(tokens.keys[place][0])} {contract or 'native coin'}"


def wallet_labels(
    holdings: pd.DataFrame, wallets: Identities, places: Iterable[int]
) -> dict[int, str]:
    """Name wallets as ``<BLOCKCHAIN>.<ADDRESS>``, the address shortened where that is unique.

    Parameters
    ----------
    holdings : DataFrame
        With the column ``address``.
    wallets : Identities
        Of all its rows.
    places : iterable of int
        Which of them to name.

    Returns
    -------
    dict of int to str
        For each place.
    """
    short = {
        place: f"{shown(wallets.keys[place][0], SHORT)}."
        + short_address(_text(holdings["address"].iloc[wallets.first[place]]))
        for place in places
    }
    count = Counter(short.values())
    return _distinct(
        {
            place: name if count[name] == 1 else whole_wallet(holdings, wallets, place)
            for place, name in short.items()
        }
    )


def whole_wallet(holdings: pd.DataFrame, wallets: Identities, place: int) -> str:
    """Name a wallet at length.

    Parameters
    ----------
    holdings : DataFrame
        With the column ``address``.
    wallets : Identities
        Of all its rows.
    place : int
        Which of them.

    Returns
    -------
    str
        The blockchain, a dot and the whole address.
    """
    address = _text(holdings["address"].iloc[wallets.first[place]])
    return f"{shown(wallets.keys[place][0])}.{shown(address, _WHOLE_ADDRESS)}"


def short_address(address: str) -> str:
    """Keep the ends of a long address.

    Parameters
    ----------
    address : str
        Any text.

    Returns
    -------
    str
        At most 24 characters; longer ones as their first six and last four.

    Examples
    --------
    >>> short_address("0xd8da6bf26964af9d7eed9e03e53415d37aa96045"), short_address("alice.near")
    ('0xd8da…6045', 'alice.near')
    """
    text = shown(address, _WHOLE_ADDRESS)
    return text if len(text) <= SHORT else f"{text[:_HEAD]}…{text[-_TAIL:]}"


def _symbol(symbol: object) -> str:
    text = _text(symbol)
    harmless = len(text) <= SHORT and text.isalnum() and text.isascii()
    return text if harmless else shown(text, SHORT)


def _text(value: object) -> str:
    return "" if pd.isna(value) else str(value)  # type: ignore[call-overload]  # any scalar


def _distinct(labels: dict[int, str]) -> dict[int, str]:
    """Add a number where hostile text has made two equal all the same."""
    taken: dict[str, int] = {}
    for place, label in labels.items():
        free, number = label, 2
        while free in taken:
            free, number = f"{label} #{number}", number + 1
        taken[free] = place
    return {place: label for label, place in taken.items()}
