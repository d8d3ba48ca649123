"""Reports: one document of what was asked, what was answered, and what that adds up to.

A report is made in three steps: `composition` decides what is in it, as plain values (`content`);
`rendering` turns these into HTML or Markdown by a template; `document` writes the file.
"""

from walletframe.reports.document import SUFFIXES, report

__all__ = ["SUFFIXES", "report"]
