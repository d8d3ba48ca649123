"""The rows of holdings that a chart draws, the meaning of their sizes, and their groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.canvas import (
    Notes,
    axis_title,
    hover,
    markup,
    not_drawn,
    other_name,
    provenance,
    simulated_note,
    wallets_frame,
)
from walletframe.charts.palette import OTHER, OUTLINE, PATTERN, chosen_colors, patterns
from walletframe.errors import PricesError, SettingsError
from walletframe.frames.asset_list import token_or_asset_index, token_or_asset_names
from walletframe.frames.coverage import completeness_among, known_by_token
from walletframe.frames.details import as_wallets_frame
from walletframe.frames.groups import group, list_names, read_names, resolve_token
from walletframe.frames.identity import cell_text, first_rows, token_key
from walletframe.frames.names import (
    find_wallet,
    short_wallet,
    token_names,
    unique_names,
    user_wallet_names,
    wallet_names,
    whole_token,
    whole_wallet,
)
from walletframe.frames.positions import Positions, cell_sums, read_positions
from walletframe.numerals import compact, counted_noun, full_amount, money, percent
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from walletframe.amounts.scalar import Amount
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, TokenKey
    from walletframe.frames.names import TokenLike, WalletLike
    from walletframe.frames.positions import PositionsLike

    Places: TypeAlias = npt.NDArray[np.intp]
    Sizes: TypeAlias = npt.NDArray[np.float64]

_SYMBOL, _LABEL, _NAME, _HOVER, _BETWEEN = 24, 32, 24, 100, " · "
_BUILT_IN = {"wallet", "blockchain", "token", "asset"}  # their labels need no column name
_GAPS = 8
MIN_SHARE = 0.0003
"""The smallest share of the total that is drawn: smaller areas can't be seen, and browsers draw
circles around the wrong centre if an arc is much shorter than a pixel."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The meaning of sizes: values, one token's amounts, shares of each token, or counts."""

    kind: Literal["value", "amount", "share", "count"]
    title_start: str  # the first words of a chart's title
    phrase: str
    name: str  # the title of an axis of sizes
    unit: str = ""  # behind a number; for shares, "token" or "asset"

    def short(self, size: float) -> str:
        """Write a size in a few characters."""
        return f"{compact(size)} {self.unit}".rstrip()

    def words(self, size: float) -> str:
        """Write a size that stands alone; a count with its noun."""
        return counted_noun(round(size), "balance") if self.kind == "count" else self.short(size)

    def share(self, size: float, total: float) -> str:
        """Write a size with its share of the total, for a sentence."""
        if self.kind == "share":
            return f"{percent(size)} of the {self.unit}"
        part = f"{percent(size / total)} of all"
        if self.kind == "amount":
            return part
        text = self.words(size) if self.kind == "count" else f"{money(size)} {self.unit}".rstrip()
        return f"{text} ({part})"

    def axis(self, largest: float) -> dict[str, Any]:
        """Return plotly's options for an axis of sizes up to the largest."""
        no_half = self.kind == "count" and largest < 10  # noqa: PLR2004  there are no half balances
        return axis_title(self.name) | ({"dtick": 1} if no_half else {}) | {"rangemode": "tozero"}


