"""Amounts and wallets in Dask's frames: ``import walletframe.dask`` registers both.

No other package imports Dask.
"""

from walletframe.dask.amounts import divisions
from walletframe.dask.frames import ClusterWallets, FrameAccessor, open_wallets

__all__ = ["ClusterWallets", "FrameAccessor", "divisions", "open_wallets"]
