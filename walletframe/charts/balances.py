"""The rows of holdings that a chart draws, with their sizes, groups, names and colours."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from walletframe.charts.canvas import (
    Notes,
    axis_title,
    hover_text,
    other_label,
    simulated_notes,
    to_markup,
    undrawn_notes,
)
from walletframe.charts.palette import (
    OTHER_COLOR,
    area_style,
    choose_colors,
    choose_group_fills,
    choose_patterns,
)
from walletframe.errors import PricesError, SettingsError
from walletframe.frames.asset_list import (
    combine_single_asset,
    count_and_sum_omitted_bridged,
    find_token_or_asset,
    token_or_asset_names,
)
from walletframe.frames.coverage import (
    DROPPED,
    count_wallets_by_state,
    coverage_of_token,
    drop_rows,
    narrow_attrs,
    snapshot_count,
    table_coverage,
)
from walletframe.frames.details import extract_frame
from walletframe.frames.groups import (
    KINDS,
    add_default_asset,
    by_as_list,
    encode_and_parse_by,
    group_holdings,
    split_by_token,
    token_or_asset_and_by,
)
from walletframe.frames.identity import cell_text, encode_wallets, first_rows, token_key
from walletframe.frames.names import (
    full_wallet_name,
    mask_of_wallet,
    short_wallet_name,
    symbol_and_identity,
    token_names,
    unique_names,
    user_wallet_names,
    wallet_names,
)
from walletframe.frames.positions import (
    HOLDERS,
    Positions,
    encode_holdings,
    mark_na_unknown_if_single,
    mark_na_wallets_unknown,
    read_positions,
    snapshot_column,
    sum_by_cell,
)
from walletframe.frames.schema import SNAPSHOT
from walletframe.numerals import compact, counted_noun, full_amount, money, percent
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats, Indices
    from walletframe.amounts.scalar import Amount
    from walletframe.charts.palette import ColorsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.names import TokenLike, WalletLike
    from walletframe.frames.positions import PositionsLike

_SYMBOL_CHARS, _LABEL_CHARS, _NAME_CHARS, _HOVER_CHARS, _SEPARATOR = 24, 32, 24, 100, " · "
_ROW_CHARS = 40  # the maximum length of a row's label, which has two lines
# The labels in these columns are clear without the name of the column.
_BUILT_IN = {"wallet", "blockchain", "token", "asset"}
_MAX_NOTES_BY_GROUP = 8
_MAX_RANKED = 100  # tokens or groups whose patterns don't depend on which of them are drawn
MIN_SHARE = 0.0003
"""The smallest share of the total that is drawn. Smaller areas would be invisible."""


class Measure(NamedTuple):
    """The quantity that a chart shows: values, amounts of a token, shares of tokens, or counts.

    The word *size* means a number of this quantity, such as the value of one balance.
    """

    kind: Literal["value", "amount", "share", "count"]
    title_start: str  # the first words of the chart's title
    phrase: str  # the quantity in words, without "the"
    axis_title: str
    unit: str = ""  # the unit to write after a number; for shares, "token" or "asset"

    def short_text(self, size: float) -> str:
        """Return a size with three digits and its unit, such as ``1.23M USD``."""
        return f"{compact(size)} {self.unit}".rstrip()

    def text_with_noun(self, size: float) -> str:
        """Return a text such as ``1.23M USD`` or, for a count, ``3 balances``."""
        if self.kind == "count":
            return counted_noun(round(size), "balance")
        return self.short_text(size)

    def text_with_share(self, size: float, total: float) -> str:
        """Return a text such as ``1,200.00 USD (5.0% of all)``, but only the share of an amount."""
        if self.kind == "share":
            return f"{percent(size)} of the {self.unit}"
        part = "" if np.isnan(total) else f"{percent(size / total)} of all"
        if self.kind == "amount":
            return part
        is_count = self.kind == "count"
        text = self.text_with_noun(size) if is_count else f"{money(size)} {self.unit}".rstrip()
        return text + f" ({part})" * bool(part)

    def axis_options(self, largest: float) -> dict[str, Any]:
        """Return plotly's options for an axis of sizes up to `largest`."""
        options = axis_title(self.axis_title) | {"rangemode": "tozero"}
        no_half = self.kind == "count" and largest < 10  # noqa: PLR2004 - there are no half balances
        return options | ({"dtick": 1} if no_half else {})


