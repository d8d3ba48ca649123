"""The content of a report as plain values: charts, tables, and a description of the methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe import charts
from walletframe.analysis.spam.flags import flag_spam
from walletframe.analysis.sums import totals, totals_of
from walletframe.analysis.valuation import has_prices, value
from walletframe.frames.contract import concat_frames
from walletframe.frames.details import WalletDetails
from walletframe.frames.groups import SNAPSHOT, read_groups
from walletframe.frames.identity import token_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.known import (
    failure_lines,
    is_simulated,
    known_mask,
    stale_mask,
    summary_lines,
    value_summary,
)
from walletframe.frames.positions import read_positions
from walletframe.frames.tables import (
    UNKNOWN,
    Cell,
    Table,
    minute_cells,
    text_cells,
    value_cells,
    wallet_cells,
)
from walletframe.history import compare
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.settings.tables import table_settings
from walletframe.text import safe_line, safe_url

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import datetime

    from plotly.graph_objects import Figure

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.groups import By

_EXACT = (
    "Amounts are exact: each amount is the integer of base units that the service sent, divided by "
    "10 to the power of the token's decimals. No digit was rounded."
)
_TOKENS = (
    "A token is identified by blockchain and contract. The maker of a token chooses its symbol, so "
    "several tokens may have the same symbol. An asset combines its coin or its issuer's contracts "
    "on several blockchains; a token that is not in the list of assets is an asset of its own. "
    "Amounts of different assets are never added."
)
_FAILED = (
    "A wallet is unknown if the service returned no balances for it. An unknown wallet does not "
    "count as empty or zero."
)
_OWN_PRICES = (
    "A value is an amount times a price, rounded once. The author of this report chose the prices."
)
_SENT_PRICES = (
    "A value is an amount times a price, rounded once. The service sent the prices with the "
    "balances, without naming their currency."
)
_NO_PRICES = "There were no prices, so charts show counts or shares instead of values."
_SPAM = (
    "Tokens were marked as spam by rules about their symbols, contracts and amounts. The table "
    "lists the reasons. The rules miss some spam, and may mark a genuine token."
)
_CHANGES = (
    "Changes are exact differences between two amounts. If one of the two amounts is unknown, the "
    "change is unknown. If a known wallet's answer does not list a token, the token counts as 0."
)
_TIMES = "Times are in UTC. All numbers are from the time of the answers, not from today."
# The maximum numbers of bars, colours and cells on a phone. Wide pages use the charts' defaults.
_MAX_BARS, _MAX_COLORS, _MAX_CELLS = 12, 6, (15, 6)
_STYLE = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_MIN_HOLDERS = 10  # a Lorenz curve of fewer holders is not informative
_SEE_TOTALS = "The numbers are in the table “Totals by asset”."
_SEE_WALLETS = "The numbers are in the table “Wallets”."
_TOKEN_LABELS = {"token_blockchain", "token_address", "symbol", "asset"}  # empty if missing
_MAX_ROWS, _NAME_LENGTH, _TEXT_LENGTH, _ADDRESS_LENGTH = 50, 60, 90, 120
_COLUMNS = {  # heading: column, text for a missing value, maximum number of characters
    "token": ("symbol", "", 24),
    "on": ("token_blockchain", "", _TEXT_LENGTH),
    "name": ("name", "", _NAME_LENGTH),
    "reason": ("error", "", 160),
    "balances": ("tokens", UNKNOWN, _TEXT_LENGTH),
    "source": ("source", "", _TEXT_LENGTH),
    "why": ("why", "", _TEXT_LENGTH),
}


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a report. `reasons` and table cells contain untrusted text."""

    title: str
    made: str  # the time of the report
    simulated: bool
    facts: tuple[tuple[str, str], ...]  # the names and values of key figures
    summary: tuple[str, ...]  # sentences about the origin of the answers
    gaps: tuple[str, ...]  # sentences about unknown data
    reasons: tuple[str, ...]  # the reasons why wallets are not ok
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]  # sentences about the methods


