"""EVM blockchains: which chain id an identifier stands for, and what the native coin is called.

The native coin has 18 decimals on all of them: wallets accept no other number
(https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from walletframe.errors import SettingsError
from walletframe.settings import quoted
from walletframe.tokens import CHAIN_IDS, native_coin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COIN_DECIMALS = 18
CHAIN_HINT = 'if it is an EVM blockchain, give its id: chain_ids={"FANTOM": 250}'


@dataclass(frozen=True, slots=True)
class EvmChain:
    """An EVM blockchain.

    Attributes
    ----------
    chain_id : int
        What its nodes say of themselves.
    coin : str or None
        Symbol of the native coin; None where it is not known.
    """

    chain_id: int
    coin: str | None = None


@cache
def _usual() -> dict[str, EvmChain]:
    return {name: EvmChain(number, native_coin(name).symbol) for name, number in CHAIN_IDS.items()}


class Chains:
    """The blockchains that are known in one call.

    Parameters
    ----------
    chain_ids : mapping of str to int, optional
        Chain ids of more identifiers, in any case, or other ones than usual.

    Raises
    ------
    SettingsError
        Where an id is no positive integer.

    Examples
    --------
    >>> Chains({"FANTOM": 250}).find("fantom")
    EvmChain(chain_id=250, coin=None)
    """

    def __init__(self, chain_ids: Mapping[str, int] | None = None) -> None:
        given = dict(chain_ids or {})
        wrong = [f"{name!r}: {quoted(value)}" for name, value in given.items() if not _is_id(value)]
        if wrong:
            raise SettingsError(
                f"chain_ids: {', '.join(wrong)}", hint='a positive int for each, {"FANTOM": 250}'
            )
        more = {name.upper(): EvmChain(value) for name, value in given.items()}
        self._known = _usual() | more

    def find(self, blockchain: str) -> EvmChain | None:
        """Return what is known of a blockchain.

        Parameters
        ----------
        blockchain : str
            Its identifier, in any case.

        Returns
        -------
        EvmChain or None
            None where it is not known.
        """
        return self._known.get(blockchain.upper())

    def require(self, blockchains: Iterable[str]) -> None:
        """Say which blockchains are not known.

        Parameters
        ----------
        blockchains : iterable of str
            Identifiers.

        Raises
        ------
        SettingsError
            Naming all that are not known.
        """
        unknown = sorted({name for name in blockchains if self.find(name) is None})
        if unknown:
            named = ", ".join(map(repr, unknown))
            raise SettingsError(f"no chain id is known for {named}", hint=CHAIN_HINT)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
