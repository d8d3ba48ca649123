"""Wallet addresses: the forms in which people write them.

What an address looks like on its blockchain is not known here: the service decides whether it
exists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.spelling import canonical_key
from walletframe.errors import AddressError, ColumnsError
from walletframe.text import is_unseen

MAX_LENGTH = 512
_SHORTENED = ("…", "...")
_NO_TEXT = "blockchain and address have to be text"
_NO_DOT = 'no dot between blockchain and address, as in "ETH.0x52…"'
_A_FILE = "a file: give what is in it, such as pd.read_csv(…), or in a shell --file"
_FILES = frozenset({"csv", "json", "parquet", "txt", "xlsx"})
_A_LINK = 'a link: give the wallet that it leads to, as in "ETH.0x52…"'
_LINK = re.compile(r"[\w+.-]*://|(?:[\w-]+\.)+[a-z]{2,}/")  # with its scheme or without


@dataclass(frozen=True, slots=True, order=True)
class WalletAddress:
    """A wallet: a blockchain identifier and an address on that blockchain, as written.

    Parameters
    ----------
    blockchain : str
        Any identifier without a dot, such as ``"ETH"``.
    address : str
        The address; it may contain dots (``"alice.near"``).

    Raises
    ------
    AddressError
        Where a part is empty, longer than 512 characters, or holds white space, invisible
        characters or an ellipsis, or where the identifier holds a dot.

    Examples
    --------
    >>> WalletAddress("NEAR", "alice.near")
    WalletAddress(blockchain='NEAR', address='alice.near')
    >>> str(WalletAddress.parse("ETH.0xAB").canonical)
    'ETH.0xab'
    """

    blockchain: str
    address: str

    def __post_init__(self) -> None:
        reason = _fault(self.blockchain, self.address)
        if reason:
            raise AddressError([(0, _shorten(self), reason)])

    def __str__(self) -> str:
        return f"{self.blockchain}.{self.address}"

    @property
    def canonical(self) -> WalletAddress:
        """The form in which two addresses of one wallet are equal.

        Returns
        -------
        WalletAddress
            The identifier in upper case; the address in lower case if it is a hex address.
        """
        return WalletAddress(*canonical_key(self.blockchain, self.address))

    @classmethod
    def parse(cls, text: str) -> WalletAddress:
        """Read ``<BLOCKCHAIN>.<ADDRESS>``, split at the first dot.

        Parameters
        ----------
        text : str
            The dotted form; white space around it is ignored.

        Returns
        -------
        WalletAddress
            The wallet, as written.

        Raises
        ------
        AddressError
            Where the text has no dot, or a part of it can't be read.

        Examples
        --------
        >>> WalletAddress.parse("NEAR.alice.near")
        WalletAddress(blockchain='NEAR', address='alice.near')
        """
        if not isinstance(text, str):
            raise AddressError([(0, _shorten(text), f"{type(text).__name__} is no text")])
        return parse_wallets(text)[0]


WalletLike: TypeAlias = str | tuple[str, str] | Mapping[str, str] | WalletAddress
WalletsLike: TypeAlias = "WalletLike | Iterable[WalletLike] | pd.Series | pd.DataFrame"


def parse_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Read wallets in any of the forms that people have at hand.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of the first four
        ``"ETH.0x…"``, ``("ETH", "0x…")``, ``{"blockchain": "ETH", "address": "0x…"}``, one or
        many of them; or a DataFrame with the columns ``blockchain`` and ``address``.

    Returns
    -------
    list of WalletAddress
        One for each input, in its order, repeats included.

    Raises
    ------
    AddressError
        Naming every wallet that can't be read, with its position and the reason.
    ColumnsError
        Where a DataFrame lacks one of the two columns.

    Examples
    --------
    >>> parse_wallets(["ETH.0x1", ("NEAR", "alice.near")])[1].address
    'alice.near'
    """
    found: list[WalletAddress] = []
    problems: list[tuple[int, str, str]] = []
    for place, item in enumerate(_items(wallets)):
        blockchain, address, reason = _parts(item)
        reason = reason or _fault(blockchain, address)
        if reason:
            problems.append((place, _shorten(item), reason))
        else:
            found.append(WalletAddress(blockchain, address))
    if problems:
        raise AddressError(problems)
    return found


