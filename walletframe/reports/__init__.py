"""Reports: one document with the requested wallets, their answers, and the totals.

`composition` returns the content of a report as plain values. `document` renders the content as
HTML or Markdown with a template, and writes the file.
"""

from walletframe.reports.document import SUFFIXES, report
