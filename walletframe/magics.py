"""``%load_ext walletframe``: the magic ``%wallets``, and the display of DataFrames.

Wrong input is a usage error, which IPython shows without a traceback. Failed wallets and unreadable
input are printed below the cell, since warnings from a magic could not point at the user's code.
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

from walletframe.address.lists import alias_replacement_texts, read_pasted
from walletframe.analysis.sums import totals
from walletframe.chains import known_blockchains
from walletframe.client import Client, default_client
from walletframe.errors import FetchInterrupted, InputWarning, WalletframeError
from walletframe.frames.display import details_text, disable_mathjax
from walletframe.frames.known import failure_lines, summary_lines
from walletframe.frames.results import frame_html, frame_text
from walletframe.frames.tables import terminal_width
from walletframe.text import remove_invisible, safe_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping

    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

    from walletframe.frames.details import WalletDetails

_OPTIONS = (
    *("--by", "--client", "--fix", "--from", "--help", "--keep"),
    *("--offline", "--on-unreadable", "--out", "--refresh"),
)
_FETCH_OPTIONS = ("keep", "refresh", "offline", "on_unreadable", "fix")
# Jupyter typesets text between dollar signs as mathematics, and symbols are untrusted text. So the
# HTML of these pandas classes is put into an element that MathJax ignores. Classes are registered
# by name, because Styler is imported only when it is used.
_FRAME = f"{pd.DataFrame.__module__}.DataFrame"  # pandas 3 has another module name
_HTML_CLASSES = (_FRAME, "pandas.io.formats.style.Styler")


@magics_class
class WalletMagics(Magics):
    """The magics of walletframe."""

    @magic_arguments()
    @argument("-h", "--help", action="store_true", help="show this help and send no request")
    @argument("wallets", nargs="*", help="wallets such as ETH.0x52… or NEAR.alice.near")
    @argument("-o", "--out", metavar="NAME", help="store the WalletDetails in this variable")
    @argument("-c", "--client", metavar="NAME", help="use the Client in this variable")
    @argument("--from", dest="source", metavar="NAME", help="read wallets from a variable or file")
    @argument(
        "--keep", action="append", default=[], metavar="NAME", help="keep this column of --from"
    )
    @argument("--by", action="append", metavar="NAME", help="show totals by NAME (repeatable)")
    @argument("--refresh", action="store_true", help="request every wallet, even if it is cached")
    @argument("--offline", action="store_true", help="send no request; use only the cache")
    @argument(
        "--on-unreadable",
        choices=["raise", "drop", "ask"],
        default="raise",
        help="if wallets can't be read: raise an error, drop them, or request them as written",
    )
    @argument("--fix", action="store_true", help="replace names of blockchains (Ethereum by ETH)")
    @line_cell_magic
    def wallets(self, line: str, cell: str = "") -> WalletDetails | pd.DataFrame | None:
        """Fetch the tokens of wallets.

        With %wallets, write wallets after the options: %wallets ETH.0x52… NEAR.alice.near
        With %%wallets, write one wallet per line below; # begins a comment.
        The result is a WalletDetails. To store the result in a variable, use --out, or write
        details = %wallets ETH.0x52…
        With --by, the result is a table of totals: by token, asset, wallet or blockchain, or by a
        column of --keep.

        Examples of a cell and of two lines:

            %%wallets --out friends
            NEAR.alice.near  # Alice
            ETH.0x1111111111111111111111111111111111111111

            %wallets NEAR.alice.near --by asset
            %wallets --from people --keep owner --by owner --out details
        """
        shell: Any = self.shell  # never None while a magic runs
        names: dict[str, Any] = shell.user_ns
        try:
            options = parse_argstring(self.wallets, line)
        except ValueError as error:  # from shlex
            raise _usage_error(f"{error}: {line.strip()}") from None
        if options.help:
            print(WalletMagics.wallets.__doc__)  # noqa: T201 - the output of a magic is printed below its cell
            return None
        if options.out and not options.out.isidentifier():
            raise _usage_error(f"--out {options.out} is not a valid variable name")
        variables = names if options.out else {}
        requested = _read_wallets(options, "\n".join([" ".join(options.wallets), cell]), names)
        client = default_client() if options.client is None else names.get(options.client)
        if not isinstance(client, Client):
            raise _usage_error(f"--client {options.client}: no variable of this name is a Client")
        try:
            with _print_input_warnings():
                fetch_options = {name: getattr(options, name) for name in _FETCH_OPTIONS}
                details = client.fetch(requested, **fetch_options, on_failure="ignore")
            variables[options.out] = details
            self._print_failures_after_cell(details)
            return totals(details.holdings, options.by, wallets=details) if options.by else details
        except FetchInterrupted as stopped:
            variables[options.out] = stopped.details
            raise
        except WalletframeError as error:
            raise _usage_error(str(error)) from None

    def _print_failures_after_cell(self, details: WalletDetails) -> None:
        """Print the failures after the cell has run, unless the cell displays the result."""
        reasons = failure_lines(details.wallets)
        if not reasons and details.wallets["error"].isna().all():
            return
        shell: Any = self.shell

        def print_summary_after_cell(cell: ExecutionResult) -> None:
            shell.events.unregister("post_run_cell", print_summary_after_cell)
            if cell.result is not details:
                shown = [safe_line(line, 160) for line in reasons]
                _print_lines([*summary_lines(*details), *shown])

        shell.events.register("post_run_cell", print_summary_after_cell)


def _read_wallets(options: Namespace, text: str, names: Mapping[str, Any]) -> Any:
    if options.source:
        if text.strip():
            raise UsageError("use either --from or wallets, not both")
        if options.source in names:
            return names[options.source]
        if not Path(options.source).is_file():
            raise _usage_error(f"--from {options.source}: no variable or file has this name")
        return Path(options.source)
    if options.keep:
        raise UsageError("--keep needs a table: add --from with a variable or a CSV file")
    pasted = read_pasted(text, on_unreadable=options.on_unreadable, fix=options.fix)
    reasons = [f"  {value}: {reason}" for _, value, reason in pasted.problems]
    if reasons and options.on_unreadable != "drop":
        hint = "Correct them, or leave them out with --on-unreadable drop."
        raise _usage_error("\n".join(["these wallets can't be read:", *reasons, hint]))
    _print_lines(["these wallets can't be read and are left out:", *reasons] if reasons else [])
    if not pasted.wallets:
        raise UsageError("no wallets were given; add wallets, such as NEAR.alice.near")
    _print_lines([f"replaced {text}" for text in alias_replacement_texts(pasted.aliases)])
    return pasted.wallets


def _usage_error(text: str) -> UsageError:
    return UsageError(remove_invisible(text))


def _print_lines(lines: list[str]) -> None:
    if lines:
        print(remove_invisible("\n".join(lines)), file=sys.stderr)  # noqa: T201 - the output of a magic is printed below its cell


@contextmanager
def _print_input_warnings() -> Iterator[None]:
    """Print the warnings about the input. Afterwards, issue all other warnings again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        yield
    _print_lines([str(each.message) for each in caught if issubclass(each.category, InputWarning)])
    for each in caught:
        if not issubclass(each.category, InputWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


# `context_matcher` needs IPython 8.6. Older versions don't complete wallets and options.
_matcher = getattr(completer, "context_matcher", lambda **_: lambda function: function)


@_matcher(identifier="walletframe")
def _complete_magic_line(context: CompletionContext) -> SimpleMatcherResult:
    is_cell_magic = context.full_text.lstrip().startswith("%%wallets")
    typed = context.line_with_cursor[: context.cursor_position]
    if not is_cell_magic and "%wallets " not in typed:
        return {"completions": []}
    word = typed.rpartition(" ")[2]
    known = _OPTIONS if word.startswith("-") else [f"{name}." for name in known_blockchains()]
    matches = [text for text in known if word and text.lower().startswith(word.lower())]
    token = context.token
    begin = len(word) - len(token) if word.endswith(token) else 0
    completions = [completer.SimpleCompletion(text[begin:], type="wallet") for text in matches]
    return {"completions": completions, "suppress": bool(completions)}


@dataclass(frozen=True, slots=True)
class _NoMathJaxFormatter:
    """A wrapper of an HTML formatter that disables MathJax in the HTML."""

    earlier: Callable[[Any], str | None] | None

    def __call__(self, table: Any) -> str | None:
        html = self.earlier(table) if self.earlier else frame_html(table)
        return None if html is None else disable_mathjax(html)


_TEXT_PRINTERS: dict[str, Any] = {
    "walletframe.frames.details.WalletDetails": lambda details, printer, _cycle: printer.text(
        details_text(*details, width=terminal_width())
    ),
    _FRAME: lambda frame, printer, _cycle: printer.text(frame_text(frame)),
}


def load(shell: InteractiveShell) -> None:
    """Register magics, completion and the display of tables. A second call has no effect."""
    shell.register_magics(WalletMagics)
    matchers, text_formatter, html_formatter = _matchers_and_formatters(shell)
    if _complete_magic_line not in matchers:
        matchers.append(_complete_magic_line)
    for name, printer in _TEXT_PRINTERS.items():
        # Keep the user's own formatter.
        text_formatter.for_type(name, text_formatter.pop(name, printer))
    for name in _HTML_CLASSES:
        earlier = html_formatter.pop(name, None)
        is_ours = isinstance(earlier, _NoMathJaxFormatter)
        html_formatter.for_type(name, earlier if is_ours else _NoMathJaxFormatter(earlier))


def unload(shell: InteractiveShell) -> None:
    """Restore the earlier Tab completion and table display. IPython can't remove magics."""
    matchers, text_formatter, html_formatter = _matchers_and_formatters(shell)
    if _complete_magic_line in matchers:
        matchers.remove(_complete_magic_line)
    for name, printer in _TEXT_PRINTERS.items():
        if (formatter := text_formatter.pop(name, printer)) is not printer:
            text_formatter.for_type(name, formatter)
    for name in _HTML_CLASSES:
        ours = html_formatter.pop(name, None)
        earlier = ours.earlier if isinstance(ours, _NoMathJaxFormatter) else ours
        if earlier is not None:
            html_formatter.for_type(name, earlier)


def _matchers_and_formatters(shell: InteractiveShell) -> tuple[list[Any], Any, Any]:
    matchers = getattr(shell.Completer, "custom_matchers", [])  # missing in older versions
    display: Any = shell.display_formatter
    return matchers, display.formatters["text/plain"], display.formatters["text/html"]
