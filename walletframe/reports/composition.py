"""The composition of a report: frames in, `Content` out, with the methods in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis import flag_spam, value
from walletframe.analysis.sums import totals_of
from walletframe.frames import (
    WalletDetails,
    failure_lines,
    is_simulated,
    known_wallets,
    read_groups,
    stood_in_for,
    summary_lines,
    token_identities,
    worth,
)
from walletframe.frames.groups import SNAPSHOT
from walletframe.history import compare
from walletframe.numerals import many
from walletframe.reports.figures import fitting_charts, grouped_chart
from walletframe.reports.listings import (
    changes_listing,
    grouped_listing,
    holdings_listing,
    suspects_listing,
    totals_listing,
    wallets_listing,
)
from walletframe.text import shown

if TYPE_CHECKING:
    from datetime import datetime

    from walletframe.reports.figures import Chart, Grouping
    from walletframe.reports.listings import Listing

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
    listings = []
    if before is not None:
        listings.append(_changed(before, WalletDetails(wallets, holdings)))
    drawn = fitting_charts(others, wallets)
    if grouping is not None:
        grouped = _grouped(others, wallets, grouping)
        listings.append(grouped)
        if drawn:
            drawn.insert(0, grouped_chart(others, wallets, grouping, grouped.heading))
    listings.append(totals_listing(others, wallets))
    listings.append(wallets_listing(others, wallets))
    listings.append(holdings_listing(others, wallets))
    if len(suspects):
        listings.append(suspects_listing(suspects))
    prices = _OWN_PRICES if "value" in details.holdings else _SENT_PRICES
    methods = [_EXACT, _TOKENS, _FAILED, prices if "value" in holdings else _NO_PRICES]
    methods += [_SPAM] if len(suspects) else []
    methods += [_CHANGES] if before is not None else []
    reasons = (line.partition(": ") for line in failure_lines(wallets))
    return Content(
        title=title,
        made=f"{made:%Y-%m-%d %H:%M} UTC",
        simulated=is_simulated(wallets),
        facts=_facts(wallets, others),
        summary=_summary(wallets, holdings, suspects, before),
        gaps=_gaps(wallets, others),
        reasons=tuple(f"{status.replace('_', ' ')}{colon}{why}" for status, colon, why in reasons),
        charts=tuple(drawn),
        listings=tuple(listings),
        methods=(*methods, _TIMES),
    )


def _changed(before: WalletDetails, after: WalletDetails) -> Listing:
    """List changes without suspects, on both sides: `after` says which, `before` of what it lacks.

    They have a table of their own, and may have been dropped from one of the two.
    """
    sides = [before.holdings, after.holdings]
    if "is_spam" not in sides[0]:
        sides[0] = flag_spam(sides[0])
    names = ["token_blockchain", "token_address"]
    tokens = token_identities(pd.concat([side[names] for side in sides], ignore_index=True))
    then, now = np.split(tokens.codes, [len(sides[0])])
    is_suspect = np.zeros(len(tokens.keys), dtype=bool)
    is_suspect[then[sides[0]["is_spam"].to_numpy(bool)]] = True
    is_suspect[now] = False
    is_suspect[now[sides[1]["is_spam"].to_numpy(bool)]] = True
    changes = compare(
        before._replace(holdings=sides[0][~is_suspect[then]]),
        after._replace(holdings=sides[1][~is_suspect[now]]),
    )
    return changes_listing(changes, after.wallets, without_suspects=bool(is_suspect.any()))


def _grouped(holdings: pd.DataFrame, wallets: pd.DataFrame, grouping: Grouping) -> Listing:
    """Add up by what was asked for."""
    positions, groups = read_groups(
        holdings, grouping.by, wallets, assets=grouping.assets, bridged=grouping.bridged
    )
    title = f"Totals by {' and '.join(shown(name) for name in groups.names)}"
    return grouped_listing(totals_of(positions, groups), [*groups.columns], title)


def _facts(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    facts = [
        ("wallets asked", f"{len(wallets):,}"),
        ("wallets known", f"{int(known_wallets(wallets).sum()):,}"),
        ("tokens", f"{len(token_identities(holdings).keys):,}"),
        ("balances", f"{len(holdings):,}"),
    ]
    if found := worth(holdings):
        facts.append((f"value of {many(found.known, 'balance')}", found.total))
    return tuple(facts)


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
    lines = []
    unknown = int((~known_wallets(wallets)).sum())
    if unknown:
        lines.append(
            f"The balances of {unknown:,} of {many(len(wallets), 'wallet')} are unknown. "
            "Every total is of the other wallets alone: the true one may be higher."
        )
    older = int(stood_in_for(wallets).sum())
    if older:
        lines.append(f"For {older:,} of the wallets an older answer had to stand in.")
    amounts = int(holdings["amount"].isna().sum())
    if amounts:
        lines.append(f"Of unknown amount, since it could not be read: {many(amounts, 'balance')}.")
    if (found := worth(holdings)) and found.unpriced:
        lines.append(f"Without a price, and in no value: {many(found.unpriced, 'balance')}.")
    return tuple(lines)
