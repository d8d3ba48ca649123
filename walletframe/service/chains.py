"""The blockchains that the simulated ledger knows: native coins, explorers, forms of addresses.

Data only: no explorer is ever called. The names are those in use by services of this shape; the
service's document does not list them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote

from walletframe.tokens import native_coin

Form: TypeAlias = Literal["hex", "solana", "tron", "near", "none"]
_ANY_EXPLORER = "https://blockscan.com/address/"


@dataclass(frozen=True, slots=True)
class Chain:
    """A blockchain.

    Parameters
    ----------
    name : str
        Its identifier.
    coin : str
        Symbol of the native coin.
    decimals : int
        Decimals of the native coin.
    price : float
        A made-up price of the native coin.
    explorer : str
        What stands before the address in the explorer's page for it.
    form : str
        How its token contracts are written; ``"none"`` where it has no tokens.
    """

    name: str
    coin: str
    decimals: int
    price: float
    explorer: str
    form: Form = "hex"


def _chain(name: str, price: float, explorer: str, form: Form = "hex") -> Chain:
    coin = native_coin(name)
    return Chain(name, coin.symbol, coin.decimals, price, explorer, form)


CHAINS = {
    chain.name: chain
    for chain in (
        _chain("ETH", 3100.0, "https://etherscan.io/address/"),
        _chain("BSC", 640.0, "https://bscscan.com/address/"),
        _chain("POLYGON", 0.42, "https://polygonscan.com/address/"),
        _chain("ARBITRUM", 3100.0, "https://arbiscan.io/address/"),
        _chain("OPTIMISM", 3100.0, "https://optimistic.etherscan.io/address/"),
        _chain("BASE", 3100.0, "https://basescan.org/address/"),
        _chain("AVAX_CCHAIN", 31.0, "https://snowtrace.io/address/"),
        _chain("GNOSIS", 1.0, "https://gnosisscan.io/address/"),
        _chain("SOLANA", 170.0, "https://solscan.io/account/", "solana"),
        _chain("TRON", 0.24, "https://tronscan.org/#/address/", "tron"),
        _chain("NEAR", 4.2, "https://nearblocks.io/address/", "near"),
        _chain("BTC", 64000.0, "https://mempool.space/address/", "none"),
        _chain("LTC", 82.0, "https://litecoinspace.org/address/", "none"),
        _chain("DOGE", 0.16, "https://blockchair.com/dogecoin/address/", "none"),
        _chain("COSMOS", 6.5, "https://www.mintscan.io/cosmos/address/", "none"),
    )
}


def explorer_url(blockchain: str, address: str) -> str:
    """Return the page of an address on a block explorer.

    Parameters
    ----------
    blockchain : str
        Identifier of the blockchain, in any case.
    address : str
        The address.

    Returns
    -------
    str
        The page; for an unknown blockchain that of an explorer for many of them.

    Examples
    --------
    >>> explorer_url("NEAR", "alice.near")
    'https://nearblocks.io/address/alice.near'
    """
    chain = CHAINS.get(blockchain.upper())
    return (chain.explorer if chain else _ANY_EXPLORER) + quote(address, safe="")
