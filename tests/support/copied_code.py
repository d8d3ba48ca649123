"""Code that a page or an explorer offers, run as a person would who copied it."""


def executed(code, names=None, *, source="<copied>"):
    """Run it, and return the names that it makes beside those that were there."""
    names = {} if names is None else names
    exec(compile(code, source, "exec"), names)  # noqa: S102 - it is what the project offers
    return names


def executed_on(details, code, **names):
    """Run it where the explorer was given a fetch, and return the rows, wallets and figure."""
    import walletframe  # noqa: F401, PLC0415 - for the accessors

    return executed(code, {"details": details, **names})
