"""When two rows are of one token, or of one wallet, and how a caller names either.

A token is its contract on its blockchain, never its symbol; hex is compared without case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address import (
    canonical_address,
    canonical_blockchain,
    canonical_key,
    parse_wallets,
)
from walletframe.errors import UnknownTokenError, UnknownWalletError
from walletframe.frames.ambiguity import TokenKey, ambiguous
from walletframe.frames.contract import require_columns

if TYPE_CHECKING:
    from walletframe.address import WalletAddress

TokenLike: TypeAlias = str | TokenKey
WalletLike: TypeAlias = "str | tuple[str, str] | WalletAddress"


@dataclass(frozen=True, slots=True)
class Identities:
    """Which rows are of one kind.

    Attributes
    ----------
    codes : ndarray of intp
        For each row, the place of its key among `keys`.
    keys : list of (str, str or None)
        The distinct identities, canonical, in the order of their first row.
    first : ndarray of intp
        For each key, the position of its first row.
    """

    codes: np.ndarray
    keys: list[TokenKey]
    first: np.ndarray

    def take(self, rows: np.ndarray) -> Identities:
        """Return the identities of some rows, given by their positions."""
        codes, kept = pd.factorize(self.codes[rows])
        keys = [self.keys[place] for place in kept.tolist()]
        return Identities(codes, keys, _first_rows(codes, len(keys)))


def token_identities(holdings: pd.DataFrame) -> Identities:
    """Tell which rows hold the same token.

    Parameters
    ----------
    holdings : DataFrame
        With the columns ``token_blockchain`` and ``token_address``.

    Returns
    -------
    Identities
        Keys are (token_blockchain, token_address); the address of a native coin is None. Each row
        without a blockchain is of a token of its own, which is unknown: see `is_unknown`.

    Raises
    ------
    ColumnsError
        Where a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"token_blockchain": ["ETH", "eth", "ETH"], "token_address": ["0xAB", "0xab", None]}
    ... )
    >>> token_identities(frame).keys
    [('ETH', '0xab'), ('ETH', None)]
    """
    return _unknown_apart(_identities(holdings, "token_blockchain", "token_address"))


def is_unknown(token: TokenKey) -> bool:
    """Tell whether a key of `token_identities` stands for a token that nobody can tell.

    Parameters
    ----------
    token : (str, str or None)
        Canonical.

    Returns
    -------
    bool
        True where it has no blockchain. Such a token is the same as no other.
    """
    return not token[0]


def wallet_identities(frame: pd.DataFrame) -> Identities:
    """Tell which rows are of the same wallet.

    Parameters
    ----------
    frame : DataFrame
        With the columns ``blockchain`` and ``address``.

    Returns
    -------
    Identities
        Keys are (blockchain, address).

    Raises
    ------
    ColumnsError
        Where a column is missing.
    """
    return _identities(frame, "blockchain", "address")


def find_token(
    holdings: pd.DataFrame, token: TokenLike, *, identities: Identities | None = None
) -> np.ndarray:
    """Find the rows of one token.

    Parameters
    ----------
    holdings : DataFrame
        With the columns ``symbol``, ``token_blockchain`` and ``token_address``.
    token : str or (str, str or None)
        (blockchain, contract), None for a native coin; or a symbol, compared as written, that
        one token alone has in this frame.
    identities : Identities, optional
        What `token_identities` gave for this frame, where that is known.

    Returns
    -------
    ndarray of bool
        One for each row.

    Raises
    ------
    AmbiguousTokenError
        Where several tokens share the symbol.
    UnknownTokenError
        Where no row holds the token.
    ColumnsError
        Where a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"symbol": ["A", "B"], "token_blockchain": "ETH", "token_address": ["0xAB", None]}
    ... )
    >>> find_token(frame, "A").tolist(), find_token(frame, ("eth", None)).tolist()
    ([True, False], [False, True])
    """
    require_columns(holdings, ["symbol", "token_blockchain", "token_address"])
    identities = identities or token_identities(holdings)
    if isinstance(token, str):
        named = (holdings["symbol"] == token).to_numpy(dtype=bool, na_value=False)
        found = np.unique(identities.codes[named])
        places = np.array([place for place in found if not is_unknown(identities.keys[place])])
        if len(places) > 1:
            raise ambiguous({token: [identities.keys[place] for place in places]})
    else:
        key = token_key(token)
        places = np.array([place for place, other in enumerate(identities.keys) if other == key])
    if not len(places):
        raise UnknownTokenError(token)
    return np.asarray(identities.codes == places[0])


def find_wallet(
    frame: pd.DataFrame, wallet: WalletLike, *, identities: Identities | None = None
) -> np.ndarray:
    """Find the rows of one wallet.

    Parameters
    ----------
    frame : DataFrame
        With the columns ``blockchain`` and ``address``.
    wallet : str, (str, str) or WalletAddress
        ``"ETH.0x…"`` or (blockchain, address).
    identities : Identities, optional
        What `wallet_identities` gave for this frame, where that is known.

    Returns
    -------
    ndarray of bool
        One for each row.

    Raises
    ------
    AddressError
        Where the wallet can't be read.
    UnknownWalletError
        Where no row is of the wallet.
    ColumnsError
        Where a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame({"blockchain": ["ETH", "ETH"], "address": ["0xAB", "0xCD"]})
    >>> find_wallet(frame, "ETH.0xab").tolist()
    [True, False]
    """
    [named] = parse_wallets(wallet)
    identities = identities or wallet_identities(frame)
    key = canonical_key(named.blockchain, named.address)
    if key not in identities.keys:
        raise UnknownWalletError(str(named))
    return np.asarray(identities.codes == identities.keys.index(key))


def token_key(token: TokenKey) -> TokenKey:
    """Return what is equal for two spellings of one token.

    Parameters
    ----------
    token : (str, str or None)
        (blockchain, contract), None or nothing for a native coin; so is what a frame has there.

    Returns
    -------
    (str, str or None)
        The canonical form, as in `Identities.keys`.

    Raises
    ------
    UnknownTokenError
        Where it is no such pair.

    Examples
    --------
    >>> token_key(("eth", "0xAB")), token_key(("eth", float("nan")))
    (('ETH', '0xab'), ('ETH', None))
    """
    match token:
        case (blockchain, address) if _is_text(blockchain) and _is_text(address):
            chain, contract = canonical_key(_text(blockchain), _text(address))
            return chain, contract or None
        case _:
            raise UnknownTokenError(token)


def _identities(frame: pd.DataFrame, chain: str, address: str) -> Identities:
    require_columns(frame, [chain, address])
    chain_codes, chains = pd.factorize(frame[chain].array, use_na_sentinel=False)
    address_codes, addresses = pd.factorize(frame[address].array)
    identifiers = [canonical_blockchain(_text(name)) for name in chains]
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
    return Identities(codes, list(keys), _first_rows(codes, len(keys)))


def _unknown_apart(found: Identities) -> Identities:
    """Give each row of an unknown token an identity of its own."""
    blank = [place for place, key in enumerate(found.keys) if is_unknown(key)]
    if not blank:
        return found
    rows = np.flatnonzero(np.isin(found.codes, blank))
    codes = found.codes.copy()
    codes[rows] = len(found.keys) + np.arange(len(rows))
    keys = [*found.keys, *(("", f"unknown {number}") for number in range(1, len(rows) + 1))]
    codes, kept = pd.factorize(codes)
    return Identities(codes, [keys[place] for place in kept], _first_rows(codes, len(kept)))


def _is_text(name: Any) -> bool:
    if name is None or isinstance(name, str):
        return True
    return bool(pd.api.types.is_scalar(name) and pd.isna(name))


def _text(name: Any) -> str:
    if isinstance(name, str):
        return name
    return "" if pd.isna(name) else str(name)


def _first_rows(codes: np.ndarray, count: int) -> np.ndarray:
    first = np.empty(count, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several writes the last one stays
    return first
