"""Code in a process of its own without walletframe, which reads files as other programs do."""

import subprocess
import sys

# Arrow's threads may abort a process that ends after a dataset was read: apache/arrow#34314.
END = "\nassert 'walletframe' not in sys.modules; sys.stdout.flush(); __import__('os')._exit(0)"


def printed(code, *words):
    """Return the lines that code prints; `sys` is imported."""
    command = [sys.executable, "-c", code + END, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