def measure_rows(
    positions: Positions, rows: Places, *, token: TokenLike | None, shares: bool
) -> tuple[Measure, Sizes]:
    """Return the measure, and the size of each row: NaN if unknown, 0 or less if nothing is held.

    The size is the amount if one token is drawn, else the value if there are values, else with
    `shares` the row's share of its token, else 1. Several currencies are a PricesError.
    """
    if token is not None:
        name = token if isinstance(token, str) else token[1] or f"{token[0]} coin"
        name = symbol = safe_line(name, _SYMBOL)
        if len(rows):
            code = positions.tokens.codes[rows[:1]]
            [name] = token_or_asset_names(positions, code)
            symbol = name
            if not positions.assets:
                symbol, _ = whole_token(positions.holdings, positions.tokens, int(code[0]))
            symbol = safe_line(symbol, _SYMBOL)
        phrase = f"amount of {name}"
        amounts = positions.amounts[rows].to_numpy(dtype=np.float64)
        return Measure("amount", symbol, phrase, phrase, symbol), _finite(amounts)
    if "value" in positions.holdings:
        values = _finite(positions.holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan))
        unit = _currency(positions.holdings, values)
        phrase = f"value in {unit}" if unit else "value"
        return Measure("value", "Holdings", phrase, phrase, unit), values[rows]
    amounts = positions.amounts[rows]
    if shares:
        sizes, tokens = _finite(amounts.to_numpy(dtype=np.float64)), positions.tokens.codes[rows]
        totals = np.bincount(tokens, np.where(sizes > 0, sizes, 0))
        kind = positions.kind
        phrase = f"a wallet's share of all of the {kind} that these wallets hold"
        share = Measure("share", f"Share of each {kind}", phrase, f"share of the {kind}", kind)
        return share, np.asarray(sizes / np.where(totals > 0, totals, 1)[tokens])
    # A balance of unknown amount counts, too; one of 0 or less does not.
    integers, missing, _ = amounts.exact()
    name = "number of balances"
    count = Measure("count", "Holdings", f"{name}, since different tokens can't be added", name)
    return count, np.where(missing | (integers > 0), 1.0, np.where(integers < 0, -1.0, 0.0))


def _currency(holdings: pd.DataFrame, values: Sizes) -> str:
    """Return the one currency of all values; values without a currency count as another one."""
    if "currency" not in holdings.columns:
        return ""
    distinct = holdings["currency"][~np.isnan(values)].unique()
    currencies = ["unknown" if pd.isna(name) else str(name) for name in distinct]
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies[:5]}",
            hint="draw the rows of each currency separately, since currencies can't be added",
        )
    return safe_line(currencies[0], 12) if currencies != ["unknown"] and currencies else ""


def _finite(sizes: npt.NDArray[Any]) -> Sizes:
    """Replace infinite sizes, which no plot has room for, by NaN."""
    return np.where(np.isfinite(sizes), sizes, np.nan)


