"""Grouping of holdings: the group of each row, and the labels of each group.

Wallets are grouped by ``wallet``, ``blockchain``, ``snapshot`` or extra columns. A wallet without
balances also has a group. Rows are grouped by ``token``, ``asset`` or a column of holdings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.lists import duplicate_column_error, unhashable_column_error
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import reject_assets, token_or_asset_names, tokens_to_assets
from walletframe.frames.extra_columns import RESULT_COLUMNS, extra_column_values
from walletframe.frames.identity import factorize_values, first_rows
from walletframe.frames.names import ambiguous_token_error, tokens_by_shared_symbol
from walletframe.frames.positions import Positions, read_positions, snapshot_column, token_columns
from walletframe.frames.schema import SNAPSHOT, require_columns, text_array
from walletframe.pandas_versions import factorize
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

By: TypeAlias = "str | Sequence[str]"
"""The column or columns to group by."""

KINDS: Final = frozenset({"token", "asset"})  # groups by one of these never mix assets
_WALLET_NAMES = ("wallet", "blockchain", SNAPSHOT)
_CHOICES = (
    "wallet, blockchain, asset, snapshot, a column of holdings, or an extra column of wallets"
)
_SHARED_SYMBOL_HINT = 'use by="token", or keep the rows of only one of these tokens'


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of holdings. Each group has a set of wallets, such as all wallets of an owner."""

    names: list[str]  # the distinct names to group by, in the order of `by`
    codes: Codes  # the group index of each row
    wallet_sets: Codes  # the index of each group's set of wallets
    wallet_set_codes: Codes  # the index of each wallet's set
    wallet_set_count: int
    tokens: Codes  # the token or asset index of each group, or -1
    columns: dict[str, Any]  # arrays with one label for each group, by column name

    def __len__(self) -> int:
        return len(self.wallet_sets)

    @property
    def labels(self) -> pd.DataFrame:
        """The labels, with one row for each group. Missing labels are NA."""
        return pd.DataFrame(self.columns)


def by_as_list(by: By | None) -> list[str]:
    """Return the names to group by as a list."""
    return [by] if isinstance(by, str) else [] if by is None else [*by]


def token_or_asset_and_by(
    token: TokenLike | None, asset: TokenLike | None, by: By
) -> tuple[TokenLike | None, list[str]]:
    """Return the passed token or asset, and the names in `by` with "token" or "asset" added."""
    reject_both(token, asset)
    if token is not None:
        return token, [*by_as_list(by), "token"]
    return asset, by_as_list(by) if asset is None else [*by_as_list(by), "asset"]


def reject_both(token: object, asset: object) -> None:
    """Raise an error if both arguments are passed."""
    if token is not None and asset is not None:
        raise SettingsError("token=… and asset=… can't be combined", hint="pass one of them")


def make_groups(
    holdings: PositionsLike, by: By, wallets: FetchLike | None = None, **options: Any
) -> tuple[Positions, Groups]:
    """Encode and group holdings. A wallet without balances also has a group."""
    return group_by_asset_or_token(*encode_and_parse_by(holdings, by, wallets, **options))


def group_by_asset_or_token(positions: Positions, names: list[str]) -> tuple[Positions, Groups]:
    """Group holdings. If `names` contains "token", return positions by contract."""
    groups = group_holdings(positions, names)
    return positions.with_contracts_as_tokens() if "token" in names else positions, groups


def encode_and_parse_by(
    holdings: PositionsLike, by: By, wallets: FetchLike | None = None, **options: Any
) -> tuple[Positions, list[str]]:
    """Encode holdings and check `by`. If `by` has "asset", replace tokens by assets."""
    by_snapshot = SNAPSHOT in by_as_list(by)
    if by_snapshot and isinstance(holdings, Positions) and not holdings.by_snapshot:
        wallets = holdings.wallet_frame if wallets is None and holdings.has_wallets else wallets
        holdings = holdings.holdings
    positions = read_positions(holdings, wallets, by_snapshot=by_snapshot)
    names = _parse_by(by, positions)
    if "asset" in names:
        positions = tokens_to_assets(positions, **options)
    else:
        reject_assets(**options)
    return positions, names


def add_default_asset(by: By) -> list[str]:
    """Add "asset", unless `by` contains "token", "symbol" or "asset"."""
    names = by_as_list(by)
    return names if {*names} & {"token", "symbol", "asset"} else [*names, "asset"]


