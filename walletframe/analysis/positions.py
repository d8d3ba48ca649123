"""Holdings in codes: which wallet, which token, how much, and of which wallets that is known.

What is asked of holdings begins here; what is computed of them is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.errors import AmountError, UnknownWalletError
from walletframe.frames import (
    HOLDING_DTYPES,
    DetailsLike,
    Identities,
    known_wallets,
    require_columns,
    stale_wallets,
    token_identities,
    wallet_identities,
    wallets_given,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes: TypeAlias = npt.NDArray[np.intp]

WalletsLike: TypeAlias = pd.DataFrame | DetailsLike

_HOLDINGS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")
_WALLETS = ("blockchain", "address", "status", "tokens", "source")


@dataclass(frozen=True, slots=True)
class Positions:
    """Holdings, and who was asked for them.

    Attributes
    ----------
    holdings : DataFrame, n rows
        As given.
    amounts : AmountArray, length n
        Its column of amounts.
    tokens : Identities
        Which rows are of one token.
    wallets : DataFrame
        ``blockchain`` and ``address`` of each distinct wallet: those asked where they were given,
        in their order, else those with rows, in the order of the first one.
    wallet_codes : ndarray of intp, shape (n,)
        The place of each row's wallet among them.
    chains : list of str
        The distinct blockchains of these wallets, as first written.
    chain_codes : ndarray of intp
        The place of each wallet's blockchain among them.
    chain_places : dict of str to int
        The same, by the canonical identifier.
    asked : bool
        Whether the wallets asked were given.
    known : ndarray of bool
        Of each wallet, whether its balances are known.
    stale : ndarray of bool
        Of each wallet, whether they are known as of an answer that is past its time.
    """

    holdings: pd.DataFrame
    amounts: AmountArray
    tokens: Identities
    wallets: pd.DataFrame
    wallet_codes: Codes
    chains: list[str]
    chain_codes: Codes
    chain_places: dict[str, int]
    asked: bool
    known: npt.NDArray[np.bool_]
    stale: npt.NDArray[np.bool_]


def read_positions(holdings: pd.DataFrame, wallets: WalletsLike | None = None) -> Positions:
    """Tell wallets and tokens of holdings apart.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch.

    Returns
    -------
    Positions
        For any holdings, none included.

    Raises
    ------
    ArgumentError
        Where `wallets` is something else.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    UnknownWalletError
        Where a row is of a wallet that is not among `wallets`.
    """
    require_columns(holdings, _HOLDINGS)
    held = wallet_identities(holdings)
    if wallets is None:
        frame, keys, first = holdings, held.keys, held.first
        places, certain = np.arange(len(keys)), np.ones(len(keys), dtype=bool)
        outdated = ~certain
    else:
        frame = wallets_given(wallets)
        require_columns(frame, _WALLETS)
        asked = wallet_identities(frame)
        keys, first = asked.keys, asked.first
        places = _places(held, asked)
        certain = _marked(asked, known_wallets(frame, stale=True))
        outdated = _marked(asked, stale_wallets(frame))
    named = {name: text_array(frame[name].array.take(first)) for name in ("blockchain", "address")}
    chain_codes, chain_keys = pd.factorize(np.array([key[0] for key in keys], dtype=object))
    starts = np.unique(chain_codes, return_index=True)[1]
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=token_identities(holdings),
        wallets=pd.DataFrame(named),
        wallet_codes=places[held.codes],
        chains=[*named["blockchain"].take(starts)],
        chain_codes=chain_codes,
        chain_places={key: place for place, key in enumerate(chain_keys)},
        asked=wallets is not None,
        known=certain,
        stale=outdated,
    )


def amounts_of(column: pd.Series) -> AmountArray:
    """Return the exact amounts of a column.

    Parameters
    ----------
    column : Series
        Of dtype amount.

    Returns
    -------
    AmountArray
        Its array.

    Raises
    ------
    AmountError
        Where the values are no amounts.
    """
    if not isinstance(column.array, AmountArray):
        raise AmountError(
            f"a column of {column.dtype} holds no amounts", hint='convert it: .astype("amount")'
        )
    return column.array


def token_columns(holdings: pd.DataFrame, tokens: Identities, places: Codes) -> dict[str, Any]:
    """Name tokens.

    Parameters
    ----------
    holdings : DataFrame
        With the three columns.
    tokens : Identities
        Of its rows.
    places : ndarray of intp, shape (m,)
        Places of tokens; -1 for none.

    Returns
    -------
    dict of str to array of m str
        ``token_blockchain``, ``token_address`` and ``symbol``, as the first row of the token has
        them.
    """
    rows = np.append(tokens.first, -1)[places]
    return {
        name: text_array(holdings[name].array.take(rows, allow_fill=True))
        for name in ("token_blockchain", "token_address", "symbol")
    }


def text_array(values: Any) -> Any:
    """Return text in the dtype of the column contract.

    Parameters
    ----------
    values : array or sequence of n str
        Missing ones included.

    Returns
    -------
    array of n str
        NaN where missing.
    """
    return pd.array(values, dtype=HOLDING_DTYPES["symbol"])


def _places(held: Identities, asked: Identities) -> Codes:
    rows = {key: place for place, key in enumerate(asked.keys)}
    strangers = [key for key in held.keys if key not in rows]
    if strangers:
        chain, address = strangers[0]
        raise UnknownWalletError(
            f"{chain}.{address}",
            hint=f"holdings have {len(strangers)} that `wallets` lacks: give those of one fetch",
        )
    return np.array([rows[key] for key in held.keys], dtype=np.intp)


def _marked(asked: Identities, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    marks = np.zeros(len(asked.keys), dtype=bool)
    marks[asked.codes[rows]] = True
    return marks
