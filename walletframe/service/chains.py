"""The blockchains that the simulated ledger knows: native coins, explorers, forms of addresses.

Data only: no explorer is ever called. The names are those in use by services of this shape; the
service's document does not list them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote

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


CHAINS = {
    chain.name: chain
    for chain in (
        Chain("ETH", "ETH", 18, 3100.0, "https://etherscan.io/address/"),
        Chain("BSC", "BNB", 18, 640.0, "https://bscscan.com/address/"),
        Chain("POLYGON", "POL", 18, 0.42, "https://polygonscan.com/address/"),
        Chain("ARBITRUM", "ETH", 18, 3100.0, "https://arbiscan.io/address/"),
        Chain("OPTIMISM", "ETH", 18, 3100.0, "https://optimistic.etherscan.io/address/"),
        Chain("BASE", "ETH", 18, 3100.0, "https://basescan.org/address/"),
        Chain("AVAX_CCHAIN", "AVAX", 18, 31.0, "https://snowtrace.io/address/"),
        Chain("GNOSIS", "xDAI", 18, 1.0, "https://gnosisscan.io/address/"),
        Chain("SOLANA", "SOL", 9, 170.0, "https://solscan.io/account/", "solana"),
        Chain("TRON", "TRX", 6, 0.24, "https://tronscan.org/#/address/", "tron"),
        Chain("NEAR", "NEAR", 24, 4.2, "https://nearblocks.io/address/", "near"),
        Chain("BTC", "BTC", 8, 64000.0, "https://mempool.space/address/", "none"),
        Chain("LTC", "LTC", 8, 82.0, "https://litecoinspace.org/address/", "none"),
        Chain("DOGE", "DOGE", 8, 0.16, "https://blockchair.com/dogecoin/address/", "none"),
        Chain("COSMOS", "ATOM", 6, 6.5, "https://www.mintscan.io/cosmos/address/", "none"),
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
