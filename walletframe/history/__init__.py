"""Snapshots saved on this machine, changes of holdings between two times, and timelines.

A snapshot has both frames of a fetch, including failed wallets. Unknown amounts never count as 0.
"""

from walletframe.history.changes import compare
from walletframe.history.dataset import load, save, snapshot, snapshots, thin
from walletframe.history.timelines import timeline, total_timeline
from walletframe.history.values import compare_values

__all__ = [
    "compare",
    "compare_values",
    "load",
    "save",
    "snapshot",
    "snapshots",
    "thin",
    "timeline",
    "total_timeline",
]
