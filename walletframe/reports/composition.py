"""The content of a report as plain values: charts, tables, and the methods in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe import charts
from walletframe.analysis import flag_spam, totals, value
from walletframe.analysis.sums import totals_of
from walletframe.frames.contract import stacked
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
    worth,
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
    "A token is its contract on its blockchain. Symbols are chosen by whoever makes a token, and "
    "several tokens may share one; amounts of different tokens are never added."
)
_FAILED = (
    "A wallet that the service gave no balances of is unknown. It counts neither as empty nor as "
    "zero."
)
_OWN_PRICES = (
    "A value is an amount times a price, rounded once, at the prices that whoever made this "
    "report chose."
)
_SENT_PRICES = (
    "A value is an amount times a price, rounded once, at the prices that the service sent with "
    "the balances. It doesn't name their currency."
)
_NO_PRICES = "There were no prices: charts show counts or shares, never values."
_SPAM = (
    "Tokens were taken for spam by rules on their symbols, contracts and amounts, listed with "
    "each. The rules miss some and may suspect an honest token: see the table."
)
_CHANGES = (
    "Changes are exact differences between two answers. Where one of the two is unknown, so is "
    "the change; a token that is not listed counts as 0 where the wallet was known."
)
_TIMES = "Times are in UTC. All of it is as of the answers, not of the reading."
# what a phone has room for, where others have that of the charts' own
_BARS, _COLORS, _CELLS = 12, 6, (15, 6)
_LOOK = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_HOLDERS = 10  # of fewer, a curve of how unequally a token is spread says little
_TOTALS = "The numbers are in the table “Totals by token”."
_WALLETS = "The numbers are in the table “Wallets”."
_OF_ROWS = {"token_blockchain", "token_address", "symbol", "asset"}  # missing where none is held
_ROWS, _NAME, _LIMIT, _ADDRESS = 50, 60, 90, 120
_COLUMNS = {  # by heading: its column, what stands for a missing value, and the most characters
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
    """All of a report, in its order; `reasons` and cells are as strangers may have written them."""

    title: str
    made: str
    simulated: bool
    facts: tuple[tuple[str, str], ...]  # names and values of what is to be known first
    summary: tuple[str, ...]  # sentences on where the answers came from
    gaps: tuple[str, ...]  # sentences on what is unknown
    reasons: tuple[str, ...]  # why wallets are not ok
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]  # sentences on how it was done


def compose(
    details: WalletDetails,
    *,
    before: WalletDetails | None,
    title: str,
    made: datetime,
    grouping: Grouping | None = None,
) -> Content:
    """Decide what a report says of a fetch, and of what changed since an earlier one."""
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
        ("wallets asked", f"{len(wallets):,}"),
        ("wallets known", f"{int(known_wallets(wallets).sum()):,}"),
        ("tokens", f"{len(token_identities(others).keys):,}"),
        ("balances", f"{len(others):,}"),
    ]
    if found := worth(others):
        facts.append((f"value of {many(found.known, 'balance')}", found.total))
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
    # lines with a full stop are in the gaps, or in the mark of simulated data
    lines = [f"{line.replace('_', ' ')}." for line in counts if not line.endswith(".")]
    if len(suspects):
        tokens = len(token_identities(suspects).keys)
        lines.append(
            f"In a table of their own, since they look like spam: {many(len(suspects), 'balance')} "
            f"of {many(tokens, 'token')}."
        )
    services = [shown(name) for name in wallets["service"].dropna().unique()]
    if services:
        lines.append(f"Service: {', '.join(services)}.")
    if before is not None:
        is_snapshot = SNAPSHOT in before.wallets
        earlier = before.wallets[SNAPSHOT if is_snapshot else "fetched_at"].dropna()
        when = f"{earlier.max():%Y-%m-%d %H:%M} UTC" if len(earlier) else "an unknown time"
        which = "the snapshot of" if is_snapshot else "an earlier fetch, whose last answer is of"
        lines.append(f"Compared with {which} {when}.")
    return tuple(lines)


def _gaps(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[str, ...]:
    unknown, older = int((~known_wallets(wallets)).sum()), int(stale_wallets(wallets).sum())
    amounts = int(holdings["amount"].isna().sum())
    strange = int(holdings["token_blockchain"].isna().sum())
    unpriced = found.unpriced if (found := worth(holdings)) else 0
    lines = {
        f"The balances of {unknown:,} of {many(len(wallets), 'wallet')} are unknown. "
        "Every total is of the other wallets alone: the true one may be higher.": unknown,
        f"For {older:,} of the wallets an older answer had to stand in.": older,
        f"Of unknown amount, since it could not be read: {many(amounts, 'balance')}.": amounts,
        f"Of an unknown token, which may be any: {many(strange, 'balance')}. "
        "Of other tokens, their wallets may hold more.": strange,
        f"Without a price, and in no value: {many(unpriced, 'balance')}.": unpriced,
    }
    return tuple(line for line, count in lines.items() if count)


class Grouping(NamedTuple):
    """What totals are by, as `totals` takes it."""

    by: By
    assets: AssetsLike | None = None
    bridged: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A chart without its title and notes, as drawn for ``wide`` or for ``narrow`` pages."""

    name: str
    notes: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and in words what it shows, and which table has its numbers."""

    title: str
    words: str
    views: tuple[View, ...]


def fitting_charts(
    holdings: pd.DataFrame,
    wallets: pd.DataFrame,
    grouping: Grouping | None = None,
    heading: str = "",
) -> list[Chart]:
    """Draw the charts that say something of these holdings: none where nothing is held.

    With a `grouping`, the first is of its groups; `heading` is that of the table of their numbers.
    """
    held = read_positions(holdings[(holdings["amount"] > 0).fillna(value=False)])
    if not held.wallet_keys:
        return []
    colors = charts.token_colors(held)

    def bars(words: str, **options: Any) -> Chart:
        options |= {"wallets": wallets, "colors": colors}
        few = charts.bar(held, **options, top=_BARS, top_tokens=_COLORS)
        return _chart(words, charts.bar(held, **options), few)

    found: list[Chart] = []
    if grouping is not None:
        words = f"What each group has. The numbers are in the table “{heading}”."
        found.append(bars(words, **grouping._asdict()))
    if len(held.wallet_keys) == 1:
        [owner] = held.wallets.itertuples(index=False, name=None)
        whole = charts.pie(held, owner, wallets=wallets, colors=colors)
        return [*found, _chart(f"The tokens of the one wallet that holds any. {_TOTALS}", whole)]
    small = charts.heatmap(held, wallets=wallets, top=_CELLS[0], top_tokens=_CELLS[1])
    small.update_xaxes(tickangle=-90).update_traces(texttemplate=None)  # too small to write on
    grid = charts.heatmap(held, wallets=wallets)
    found += [
        bars(f"What each wallet holds, by token. {_WALLETS}"),
        _chart(f"Which wallet holds which token. {_TOTALS}", grid, small),
    ]
    if "value" in held.holdings:
        nested = charts.treemap(held, wallets=wallets, colors=colors)
        found.append(_chart(f"Blockchains, their wallets and tokens. {_TOTALS}", nested))
    if len(held.chains) > 1:
        found.append(bars(f"What is held on each blockchain, by token. {_TOTALS}", by="blockchain"))
    holders = totals(held)["holders"]
    if holders.max() >= _HOLDERS:
        most_widely_held = held.tokens.keys[int(holders.argmax())]
        curve = charts.lorenz(held, most_widely_held, wallets=wallets)
        words = f"How unequally the most widely held token is spread. {_TOTALS}"
        found.append(_chart(words, curve))
    return found


def _chart(words: str, wide: Figure, narrow: Figure | None = None) -> Chart:
    """Take a chart's title and notes out, and let it look like the page around it."""
    views = []
    for name, drawn in (("wide", wide), ("narrow", narrow or wide)):
        figure = charts.Figure(drawn)
        title, notes = charts.take_words(figure)
        if not charts.has_template():  # of the user's own choice
            figure.update_layout(**_LOOK)
        views.append(View(name, " ".join(notes), figure))
    return Chart(title, words, tuple(views))


