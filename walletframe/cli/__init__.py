"""The command line program ``walletframe``.

Exit codes: 0 if all wallets are ok; 1 if some wallets are not ok (the tables are printed); 2 if the
input or the settings are not valid; 3 if a file, a disk or a port can't be used; 130 after an
interrupt (the tables of the finished wallets are printed).
"""

from walletframe.cli.main import main
