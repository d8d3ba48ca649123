"""How holdings are cut into groups: by token, by wallet, by blockchain, or by several of them.

It knows the groups and their names, not what is counted or added up in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.analysis.positions import text_array, token_columns
from walletframe.errors import Argument, Either, SettingsError, Spelled
from walletframe.frames import ambiguous, shared_symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.analysis.positions import Codes, Positions

By: TypeAlias = Literal["token", "wallet", "blockchain", "symbol"]

_KINDS = ("token", "wallet", "blockchain", "symbol")


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of holdings.

    Attributes
    ----------
    kinds : list of str
        What they are cut by: "token", "wallet", "blockchain", in the order asked.
    codes : ndarray of intp
        The group of each row.
    owners : ndarray of intp
        The place of each group's wallet, or of its blockchain where it is not cut by wallet;
        0 where it is cut by neither.
    tokens : ndarray of intp
        The place of each group's token; -1 where it has none.
    """

    kinds: list[str]
    codes: Codes
    owners: Codes
    tokens: Codes

    def __len__(self) -> int:
        return len(self.owners)


def read_kinds(by: By | Sequence[By], positions: Positions) -> list[str]:
    """Check what to cut by.

    Parameters
    ----------
    by : str or sequence of str
        As the caller wrote it.
    positions : Positions
        What is cut.

    Returns
    -------
    list of str
        Each of "token", "wallet" and "blockchain" at most once.

    Raises
    ------
    SettingsError
        Where one is none of these, nor "symbol", or where there is none.
    AmbiguousTokenError
        Where "symbol" is among them, and several tokens share one.
    """
    given: list[Any] = [by] if isinstance(by, str) else list(by)
    if not given or any(kind not in _KINDS for kind in given):
        raise SettingsError(f"by: {by!r}", hint="token, wallet, blockchain, or a list of them")
    shared = "symbol" in given and shared_symbols(positions.holdings, positions.tokens)
    if shared:
        raise ambiguous(
            shared,
            lambda _: Spelled(
                Argument("by", Either('"token"', "token")),
                " keeps contracts apart; or leave out the rows of all but one",
            ),
        )
    return list(dict.fromkeys("token" if kind == "symbol" else kind for kind in given))


def cut(positions: Positions, kinds: list[str]) -> Partition:
    """Cut holdings into groups.

    Parameters
    ----------
    positions : Positions
        Holdings.
    kinds : list of str
        Of "token", "wallet" and "blockchain".

    Returns
    -------
    Partition
        By wallet or blockchain first, in the order of `positions`, then in the order of the first
        row. Where the wallets asked are known, each of them, or of their blockchains, has a
        group, if need be one without token and rows.
    """
    by_wallet, by_chain = "wallet" in kinds, "blockchain" in kinds
    if by_wallet:
        row_owners, count = positions.wallet_codes, len(positions.wallets)
    elif by_chain:
        row_owners = positions.chain_codes[positions.wallet_codes]
        count = len(positions.chains)
    else:
        row_owners, count = np.zeros(len(positions.holdings), dtype=np.intp), 1
    wide = len(positions.tokens.keys) + 1
    row_tokens = positions.tokens.codes if "token" in kinds else -1
    first, pairs = pd.factorize(row_owners * wide + row_tokens + 1)
    owners, tokens = np.divmod(pairs, wide)
    if positions.asked and (by_wallet or by_chain):
        idle = np.setdiff1d(np.arange(count), owners)
        owners, tokens = np.append(owners, idle), np.append(tokens, np.zeros_like(idle))
    order = np.argsort(owners, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return Partition(kinds, ranks[first], owners[order], tokens[order] - 1)


def group_columns(positions: Positions, groups: Partition) -> dict[str, Any]:
    """Name the groups.

    Parameters
    ----------
    positions : Positions
        Holdings.
    groups : Partition
        How they are cut.

    Returns
    -------
    dict of str to array of str
        ``token_blockchain``, ``token_address`` and ``symbol`` of tokens, ``blockchain`` and
        ``address`` of wallets, ``blockchain`` of blockchains, in the order of the kinds.
    """
    columns: dict[str, Any] = {}
    for kind in groups.kinds:
        if kind == "token":
            columns |= token_columns(positions.holdings, positions.tokens, groups.tokens)
        elif kind == "wallet":
            owners = positions.wallets.iloc[groups.owners]
            columns |= {
                "blockchain": owners["blockchain"].array,
                "address": owners["address"].array,
            }
        elif "wallet" not in groups.kinds:
            columns["blockchain"] = text_array(np.array(positions.chains, object)[groups.owners])
    return columns