def compose(
    details: WalletDetails,
    *,
    before: WalletDetails | None,
    title: str,
    made: datetime,
    grouping: Grouping,
) -> Content:
    """Return the content of a report on a result, and on the changes since an earlier result."""
    wallets, holdings = details
    if "value" not in holdings and has_prices(holdings):
        holdings = value(holdings)
    if not {"is_spam", "spam_reasons"} <= {*holdings.columns}:
        holdings = flag_spam(holdings)
    is_spam = holdings["is_spam"].to_numpy()
    spam, remaining = holdings[is_spam], holdings[~is_spam]
    listings, heading = [], ""
    if before is not None:
        listings.append(_changes_listing(before, WalletDetails(wallets, holdings)))
    if grouping.by is not None:
        listings.append(_grouped_listing(remaining, wallets, grouping.by, grouping.asset_options))
        heading = listings[-1].heading
    listings.append(_totals_listing(remaining, wallets, grouping.asset_options))
    listings.append(_wallets_listing(remaining, wallets))
    listings.append(_holdings_listing(remaining, wallets))
    if len(spam):
        listings.append(_spam_listing(spam))
    has_own = "value" in details.holdings or table_settings().prices is not None
    prices = _OWN_PRICES if has_own else _SENT_PRICES
    methods = [_EXACT, _TOKENS, _FAILED, prices if "value" in holdings else _NO_PRICES]
    methods += [_SPAM] if len(spam) else []
    methods += [_CHANGES] if before is not None else []
    reasons = (line.partition(": ") for line in failure_lines(wallets))
    facts = [
        ("wallets requested", f"{len(wallets):,}"),
        ("wallets known", f"{int(known_mask(wallets).sum()):,}"),
        ("tokens", f"{len(token_identities(remaining).keys):,}"),
        ("balances", f"{len(remaining):,}"),
    ]
    if value_total := value_summary(remaining):
        facts.append((f"value of {counted_noun(value_total.known, 'balance')}", value_total.total))
    return Content(
        title=title,
        made=f"{made:%Y-%m-%d %H:%M} UTC",
        simulated=is_simulated(wallets),
        facts=tuple(facts),
        summary=_summary(wallets, holdings, spam, before),
        gaps=_gaps(wallets, remaining),
        reasons=tuple(f"{status.replace('_', ' ')}{colon}{why}" for status, colon, why in reasons),
        charts=tuple(fitting_charts(remaining, wallets, grouping, heading)),
        listings=tuple(listings),
        methods=(*methods, _TIMES),
    )


def _summary(
    wallets: pd.DataFrame,
    holdings: pd.DataFrame,
    spam: pd.DataFrame,
    before: WalletDetails | None,
) -> tuple[str, ...]:
    """Return the sentences about the number of wallets, spam, the service and the comparison."""
    counts = summary_lines(wallets, holdings)
    # Lines that end with a full stop are already in the gaps, or in the note on simulated data.
    lines = [f"{line.replace('_', ' ')}." for line in counts if not line.endswith(".")]
    if len(spam):
        tokens = len(token_identities(spam).keys)
        verbs = "looks like spam and is" if len(spam) == 1 else "look like spam and are"
        spam_balances = f"{counted_noun(len(spam), 'balance')} of {counted_noun(tokens, 'token')}"
        lines.append(f"{spam_balances} {verbs} listed separately.")
    services = [safe_line(name) for name in wallets["service"].dropna().unique()]
    if services:
        lines.append(f"Service: {', '.join(services)}.")
    if before is not None:
        is_snapshot = SNAPSHOT in before.wallets
        earlier = before.wallets[SNAPSHOT if is_snapshot else "fetched_at"].dropna()
        when = f"{earlier.max():%Y-%m-%d %H:%M} UTC" if len(earlier) else "an unknown time"
        fetch = "an earlier fetch, whose newest answer is from"
        lines.append(f"Compared with {'the snapshot of' if is_snapshot else fetch} {when}.")
    return tuple(lines)


