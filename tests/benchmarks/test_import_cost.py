"""What ``import walletframe`` costs beside ``import pandas``; nothing here asserts a time."""

import statistics
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]

PAIRS = 9


def seconds(module):
    """Return how long a fresh interpreter takes to import a module."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def test_import_beside_pandas():
    """Print the ratio of whole processes, median of paired runs."""
    seconds("walletframe")
    ratios = sorted(seconds("walletframe") / seconds("pandas") for _ in range(PAIRS))
    print(
        f"\nimport walletframe / import pandas: median {statistics.median(ratios):.3f}, "
        f"{ratios[0]:.2f} to {ratios[-1]:.2f}, {PAIRS} pairs (wanted: at most 1.08)"
    )
