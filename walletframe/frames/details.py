"""`WalletDetails`: the two DataFrames of a fetch, and what a person sees of them first."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from walletframe.frames.contract import SIMULATED


class WalletDetails(NamedTuple):
    """What a fetch found: one DataFrame of wallets, one of holdings.

    Attributes
    ----------
    wallets : DataFrame
        One row for each distinct wallet asked for, in the order asked: ``blockchain``,
        ``address``, ``status``, ``error``, ``tokens``, ``explorer_url``, ``fetched_at`` (UTC),
        ``source``, ``service``.
    holdings : DataFrame
        One row for each balance of the wallets that are ok: ``blockchain``, ``address``,
        ``symbol``, ``token_address``, ``amount`` (whole tokens, exact), ``decimals``,
        ``raw_amount`` (base units, as sent), ``token_blockchain``, ``price``.

    Notes
    -----
    A wallet that failed has no holdings: check ``wallets.status`` before adding anything up.
    """

    wallets: pd.DataFrame
    holdings: pd.DataFrame

    def __repr__(self) -> str:
        return "\n".join(summary_lines(self.wallets))


def summary_lines(wallets: pd.DataFrame) -> list[str]:
    """Say in a few lines how complete a fetch is and where its answers came from.

    Parameters
    ----------
    wallets : DataFrame
        The ``wallets`` of a `WalletDetails`.

    Returns
    -------
    list of str
        Counts of wallets, statuses, balances, blockchains and sources; a last line marks
        simulated data. Nothing a stranger wrote is quoted.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> summary_lines(assemble([]).wallets)
    ['0 wallets on 0 blockchains', '0 balances; no answer to use']
    """
    chains = wallets["blockchain"].str.upper().nunique()
    statuses = ", ".join(_counts(wallets["status"]))
    lines = [f"{many(len(wallets), 'wallet')} on {many(chains, 'blockchain')}"]
    if statuses:
        lines[0] += f": {statuses}"
    tokens = int(wallets["tokens"].sum())
    unknown = int(((wallets["status"] == "ok") & wallets["tokens"].isna()).sum())
    balances = many(tokens, "balance")
    if unknown:
        balances += f" (unknown for {many(unknown, 'wallet')} that answered without any list)"
    sources = " and ".join(f"{count} {_SOURCES[name]}" for name, count in _pairs(wallets["source"]))
    oldest = wallets["fetched_at"].min()
    age = "" if pd.isna(oldest) else f", the oldest of {oldest:%Y-%m-%d %H:%M} UTC"
    lines.append(f"{balances}; " + (f"{sources}{age}" if sources else "no answer to use"))
    older = int(((wallets["status"] == "ok") & wallets["error"].notna()).sum())
    if older:
        lines.append(f"{many(older, 'older answer')} stood in where no newer one was to be had.")
    if (wallets["service"] == SIMULATED).any():
        lines.append("Simulated data: the sandbox made it up.")
    return lines


_SOURCES = {
    "service": "answered by the service",
    "cache": "by the local cache",
    "stale": "by the local cache though out of date",
}


def _pairs(column: pd.Series) -> list[tuple[str, int]]:
    counts = column.value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items() if count]


def _counts(column: pd.Series) -> list[str]:
    return [f"{count} {name}" for name, count in _pairs(column)]


def many(count: int, noun: str) -> str:
    """Return a count with its noun.

    Parameters
    ----------
    count : int
        How many.
    noun : str
        One of them.

    Returns
    -------
    str
        With commas, and an s where it takes one.

    Examples
    --------
    >>> many(1, "balance"), many(2000, "balance")
    ('1 balance', '2,000 balances')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
