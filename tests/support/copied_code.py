"""Code that a page or an explorer offers, run as a person would run a copy of it."""


def executed(code, names=None, *, source="<copied>"):
    """Run code, and return its names together with the given ones."""
    names = {} if names is None else names
    exec(compile(code, source, "exec"), names)  # noqa: S102 - the project offers it
    return names


def executed_on(details, code, **names):
    """Run an explorer's code on a fetch, and return the rows, wallets and figure."""
    import walletframe  # noqa: F401, PLC0415 - for the accessors

    return executed(code, {"details": details, **names})
