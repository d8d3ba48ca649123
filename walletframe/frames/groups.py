"""Grouping of holdings: a code for each row, and the labels of each group.

Some names group wallets, even without rows: ``wallet``, ``blockchain``, ``snapshot``, the user's
columns of ``wallets``. The others group rows: ``token``, ``asset``, the columns of holdings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.lists import unhashable_column_error
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import refuse_assets, token_or_asset_names, with_assets
from walletframe.frames.contract import require_columns, text_array
from walletframe.frames.identity import first_rows
from walletframe.frames.kept import RESULTS, kept_labels
from walletframe.frames.names import ambiguous, shared_symbols
from walletframe.frames.positions import Positions, read_positions, snapshot_times, token_columns
from walletframe.pandas_versions import factorized
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

By: TypeAlias = "str | Sequence[str]"
"""What to group by: one name or several."""

SNAPSHOT: Final = "snapshot"
ADDED: Final = frozenset({"token", "asset"})  # only by these are amounts added up
_OF_WALLETS = ("wallet", "blockchain", SNAPSHOT)
_TO_CHOOSE = "wallet, blockchain, asset, snapshot, a column of holdings or one that wallets keeps"
_APART = 'by="token" keeps contracts apart; or leave out the rows of all but one'


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of n rows, in the order of their wallets, then of their first rows."""

    names: list[str]  # the names grouped by, each once, in the requested order
    codes: Codes  # the group of each row
    wallet_sets: Codes  # of each group, the index of its set of wallets
    wallet_set_codes: Codes  # of each wallet, the index of its set
    wallet_set_count: int
    tokens: Codes  # of each group, the index of its token, else of its asset, -1 for none
    columns: dict[str, Any]  # the label columns: arrays with one label for each group

    def __len__(self) -> int:
        return len(self.wallet_sets)

    @property
    def labels(self) -> pd.DataFrame:
        """The labels of the groups, a row for each; NA if a label is missing."""
        return pd.DataFrame(self.columns)


def list_names(by: By) -> list[str]:
    """Return the names to group by as a list."""
    return [by] if isinstance(by, str) else [*by]


def resolve_token(
    token: TokenLike | None, asset: TokenLike | None, by: By
) -> tuple[TokenLike | None, list[str]]:
    """Return the requested token or asset, and `by` as a list, for an asset with "asset"."""
    if asset is None:
        return token, list_names(by)
    if token is not None:
        raise SettingsError("token=… and asset=… contradict each other", hint="give only one")
    return asset, [*list_names(by), "asset"]


