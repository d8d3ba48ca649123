"""Reports: one document with the requested wallets, the answers, and the totals.

`composition` decides what is in one, as plain values; `document` turns these into HTML or Markdown
by a template, and writes the file.
"""

from walletframe.reports.document import SUFFIXES, report
