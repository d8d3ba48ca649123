"""Real tokens: their real contracts, symbols and decimals, and made-up prices.

Only well-known ones, blockchain by blockchain; two of one symbol on one blockchain are really so.
"""

from __future__ import annotations

from dataclasses import dataclass


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


TOKENS = {
    "ETH": (
        Token("USDC", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", 6, 1.0),
        Token("USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7", 6, 1.0),
        Token("DAI", "0x6B175474E89094C44Da98b954EedeAC495271d0F", 18, 1.0),
        Token("GUSD", "0x056Fd409E1d7A124BD7017459dFEa2F387b6d5Cd", 2, 1.0),
        Token("WETH", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", 18, 3100.0),
        Token("stETH", "0xae7ab96520DE3A18E5e111B5EaAb095312D7fE84", 18, 3100.0),
        Token("WBTC", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599", 8, 64000.0),
        Token("LINK", "0x514910771AF9Ca656af840dff83E8264EcF986CA", 18, 14.0),
        Token("UNI", "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984", 18, 8.0),
        Token("AAVE", "0x7Fc66500c84A76Ad7e9c93437bFc5Ac33E2DDaE9", 18, 160.0),
        Token("CRV", "0xD533a949740bb3306d119CC777fa900bA034cd52", 18, 0.4),
        Token("LDO", "0x5A98FcBEA516Cf06857215779Fd812CA3beF1B32", 18, 1.2),
        Token("SHIB", "0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE", 18, 0.000018),
        Token("PEPE", "0x6982508145454Ce325dDbE47a25d4ec3d2311933", 18, 0.00001),
    ),
    "BSC": (
        Token("USDT", "0x55d398326f99059fF775485246999027B3197955", 18, 1.0),
        Token("USDC", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", 18, 1.0),
        Token("BUSD", "0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56", 18, 1.0),
        Token("WBNB", "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", 18, 640.0),
        Token("BTCB", "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18, 64000.0),
        Token("ETH", "0x2170Ed0880ac9A755fd29B2688956BD959F933F8", 18, 3100.0),
        Token("CAKE", "0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82", 18, 2.3),
    ),
    "POLYGON": (
        Token("USDC", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", 6, 1.0),
        Token("USDC.e", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", 6, 1.0),
        Token("USDT", "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", 6, 1.0),
        Token("DAI", "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063", 18, 1.0),
        Token("WETH", "0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619", 18, 3100.0),
        Token("WBTC", "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6", 8, 64000.0),
        Token("LINK", "0x53E0bca35eC356BD5ddDFebbD1Fc0fD03FaBad39", 18, 14.0),
    ),
    "ARBITRUM": (
        Token("USDC", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6, 1.0),
        Token("USDC.e", "0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8", 6, 1.0),
        Token("USDT", "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6, 1.0),
        Token("DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, 1.0),
        Token("WETH", "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", 18, 3100.0),
        Token("WBTC", "0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f", 8, 64000.0),
        Token("ARB", "0x912CE59144191C1204E64559FE8253a0e49E6548", 18, 0.8),
        Token("GMX", "0xfc5A1A6EB076a2C7aD06eD22C90d7E710E35ad0a", 18, 28.0),
    ),
    "OPTIMISM": (
        Token("USDC", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", 6, 1.0),
        Token("USDC.e", "0x7F5c764cBc14f9669B88837ca1490cCa17c31607", 6, 1.0),
        Token("USDT", "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", 6, 1.0),
        Token("DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, 1.0),
        Token("WETH", "0x4200000000000000000000000000000000000006", 18, 3100.0),
        Token("WBTC", "0x68f180fcCe6836688e9084f035309E29Bf0A2095", 8, 64000.0),
        Token("OP", "0x4200000000000000000000000000000000000042", 18, 1.7),
    ),
    "BASE": (
        Token("USDC", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, 1.0),
        Token("DAI", "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", 18, 1.0),
        Token("WETH", "0x4200000000000000000000000000000000000006", 18, 3100.0),
        Token("cbETH", "0x2Ae3F1Ec7F1F5012CFEab0185bfc7aa3cf0DEc22", 18, 3350.0),
        Token("cbBTC", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8, 64000.0),
        Token("AERO", "0x940181a94A35A4569E4529A3CDfB74e38FD98631", 18, 1.1),
        Token("DEGEN", "0x4ed4E862860beD51a9570b96d89aF5E1B0Efefed", 18, 0.009),
    ),
    "AVAX_CCHAIN": (
        Token("USDC", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6, 1.0),
        Token("USDt", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", 6, 1.0),
        Token("WAVAX", "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7", 18, 31.0),
        Token("WETH.e", "0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB", 18, 3100.0),
        Token("BTC.b", "0x152b9d0FdC40C096757F570A51E494bd4b943E50", 8, 64000.0),
        Token("JOE", "0x6e84a6216eA6dACC71eE8E6b0a5B7322EEbC0fDd", 18, 0.4),
    ),
    "GNOSIS": (
        Token("USDC", "0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83", 6, 1.0),
        Token("WXDAI", "0xe91D153E0b41518A2Ce8Dd3D7944Fa863463a97d", 18, 1.0),
        Token("GNO", "0x9C58BAcC331c9aa871AFD802DB6379a98e80CEdb", 18, 240.0),
    ),
    "SOLANA": (
        Token("USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 6, 1.0),
        Token("USDT", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", 6, 1.0),
        Token("WSOL", "So11111111111111111111111111111111111111112", 9, 170.0),
        Token("mSOL", "mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So", 9, 205.0),
        Token("JitoSOL", "J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn", 9, 195.0),
        Token("JUP", "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN", 6, 0.9),
        Token("RAY", "4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R", 6, 2.2),
        Token("ORCA", "orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE", 6, 2.6),
        Token("WIF", "EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm", 6, 1.9),
        Token("Bonk", "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263", 5, 0.00002),
    ),
    "TRON": (
        Token("USDT", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", 6, 1.0),
        Token("USDC", "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8", 6, 1.0),
        Token("WTRX", "TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR", 6, 0.24),
        Token("JST", "TCFLL5dx5ZJdKnWuesXxi1VPwjLVmWZZy9", 18, 0.03),
        Token("BTT", "TAFjULxiVgT4qWk6UZwjqwZXTSaGaqnVp4", 18, 0.0000009),
    ),
    "NEAR": (
        Token("USDC", "17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1", 6, 1.0),
        Token("USDt", "usdt.tether-token.near", 6, 1.0),
        Token("wNEAR", "wrap.near", 24, 4.2),
        Token("REF", "token.v2.ref-finance.near", 18, 0.07),
    ),
}
