"""Which rows of holdings a chart draws, what their sizes mean, and the groups they are cut into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.canvas import (
    Notes,
    hover,
    markup,
    other,
    provenance,
    simulated,
    titled,
    wallets_frame,
)
from walletframe.charts.palette import OTHER, OUTLINE, PATTERN, chosen_colors, patterns
from walletframe.errors import PricesError, SettingsError
from walletframe.frames.asset_list import held_names, held_place
from walletframe.frames.coverage import completeness_among, of_one_token
from walletframe.frames.details import wallets_given
from walletframe.frames.groups import group, named_token, names_of, read_names
from walletframe.frames.identity import first_rows, token_key
from walletframe.frames.names import (
    find_wallet,
    given_names,
    short_wallet,
    token_names,
    unique_names,
    wallet_names,
    whole_token,
    whole_wallet,
)
from walletframe.frames.positions import Positions, cell_sums, read_positions
from walletframe.numerals import compact, many, money, percent, whole
from walletframe.text import shown

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
_BUILT_IN = {"wallet", "blockchain", "token", "asset"}  # these say what they are
_GAPS = 8
LEAST = 0.0003
"""The least share of all that is drawn: what is smaller can't be seen, and browsers draw circles
around the wrong centre where an arc is much shorter than a pixel."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What sizes mean: values, one token's amounts, shares of each token, or counts of balances."""

    kind: Literal["value", "amount", "share", "count"]
    of: str  # how the title of a chart begins
    phrase: str
    name: str  # what an axis of sizes is called
    unit: str = ""  # behind a number; of shares, "token" or "asset"

    def short(self, size: float) -> str:
        """Write a size in a few characters."""
        return f"{compact(size)} {self.unit}".rstrip()

    def words(self, size: float) -> str:
        """Write a size where it stands alone."""
        return many(round(size), "balance") if self.kind == "count" else self.short(size)

    def share(self, size: float, total: float) -> str:
        """Write a size as a sentence says it, with its share of the total."""
        if self.kind == "share":
            return f"{percent(size)} of the {self.unit}"
        part = f"{percent(size / total)} of all"
        if self.kind == "amount":
            return part
        text = self.words(size) if self.kind == "count" else f"{money(size)} {self.unit}".rstrip()
        return f"{text} ({part})"

    def axis(self, largest: float) -> dict[str, Any]:
        """Return what an axis of sizes up to the largest needs."""
        no_half = self.kind == "count" and largest < 10  # noqa: PLR2004  no half balance on it
        return titled(self.name) | ({"dtick": 1} if no_half else {}) | {"rangemode": "tozero"}


def measured(
    positions: Positions, rows: Places, *, token: TokenLike | None, shares: bool
) -> tuple[Measure, Sizes]:
    """Measure how much each of some rows counts: NaN where unknown, negative or 0 where nothing is.

    With `shares` it is the row's share, where there are neither a token, whose rows these are, nor
    values. Values in several currencies are a PricesError.
    """
    if token is not None:
        name = token if isinstance(token, str) else token[1] or f"{token[0]} coin"
        name = symbol = shown(name, _SYMBOL)
        if len(rows):
            code = positions.tokens.codes[rows[:1]]
            [name] = held_names(positions, code)
            symbol = name
            if not positions.assets:
                symbol, _ = whole_token(positions.holdings, positions.tokens, int(code[0]))
            symbol = shown(symbol, _SYMBOL)
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
    # A balance counts as one, of unknown amount included, and as none where it is 0 or less.
    integers, missing, _ = amounts.exact()
    name = "number of balances"
    count = Measure("count", "Holdings", f"{name}, since different tokens can't be added", name)
    return count, np.where(missing | (integers > 0), 1.0, np.where(integers < 0, -1.0, 0.0))


def _currency(holdings: pd.DataFrame, values: Sizes) -> str:
    """Name the currency of all values; an unknown one is not that of the others."""
    if "currency" not in holdings.columns:
        return ""
    named = holdings["currency"][~np.isnan(values)].unique()
    currencies = ["unknown" if pd.isna(name) else str(name) for name in named]
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies[:5]}",
            hint="currencies can't be added: draw each currency's rows separately",
        )
    return shown(currencies[0], 12) if currencies != ["unknown"] and currencies else ""


def _finite(sizes: npt.NDArray[Any]) -> Sizes:
    """Take what no plot has room for as unknown."""
    return np.where(np.isfinite(sizes), sizes, np.nan)


