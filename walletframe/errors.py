"""The errors and warnings of walletframe.

::

    Exception
    └── WalletframeError
        ├── AddressError         (ValueError)    one or more wallets that can't be read
        ├── AmountError          (ArithmeticError)  a value that is not an exact amount
        │   ├── AmountPrecisionError             digits would be lost, or are lost already
        │   ├── AmountTypeError  (TypeError)     an operation that amounts don't have
        │   └── AmountValueError (ValueError)    the same, when set in a column
        ├── ArgumentError        (TypeError)     an argument of the wrong type
        ├── ColumnsError         (KeyError)      a frame lacks what a method needs
        ├── PricesError          (ValueError)    prices that can't be used
        ├── UnknownTokenError    (LookupError)   a frame holds no such token
        ├── AmbiguousTokenError  (ValueError)    a symbol that several tokens share
        ├── UnknownWalletError   (LookupError)   a frame has no such wallet
        ├── UnknownBlockchainError (LookupError) a list has no such blockchain
        ├── FramesNeededError    (AttributeError) a folder on the disk lacks this method
        ├── SettingsError        (ValueError)    a setting that is unknown, missing or wrong
        ├── TokenListError       (ValueError)    a list of tokens that can't be read
        ├── LedgerError          (ValueError)    holdings that the sandbox can't serve
        ├── CacheError           (OSError)       cached answers can't be read
        ├── SnapshotError        (ValueError)    holdings that can't be saved or compared
        ├── UnknownSnapshotError (LookupError)   there is no snapshot, or none so early
        ├── HistoryError         (OSError)       a snapshot can't be read
        ├── DatasetError         (OSError)       a file or folder of holdings can't be used
        ├── ClusterError         (RuntimeError)  a cluster that can't fetch, or is gone
        ├── FetchError           (RuntimeError)  wallets failed, and on_failure="raise"
        └── MissingExtraError    (ImportError)   an optional dependency is not installed

    KeyboardInterrupt
    └── FetchInterrupted         a fetch that was stopped, with all that was finished

    UserWarning
    └── WalletframeWarning
        ├── AnswerWarning        unrequested wallets, or unreadable balances
        ├── CacheWarning         the cache can't be written or read
        ├── FetchWarning         some wallets failed
        ├── InputWarning         the input may not be what you meant
        ├── PricesWarning        none of the prices is for a token in the holdings
        ├── SpamWarning          rows were left out since their tokens look like spam
        └── TestKeyWarning       the shared test key is in use

Every error says what happened, then, after a blank line, what to do about it. All of them carry
plain data, survive pickling, and never hold the API key.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from walletframe.text import token_text, unlinked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PACKAGE = __name__.partition(".")[0]
Problems: TypeAlias = tuple[tuple[int, str, str], ...]  # position, value and reason
_SHOWN, _NAMES_SHOWN = 20, 10


def _rebuild(kind: type[WalletframeError], text: str, state: dict[str, Any]) -> WalletframeError:
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update({"message": text, "hint": ""} | state)
    return error


class WalletframeError(Exception):
    """The root of all errors that walletframe raises: what happened, and what to do about it.

    Parameters
    ----------
    message : str
        What happened.
    hint : str, optional
        What to do about it; shown behind the message.

    Attributes
    ----------
    message, hint : str
        As the parameters; the hint is empty if there is nothing to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.message: str = message
        self.hint: str = hint
        super().__init__(f"{message}\n\nHint: {hint}" if hint else message)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], dict(self.__dict__))


