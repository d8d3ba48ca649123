"""EVM blockchains: which chain id an identifier stands for, and what the native coin is called.

The native coin has 18 decimals on all of them: wallets accept no other number
(https://eips.ethereum.org/EIPS/eip-3085).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from walletframe.address import canonical_blockchain
from walletframe.chains import known_blockchains
from walletframe.errors import Argument, Either, SettingsError, Spelled
from walletframe.settings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COIN_DECIMALS = 18
CHAIN_HINT = Spelled(
    "if it is an EVM blockchain, give its id: ",
    Argument("chain_ids", Either('{"HYPEREVM": 999}', "HYPEREVM 999")),
)


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
    return {
        chain.identifier: EvmChain(chain.chain_id, chain.coin)
        for chain in known_blockchains().values()
        if chain.chain_id is not None
    }


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
    >>> Chains().find("fantom"), Chains({"HYPEREVM": 999}).find("HyperEVM")
    (EvmChain(chain_id=250, coin='FTM'), EvmChain(chain_id=999, coin=None))
    """

    def __init__(self, chain_ids: Mapping[str, int] | None = None) -> None:
        given = dict(chain_ids or {})
        wrong = [f"{name!r}: {quoted(value)}" for name, value in given.items() if not _is_id(value)]
        if wrong:
            raise SettingsError(
                Spelled(Argument("chain_ids", ""), f": {', '.join(wrong)}"),
                hint=Spelled(
                    "a positive int for each, ",
                    Either('{"HYPEREVM": 999}', "such as HYPEREVM 999"),
                ),
            )
        usual = _usual()
        named = {canonical_blockchain(name): EvmChain(value) for name, value in given.items()}
        others = {
            name: chain
            for name, chain in named.items()
            if name not in usual or usual[name].chain_id != chain.chain_id
        }
        self._known = usual | others

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
        return self._known.get(canonical_blockchain(blockchain))

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
