"""``python -m walletframe`` is the command ``walletframe``."""

from walletframe.cli import main

if __name__ == "__main__":
    main(prog_name="walletframe")