@dataclass(frozen=True, slots=True)
class Listing:
    """A table, what its rows are, and how it is to be read."""

    heading: str
    note: str
    table: Table
    stacked: bool = False  # where a row is too wide for a line of any page


def _totals_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List what all wallets hold together of each token, the most valuable or most held first."""
    frame = totals(holdings, wallets=wallets)
    ranks = [name for name in ("value", "holders") if name in frame]
    head = frame.sort_values(ranks, ascending=False, kind="stable").head(_ROWS)
    columns = _columns(head, "token", "on", "amount", "value", "holders")
    columns["wallets known"] = _known(head)
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = text_cells(head["amount_na"])
    note = (
        "Exact sums, by contract: symbols are not unique. “Wallets known” says of how many of the "
        "wallets that could hold the token its amount is known: the others may hold more."
    )
    return Listing("Totals by token", note, Table("totals", columns | _contract(head), len(frame)))


def _grouped_listing(holdings: pd.DataFrame, wallets: pd.DataFrame, grouping: Grouping) -> Listing:
    """List totals by what was asked for, the most valuable first, those of a group together."""
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
        missing = "" if label in _OF_ROWS else f"no {label}"
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
        "Exact sums of the known wallets of each group; “wallets known” says how many these are. "
        "What has no label is a group of its own."
    )
    return Listing(title, note, Table("groups", columns, len(frame)))


def _wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the wallets that were asked, unknown ones first, else as they were asked."""
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
    note = "Wallets of which nothing is known stand first: unknown is not empty."
    return Listing("Wallets", note, Table("wallets", columns, len(wallets)))


