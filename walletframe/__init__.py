"""Token holdings of wallets as pandas DataFrames, with exact amounts.

The import registers the accessor ``.wf`` and the column type ``amount``. It uses neither the
network nor the disk. All other modules are imported at their first use.

Examples
--------
>>> import walletframe as wf
>>> with wf.sandbox() as service, service.client(cache=False) as client:
...     wallets, holdings = wf.fetch_wallets(["NEAR.alice.near"], client=client)
>>> wallets.status.item()
'ok'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pandas as pd

# Without this check, the imports below would fail with an obscure error.
if tuple(map(int, pd.__version__.split(".")[:2])) < (2, 2):
    _reason = f"walletframe needs pandas 2.2.2 or later, but this is pandas {pd.__version__}"
    raise ImportError(f'{_reason}: pip install "pandas>=2.2.2", then restart Python')

from walletframe import errors
from walletframe.accessor import FrameAccessor, SeriesAccessor  # registers .wf
from walletframe.amounts import AmountArray, AmountDtype

if TYPE_CHECKING:
    from walletframe import history
    from walletframe.accessor.folder import StoredWallets, open_wallets
    from walletframe.address.forms import WalletAddress
    from walletframe.amounts import as_amounts
    from walletframe.bulk import read_wallets
    from walletframe.bulk.run import fetch_to_parquet
    from walletframe.bulk.summary import FetchSummary
    from walletframe.client import Client, configure, fetch_wallets
    from walletframe.exports import read_holdings
    from walletframe.frames.asset_list import assets
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.inspection import check, clean
    from walletframe.frames.schema import blockchains
    from walletframe.node import crosscheck, token_balance
    from walletframe.pickers import (
        BlockchainPicker,
        FetchPanel,
        HoldingsExplorer,
        TokenPicker,
        WalletPicker,
    )
    from walletframe.reports import report
    from walletframe.service import sandbox
    from walletframe.settings.values import Settings

__version__ = "0.1.0"

__all__ = [
    "AmountArray",
    "AmountDtype",
    "BlockchainPicker",
    "Client",
    "FetchPanel",
    "FetchSummary",
    "FrameAccessor",
    "HoldingsExplorer",
    "SeriesAccessor",
    "Settings",
    "StoredWallets",
    "TokenPicker",
    "WalletAddress",
    "WalletDetails",
    "WalletPicker",
    "as_amounts",
    "assets",
    "blockchains",
    "check",
    "clean",
    "configure",
    "crosscheck",
    "errors",
    "fetch_to_parquet",
    "fetch_wallets",
    "history",
    "open_wallets",
    "read_holdings",
    "read_wallets",
    "report",
    "sandbox",
    "token_balance",
]

_LAZY_NAMES = {
    "accessor.folder": ("StoredWallets", "open_wallets"),
    "address.forms": ("WalletAddress",),
    "amounts": ("as_amounts",),
    "bulk": ("read_wallets",),
    "bulk.run": ("fetch_to_parquet",),
    "bulk.summary": ("FetchSummary",),
    "client": ("Client", "configure", "fetch_wallets"),
    "exports": ("read_holdings",),
    "frames.asset_list": ("assets",),
    "frames.schema": ("blockchains",),
    "frames.details": ("WalletDetails",),
    "frames.inspection": ("check", "clean"),
    "history": ("history",),
    "node": ("crosscheck", "token_balance"),
    "pickers": (
        "BlockchainPicker",
        "FetchPanel",
        "HoldingsExplorer",
        "TokenPicker",
        "WalletPicker",
    ),
    "reports": ("report",),
    "service": ("sandbox",),
    "settings.values": ("Settings",),
}


def __getattr__(name: str) -> Any:
    for path, names in _LAZY_NAMES.items():
        if name in names:
            module = import_module(f"{__name__}.{path}")
            globals()[name] = value = module if name == path else getattr(module, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def load_ipython_extension(shell: Any) -> None:
    """Register ``%wallets``, and disable MathJax in DataFrames. ``%load_ext`` calls this."""
    import_module("walletframe.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Undo `load_ipython_extension`. ``%unload_ext`` calls this."""
    import_module("walletframe.magics").unload(shell)
