"""Snapshots of holdings on this machine, changes between them, and timelines.

A snapshot is the two frames of a fetch, failed wallets included. Unknown amounts stay unknown: no
change and no total counts them as zero.
"""

from walletframe.history.changes import compare
from walletframe.history.dataset import load, save, snapshot, snapshots, thin
from walletframe.history.timelines import timeline, total_timeline

__all__ = ["compare", "load", "save", "snapshot", "snapshots", "thin", "timeline", "total_timeline"]
