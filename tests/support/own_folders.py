"""Folders of a test's own, where walletframe would take the user's, on any system."""


def own_folders(cache, data):
    """Give the variables that say so: to Linux and macOS, and to Windows, which has one folder."""
    return {
        "XDG_CACHE_HOME": str(cache),
        "XDG_DATA_HOME": str(data),
        "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(data),
    }
