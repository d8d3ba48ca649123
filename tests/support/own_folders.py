"""Folders of tests in place of the user's folders, on any system."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - on Linux; pytest creates a private folder there
ROOM = 4 * 2**30


def keep_in_memory():
    """Keep the files of tests in memory if there is room, since syncing to a disk is slow."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    if shutil.disk_usage(MEMORY).free > ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def own_folders(cache, data):
    """Return the environment variables that set the user's folders (one folder on Windows)."""
    return {
        "XDG_CACHE_HOME": str(cache),
        "XDG_DATA_HOME": str(data),
        "XDG_CONFIG_HOME": str(data),
        "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(data),
    }
