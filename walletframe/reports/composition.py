"""The content of a report as plain values: charts, tables, and a description of the methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe import charts
from walletframe.analysis.spam.flags import flag_spam
from walletframe.analysis.sums import totals, totals_of
from walletframe.analysis.valuation import value
from walletframe.frames.contract import concat_frames
from walletframe.frames.details import WalletDetails
from walletframe.frames.groups import SNAPSHOT, read_groups
from walletframe.frames.identity import token_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.known import (
    failure_lines,
    is_simulated,
    known_wallets,
    stale_wallets,
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
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT
from walletframe.text import as_link, shown

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import datetime

    from plotly.graph_objects import Figure

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.groups import By

_EXACT = (
    "Amounts are exact: each is the whole number of base units that the service sent, with the "
    "decimal point moved by the token's decimals. No digit was rounded."
)
_TOKENS = (
    "A token is identified by blockchain and contract. Its maker chooses the symbol, so several "
    "tokens may share one; amounts of different tokens are never added."
)
_FAILED = (
    "A wallet is unknown if the service returned no balances for it. It counts neither as empty "
    "nor as zero."
)
_OWN_PRICES = (
    "A value is an amount times a price, rounded once. The author of this report chose the prices."
)
_SENT_PRICES = (
    "A value is an amount times a price, rounded once. The service sent the prices with the "
    "balances, without naming their currency."
)
_NO_PRICES = "There were no prices: charts show counts or shares, never values."
_SPAM = (
    "Tokens were marked as spam by rules on their symbols, contracts and amounts; the table lists "
    "the reasons. The rules miss some spam, and may suspect an honest token."
)
_CHANGES = (
    "Changes are exact differences between two answers. If one of the two is unknown, so is the "
    "change; a token that an answer does not list counts as 0 if the wallet was known."
)
_TIMES = "Times are in UTC. All numbers are as of the answers, not as of today."
# The numbers of bars, colours and cells for a phone; other pages have the charts' defaults.
_BARS, _COLORS, _CELLS = 12, 6, (15, 6)
_LOOK = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_HOLDERS = 10  # a Lorenz curve of fewer holders says little
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."
_TOKEN_LABELS = {"token_blockchain", "token_address", "symbol", "asset"}  # blank if missing
_ROWS, _NAME, _LIMIT, _ADDRESS = 50, 60, 90, 120
_COLUMNS = {  # heading: column, text for a missing value, most characters
    "token": ("symbol", "", 24),
    "on": ("token_blockchain", "", _LIMIT),
    "name": ("name", "", _NAME),
    "reason": ("error", "", 160),
    "balances": ("tokens", UNKNOWN, _LIMIT),
    "source": ("source", "", _LIMIT),
    "why": ("why", "", _LIMIT),
}


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a report, in its order; `reasons` and cells are untrusted text."""

    title: str
    made: str
    simulated: bool
    facts: tuple[tuple[str, str], ...]  # names and values of key figures
    summary: tuple[str, ...]  # sentences on the origin of the answers
    gaps: tuple[str, ...]  # sentences on unknown data
    reasons: tuple[str, ...]  # why wallets are not ok
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]  # sentences