def _measure_and_sizes(
    positions: Positions, rows: Indices, *, token: TokenLike | None, shares: bool
) -> tuple[Measure, Floats]:
    """Return the measure of the chart, and the size of each row. Unknown sizes are NaN."""
    if token is not None:
        name = token if isinstance(token, str) else token[1] or f"{token[0]} coin"
        name = symbol = safe_line(name, _SYMBOL_CHARS)
        if len(rows):
            code = positions.tokens.codes[rows[:1]]
            [name] = token_or_asset_names(positions, code)
            symbol = name
            if not positions.assets:
                symbol, _ = symbol_and_identity(positions.holdings, positions.tokens, int(code[0]))
            symbol = safe_line(symbol, _SYMBOL_CHARS)
        phrase = f"amount of {name}"
        title_start = safe_line(name, _SYMBOL_CHARS)
        measure = Measure("amount", title_start, phrase, phrase, symbol)
        return measure, _floats_or_nan(positions.amounts[rows])
    if "value" in positions.holdings:
        values = _floats_or_nan(positions.holdings["value"])
        unit = _currency_or_empty(positions.holdings, values)
        phrase, title_start = f"value in {unit}" if unit else "value", "Holdings"
        if len(positions.tokens.keys) == 1 and not positions.tokens.unknown.any():
            [name] = token_or_asset_names(positions, np.array([0]))
            title_start = safe_line(name, _SYMBOL_CHARS)
        return Measure("value", title_start, phrase, phrase, unit), values[rows]
    amounts = positions.amounts[rows]
    if shares:
        sizes = _floats_or_nan(amounts)
        tokens = positions.tokens.codes[rows]
        totals = np.bincount(tokens, np.where(sizes > 0, sizes, 0))
        kind = positions.kind
        phrase = f"wallet's share of the {kind}'s total in these holdings"
        share = Measure("share", f"Share of each {kind}", phrase, f"share of the {kind}", kind)
        return share, np.asarray(sizes / np.where(totals > 0, totals, 1)[tokens])
    # A balance of unknown amount is counted; a balance of 0 or less is not.
    integers, missing, _ = amounts.exact()
    name = "number of balances"
    phrase = f"{name}, since different {positions.kind}s can't be added"
    count = Measure("count", "Holdings", phrase, name)
    return count, np.where(missing | (integers > 0), 1.0, np.where(integers < 0, -1.0, 0.0))


def _currency_or_empty(holdings: pd.DataFrame, values: Floats) -> str:
    if "currency" not in holdings.columns:
        return ""
    distinct = holdings["currency"][~np.isnan(values)].unique()
    currencies = ["unknown" if pd.isna(name) else str(name) for name in distinct]
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies[:5]}",
            hint="draw the rows of each currency separately, since values in different currencies "
            "can't be added",
        )
    return safe_line(currencies[0], 12) if currencies != ["unknown"] and currencies else ""


def _floats_or_nan(sizes: pd.Series | AmountArray) -> Floats:
    floats = sizes.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(floats), floats, np.nan)