def _holdings_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the single balances, the most valuable first, else as they were answered."""
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
        "Strangers send such tokens to be seen. Don't follow what their symbols say. They are in "
        "no chart and in no total above; nothing was dropped from the data."
    )
    columns |= _contract(head)
    return Listing("Tokens that look like spam", note, Table("spam", columns, len(frame)))


def _changes_listing(before: WalletDetails, after: WalletDetails) -> Listing:
    """List changes, what is known first, in the order of the wallets, without suspects on any side.

    `after` says which tokens these are, `before` of those that it lacks: they have a table of their
    own, and may have been dropped from one of the two.
    """
    sides = [before.holdings, after.holdings]
    if "is_spam" not in sides[0]:
        sides[0] = flag_spam(sides[0])
    names = ["token_blockchain", "token_address"]
    tokens = token_identities(stacked(side[names] for side in sides))
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
    columns["change"] = []  # its kind, and behind an unknown one, which side is why
    for kind, earlier, later in zip(*kinds, strict=True):
        parts = [f"{earlier} before"] * (earlier != "ok") + [f"{later} now"] * (later != "ok")
        why = ", ".join(parts).replace("_", " ")
        columns["change"].append(Cell(f"{kind} ({why})" if why else kind))
    columns |= _columns(head, "difference", "before", "after")
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    note = f"{counted}. Unknown is what one of the two answers doesn't say." if counted else ""
    if is_suspect.any():
        note = f"{note} Tokens that look like spam are left out of both.".strip()
    table = Table("changes", columns | _contract(head), len(changes))
    return Listing("Changes", note, table, stacked=True)


def _known(totals_by: pd.DataFrame) -> list[Cell]:
    """Write how many of the wallets asked are known, and of these how many as of long ago."""
    parts = (totals_by[name] for name in ("wallets_ok", "wallets_stale", "wallets_asked"))
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in zip(*parts, strict=True)
    ]


def _heading(name: str, taken: Container[str]) -> str:
    """Choose for a column of the user's, or another one, a heading that no column has."""
    heading = shown(name, _NAME)
    while heading in taken:
        heading += " (2)"
    return heading


def _columns(frame: pd.DataFrame, *headings: str) -> dict[str, list[Cell]]:
    """Write the columns under some headings, those that there are."""
    found = {}
    for heading in headings:
        name, missing, limit = _COLUMNS.get(heading, (heading, UNKNOWN, _LIMIT))
        if heading == "value" and name in frame:
            found[heading] = value_cells(frame[name], missing)
        elif name in frame:
            found[heading] = text_cells(frame[name], missing, limit)
    return found


def _contract(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Write whole contracts; a row without a token, of a wallet that is unknown, has none."""
    contracts = frame["token_address"].mask(
        frame["token_address"].isna() & frame["token_blockchain"].notna(), "native coin"
    )
    return {"contract": text_cells(contracts, missing="", limit=_ADDRESS)}