def encode_by_holder(
    holdings: PositionsLike, by: By, wallets: FetchLike | None = None, **options: Any
) -> tuple[Positions, list[str]]:
    """Encode holdings. Also return the names in `by` that define a holder, or ["wallet"]."""
    positions, names = encode_and_parse_by(holdings, add_default_asset(by), wallets, **options)
    if KINDS.issubset(names):
        problem = "by='token' and by='asset' can't be combined here"
        raise SettingsError(problem, hint="pass one of them")
    return positions, [name for name in names if name not in KINDS] or ["wallet"]


def group_holdings(positions: Positions, names: list[str]) -> Groups:
    """Group holdings by names from `encode_and_parse_by`."""
    wallet_names = {"wallet", "blockchain", *positions.extra_column_names}
    if SNAPSHOT in positions.wallet_frame.columns:  # otherwise it is a column of holdings
        wallet_names.add(SNAPSHOT)
    by_wallets = [name for name in names if name in wallet_names]
    by_rows = [name for name in names if name not in wallet_names]
    if "token" in names:  # all rows of a token have the same asset
        by_rows = [name for name in by_rows if name != "asset"]
    set_codes, set_count = _wallet_set_codes_and_count(positions, by_wallets)
    row_codes, first = _row_codes_and_first_rows(positions, by_rows)
    if not by_wallets:
        codes, sets = row_codes, np.zeros(len(first), np.intp)
        group_row_codes = np.arange(len(first))
    elif not by_rows:
        codes, sets = set_codes[positions.wallet_codes], np.arange(set_count)
        group_row_codes = np.full(set_count, -1)
    else:
        codes, sets, group_row_codes = _group_by_set_and_code(
            set_codes[positions.wallet_codes], set_count, row_codes, len(first)
        )
    rows = np.append(first, -1)[group_row_codes]
    tokens = np.full(len(rows), -1)
    if by_rows in (["token"], ["asset"]):  # the codes of rows are token indices
        tokens = group_row_codes
    elif not KINDS.isdisjoint(by_rows):
        contracts = positions.contracts if "token" in by_rows else positions.tokens
        tokens = np.append(contracts.codes, -1)[rows]
    starts = first_rows(set_codes, set_count)[sets] if by_wallets else rows
    columns: dict[str, Any] = {}
    for name in names:
        if name in wallet_names:
            labels = _wallet_label_columns(positions, name, names, starts)
        else:
            labels = _row_label_columns(positions, name, rows, tokens)
        # Only internal callers group by "token" and "symbol", which both return "symbol".
        if duplicates := labels.keys() & columns.keys() - {"symbol"}:
            problem = f"by={names!r} gives two columns with the name {min(duplicates)!r}"
            raise SettingsError(problem, hint="leave out one of the two names")
        columns |= labels
    return Groups(names, codes, sets, set_codes, set_count, tokens, columns)


def split_by_token(groups: Groups, positions: Positions, chosen: Codes) -> Groups:
    """Split groups by token. Group ``n * len(groups) + g`` has chosen token n of group g.

    The last ``len(groups)`` groups have the tokens that are not chosen.
    """
    count, ranks = len(groups), np.full(len(positions.tokens.keys), len(chosen))
    ranks[chosen] = np.arange(len(chosen))
    return replace(
        groups,
        names=[positions.kind],
        codes=ranks[positions.tokens.codes] * count + groups.codes,
        wallet_sets=np.tile(groups.wallet_sets, len(chosen) + 1),
        tokens=np.append(chosen, -1).repeat(count),
    )


def _wallet_label_columns(
    positions: Positions, name: str, names: list[str], wallet_indices: Codes
) -> dict[str, Any]:
    if name == "wallet":
        parts = ("blockchain", "address")
        return {part: positions.wallets[part].array.take(wallet_indices) for part in parts}
    if name == "blockchain" and "wallet" in names:
        return {}  # "wallet" has this column
    return {name: _column_by_wallet(positions, name).take(wallet_indices)}


def _row_label_columns(
    positions: Positions, name: str, rows: Codes, tokens: Codes
) -> dict[str, Any]:
    if name == "token":
        return token_columns(positions.holdings, positions.contracts, tokens)
    if name == "asset":
        names = token_or_asset_names(positions, np.arange(len(positions.tokens.keys)))
        labels = np.array([*names, None], dtype=object)  # the label at -1 is NA
        return {name: text_array(labels[np.append(positions.tokens.codes, -1)[rows]])}
    return {name: _row_values(positions, name).take(rows, allow_fill=True)}


