"""The command line: the same engine, for shells and for a first look.

Exit codes: 0 when every wallet is ok, 1 when some are not (the tables come all the same), 2 for
input or settings that can't be read, 3 for a file or a port in trouble, 130 after an interrupt
(with the tables of what was finished).
"""

from walletframe.cli.main import main