@dataclass(frozen=True, slots=True)
class Balances:
    """The rows of holdings that are drawn, and the notes on those that are not."""

    positions: Positions  # all of the holdings
    rows: Places  # the indices of the drawn rows
    sizes: Sizes  # of each drawn row, above 0
    measure: Measure
    left_out: list[str]  # sentences on the rows that are not drawn
    caveats: list[str]  # sentences on wallets that may hold more
    empty_reason: str  # shown if no row is drawn
    names: list[str]  # the user's name of each wallet

    @property
    def token_codes(self) -> Places:
        """The token code of each drawn row."""
        return np.asarray(self.positions.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Places:
        """The wallet code of each drawn row."""
        return np.asarray(self.positions.wallet_codes[self.rows])

    def notes(self, drawn: Sequence[str], wallets: FetchLike | None) -> Notes:
        """Return the notes of a chart, with the completeness and age of the data."""
        if wallets is None:
            return Notes(drawn=drawn, left_out=self.left_out, trust=self.caveats)
        marked = simulated_note(wallets_frame(wallets))
        return Notes(marked, drawn, self.left_out, [*provenance(wallets), *self.caveats])

    def token_names(self, places: Sequence[int], *, by_chain: bool = False) -> list[str]:
        """Return short names of tokens; with `by_chain`, the blockchain is written elsewhere."""
        held, chosen = self.positions, np.array(places, dtype=np.intp)
        if held.assets:
            return token_or_asset_names(held, chosen)
        return token_names(held.holdings, held.tokens, chosen, by_chain=by_chain)

    def whole_token(self, place: int) -> tuple[str, str]:
        """Return a token's symbol, and its blockchain and contract; for assets, their numbers."""
        held = self.positions
        if held.assets and held.tokens.keys[place] in held.assets.blockchains:
            contracts = np.flatnonzero(held.tokens.codes[held.contracts.first] == place)
            chains = {held.contracts.keys[contract][0] for contract in contracts.tolist()}
            spread = counted_noun(len(contracts), "contract")
            spread = f"{spread} on {counted_noun(len(chains), 'blockchain')}"
            return self.token_names([place])[0], spread
        return whole_token(held.holdings, held.tokens, place, limit=_HOVER)

    def wallet_names(self, places: Sequence[int]) -> list[str]:
        """Return short names of wallets."""
        chosen = np.array(places, dtype=np.intp)
        return wallet_names(self.positions.wallets, chosen, self.names)

    def whole_wallet(self, place: int) -> str:
        """Return a wallet's name, blockchain and address in full."""
        columns = (self.positions.wallets[name].array for name in ("blockchain", "address"))
        blockchain, address = (cell_text(column[place]) for column in columns)
        return whole_wallet(blockchain, address, self.names[place], limit=_HOVER)

    def exact(self, groups: Places, wanted: Places) -> list[Amount | None]:
        """Return exact sums of the wanted groups, which have one token each; None if unknown."""
        cells = ranks(wanted, int(max(groups.max(initial=0), wanted.max(initial=0))) + 1)[groups]
        rows = np.flatnonzero(cells < len(wanted))
        sums = cell_sums(self.positions.amounts[self.rows[rows]], cells[rows], len(wanted))
        return [None if gap else amount for gap, amount in zip(sums.isna(), sums, strict=True)]


def read_balances(
    holdings: PositionsLike,
    *,
    token: TokenLike | None = None,
    wallet: WalletLike | None = None,
    wallets: FetchLike | None = None,
    shares: bool = False,
) -> Balances:
    """Read the rows to draw, optionally of one token or wallet; names come from `wallets`."""
    positions = read_positions(holdings)
    frame, tokens = positions.holdings, positions.tokens
    token = token if token is None or isinstance(token, str) else token_key(token)
    is_selected = np.ones(len(frame), dtype=bool)
    if len(frame) and token is not None:
        is_selected &= tokens.codes == token_or_asset_index(positions, token)
    if len(frame) and wallet is not None:
        is_selected &= find_wallet(positions.wallets, wallet)[positions.wallet_codes]
    rows = np.flatnonzero(is_selected)
    measure, sizes = measure_rows(positions, rows, token=token, shares=shares)
    drawn = np.isfinite(sizes) & (sizes > 0)
    unknown, negative = np.isnan(sizes), int((sizes < 0).sum())
    if measure.kind == "value":
        unpriced = np.unique(positions.contracts.codes[rows[unknown]])
        left_out = not_drawn(len(unpriced), "token", " without a value")
    else:
        left_out = not_drawn(int(unknown.sum()), "balance", " of unknown amount")
    left_out += not_drawn(negative, "negative balance")
    named = None if wallets is None else as_wallets_frame(wallets)
    noun = "value" if measure.kind == "value" else "amount"
    empty_reason = f"No {noun} is {'known' if unknown.all() else 'above zero'}."
    caveats: list[str] = []
    if measure.kind == "amount" and len(rows) and positions.has_unknown_token.any():
        can_hold = positions.wallets_that_can_hold(tokens.codes[rows[0]])
        count = int((positions.has_unknown_token & can_hold).sum())
        caveat = (
            f"{counted_noun(count, 'wallet')} may hold more of it, in balances of unknown tokens."
        )
        caveats = [caveat] * (count > 0)
    return Balances(
        positions=positions,
        rows=rows[drawn],
        sizes=sizes[drawn],
        measure=measure,
        left_out=left_out,
        caveats=caveats,
        empty_reason=empty_reason if len(rows) else "No holdings: there is no row to draw.",
        names=user_wallet_names(positions.wallets, named),
    )


def check_top(name: str, number: Any, limit: int) -> int:
    """Check how many items to draw: more than `limit` freeze a browser or look all the same."""
    whole_number = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole_number or not 1 <= number <= limit:
        hint = f"use an integer from 1 to {limit}; the rest is drawn as Other"
        raise SettingsError(f"{name} can't be {number!r}", hint=hint)
    return int(number)


def sum_by(groups: Places, sizes: Sizes, count: int = 0) -> Sizes:
    """Return the sum of sizes of each group, 0 for an empty one, for at least `count` groups."""
    return np.bincount(groups, sizes, minlength=count).astype(np.float64, copy=False)


def largest(sizes: Sizes, top: int) -> Places:
    """Return the `top` largest above 0, in order, or `top` + 1 if one would be alone in Other."""
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]


