"""Chain ids of EVM blockchains, as registered at https://chainid.network, by identifier."""

CHAIN_IDS = {
    "ETH": 1,
    "OPTIMISM": 10,
    "BSC": 56,
    "GNOSIS": 100,
    "POLYGON": 137,
    "BASE": 8453,
    "ARBITRUM": 42161,
    "AVAX_CCHAIN": 43114,
}