class DrawnBalances(NamedTuple):
    """The rows of holdings that a chart draws, and notes about the other rows."""

    positions: Positions  # all holdings, including rows that are not drawn
    rows: Indices  # the indices of the drawn rows
    sizes: Floats  # the size of each drawn row; all sizes are above 0
    unknown_rows: Indices  # the indices of the rows whose size is unknown
    measure: Measure
    covered: Positions  # `positions`, completed by the requested wallets without rows
    coverage: list[str]  # sentences about the wallets and balances that are not counted
    left_out: list[str]  # sentences about negative balances and incomplete groups
    empty_reason: str  # the sentence to show if no row is drawn
    user_wallet_names: list[str]  # the name that the user gave each wallet, or ""

    @property
    def token_codes(self) -> Indices:
        """The token code of each drawn row."""
        return np.asarray(self.positions.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Indices:
        """The wallet code of each drawn row."""
        return np.asarray(self.positions.wallet_codes[self.rows])

    def chart_notes(self, drawn_notes: Sequence[str], wallets: FetchLike | None) -> Notes:
        """Return the notes of a chart. `wallets` shows whether the data is simulated."""
        return Notes(simulated_notes(wallets), drawn_notes, self.left_out, self.coverage)

    def token_names(self, indices: Sequence[int], *, by_chain: bool = False) -> list[str]:
        """Return short names of tokens. With `by_chain`, names are unique per blockchain only."""
        positions, chosen = self.positions, np.array(indices, dtype=np.intp)
        if positions.assets:
            return token_or_asset_names(positions, chosen)
        return token_names(positions.holdings, positions.tokens, chosen, by_chain=by_chain)

    def token_fills(
        self, indices: Sequence[int], colors: ColorsLike | None
    ) -> list[tuple[str, str]]:
        """Return the colour and pattern of each token, the same in all charts of these holdings."""
        tokens, holdings = self.positions.tokens, self.positions.holdings
        values = holdings.get("value", pd.Series(1.0, holdings.index))
        weights = np.nan_to_num(_floats_or_nan(values))
        largest = largest_indices(sum_by_group(tokens.codes, weights), _MAX_RANKED).tolist()
        ranks = {index: rank for rank, index in enumerate(dict.fromkeys([*largest, *indices]))}
        keys = [tokens.keys[index] for index in ranks]
        fill_colors, drawn = choose_colors(keys, colors), [ranks[index] for index in indices]
        patterns = choose_patterns(fill_colors, keys, drawn)
        return [(fill_colors[rank], patterns[rank]) for rank in drawn]

    def symbol_and_contract(self, index: int) -> tuple[str, str]:
        """Return a token's symbol and contract, or an asset's name and number of contracts."""
        positions, full_name = self.positions, partial(symbol_and_identity, limit=_HOVER_CHARS)
        tokens, contracts = positions.tokens, positions.contracts
        if not positions.assets or tokens.keys[index] not in positions.assets.blockchains:
            return full_name(positions.holdings, tokens, index)
        name = safe_line(tokens.keys[index][1] or "")
        indices = np.flatnonzero(tokens.codes[contracts.first] == index).tolist()
        if len(indices) == 1:
            return name, full_name(positions.holdings, contracts, indices[0])[1]
        chains = {contracts.keys[contract][0] for contract in indices}
        count = counted_noun(len(indices), "contract")
        return name, f"{count} on {counted_noun(len(chains), 'blockchain')}"

    def wallet_names(self, indices: Sequence[int]) -> list[str]:
        """Return short names of wallets."""
        chosen = np.array(indices, dtype=np.intp)
        return wallet_names(self.positions.wallets, chosen, self.user_wallet_names)

    def full_wallet_name(self, index: int) -> str:
        """Return a wallet's name, blockchain and address in full."""
        columns = (self.positions.wallets[name].array for name in ("blockchain", "address"))
        blockchain, address = (cell_text(column[index]) for column in columns)
        name = self.user_wallet_names[index]
        return full_wallet_name(blockchain, address, name, limit=_HOVER_CHARS)

    @property
    def undrawn_unsized_token_count(self) -> int:
        """The number of tokens or assets of unknown size that have no drawn row."""
        return len(np.setdiff1d(self.positions.tokens.codes[self.unknown_rows], self.token_codes))

    def exact_sums(self, groups: Indices, wanted: Indices) -> list[Amount | None]:
        """Return each wanted group's exact sum, or None if unknown. Groups must not mix tokens."""
        count = int(max(groups.max(initial=0), wanted.max(initial=0))) + 1
        cells = rank_by_code(wanted, count)[groups]
        rows = np.flatnonzero(cells < len(wanted))
        sums = sum_by_cell(self.positions.amounts[self.rows[rows]], cells[rows], len(wanted))
        return [None if gap else amount for gap, amount in zip(sums.isna(), sums, strict=True)]


def _select_drawn_balances(
    positions: Positions,
    token: TokenLike | None,
    wallet: WalletLike | None,
    wallets: FetchLike | None,
    *,
    shares: bool,
    several_snapshots: bool,
) -> DrawnBalances:
    frame, tokens = positions.holdings, positions.tokens
    token = token if token is None or isinstance(token, str) else token_key(token)
    is_selected = np.ones(len(frame), dtype=bool)
    wallet_positions = positions
    if len(frame) and wallet is not None:
        is_selected &= mask_of_wallet(positions.wallets, wallet)[positions.wallet_codes]
        wallet_positions = positions.select_rows(is_selected)
        if not is_selected.all() or HOLDERS in frame.attrs:  # dropped rows may be of other wallets
            indices = np.unique(positions.wallet_codes[is_selected]).tolist()
            keys = {positions.wallet_keys[index][:2] for index in indices}
            kept = drop_rows(narrow_attrs(frame, keys), is_selected, {})
            wallet_positions = replace(wallet_positions, holdings=kept)
    wallets = None if wallets is None else extract_frame(wallets, "wallets")
    covered = read_positions(wallet_positions, wallets)
    if several_snapshots and wallets is not None:  # as in `totals`, wallets count once per snapshot
        covered = read_positions(frame, wallets, by_snapshot=True)
        covered = replace(covered, tokens=tokens, assets=positions.assets)
    counted = covered
    if several_snapshots:  # an out-of-date answer is older than its snapshot
        fresh = covered.known & ~covered.stale
        counted = replace(covered, known=fresh, stale=np.zeros_like(fresh))
    coverage = table_coverage(counted)
    if len(frame) and token is not None:
        index = find_token_or_asset(positions, token)
        is_selected &= tokens.codes == index
        coverage = coverage_of_token(counted, index)
    rows = np.flatnonzero(is_selected)
    measure, sizes = _measure_and_sizes(positions, rows, token=token, shares=shares)
    drawn = np.isfinite(sizes) & (sizes > 0)
    unknown, negative = np.isnan(sizes), int((sizes < 0).sum())
    noun = "value" if measure.kind == "value" else "amount"
    empty_reason = f"No {noun} {'above zero is known' if unknown.all() else 'is above zero'}."
    return DrawnBalances(
        positions=positions,
        rows=rows[drawn],
        sizes=sizes[drawn],
        unknown_rows=rows[unknown],
        measure=measure,
        covered=covered,
        coverage=coverage.sentences(),
        left_out=undrawn_notes(negative, "negative balance"),
        empty_reason=empty_reason if len(rows) else "There are no holdings to draw.",
        user_wallet_names=user_wallet_names(positions.wallets, wallets),
    )


def check_limit(name: str, number: Any, limit: int) -> int:
    """Return `number` as an int, or raise if it is not an integer from 1 to `limit`."""
    whole_number = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole_number or not 1 <= number <= limit:
        raise SettingsError(f"{name}={number!r} is not valid", f"use an integer from 1 to {limit}")
    return int(number)


def sum_by_group(groups: Indices, sizes: Floats, minlength: int = 0) -> Floats:
    """Return the sum of each group's sizes. The result has at least `minlength` elements."""
    return np.bincount(groups, sizes, minlength=minlength).astype(np.float64, copy=False)


def largest_indices(sizes: Floats, top: int) -> Indices:
    """Return the indices of the `top` largest sizes above 0, the largest first."""
    # If Other would contain a single size, return this size instead.
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]