@dataclass(frozen=True, slots=True)
class Balances:
    """The n rows of holdings that are drawn."""

    positions: Positions  # all of the holdings
    rows: Places  # which of their rows are drawn
    sizes: Sizes  # how much each counts, above 0
    measure: Measure  # what the sizes mean
    left_out: list[str]  # sentences on the rows that are not drawn
    doubts: list[str]  # and on the wallets of which more may not be drawn
    why_none: str  # why there are none, where there are none
    names: list[str]  # of each wallet, what the user calls it

    @property
    def token_codes(self) -> Places:
        """The token of each row that is drawn, as a place among the tokens."""
        return np.asarray(self.positions.tokens.codes[self.rows])

    @property
    def wallet_codes(self) -> Places:
        """The wallet of each row that is drawn, as a place among the wallets."""
        return np.asarray(self.positions.wallet_codes[self.rows])

    def notes(self, drawn: Sequence[str], wallets: FetchLike | None) -> Notes:
        """Write what is drawn and how far it can be trusted."""
        if wallets is None:
            return Notes(drawn=drawn, left_out=self.left_out, trust=self.doubts)
        real = simulated(wallets_frame(wallets))
        return Notes(real, drawn, self.left_out, [*provenance(wallets), *self.doubts])

    def token_names(self, places: Sequence[int], *, by_chain: bool = False) -> list[str]:
        """Name tokens in short, perhaps where their blockchain is written beside them."""
        held, chosen = self.positions, np.array(places, dtype=np.intp)
        if held.assets:
            return held_names(held, chosen)
        return token_names(held.holdings, held.tokens, chosen, by_chain=by_chain)

    def whole_token(self, place: int) -> tuple[str, str]:
        """Name a token at length: its symbol; its blockchain and contract, or how many it has."""
        held = self.positions
        if held.assets and held.tokens.keys[place] in held.assets.homes:
            contracts = np.flatnonzero(held.tokens.codes[held.contracts.first] == place)
            chains = {held.contracts.keys[contract][0] for contract in contracts.tolist()}
            spread = f"{many(len(contracts), 'contract')} on {many(len(chains), 'blockchain')}"
            return self.token_names([place])[0], spread
        return whole_token(held.holdings, held.tokens, place, limit=_HOVER)

    def wallet_names(self, places: Sequence[int]) -> list[str]:
        """Name wallets in short."""
        chosen = np.array(places, dtype=np.intp)
        return wallet_names(self.positions.wallets, chosen, self.names)

    def whole_wallet(self, place: int) -> str:
        """Name a wallet at length."""
        blockchain, address = self.positions.wallets.iloc[place].fillna("")
        return whole_wallet(blockchain, address, self.names[place], limit=_HOVER)

    def exact(self, groups: Places, wanted: Places) -> list[Amount | None]:
        """Add up the amounts of the wanted groups of rows, each of one token; None if unknown.

        `groups` has the group of each row that is drawn.
        """
        cells = ranks(wanted, int(max(groups.max(initial=0), wanted.max(initial=0))) + 1)[groups]
        rows = np.flatnonzero(cells < len(wanted))
        found = cell_sums(self.positions.amounts[self.rows[rows]], cells[rows], len(wanted))
        return [None if gap else amount for gap, amount in zip(found.isna(), found, strict=True)]


def read_balances(
    holdings: PositionsLike,
    *,
    token: TokenLike | None = None,
    wallet: WalletLike | None = None,
    wallets: FetchLike | None = None,
    shares: bool = False,
) -> Balances:
    """Read what there is to draw, perhaps of one token or wallet alone; `wallets` may name them."""
    positions = read_positions(holdings)
    frame, tokens = positions.holdings, positions.tokens
    token = token if token is None or isinstance(token, str) else token_key(token)
    of_interest = np.ones(len(frame), dtype=bool)
    if len(frame) and token is not None:
        of_interest &= tokens.codes == held_place(positions, token)
    if len(frame) and wallet is not None:
        of_interest &= find_wallet(positions.wallets, wallet)[positions.wallet_codes]
    rows = np.flatnonzero(of_interest)
    measure, sizes = measured(positions, rows, token=token, shares=shares)
    drawn = np.isfinite(sizes) & (sizes > 0)
    unknown, negative = np.isnan(sizes), int((sizes < 0).sum())
    left_out: list[str] = []
    if unknown.any():
        tokens_of = np.unique(positions.contracts.codes[rows[unknown]])
        unpriced = f"{many(len(tokens_of), 'token')} without a value"
        unread = f"{many(int(unknown.sum()), 'balance')} of unknown amount"
        left_out.append(f"{unpriced if measure.kind == 'value' else unread} not drawn.")
    if negative:
        left_out.append(f"{many(negative, 'negative balance')} not drawn.")
    noun = "value" if measure.kind == "value" else "amount"
    why_none = f"No {noun} is {'known' if unknown.all() else 'above zero'}."
    doubts: list[str] = []
    if measure.kind == "amount" and len(rows) and positions.hides.any():
        count = int((positions.hides & positions.able(tokens.codes[rows[0]])).sum())
        said = f"{many(count, 'wallet')} may hold more of it, in balances of unknown tokens."
        doubts = [said] * (count > 0)
    return Balances(
        positions=positions,
        rows=rows[drawn],
        sizes=sizes[drawn],
        measure=measure,
        left_out=left_out,
        doubts=doubts,
        why_none=why_none if len(rows) else "No holdings: there is no row to draw.",
        names=given_names(positions.wallets, None if wallets is None else wallets_given(wallets)),
    )


