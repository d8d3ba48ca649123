"""The answer to several wallets, taken apart: one answer for each, as if asked for alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from walletframe.address import canonical_key
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.address import WalletAddress


class _Entry(msgspec.Struct, rename="camel"):
    block_chain: str
    address: str


class _Answer(msgspec.Struct):
    wallets: list[msgspec.Raw]


WALLETS = msgspec.json.Decoder(_Answer).decode
_DECODE_ENTRY = msgspec.json.Decoder(_Entry).decode


@dataclass(frozen=True, slots=True)
class Split:
    """An answer, taken apart.

    Attributes
    ----------
    bodies : dict of int to bytes
        By place among the wallets asked for, what the service would have answered for that one
        alone, its entries untouched; wallets that the answer does not name are left out.
    strangers : list of str
        Wallets that nobody asked for, fit to be shown.
    """

    bodies: dict[int, bytes]
    strangers: list[str]


def split_answer(body: bytes, asked: Sequence[WalletAddress]) -> Split:
    """Take the answer to several wallets apart.

    Parameters
    ----------
    body : bytes
        The JSON as received.
    asked : sequence of WalletAddress
        The distinct wallets that were asked for.

    Returns
    -------
    Split
        Without any body where the answer can't be read; nothing in the body raises.

    Examples
    --------
    >>> from walletframe.address import parse_wallets
    >>> body = b'{"wallets":[{"failed":true,"blockChain":"ETH","address":"0xA"}]}'
    >>> split_answer(body, parse_wallets(["ETH.0xb", "ETH.0xa"])).bodies
    {1: b'{"wallets":[{"failed":true,"blockChain":"ETH","address":"0xA"}]}'}
    """
    try:
        entries = WALLETS(body).wallets
    except (ValueError, RecursionError):
        return Split({}, [])
    places = {canonical_key(each.blockchain, each.address): n for n, each in enumerate(asked)}
    found: dict[int, list[bytes]] = {}
    strangers: dict[str, None] = {}
    for entry in entries:
        key = entry_key(entry)
        if key in places:
            found.setdefault(places[key], []).append(bytes(entry))
        elif key is not None:
            strangers[shown(".".join(key))] = None
    return Split({place: _joined(parts) for place, parts in found.items()}, list(strangers))


def entry_key(entry: msgspec.Raw) -> tuple[str, str] | None:
    """Return whose entry it is, in the form in which two wallets are compared.

    Parameters
    ----------
    entry : Raw
        One wallet of an answer.

    Returns
    -------
    (str, str) or None
        None where it does not say.
    """
    try:
        named = _DECODE_ENTRY(entry)
    except (ValueError, RecursionError):
        return None
    return canonical_key(named.block_chain, named.address)


def _joined(entries: list[bytes]) -> bytes:
    return b'{"wallets":[' + b",".join(entries) + b"]}"
