"""The command line: the same engine, for shells and for a first look.

Exit codes: 0 if every wallet is ok, 1 if some are not (the tables are printed anyway), 2 for input
or settings that can't be read, 3 for a file, disk or port that can't be used, 130 after an
interrupt (with the tables of what was finished).
"""

from walletframe.cli.main import main