def check_top(name: str, number: Any, limit: int) -> int:
    """Check how many things to draw: more than `limit` freeze a browser, or look all the same."""
    whole_number = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole_number or not 1 <= number <= limit:
        raise SettingsError(
            f"{name}: {number!r}", hint=f"an integer from 1 to {limit}; the rest is drawn as Other"
        )
    return int(number)


def added(groups: Places, sizes: Sizes, count: int = 0) -> Sizes:
    """Add up the sizes of each group, 0 for those without; there are at least `count` groups."""
    return np.bincount(groups, sizes, minlength=count).astype(np.float64, copy=False)


def largest(sizes: Sizes, top: int) -> Places:
    """Find the largest above 0, in order, one more than `top` where it would be alone in Other."""
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    return order if len(order) == top + 1 else order[:top]


class Series(NamedTuple):
    """One token of a chart, or all the others: its name in plain text, and how it is painted."""

    name: str
    color: str
    pattern: str  # which tells it from another of its colour; empty for none

    def bar(self, **drawn: Any) -> go.Bar:
        """Draw its bars, with what is under the pointer."""
        marker = {
            "color": self.color,
            "line": OUTLINE,
            "pattern": PATTERN | {"shape": self.pattern},
        }
        return go.Bar(name=markup([self.name]), marker=marker, hoverinfo="text", **drawn)


@dataclass(frozen=True, slots=True)
class Grid:
    """Sizes of wallets, other groups or snapshots by tokens, with the exact sums of the cells."""

    balances: Balances  # what it is made of
    rows: Places  # what has a row of its own
    tokens: Places  # the tokens that have a column of their own
    other_rows: int  # how many share the last row
    other_tokens: int
    sizes: Sizes  # of shape (rows + 1, tokens + 1), the others last
    amounts: list[Amount | None]  # of each cell of one token, row by row; None where unknown
    codes: Places  # whose each row of the balances is

    @property
    def kind(self) -> str:
        """What has a column: "token" or "asset"."""
        return self.balances.positions.kind

    @property
    def places(self) -> dict[str, list[int]]:
        """Of each row and each column but the others, a row of holdings that is in it."""
        codes = {"rows": self.codes, "tokens": self.balances.token_codes}
        chosen = {"rows": self.rows, "tokens": self.tokens}
        first = {name: first_rows(codes[name], int(codes[name].max()) + 1) for name in codes}
        return {name: self.balances.rows[first[name][chosen[name]]].tolist() for name in chosen}

    def exact(self, row: int, token: int) -> str:
        """Write the whole sum of a cell of one token."""
        return whole(self.amounts[row * len(self.tokens) + token])

    def hover(self, row: int, token: int, owner: Sequence[str], total: float) -> str:
        """Write in markup what a cell is, which may be empty; `owner` has lines on its row."""
        size = float(self.sizes[row, token])
        if not size:
            return ""
        share = self.balances.measure.share(size, total)
        if token == len(self.tokens):
            return hover(many(self.other_tokens, f"other {self.kind}"), *owner, share)
        symbol, where = self.balances.whole_token(int(self.tokens[token]))
        return hover(symbol, where, *owner, f"{self.exact(row, token)} {symbol}", share)

    def series(self, colors: Mapping[TokenKey, str] | None = None) -> list[Series]:
        """Name and paint the columns; the last is Other where there are others."""
        balances, places = self.balances, self.tokens.tolist()
        names = balances.token_names(places)
        fills = [*chosen_colors(balances.positions, places, colors).values()]
        if self.other_tokens:
            names.append(other(self.other_tokens, self.kind))
            fills.append(OTHER)
        return [Series(*each) for each in zip(names, fills, patterns(fills), strict=True)]


