"""What a caller is told of answers that say more, or other things, than they should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.errors import AnswerWarning
from walletframe.notice import notify
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from walletframe.frames import WalletRecord

STRANGERS_NAMED = 3


@dataclass(slots=True)
class Unread:
    """Counts of what could not be read, as records pass.

    Attributes
    ----------
    balances, of_balances : int
        How many balances, and of how many.
    wallets : int
        Whose they are.
    """

    balances: int = 0
    of_balances: int = 0
    wallets: int = 0

    def counted(self, records: Iterable[WalletRecord]) -> Iterator[WalletRecord]:
        """Hand records on, and count.

        Parameters
        ----------
        records : iterable of WalletRecord
            Any.

        Yields
        ------
        WalletRecord
            The same.
        """
        for record in records:
            balances = record.outcome.balances
            if balances is not None:
                self.balances += balances.unreadable
                self.of_balances += len(balances)
                self.wallets += bool(balances.unreadable)
            yield record


def warn_of_oddities(strangers: list[str], stranger_count: int, unread: Unread) -> None:
    """Warn once of all that was odd in the answers of a call.

    Parameters
    ----------
    strangers : list of str
        Wallets that nobody asked for, the first ones at least.
    stranger_count : int
        How many there were.
    unread : Unread
        What could not be read.

    Warns
    -----
    AnswerWarning
        Where there was anything.
    """
    said = []
    if stranger_count:
        said.append(
            f"the service answered {many(stranger_count, 'wallet')} that nobody asked for; left "
            f"out: {', '.join(strangers[:STRANGERS_NAMED])}"
        )
    if unread.balances:
        said.append(
            f"{unread.balances:,} of {many(unread.of_balances, 'balance')}, in "
            f"{many(unread.wallets, 'wallet')}, could not be read: their amount or their token is "
            "NA, .raw_amount has what was sent"
        )
    if said:
        notify("; ".join(said), AnswerWarning)