class AddressError(WalletframeError, ValueError):
    """One or more wallet addresses that can't be read, all reported at once.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the input, the value as text, and the reason, one for each bad wallet: the
        message shows the first twenty, the attribute has all of them.
    where : str, optional
        What the positions count.
    """

    def __init__(
        self, problems: Sequence[tuple[int, str, str]], where: str = "by position, from 0"
    ) -> None:
        noun = "wallet address" if len(problems) == 1 else "wallet addresses"
        super().__init__(
            _listed(
                f"{len(problems)} {noun} can't be read ({where}):",
                [(f"{place}: {value!r}", reason) for place, value, reason in problems],
            ),
            hint=(
                'write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", or as a '
                "(blockchain, address) pair"
            ),
        )
        self.problems: Problems = tuple(problems)

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for IPython, without the frames of this package."""
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - only IPython calls this

        shell: Any = get_ipython()
        frames = _callers_traceback(self.__traceback__)
        traceback: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return traceback


def _callers_traceback(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    if trace is None:
        return None
    rest = _callers_traceback(trace.tb_next)
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _listed(first: str, problems: Sequence[tuple[str, str]]) -> str:
    """Return a message that lists the first problems, each with its position, value and reason."""
    shown = [unlinked(f"  {place}: {reason}") for place, reason in problems[:_SHOWN]]
    return "\n".join([first, *shown, *_more(len(problems) - _SHOWN, "  ", ".problems")])


def _more(count: int, indent: str, attribute: str) -> list[str]:
    """Return a line that counts the items left out, if any, and names the attribute with all."""
    return [f"{indent}… and {count} more (see {attribute})"] if count > 0 else []


class AmountError(WalletframeError, ArithmeticError):
    """A value that is not an exact amount, or does not fit its target type.

    It is not a ValueError, since pandas catches a ValueError and leaves the column as it is.
    """


class AmountPrecisionError(AmountError):
    """Digits would be lost, or already are: a float, too many decimals, a narrow dtype."""


class AmountTypeError(AmountError, TypeError):
    """An operation that amounts don't support; the hint says what to write instead."""


class AmountValueError(AmountError, ValueError):
    """A value to be set or inserted in a column of amounts is not an exact amount."""


class ArgumentError(WalletframeError, TypeError):
    """An argument of the wrong type; the hint says what the function takes."""


class ColumnsError(WalletframeError, KeyError):
    """A DataFrame lacks columns that a method needs.

    Parameters
    ----------
    missing : sequence of str
        The names of the missing columns; a tuple of them is an attribute.
    present : sequence of str
        The names of the columns that are there.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, missing: Sequence[str], present: Sequence[str], hint: str = "") -> None:
        lacking, columns = (", ".join(map(repr, names)) for names in (missing, present))
        message = f"the DataFrame lacks {lacking}; its columns: {unlinked(columns or 'none')}"
        super().__init__(message, hint)
        self.missing: tuple[str, ...] = tuple(missing)


class PricesError(WalletframeError, ValueError):
    """Prices that can't be used; all problems are reported at once.

    Parameters
    ----------
    message : str
        What is wrong.
    hint : str, optional
        What to do about it.
    problems : sequence of (int, str, str), optional
        Position among the prices, or line of their file, the value as text, and the reason, one
        for each bad price: the message shows the first twenty, the attribute has all of them.
    """

    def __init__(
        self, message: str, hint: str = "", problems: Sequence[tuple[int, str, str]] = ()
    ) -> None:
        listed = [(f"{place}: {value!r}", reason) for place, value, reason in problems]
        super().__init__(_listed(message, listed), hint)
        self.problems: Problems = tuple(problems)


class SettingsError(WalletframeError, ValueError):
    """A setting or option that is unknown, missing, contradictory or out of range."""


class LedgerError(WalletframeError, ValueError):
    """Holdings that were given to the sandbox and can't be served."""


class MissingExtraError(WalletframeError, ImportError):
    """An optional dependency is not installed, or does not work; the hint says what to do.

    Parameters
    ----------
    extra : str
        The extra of walletframe that installs it; an attribute as well.
    purpose : str
        The feature that needs it.
    lacking : str, optional
        The thing that is missing, if that is not the extra's packages.
    hint : str, optional
        What to do about it, if that is not to install them.
    """

    def __init__(self, extra: str, purpose: str, lacking: str = "", hint: str = "") -> None:
        from importlib.metadata import distributions  # noqa: PLC0415 - slow to load

        # The packages one by one, since pip may not find the index that walletframe came from.
        needed = [each for dist in distributions(name=_PACKAGE) for each in dist.requires or []]
        ours = {each.partition(";")[0] for each in needed if each.endswith(f"extra == '{extra}'")}
        names = " ".join(f'"{name}"' for name in sorted(ours) or [f"{_PACKAGE}[{extra}]"])
        packages = f"packages that are not installed (the extra walletframe[{extra}])"
        super().__init__(f"{purpose} needs {lacking or packages}", hint or f"pip install {names}")
        self.extra = extra


