"""Tokens that many people know: their real contracts, and which of them are of the same asset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from walletframe.chains import known_blockchains, known_rows

# The first rows of known.csv were chosen one by one: native coins, and the tokens that are used and
# imitated most; the others for bearing a symbol of these. Each names the list on npm, of November
# 2026, that has its contract, symbol and decimals; all of those are permissively licensed.
SOURCES = {
    "circle": "Circle's Bridge Kit 1.15.1, September 2026, Apache 2.0",
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
# Never added up. BTT: one unit of the old contracts is 1,000 of the new ones. EURe: the first
# contract on a blockchain shows the balances of the second. FRAX, FXS: the symbol of one has become
# that of the other. The contract is that of the first tBTC, which was replaced.
_NEVER_ADDED = frozenset({"BTT", "EURe", "FRAX", "FXS"})
_REPLACED = frozenset({"0x8dAEBADE922dF735c38C80C7eBD708Af50815fAa"})
ASSET_KINDS = ("native", "canonical", "bridged")
_TEST_NETWORKS = ("GOERLI", "SEPOLIA")
# What scams imitate most; other coins have honest bridges under their own symbol in many places.
PRIME = frozenset({"BTC", "DAI", "ETH", "USDC", "USDT"})


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token on one blockchain; the contract of a native coin is None."""

    blockchain: str
    symbol: str
    contract: str | None
    decimals: int
    asset: str  # ETH for WETH; its project's name where that took another's symbol
    kind: str  # "native", "canonical" (of the asset's own issuer), "wrapped" or "bridged"
    source: str  # a key of `SOURCES`

    @property
    def is_imitated(self) -> bool:
        """Whether another contract with its symbol on its blockchain can only be an imitation."""
        # Not so of what one bridge gives out, since others do, too: only where the list has most of
        # a blockchain's bridges, and of what is imitated most.
        if self.kind != "bridged" or self.source == "hand":
            return not self.is_namesake
        prime = self.symbol.upper().removeprefix("W") in PRIME
        return prime and self.source != "wormhole" and self.blockchain in covered_blockchains()

    @property
    def is_namesake(self) -> bool:
        """Whether it is real, and yet not what most people mean by its symbol."""
        return self.kind == "canonical" and self.asset.lower() != self.symbol.lower()


@cache
def known_tokens() -> tuple[KnownToken, ...]:
    """Return the list, coins first; of equal symbols on a blockchain the usual one comes first."""
    return tuple(
        KnownToken(chain, symbol, contract or None, int(decimals), *rest)
        for chain, symbol, contract, decimals, *rest in known_rows(__package__)
    )


@cache
def covered_blockchains() -> frozenset[str]:
    """Return those of which the list has most of what is in use: chosen by hand."""
    return frozenset(
        token.blockchain for token in known_tokens() if token.contract and token.source == "hand"
    )


def native_coin(blockchain: str) -> KnownToken:
    """Return the coin of a blockchain of the list, whose identifier is in capitals."""
    coins = (token for token in known_tokens() if token.contract is None)
    return next(coin for coin in coins if coin.blockchain == blockchain)


@dataclass(frozen=True, slots=True)
class AssetContract:
    """A contract of an asset that is on several blockchains, None for a coin."""

    asset: str
    blockchain: str
    contract: str | None
    symbol: str | None
    kind: str  # "native", "canonical", or "bridged": what somebody else gives out for it


@cache
def asset_contracts() -> tuple[AssetContract, ...]:
    """Return what is of the same asset, unit for unit, asset by asset: of each the issuer's first.

    Coins are those of `walletframe.chains`, and the one of a test network is worth nothing.
    """
    known = [
        token
        for token in known_tokens()
        if not (
            token.is_namesake
            or token.symbol.endswith("_")  # a former contract at Ledger
            or token.contract in _REPLACED
            or token.asset in _NEVER_ADDED
        )
    ]
    own = {(token.blockchain, token.asset) for token in known if token.kind in ASSET_KINDS[:2]}
    named = attrgetter("asset", "blockchain", "contract", "symbol")
    listed = [
        AssetContract(*named(token), token.kind.replace("wrapped", "bridged"))
        for token in known
        # Beside the issuer's, what a list of many projects has may be a former contract of theirs.
        if (token.blockchain, token.asset) not in own
        or token.kind != "bridged"
        or token.source in ("hand", "wormhole", "beefy")
    ]
    coins = {token.blockchain for token in known if token.kind == "native"}
    listed += [
        AssetContract(chain.coin, chain.identifier, None, chain.coin, "native")
        for chain in known_blockchains().values()
        if chain.coin
        and chain.identifier not in coins
        and not chain.identifier.startswith(_TEST_NETWORKS)
    ]
    assets: dict[str, list[AssetContract]] = {}
    for each in listed:
        assets.setdefault(each.asset, []).append(each)
    return tuple(
        each
        for contracts in assets.values()
        if len(contracts) > 1
        for each in sorted(contracts, key=lambda each: ASSET_KINDS.index(each.kind))
    )