class Series(NamedTuple):
    """The name in plain text, colour and pattern of one token, or of Other."""

    name: str
    color: str
    pattern: str  # tells it from others of its colour; empty for none

    def bar(self, **drawn: Any) -> go.Bar:
        """Return a trace of its bars, with hover texts."""
        marker = {
            "color": self.color,
            "line": OUTLINE,
            "pattern": PATTERN | {"shape": self.pattern},
        }
        return go.Bar(name=markup([self.name]), marker=marker, hoverinfo="text", **drawn)


@dataclass(frozen=True, slots=True)
class PivotedSizes:
    """Sizes pivoted by group (or snapshot) and token, with the exact sums of the cells."""

    balances: Balances
    rows: Places  # the group of each row but Other
    tokens: Places  # the token of each column but Other
    other_rows: int  # how many groups share the last row
    other_tokens: int  # how many tokens share the last column
    sizes: Sizes  # of shape (rows + 1, tokens + 1), Other last
    amounts: list[Amount | None]  # of each cell of one token, row by row; None if unknown
    codes: Places  # the group of each drawn balance

    @property
    def kind(self) -> str:
        """The noun for a column: "token" or "asset"."""
        return self.balances.positions.kind

    @property
    def sample_rows(self) -> dict[str, list[int]]:
        """One row of holdings in each row and each column of this table, without Other."""
        codes = {"rows": self.codes, "tokens": self.balances.token_codes}
        chosen = {"rows": self.rows, "tokens": self.tokens}
        first = {name: first_rows(codes[name], int(codes[name].max()) + 1) for name in codes}
        return {name: self.balances.rows[first[name][chosen[name]]].tolist() for name in chosen}

    def exact(self, row: int, token: int) -> str:
        """Write the exact sum of a cell of one token."""
        return full_amount(self.amounts[row * len(self.tokens) + token])

    def hover(self, row: int, token: int, owner: Sequence[str], total: float) -> str:
        """Return the hover text of a cell, empty if its size is 0; `owner` describes its row."""
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.share(size, total)
        if token == len(self.tokens):
            return hover(counted_noun(self.other_tokens, f"other {self.kind}"), *owner, share)
        symbol, where = self.balances.whole_token(int(self.tokens[token]))
        return hover(symbol, where, *owner, f"{self.exact(row, token)} {symbol}", share)

    def series(self, colors: Mapping[TokenKey, str] | None = None) -> list[Series]:
        """Return name, colour and pattern of each column; Other is last, if there is one."""
        balances, places = self.balances, self.tokens.tolist()
        names = balances.token_names(places)
        fills = [*chosen_colors(balances.positions, places, colors).values()]
        if self.other_tokens:
            names.append(other_name(self.other_tokens, self.kind))
            fills.append(OTHER)
        return [Series(*each) for each in zip(names, fills, patterns(fills), strict=True)]