def compose(
    details: WalletDetails,
    *,
    before: WalletDetails | None,
    title: str,
    made: datetime,
    grouping: Grouping | None = None,
) -> Content:
    """Return the content of a report on a fetch, and on the changes since an earlier one."""
    wallets, holdings = details
    if "value" not in holdings and "price" in holdings and holdings["price"].notna().any():
        holdings = value(holdings)
    if not {"is_spam", "spam_reasons"} <= {*holdings.columns}:
        holdings = flag_spam(holdings)
    is_suspect = holdings["is_spam"].to_numpy()
    suspects, others = holdings[is_suspect], holdings[~is_suspect]
    listings, heading = [], ""
    if before is not None:
        listings.append(_changes_listing(before, WalletDetails(wallets, holdings)))
    if grouping is not None:
        listings.append(_grouped_listing(others, wallets, grouping))
        heading = listings[-1].heading
    listings.append(_totals_listing(others, wallets))
    listings.append(_wallets_listing(others, wallets))
    listings.append(_holdings_listing(others, wallets))
    if len(suspects):
        listings.append(_suspects_listing(suspects))
    prices = _OWN_PRICES if "value" in details.holdings else _SENT_PRICES
    methods = [_EXACT, _TOKENS, _FAILED, prices if "value" in holdings else _NO_PRICES]
    methods += [_SPAM] if len(suspects) else []
    methods += [_CHANGES] if before is not None else []
    reasons = (line.partition(": ") for line in failure_lines(wallets))
    facts = [
        ("wallets requested", f"{len(wallets):,}"),
        ("wallets known", f"{int(known_wallets(wallets).sum()):,}"),
        ("tokens", f"{len(token_identities(others).keys):,}"),
        ("balances", f"{len(others):,}"),
    ]
    if worth := value_summary(others):
        facts.append((f"value of {many(worth.known, 'balance')}", worth.total))
    return Content(
        title=title,
        made=f"{made:%Y-%m-%d %H:%M} UTC",
        simulated=is_simulated(wallets),
        facts=tuple(facts),
        summary=_summary(wallets, holdings, suspects, before),
        gaps=_gaps(wallets, others),
        reasons=tuple(f"{status.replace('_', ' ')}{colon}{why}" for status, colon, why in reasons),
        charts=tuple(fitting_charts(others, wallets, grouping, heading)),
        listings=tuple(listings),
        methods=(*methods, _TIMES),
    )


def _summary(
    wallets: pd.DataFrame,
    holdings: pd.DataFrame,
    suspects: pd.DataFrame,
    before: WalletDetails | None,
) -> tuple[str, ...]:
    counts = summary_lines(wallets, holdings)
    # Lines with a full stop are already in the gaps, or in the mark of simulated data.
    lines = [f"{line.replace('_', ' ')}." for line in counts if not line.endswith(".")]
    if len(suspects):
        tokens = len(token_identities(suspects).keys)
        verbs = "looks like spam and is" if len(suspects) == 1 else "look like spam and are"
        suspect = f"{many(len(suspects), 'balance')} of {many(tokens, 'token')}"
        lines.append(f"{suspect} {verbs} listed separately.")
    services = [shown(name) for name in wallets["service"].dropna().unique()]
    if services:
        lines.append(f"Service: {', '.join(services)}.")
    if before is not None:
        is_snapshot = SNAPSHOT in before.wallets
        earlier = before.wallets[SNAPSHOT if is_snapshot else "fetched_at"].dropna()
        when = f"{earlier.max():%Y-%m-%d %H:%M} UTC" if len(earlier) else "an unknown time"
        which = "the snapshot of" if is_snapshot else "an earlier fetch, whose last answer is from"
        lines.append(f"Compared with {which} {when}.")
    return tuple(lines)