def lay_out(balances: Balances, codes: Places, rows: Places, tokens: Places) -> Grid:
    """Add up balances by whose they are and by token; `rows` and `tokens` are not in an Other."""
    row_ranks = ranks(rows, int(max(codes.max(), rows.max())) + 1)[codes]
    token_ranks = ranks(tokens, len(balances.positions.tokens.keys))[balances.token_codes]
    wide = len(tokens) + 1
    cells, count = row_ranks * wide + token_ranks, (len(rows) + 1) * wide
    return Grid(
        balances=balances,
        rows=rows,
        tokens=tokens,
        other_rows=len(np.unique(codes[row_ranks == len(rows)])),
        other_tokens=len(np.unique(balances.token_codes[token_ranks == len(tokens)])),
        sizes=added(cells, balances.sizes, count).reshape(-1, wide),
        amounts=balances.exact(cells, np.flatnonzero(np.arange(count) % wide < len(tokens))),
        codes=codes,
    )


def ranks(chosen: Places, count: int) -> Places:
    """Return of each of many things its rank among the chosen ones, or the place behind them."""
    ranks = np.full(count, len(chosen), dtype=np.intp)
    ranks[chosen] = np.arange(len(chosen))
    return ranks


@dataclass(frozen=True, slots=True)
class Groupings:
    """The rows that are drawn, and the names by which they are cut."""

    names: list[str]  # as they were asked for, each once
    balances: Balances
    positions: Positions  # the same, with assets in the place of tokens if these are asked for

    @property
    def title(self) -> str:
        """What the chart is of."""
        return f"{self.balances.measure.of} by {listed(self.names)}"

    def level(self, names: list[str]) -> Level:
        """Cut the rows by some of the names."""
        groups = group(self.positions, names)
        starts = first_rows(groups.owner_codes, groups.owned)
        known = asked = np.zeros(len(groups), dtype=np.intp)
        if "wallet" not in names and not {*names}.isdisjoint(self._of_wallets()):
            held, token = self.positions, self.balances.token_codes[:1]
            able = np.ones(len(held.wallets), dtype=bool)
            if self.balances.measure.kind == "amount" and len(token):  # which could hold that one?
                named = self.balances.positions
                tokens, chains = named.could_hold()
                able = np.isin(held.chain_codes, chains[tokens == token])
                held = of_one_token(held, named.tokens.codes == token)
            counted = completeness_among(held, groups, able)
            known = counted["wallets_ok"].to_numpy(np.intp)
            asked = counted["wallets_asked"].to_numpy(np.intp)
        return Level(names, self.balances, groups, starts, known, asked)

    def _of_wallets(self) -> list[str]:
        """Return the names that put wallets together, where it is told which were asked."""
        if not self.positions.asked:
            return []
        return [name for name in self.names if name in {"blockchain", *self.positions.kept}]

    def gaps(self) -> list[str]:
        """Write of which groups not all wallets are known, those with the fewest known first."""
        names = self._of_wallets()
        if not names or "wallet" in self.names:
            return []
        level = self.level(names)
        lacking = np.flatnonzero(level.wallets_known < level.wallets_asked)
        shares = level.wallets_known[lacking] / level.wallets_asked[lacking]
        places = lacking[np.argsort(shares, kind="stable")].tolist()
        said = [f"{level.known(place, level.whole(place))}." for place in places[:_GAPS]]
        more = f"Of {many(len(places) - _GAPS, f'more {level.noun}')} not all wallets are known."
        return [*said, *[more] * (len(places) > _GAPS)]