class TraceStyle(NamedTuple):
    """The name, colour and pattern of a trace for a token or for Other."""

    name: str  # plain text
    color: str
    pattern: str  # distinguishes traces of the same colour; empty for a plain fill

    def bar_trace(self, **options: Any) -> dict[str, Any]:
        """Return a bar trace as a dict, so that plotly validates the options only once."""
        style = {"name": to_markup([self.name]), "marker": area_style(self.color, self.pattern)}
        return {"type": "bar", "hoverinfo": "text"} | style | options


def bar_totals_by_trace(sizes: Floats) -> list[list[str]]:
    """Return each trace's texts. Only the last segment of a stacked bar has a text: the total."""
    totals = [compact(size) for size in sizes.sum(axis=1).tolist()]
    last = sizes.shape[1] - 1 - (sizes[:, ::-1] > 0).argmax(axis=1)
    return [
        [total if part == end else "" for total, end in zip(totals, last, strict=True)]
        for part in range(sizes.shape[1])
    ]


class PivotedSizes(NamedTuple):
    """A table of sizes with a row per group or snapshot and a column per token."""

    balances: DrawnBalances
    rows: Indices  # the group of each row except the last row, which is Other
    tokens: Indices  # the token of each column except the last one, which is Other
    other_row_count: int  # the number of groups that are combined in the last row
    other_token_count: int  # the number of tokens that are combined in the last column
    sizes: Floats  # an array of shape (len(rows) + 1, len(tokens) + 1)
    # The exact sum of each cell, row by row, except in the last column. Unknown sums are None.
    amounts: list[Amount | None]
    codes: Indices  # the group of each drawn row of holdings
    symbols_and_contracts: list[tuple[str, str]]  # the symbol and the contract of each column

    @property
    def total(self) -> float:
        """The sum of all sizes, or NaN if the holdings have several snapshots."""
        is_added = snapshot_count(self.balances.positions.holdings) == 1
        return float(self.sizes.sum()) if is_added else np.nan

    @property
    def token_noun(self) -> str:
        """The noun for the columns: "token" or "asset"."""
        return self.balances.positions.kind

    @property
    def first_holding_indices(self) -> dict[str, list[int]]:
        """The index of the first holding of each row (key "rows") and column (key "tokens")."""
        codes = {"rows": self.codes, "tokens": self.balances.token_codes}
        chosen = {"rows": self.rows, "tokens": self.tokens}
        counts = {name: int(max(codes[name].max(), chosen[name].max())) + 1 for name in codes}
        first = {name: first_rows(codes[name], counts[name]) for name in codes}
        return {name: self.balances.rows[first[name][chosen[name]]].tolist() for name in chosen}

    def exact_text(self, row: int, token: int) -> str:
        """Return the exact sum of a cell as text. The cell must not be in the column Other."""
        return full_amount(self.amounts[row * len(self.tokens) + token])

    def hover_text(self, row: int, token: int, lines: Sequence[str], total: float) -> str:
        """Return a cell's hover text, which contains `lines`. A size of 0 has an empty text."""
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.text_with_share(size, total)
        if token == len(self.tokens):
            others = counted_noun(self.other_token_count, f"other {self.token_noun}")
            return hover_text(others, *lines, share)
        symbol, contract = self.symbols_and_contracts[token]
        amount = f"{self.exact_text(row, token)} {symbol}"
        return hover_text(symbol, contract, *lines, amount, share)

    def trace_styles(self, colors: ColorsLike | None = None) -> list[TraceStyle]:
        """Return the style of each column. If tokens are combined, the last style is for Other."""
        indices: list[int] = self.tokens.tolist()
        fills = self.balances.token_fills(indices, colors)
        styles = [*map(TraceStyle, self.balances.token_names(indices), *zip(*fills, strict=True))]
        other = TraceStyle(other_label(self.other_token_count, self.token_noun), OTHER_COLOR, "")
        return [*styles, other] if self.other_token_count else styles


