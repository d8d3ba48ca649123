"""The wallets that are asked for, and what the caller is told of the list."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from walletframe.address.lists import distinct_wallets
from walletframe.chains import doubt, known_blockchains
from walletframe.errors import AddressError, InputWarning, SettingsError
from walletframe.notice import notify
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import OnUnreadable, Reading

_NAMED = 3
_QUOTED = 80


def asked_wallets(
    reading: Reading, on_unreadable: OnUnreadable, *, place: Callable[[int], str] = str
) -> list[WalletAddress]:
    """Return the distinct wallets of a list, and tell what is odd about it.

    Parameters
    ----------
    reading : Reading
        What was read.
    on_unreadable : {"raise", "drop"}
        What to do with rows that can't be read.
    place : callable, optional
        Names a position.

    Returns
    -------
    list of WalletAddress
        In the order of the first mention.

    Raises
    ------
    AddressError
        With ``"raise"``, naming every row that can't be read.
    SettingsError
        Where `on_unreadable` is another word.

    Warns
    -----
    InputWarning
        Where wallets are repeated or rows left out.
    """
    _refuse_unreadable(reading, on_unreadable)
    wallets = distinct_wallets(reading.wallets)
    if len(wallets) < len(reading.wallets) or reading.problems:
        notify(_summed_up(reading, len(wallets), place), InputWarning)
    return wallets


def wallets_to_ask(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return the distinct wallets of a list, and tell what is odd about it and about them.

    Parameters
    ----------
    reading : Reading
        What was read.
    on_unreadable : {"raise", "drop"}
        What to do with rows that can't be read.

    Returns
    -------
    list of WalletAddress
        As from `asked_wallets`.

    Warns
    -----
    InputWarning
        As `asked_wallets` and `tell_doubts` do.
    """
    wallets = asked_wallets(reading, on_unreadable)
    tell_doubts(wallets)
    return wallets


def accepted_wallets(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return the wallets of a list, repeats included, and tell what was left out.

    Parameters
    ----------
    reading : Reading
        What was read.
    on_unreadable : {"raise", "drop"}
        What to do with rows that can't be read.

    Returns
    -------
    list of WalletAddress
        At `Reading.places`.

    Raises
    ------
    AddressError
        With ``"raise"``, naming every row that can't be read.
    SettingsError
        Where `on_unreadable` is another word.

    Warns
    -----
    InputWarning
        Where rows are left out.
    """
    _refuse_unreadable(reading, on_unreadable)
    if reading.problems:
        notify(_summed_up(reading, len(distinct_wallets(reading.wallets)), str), InputWarning)
    return reading.wallets


def doubts_about(wallets: Iterable[WalletAddress]) -> str:
    """Say which blockchains may be mistaken, and which ones were meant.

    Parameters
    ----------
    wallets : iterable of WalletAddress
        Those that are to be asked for.

    Returns
    -------
    str
        One line; nothing where all are known.

    Examples
    --------
    >>> from walletframe.address import parse_wallets
    >>> doubts_about(parse_wallets("Ethereum.0x1"))
    'Ethereum: did you mean ETH? the service knows 107, see wf.blockchains()'
    """
    names = dict.fromkeys(wallet.blockchain for wallet in wallets)
    doubts = [each for each in map(doubt, names) if each]
    if not doubts:
        return ""
    said = " ".join(each if each.endswith("?") else f"{each};" for each in doubts[:_NAMED])
    more = f" and {len(doubts) - _NAMED:,} more;" if len(doubts) > _NAMED else ""
    return f"{said}{more} the service knows {len(known_blockchains())}, see wf.blockchains()"


def tell_doubts(wallets: Iterable[WalletAddress]) -> None:
    """Warn of blockchains that are not known.

    Parameters
    ----------
    wallets : iterable of WalletAddress
        Those that are to be asked for.

    Warns
    -----
    InputWarning
        Once, with `doubts_about` them.
    """
    doubts = doubts_about(wallets)
    if doubts:
        notify(doubts, InputWarning)


def check_unreadable(wish: str | None) -> None:
    """Refuse a wish that nobody knows.

    Parameters
    ----------
    wish : str
        The caller's.

    Raises
    ------
    SettingsError
        For another word than ``raise`` and ``drop``.
    """
    if wish not in ("raise", "drop"):
        raise SettingsError(f"on_unreadable: {wish!r}", hint="raise or drop")


def _refuse_unreadable(reading: Reading, on_unreadable: OnUnreadable) -> None:
    check_unreadable(on_unreadable)
    if reading.problems and on_unreadable == "raise":
        raise AddressError(reading.problems, reading.where)


def _summed_up(reading: Reading, distinct: int, place: Callable[[int], str]) -> str:
    counts = {
        "repeated": len(reading.wallets) - distinct,
        "empty": reading.empty,
        "left out, since they can't be read": len(reading.problems),
    }
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    lead = f"{reading.rows:,} row{'s'[: reading.rows != 1]}, {distinct:,} wallet"
    named = [
        f"{place(number)}: {shown(value, _QUOTED)!r}: {reason}"
        for number, value, reason in islice(reading.problems, _NAMED)
    ]
    reasons = f"; {reading.where}: {'; '.join(named)}" if named else ""
    return f"{lead}{'s'[: distinct != 1]} ({told}{reasons})"