class TokenListError(WalletframeError, ValueError):
    """A list of tokens that can't be read, or two that contradict each other.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the list, the entry as text, and the reason, one for each bad entry: the
        message shows the first twenty, the attribute has all of them.
    hint : str, optional
        What to give instead.
    """

    def __init__(
        self,
        problems: Sequence[tuple[int, str, str]],
        hint: str = "give a file in the Uniswap token-list format, a frame with token_blockchain "
        "and token_address, or (blockchain, contract) pairs",
    ) -> None:
        listed = [(f"{place}: {entry}", reason) for place, entry, reason in problems]
        super().__init__(
            _listed("a list of tokens can't be used (by position, from 0):", listed), hint
        )
        self.problems: Problems = tuple(problems)


class UnknownTokenError(WalletframeError, LookupError):
    """The holdings have no such token: give (blockchain, contract), or a symbol as written.

    Parameters
    ----------
    token : str or (str, str or None)
        The requested symbol, or (blockchain, contract); an attribute as well.
    what : str, default "token"
        The noun for the message, such as "asset".
    hint : str, optional
        What to do about it.
    """

    def __init__(
        self, token: str | tuple[str, str | None], what: str = "token", hint: str = ""
    ) -> None:
        named = unlinked(repr(token)) if isinstance(token, str) else token_text(token)
        default_hint = (
            "a token is (blockchain, contract), with None for a native coin, or a symbol "
            "exactly as in the column symbol"
        )
        super().__init__(f"no row has the {what} {named}", hint or default_hint)
        self.token = token


class AmbiguousTokenError(WalletframeError, ValueError):
    """One or more symbols that several tokens share: name the token that you mean.

    Parameters
    ----------
    contracts : mapping of str to sequence of (str, str or None)
        The tokens of each symbol, as (blockchain, contract). The message shows the first ten
        symbols, and the first ten tokens of each; the attribute, a dict of lists, has all.
    hint : str, optional
        What to do about it.
    notes : mapping of (str, str or None) to str, optional
        Remarks on some of the tokens, shown behind them.
    """

    def __init__(
        self,
        contracts: Mapping[str, Sequence[tuple[str, str | None]]],
        hint: str = "name the token as (blockchain, contract)",
        *,
        notes: Mapping[tuple[str, str | None], str] | None = None,
    ) -> None:
        by_symbol = {symbol: list(tokens) for symbol, tokens in contracts.items()}
        listed = ["a symbol is ambiguous if several contracts share it:"]
        for name, tokens in list(by_symbol.items())[:_NAMES_SHOWN]:
            listed.append(unlinked(f"  {name!a}:"))
            for token in tokens[:_NAMES_SHOWN]:
                note = (notes or {}).get(token, "")
                listed.append(f"    {token_text(token)}{unlinked(note and f': {note}')}")
            listed += _more(len(tokens) - _NAMES_SHOWN, "    ", ".contracts")
        rest = _more(len(by_symbol) - _NAMES_SHOWN, "  ", ".contracts")
        super().__init__("\n".join([*listed, *rest]), hint)
        self.contracts = by_symbol


class UnknownWalletError(WalletframeError, LookupError):
    """A frame has no such wallet; failed and empty wallets have no rows in holdings.

    Parameters
    ----------
    wallet : str
        The requested wallet; an attribute as well.
    hint : str, optional
        What to do about it.
    """

    def __init__(
        self,
        wallet: str,
        hint: str = "a wallet that failed, or holds nothing, has no rows in holdings",
    ) -> None:
        super().__init__(unlinked(f"no row has the wallet {wallet!r}"), hint)
        self.wallet = wallet


class UnknownBlockchainError(WalletframeError, LookupError):
    """There is no such blockchain to choose from; the hint lists some.

    Parameters
    ----------
    blockchain : str
        The requested identifier; an attribute as well.
    known : sequence of str
        The identifiers to choose from.
    """

    def __init__(self, blockchain: str, known: Sequence[str]) -> None:
        more = ", …" if len(known) > _NAMES_SHOWN else ""
        super().__init__(
            unlinked(f"no blockchain {blockchain!r} is offered"),
            hint=unlinked(f"choose from: {', '.join(known[:_NAMES_SHOWN]) or 'none'}{more}"),
        )
        self.blockchain = blockchain


