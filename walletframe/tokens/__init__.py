"""Genuine contracts of well-known tokens, and the assets of these tokens."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import NamedTuple

from walletframe.chains import known_blockchains, read_known_csv

# The first rows of known.csv were chosen by hand: native coins, and tokens that are often used and
# imitated. The remaining rows are other tokens with the same symbols.
# The contracts of these assets are never summed:
# - BTT: one unit of an old contract corresponds to 1,000 units of a new contract.
# - EURe: the first contract on a blockchain shows the same balances as the second contract.
# - FRAX and FXS: the symbol of one token was later reused for the other token.
_NEVER_SUMMED = frozenset({"BTT", "EURe", "FRAX", "FXS"})
ASSET_KINDS = ("native", "canonical", "bridged")
# The symbols that scams imitate most. Genuine bridges often use the symbols of other coins.
MOST_IMITATED = frozenset({"BTC", "DAI", "ETH", "USDC", "USDT"})


class KnownToken(NamedTuple):
    """A well-known token on one blockchain. The contract of a native coin is None."""

    blockchain: str
    symbol: str
    contract: str | None
    decimals: int
    # The asset that the token represents, such as ETH for WETH. If the symbol usually means a token
    # of another project, the name of this token's project.
    asset: str
    kind: str  # "native", "canonical" (issued by the asset's own issuer), "wrapped" or "bridged"
    source: str  # a key of sources.toml

    @property
    def owns_symbol(self) -> bool:
        """Whether every other contract with this symbol on this blockchain is an imitation."""
        # Several bridges may use one symbol. So a bridged token owns its symbol only if scams often
        # imitate the symbol, and if most bridges of the blockchain are in the list.
        if self.kind != "bridged" or self.source == "hand":
            return not self.has_symbol_of_other_project
        is_covered = self.source != "wormhole" and self.blockchain in hand_listed_blockchains()
        return is_covered and self.symbol.upper().removeprefix("W") in MOST_IMITATED

    @property
    def has_symbol_of_other_project(self) -> bool:
        """Whether the token is genuine, but its symbol usually means another project's token."""
        return self.kind == "canonical" and self.asset.lower() != self.symbol.lower()


@cache
def known_tokens() -> tuple[KnownToken, ...]:
    """Return all known tokens. Native coins and often-used tokens come first."""
    return tuple(
        KnownToken(chain, symbol, contract or None, int(decimals), *rest)
        for chain, symbol, contract, decimals, *rest in read_known_csv(__package__)
    )


@cache
def hand_listed_blockchains() -> frozenset[str]:
    """Return the blockchains for which contracts were chosen by hand."""
    hand_chosen = [each for each in known_tokens() if each.contract and each.source == "hand"]
    return frozenset(each.blockchain for each in hand_chosen)


def native_coin(blockchain: str) -> KnownToken:
    """Return the native coin of the blockchain with this identifier."""
    coins = (token for token in known_tokens() if token.contract is None)
    return next(coin for coin in coins if coin.blockchain == blockchain)


class AssetContract(NamedTuple):
    """One contract of an asset. The contract of a native coin is None."""

    asset: str
    blockchain: str
    contract: str | None
    symbol: str | None
    kind: str  # "native", "canonical", or "bridged" (issued by somebody else)


@cache
def asset_contracts() -> tuple[AssetContract, ...]:
    """Return each asset's contracts, if there are several. Bridged contracts come last."""
    known = [
        token
        for token in known_tokens()
        if not (
            token.has_symbol_of_other_project
            or token.symbol.endswith("_")  # Ledger's suffix for former contracts
            or token.contract == "0x8dAEBADE922dF735c38C80C7eBD708Af50815fAa"  # the first tBTC
            or token.asset in _NEVER_SUMMED
        )
    ]
    issued = {(token.blockchain, token.asset) for token in known if token.kind in ASSET_KINDS[:2]}
    fields_of = attrgetter("asset", "blockchain", "contract", "symbol")
    listed = [
        AssetContract(*fields_of(token), token.kind.replace("wrapped", "bridged"))
        for token in known
        # Lists of many projects may include a former contract of an issuer as a bridged contract.
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
        and not chain.identifier.startswith(("GOERLI", "SEPOLIA"))  # test networks
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
