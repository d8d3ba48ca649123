"""Folders of a test's own in the place of the user's, on any system."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - of Linux; pytest makes a folder of its own there
ROOM = 4 * 2**30


def keep_in_memory():
    """Keep files of tests in memory, if there is room: each sync of a disk takes time."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    if shutil.disk_usage(MEMORY).free > ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def own_folders(cache, data):
    """Return the variables that set them, on Linux, on macOS, and on Windows (one folder)."""
    return {
        "XDG_CACHE_HOME": str(cache),
        "XDG_DATA_HOME": str(data),
        "XDG_CONFIG_HOME": str(data),
        "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(data),
    }
