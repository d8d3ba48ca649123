"""A wallet: a blockchain and an address, the forms accepted for them, and their comparison.

Blockchain identifiers and hex addresses are compared without case; every other address keeps its
case, since base58 addresses differ by it. Addresses are not checked against the format of their
blockchain: the service decides whether an address exists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from walletframe.chains import normalize_blockchain
from walletframe.errors import AddressError
from walletframe.text import is_invisible, is_visible

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS = ("blockchain", "address")
MAX_LENGTH = 512
_SERVICE_NAMES = {"blockChain": "blockchain", "walletAddress": "address"}
_ELLIPSES = ("…", "...")
_NOT_TEXT = "blockchain and address have to be text"
_NO_DOT = 'no dot between blockchain and address, as in "ETH.0x52…"'
_IS_FILE = "this is a file: pass its contents, such as pd.read_csv(…), or in a shell with --file"
_FILE_SUFFIXES = frozenset({"csv", "json", "parquet", "txt", "xlsx"})
_IS_LINK = 'this is a link: give the wallet that it points to, as in "ETH.0x52…"'
_LINK = re.compile(r"[\w+.-]*://|(?:[\w-]+\.)+[a-z]{2,}/")  # with its scheme or without


@dataclass(frozen=True, slots=True, order=True)
class WalletAddress:
    """A wallet: a blockchain identifier and an address on that blockchain.

    Parameters
    ----------
    blockchain : str
        Any identifier without a dot, such as ``"ETH"``. A known identifier is converted to the
        service's spelling, in capitals.
    address : str
        The address, kept as written; it may contain dots (``"alice.near"``).

    Raises
    ------
    AddressError
        If a part is empty or contains white space, invisible characters or an ellipsis, if both
        together are longer than 512 characters, or if the identifier contains a dot.

    Examples
    --------
    >>> WalletAddress("near", "alice.near")
    WalletAddress(blockchain='NEAR', address='alice.near')
    >>> str(WalletAddress.parse("ETH.0xAB").canonical)
    'ETH.0xab'
    """

    blockchain: str
    address: str

    def __post_init__(self) -> None:
        reason = _invalid_reason(self.blockchain, self.address)
        if reason:
            raise AddressError([(0, shorten(self), reason)])
        object.__setattr__(self, "blockchain", normalize_blockchain(self.blockchain))

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
            The wallet.

        Raises
        ------
        AddressError
            If the text has no dot, or a part of it can't be read.

        Examples
        --------
        >>> WalletAddress.parse("NEAR.alice.near")
        WalletAddress(blockchain='NEAR', address='alice.near')
        """
        if not isinstance(text, str):
            raise AddressError([(0, shorten(text), f"{type(text).__name__} is not text")])
        wallet = read_wallet(text)
        if isinstance(wallet, str):
            raise AddressError([(0, shorten(text), wallet)])
        return wallet


WalletLike: TypeAlias = str | tuple[str, str] | Mapping[str, str] | WalletAddress


def read_wallet(item: object) -> WalletAddress | str:
    """Read a wallet in any form, or return the reason why it can't be read."""
    blockchain, address, reason = _parts(item)
    reason = reason or _invalid_reason(blockchain, address)
    return reason or WalletAddress(blockchain, address)


def is_blank(item: object) -> bool:
    """Return whether a row is empty: a missing value, white space, or a pair of them."""
    match item:
        case (blockchain, address) | {"blockchain": blockchain, "address": address}:
            return is_empty(blockchain) and is_empty(address)
        case Mapping():
            return is_blank(_pair(item))
        case _:
            return is_empty(item)


def _pair(item: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return a mapping's values for blockchain and address, by our names or the service's."""
    values = dict(zip(standard_names(item), item.values(), strict=True))
    return tuple(values[name] for name in COLUMNS if name in values)


def standard_names(names: Iterable[Any]) -> list[Any]:
    """Replace the service's names for blockchain and address by ours.

    The names stay as they are unless the result has both.
    """
    original = [*names]
    renamed = {theirs: ours for theirs, ours in _SERVICE_NAMES.items() if ours not in original}
    standard = [renamed.get(name, name) for name in original]
    return standard if {*COLUMNS} <= {*standard} else original


def is_empty(cell: Any) -> bool:
    """Return whether a cell is missing or blank."""
    if isinstance(cell, str):
        return not cell or cell.isspace()
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def _parts(item: object) -> tuple[str, str, str]:
    """Return the blockchain, the address, and the reason why they can't be read, or ""."""
    match item:
        case WalletAddress():
            return item.blockchain, item.address, ""
        case str():
            blockchain, dot, address = (part.strip() for part in item.partition("."))
            reason = "" if dot else _NO_DOT
            return blockchain, address, _IS_FILE if address in _FILE_SUFFIXES else reason
        case (blockchain, address) | {"blockchain": blockchain, "address": address}:
            blockchain, address = (  # other types stay, and are refused later
                cell.strip() if isinstance(cell, str) else "" if is_empty(cell) else cell
                for cell in (blockchain, address)
            )
            return blockchain, address, ""
        case Mapping() if len(pair := _pair(item)) == len(COLUMNS):
            return _parts(pair)
        case Mapping():
            return "", "", 'needs the keys "blockchain" and "address"'
        case _:
            return "", "", f"{type(item).__name__} is not a wallet"


def _invalid_reason(blockchain: object, address: object) -> str:
    """Return the reason why the two parts are not a wallet, or ""."""
    if not isinstance(blockchain, str) or not isinstance(address, str):
        return _NOT_TEXT
    if not blockchain:
        return "the blockchain is empty"
    if "." in blockchain:
        return "a blockchain identifier has no dot"
    if not address:
        return "the address is empty"
    text = f"{blockchain}.{address}"
    if "/" in text and (_LINK.match(text) or _LINK.match(address)):
        return _IS_LINK
    if len(text) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    if any(mark in part for mark in _ELLIPSES for part in (blockchain, address)):
        return "shortened: the whole address is needed"
    return _invisible_reason(text)


def _invisible_reason(text: str) -> str:
    if is_visible(text):
        return ""
    position = next(n for n, char in enumerate(text) if is_invisible(char))
    name = unicodedata.name(text[position], f"U+{ord(text[position]):04X}")
    return f"white space or an invisible character ({name}) at position {position}"


def shorten(item: object) -> str:
    """Return a value as text of at most 80 characters."""
    text = str(item)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - one line of a terminal


def canonical_address(address: str) -> str:
    """Return an address, or a token's contract, in the form for comparisons.

    In a Move type, such as ``0x2::sui::SUI``, only the hex part is without case.
    """
    address = address.strip()
    if address[:2] not in ("0x", "0X") or not address.isascii():
        return address
    if "::" not in address:
        return address.lower()
    account, colons, names = address.partition("::")
    return account.lower() + colons + names


def canonical_blockchain(blockchain: str) -> str:
    """Return a blockchain's identifier in the form for comparisons."""
    blockchain = blockchain.strip()
    return blockchain.upper() if blockchain.isascii() else blockchain


def canonical_key(blockchain: str, address: str) -> tuple[str, str]:
    """Return a key that is equal for all spellings of one wallet, or of one token."""
    return canonical_blockchain(blockchain), canonical_address(address)
