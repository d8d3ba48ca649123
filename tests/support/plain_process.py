"""Run code in a separate process without walletframe, to read files as other programs do."""

import subprocess
import sys

# Arrow's threads may abort a process that ends after a dataset was read: apache/arrow#34314.
END = "\nassert 'walletframe' not in sys.modules; sys.stdout.flush(); __import__('os')._exit(0)"


def printed(code, *words):
    """Run code that imports `sys`, and return the printed lines."""
    command = [sys.executable, "-c", code + END, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
