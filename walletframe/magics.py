"""``%load_ext walletframe``: the magic ``%wallets``, and DataFrames whose symbols stay text.

Wrong input is a usage error, which IPython shows without a traceback. A warning would have no line
of the user's own to point at: failed wallets and oddities of the list are printed behind the cell,
unless the result shows them.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from IPython.core.completer import SimpleCompletion, context_matcher
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from walletframe.address import read_pasted
from walletframe.analysis import totals
from walletframe.chains import known_blockchains
from walletframe.client import Client, default_client
from walletframe.errors import FetchInterrupted, InputWarning, WalletframeError
from walletframe.frames import failure_lines, summary_lines
from walletframe.frames.display import (
    display_text,
    frame_html,
    frame_text,
    without_mathematics,
)
from walletframe.frames.plain import terminal_width
from walletframe.text import as_lines, shown

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    import pandas as pd
    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

    from walletframe.address import WalletAddress
    from walletframe.frames import WalletDetails

_OPTIONS = (
    *("--by", "--client", "--from", "--help", "--keep"),
    *("--offline", "--on-unreadable", "--out", "--refresh"),
)
_HOW = ("keep", "refresh", "offline", "on_unreadable")  # as `Client.fetch` takes them
_REASON = 160
# What of pandas is shown as HTML, by name: Styler is loaded only where it is used. Jupyter's pages
# typeset what stands between dollars in a table, and strangers choose symbols: pandas shows its
# frames as its options say, but in an element that MathJax leaves alone.
_TABLES = ("pandas.DataFrame", "pandas.io.formats.style.Styler")


@magics_class
class WalletMagics(Magics):
    """The magics of walletframe."""

    @magic_arguments()
    @argument("-h", "--help", action="store_true", help="show this, and ask for nothing")
    @argument("wallets", nargs="*", help="such as ETH.0x52… or NEAR.alice.near")
    @argument("-o", "--out", metavar="NAME", help="the variable that gets the WalletDetails")
    @argument("-c", "--client", metavar="NAME", help="a variable that holds a Client to ask with")
    @argument("--from", dest="source", metavar="NAME", help="a variable, or a file, of wallets")
    @argument("--keep", action="append", default=[], metavar="NAME", help="a column of it to keep")
    @argument("--by", action="append", metavar="NAME", help="show totals; repeat to combine")
    @argument("--refresh", action="store_true", help="ask even where an answer is in the cache")
    @argument("--offline", action="store_true", help="ask for none: answer from the cache")
    @argument(
        "--on-unreadable",
        choices=["raise", "drop"],
        default="raise",
        help="what to do with wallets that can't be read: ask for none, or leave these out",
    )
    @line_cell_magic
    def wallets(self, line: str, cell: str = "") -> WalletDetails | pd.DataFrame | None:
        """Fetch the tokens of wallets.

        In a line, the wallets stand behind the options: %wallets ETH.0x52… NEAR.alice.near
        In a cell, they follow one a line, and # begins a comment. The result is a WalletDetails;
        --out keeps it in a variable, and so does: details = %wallets ETH.0x52…
        --by shows totals instead: by token, asset, wallet, blockchain, or what --keep has kept.

        Examples, of a cell and two lines:

            %%wallets --out friends
            NEAR.alice.near  # Alice
            ETH.0x1111111111111111111111111111111111111111

            %wallets NEAR.alice.near --by asset
            %wallets --from people --keep owner --by owner --out details
        """
        options = self._options(line)
        if options.help:
            print(WalletMagics.wallets.__doc__)  # noqa: T201 - a magic talks to a person
            return None
        words = "\n".join([" ".join(options.wallets), cell])
        asked: Any = self._source(options, words) if options.source else _typed(options, words)
        client = self._client(options.client)
        how = {name: getattr(options, name) for name in _HOW}
        try:
            with _odd_input_printed():
                details = client.fetch(asked, **how, on_failure="ignore")
        except FetchInterrupted as stopped:
            self._keep(options, cast("WalletDetails", stopped.details))
            raise
        except WalletframeError as error:
            raise _refusal(str(error)) from None
        self._keep(options, details)
        self._tell_if_unseen(details)
        return _totals(options, details) if options.by else details

    def _options(self, line: str) -> Namespace:
        try:
            options: Namespace = parse_argstring(self.wallets, line)
        except ValueError as error:  # by shlex
            raise _refusal(f"{error}: {line.strip()}") from None
        if options.out and not options.out.isidentifier():
            raise _refusal(f"--out {options.out}: is not a variable name")
        return options

    def _source(self, options: Namespace, words: str) -> Any:
        """Return the wallets of a variable, or the path of a file of them."""
        if words.strip():
            raise UsageError("either --from, or wallets behind the options")
        if options.source in self._variables():
            return self._variables()[options.source]
        if not Path(options.source).is_file():
            raise _refusal(f"--from {options.source}: there is no such variable, and no such file")
        return Path(options.source)

    def _client(self, name: str | None) -> Client:
        if name is None:
            return default_client()
        client = self._variables().get(name)
        if not isinstance(client, Client):
            raise _refusal(f"--client {name}: there is no Client in a variable of this name")
        return client

    def _keep(self, options: Namespace, details: WalletDetails) -> None:
        if options.out:
            self._variables()[options.out] = details

    def _tell_if_unseen(self, details: WalletDetails) -> None:
        """Say what is not ok when the cell has ended, unless the result is its output."""
        reasons = failure_lines(details.wallets)
        if not reasons and details.wallets["error"].isna().all():
            return
        shell: Any = self.shell

        def tell(cell: ExecutionResult) -> None:
            shell.events.unregister("post_run_cell", tell)
            if cell.result is not details:
                _say([*summary_lines(*details), *(shown(line, _REASON) for line in reasons)])

        shell.events.register("post_run_cell", tell)

    def _variables(self) -> dict[str, Any]:
        shell: Any = self.shell  # which a magic that runs has
        names: dict[str, Any] = shell.user_ns
        return names


def _typed(options: Namespace, words: str) -> list[WalletAddress]:
    """Read wallets behind the options, and in the cell."""
    if options.keep:
        raise UsageError("--keep is for columns of wallets --from a variable or a file")
    found = read_pasted(words)
    reasons = [f"  {text}: {reason}" for _, text, reason in found.problems]
    if reasons and options.on_unreadable == "raise":
        raise _refusal("\n".join(["these wallets can't be read:", *reasons]))
    _say(["unreadable and left out:", *reasons] if reasons else [])
    if not found.wallets:
        raise UsageError("no wallets: write <BLOCKCHAIN>.<ADDRESS>, such as NEAR.alice.near")
    return found.wallets


def _totals(options: Namespace, details: WalletDetails) -> pd.DataFrame:
    try:
        return totals(details.holdings, options.by, wallets=details)
    except WalletframeError as error:
        raise _refusal(str(error)) from None


def _refusal(text: str) -> UsageError:
    """Return what IPython prints as it is: a cell may hold what a stranger wrote."""
    return UsageError(as_lines(text))


def _say(lines: list[str]) -> None:
    if lines:
        print(as_lines("\n".join(lines)), file=sys.stderr)  # noqa: T201 - a magic talks to a person


@contextmanager
def _odd_input_printed() -> Iterator[None]:
    """Print what is odd about the list; other warnings stay warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        yield
    _say([str(each.message) for each in caught if issubclass(each.category, InputWarning)])
    for each in caught:
        if not issubclass(each.category, InputWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@context_matcher(identifier="walletframe")
def _complete(context: CompletionContext) -> SimpleMatcherResult:
    """Complete blockchains and options behind the magics."""
    of_cell = context.full_text.lstrip().startswith("%%wallets")
    typed = context.line_with_cursor[: context.cursor_position]
    if not of_cell and "%wallets " not in typed:
        return {"completions": []}
    word = typed.rpartition(" ")[2]
    known = _OPTIONS if word.startswith("-") else [f"{name}." for name in known_blockchains()]
    fitting = [text for text in known if word and text.lower().startswith(word.lower())]
    token = context.token
    begin = len(word) - len(token) if word.endswith(token) else 0
    completions = [SimpleCompletion(text[begin:], type="wallet") for text in fitting]
    return {"completions": completions, "suppress": bool(completions)}


@dataclass(frozen=True, slots=True)
class _AsText:
    """Shows what it is given as the user's earlier formatter would, but for mathematics."""

    earlier: Callable[[Any], str | None] | None

    def __call__(self, table: Any) -> str | None:
        html = self.earlier(table) if self.earlier else frame_html(table)
        return None if html is None else without_mathematics(html)


def _print_details(details: WalletDetails, printer: Any, _cycle: bool) -> None:  # noqa: FBT001 - IPython's
    """Let a fetch fit the terminal, where there is one."""
    printer.text(display_text(*details, width=terminal_width()))


def _print_frame(frame: pd.DataFrame, printer: Any, _cycle: bool) -> None:  # noqa: FBT001 - IPython's
    printer.text(frame_text(frame))


_PRINTED = {
    "walletframe.frames.details.WalletDetails": _print_details,
    "pandas.DataFrame": _print_frame,
}


def load(shell: InteractiveShell) -> None:
    """Register the magics, their completion, and how tables are shown; once is as good as twice."""
    shell.register_magics(WalletMagics)
    matchers: list[Any] = shell.Completer.custom_matchers
    if _complete not in matchers:
        matchers.append(_complete)
    texts = _formatter(shell, "text/plain")
    for name, printed in _PRINTED.items():
        texts.for_type(name, texts.pop(name, printed))  # the user's own, if any
    formatter = _formatter(shell, "text/html")
    for name in _TABLES:
        earlier = formatter.pop(name, None)
        formatter.for_type(name, earlier if isinstance(earlier, _AsText) else _AsText(earlier))


def unload(shell: InteractiveShell) -> None:
    """Take the completion away, and show tables as before; IPython keeps the magics."""
    matchers: list[Any] = shell.Completer.custom_matchers
    if _complete in matchers:
        matchers.remove(_complete)
    texts = _formatter(shell, "text/plain")
    for name, printed in _PRINTED.items():
        if (found := texts.pop(name, printed)) is not printed:
            texts.for_type(name, found)
    formatter = _formatter(shell, "text/html")
    for name in _TABLES:
        ours = formatter.pop(name, None)
        earlier = ours.earlier if isinstance(ours, _AsText) else ours
        if earlier is not None:
            formatter.for_type(name, earlier)


def _formatter(shell: InteractiveShell, kind: str) -> Any:
    display: Any = shell.display_formatter
    return display.formatters[kind]