def _gaps(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentences about wallets, amounts, tokens and prices that are unknown."""
    unknown_wallets = int((~known_mask(wallets)).sum())
    outdated = int(stale_mask(wallets).sum())
    amounts = int(holdings["amount"].isna().sum())
    unknown_tokens = int(holdings["token_blockchain"].isna().sum())
    unpriced = value_total.unpriced if (value_total := value_summary(holdings)) else 0
    lines = {
        f"The balances of {unknown_wallets:,} of {counted_noun(len(wallets), 'wallet')} are "
        "unknown. Totals cover the other wallets only, so true totals may be "
        "higher.": unknown_wallets,
        f"The answers for {counted_noun(outdated, 'wallet')} are out of date.": outdated,
        f"The amount of {counted_noun(amounts, 'balance')} is unknown, since it can't be "
        "read.": amounts,
        f"The token of {counted_noun(unknown_tokens, 'balance')} is unknown. It may be any token, "
        "so these wallets may hold more of any token.": unknown_tokens,
        f"Values leave out {counted_noun(unpriced, 'balance')} without a price.": unpriced,
    }
    return tuple(line for line, count in lines.items() if count)


class Grouping(NamedTuple):
    """The columns to group more totals by, and the options `assets` and `bridged` of `totals`."""

    by: By | None = None
    assets: AssetsLike | None = None
    bridged: bool = False

    @property
    def asset_options(self) -> dict[str, Any]:
        """The options `assets` and `bridged`, as keyword arguments."""
        return {"assets": self.assets, "bridged": self.bridged}


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart for wide or narrow pages; its title and its notes are not in the figure."""

    name: str  # "wide" or "narrow", which is a class in the style sheet
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with a caption that names the table with the numbers."""

    title: str
    caption: str
    views: tuple[ChartView, ...]


def fitting_charts(
    holdings: pd.DataFrame, wallets: pd.DataFrame, grouping: Grouping, heading: str
) -> list[Chart]:
    """Return the charts that suit these holdings, starting with the chart of the grouping."""
    positions = read_positions(holdings[(holdings["amount"] > 0).fillna(value=False)])
    if not positions.wallet_keys:
        return []
    options: dict[str, Any] = {"wallets": wallets, **grouping.asset_options}
    colored: dict[str, Any] = {**options, "colors": charts.token_colors(positions)}

    def draw_bars(caption: str, by: By) -> Chart:
        """Return a chart of bars, with fewer bars on narrow pages."""
        narrow = charts.bar(positions, by=by, top=_MAX_BARS, top_tokens=_MAX_COLORS, **colored)
        return _make_chart(caption, charts.bar(positions, by=by, **colored), narrow)

    drawn_charts: list[Chart] = []
    if grouping.by is not None:
        caption = f"Holdings of each group. The numbers are in the table “{heading}”."
        drawn_charts.append(draw_bars(caption, grouping.by))
    if len(positions.wallet_keys) == 1:
        [owner] = positions.wallets.itertuples(index=False, name=None)
        figure = charts.pie(positions, owner, **colored)
        return [
            *drawn_charts,
            _make_chart(f"The assets of the only wallet with holdings. {_SEE_TOTALS}", figure),
        ]
    small_grid = charts.heatmap(positions, top=_MAX_CELLS[0], top_tokens=_MAX_CELLS[1], **options)
    # The cells are too small for text.
    small_grid.update_xaxes(tickangle=-90).update_traces(texttemplate=None)
    grid = charts.heatmap(positions, **options)
    drawn_charts += [
        draw_bars(f"Holdings of each wallet, by asset. {_SEE_WALLETS}", "wallet"),
        _make_chart(f"Holdings by wallet and asset. {_SEE_TOTALS}", grid, small_grid),
    ]
    if "value" in positions.holdings:
        treemap = charts.treemap(positions, **colored)
        drawn_charts.append(
            _make_chart(f"Holdings by blockchain, wallet and asset. {_SEE_TOTALS}", treemap)
        )
    if len(positions.chains) > 1:
        drawn_charts.append(
            draw_bars(f"Holdings on each blockchain, by asset. {_SEE_TOTALS}", "blockchain")
        )
    positions, groups = read_groups(positions, "asset", **grouping.asset_options)
    holders = totals_of(positions, groups)["holders"]
    if holders.max() >= _MIN_HOLDERS:
        row = positions.tokens.first[groups.tokens[holders.argmax()]]
        most_widely_held = positions.contracts.keys[positions.contracts.codes[row]]
        curve = charts.lorenz(positions, most_widely_held, **options)
        caption = f"Distribution of the most widely held asset. {_SEE_TOTALS}"
        drawn_charts.append(_make_chart(caption, curve))
    return drawn_charts


def _make_chart(caption: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    """Separate title and notes from the figure of a chart, and apply the style of the page."""
    views = []
    for name, chart in (("wide", wide), ("narrow", narrow or wide)):
        figure = charts.Figure(chart)
        title, notes = charts.extract_notes(figure)
        if not charts.has_custom_template():
            figure.update_layout(**_STYLE)
        views.append(ChartView(name, " ".join(notes), figure))
    return Chart(title, caption, tuple(views))


@dataclass(frozen=True, slots=True)
class Listing:
    """A table with a heading and a note."""

    heading: str
    note: str
    table: Table
    stacked: bool = False  # whether cells are placed below each other, since rows are too wide


def _totals_listing(
    holdings: pd.DataFrame, wallets: pd.DataFrame, asset_options: dict[str, Any]
) -> Listing:
    """List the totals of each asset by descending value, and then number of holders."""
    frame = totals(holdings, wallets=wallets, **asset_options)
    ranks = [name for name in ("value", "holders") if name in frame]
    head = frame.sort_values(ranks, ascending=False, kind="stable").head(_MAX_ROWS)
    names = ("asset", "amount", "contracts", "blockchains", "value", "holders")
    columns = _select_cells(head, *names)
    columns["wallets known"] = _known_wallet_cells(head)
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = text_cells(head["amount_na"])
    note = (
        "Exact sums of the contracts of each asset. “Wallets known” counts the wallets whose "
        "amount is known, of all wallets that could hold the asset. Unknown wallets may hold more."
    )
    return Listing("Totals by asset", note, Table("totals", columns, len(frame)))


def _grouped_listing(
    holdings: pd.DataFrame, wallets: pd.DataFrame, by: By, asset_options: dict[str, Any]
) -> Listing:
    """List the totals of the grouping: unknown values first, then by descending value.

    Rows with the same first label stay together.
    """
    positions, groups = read_groups(holdings, by, wallets, **asset_options)
    frame, labels = totals_of(positions, groups), [*groups.columns]
    title = f"Totals by {' and '.join(safe_line(name) for name in groups.names)}"
    if "value" in frame:
        frame = frame.sort_values("value", ascending=False, kind="stable", na_position="first")
    head = frame.head(_MAX_ROWS)
    head = head.iloc[pd.factorize(head[labels[0]], use_na_sentinel=False)[0].argsort(kind="stable")]
    columns: dict[str, list[Cell]] = {}
    for label in labels:
        missing = "" if label in _TOKEN_LABELS else f"no {label}"
        limit = _ADDRESS_LENGTH if label == "address" else _NAME_LENGTH
        columns[_unique_heading(label, columns)] = text_cells(head[label], missing, limit)
    if "token_address" in labels:
        columns = {name: cells for name, cells in columns.items() if not name.startswith("token_")}
        columns |= _contract_column(head)
    shown = ("amount", "contracts", "blockchains", "tokens", "value", "holders")
    for name, cells in _select_cells(head, *shown).items():
        columns[_unique_heading(name, columns)] = cells
    columns["wallets known"] = _known_wallet_cells(head)
    note = (
        "Exact sums over the known wallets of each group. “Wallets known” counts these wallets. "
        "Rows without a label form a group of their own."
    )
    return Listing(title, note, Table("groups", columns, len(frame)))


def _wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the requested wallets in the order of the request, but unknown wallets first."""
    known = known_mask(wallets)
    head = wallets.iloc[known.argsort(kind="stable")].head(_MAX_ROWS)
    extra_names = [name for name in kept_names(wallets) if name != "name"]
    columns = _select_cells(head, "name", "blockchain") | {
        "wallet": [
            Cell(address, _ADDRESS_LENGTH, link=safe_url(link) if isinstance(link, str) else None)
            for address, link in zip(head["address"], head["explorer_url"], strict=True)
        ],
        "status": text_cells(head["status"].astype(TEXT).str.replace("_", " ")),
    }
    if head["error"].notna().any():
        columns |= _select_cells(head, "reason")
    columns |= _select_cells(head, "balances")
    if "value" in holdings:
        values = totals(holdings, by="wallet", wallets=wallets)["value"].set_axis(wallets.index)
        columns["value"] = value_cells(values.loc[head.index], UNKNOWN)
    columns["answered (UTC)"] = minute_cells(head["fetched_at"], missing="")
    columns |= _select_cells(head, "source")
    for name in extra_names:
        columns[_unique_heading(name, columns)] = text_cells(head[name], "", _NAME_LENGTH)
    note = "Unknown wallets come first. An unknown wallet is not an empty wallet."
    return Listing("Wallets", note, Table("wallets", columns, len(wallets)))


def _holdings_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the balances by descending value or, without values, in the order of the answers."""
    note, head = "Balances are in the order of the answers.", holdings
    if "value" in holdings:
        note = "The most valuable balances come first."
        head = holdings.sort_values("value", ascending=False, kind="stable")
    head = head.head(_MAX_ROWS)
    columns = {"wallet": wallet_cells(head, wallets)}
    columns |= _select_cells(head, "token", "on", "amount", "value") | _contract_column(head)
    return Listing("Balances", note, Table("holdings", columns, len(holdings)))


def _spam_listing(spam: pd.DataFrame) -> Listing:
    """List the tokens that look like spam, and why, by descending number of holders."""
    reasons = spam["spam_reasons"].iloc[token_identities(spam).first]
    frame = totals(spam, "token").assign(why=reasons.str.replace("_", " ").to_numpy())
    head = frame.sort_values("holders", ascending=False, kind="stable").head(_MAX_ROWS)
    columns = _select_cells(head, "token", "on", "why", "holders", "amount")
    note = (
        "Strangers send such tokens as advertising. Don't follow the instructions in symbols. The "
        "charts and the totals above leave out these tokens, but the data still contains them."
    )
    columns |= _contract_column(head)
    return Listing("Tokens that look like spam", note, Table("spam", columns, len(frame)))


def _changes_listing(before: WalletDetails, after: WalletDetails) -> Listing:
    """List the changes of tokens that don't look like spam, with unknown changes at the end."""
    # The spam flags of `after` decide, except for tokens that only `before` has. Spam is left out
    # of both results, since it has a table of its own, and one of the results may lack it.
    frames = [before.holdings, after.holdings]
    if "is_spam" not in frames[0]:
        frames[0] = flag_spam(frames[0])
    names = ["token_blockchain", "token_address"]
    tokens = token_identities(concat_frames(side[names] for side in frames))
    tokens_before, tokens_after = np.split(tokens.codes, [len(frames[0])])
    is_spam = np.zeros(len(tokens.keys), dtype=bool)
    is_spam[tokens_before[frames[0]["is_spam"].to_numpy(bool)]] = True
    is_spam[tokens_after] = False
    is_spam[tokens_after[frames[1]["is_spam"].to_numpy(bool)]] = True
    changes = compare(
        before._replace(holdings=frames[0][~is_spam[tokens_before]]),
        after._replace(holdings=frames[1][~is_spam[tokens_after]]),
    )
    order = (changes["change"] == "unknown").to_numpy().argsort(kind="stable")
    head = changes.iloc[order].head(_MAX_ROWS)
    columns = {"wallet": wallet_cells(head, after.wallets)} | _select_cells(head, "token", "on")
    kinds = (head[name].astype(TEXT) for name in ("change", "status_before", "status_after"))
    columns["change"] = []  # the category; if it is unknown, also the status that is the cause
    for kind, earlier, later in zip(*kinds, strict=True):
        parts = [f"{earlier} before"] * (earlier != "ok") + [f"{later} now"] * (later != "ok")
        why = ", ".join(parts).replace("_", " ")
        columns["change"].append(Cell(f"{kind} ({why})" if why else kind))
    columns |= _select_cells(head, "difference", "before", "after")
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    unknown = "A change is unknown if one of the two amounts is unknown."
    note = f"{counted}. {unknown}" if counted else ""
    if is_spam.any():
        note = f"{note} Tokens that look like spam are left out.".strip()
    table = Table("changes", columns | _contract_column(head), len(changes))
    return Listing("Changes", note, table, stacked=True)


def _known_wallet_cells(totals_by: pd.DataFrame) -> list[Cell]:
    """Return cells with the numbers of known, requested and out-of-date wallets."""
    parts = (totals_by[name] for name in ("wallets_ok", "wallets_stale", "wallets_asked"))
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in zip(*parts, strict=True)
    ]


def _unique_heading(name: str, used: Container[str]) -> str:
    """Return a heading that is not the heading of another column."""
    heading = safe_line(name, _NAME_LENGTH)
    while heading in used:
        heading += " (2)"
    return heading


def _select_cells(frame: pd.DataFrame, *headings: str) -> dict[str, list[Cell]]:
    """Return the cells of the headings whose column exists in the frame."""
    columns = {}
    for heading in headings:
        name, missing, limit = _COLUMNS.get(heading, (heading, UNKNOWN, _TEXT_LENGTH))
        if heading == "value" and name in frame:
            columns[heading] = value_cells(frame[name], missing)
        elif name in frame:
            columns[heading] = text_cells(frame[name], missing, limit)
    return columns


def _contract_column(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Return cells with full contract addresses. The cell of a row without a token is empty."""
    is_native = frame["token_address"].isna() & frame["token_blockchain"].notna()
    contracts = frame["token_address"].mask(is_native, "native coin")
    return {"contract": text_cells(contracts, missing="", limit=_ADDRESS_LENGTH)}
