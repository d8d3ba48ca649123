"""Support for Dask: ``import walletframe.dask`` registers the dtype ``amount`` and ``ddf.wf``.

No other package of walletframe imports Dask.
"""

from walletframe.dask.amounts import divisions
from walletframe.dask.frames import ClusterWallets, FrameAccessor, open_wallets

__all__ = ["ClusterWallets", "FrameAccessor", "divisions", "open_wallets"]
