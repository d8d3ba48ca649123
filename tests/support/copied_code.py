"""Run code that a page or an explorer offers for copying."""


def executed(code, names=None, *, source="<copied>"):
    """Run code with the variables `names`, and return all variables."""
    names = {} if names is None else names
    exec(compile(code, source, "exec"), names)  # noqa: S102 - the project offers it
    return names


def executed_on(details, code, **names):
    """Run an explorer's code on a fetch, and return all variables, such as the figure."""
    import walletframe  # noqa: F401, PLC0415 - for the accessors

    return executed(code, {"details": details, **names})
