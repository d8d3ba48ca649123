"""When two rows have the same token, or the same wallet.

A token is its contract on its blockchain, never its symbol; hex is compared without case. How
tokens and wallets are called is known to `names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from walletframe.address import canonical_address, canonical_blockchain, canonical_key
from walletframe.errors import UnknownTokenError
from walletframe.frames.contract import require_columns

Codes: TypeAlias = "npt.NDArray[np.intp]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"
TokenKey: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Identities:
    """Which rows are of one token, or of one wallet."""

    codes: Codes  # of each row, the place of its key
    keys: list[TokenKey]  # the distinct identities, canonical, in the order of their first row
    first: Codes  # of each key, the position of its first row

    def take(self, rows: Codes) -> Identities:
        """Return the identities of some rows, given by their positions."""
        codes, kept = pd.factorize(self.codes[rows])
        keys = [self.keys[place] for place in kept.tolist()]
        return Identities(codes, keys, first_rows(codes, len(keys)))


def token_identities(holdings: pd.DataFrame) -> Identities:
    """Tell which rows hold the same token; the keys are (blockchain, contract or None).

    Each row without a blockchain is of a token of its own, which is unknown: see `is_unknown`.
    """
    return unknown_apart(_identities(holdings, "token_blockchain", "token_address"))


UNKNOWN: Final[TokenKey] = ("", None)
"""Stands for all unknown tokens, where the rows of tokens are chosen."""


def wallet_identities(frame: pd.DataFrame) -> Identities:
    """Tell which rows are of the same wallet; the keys are (blockchain, address)."""
    return _identities(frame, "blockchain", "address")


def is_unknown(token: TokenKey) -> bool:
    """Tell whether a key is of an unknown token: it has no blockchain, and equals no other."""
    return not token[0]


def token_key(token: TokenKey) -> TokenKey:
    """Return the canonical form of a (blockchain, contract) that a caller or a frame wrote."""
    match token:
        case (blockchain, address) if _is_text(blockchain) and _is_text(address):
            chain, contract = canonical_key(cell_text(blockchain), cell_text(address))
            return chain, contract or None
        case _:
            raise UnknownTokenError(token)


def _identities(frame: pd.DataFrame, chain: str, address: str) -> Identities:
    require_columns(frame, [chain, address])
    chain_codes, chains = pd.factorize(frame[chain].array, use_na_sentinel=False)
    address_codes, addresses = pd.factorize(frame[address].array)
    identifiers = [canonical_blockchain(cell_text(name)) for name in chains]
    # The code of a missing address is -1, the last place; an empty one is missing, too.
    spelled = np.asarray(addresses, dtype=object)
    names = [*(canonical_address(name) or None for name in spelled), None]
    spelling, pairs = pd.factorize(chain_codes * len(names) + address_codes % len(names))
    chosen = (part.tolist() for part in divmod(pairs, len(names)))  # arrays are slow to walk
    keys: dict[TokenKey, int] = {}
    merged = [
        keys.setdefault((identifiers[place], names[rest]), len(keys))
        for place, rest in zip(*chosen, strict=True)
    ]
    codes = np.array(merged, dtype=np.intp)[spelling]
    return Identities(codes, list(keys), first_rows(codes, len(keys)))


def unknown_apart(found: Identities) -> Identities:
    """Give each row of an unknown token an identity of its own."""
    blank = [place for place, key in enumerate(found.keys) if is_unknown(key)]
    if not blank:
        return found
    rows = np.flatnonzero(np.isin(found.codes, blank))
    codes = found.codes.copy()
    codes[rows] = len(found.keys) + np.arange(len(rows))
    keys = [*found.keys, *(("", f"unknown {number}") for number in range(1, len(rows) + 1))]
    codes, kept = pd.factorize(codes)
    return Identities(codes, [keys[place] for place in kept], first_rows(codes, len(kept)))


def _is_text(name: Any) -> bool:
    if name is None or isinstance(name, str):
        return True
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def cell_text(cell: Any) -> str:
    """Return what a cell has as text, nothing where it is missing."""
    if isinstance(cell, str):
        return cell
    return "" if pd.isna(cell) else str(cell)


def first_rows(codes: Codes, count: int) -> Codes:
    """Give the position of the first row of each code."""
    first = np.empty(count, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several writes the last one stays
    return first
