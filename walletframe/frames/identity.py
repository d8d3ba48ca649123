"""Identity of tokens and wallets: which rows have the same token or wallet.

A token is identified by blockchain and contract, never by its symbol. Hex addresses are compared
case-insensitively. Display names are in the module `names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from walletframe.address.forms import canonical_address, canonical_blockchain
from walletframe.errors import UnknownTokenError
from walletframe.frames.schema import require_columns
from walletframe.pandas_versions import factorize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Codes: TypeAlias = "npt.NDArray[np.intp]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"
TokenKey: TypeAlias = tuple[str, str | None]
T = TypeVar("T")

TOKEN: Final = ("token_blockchain", "token_address", "symbol")
"""The columns of holdings that describe the token."""

_SEVERAL_HINT = "pass several tokens to `where` as a list, such as token=list(picker.value)"
UNKNOWN: Final[TokenKey] = ("", None)
"""The common key of all unknown tokens in `KeyCodes.keys_or_unknown`."""


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """The token or wallet of each row as an integer code, as from `pandas.factorize`."""

    codes: Codes  # the index of each row's key
    keys: list[TokenKey]  # distinct and canonical, sorted by first row

    @cached_property
    def first(self) -> Codes:
        """Each key's first row, or 0 for a key without rows."""
        return first_rows(self.codes, len(self.keys))

    @cached_property
    def unknown(self) -> Mask:
        """A mask of the keys of unknown tokens."""
        return np.fromiter([not key[0] for key in self.keys], dtype=bool, count=len(self.keys))

    @property
    def keys_or_unknown(self) -> list[TokenKey]:
        """The keys, with `UNKNOWN` instead of the keys of unknown tokens."""
        pairs = zip(self.keys, self.unknown.tolist(), strict=True)
        return [UNKNOWN if unknown else key for key, unknown in pairs]

    def unknown_rows(self) -> Codes:
        """Return the row numbers of unknown tokens."""
        unknown = self.unknown
        return np.flatnonzero(unknown[self.codes]) if unknown.any() else np.empty(0, dtype=np.intp)

    def take(self, rows: Codes) -> KeyCodes:
        """Return the codes and keys of the rows at these positions."""
        codes, kept = pd.factorize(self.codes[rows])
        return KeyCodes(codes, [self.keys[code] for code in kept.tolist()])


def encode_tokens(holdings: pd.DataFrame, rows: Codes | None = None) -> KeyCodes:
    """Encode the token of each row. Each row without a blockchain has its own unknown token."""
    tokens = _encode_keys(holdings, "token_blockchain", "token_address")
    if rows is not None:
        tokens = KeyCodes(tokens.codes.take(rows), tokens.keys)
    return _split_unknown_tokens(tokens)


def encode_wallets(frame: pd.DataFrame) -> KeyCodes:
    """Encode the wallet of each row. Keys are (blockchain, address)."""
    return _encode_keys(frame, "blockchain", "address")


def is_unknown(token: TokenKey) -> bool:
    """Return whether a token's key has no blockchain."""
    return not token[0]


def token_key(token: TokenKey) -> TokenKey:
    """Return the canonical form of (blockchain, contract)."""
    match token:
        case (blockchain, address) if _is_text_or_na(blockchain) and _is_text_or_na(address):
            return contract_key(cell_text(blockchain), cell_text(address))
        case [(_, _), *_]:
            raise UnknownTokenError(token, hint=_SEVERAL_HINT)
        case _:
            raise UnknownTokenError(token)


def contract_key(blockchain: str, address: str | None) -> TokenKey:
    """Return the canonical key of a token. The address of a native coin is None or empty."""
    return canonical_blockchain(blockchain), canonical_address(address or "") or None


def _encode_keys(frame: pd.DataFrame, chain: str, address: str) -> KeyCodes:
    require_columns(frame, [chain, address])
    chain_codes, chains = factorize(frame[chain], use_na_sentinel=False)
    address_codes, addresses = factorize(frame[address])
    identifiers = [canonical_blockchain(cell_text(name)) for name in chains]
    names = [canonical_address(name) or None for name in np.asarray(addresses, object).tolist()]
    names.append(None)  # a missing address has the code -1
    codes, pairs = pd.factorize(chain_codes * len(names) + address_codes % len(names))
    indices = zip(*(part.tolist() for part in divmod(pairs, len(names))), strict=True)
    code_by_pair, keys = factorize_values([(identifiers[m], names[n]) for m, n in indices])
    return KeyCodes(code_by_pair[codes], keys)


def factorize_values(values: Iterable[T]) -> tuple[Codes, list[T]]:
    """Return the code of each hashable value, and the distinct values."""
    code_by_value: dict[T, int] = {}
    codes = [code_by_value.setdefault(value, len(code_by_value)) for value in values]
    return np.array(codes, dtype=np.intp), [*code_by_value]


def concat_encoded_tokens(parts: Sequence[KeyCodes], order: Codes) -> KeyCodes:
    """Concatenate the encoded tokens of several frames, and sort the rows by `order`."""
    codes_of_keys, keys = factorize_values(key for part in parts for key in part.keys_or_unknown)
    by_part = np.split(codes_of_keys, np.cumsum([len(part.keys) for part in parts])[:-1])
    codes = [new_codes[part.codes] for new_codes, part in zip(by_part, parts, strict=True)]
    merged, kept = pd.factorize(np.concatenate(codes)[order])
    return _split_unknown_tokens(KeyCodes(merged, [keys[code] for code in kept.tolist()]))


def _split_unknown_tokens(tokens: KeyCodes) -> KeyCodes:
    rows = tokens.unknown_rows()
    if not len(rows):
        return tokens
    codes = tokens.codes.copy()
    codes[rows] = len(tokens.keys) + np.arange(len(rows))
    keys = [*tokens.keys, *(("", f"unknown {number}") for number in range(1, len(rows) + 1))]
    codes, kept = pd.factorize(codes)
    return KeyCodes(codes, [keys[code] for code in kept])


def _is_text_or_na(name: Any) -> bool:
    return isinstance(name, str) or bool(pd.api.types.is_scalar(name) and pd.isna(name))


def cell_text(cell: Any) -> str:
    """Return a cell as text. The text of a missing cell is empty."""
    if isinstance(cell, str):
        return cell
    return "" if pd.isna(cell) else str(cell)


def first_rows(codes: Codes, count: int) -> Codes:
    """Return the first row of each code, or 0 for a code without rows."""
    first = np.zeros(count, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write remains
    return first
