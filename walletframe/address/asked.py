"""The list of wallets to request, without duplicates, and the warnings about it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from walletframe.address.forms import A_FILE, A_FILE_IN_SHELL
from walletframe.address.lists import distinct_wallets
from walletframe.chains import doubt, known_blockchains
from walletframe.errors import AddressError, Either, InputWarning, SettingsError, Spelled
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import OnUnreadable, Reading
    from walletframe.errors import Piece, Text

_NAMED = 3
_QUOTED = 80


def asked_wallets(
    reading: Reading, on_unreadable: OnUnreadable, *, place: Callable[[int], str] = str
) -> list[WalletAddress]:
    """Return the distinct wallets in the order of the first mention; warn of repeats and gaps."""
    _refuse_unreadable(reading, on_unreadable)
    wallets = distinct_wallets(reading.wallets)
    if len(wallets) < len(reading.wallets) or reading.problems:
        notify(_summed_up(reading, len(wallets), place), InputWarning)
    return wallets


def wallets_to_ask(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return what `asked_wallets` does, and warn of blockchains that are not known."""
    wallets = asked_wallets(reading, on_unreadable)
    warn_of_doubts(wallets)
    return wallets


def accepted_wallets(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return the wallets at `Reading.places`, repeats included; warn of what was left out."""
    _refuse_unreadable(reading, on_unreadable)
    if reading.problems:
        notify(_summed_up(reading, len(distinct_wallets(reading.wallets)), str), InputWarning)
    return reading.wallets


def doubts_about(wallets: Iterable[WalletAddress]) -> Text:
    """Say on one line which blockchains may be mistaken, and which were meant; else nothing."""
    names = dict.fromkeys(wallet.blockchain for wallet in wallets)
    doubts = [each for each in map(doubt, names) if each]
    if not doubts:
        return ""
    said = " ".join(each if each.endswith("?") else f"{each};" for each in doubts[:_NAMED])
    more = f" and {len(doubts) - _NAMED:,} more;" if len(doubts) > _NAMED else ""
    known = f"{said}{more} {many(len(known_blockchains()), 'blockchain')} are known"
    return Spelled(known, Either(", see wf.blockchains()"))


def warn_of_doubts(wallets: Iterable[WalletAddress]) -> None:
    """Warn of blockchains that are not known."""
    doubts = doubts_about(wallets)
    if doubts:
        notify(doubts, InputWarning)


def check_unreadable(choice: str | None) -> None:
    """Refuse another word than ``raise`` and ``drop``."""
    if choice not in ("raise", "drop"):
        raise SettingsError(f"on_unreadable: {choice!r}", hint="raise or drop")


def _refuse_unreadable(reading: Reading, on_unreadable: OnUnreadable) -> None:
    check_unreadable(on_unreadable)
    if reading.problems and on_unreadable == "raise":
        raise AddressError(reading.problems, reading.where)


def _summed_up(reading: Reading, distinct: int, place: Callable[[int], str]) -> Text:
    counts = {
        "repeated": len(reading.wallets) - distinct,
        "empty": reading.empty,
        "unreadable and left out": len(reading.problems),
    }
    counted = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    pieces: list[Piece] = [f"{many(reading.rows, 'row')}, {many(distinct, 'wallet')} ({counted}"]
    between = f"; {reading.where}: "
    for number, value, reason in islice(reading.problems, _NAMED):
        why = Either(reason, A_FILE_IN_SHELL) if reason == A_FILE else reason
        pieces += [f"{between}{place(number)}: {shown(value, _QUOTED)!r}: ", why]
        between = "; "
    return Spelled(*pieces, ")")
