"""Snapshots that can't be kept, found, read or compared."""

from __future__ import annotations

from walletframe.errors.root import WalletframeError


class SnapshotError(WalletframeError, ValueError):
    """Holdings that can't be kept or compared as they are, or a time that can't be read."""


class UnknownSnapshotError(WalletframeError, LookupError):
    """No snapshot was kept there, or none so early."""


class HistoryError(WalletframeError, OSError):
    """Snapshots that were kept on this machine can't be read."""