def distinct_wallets(wallets: Iterable[WalletAddress]) -> list[WalletAddress]:
    """Return each wallet once, as it was first written, in the order of the first mention.

    Parameters
    ----------
    wallets : iterable of WalletAddress
        Wallets, some of them perhaps the same in another spelling.

    Returns
    -------
    list of WalletAddress
        The distinct ones.

    Examples
    --------
    >>> distinct_wallets(parse_wallets(["ETH.0xA", "eth.0xa"]))
    [WalletAddress(blockchain='ETH', address='0xA')]
    """
    first: dict[WalletAddress, WalletAddress] = {}
    for wallet in wallets:
        first.setdefault(wallet.canonical, wallet)
    return list(first.values())


def _items(wallets: object) -> Iterable[object]:
    if isinstance(wallets, pd.DataFrame):
        missing = [name for name in ("blockchain", "address") if name not in wallets.columns]
        if missing:
            raise ColumnsError(
                missing,
                [str(name) for name in wallets.columns],
                hint="rename the columns, add .assign(blockchain=…) where all wallets are on one "
                'blockchain, or give a single column of "<BLOCKCHAIN>.<ADDRESS>"',
            )
        for name in ("blockchain", "address"):
            if wallets[name].ndim > 1:
                raise AddressError([(0, name, "the DataFrame has this column twice")])
        return zip(wallets["blockchain"], wallets["address"], strict=True)
    if isinstance(wallets, str | Mapping | WalletAddress) or _is_pair(wallets):
        return [wallets]
    if isinstance(wallets, np.ndarray):
        return list(wallets.tolist())
    if isinstance(wallets, Iterable) and not isinstance(wallets, bytes):
        return wallets
    raise AddressError([(0, _shorten(wallets), f"{type(wallets).__name__} is no wallet")])


def _is_pair(item: object) -> bool:
    # A dotted string can't begin a pair, because an identifier has no dot: no list is misread.
    return (
        isinstance(item, tuple)
        and len(item) == 2  # noqa: PLR2004 - a pair
        and all(isinstance(part, str) for part in item)
        and "." not in item[0]
    )


def _parts(item: object) -> tuple[str, str, str]:
    """Return blockchain, address, and the reason why they can't be told, if so."""
    match item:
        case WalletAddress():
            return item.blockchain, item.address, ""
        case str():
            blockchain, dot, address = item.strip().partition(".")
            return blockchain, address, _A_FILE if address in _FILES else "" if dot else _NO_DOT
        case (str() as blockchain, str() as address):
            return blockchain.strip(), address.strip(), ""
        case {"blockchain": str() as blockchain, "address": str() as address}:
            return blockchain.strip(), address.strip(), ""
        case Mapping():
            return "", "", 'needs the keys "blockchain" and "address", both text'
        case (_, _):
            return "", "", _NO_TEXT
        case _:
            return "", "", f"{type(item).__name__} is no wallet"


def _fault(blockchain: object, address: object) -> str:
    """Return why the two parts name no wallet, or nothing."""
    if not isinstance(blockchain, str) or not isinstance(address, str):
        return _NO_TEXT
    if not blockchain:
        return "the blockchain is empty"
    if "." in blockchain:
        return "a blockchain identifier has no dot"
    if not address:
        return "the address is empty"
    text = f"{blockchain}.{address}"
    if "/" in text and (_LINK.match(text) or _LINK.match(address)):
        return _A_LINK
    if len(text) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    if any(mark in part for mark in _SHORTENED for part in (blockchain, address)):
        return "shortened: the whole address is needed"
    return _unseen_fault(text)


def _unseen_fault(text: str) -> str:
    if text.isascii() and text.isprintable() and " " not in text:
        return ""
    place = next((place for place, char in enumerate(text) if is_unseen(char)), None)
    if place is None:
        return ""
    name = unicodedata.name(text[place], f"U+{ord(text[place]):04X}")
    return f"white space or an invisible character ({name}) at {place}"


def _shorten(item: object) -> str:
    text = str(item)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - one line of a terminal
