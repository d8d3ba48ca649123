"""Token holdings of wallets as pandas DataFrames, with exact amounts.

Importing it registers the accessor ``.wf`` and the column type ``amount``, and touches neither
network nor disk. Everything else is loaded when it is first named.

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

if int(pd.__version__.partition(".")[0]) < 3:  # noqa: PLR2004 - else what follows fails in riddles
    _found = f"walletframe needs pandas 3, and this is pandas {pd.__version__}"
    raise ImportError(f'{_found}: pip install "pandas>=3", then restart Python')

from walletframe.accessor import FrameAccessor, SeriesAccessor  # which register .wf
from walletframe.address import WalletAddress
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.errors import (
    AddressError,
    AmbiguousTokenError,
    AmountError,
    AmountPrecisionError,
    AmountValueError,
    AnswerWarning,
    ArgumentError,
    CacheError,
    CacheWarning,
    ClusterError,
    ColumnsError,
    DatasetError,
    FetchError,
    FetchInterrupted,
    FetchWarning,
    FramesNeededError,
    HistoryError,
    InputWarning,
    LedgerError,
    MissingExtraError,
    PricesError,
    PricesWarning,
    RenamedWarning,
    SettingsError,
    SnapshotError,
    SpamWarning,
    TestKeyWarning,
    TokenListError,
    UnknownBlockchainError,
    UnknownSnapshotError,
    UnknownTokenError,
    UnknownWalletError,
    WalletframeError,
    WalletframeWarning,
)
from walletframe.settings import Settings

if TYPE_CHECKING:
    from walletframe import history
    from walletframe.accessor.folder import StoredWallets, open_wallets
    from walletframe.amounts import as_amounts
    from walletframe.bulk import FetchSummary, fetch_to_parquet, read_wallets
    from walletframe.client import Client, configure, fetch_wallets
    from walletframe.exports import read_holdings
    from walletframe.frames import WalletDetails, assets, blockchains
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

__version__ = "0.1.0"

__all__ = [
    "AddressError",
    "AmbiguousTokenError",
    "AmountArray",
    "AmountDtype",
    "AmountError",
    "AmountPrecisionError",
    "AmountValueError",
    "AnswerWarning",
    "ArgumentError",
    "BlockchainPicker",
    "CacheError",
    "CacheWarning",
    "Client",
    "ClusterError",
    "ColumnsError",
    "DatasetError",
    "FetchError",
    "FetchInterrupted",
    "FetchPanel",
    "FetchSummary",
    "FetchWarning",
    "FrameAccessor",
    "FramesNeededError",
    "HistoryError",
    "HoldingsExplorer",
    "InputWarning",
    "LedgerError",
    "MissingExtraError",
    "PricesError",
    "PricesWarning",
    "RenamedWarning",
    "SeriesAccessor",
    "Settings",
    "SettingsError",
    "SnapshotError",
    "SpamWarning",
    "StoredWallets",
    "TestKeyWarning",
    "TokenListError",
    "TokenPicker",
    "UnknownBlockchainError",
    "UnknownSnapshotError",
    "UnknownTokenError",
    "UnknownWalletError",
    "WalletAddress",
    "WalletDetails",
    "WalletPicker",
    "WalletframeError",
    "WalletframeWarning",
    "as_amounts",
    "assets",
    "blockchains",
    "configure",
    "crosscheck",
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

_LOADED_WHEN_NAMED = {
    "accessor.folder": ("StoredWallets", "open_wallets"),
    "amounts": ("as_amounts",),
    "bulk": ("FetchSummary", "fetch_to_parquet", "read_wallets"),
    "client": ("Client", "configure", "fetch_wallets"),
    "exports": ("read_holdings",),
    "frames": ("WalletDetails", "assets", "blockchains"),
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
}


def __getattr__(name: str) -> Any:
    for place, names in _LOADED_WHEN_NAMED.items():
        if name in names:
            module = import_module(f"{__name__}.{place}")
            globals()[name] = value = module if name == place else getattr(module, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def load_ipython_extension(shell: Any) -> None:
    """Register ``%wallets``, and keep symbols in DataFrames text, for ``%load_ext walletframe``."""
    import_module("walletframe.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Undo it, for ``%unload_ext walletframe``."""
    import_module("walletframe.magics").unload(shell)
