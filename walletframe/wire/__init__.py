"""The wallet details endpoint: the query out, the JSON in.

Knows the service's document and nothing about HTTP, keys, caches or DataFrames.
"""

from walletframe.wire.shapes import Amount, Asset, AssetAndAmount, WalletDetail, WalletDetailsAnswer

__all__ = ["Amount", "Asset", "AssetAndAmount", "WalletDetail", "WalletDetailsAnswer"]