def pivot_sizes(balances: Balances, codes: Places, rows: Places, tokens: Places) -> PivotedSizes:
    """Pivot sizes by group and token; groups not in `rows`, tokens not in `tokens` are Other."""
    row_ranks = ranks(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_ranks = ranks(tokens, len(balances.positions.tokens.keys))[balances.token_codes]
    width = len(tokens) + 1
    cells, count = row_ranks * width + token_ranks, (len(rows) + 1) * width
    return PivotedSizes(
        balances=balances,
        rows=rows,
        tokens=tokens,
        other_rows=len(np.unique(codes[row_ranks == len(rows)])),
        other_tokens=len(np.unique(balances.token_codes[token_ranks == len(tokens)])),
        sizes=sum_by(cells, balances.sizes, count).reshape(-1, width),
        amounts=balances.exact(cells, np.flatnonzero(np.arange(count) % width < len(tokens))),
        codes=codes,
    )


def ranks(chosen: Places, count: int) -> Places:
    """Return the rank of each of `count` codes among `chosen`, or len(chosen) if not chosen."""
    ranks = np.full(count, len(chosen), dtype=np.intp)
    ranks[chosen] = np.arange(len(chosen))
    return ranks


@dataclass(frozen=True, slots=True)
class GroupedBalances:
    """The rows that are drawn, and the names to group them by."""

    names: list[str]  # as requested, each once
    balances: Balances
    positions: Positions  # the same; by asset, with assets in the place of tokens

    @property
    def title(self) -> str:
        """The chart's title."""
        return f"{self.balances.measure.title_start} by {join_names(self.names)}"

    def level(self, names: list[str]) -> Level:
        """Group the rows by some of the names."""
        groups = group(self.positions, names)
        first_wallets = first_rows(groups.wallet_set_codes, groups.wallet_set_count)
        known = requested = np.zeros(len(groups), dtype=np.intp)
        if "wallet" not in names and not {*names}.isdisjoint(self._of_wallets()):
            held, token = self.positions, self.balances.token_codes[:1]
            able = np.ones(len(held.wallets), dtype=bool)
            if self.balances.measure.kind == "amount" and len(token):  # who could hold it?
                all_held = self.balances.positions
                tokens, chains = all_held.possible_blockchains()
                able = np.isin(held.chain_codes, chains[tokens == token])
                held = known_by_token(held, all_held.tokens.codes == token)
            counted = completeness_among(held, groups, able)
            known = counted["wallets_ok"].to_numpy(np.intp)
            requested = counted["wallets_asked"].to_numpy(np.intp)
        return Level(names, self.balances, groups, first_wallets, known, requested)

    def _of_wallets(self) -> list[str]:
        """Return the names that group wallets; none if the requested wallets are not known."""
        if not self.positions.has_wallets:
            return []
        return [name for name in self.names if name in {"blockchain", *self.positions.kept}]

    def gaps(self) -> list[str]:
        """Return a sentence for each group with unknown wallets, those with most unknown first."""
        names = self._of_wallets()
        if not names or "wallet" in self.names:
            return []
        level = self.level(names)
        lacking = np.flatnonzero(level.wallets_known < level.wallets_asked)
        shares = level.wallets_known[lacking] / level.wallets_asked[lacking]
        places = lacking[np.argsort(shares, kind="stable")].tolist()
        sentences = [f"{level.coverage(place, level.whole(place))}." for place in places[:_GAPS]]
        others = counted_noun(len(places) - _GAPS, f"more {level.noun}")
        more = f"Some wallets of {others} are unknown."
        return [*sentences, *[more] * (len(places) > _GAPS)]


@dataclass(frozen=True, slots=True)
class Level:
    """Groups of rows, by one or several names."""

    names: list[str]
    balances: Balances
    groups: Groups
    first_wallets: Places  # one wallet of each set of wallets
    wallets_known: Codes  # how many in each group; 0 if it is not known which were requested
    wallets_asked: Codes  # how many were requested; likewise

    @property
    def codes(self) -> Places:
        """The group of each drawn row."""
        return np.asarray(self.groups.codes[self.balances.rows])

    @property
    def noun(self) -> str:
        """The noun for a group: the column's name, or "group" if an s makes no plural of that."""
        [name, *more] = self.names
        takes_s = name.isascii() and name.isalpha() and not name.endswith(("s", "y", "x", "h"))
        return name if takes_s and not more and len(name) <= _NAME else "group"

    def short(self, places: Sequence[int]) -> list[str]:
        """Return distinct short names of groups, in one line each."""
        if self.names == ["wallet"]:
            return self.balances.wallet_names(places)
        chosen = np.array(places, dtype=np.intp)
        names = self._shown_names
        parts = [self._group_labels(name, chosen) for name in names]
        whole = [self._group_labels(name, chosen, limit=_HOVER) for name in names]
        short, long = ([*map(_BETWEEN.join, zip(*each, strict=True))] for each in (parts, whole))
        return unique_names(short, long.__getitem__)

    def whole(self, place: int) -> str:
        """Return a group's full name, with the names of columns: ``owner Ada``."""
        parts = []
        for name in self._shown_names:
            [text] = self._group_labels(name, np.array([place]), limit=_HOVER)
            is_clear = name in _BUILT_IN or text == no_label(name)
            parts.append(text if is_clear else f"{safe_line(name, _NAME)} {text}")
        return _BETWEEN.join(parts)

    def coverage(self, place: int, whose: str = "") -> str:
        """Write how many of a group's wallets are known, if it is known which were requested."""
        known, requested = int(self.wallets_known[place]), int(self.wallets_asked[place])
        verb = f" of {whose} {'is' if known == 1 else 'are'}" if whose else ""
        return f"{known:,} of {counted_noun(requested, 'wallet')}{verb} known" if requested else ""

    def rows(self, grid: PivotedSizes) -> tuple[list[str], list[list[str]]]:
        """Return short names and hover lines of a grid's rows; Other is last, if there is one."""
        places = grid.rows.tolist()
        rest = [other_name(grid.other_rows, self.noun)] * bool(grid.other_rows)
        lines = [[*filter(None, (self.whole(at), self.coverage(at)))] for at in places]
        return self.short(places) + rest, lines + [[each] for each in rest]

    @property
    def _shown_names(self) -> list[str]:
        """The names to show; blockchains are left out beside wallets, whose names contain them."""
        return [name for name in self.names if name != "blockchain" or "wallet" not in self.names]

    def _group_labels(self, name: str, places: Places, *, limit: int = _LABEL) -> list[str]:
        """Return the labels of some groups for one of the names."""
        balances, held = self.balances, self.balances.positions
        wallets = self.first_wallets[self.groups.wallet_sets[places]].tolist()
        if name == "wallet":
            if limit == _HOVER:
                return [*map(balances.whole_wallet, wallets)]
            parts = [held.wallets[name].array.take(wallets) for name in ("blockchain", "address")]
            names = [balances.names[wallet] for wallet in wallets]
            return [*map(short_wallet, *parts, names)]
        if name == "blockchain":
            chains = [*held.chain_places]
            return [safe_line(chains[held.chain_codes[wallet]]) for wallet in wallets]
        if name == "token":
            return balances.token_names(self.groups.tokens[places].tolist())
        labels = pd.Series(self.groups.columns[name].take(places), dtype=object)
        return [label_text(label, limit, name) or no_label(name) for label in labels.tolist()]


def read_grouped(  # noqa: PLR0913 - the options of a chart
    holdings: PositionsLike,
    by: By,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    shares: bool = False,
    all_wallets: bool = False,  # whether to read wallets without holdings, even if not needed
) -> GroupedBalances:
    """Read the rows to draw, optionally of one token or asset, and the names to group them by."""
    requested, (one_token, read_by) = list_names(by), resolve_token(token, asset, by)
    # For wallets, blockchains and tokens, holdings are enough.
    all_wallets |= not {"wallet", "blockchain", "token"}.issuperset(requested)
    positions, names = read_names(
        holdings, read_by, wallets if all_wallets else None, assets=assets, bridged=bridged
    )
    balances = read_balances(positions, token=one_token, wallets=wallets, shares=shares)
    if "token" in names:
        balances = replace(balances, positions=positions.by_contract())
    names = [name for name in names if name != "asset" or name in requested]
    if gaps := GroupedBalances(names, balances, positions).gaps():  # these cover the caveats
        balances = replace(balances, left_out=[*gaps, *balances.left_out], caveats=[])
    return GroupedBalances(names, balances, positions)


def join_names(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    *first, last = [safe_line(name, _NAME) for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def no_label(name: str) -> str:
    """Return the name of the group without a label."""
    return f"no {safe_line(name, _NAME)}"


def label_text(label: Any, limit: int, name: str) -> str:
    """Return the label of a group as safe text, with numbers and times in plain notation."""
    if pd.isna(label):
        return no_label(name)
    if isinstance(label, Decimal):
        return f"{label:f}"
    if isinstance(label, pd.Timestamp):
        return f"{label:%Y-%m-%d %H:%M}"
    return safe_line(str(label), limit)