@dataclass(frozen=True, slots=True)
class Level:
    """Groups of rows, by one or several names."""

    names: list[str]
    balances: Balances
    groups: Groups
    starts: Places  # of each set of wallets, the first
    wallets_known: Codes  # how many of each group; 0 where that is not told
    wallets_asked: Codes

    @property
    def codes(self) -> Places:
        """The group of each row that is drawn."""
        return np.asarray(self.groups.codes[self.balances.rows])

    @property
    def noun(self) -> str:
        """What a group is called; "group" where an s would not make a plural."""
        [name, *more] = self.names
        is_word = name.isascii() and name.isalpha() and not name.endswith(("s", "y", "x", "h"))
        return name if is_word and not more and len(name) <= _NAME else "group"

    def short(self, places: Sequence[int]) -> list[str]:
        """Name groups so that all of these differ, in one line each."""
        if self.names == ["wallet"]:
            return self.balances.wallet_names(places)
        chosen = np.array(places, dtype=np.intp)
        called = [self._texts(name, chosen) for name in self._told]
        whole = [self._texts(name, chosen, limit=_HOVER) for name in self._told]
        short, long = ([*map(_BETWEEN.join, zip(*each, strict=True))] for each in (called, whole))
        return unique_names(short, long.__getitem__)

    def whole(self, place: int) -> str:
        """Name a group at length, by the names of columns, too: ``owner Ada``."""
        parts = []
        for name in self._told:
            [text] = self._texts(name, np.array([place]), limit=_HOVER)
            says_it = name in _BUILT_IN or text == no_label(name)
            parts.append(text if says_it else f"{shown(name, _NAME)} {text}")
        return _BETWEEN.join(parts)

    def known(self, place: int, whose: str = "") -> str:
        """Write how many of a group's wallets are known; nothing where that is not told."""
        known, asked = int(self.wallets_known[place]), int(self.wallets_asked[place])
        of = f" of {whose}" if whose else ""
        return f"{known:,} of {many(asked, 'wallet')}{of} known" if asked else ""

    def rows(self, grid: Grid) -> tuple[list[str], list[list[str]]]:
        """Name the rows of a grid, in short and in lines; the last is Other where there is one."""
        places = grid.rows.tolist()
        rest = [other(grid.other_rows, self.noun)] * bool(grid.other_rows)
        lines = [[*filter(None, (self.whole(at), self.known(at)))] for at in places]
        return self.short(places) + rest, lines + [[each] for each in rest]

    @property
    def _told(self) -> list[str]:
        """The names that say anything: a wallet says its blockchain."""
        return [name for name in self.names if name != "blockchain" or "wallet" not in self.names]

    def _texts(self, name: str, places: Places, *, limit: int = _LABEL) -> list[str]:
        """Write what some groups are by one of the names."""
        balances, held = self.balances, self.balances.positions
        wallets = self.starts[self.groups.owners[places]].tolist()
        if name == "wallet":
            if limit == _HOVER:
                return [*map(balances.whole_wallet, wallets)]
            parts = [held.wallets[name].array.take(wallets) for name in ("blockchain", "address")]
            names = [balances.names[wallet] for wallet in wallets]
            return [*map(short_wallet, *parts, names)]
        if name == "blockchain":
            chains = [*held.chain_places]
            return [shown(chains[held.chain_codes[wallet]]) for wallet in wallets]
        if name == "token":
            return balances.token_names(self.groups.tokens[places].tolist())
        labels = pd.Series(self.groups.columns[name].take(places), dtype=object)
        return [label_text(label, limit, name) or no_label(name) for label in labels.tolist()]


def read_groupings(  # noqa: PLR0913 - what a caller may wish
    holdings: PositionsLike,
    by: By,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    shares: bool = False,
    everyone: bool = False,
) -> Groupings:
    """Read what there is to draw, perhaps of one token or asset, and by which names to cut it.

    With `everyone`, all wallets asked are told apart; else only where a name needs it.
    """
    given, (one, asked) = names_of(by), named_token(token, asset, by)
    # Of wallets, blockchains and tokens holdings know enough.
    everyone = everyone or not {"wallet", "blockchain", "token"}.issuperset(given)
    positions, names = read_names(
        holdings, asked, wallets if everyone else None, assets=assets, bridged=bridged
    )
    balances = read_balances(positions, token=one, wallets=wallets, shares=shares)
    if "token" in names:
        balances = replace(balances, positions=positions.by_contract())
    told = [name for name in names if name != "asset" or name in given]
    if gaps := Groupings(told, balances, positions).gaps():  # which say the doubts, too
        balances = replace(balances, left_out=[*gaps, *balances.left_out], doubts=[])
    return Groupings(told, balances, positions)


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence lists them."""
    *first, last = [shown(name, _NAME) for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def no_label(name: str) -> str:
    """Name a group that has no label."""
    return f"no {shown(name, _NAME)}"


def label_text(label: Any, limit: int, name: str) -> str:
    """Write the label of a group, if any: harmless, and numbers as people do."""
    if pd.isna(label):
        return no_label(name)
    if isinstance(label, Decimal):
        return f"{label:f}"
    if isinstance(label, pd.Timestamp):
        return f"{label:%Y-%m-%d %H:%M}"
    return shown(str(label), limit)
