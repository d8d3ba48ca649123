"""The composition of a report: frames in, `Content` out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.analysis import flag_spam, value
from walletframe.frames import (
    failure_lines,
    is_simulated,
    known_wallets,
    stood_in_for,
    summary_lines,
    token_identities,
    worth,
)
from walletframe.history import compare
from walletframe.numerals import many
from walletframe.reports.content import Content
from walletframe.reports.figures import fitting_charts
from walletframe.reports.listings import (
    changes_listing,
    holdings_listing,
    suspects_listing,
    totals_listing,
    wallets_listing,
)
from walletframe.reports.methods import method_notes
from walletframe.text import shown

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from walletframe.frames import WalletDetails
    from walletframe.reports.content import Listing


def compose(
    details: WalletDetails, *, before: WalletDetails | None, title: str, made: datetime
) -> Content:
    """Decide what a report says of a fetch, and of what changed since an earlier one."""
    wallets, holdings = details.wallets, _flagged(_valued(details.holdings))
    suspect = holdings["is_spam"].to_numpy()
    others = holdings[~suspect]
    changes = [] if before is None else [changes_listing(compare(before, details))]
    return Content(
        title=title,
        made=f"{made:%Y-%m-%d %H:%M} UTC",
        simulated=is_simulated(wallets),
        facts=_facts(wallets, others),
        summary=_summary(wallets, holdings, before),
        gaps=_gaps(wallets, others),
        reasons=tuple(map(_spoken, failure_lines(wallets))),
        charts=tuple(fitting_charts(others, wallets)),
        listings=(
            *changes,
            totals_listing(others, wallets),
            wallets_listing(others, wallets),
            holdings_listing(others),
            *_suspects(holdings[suspect]),
        ),
        methods=method_notes(
            others,
            own_prices="value" in details.holdings,
            spam=bool(suspect.any()),
            compared=before is not None,
        ),
    )


def _valued(holdings: pd.DataFrame) -> pd.DataFrame:
    if "value" in holdings or "price" not in holdings or holdings["price"].isna().all():
        return holdings
    return value(holdings)


def _flagged(holdings: pd.DataFrame) -> pd.DataFrame:
    flagged = {"is_spam", "spam_reasons"} <= {*holdings.columns}
    return holdings if flagged else flag_spam(holdings)


def _suspects(suspects: pd.DataFrame) -> list[Listing]:
    return [suspects_listing(suspects)] if len(suspects) else []


def _facts(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    facts = [
        ("wallets asked", f"{len(wallets):,}"),
        ("wallets known", f"{int(known_wallets(wallets, stale=True).sum()):,}"),
        ("tokens", f"{len(token_identities(holdings).keys):,}"),
        ("balances", f"{len(holdings):,}"),
    ]
    if found := worth(holdings):
        facts.append((f"value of {many(found.known, 'balance')}", found.total))
    return tuple(facts)


def _summary(
    wallets: pd.DataFrame, holdings: pd.DataFrame, before: WalletDetails | None
) -> tuple[str, ...]:
    counts = summary_lines(wallets, holdings)
    # lines with a full stop are in the gaps, or in the mark of simulated data
    lines = [f"{line.replace('_', ' ')}." for line in counts if not line.endswith(".")]
    suspects = holdings[holdings["is_spam"].to_numpy()]
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
        earlier = before.wallets["fetched_at"].dropna()
        when = f"{earlier.max():%Y-%m-%d %H:%M} UTC" if len(earlier) else "an unknown time"
        lines.append(f"Compared with an earlier fetch, whose last answer is of {when}.")
    return tuple(lines)


def _gaps(wallets: pd.DataFrame, holdings: pd.DataFrame) -> tuple[str, ...]:
    lines = []
    unknown = int((~known_wallets(wallets, stale=True)).sum())
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


def _spoken(line: str) -> str:
    """Write a status in words, and leave the reason behind it as it is."""
    status, colon, reason = line.partition(": ")
    return f"{status.replace('_', ' ')}{colon}{reason}"
