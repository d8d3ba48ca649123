"""Names that moved to `walletframe.frames`."""

from walletframe.frames import FetchLike as WalletsLike
from walletframe.frames import amounts_of

__all__ = ["WalletsLike", "amounts_of"]
