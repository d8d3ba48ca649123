"""The desk: from a request's addresses to the answer, failures by chance included.

Knows the ledger and nothing of HTTP. A wallet fails or not by the seed, its address, and how many
times it was asked for before, so that asking again can succeed, and a second run fails alike.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from walletframe.address import WalletAddress
from walletframe.errors import AddressError
from walletframe.service import problems
from walletframe.service.chance import Chance
from walletframe.service.ledger import failed_detail
from walletframe.service.problems import RefusedError
from walletframe.wire.shapes import WalletDetailsAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.service.ledger import Ledger
    from walletframe.service.options import Behaviour


def read_addresses(texts: Sequence[str]) -> list[WalletAddress]:
    """Read the address parameters of a request.

    Parameters
    ----------
    texts : sequence of str
        ``<BLOCKCHAIN>.<WALLET_ADDRESS>``, split at the first dot; texts that are equal count once.

    Returns
    -------
    list of WalletAddress
        In the order asked.

    Raises
    ------
    RefusedError
        With status 400, where there is none or one can't be read.
    """
    if not texts:
        raise RefusedError(problems.NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            raise problems.bad_address(position, error.problems[0][2]) from None
    return list(wallets)


class Desk:
    """Answers for wallets, and remembers how often each was asked for.

    Parameters
    ----------
    ledger : Ledger
        Who holds what.
    behaviour : Behaviour
        Its `failure_share` and `seed` are used.
    """

    __slots__ = ("_asked", "_behaviour", "_ledger")

    def __init__(self, ledger: Ledger, behaviour: Behaviour) -> None:
        self._ledger = ledger
        self._behaviour = behaviour
        self._asked: Counter[WalletAddress] = Counter()

    def answer(self, wallets: Sequence[WalletAddress]) -> WalletDetailsAnswer:
        """Return the answer to one request.

        Parameters
        ----------
        wallets : sequence of WalletAddress
            The wallets asked for, in whatever spelling.

        Returns
        -------
        WalletDetailsAnswer
            One entry for each, in the same order; spellings of one wallet fail together.
        """
        failing = {one: self._fails(one) for one in {wallet.canonical for wallet in wallets}}
        return WalletDetailsAnswer(
            [
                failed_detail(wallet) if failing[wallet.canonical] else self._ledger.detail(wallet)
                for wallet in wallets
            ]
        )

    def _fails(self, wallet: WalletAddress) -> bool:
        before = self._asked[wallet]
        self._asked[wallet] += 1
        chance = Chance("failure", self._behaviour.seed, wallet, before)
        return chance.hits(self._behaviour.failure_share)
