"""Changes added up: of each token, by the owner of the wallets or whatever else is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frames import WALLET_DTYPES, candidates
from walletframe.history.grid import OK
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from walletframe.history.grid import Grid, Places

    Mask = npt.NDArray[np.bool_]
    Sums = npt.NDArray[np.object_]

_WALLET = ["blockchain", "address"]
_NAMES: dict[str, list[str]] = {"token": [], "wallet": _WALLET, "blockchain": ["blockchain"]}
_MADE = {"before", "after", "difference", "change", "wallets_known", "symbol", "token_address"}
_MADE |= {"token_blockchain", "snapshot", *WALLET_DTYPES} - {*_WALLET}


def sums_of_changes(
    cells: Grid, wallets: pd.DataFrame, by: str | Sequence[str]
) -> tuple[pd.DataFrame, Sums, Places, Places]:
    """Add up two times by token and by what `wallets`, all rows of both, tell of their owners.

    Gives the labels of those that changed or may have, the sums of what is known at both times as
    two columns of integers, of how many wallets that is, and how many could hold the token.
    """
    codes = cells.who.codes[: len(wallets)]
    labels = _labels(wallets, codes, by)
    group_of = np.zeros(len(labels), dtype=np.intp)
    if len(labels.columns):
        numbers = labels.groupby([*labels], sort=False, dropna=False).ngroup()
        group_of = np.array(numbers, dtype=np.intp)
    whose = codes[cells.wallet_rows]  # of each pair its wallet
    wide = len(cells.what.keys) + 1
    rows, found = pd.factorize(group_of[whose] * wide + cells.tokens + 1)
    keys = found.astype(np.intp)
    groups, tokens = keys // wide, keys % wide - 1
    known = (cells.status == OK).all(axis=1)
    sums = np.full((len(keys), 2), 0, dtype=object)
    np.add.at(sums, rows[known], cells.integers[known])
    odd = np.bincount(rows[~known], minlength=len(keys))
    sure = (cells.wallet_status == OK).all(axis=1)
    half_known = np.bincount(rows[~known & sure[whose]], minlength=len(keys))
    able = _able(cells, group_of, sure, groups, tokens)
    first = np.full(len(keys), -1, dtype=np.intp)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    told = np.flatnonzero((odd > 0) | (sums[:, 0] != sums[:, 1]))
    of_tokens = cells.labels(first[told]).drop(columns=_WALLET)
    named = labels.take(whose[first[told]]).reset_index(drop=True)
    counts = np.column_stack([able[:, 1] - half_known, able[:, 0]])[told]
    return pd.concat([named, of_tokens], axis=1), sums[told], counts[:, 0], counts[:, 1]


def _labels(wallets: pd.DataFrame, codes: Places, by: str | Sequence[str]) -> pd.DataFrame:
    """Give the labels of each wallet, as last written; those of `before` where `after` has none."""
    names = [by] if isinstance(by, str) else list(by)
    own = [str(name) for name in wallets.columns if str(name) not in {*_MADE, *_WALLET}]
    columns: dict[str, pd.Series] = {}
    for name in names:
        if name not in _NAMES and name not in own:
            kept = f" ({', '.join(map(shown, own))})" if own else ""
            said = f" as token, wallet, blockchain or what wallets keep{kept}"
            raise SettingsError(f"by: {by!r}", hint=Spelled("give ", Argument("by"), said))
        for column in _NAMES.get(name, [name]):
            last = wallets[column].groupby(codes).last()
            columns[column] = last.reset_index(drop=True)
    count = int(codes.max(initial=-1)) + 1
    return pd.DataFrame(columns, index=pd.RangeIndex(count))


def _able(cells: Grid, group_of: Places, sure: Mask, groups: Places, tokens: Places) -> Places:
    """Count, of each group and token, the wallets that could hold it, and those known of them."""
    own_chains, names = pd.factorize(np.array([key[0] for key in cells.who.keys], dtype=object))
    places = {name: place for place, name in enumerate(names)}
    holders = cells.who.codes[len(cells.details.wallets) :]
    could = np.zeros((len(cells.what.keys) + 1, len(names)), dtype=np.intp)
    could[candidates(cells.what, own_chains[holders], places)] = 1
    could[-1] = 1  # where no token is known, any
    counted = np.zeros((int(group_of.max(initial=-1)) + 1, len(names), 2), dtype=np.intp)
    np.add.at(counted, (group_of, own_chains), np.column_stack([np.ones(len(sure), np.intp), sure]))
    able: Places = np.einsum("rc,rck->rk", could[tokens], counted[groups])
    return able
