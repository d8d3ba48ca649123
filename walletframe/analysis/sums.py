"""Totals: what wallets hold together, exactly, and how complete that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import float_sums
from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.completeness import completeness, integers
from walletframe.analysis.partition import cut, group_columns, read_kinds
from walletframe.analysis.positions import read_positions, text_array
from walletframe.errors import PricesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.analysis.partition import By, Partition
    from walletframe.analysis.positions import Codes, Positions, WalletsLike


def totals(
    holdings: pd.DataFrame,
    by: By | Sequence[By] = "token",
    *,
    wallets: WalletsLike | None = None,
) -> pd.DataFrame:
    """Add up holdings by token, wallet or blockchain, and say how complete that is.

    Amounts of different tokens are never added: without ``"token"`` among `by` there are counts
    and, where the holdings have been valued, values.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch, or some rows of it, perhaps with the columns of `value`.
    by : {"token", "wallet", "blockchain", "symbol"} or list of them, default "token"
        What makes a group. A token is its contract on its blockchain; ``"symbol"`` is the same
        after making sure that no symbol is shared. ``"blockchain"`` is that of the wallet.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed wallets are counted.

    Returns
    -------
    DataFrame
        One row for each group: by wallet or blockchain in the order of `wallets`, else of the
        first row, then in the order of the first row. Its columns, in this order:

        - ``token_blockchain``, ``token_address`` (NA for a native coin), ``symbol`` (as the first
          row has it), str; by token;
        - ``blockchain``, ``address``, str; by wallet; ``blockchain``; by blockchain;
        - ``amount``, amount; by token: the exact sum of the known amounts, NA where none is;
        - ``tokens``, Int64; not by token: distinct tokens of which more than 0 is held;
        - ``holders``, Int64; not by wallet: distinct wallets that hold more than 0 of anything in
          the group; both NA where there are balances and all amounts are unknown;
        - ``balances``, ``amount_na``, Int64: rows, and those whose amount is unknown;
        - ``value``, float64; where the holdings have one: the float64 nearest to the sum of the
          known values, NaN where none is;
        - ``currency``, str, and ``unpriced``, Int64; with ``value``: balances of a known amount
          without a value;
        - ``wallets_ok``, ``wallets_stale``, ``wallets_asked``, Int64; with `wallets`: how many of
          the wallets asked on the group's blockchains (for a token: on its own, and on all where
          one holds it) are known, and how many of those as of an answer that is out of date.

        With `wallets`, each wallet (or blockchain) asked has a row. Where none of its balances are
        known, its row has NA but for these three columns; where it holds nothing, counts and value
        are 0; its token, where asked by token too, is NA in all three columns.
        No rows give no groups, with the same columns and dtypes.

    Raises
    ------
    ArgumentError
        Where `wallets` is something else.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the column ``amount`` holds no amounts.
    AmbiguousTokenError
        By symbol, where several tokens share one: it names their contracts.
    PricesError
        Where values are in more than one currency.
    UnknownWalletError
        Where a row is of a wallet that is not in `wallets`.
    SettingsError
        Where `by` is something else.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> totals(assemble([]).holdings, by="blockchain").columns.tolist()
    ['blockchain', 'tokens', 'holders', 'balances', 'amount_na']
    """
    positions = read_positions(holdings, wallets)
    return totals_of(positions, read_kinds(by, positions))


def totals_of(positions: Positions, kinds: list[str]) -> pd.DataFrame:
    """Add up positions as `totals` does.

    Parameters
    ----------
    positions : Positions
        Holdings.
    kinds : list of str
        What makes a group: of "token", "wallet" and "blockchain".

    Returns
    -------
    DataFrame
        One row for each group; by token alone, in the order of ``positions.tokens``.

    Raises
    ------
    PricesError
        Where values are in more than one currency.
    """
    groups = cut(positions, kinds)
    ok = completeness(positions, groups)
    idle = np.bincount(groups.codes, minlength=len(groups)) == 0
    unknown = idle & (np.asarray(ok["wallets_ok"] == 0) if ok else False)
    return pd.DataFrame(
        {
            **group_columns(positions, groups),
            **_amounts(positions, groups, unknown),
            **_values(positions, groups, unknown),
            **ok,
        }
    )


def _amounts(
    positions: Positions, groups: Partition, unknown: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    exact, count = positions.amounts.exact(), len(groups)
    added = Segments(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    none_known = unknown | ((balances > 0) & (added.sizes == 0))
    held = np.flatnonzero(exact.integers > 0)
    columns: dict[str, Any] = {}
    if "token" in groups.kinds:
        columns["amount"] = AmountArray(sums(added), added.sizes == 0, exact.scale)
    else:
        tokens = _distinct(groups.codes[held], positions.tokens.codes[held], count)
        columns["tokens"] = integers(tokens, none_known)
    if "wallet" not in groups.kinds:
        holders = _distinct(groups.codes[held], positions.wallet_codes[held], count)
        columns["holders"] = integers(holders, none_known)
    columns["balances"] = integers(balances, unknown)
    columns["amount_na"] = integers(balances - added.sizes, unknown)
    return columns


def _values(
    positions: Positions, groups: Partition, unknown: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return {}
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    summed, sizes = float_sums(values, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    summed[unknown | ((balances > 0) & (sizes == 0))] = np.nan
    unpriced = np.isnan(values) & ~positions.amounts.isna()
    return {
        "value": summed,
        "currency": text_array([_currency(holdings)] * count),
        "unpriced": integers(np.bincount(groups.codes[unpriced], minlength=count), unknown),
    }


def _currency(holdings: pd.DataFrame) -> str | None:
    if "currency" not in holdings.columns:
        return None
    currencies = holdings["currency"].unique().tolist()
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows apart",
        )
    return next(iter(currencies), None)


def _distinct(groups: Codes, members: Codes, count: int) -> Codes:
    """Count the distinct members of each group."""
    wide = int(members.max(initial=0)) + 1
    return np.bincount(pd.unique(groups * wide + members) // wide, minlength=count)
