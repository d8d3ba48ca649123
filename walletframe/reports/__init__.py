"""Reports: one document with the requested wallets, the answers, and the totals.

A report is made in three steps: `composition` decides what is in it, as plain values;
`rendering` turns these into HTML or Markdown by a template; `document` writes the file.
"""

from walletframe.reports.document import SUFFIXES, report

__all__ = ["SUFFIXES", "report"]