def _gaps(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[str, ...]:
    unknown, older = int((~known_wallets(wallets)).sum()), int(stale_wallets(wallets).sum())
    amounts = int(holdings["amount"].isna().sum())
    strange = int(holdings["token_blockchain"].isna().sum())
    unpriced = worth.unpriced if (worth := value_summary(holdings)) else 0
    lines = {
        f"The balances of {unknown:,} of {many(len(wallets), 'wallet')} are unknown. "
        "Totals cover the other wallets only, so true totals may be higher.": unknown,
        f"The answers for {many(older, 'wallet')} are out of date.": older,
        f"The amount of {many(amounts, 'balance')} is unknown, since it can't be read.": amounts,
        f"The token of {many(strange, 'balance')} is unknown. It may be any token, so these "
        "wallets may hold more of other tokens.": strange,
        f"Values leave out {many(unpriced, 'balance')} without a price.": unpriced,
    }
    return tuple(line for line, count in lines.items() if count)


class Grouping(NamedTuple):
    """The names to group totals by, and the options of assets, as in `totals`."""

    by: By
    assets: AssetsLike | None = None
    bridged: bool = False


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart without title and notes, for wide or narrow pages."""

    name: str  # "wide" or "narrow", a class in the style sheet
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with a description, which names the table with its numbers."""

    title: str
    words: str
    views: tuple[ChartView, ...]


def fitting_charts(
    holdings: pd.DataFrame,
    wallets: pd.DataFrame,
    grouping: Grouping | None = None,
    heading: str = "",  # of the table of the grouping
) -> list[Chart]:
    """Draw the charts that suit these holdings, the grouping first; none if nothing is held."""
    held = read_positions(holdings[(holdings["amount"] > 0).fillna(value=False)])
    if not held.wallet_keys:
        return []
    colors = charts.token_colors(held)

    def bars(words: str, **options: Any) -> Chart:
        options |= {"wallets": wallets, "colors": colors}
        few = charts.bar(held, **options, top=_BARS, top_tokens=_COLORS)
        return _chart(words, charts.bar(held, **options), few)

    fitting: list[Chart] = []
    if grouping is not None:
        words = f"Holdings of each group. The numbers are in the table “{heading}”."
        fitting.append(bars(words, **grouping._asdict()))
    if len(held.wallet_keys) == 1:
        [owner] = held.wallets.itertuples(index=False, name=None)
        whole = charts.pie(held, owner, wallets=wallets, colors=colors)
        return [*fitting, _chart(f"The tokens of the one wallet that holds any. {_TOTALS}", whole)]
    small = charts.heatmap(held, wallets=wallets, top=_CELLS[0], top_tokens=_CELLS[1])
    small.update_xaxes(tickangle=-90).update_traces(texttemplate=None)  # too small to write on
    grid = charts.heatmap(held, wallets=wallets)
    fitting += [
        bars(f"Holdings of each wallet, by token. {_WALLETS}"),
        _chart(f"Holdings by wallet and token. {_TOTALS}", grid, small),
    ]
    if "value" in held.holdings:
        nested = charts.treemap(held, wallets=wallets, colors=colors)
        fitting.append(_chart(f"Blockchains, their wallets and tokens. {_TOTALS}", nested))
    if len(held.chains) > 1:
        fitting.append(bars(f"Holdings on each blockchain, by token. {_TOTALS}", by="blockchain"))
    holders = totals(held)["holders"]
    if holders.max() >= _HOLDERS:
        most_widely_held = held.tokens.keys[int(holders.argmax())]
        curve = charts.lorenz(held, most_widely_held, wallets=wallets)
        words = f"Distribution of the most widely held token. {_TOTALS}"
        fitting.append(_chart(words, curve))
    return fitting


def _chart(words: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    """Split a chart into title, notes and figure, and give the figure the style of the page."""
    views = []
    for name, drawn in (("wide", wide), ("narrow", narrow or wide)):
        figure = charts.Figure(drawn)
        title, notes = charts.take_notes(figure)
        if not charts.has_template():
            figure.update_layout(**_LOOK)
        views.append(ChartView(name, " ".join(notes), figure))
    return Chart(title, words, tuple(views))


@dataclass(frozen=True, slots=True)
class Listing:
    """A table with a heading and a note."""

    heading: str
    note: str
    table: Table
    stacked: bool = False  # whether rows are too wide for a page, and cells stand below each other


def _totals_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the totals of each token, the most valuable or most widely held first."""
    frame = totals(holdings, wallets=wallets)
    ranks = [name for name in ("value", "holders") if name in frame]
    head = frame.sort_values(ranks, ascending=False, kind="stable").head(_ROWS)
    columns = _columns(head, "token", "on", "amount", "value", "holders")
    columns["wallets known"] = _known(head)
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = text_cells(head["amount_na"])
    note = (
        "Exact sums, by contract: symbols are not unique. “Wallets known” counts the wallets that "
        "could hold the token, and those whose amount of it is known: the others may hold more."
    )
    return Listing("Totals by token", note, Table("totals", columns | _contract(head), len(frame)))


def _grouped_listing(holdings: pd.DataFrame, wallets: pd.DataFrame, grouping: Grouping) -> Listing:
    """List totals by the requested names, the most valuable first, without splitting groups."""
    positions, groups = read_groups(
        holdings, grouping.by, wallets, assets=grouping.assets, bridged=grouping.bridged
    )
    frame, labels = totals_of(positions, groups), [*groups.columns]
    title = f"Totals by {' and '.join(shown(name) for name in groups.names)}"
    if "value" in frame:
        frame = frame.sort_values("value", ascending=False, kind="stable", na_position="first")
    head = frame.head(_ROWS)
    head = head.iloc[pd.factorize(head[labels[0]], use_na_sentinel=False)[0].argsort(kind="stable")]
    columns: dict[str, list[Cell]] = {}
    for label in labels:
        missing = "" if label in _TOKEN_LABELS else f"no {label}"
        limit = _ADDRESS if label == "address" else _NAME
        columns[_heading(label, columns)] = text_cells(head[label], missing, limit)
    if "token_address" in labels:
        columns = {name: cells for name, cells in columns.items() if not name.startswith("token_")}
        columns |= _contract(head)
    numbers = _columns(head, "amount", "contracts", "blockchains", "tokens", "value", "holders")
    for name, cells in numbers.items():
        columns[_heading(name, columns)] = cells
    columns["wallets known"] = _known(head)
    note = (
        "Exact sums of the known wallets of each group; “wallets known” counts these. Rows without "
        "a label are a group of their own."
    )
    return Listing(title, note, Table("groups", columns, len(frame)))


def _wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the requested wallets, unknown ones first, else in the order of the request."""
    known = known_wallets(wallets)
    head = wallets.iloc[known.argsort(kind="stable")].head(_ROWS)
    kept = [name for name in kept_names(wallets) if name != "name"]
    columns = _columns(head, "name", "blockchain") | {
        "wallet": [
            Cell(address, _ADDRESS, link=as_link(link) if isinstance(link, str) else None)
            for address, link in zip(head["address"], head["explorer_url"], strict=True)
        ],
        "status": text_cells(head["status"].astype(TEXT).str.replace("_", " ")),
    }
    if head["error"].notna().any():
        columns |= _columns(head, "reason")
    columns |= _columns(head, "balances")
    if "value" in holdings:
        worth = totals(holdings, by="wallet", wallets=wallets)["value"].set_axis(wallets.index)
        columns["value"] = value_cells(worth.loc[head.index], UNKNOWN)
    columns["answered (UTC)"] = minute_cells(head["fetched_at"], missing="")
    columns |= _columns(head, "source")
    for name in kept:
        columns[_heading(name, columns)] = text_cells(head[name], missing="", limit=_NAME)
    note = "Unknown wallets come first: unknown is not empty."
    return Listing("Wallets", note, Table("wallets", columns, len(wallets)))


def _holdings_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the balances, the most valuable first, else in the order of the answers."""
    note, head = "In the order of the answers.", holdings
    if "value" in holdings:
        note = "The most valuable first."
        head = holdings.sort_values("value", ascending=False, kind="stable")
    head = head.head(_ROWS)
    columns = {"wallet": wallet_cells(head, wallets)}
    columns |= _columns(head, "token", "on", "amount", "value") | _contract(head)
    return Listing("Balances", note, Table("holdings", columns, len(holdings)))


def _suspects_listing(suspects: pd.DataFrame) -> Listing:
    """List tokens that look like spam, and why, those with the most holders first."""
    reasons = suspects["spam_reasons"].iloc[token_identities(suspects).first]
    frame = totals(suspects).assign(why=reasons.str.replace("_", " ").to_numpy())
    head = frame.sort_values("holders", ascending=False, kind="stable").head(_ROWS)
    columns = _columns(head, "token", "on", "why", "holders", "amount")
    note = (
        "Strangers send such tokens as advertising. Don't follow the instructions in symbols. No "
        "chart and no total above includes these tokens; the data still has them."
    )
    columns |= _contract(head)
    return Listing("Tokens that look like spam", note, Table("spam", columns, len(frame)))


def _changes_listing(before: WalletDetails, after: WalletDetails) -> Listing:
    """List changes of tokens that are not suspect, known ones first, in the order of the wallets.

    The flags of `after` decide what is suspect, those of `before` for tokens that `after` lacks;
    suspects have a table of their own, and may have been dropped from one of the two fetches.
    """
    sides = [before.holdings, after.holdings]
    if "is_spam" not in sides[0]:
        sides[0] = flag_spam(sides[0])
    names = ["token_blockchain", "token_address"]
    tokens = token_identities(concat_frames(side[names] for side in sides))
    then, now = np.split(tokens.codes, [len(sides[0])])
    is_suspect = np.zeros(len(tokens.keys), dtype=bool)
    is_suspect[then[sides[0]["is_spam"].to_numpy(bool)]] = True
    is_suspect[now] = False
    is_suspect[now[sides[1]["is_spam"].to_numpy(bool)]] = True
    changes = compare(
        before._replace(holdings=sides[0][~is_suspect[then]]),
        after._replace(holdings=sides[1][~is_suspect[now]]),
    )
    order = (changes["change"] == "unknown").to_numpy().argsort(kind="stable")
    head = changes.iloc[order].head(_ROWS)
    columns = {"wallet": wallet_cells(head, after.wallets)} | _columns(head, "token", "on")
    kinds = (head[name].astype(TEXT) for name in ("change", "status_before", "status_after"))
    columns["change"] = []  # the kind; if unknown, with the status that is the cause
    for kind, earlier, later in zip(*kinds, strict=True):
        parts = [f"{earlier} before"] * (earlier != "ok") + [f"{later} now"] * (later != "ok")
        why = ", ".join(parts).replace("_", " ")
        columns["change"].append(Cell(f"{kind} ({why})" if why else kind))
    columns |= _columns(head, "difference", "before", "after")
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    unknown = "A change is unknown if one of the two answers lacks the amount."
    note = f"{counted}. {unknown}" if counted else ""
    if is_suspect.any():
        note = f"{note} Tokens that look like spam are left out of both.".strip()
    table = Table("changes", columns | _contract(head), len(changes))
    return Listing("Changes", note, table, stacked=True)


def _known(totals_by: pd.DataFrame) -> list[Cell]:
    """Write how many of the requested wallets are known, and how many of these are out of date."""
    parts = (totals_by[name] for name in ("wallets_ok", "wallets_stale", "wallets_asked"))
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in zip(*parts, strict=True)
    ]


def _heading(name: str, taken: Container[str]) -> str:
    """Return a heading for a column that no other column has."""
    heading = shown(name, _NAME)
    while heading in taken:
        heading += " (2)"
    return heading


def _columns(frame: pd.DataFrame, *headings: str) -> dict[str, list[Cell]]:
    """Return the cells of those headings whose column exists."""
    columns = {}
    for heading in headings:
        name, missing, limit = _COLUMNS.get(heading, (heading, UNKNOWN, _LIMIT))
        if heading == "value" and name in frame:
            columns[heading] = value_cells(frame[name], missing)
        elif name in frame:
            columns[heading] = text_cells(frame[name], missing, limit)
    return columns


def _contract(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Return cells with whole contracts; rows of unknown wallets have no token, and are blank."""
    contracts = frame["token_address"].mask(
        frame["token_address"].isna() & frame["token_blockchain"].notna(), "native coin"
    )
    return {"contract": text_cells(contracts, missing="", limit=_ADDRESS)}
