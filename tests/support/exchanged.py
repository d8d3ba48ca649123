"""Files of each kind, which one interpreter writes and another interpreter reads."""

import json
import pickle
import sys
import warnings
from pathlib import Path

import pandas as pd

import walletframe as wf
from walletframe.pandas_versions import TEXT

WALLETS = [f"{chain}.0x{digit * 40}" for chain in ("ETH", "BASE", "ARBITRUM") for digit in "6cdf"]
LARGE = [str(2**256 - 1), "1e-77", "-0.1", None, "0"]


def write(folder):
    """Write a fetch as each kind of file."""
    keep = pd.DataFrame({"wallet": WALLETS, "owner": ["Ada", None, ""] * 4, "n": range(12)})
    with wf.sandbox() as service, service.client(cache=False) as client:
        details = client.fetch(keep, keep=["owner", "n"], on_failure="ignore")
        wf.fetch_to_parquet(keep, folder / "bulk", client=client, keep=["owner", "n"])
    holdings = details.holdings.wf.value(currency="USD").wf.flag_spam()
    wf.history.save(details, folder=folder / "history", at="2026-01-02T03:04:05Z")
    holdings.wf.to_csv(folder / "h.csv")
    holdings.wf.to_parquet(folder / "h.parquet")
    holdings.wf.to_excel(folder / "h.xlsx")
    details.wallets.wf.to_csv(folder / "w.csv")
    details.wallets.wf.to_parquet(folder / "w.parquet")
    amounts = pd.DataFrame({"a": pd.array(LARGE, dtype="amount")})
    amounts.to_parquet(folder / "a.parquet")
    amounts.to_feather(folder / "a.feather")
    (folder / "a.pickle").write_bytes(pickle.dumps(amounts["a"].array))


def read(folder):
    """Return the content of the files: names, dtypes and cells, to the last digit."""
    stored = wf.history.snapshot(folder=folder / "history")
    bulk = wf.read_wallets(folder / "bulk")
    frames = {
        **{name: wf.read_holdings(folder / name) for name in ("h.csv", "h.parquet", "h.xlsx")},
        **{name: wf.read_holdings(folder / name) for name in ("w.csv", "w.parquet")},
        **{f"history {name}": getattr(stored, name) for name in stored._fields},
        **{f"bulk {name}": getattr(bulk, name) for name in bulk._fields},
        "a.parquet": pd.read_parquet(folder / "a.parquet"),
        "a.feather": pd.read_feather(folder / "a.feather"),
        "a.pickle": pd.DataFrame({"a": pickle.loads((folder / "a.pickle").read_bytes())}),
    }
    return {
        name: {
            str(label): [
                "text" if column.dtype == TEXT else str(column.dtype),
                *("NA" if pd.isna(cell) else str(cell) for cell in column.tolist()),
            ]
            for label, column in frame.items()
        }
        for name, frame in frames.items()
    }


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.errors.WalletframeWarning)
        work, *places = sys.argv[1:]
        if work == "write":
            write(Path(*places))
        else:
            sys.stdout.write(json.dumps(read(Path(*places))) if work == "read" else pd.__version__)