def _parse_by(by: By, positions: Positions) -> list[str]:
    names: list[Any] = by_as_list(by)
    kept = positions.extra_column_names
    known = {*KINDS, *_WALLET_NAMES, *kept, *positions.holdings.columns} - RESULT_COLUMNS
    wrong = [name for name in names if not isinstance(name, str) or name not in known]
    if wrong or not names:
        more = f" ({', '.join(safe_line(name) for name in kept)})" if kept else ""
        hint = f"choose from: token, {_CHOICES}{more}"
        if not positions.has_wallets:
            hint += " (extra columns of wallets need the wallets of the fetch, as in details.wf)"
        problem = f"there is no column {wrong[0]!r}" if wrong else "by contains no column"
        raise SettingsError(f"{problem} to group by", hint=hint)
    if "symbol" in names and (
        shared := tokens_by_shared_symbol(positions.holdings, positions.tokens)
    ):
        raise ambiguous_token_error(shared, lambda _: _SHARED_SYMBOL_HINT)
    return list(dict.fromkeys("token" if name == "symbol" else name for name in names))


def _wallet_set_codes_and_count(positions: Positions, names: list[str]) -> tuple[Codes, int]:
    count = len(positions.wallet_keys)
    if "wallet" in names and (SNAPSHOT in names or not positions.by_snapshot):
        return np.arange(count), count  # other names don't split a wallet further
    if "wallet" in names:
        codes, wallets = factorize_values(key[:2] for key in positions.wallet_keys)
        return codes, len(wallets)
    parts = (
        (positions.wallet_chain_codes, len(positions.index_by_chain))
        if name == "blockchain"
        else _codes_and_count(name, _column_by_wallet(positions, name))
        for name in names
    )
    return _combine_codes(parts, count)


def _row_codes_and_first_rows(positions: Positions, names: list[str]) -> tuple[Codes, Codes]:
    tokens = positions.contracts if "token" in names else positions.tokens
    if names in ([], ["token"], ["asset"]):  # without names, the result is not used
        return tokens.codes, tokens.first
    token_codes = tokens.codes, len(tokens.keys)
    parts = (
        token_codes if name in KINDS else _codes_and_count(name, _row_values(positions, name))
        for name in names
    )
    codes, count = _combine_codes(parts, len(positions.holdings))
    return codes, first_rows(codes, count)


def _combine_codes(columns: Iterable[tuple[Codes, int]], row_count: int) -> tuple[Codes, int]:
    """Return a code for each distinct combination of codes, and the number of combinations."""
    codes, count = np.zeros(row_count, dtype=np.intp), 1
    for part, size in columns:
        codes, pairs = (part, range(size)) if count == 1 else pd.factorize(codes * size + part)
        count = len(pairs)
    return codes, count


def _group_by_set_and_code(
    set_of_row: Codes, set_count: int, code_of_row: Codes, code_count: int
) -> tuple[Codes, Codes, Codes]:
    first, pairs = pd.factorize(set_of_row * code_count + code_of_row)
    sets, row_codes = np.divmod(pairs, max(code_count, 1))
    empty = np.flatnonzero(np.bincount(sets, minlength=set_count) == 0)
    sets, row_codes = np.append(sets, empty), np.append(row_codes, np.full(len(empty), -1))
    order = np.argsort(sets, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[first], sets[order], row_codes[order]


def _codes_and_count(name: str, column: Any) -> tuple[Codes, int]:
    """Return the code of each value, and the number of codes. NA also has a code."""
    try:
        codes, values = factorize(column)
    except TypeError:
        raise unhashable_column_error(name) from None
    if (codes < 0).any():
        codes, values = pd.factorize(np.where(codes < 0, len(values), codes))
    return codes, len(values)


def _row_values(positions: Positions, name: str) -> Any:
    """Return a column of holdings. Integers and booleans become nullable."""
    require_columns(positions.holdings, [name])
    column = positions.holdings[name]
    if column.ndim > 1:
        raise duplicate_column_error(name)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return column.array


def _column_by_wallet(positions: Positions, name: str) -> Any:
    if name == "blockchain":
        chains = np.array(positions.distinct_chains, dtype=object)
        return text_array(chains[positions.wallet_chain_codes])
    if name == SNAPSHOT:
        return snapshot_column(positions.wallet_frame).array.take(positions.first)
    return extra_column_values(positions.wallet_frame, name, positions.first)