class Details(Protocol):
    """A `WalletDetails`, or a `FetchSummary` of a fetch into a folder."""

    @property
    def wallets(self) -> Any:
        """A DataFrame of the wallets, or their number in a `FetchSummary`."""


class CacheError(WalletframeError, OSError):
    """Cached answers can't be read: the message says which and why."""


class ClusterError(WalletframeError, RuntimeError):
    """Some workers can't fetch (they are named, and nothing was sent), or the cluster is gone."""


class DatasetError(WalletframeError, OSError):
    """A file or a folder of holdings can't be read or written as one; nothing in it is lost."""


class HistoryError(WalletframeError, OSError):
    """A snapshot on this machine can't be read; the others still can."""


class SnapshotError(WalletframeError, ValueError):
    """Holdings that can't be saved or compared, or a time that can't be read."""


class FramesNeededError(WalletframeError, AttributeError):
    """A method that needs frames in memory was called on a folder on the disk."""


class UnknownSnapshotError(WalletframeError, LookupError):
    """There is no snapshot, or none so early; ``history.snapshots()`` lists them."""


class FetchError(WalletframeError, RuntimeError):
    """Some wallets failed, and ``on_failure="raise"`` asked for an error in that case.

    Parameters
    ----------
    message : str
        How many wallets failed, and why.
    details : WalletDetails or FetchSummary
        The result, with a row for every requested wallet; for a fetch into a folder the summary.
        It is an attribute as well.
    hint : str, optional
        What to do about it.
    """

    def __init__(
        self,
        message: str,
        details: Details,
        hint: str = "the error's .details have what was fetched",
    ) -> None:
        super().__init__(message, hint)
        self.details: Details = details


class FetchInterrupted(KeyboardInterrupt):
    """A fetch was interrupted; a KeyboardInterrupt, so that Run All and scripts stop as well.

    Parameters
    ----------
    details : WalletDetails or FetchSummary
        The result so far; unfinished wallets have the status ``cancelled``. For a fetch into a
        folder it is the summary. It is an attribute as well. The cache or the folder has the
        finished wallets, and the next call requests only the rest.
    hint : str, optional
        What to do about it; an attribute as well.
    """

    def __init__(
        self,
        details: Details,
        hint: str = "the error's .details have what was finished; the same call again requests "
        "only the rest",
    ) -> None:
        self.details: Details = details
        self.hint: str = hint
        super().__init__(f"the fetch was interrupted\n\nHint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FetchInterrupted, (self.details, self.hint)


class WalletframeWarning(UserWarning):
    """The root of all warnings of walletframe."""


class AnswerWarning(WalletframeWarning):
    """The service sent wallets that were not requested, or balances that can't be read.

    Unrequested wallets were left out. Unreadable values are NA; everything else is complete.
    """


class CacheWarning(WalletframeWarning):
    """The cache can't be written or read; the fetch continues without it."""


class FetchWarning(WalletframeWarning):
    """Some wallets failed; their rows say why."""


class InputWarning(WalletframeWarning):
    """The input is used, but may not be what you meant: repeats, odd names, rows left out.

    Parameters
    ----------
    message : str
        Counts the rows and shows the first.
    problems : sequence of (int, str, str), optional
        As in `AddressError`: all rows of a list that were left out, or whose label was.
    """

    def __init__(self, message: str, problems: Problems = ()) -> None:
        super().__init__(message)
        self.problems: Problems = tuple(problems)


class PricesWarning(WalletframeWarning):
    """None of the given prices is for a token in the holdings."""


class SpamWarning(WalletframeWarning):
    """Rows were left out, as requested, since their tokens look like spam; never an error."""


class TestKeyWarning(WalletframeWarning):
    """The shared test key is in use, which is for testing only."""

    __test__ = False


__all__ = [
    name
    for name, kind in sorted(globals().items())
    if isinstance(kind, type)
    and issubclass(kind, WalletframeError | FetchInterrupted | WalletframeWarning)
]
