"""Code that a page or an explorer offers, run as a person would who copied it."""

from walletframe.pickers.takeaway import HERE


def executed(code, names=None, *, source="<copied>"):
    """Run it, and return the names that it makes beside those that were there."""
    names = {} if names is None else names
    exec(compile(code, source, "exec"), names)  # noqa: S102 - it is what the project offers
    return names


def executed_on(details, code):
    """Run what follows the line from which a person goes on who has the frames."""
    names = {"holdings": details.holdings, "wallets": details.wallets}
    before = "import walletframe\nfrom walletframe.charts import token_colors\n"
    return executed(before + code.partition(HERE)[2], names)
