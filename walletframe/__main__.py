"""Run the command ``walletframe`` as ``python -m walletframe``."""

from walletframe.cli import main

if __name__ == "__main__":
    main(prog_name="walletframe")