def pivot_sizes(
    balances: DrawnBalances, codes: Indices, rows: Indices, tokens: Indices
) -> PivotedSizes:
    """Sum the sizes by group and token. Groups and tokens that are not passed become Other."""
    row_ranks = rank_by_code(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_ranks = rank_by_code(tokens, len(balances.positions.tokens.keys))[balances.token_codes]
    width = len(tokens) + 1
    cells, count = row_ranks * width + token_ranks, (len(rows) + 1) * width
    return PivotedSizes(
        balances=balances,
        rows=rows,
        tokens=tokens,
        other_row_count=len(np.unique(codes[row_ranks == len(rows)])),
        other_token_count=len(np.unique(balances.token_codes[token_ranks == len(tokens)])),
        sizes=sum_by_group(cells, balances.sizes, count).reshape(-1, width),
        amounts=balances.exact_sums(cells, np.flatnonzero(np.arange(count) % width < len(tokens))),
        codes=codes,
        symbols_and_contracts=[*map(balances.symbol_and_contract, tokens.tolist())],
    )


def rank_by_code(chosen: Indices, code_count: int) -> Indices:
    """Return each code's position in `chosen`. A code that is not chosen gets ``len(chosen)``."""
    ranks = np.full(code_count, len(chosen), dtype=np.intp)
    ranks[chosen] = np.arange(len(chosen))
    return ranks


class GroupedBalances(NamedTuple):
    """The rows that a chart draws, and the names of the columns that group the rows."""

    names: list[str]  # the requested names without duplicates
    balances: DrawnBalances
    positions: Positions  # the positions to group; if grouped by asset, their tokens are assets
    token: TokenLike | None  # the only drawn token or asset, if any
    # For several snapshots, the requested wallets: columns wallet (a code), time, known (a bool).
    requests: pd.DataFrame | None = None

    @property
    def chart_title(self) -> str:
        """The default title of the chart."""
        return f"{self.balances.measure.title_start} by {join_names(self.names)}"

    def group_by(self, names: list[str]) -> GroupLevel:
        """Group the rows by the columns `names`."""
        groups = group_holdings(self.positions, names)
        first_wallets = first_rows(groups.wallet_set_codes, groups.wallet_set_count)
        requested = np.zeros(len(groups), dtype=np.intp)
        known = requested[:, np.newaxis]
        is_counted = not {*names}.isdisjoint(self._grouping_wallet_columns())
        by_time = SNAPSHOT in names  # otherwise, a group combines its snapshots
        if is_counted and not by_time and self.requests is not None and len(self.requests):
            times = pd.DatetimeIndex(self.requests["time"].unique())
            known, _, requested = known_and_requested_counts(groups, self.requests, times)
        elif is_counted:
            positions, parts = self.balances.positions, groups
            draws_amounts = self.balances.measure.kind == "amount" and len(positions.holdings)
            if draws_amounts and self.token is not None:
                index = find_token_or_asset(positions, self.token)
                parts = split_by_token(groups, positions, np.array([index]))
            elif "token" not in names:
                positions = self.positions
            counts = count_wallets_by_state(positions, parts)[:, : len(groups)]
            known, requested = counts[0][:, np.newaxis], counts[2]
        return GroupLevel(names, self.balances, groups, first_wallets, known, requested)

    def _grouping_wallet_columns(self) -> list[str]:
        if not self.positions.has_wallets:
            return []
        of_wallets = {"blockchain", *self.positions.extra_column_names}
        of_wallets |= {SNAPSHOT} if self.positions.by_snapshot else set()
        return [name for name in self.names if name in of_wallets]

    def incomplete_and_empty_group_notes(self, top: int) -> list[str]:
        """Return sentences about groups with unknown wallets, and a sentence about empty groups."""
        names = self._grouping_wallet_columns()
        names = [name for name in names if name != "blockchain" or "wallet" not in self.names]
        if not names:
            return []
        level = self.group_by(names)
        sizes = sum_by_group(level.group_codes, self.balances.sizes, len(level.groups))
        incomplete = np.flatnonzero(level.is_incomplete)
        ranks = np.where(sizes, -sizes, -np.inf)  # groups without balances come first
        order = incomplete[np.argsort(ranks[incomplete], kind="stable")]
        shown, rest = order[:_MAX_NOTES_BY_GROUP].tolist(), len(order) - _MAX_NOTES_BY_GROUP
        sentences = [f"{level.known_wallets_text(at, level.name_and_columns(at))}." for at in shown]
        more = f"Some wallets of {counted_noun(rest, f'more {level.group_noun}')} are unknown."
        sentences += [more] * (rest > 0)
        others = np.setdiff1d(np.flatnonzero(sizes), largest_indices(sizes, top))
        if top and names == self.names and level.is_incomplete[others].any():
            name = other_label(len(others), level.group_noun)
            place = len(np.setdiff1d(shown, others))  # after the drawn groups
            sentences.insert(place, f"{level.known_wallets_text(others, name)}.")
        empty = np.flatnonzero((sizes == 0) & ~level.is_incomplete).tolist()
        if empty:
            listed = level.short_group_names(empty[:_MAX_NOTES_BY_GROUP])
            listed += [f"{len(empty) - len(listed):,} more"] * (len(empty) > len(listed))
            measure, verb = self.balances.measure, "has" if len(empty) == 1 else "have"
            nouns = {"amount": measure.title_start, "value": "known value above 0"}
            noun = nouns.get(measure.kind, "balance")
            for token in self.balances.token_codes[: measure.kind == "amount"].tolist():
                versions, _ = count_and_sum_omitted_bridged(self.balances.positions, token)
                noun += ", apart from bridged versions" * bool(versions)
            filters = self.balances.positions.holdings.attrs.get(DROPPED, {}).get("filters")
            noun += " among these balances" * bool(filters)
            counted = counted_noun(len(empty), level.group_noun)
            sentences.append(f"{counted} {verb} no {noun}: {', '.join(listed)}.")
        return sentences


class GroupLevel(NamedTuple):
    """The drawn rows, grouped by one or several columns."""

    names: list[str]
    balances: DrawnBalances
    groups: Groups
    first_wallets: Indices  # the first wallet of each set of wallets
    # If the requests are not recorded, all counts are 0.
    wallets_known: Codes  # an array of shape (groups, snapshots), or (groups, 1)
    wallets_asked: Codes  # the number of requested wallets in each group

    @property
    def group_codes(self) -> Indices:
        """The group of each drawn row."""
        return np.asarray(self.groups.codes[self.balances.rows])

    @property
    def group_noun(self) -> str:
        """The noun for a group: the column's name if it is one short word, otherwise "group"."""
        [name, *more] = self.names
        takes_s = name.isascii() and name.isalpha() and not name.endswith(("s", "y", "x", "h"))
        is_noun = takes_s and not more and len(name) <= _NAME_CHARS
        return name if is_noun and not pd.isna(self.groups.columns.get(name, [])).any() else "group"

    @property
    def is_incomplete(self) -> Mask:
        """Whether each group has unknown wallets."""
        return np.asarray((self.wallets_known < self.wallets_asked[:, np.newaxis]).any(axis=1))

    def largest_then_unknown_groups(self, sizes: Floats, top: int) -> Indices:
        """Return the largest groups, then empty incomplete groups. Snapshots are sorted by time."""
        largest = largest_indices(sizes, top)
        unsure = np.flatnonzero((sizes == 0) & self.is_incomplete)
        chosen = np.append(largest, unsure[: max(top - len(largest), 0)])
        if SNAPSHOT not in self.names:
            return chosen
        return chosen[snapshot_column(self.groups.labels)[chosen].argsort(kind="stable")]

    def short_group_names(self, indices: Sequence[int]) -> list[str]:
        """Return short, unique names of groups. Each name is one line."""
        chosen = np.array(indices, dtype=np.intp)
        if self.names == ["wallet"]:
            wallets = self.first_wallets[self.groups.wallet_sets[chosen]]
            return self.balances.wallet_names(wallets.tolist())
        names = self._shown_columns
        parts = [self._group_labels(name, chosen) for name in names]
        full = [self._group_labels(name, chosen, limit=_HOVER_CHARS) for name in names]
        short, long = ([*map(_SEPARATOR.join, zip(*each, strict=True))] for each in (parts, full))
        return unique_names(short, long.__getitem__)

    def name_and_columns(self, index: int) -> str:
        """Return a group's full name with the column names, such as ``owner Ada``."""
        parts = []
        for name in self._shown_columns:
            [text] = self._group_labels(name, np.array([index]), limit=_HOVER_CHARS)
            is_clear = name in _BUILT_IN or text == _missing_label(name)
            is_clear |= text.casefold().startswith(name.casefold())  # such as "Owner 7"
            parts.append(text if is_clear else f"{safe_line(name, _NAME_CHARS)} {text}")
        return _SEPARATOR.join(parts)

    def fills(self, indices: Sequence[int]) -> list[tuple[str, str]]:
        """Return the colour and the pattern of each group."""
        has_few = len(self.groups) <= _MAX_RANKED and KINDS.isdisjoint(self.names)
        every = range(len(self.groups)) if has_few else indices
        names = {index: self.name_and_columns(index) for index in every}
        fills = dict(zip(names, choose_group_fills([*names.values()]), strict=True))
        return [fills[index] for index in indices]

    def split_by_token(self, tokens: Indices) -> GroupLevel:
        """Split each group by token, and count the wallets of each new group."""
        positions = self.balances.positions
        groups = split_by_token(self.groups, positions, tokens)
        known, _, asked = count_wallets_by_state(positions, groups)
        return self._replace(groups=groups, wallets_known=known[:, np.newaxis], wallets_asked=asked)

    def known_wallets_text(self, indices: int | Indices, group_name: str = "") -> str:
        """Return a text such as "3 of 5 wallets are known", or "" if requests are not recorded."""
        known, requested = self._known_text_and_requested_count(indices)
        if not requested or "wallet" in self.names:
            return ""
        of_group = f" of {group_name}" * bool(group_name)
        if (self.groups.tokens[indices] >= 0).any():
            of_group = " that could hold it"
        if requested == 1 and known != "1":
            is_held = known == "0" and bool(np.isin(indices, self.group_codes).any())
            end = "partly " * is_held + "unknown" + " in some snapshots" * (known != "0")
            return f"The only wallet{of_group} is {end}"
        end = ", depending on the snapshot" * (" " in known)
        verb, counted = "is" if known == "1" else "are", counted_noun(requested, "wallet")
        return f"{known} of {counted}{of_group} {verb} known{end}"

    def _known_text_and_requested_count(self, indices: int | Indices) -> tuple[str, int]:
        """Return the known count as text, such as "3 to 5", and the number of requested wallets."""
        chosen = self.drop_groups_with_same_wallets(indices)
        known = np.unique(self.wallets_known[chosen].sum(axis=0)).tolist()
        text = " to ".join(f"{count:,}" for count in dict.fromkeys([known[0], known[-1]]))
        return text, int(self.wallets_asked[chosen].sum())

    def drop_groups_with_same_wallets(self, indices: int | Indices) -> Indices:
        """Drop each group that has the same wallets as an earlier group."""
        chosen = np.atleast_1d(indices)
        return chosen[np.unique(self.groups.wallet_sets[chosen], return_index=True)[1]]

    def row_labels_and_hover_lines(
        self, grid: PivotedSizes
    ) -> tuple[list[str], list[list[list[str]]]]:
        """Return the label of each row of `grid`, and the hover lines of each cell."""
        indices, count = grid.rows.tolist(), len(self.groups)
        starts = range(0, (len(grid.tokens) + 1) * count, count)  # of the cells of each column
        is_counted = self.wallets_asked.any() and "wallet" not in self.names
        cells = self.split_by_token(grid.tokens) if is_counted else None
        lines = [
            [[name, cells.known_wallets_text(start + at) if cells else ""] for start in starts]
            for name, at in zip(map(self.name_and_columns, indices), indices, strict=True)
        ]
        labels = self.names_and_known_counts(indices)
        if grid.other_row_count:
            name = other_label(grid.other_row_count, self.group_noun)
            incomplete = np.flatnonzero(self.is_incomplete)  # includes groups without balances
            others = np.setdiff1d(np.append(incomplete, grid.codes), grid.rows)
            known, asked = self._known_text_and_requested_count(others)
            is_marked = np.isin(others, incomplete).any() and (self.groups.tokens[others] < 0).all()
            text = f"{known} of {counted_noun(asked, 'wallet')} known" * bool(is_marked)
            labels.append(f"{name[:-1]}, {text})" if text else name)
            lines.append([[name, text]] * len(starts))
        return labels, lines  # `hover_text` omits empty lines

    def user_or_short_names(self, indices: Sequence[int]) -> list[str]:
        """Return names of groups: the user's name for a wallet, otherwise a short name."""
        short = self.short_group_names(indices)
        if self.names != ["wallet"]:
            return short
        wallets = self.first_wallets[self.groups.wallet_sets[indices]].tolist()
        return prefer_user_names([self.balances.user_wallet_names[at] for at in wallets], short)

    def names_and_known_counts(self, indices: Sequence[int]) -> list[str]:
        """Return names of groups, such as ``Ada (4 of 5 known)`` or ``Ada (unknown)``."""
        short, incomplete = self.user_or_short_names(indices), self.is_incomplete
        for place, index in enumerate(indices):
            if incomplete[index]:
                known, asked = self._known_text_and_requested_count(index)
                is_unknown = known == "0" and index not in self.group_codes
                text = "unknown" if is_unknown else f"{known} of {asked:,} known"
                short[place] += f" ({text})"
        return short

    @property
    def _shown_columns(self) -> list[str]:
        return [name for name in self.names if name != "blockchain" or "wallet" not in self.names]

    def _group_labels(self, name: str, indices: Indices, *, limit: int = _LABEL_CHARS) -> list[str]:
        balances, positions = self.balances, self.balances.positions
        wallets = self.first_wallets[self.groups.wallet_sets[indices]].tolist()
        if name == "wallet":
            if limit == _HOVER_CHARS:
                return [*map(balances.full_wallet_name, wallets)]
            columns = (positions.wallets[each] for each in ("blockchain", "address"))
            names = [balances.user_wallet_names[wallet] for wallet in wallets]
            return [*map(short_wallet_name, *(each.array.take(wallets) for each in columns), names)]
        if name == "blockchain":
            chains = [*positions.index_by_chain]
            return [safe_line(chains[positions.wallet_chain_codes[wallet]]) for wallet in wallets]
        if name == "token":
            return balances.token_names(self.groups.tokens[indices].tolist())
        labels = pd.Series(self.groups.columns[name].take(indices), dtype=object)
        return [label_text(label, limit, name) or _missing_label(name) for label in labels.tolist()]


class CommonArguments(NamedTuple):
    """The arguments that most charts have in common."""

    token: TokenLike | None
    asset: TokenLike | None
    wallets: FetchLike | None
    assets: AssetsLike | None
    bridged: bool


def select_grouped_balances(  # noqa: PLR0913 - callers pass each option by name
    holdings: PositionsLike,
    by: By,
    options: CommonArguments,
    *,
    wallet: WalletLike | None = None,
    shares: bool = False,
    facet: str | None = None,  # the column of small charts
    top: int = 0,  # the number of drawn groups, if the rest is Other
    several_snapshots: bool = False,  # whether the rows may be of several snapshots
) -> GroupedBalances:
    """Select the rows to draw and the columns that group the rows.

    If a token, asset or wallet is passed, only its rows are selected. If a DataFrame has a single
    asset and no column ``value``, the chart draws the amounts of this asset.
    """
    wallets = options.wallets
    requested = by_as_list(by) if facet is None else [facet, *by_as_list(by)]
    one_token, read_by = token_or_asset_and_by(options.token, options.asset, requested)
    # Grouping by wallet needs `wallets` only in timelines and heatmaps, which mark unknown sizes.
    needs_no_wallets = KINDS if several_snapshots or shares else {"wallet", *KINDS}
    is_frame = isinstance(holdings, pd.DataFrame)  # otherwise, the caller chooses what is drawn
    if several_snapshots and isinstance(holdings, pd.DataFrame):
        holdings = encode_holdings(holdings)
    positions, names = encode_and_parse_by(
        holdings,
        add_default_asset(read_by),
        None if needs_no_wallets.issuperset(requested) else wallets,
        assets=options.assets,
        bridged=options.bridged,
    )
    draws_amounts = is_frame and not shares and "value" not in positions.holdings
    if one_token is None and draws_amounts and (combined := combine_single_asset(positions)):
        positions, one_token = combined, combined.contracts.keys[0]
    by_contract = positions.with_contracts_as_tokens()
    rows_from = positions if options.token is None else by_contract
    balances = _select_drawn_balances(
        rows_from, one_token, wallet, wallets, shares=shares, several_snapshots=several_snapshots
    )
    if "token" in names:
        balances = balances._replace(positions=by_contract)
    drawn = {"token" if name == "symbol" else name for name in requested}
    names = [name for name in names if name in drawn]
    grouped = GroupedBalances(names if facet is None else names[:1], balances, positions, one_token)
    if (several_snapshots or positions.by_snapshot) and wallets is not None:
        grouped = grouped._replace(
            requests=_read_requests(balances.covered, one_token, counts_stale=not several_snapshots)
        )
    left_out = [*grouped.incomplete_and_empty_group_notes(0 if facet else top), *balances.left_out]
    return grouped._replace(names=names, balances=balances._replace(left_out=left_out))


def _read_requests(
    positions: Positions, token: TokenLike | None, *, counts_stale: bool
) -> pd.DataFrame:
    frame, can_hold = positions.wallet_frame, np.ones_like(positions.known)
    columns = {"wallet": encode_wallets(frame).codes, "time": snapshot_column(frame)}
    requests = pd.DataFrame(columns).take(positions.first)
    positions = mark_na_unknown_if_single(positions)
    if token is not None and len(positions.holdings):
        index = find_token_or_asset(positions, token)
        can_hold = positions.possible_holders_mask(index)
        positions = mark_na_wallets_unknown(positions, positions.tokens.codes == index)
    return requests.assign(known=positions.known & (counts_stale | ~positions.stale))[can_hold]


def known_and_requested_counts(
    groups: Groups, requests: pd.DataFrame, times: pd.DatetimeIndex
) -> tuple[Codes, Codes, Codes]:
    """Count the wallets of each group: known at each time, known at any time, and requested."""
    rows, width, count = requests[requests["known"]], len(times), groups.wallet_set_count
    at, sets = times.get_indexer(pd.DatetimeIndex(rows["time"])), groups.wallet_set_codes
    cells = (sets[rows["wallet"]] * width + at)[at >= 0]
    known = np.bincount(cells, minlength=count * width).reshape(-1, width)[groups.wallet_sets]
    most, asked = (
        np.bincount(sets[each["wallet"].unique()], minlength=count)[groups.wallet_sets]
        for each in (rows, requests)
    )
    return known, most, asked


def prefer_user_names(user_names: Sequence[str], short: Sequence[str]) -> list[str]:
    """Replace each short name by the user's name, unless several wallets share the user's name."""
    own = [safe_line(name, _ROW_CHARS) for name in user_names]
    pairs = zip(own, short, strict=True)
    return [name if name and own.count(name) == 1 else label for name, label in pairs]


def join_names(names: Sequence[str]) -> str:
    """Join names into a phrase, such as ``owner, team and asset``."""
    *first, last = [safe_line(name, _NAME_CHARS) for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _missing_label(name: str) -> str:
    return f"no {safe_line(name, _NAME_CHARS)}"


def label_text(label: Any, limit: int, column: str) -> str:
    """Return a group's label as safe text: decimals without exponent, times without seconds."""
    if pd.isna(label):
        return _missing_label(column)
    if isinstance(label, Decimal):
        return f"{label:f}"
    if isinstance(label, pd.Timestamp):
        return f"{label:%Y-%m-%d %H:%M}"
    return safe_line(str(label), limit)
