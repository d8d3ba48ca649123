"""Frame in, frame out: what is asked of holdings once they are there."""

from walletframe.analysis.largest import top, top_rows

__all__ = ["top", "top_rows"]
