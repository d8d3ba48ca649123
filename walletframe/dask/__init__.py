"""Amounts and wallets in Dask's frames: ``import walletframe.dask`` registers both.

The only place that knows Dask.
"""

from walletframe.dask.amounts import divisions
from walletframe.dask.frames import ClusterWallets, FrameAccessor, open_wallets

__all__ = ["ClusterWallets", "FrameAccessor", "divisions", "open_wallets"]
