"""The bundled list, read once, when it is first asked for, and the lists that it was taken from.

The first rows were chosen one by one. The others were taken, in November 2026, from lists on npm:
tokens there that bear one of the symbols of the first. Each row names a list in `SOURCES` that
has its contract, symbol and decimals; all of these have a licence that permits any use.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

SOURCES = {
    "ledger": "Ledger's crypto assets 11.4.0, March 2026, Apache 2.0",
    "superchain": "Optimism's Superchain list 10.0.1757, May 2026, MIT",
    "aave": "the address book of Aave 4.44.22, March 2026, MIT",
    "wormhole": "the tokens of Wormhole's SDK 6.1.5, August 2026, Apache 2.0",
    "solana-registry": "Solana's token registry 0.2.4574, Apache 2.0",
    "superfluid": "Superfluid's list 5.38.0, August 2026, without its own tokens, MIT",
    "bitgo": "BitGo's statics 59.16.0, September 2026, Apache 2.0",
    "beefy": "Beefy's address book 0.59.18, September 2026, MIT",
    "1delta": "1delta's asset registry 0.0.99, October 2025, MIT",
    "swapkit": "SwapKit's tokens 2.4.0, May 2026, Apache 2.0",
    "yodl": "yodl's list 0.8.40, May 2026, MIT",
    "hand": "chosen by hand; those on EVM chains and Solana are on a list above, too",
}
# What scams imitate most; other coins have honest bridges under their own symbol in many places.
PRIME = frozenset({"BTC", "DAI", "ETH", "USDC", "USDT"})


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token on one blockchain.

    Parameters
    ----------
    blockchain : str
        Identifier of the blockchain.
    symbol : str
        How it calls itself.
    contract : str or None
        Its contract; None for a native coin.
    decimals : int
        Its decimals.
    asset : str
        What one unit of it stands for: of WETH it is ETH, of USDC.e USDC. A token of another
        project that chose the same symbol has that project's name here.
    kind : str
        ``native``, the blockchain's own coin; ``canonical``, by the asset's own issuer;
        ``wrapped``, a coin as a token, or kept for one; ``bridged``, what a bridge gives out.
    source : str
        The list that has it, a key of `SOURCES`.
    """

    blockchain: str
    symbol: str
    contract: str | None
    decimals: int
    asset: str
    kind: str
    source: str

    @property
    def is_imitated(self) -> bool:
        """Whether another contract with its symbol on its blockchain can only be an imitation.

        Returns
        -------
        bool
            False for namesakes, and for what a bridge gives out: other bridges do, too. True all
            the same for what was chosen by hand and, on a blockchain that the list covers, for
            the assets in `PRIME`, since there it has their bridges.
        """
        if self.kind != "bridged" or self.source == "hand":
            return not self.is_namesake
        prime = self.symbol.upper().removeprefix("W") in PRIME
        return prime and self.source != "wormhole" and self.blockchain in covered_blockchains()

    @property
    def is_namesake(self) -> bool:
        """Whether it is another project's token that bears a better known symbol.

        Returns
        -------
        bool
            True for one that is real, and yet not what most people mean by its symbol.
        """
        return self.kind == "canonical" and self.asset.lower() != self.symbol.lower()


@cache
def known_tokens() -> tuple[KnownToken, ...]:
    """Return the bundled list.

    Returns
    -------
    tuple of KnownToken
        The native coins first. Where a symbol stands on a blockchain more than once, the token
        that most people mean by it comes before its twins and namesakes.

    Examples
    --------
    >>> known_tokens()[0].symbol, known_tokens()[0].kind
    ('ETH', 'native')
    """
    text = resources.files(__package__).joinpath("known.csv").read_text(encoding="utf-8")
    return tuple(
        KnownToken(
            row["blockchain"],
            row["symbol"],
            row["contract"] or None,
            int(row["decimals"]),
            row["asset"],
            row["kind"],
            row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    )


@cache
def covered_blockchains() -> frozenset[str]:
    """Return the blockchains of which the bundled list has most of what is in use.

    Returns
    -------
    frozenset of str
        Those for which tokens were chosen by hand.

    Examples
    --------
    >>> "BASE" in covered_blockchains(), "BOBA" in covered_blockchains()
    (True, False)
    """
    return frozenset(
        token.blockchain for token in known_tokens() if token.contract and token.source == "hand"
    )


def native_coin(blockchain: str) -> KnownToken:
    """Return the coin of a blockchain.

    Parameters
    ----------
    blockchain : str
        Its identifier, in upper case; one of the bundled list.

    Returns
    -------
    KnownToken
        Without a contract.

    Examples
    --------
    >>> native_coin("NEAR").decimals
    24
    """
    return next(
        token
        for token in known_tokens()
        if token.blockchain == blockchain and token.contract is None
    )
