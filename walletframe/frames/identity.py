"""When two rows have the same token, or the same wallet.

A token is its contract on its blockchain, never its symbol; hex is compared without case, the names
of a Move type behind it with case. How tokens and wallets are called is known to `names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from walletframe.address.forms import canonical_address, canonical_blockchain, canonical_key
from walletframe.errors import UnknownTokenError
from walletframe.frames.contract import require_columns
from walletframe.pandas_versions import factorized

if TYPE_CHECKING:
    from collections.abc import Sequence

Codes: TypeAlias = "npt.NDArray[np.intp]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"
TokenKey: TypeAlias = tuple[str, str | None]

TOKEN: Final = ("token_blockchain", "token_address", "symbol")
"""How the token of a row is written."""

UNKNOWN: Final[TokenKey] = ("", None)
"""Stands for all unknown tokens, where the rows of tokens are chosen."""


@dataclass(frozen=True)
class Identities:
    """Which rows are of one token, or of one wallet."""

    codes: Codes  # of each row, the place of its key
    keys: list[TokenKey]  # the distinct identities, canonical, in the order of their first row
    first: Codes  # of each key, the position of its first row

    @cached_property
    def unknown(self) -> Mask:
        """Whether each key is of an unknown token."""
        return np.fromiter([not key[0] for key in self.keys], dtype=bool, count=len(self.keys))

    @property
    def plain_keys(self) -> list[TokenKey]:
        """The keys, `UNKNOWN` in the place of each unknown token."""
        pairs = zip(self.keys, self.unknown.tolist(), strict=True)
        return [UNKNOWN if unknown else key for key, unknown in pairs]

    def unknown_rows(self) -> Codes:
        """Return the positions of the rows of unknown tokens."""
        unknown = self.unknown
        return np.flatnonzero(unknown[self.codes]) if unknown.any() else np.empty(0, dtype=np.intp)

    def take(self, rows: Codes) -> Identities:
        """Return the identities of some rows, given by their positions."""
        codes, kept = pd.factorize(self.codes[rows])
        keys = [self.keys[place] for place in kept.tolist()]
        return Identities(codes, keys, first_rows(codes, len(keys)))


def token_identities(holdings: pd.DataFrame, rows: Codes | None = None) -> Identities:
    """Code the tokens of rows; the keys are (blockchain, contract or None).

    Each row without a blockchain is of a token of its own, which is unknown: see `is_unknown`.
    With `rows`, of these rows: each number is the place of one that is written alike.
    """
    found = _identities(holdings, "token_blockchain", "token_address")
    if rows is not None:
        codes = found.codes[rows]
        found = Identities(codes, found.keys, first_rows(codes, len(found.keys)))
    return _unknown_apart(found)


def wallet_identities(frame: pd.DataFrame) -> Identities:
    """Code the wallets of rows; the keys are (blockchain, address)."""
    return _identities(frame, "blockchain", "address")


def is_unknown(token: TokenKey) -> bool:
    """Return whether a key is of an unknown token: it has no blockchain, and equals no other."""
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
    chain_codes, chains = factorized(frame[chain], use_na_sentinel=False)
    address_codes, addresses = factorized(frame[address])
    identifiers = [canonical_blockchain(cell_text(name)) for name in chains]
    # The code of a missing address is -1, the last place; an empty one is missing, too.
    names = [*map(canonical_address, np.asarray(addresses, dtype=object)), ""]
    of_chains, identifiers = factorized(np.array(identifiers, dtype=object))
    of_names, names = factorized(np.array(names, dtype=object))
    codes, pairs = pd.factorize(of_chains[chain_codes] * len(names) + of_names[address_codes])
    kept = zip(*(part.tolist() for part in divmod(pairs, len(names))), strict=True)
    keys = [(identifiers[place], names[rest] or None) for place, rest in kept]
    return Identities(codes, keys, first_rows(codes, len(keys)))


def joined_identities(parts: Sequence[Identities], order: Codes) -> Identities:
    """Merge the tokens of several frames by their keys; the rows come in an order."""
    places: dict[TokenKey, int] = {}
    codes = []
    for part in parts:
        numbers = [places.setdefault(key, len(places)) for key in part.plain_keys]
        codes.append(np.array(numbers, dtype=np.intp)[part.codes])
    merged, kept = pd.factorize(np.concatenate(codes)[order])
    keys = [*places]
    own = [keys[place] for place in kept.tolist()]
    return _unknown_apart(Identities(merged, own, first_rows(merged, len(own))))


def _unknown_apart(found: Identities) -> Identities:
    """Assign each row of an unknown token an identity of its own."""
    rows = found.unknown_rows()
    if not len(rows):
        return found
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
    """Return the position of the first row of each code."""
    first = np.empty(count, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several writes the last one stays
    return first
