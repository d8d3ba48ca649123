"""Folders of a test's own, where walletframe would take the user's, on any system."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - of Linux; pytest makes a folder of its own there
ROOM = 4 * 2**30


def keep_in_memory():
    """Let files of tests lie in memory, if there is room: a disk is waited for at each sync."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    if shutil.disk_usage(MEMORY).free > ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def own_folders(cache, data):
    """Give the variables that say so: to Linux and macOS, and to Windows, which has one folder."""
    return {
        "XDG_CACHE_HOME": str(cache),
        "XDG_DATA_HOME": str(data),
        "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(data),
    }
