"""Real tokens with made-up prices: what the simulated wallets hold.

Only well-known ones, blockchain by blockchain; their contracts and decimals stand in the bundled
list of tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from walletframe.tokens import KnownToken, known_tokens


@dataclass(frozen=True, slots=True)
class Token:
    """A token on one blockchain.

    Parameters
    ----------
    symbol : str
        How it calls itself.
    contract : str or None
        Its contract; None for a native coin.
    decimals : int
        Its decimals.
    price : float, optional
        A made-up price; None for what has none.
    """

    symbol: str
    contract: str | None
    decimals: int
    price: float | None = None


_PRICES = {
    "ETH": {
        "USDC": 1.0,
        "USDT": 1.0,
        "DAI": 1.0,
        "GUSD": 1.0,
        "WETH": 3100.0,
        "stETH": 3100.0,
        "WBTC": 64000.0,
        "LINK": 14.0,
        "UNI": 8.0,
        "AAVE": 160.0,
        "CRV": 0.4,
        "LDO": 1.2,
        "SHIB": 1.8e-05,
        "PEPE": 1e-05,
    },
    "BSC": {
        "USDT": 1.0,
        "USDC": 1.0,
        "BUSD": 1.0,
        "WBNB": 640.0,
        "BTCB": 64000.0,
        "ETH": 3100.0,
        "CAKE": 2.3,
    },
    "POLYGON": {
        "USDC": 1.0,
        "USDC.e": 1.0,
        "USDT": 1.0,
        "DAI": 1.0,
        "WETH": 3100.0,
        "WBTC": 64000.0,
        "LINK": 14.0,
    },
    "ARBITRUM": {
        "USDC": 1.0,
        "USDC.e": 1.0,
        "USDT": 1.0,
        "DAI": 1.0,
        "WETH": 3100.0,
        "WBTC": 64000.0,
        "ARB": 0.8,
        "GMX": 28.0,
    },
    "OPTIMISM": {
        "USDC": 1.0,
        "USDC.e": 1.0,
        "USDT": 1.0,
        "DAI": 1.0,
        "WETH": 3100.0,
        "WBTC": 64000.0,
        "OP": 1.7,
    },
    "BASE": {
        "USDC": 1.0,
        "DAI": 1.0,
        "WETH": 3100.0,
        "cbETH": 3350.0,
        "cbBTC": 64000.0,
        "AERO": 1.1,
        "DEGEN": 0.009,
    },
    "AVAX_CCHAIN": {
        "USDC": 1.0,
        "USDt": 1.0,
        "WAVAX": 31.0,
        "WETH.e": 3100.0,
        "BTC.b": 64000.0,
        "JOE": 0.4,
    },
    "GNOSIS": {
        "USDC": 1.0,
        "WXDAI": 1.0,
        "GNO": 240.0,
    },
    "SOLANA": {
        "USDC": 1.0,
        "USDT": 1.0,
        "WSOL": 170.0,
        "mSOL": 205.0,
        "JitoSOL": 195.0,
        "JUP": 0.9,
        "RAY": 2.2,
        "ORCA": 2.6,
        "WIF": 1.9,
        "Bonk": 2e-05,
    },
    "TRON": {
        "USDT": 1.0,
        "USDC": 1.0,
        "WTRX": 0.24,
        "JST": 0.03,
        "BTT": 9e-07,
    },
    "NEAR": {
        "USDC": 1.0,
        "USDt": 1.0,
        "wNEAR": 4.2,
        "REF": 0.07,
    },
}


def _priced() -> dict[str, tuple[Token, ...]]:
    known: dict[tuple[str, str], KnownToken] = {}
    for token in known_tokens():
        if token.contract:
            known.setdefault((token.blockchain, token.symbol), token)
    return {
        chain: tuple(
            Token(symbol, known[chain, symbol].contract, known[chain, symbol].decimals, price)
            for symbol, price in prices.items()
        )
        for chain, prices in _PRICES.items()
    }


TOKENS = _priced()
