"""Merging refreshed wallets into the holdings: nothing that was known is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import WalletframeError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    Source,
    WalletDetails,
    known_wallets,
    wallet_identities,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.frames import TokenKey

_HINT = (
    "give the explorer what was fetched, and what you did to it as prepare=, such as "
    'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
)


def require_as_fetched(details: WalletDetails) -> None:
    """Refuse holdings to which something was done that a new answer would undo."""
    wallets, holdings = details
    added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
    if added:
        raise WalletframeError(f"Refresh would lose the columns {', '.join(added)}", hint=_HINT)
    if len(holdings) != wallets["tokens"].sum():
        raise WalletframeError(
            "the holdings have other rows than were fetched, and Refresh would undo that",
            hint=_HINT,
        )


def renewed(known: WalletDetails, answer: WalletDetails) -> WalletDetails:
    """Let what was known stand in for each wallet that could not be asked anew."""
    rows = {key: row for row, key in enumerate(wallet_identities(answer.wallets).keys)}
    stands_in = _standing_in(known.wallets, answer.wallets, rows)
    if not stands_in:
        return answer
    fresh = answer.wallets.drop(index=list(stands_in))
    wallets = pd.concat([fresh, _stale(known.wallets, answer.wallets, stands_in)]).sort_index()
    old, new = _owners(known.holdings, rows), _owners(answer.holdings, rows)
    kept = np.isin(old, list(stands_in))
    older = known.holdings[kept].reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
    holdings = pd.concat([answer.holdings, older], ignore_index=True)
    order = np.concatenate([new, old[kept]]).argsort(kind="stable")
    return WalletDetails(wallets, holdings.iloc[order].reset_index(drop=True))


def _standing_in(
    known: pd.DataFrame, answer: pd.DataFrame, rows: Mapping[TokenKey, int]
) -> dict[int, int]:
    """Give each row of the answer that is not ok the earlier row that was."""
    lost = ~known_wallets(answer, stale=True)
    was_ok = known_wallets(known, stale=True)
    before = wallet_identities(known)
    pairs = [(rows.get(key), int(row)) for key, row in zip(before.keys, before.first, strict=True)]
    return {row: old for row, old in pairs if row is not None and lost[row] and was_ok[old]}


def _stale(known: pd.DataFrame, answer: pd.DataFrame, stands_in: Mapping[int, int]) -> pd.DataFrame:
    reasons = answer["error"].iloc[list(stands_in)].fillna("no reason was given")
    older = known.iloc[list(stands_in.values())].reindex(columns=list(WALLET_DTYPES))
    marked = older.assign(
        source=Source.STALE.value, error=[f"not refreshed: {reason}" for reason in reasons]
    )
    return marked.astype(WALLET_DTYPES).set_axis(list(stands_in))


def _owners(holdings: pd.DataFrame, rows: Mapping[TokenKey, int]) -> np.ndarray:
    """Return for each balance the row of its wallet, -1 where there is none."""
    owners = wallet_identities(holdings)
    places = np.array([rows.get(key, -1) for key in owners.keys], dtype=np.intp)
    return np.asarray(places[owners.codes])
