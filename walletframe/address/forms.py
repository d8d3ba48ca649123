"""Parse wallets (a blockchain and an address) from any accepted form, and compare wallets.

Blockchain identifiers and hex addresses are compared case-insensitively. All other addresses are
compared case-sensitively, since two base58 addresses can differ only by case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from walletframe.chains import identifier_of_alias, normalize_blockchain
from walletframe.errors import AddressError
from walletframe.text import is_invisible, is_visible_word, safe_line

COLUMNS = ("blockchain", "address")
MAX_LENGTH = 512
_STANDARD_NAMES = {"blockchain": "blockchain", "address": "address", "walletaddress": "address"}
_NO_DOT = 'there is no dot between blockchain and address: write a wallet as "ETH.0x52…"'
_IS_FILE = "this is a file name: pass pd.read_csv(…) in Python, or --file NAME in a shell"
_FILE_SUFFIXES = frozenset({"csv", "json", "parquet", "txt", "xlsx"})
_LINK = re.compile(r"[\w+.-]*://|(?:[\w-]+\.)+[a-z]{2,}/")  # with or without a scheme


@dataclass(frozen=True, slots=True, order=True)
class WalletAddress:
    """A wallet: a blockchain identifier and an address on that blockchain.

    Parameters
    ----------
    blockchain : str
        Any identifier without a dot, such as ``"ETH"``. Known identifiers become upper case.
    address : str
        The address, which may contain dots, such as ``"alice.near"``. Case is not changed.

    Raises
    ------
    AddressError
        If the blockchain or the address is empty, or contains white space, invisible characters or
        an ellipsis. Also if the blockchain contains a dot. Also if the wallet is longer than 512
        characters.

    Examples
    --------
    >>> WalletAddress("near", "alice.near")
    WalletAddress(blockchain='NEAR', address='alice.near')
    >>> str(WalletAddress.parse("ETH.0x" + "AB" * 20).canonical)
    'ETH.0xabababababababababababababababababababab'
    """

    blockchain: str
    address: str

    def __post_init__(self) -> None:
        if reason := _invalid_reason(self.blockchain, self.address):
            raise AddressError([(0, truncated_text(self), reason)])
        object.__setattr__(self, "blockchain", normalize_blockchain(self.blockchain))

    def __str__(self) -> str:
        return f"{self.blockchain}.{self.address}"

    @property
    def canonical(self) -> WalletAddress:
        """The wallet in canonical spelling, which is the same for all spellings of the wallet."""
        return WalletAddress(*canonical_key(self.blockchain, self.address))

    @classmethod
    def parse(cls, text: str) -> WalletAddress:
        """Parse the text ``<BLOCKCHAIN>.<ADDRESS>``. The first dot is the separator.

        Parameters
        ----------
        text : str
            The wallet. Surrounding white space is ignored.

        Returns
        -------
        WalletAddress
            The wallet.

        Raises
        ------
        AddressError
            If the text has no dot, or if the blockchain or the address is not valid.
        """
        wallet: WalletAddress | str = f"the value is of type {type(text).__name__}, not str"
        if isinstance(text, str):
            wallet = wallet_or_reason(text)
        if isinstance(wallet, str):
            raise AddressError([(0, truncated_text(text), wallet)])
        return wallet


WalletLike: TypeAlias = str | tuple[str, str] | Mapping[str, str] | WalletAddress


def wallet_or_reason(item: object) -> WalletAddress | str:
    """Parse a wallet in any form. If this fails, return the reason as text."""
    wallet, alias = wallet_or_reason_and_alias(item)
    if alias and isinstance(wallet, WalletAddress):
        return f"write {wallet.blockchain} instead of {safe_line(alias)!r}"
    return wallet


def wallet_or_reason_and_alias(item: object) -> tuple[WalletAddress | str, str]:
    """Return (wallet or reason, replaced alias of the blockchain). The alias may be empty."""
    blockchain, address, reason = _blockchain_address_and_reason(item)
    text, alias = blockchain if isinstance(blockchain, str) else _chain_id_text(blockchain), ""
    # A long text would fill the cache of `identifier_of_alias`.
    identifier = identifier_of_alias(text) if len(text) <= MAX_LENGTH else None
    if identifier and not isinstance(item, WalletAddress):
        blockchain, alias = identifier, text
    reason = reason or _invalid_reason(blockchain, address)
    return reason or WalletAddress(blockchain, address), alias


def _chain_id_text(value: object) -> str:
    """Return the text of a positive whole number, such as 1 or 1.0. For other values, return ""."""
    if isinstance(value, int | float) and 0 < value < 2**53 and value % 1 == 0:  # exact as a float
        return str(int(value))
    return ""


def is_blank(item: object) -> bool:
    """Return whether an item is empty. A pair is empty if both cells are empty."""
    match item:
        case (blockchain, address) | {"blockchain": blockchain, "address": address}:
            return is_empty_cell(blockchain) and is_empty_cell(address)
        case Mapping():
            return is_blank(_blockchain_and_address_if_present(item))
        case _:
            return is_empty_cell(item)


def _blockchain_and_address_if_present(mapping: Mapping[Any, Any]) -> tuple[Any, ...]:
    values = dict(zip(standard_column_names(mapping), mapping.values(), strict=True))
    return tuple(values[name] for name in COLUMNS if name in values)


def standard_column_names(names: Iterable[Any]) -> list[Any]:
    """Rename the columns of wallets to "blockchain" and "address" if both are present."""
    original = [*names]
    replacements = (_STANDARD_NAMES.get(str(name).casefold(), name) for name in original)
    pairs = zip(original, replacements, strict=True)
    standard = [name if each in original else each for name, each in pairs]
    return standard if {*COLUMNS} <= {*standard} else original


def is_empty_cell(cell: Any) -> bool:
    """Return whether a cell is a missing value or contains only white space."""
    if isinstance(cell, str):
        return not cell or cell.isspace()
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def _blockchain_address_and_reason(item: object) -> tuple[Any, Any, str]:
    """Return (blockchain, address, reason). The reason is empty if the item can be split."""
    match item:
        case WalletAddress():
            return item.blockchain, item.address, ""
        case str():
            blockchain, dot, address = (part.strip() for part in item.partition("."))
            reason = "" if dot else _NO_DOT
            return blockchain, address, _IS_FILE if address in _FILE_SUFFIXES else reason
        case (blockchain, address) | {"blockchain": blockchain, "address": address}:
            blockchain, address = (  # _invalid_reason rejects other types
                cell.strip() if isinstance(cell, str) else "" if is_empty_cell(cell) else cell
                for cell in (blockchain, address)
            )
            return blockchain, address, ""
        case Mapping() if len(pair := _blockchain_and_address_if_present(item)) == len(COLUMNS):
            return _blockchain_address_and_reason(pair)
        case Mapping():
            return "", "", 'the keys "blockchain" and "address" are needed'
        case _:
            return "", "", f"a value of type {type(item).__name__} is not a wallet"


def _invalid_reason(blockchain: object, address: object) -> str:
    if not isinstance(blockchain, str) or not isinstance(address, str):
        return "blockchain and address must be strings"
    if not blockchain or not address:
        return f"the {'address' if blockchain else 'blockchain'} is empty"
    if "." in blockchain:
        return "the blockchain contains a dot"
    text = f"{blockchain}.{address}"
    if "/" in text and (_LINK.match(text) or _LINK.match(address)):
        return 'this is a link: write the wallet itself, such as "ETH.0x52…"'
    if len(text) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH} characters"
    if any(ellipsis in part for ellipsis in ("…", "...") for part in (blockchain, address)):
        return "it is shortened: write the full address"
    if is_visible_word(text):
        return ""
    position = next(n for n, char in enumerate(text) if is_invisible(char))
    name = unicodedata.name(text[position], f"U+{ord(text[position]):04X}")
    return f"it contains white space or an invisible character: {name} at position {position}"


def truncated_text(item: object) -> str:
    """Return a value as text, truncated to 80 characters."""
    text = str(item)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - the width of a terminal


def canonical_address(address: str) -> str:
    """Convert hex to lower case. In a Move type (0x2::sui::SUI), convert only the account."""
    address = address.strip()
    lowered = address.lower()
    if lowered == address or address[:2] not in ("0x", "0X") or not address.isascii():
        return address
    account, colons, names = address.partition("::")
    return account.lower() + colons + names


def canonical_blockchain(blockchain: str) -> str:
    """Return a blockchain's identifier for comparisons."""
    blockchain = blockchain.strip()
    return blockchain.upper() if blockchain.isascii() else blockchain


def canonical_key(blockchain: str, address: str) -> tuple[str, str]:
    """Return a key that is the same for all spellings of a wallet or token."""
    return canonical_blockchain(blockchain), canonical_address(address)
