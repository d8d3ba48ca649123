"""Blockchains in one spelling, whoever wrote them: a person, the service, or an earlier release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.address import canonical_blockchain
from walletframe.chains import spelled

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("blockchain", "token_blockchain")


def respelled(*frames: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Write each blockchain alike in some frames: in capitals where it is known, else as first."""
    first: dict[str, str] = {}
    return tuple(_respelled(frame, first) for frame in frames)


def _respelled(frame: pd.DataFrame, first: dict[str, str]) -> pd.DataFrame:
    changed = {}
    for name in _COLUMNS:
        if name not in frame.columns:
            continue
        written = frame[name].dropna().unique().tolist()
        names = {
            each: first.setdefault(canonical_blockchain(each), spelled(each)) for each in written
        }
        if any(names[each] != each for each in written):
            changed[name] = frame[name].map(names).astype(frame[name].dtype)
    return frame.assign(**changed) if changed else frame
