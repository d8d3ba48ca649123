"""Well-known tokens: their genuine contracts, and the assets that they represent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from walletframe.chains import known_blockchains, read_known_csv

# The first rows of known.csv were chosen by hand: native coins, and the tokens that are used and
# imitated most. The other rows have the same symbols. Each row names the list on npm, of November
# 2026, that has its contract, symbol and decimals; all of the lists are permissively licensed.
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
# Contracts of these assets are never summed. BTT: one unit of the old contracts is 1,000 of the new
# ones. EURe: the first contract on a blockchain shows the balances of the second. FRAX, FXS: the
# symbol of one has become that of the other.
_NEVER_SUMMED = frozenset({"BTT", "EURe", "FRAX", "FXS"})
_REPLACED = frozenset({"0x8dAEBADE922dF735c38C80C7eBD708Af50815fAa"})  # the first tBTC
ASSET_KINDS = ("native", "canonical", "bridged")
_TEST_NETWORKS = ("GOERLI", "SEPOLIA")
# What scams imitate most; other coins have honest bridges under their symbol in many places.
MOST_IMITATED = frozenset({"BTC", "DAI", "ETH", "USDC", "USDT"})


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A well-known token on one blockchain; the contract of a native coin is None."""

    blockchain: str
    symbol: str
    contract: str | None
    decimals: int
    asset: str  # ETH for WETH; the project's name if it uses another project's symbol
    kind: str  # "native", "canonical" (of the asset's own issuer), "wrapped" or "bridged"
    source: str  # a key of `SOURCES`

    @property
    def owns_symbol(self) -> bool:
        """Whether another contract with its symbol on its blockchain has to be an imitation."""
        # Several bridges can issue one symbol. So a bridged token owns its symbol only on a
        # blockchain of which the list has most bridges, and if it is among the most imitated.
        if self.kind != "bridged" or self.source == "hand":
            return not self.shares_symbol
        imitated = self.symbol.upper().removeprefix("W") in MOST_IMITATED
        return imitated and self.source != "wormhole" and self.blockchain in covered_blockchains()

    @property
    def shares_symbol(self) -> bool:
        """Whether it is genuine, but its symbol usually means another project's token."""
        return self.kind == "canonical" and self.asset.lower() != self.symbol.lower()


@cache
def known_tokens() -> tuple[KnownToken, ...]:
    """Return the tokens, coins first; of equal symbols on a blockchain the usual one is first."""
    return tuple(
        KnownToken(chain, symbol, contract or None, int(decimals), *rest)
        for chain, symbol, contract, decimals, *rest in read_known_csv(__package__)
    )


@cache
def covered_blockchains() -> frozenset[str]:
    """Return the blockchains of which the list has most tokens in use: those chosen by hand."""
    return frozenset(
        token.blockchain for token in known_tokens() if token.contract and token.source == "hand"
    )


def native_coin(blockchain: str) -> KnownToken:
    """Return the native coin of a listed blockchain; its identifier is in capitals."""
    coins = (token for token in known_tokens() if token.contract is None)
    return next(coin for coin in coins if coin.blockchain == blockchain)


@dataclass(frozen=True, slots=True)
class AssetContract:
    """One contract of an asset, None for a native coin."""

    asset: str
    blockchain: str
    contract: str | None
    symbol: str | None
    kind: str  # "native", "canonical", or "bridged" (issued by somebody else)


@cache
def asset_contracts() -> tuple[AssetContract, ...]:
    """Return the contracts of assets that have several, equal unit for unit, the issuer's first.

    Native coins come from `walletframe.chains`, without the worthless ones of test networks.
    """
    known = [
        token
        for token in known_tokens()
        if not (
            token.shares_symbol
            or token.symbol.endswith("_")  # a former contract at Ledger
            or token.contract in _REPLACED
            or token.asset in _NEVER_SUMMED
        )
    ]
    issued = {(token.blockchain, token.asset) for token in known if token.kind in ASSET_KINDS[:2]}
    fields_of = attrgetter("asset", "blockchain", "contract", "symbol")
    listed = [
        AssetContract(*fields_of(token), token.kind.replace("wrapped", "bridged"))
        for token in known
        # Lists of many projects may have an issuer's former contract as a bridged one.
        if (token.blockchain, token.asset) not in issued
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
