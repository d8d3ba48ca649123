"""Errors in the words of the shell: what they tell users of Python, as options and commands.

Hints name an argument as ``name=…`` and a function as ``module.function(…)``, everywhere in the
package; here the first become options, and the second commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.errors import WalletframeError

_PHRASES = {
    "history.save(details)": "walletframe history save",
    "history.snapshots()": "walletframe history show",
    "history.snapshot(…)": "walletframe compare, with a time,",
    ", or call walletframe.configure(…)": "",
    "walletframe.sandbox(), in a shell walletframe demo": "walletframe demo",
    ", or give rpc_url=…": "",  # on purpose no option: everyone on the machine could see it
    ', or make them NaN: holdings["price"].where(holdings["price"].between(0, 1e300))': "",
    "give what is in it, such as pd.read_csv(…), or in a shell --file": "give it behind --file",
    ", or None for": ", or nothing for",
    ", or as a (blockchain, address) pair": ", or in the two columns blockchain and address",
    "a mapping of (blockchain, contract) to a price, a Series with such an index, or a DataFrame "
    "with": "a file with",
    "a token is (blockchain, contract), with None for a native coin, or a symbol exactly as in the "
    "column symbol": "a symbol is taken exactly as it is written",
    ' (as of DataFrame.to_json(orient="records"))': "",
}
_ATTRIBUTE = re.compile(r" \(see \.\w+\)")  # the rest of a list is nowhere in a shell
_ARGUMENT = re.compile(r"\b(?P<name>[a-z_]+)=(?P<value>\"[^\"]*\"|\{[^}]*\}|…)?")
_TOKEN = re.compile(r"\('(?P<chain>[^']+)', (?:None|'(?P<contract>[^']+)')\)")
_SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def told(error: WalletframeError, command: click.Command | None) -> str:
    """Return the text of an error for a shell.

    Parameters
    ----------
    error : WalletframeError
        As it was raised.
    command : click.Command or None
        What was called.

    Returns
    -------
    str
        What happened, and what to do about it in terms of this command.
    """
    hint = error.hint
    message = str(error).removesuffix(f"\n\nHint: {hint}")
    message = _ATTRIBUTE.sub("", message).replace("the DataFrame lacks", "the table lacks")
    message = _TOKEN.sub(_dotted, message)
    return f"{message}\n\nHint: {in_shell(hint, options_of(command))}" if hint else message


def options_of(command: click.Command | None) -> dict[str, str]:
    """Return what the options of a command, and of its subcommands, are called.

    Parameters
    ----------
    command : click.Command or None
        Any.

    Returns
    -------
    dict of str to str
        By the names of the arguments that they stand for.
    """
    inner = command.commands.values() if isinstance(command, click.Group) else []
    params = [param for each in (command, *inner) if each is not None for param in each.params]
    return {str(param.name): param.opts[0] for param in params if isinstance(param, click.Option)}


def in_shell(hint: str, options: Mapping[str, str]) -> str:
    """Return a hint for a shell.

    Parameters
    ----------
    hint : str
        What to do about an error, for users of Python.
    options : mapping of str to str
        As from `options_of`.

    Returns
    -------
    str
        The same in options and commands; arguments that are no options stay as they are.

    Examples
    --------
    >>> in_shell('by="token" tells them apart; folder=…', {"by": "--by", "folder": "--folder"})
    '--by token tells them apart; --folder'
    """

    def option(found: re.Match[str]) -> str:
        if found["name"] not in options:
            return found[0]
        return " ".join([options[found["name"]], *re.findall(r"\w+", found["value"] or "")])

    for phrase, said in _PHRASES.items():
        hint = hint.replace(phrase, said)
    hint = _TOKEN.sub(_dotted, hint.replace("token=(", "token= ("))
    hint = _ARGUMENT.sub(option, hint)
    return _SNAKE.sub(lambda found: options.get(found[0], found[0]), hint)


def _dotted(token: re.Match[str]) -> str:
    return f"{token['chain']}.{token['contract'] or ''}"
