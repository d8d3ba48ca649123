"""A file system of a few kilobytes, to test full and read-only disks."""

import os
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def mounted(folder, options):
    """Mount a small file system. If only root may do so, skip the test."""
    folder.mkdir()
    command = ["/bin/mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        if "WF_TEST_NO_SKIP" in os.environ:
            raise
        pytest.skip("only root may mount a file system; .ci/run does, and fails where it can't")
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", "-l", str(folder)], check=True)


def remount(folder, options):
    """Change the options of the file system. Its files remain."""
    subprocess.run(["/bin/mount", "-o", f"remount,{options}", str(folder)], check=True)