def read_groups(
    holdings: PositionsLike,
    by: By,
    wallets: FetchLike | None = None,
    *,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> tuple[Positions, Groups]:
    """Read holdings, and group them; each set of requested wallets has a group, even without rows.

    By asset, assets replace tokens, unless `by` has "token", too.
    """
    return group_rows(*read_names(holdings, by, wallets, assets=assets, bridged=bridged))


def group_rows(positions: Positions, names: list[str]) -> tuple[Positions, Groups]:
    """Group holdings as `read_groups` does, by names from `read_names`."""
    groups = group(positions, names)
    return positions.by_contract() if "token" in names else positions, groups


def read_names(
    holdings: PositionsLike,
    by: By,
    wallets: FetchLike | None = None,
    *,
    apart: str = "",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> tuple[Positions, list[str]]:
    """Read holdings, with assets if `by` has "asset", and check the names to group by.

    With `apart`, tokens and assets make no groups: the other names do, or wallets if there are
    none. `apart` is the reason, for the error message.
    """
    timed = SNAPSHOT in list_names(by)
    if timed and isinstance(holdings, Positions) and not holdings.timed:
        wallets = holdings.wallet_frame if wallets is None and holdings.has_wallets else wallets
        holdings = holdings.holdings
    positions = read_positions(holdings, wallets, timed=timed)
    names = _checked(by, positions)
    if apart and "token" in names:
        raise SettingsError(f"by can't be 'token': {apart}", hint=f"choose from: {_TO_CHOOSE}")
    if "asset" in names:
        positions = with_assets(positions, assets, bridged=bridged)
    else:
        refuse_assets(assets, bridged=bridged)
    if apart:
        names = [name for name in names if name != "asset"] or ["wallet"]
    return positions, names


def group(positions: Positions, names: list[str]) -> Groups:
    """Group holdings by names from `read_names`."""
    wallet_names = {"wallet", "blockchain", *positions.kept}
    if SNAPSHOT in positions.wallet_frame.columns:  # else only rows have it
        wallet_names.add(SNAPSHOT)
    of_wallets = [name for name in names if name in wallet_names]
    of_rows = [name for name in names if name not in wallet_names]
    if "token" in names:  # a token has one asset, so that this makes no more groups
        of_rows = [name for name in of_rows if name != "asset"]
    set_codes, set_count = _wallet_codes(positions, of_wallets)
    row_codes, first = _row_codes(positions, of_rows)
    if not of_wallets:
        codes, sets, kinds = row_codes, np.zeros(len(first), np.intp), np.arange(len(first))
    elif not of_rows:
        codes, sets = set_codes[positions.wallet_codes], np.arange(set_count)
        kinds = np.full(set_count, -1)
    else:
        row_sets = set_codes[positions.wallet_codes]
        codes, sets, kinds = _combine_with_sets(row_sets, set_count, row_codes, len(first))
    rows = np.append(first, -1)[kinds]
    tokens = np.full(len(rows), -1)
    if of_rows in (["token"], ["asset"]):  # then the codes of rows are those of tokens
        tokens = kinds
    elif not ADDED.isdisjoint(of_rows):
        held = positions.contracts if "token" in of_rows else positions.tokens
        tokens = np.append(held.codes, -1)[rows]
    starts = first_rows(set_codes, set_count)[sets] if of_wallets else rows
    columns: dict[str, Any] = {}
    for name in names:
        if name in wallet_names:
            labels = _wallet_labels(positions, name, names, starts)
        else:
            labels = _row_labels(positions, name, rows, tokens)
        if twice := labels.keys() & columns.keys() - {"symbol"}:  # users can't name "symbol" twice
            raise SettingsError(f"by={names!r} has {min(twice)!r} twice", hint="leave out one")
        columns |= labels
    return Groups(names, codes, sets, set_codes, set_count, tokens, columns)


def _wallet_labels(
    positions: Positions, name: str, names: list[str], places: Codes
) -> dict[str, Any]:
    """Return the label columns of a name that groups wallets, for the wallets at these places."""
    if name == "wallet":
        parts = ("blockchain", "address")
        return {part: positions.wallets[part].array.take(places) for part in parts}
    if name == "blockchain" and "wallet" in names:
        return {}  # "wallet" has this column
    return {name: _wallet_values(positions, name).take(places)}


def _row_labels(positions: Positions, name: str, rows: Codes, tokens: Codes) -> dict[str, Any]:
    """Return the label columns of a name that groups rows, for these rows or tokens; NA for -1."""
    if name == "token":
        return token_columns(positions.holdings, positions.contracts, tokens)
    if name == "asset":
        names = token_or_asset_names(positions, np.arange(len(positions.tokens.keys)))
        assets = np.append(positions.tokens.codes, -1)[rows]
        return {name: text_array(names).take(assets, allow_fill=True)}
    return {name: _row_values(positions, name).take(rows, allow_fill=True)}


def _checked(by: By, positions: Positions) -> list[str]:
    """Return the checked names to group by; "symbol" becomes "token" if no symbol is shared."""
    names: list[Any] = list_names(by)
    kept = positions.kept
    known = {"token", "asset", *_OF_WALLETS, *kept, *positions.holdings.columns} - RESULTS
    wrong = [name for name in names if not isinstance(name, str) or name not in known]
    if wrong or not names:
        more = f" ({', '.join(safe_line(name) for name in kept)})" if kept else ""
        hint = f"choose from: token, {_TO_CHOOSE}{more}"
        hint += (
            "" if positions.has_wallets else "; give wallets=… to group by a column that you kept"
        )
        column = f"there is no column {wrong[0]!r}" if wrong else "by names no column"
        raise SettingsError(f"{column} to group by", hint=hint)
    if "symbol" in names and (shared := shared_symbols(positions.holdings, positions.tokens)):
        raise ambiguous(shared, lambda _: _APART)
    return list(dict.fromkeys("token" if name == "symbol" else name for name in names))


def _wallet_codes(positions: Positions, names: list[str]) -> tuple[Codes, int]:
    """Return the set index of each wallet, by first wallet, and the number of sets."""
    count = len(positions.wallet_keys)
    if "wallet" in names:  # no other name splits a wallet
        return np.arange(count), count
    parts = (
        (positions.chain_codes, len(positions.chain_places))
        if name == "blockchain"
        else _encode(name, _wallet_values(positions, name))
        for name in names
    )
    return _combine_codes(parts, count)


def _row_codes(positions: Positions, names: list[str]) -> tuple[Codes, Codes]:
    """Return the code of each row by names that group rows, and the first row of each code."""
    tokens = positions.contracts if "token" in names else positions.tokens
    if names in ([], ["token"], ["asset"]):  # without names, the result is not used
        return tokens.codes, tokens.first
    of_tokens = tokens.codes, len(tokens.keys)
    parts = (
        of_tokens if name in ADDED else _encode(name, _row_values(positions, name))
        for name in names
    )
    codes, count = _combine_codes(parts, len(positions.holdings))
    return codes, first_rows(codes, count)


def _combine_codes(parts: Iterable[tuple[Codes, int]], rows: int) -> tuple[Codes, int]:
    """Return one code for each combination of codes; parts and result are (codes, number)."""
    codes, count = np.zeros(rows, dtype=np.intp), 1
    for more, size in parts:
        codes, pairs = (more, range(size)) if count == 1 else pd.factorize(codes * size + more)
        count = len(pairs)
    return codes, count


def _combine_with_sets(
    row_sets: Codes, set_count: int, row_codes: Codes, code_count: int
) -> tuple[Codes, Codes, Codes]:
    """Return each row's group, and each group's set and row code, -1 for a set without rows."""
    first, pairs = pd.factorize(row_sets * code_count + row_codes)
    sets, kinds = np.divmod(pairs, max(code_count, 1))
    empty = np.flatnonzero(np.bincount(sets, minlength=set_count) == 0)
    sets, kinds = np.append(sets, empty), np.append(kinds, np.full(len(empty), -1))
    order = np.argsort(sets, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[first], sets[order], kinds[order]


def _encode(name: str, column: Any) -> tuple[Codes, int]:
    """Return the code of each value of a column, and their number; missing is a value, too."""
    try:
        codes, values = factorized(column)
    except TypeError:
        raise unhashable_column_error(name) from None
    if (codes < 0).any():
        codes, values = pd.factorize(np.where(codes < 0, len(values), codes))
    return codes, len(values)


def _row_values(positions: Positions, name: str) -> Any:
    """Return a column of holdings; integers and booleans with nullable dtypes."""
    require_columns(positions.holdings, [name])
    column = positions.holdings[name]
    if column.ndim > 1:
        raise SettingsError(f"two columns have the name {safe_line(name)!r}", hint="rename one")
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return column.array


def _wallet_values(positions: Positions, name: str) -> Any:
    """Return the value of each wallet in a column that groups wallets."""
    if name == "blockchain":
        return text_array(np.array(positions.chains, dtype=object)[positions.chain_codes])
    if name == SNAPSHOT:
        return snapshot_times(positions.wallet_frame).array.take(positions.first)
    return kept_labels(positions.wallet_frame, name, positions.first)
