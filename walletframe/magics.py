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
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.core import completer
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from walletframe.address.lists import read_pasted
from walletframe.analysis import totals
from walletframe.chains import known_blockchains
from walletframe.client import Client, default_client
from walletframe.errors import FetchInterrupted, InputWarning, WalletframeError
from walletframe.frames.display import display_text, frame_html, frame_text, without_mathematics
from walletframe.frames.known import failure_lines, summary_lines
from walletframe.frames.tables import terminal_width
from walletframe.text import as_lines, shown

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping

    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

    from walletframe.frames.details import WalletDetails

_OPTIONS = (
    *("--by", "--client", "--from", "--help", "--keep"),
    *("--offline", "--on-unreadable", "--out", "--refresh"),
)
_HOW = ("keep", "refresh", "offline", "on_unreadable")  # as `Client.fetch` takes them
_REASON = 160
# What of pandas is shown as HTML, by name: Styler is loaded only where it is used. Jupyter's pages
# typeset what stands between dollars in a table, and strangers choose symbols: pandas shows its
# frames as its options say, but in an element that MathJax leaves alone.
_FRAME = f"{pd.DataFrame.__module__}.DataFrame"  # which pandas 3 names anew
_TABLES = (_FRAME, "pandas.io.formats.style.Styler")


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
        shell: Any = self.shell  # which a magic that runs has
        names: dict[str, Any] = shell.user_ns
        try:
            options = parse_argstring(self.wallets, line)
        except ValueError as error:  # by shlex
            raise _refusal(f"{error}: {line.strip()}") from None
        if options.help:
            print(WalletMagics.wallets.__doc__)  # noqa: T201 - a magic talks to a person
            return None
        if options.out and not options.out.isidentifier():
            raise _refusal(f"--out {options.out}: is not a variable name")
        kept = names if options.out else {}
        asked = _asked(options, "\n".join([" ".join(options.wallets), cell]), names)
        client = default_client() if options.client is None else names.get(options.client)
        if not isinstance(client, Client):
            said = f"--client {options.client}: there is no Client in a variable of this name"
            raise _refusal(said)
        try:
            with _odd_input_printed():
                how = {name: getattr(options, name) for name in _HOW}
                details = client.fetch(asked, **how, on_failure="ignore")
            kept[options.out] = details
            self._tell_if_unseen(details)
            return totals(details.holdings, options.by, wallets=details) if options.by else details
        except FetchInterrupted as stopped:
            kept[options.out] = stopped.details
            raise
        except WalletframeError as error:
            raise _refusal(str(error)) from None

    def _tell_if_unseen(self, details: WalletDetails) -> None:
        """Print what is not ok when the cell has ended, unless the result is its output."""
        reasons = failure_lines(details.wallets)
        if not reasons and details.wallets["error"].isna().all():
            return
        shell: Any = self.shell

        def tell(cell: ExecutionResult) -> None:
            shell.events.unregister("post_run_cell", tell)
            if cell.result is not details:
                _say([*summary_lines(*details), *(shown(line, _REASON) for line in reasons)])

        shell.events.register("post_run_cell", tell)


def _asked(options: Namespace, words: str, names: Mapping[str, Any]) -> Any:
    """Read wallets behind the options and in the cell, or from a variable or a file."""
    if options.source:
        if words.strip():
            raise UsageError("either --from, or wallets behind the options")
        if options.source in names:
            return names[options.source]
        if not Path(options.source).is_file():
            said = "there is no such variable, and no such file"
            raise _refusal(f"--from {options.source}: {said}")
        return Path(options.source)
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


# New in IPython 8.6: an older one completes nothing behind the magics.
_matcher = getattr(completer, "context_matcher", lambda **_: lambda function: function)


@_matcher(identifier="walletframe")
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
    completions = [completer.SimpleCompletion(text[begin:], type="wallet") for text in fitting]
    return {"completions": completions, "suppress": bool(completions)}


@dataclass(frozen=True, slots=True)
class _AsText:
    """Shows what it is given as the user's earlier formatter would, but for mathematics."""

    earlier: Callable[[Any], str | None] | None

    def __call__(self, table: Any) -> str | None:
        html = self.earlier(table) if self.earlier else frame_html(table)
        return None if html is None else without_mathematics(html)


def _print_details(details: WalletDetails, printer: Any, _cycle: bool) -> None:  # noqa: FBT001 - IPython's
    """Fit a fetch to the terminal, where there is one."""
    printer.text(display_text(*details, width=terminal_width()))


_PRINTED: dict[str, Any] = {
    "walletframe.frames.details.WalletDetails": _print_details,
    _FRAME: lambda frame, printer, _cycle: printer.text(frame_text(frame)),
}


def load(shell: InteractiveShell) -> None:
    """Register the magics, their completion, and how tables are shown; once is as good as twice."""
    shell.register_magics(WalletMagics)
    matchers = _matchers(shell)
    if _complete not in matchers:
        matchers.append(_complete)
    display: Any = shell.display_formatter
    texts, pages = display.formatters["text/plain"], display.formatters["text/html"]
    for name, printed in _PRINTED.items():
        texts.for_type(name, texts.pop(name, printed))  # the user's own, if any
    for name in _TABLES:
        earlier = pages.pop(name, None)
        pages.for_type(name, earlier if isinstance(earlier, _AsText) else _AsText(earlier))


def unload(shell: InteractiveShell) -> None:
    """Take the completion away, and show tables as before; IPython keeps the magics."""
    matchers = _matchers(shell)
    if _complete in matchers:
        matchers.remove(_complete)
    display: Any = shell.display_formatter
    texts, pages = display.formatters["text/plain"], display.formatters["text/html"]
    for name, printed in _PRINTED.items():
        if (found := texts.pop(name, printed)) is not printed:
            texts.for_type(name, found)
    for name in _TABLES:
        ours = pages.pop(name, None)
        earlier = ours.earlier if isinstance(ours, _AsText) else ours
        if earlier is not None:
            pages.for_type(name, earlier)


def _matchers(shell: InteractiveShell) -> list[Any]:
    return getattr(shell.Completer, "custom_matchers", [])  # where IPython has them
