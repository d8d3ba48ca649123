"""Reports: one document with the requested wallets, the answers, and the totals.

`composition` makes the content as plain values; `document` renders it as HTML or Markdown with a
template, and writes the file.
"""

from walletframe.reports.document import SUFFIXES, report
