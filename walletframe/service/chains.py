"""The blockchains and tokens that the simulated ledger knows, with made-up prices.

Data only: no explorer is ever called. Contracts and decimals stand in the bundled list of tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from walletframe.tokens import KnownToken, known_tokens, native_coin

Form = Literal["hex", "solana", "tron", "near", "none"]  # of contracts; none: there are no tokens


@dataclass(frozen=True, slots=True)
class Token:
    """A token on one blockchain: no contract is the native coin, no price one that has none."""

    symbol: str
    contract: str | None
    decimals: int
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A blockchain, and what stands before an address in its explorer's page for it."""

    name: str
    coin: Token
    explorer: str
    form: Form = "hex"


def _chain(name: str, price: float, explorer: str, form: Form = "hex") -> Chain:
    coin = native_coin(name)
    return Chain(name, Token(coin.symbol, None, coin.decimals, price), explorer, form)


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

_PRICES = {  # by symbol, made up
    symbol: price
    for price, symbols in {
        64000.0: "WBTC BTCB cbBTC BTC.b",
        3350.0: "cbETH",
        3100.0: "WETH stETH ETH WETH.e",
        640.0: "WBNB",
        240.0: "GNO",
        205.0: "mSOL",
        195.0: "JitoSOL",
        170.0: "WSOL",
        160.0: "AAVE",
        31.0: "WAVAX",
        28.0: "GMX",
        14.0: "LINK",
        8.0: "UNI",
        4.2: "wNEAR",
        2.6: "ORCA",
        2.3: "CAKE",
        2.2: "RAY",
        1.9: "WIF",
        1.7: "OP",
        1.2: "LDO",
        1.1: "AERO",
        1.0: "USDC USDT DAI GUSD BUSD USDC.e USDt WXDAI",
        0.9: "JUP",
        0.8: "ARB",
        0.4: "CRV JOE",
        0.24: "WTRX",
        0.07: "REF",
        0.03: "JST",
        0.009: "DEGEN",
        2e-05: "Bonk",
        1.8e-05: "SHIB",
        1e-05: "PEPE",
        9e-07: "BTT",
    }.items()
    for symbol in symbols.split()
}

_HELD = {  # symbols of well-known tokens
    "ETH": "USDC USDT DAI GUSD WETH stETH WBTC LINK UNI AAVE CRV LDO SHIB PEPE",
    "BSC": "USDT USDC BUSD WBNB BTCB ETH CAKE",
    "POLYGON": "USDC USDC.e USDT DAI WETH WBTC LINK",
    "ARBITRUM": "USDC USDC.e USDT DAI WETH WBTC ARB GMX",
    "OPTIMISM": "USDC USDC.e USDT DAI WETH WBTC OP",
    "BASE": "USDC DAI WETH cbETH cbBTC AERO DEGEN",
    "AVAX_CCHAIN": "USDC USDt WAVAX WETH.e BTC.b JOE",
    "GNOSIS": "USDC WXDAI GNO",
    "SOLANA": "USDC USDT WSOL mSOL JitoSOL JUP RAY ORCA WIF Bonk",
    "TRON": "USDT USDC WTRX JST BTT",
    "NEAR": "USDC USDt wNEAR REF",
}


def _well_known() -> dict[str, tuple[Token, ...]]:
    known: dict[tuple[str, str], KnownToken] = {}
    for token in known_tokens():
        if token.contract:
            known.setdefault((token.blockchain, token.symbol), token)
    return {
        chain: tuple(
            Token(token.symbol, token.contract, token.decimals, _PRICES[token.symbol])
            for token in (known[chain, symbol] for symbol in symbols.split())
        )
        for chain, symbols in _HELD.items()
    }


TOKENS = _well_known()
