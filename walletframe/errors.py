"""The errors and warnings of walletframe.

::

    Exception
    └── WalletframeError
        ├── AddressError         (ValueError)    one or more wallets that can't be read
        ├── AmountError          (ArithmeticError)  a value that is not an exact amount
        │   ├── AmountPrecisionError             digits would be lost, or were already lost
        │   ├── AmountTypeError  (TypeError)     an operation that amounts don't support
        │   └── AmountValueError (ValueError)    a value assigned to a column is not an amount
        ├── ArgumentError        (TypeError)     an argument of the wrong type
        ├── ColumnsError         (KeyError)      columns that a method needs are missing
        ├── PricesError          (ValueError)    prices that can't be used
        ├── UnknownTokenError    (LookupError)   the holdings don't contain the token
        ├── AmbiguousTokenError  (ValueError)    several tokens share a symbol
        ├── UnknownWalletError   (LookupError)   the frame doesn't contain the wallet
        ├── UnknownBlockchainError (LookupError) the options don't contain the blockchain
        ├── FramesNeededError    (AttributeError) a method needs a DataFrame
        ├── SettingsError        (ValueError)    a setting that is unknown, missing or invalid
        ├── TokenListError       (ValueError)    a list of tokens that can't be read
        ├── LedgerError          (ValueError)    holdings that the sandbox can't serve
        ├── CacheError           (OSError)       cached answers can't be read
        ├── SnapshotError        (ValueError)    holdings can't be saved, compared or added up
        ├── UnknownSnapshotError (LookupError)   no snapshot from the requested time or before
        ├── HistoryError         (OSError)       a snapshot can't be read
        ├── DatasetError         (OSError)       a file or folder of holdings can't be used
        ├── ClusterError         (RuntimeError)  a cluster can't fetch, or was lost
        ├── FetchError           (RuntimeError)  wallets failed, and on_failure is "raise"
        └── MissingExtraError    (ImportError)   an optional dependency is not installed

    KeyboardInterrupt
    └── FetchInterrupted         a fetch was stopped; the error contains the finished wallets

    UserWarning
    └── WalletframeWarning
        ├── AnswerWarning        unrequested wallets, or unreadable balances
        ├── CacheWarning         the cache can't be written or read
        ├── FetchWarning         some wallets failed
        ├── InputWarning         the input may not be what you meant
        ├── PricesWarning        no price matches a token in the holdings
        ├── SpamWarning          rows were left out because their tokens look like spam
        └── TestKeyWarning       the shared test key is in use

The text of an error usually ends with a blank line and a hint. All errors can be pickled, have
attributes of plain Python types, and never contain the API key.
"""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from walletframe.numerals import counted_noun
from walletframe.text import defang_links, token_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PACKAGE = __name__.partition(".")[0]
Problems: TypeAlias = tuple[tuple[int, str, str], ...]  # position, value and reason
POSITIONS_NOTE = "listed by position, counted from 0"
_MAX_PROBLEMS, _MAX_NAMES = 20, 10


def _unpickle(kind: type[WalletframeError], text: str, state: dict[str, Any]) -> WalletframeError:
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update({"message": text, "hint": ""} | state)
    return error


class WalletframeError(Exception):
    """The base class of all errors that walletframe raises.

    Parameters
    ----------
    message : str
        The description of the error.
    hint : str, optional
        The advice that is shown after the message.

    Attributes
    ----------
    message, hint : str
        The parameters. The hint is an empty string if there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.message: str = message
        self.hint: str = hint
        super().__init__(f"{message}\n\nHint: {hint}" if hint else message)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (type(self), self.args[0], dict(self.__dict__))


class AddressError(WalletframeError, ValueError):
    """Wallet addresses can't be read. One error reports all unreadable addresses.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        The position, the value as text, and the reason, for each unreadable wallet. The message
        shows the first twenty problems. The attribute ``problems`` contains all problems.
    where : str, optional
        A note for the message about the positions, such as "listed by line number".
    fixes : sequence of (int, str, str), optional
        The position, the blockchain as written, and the service's identifier, for each wallet whose
        blockchain is not written as this identifier. The message counts the wallets of each written
        name. The attributes ``fixes`` and ``problems`` contain all these wallets.
    malformed : bool, default False
        Whether some addresses don't have the format of the blockchain. A fetch with
        ``on_unreadable="ask"`` requests these addresses.
    """

    def __init__(
        self,
        problems: Sequence[tuple[int, str, str]],
        where: str = POSITIONS_NOTE,
        fixes: Sequence[tuple[int, str, str]] = (),
        *,
        malformed: bool = False,
    ) -> None:
        noun = "wallet address" if len(problems) == 1 else "wallet addresses"
        message = _join_problem_lines(
            f"{len(problems)} {noun} can't be read ({where}):",
            [(f"{position}: {value!r}", reason) for position, value, reason in problems],
        )
        hint = (
            'write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", or as a '
            "(blockchain, address) pair"
        )
        if malformed:
            hint = (
                'correct these addresses, or pass on_unreadable="drop" to leave them out; a fetch '
                'with on_unreadable="ask" requests them unchanged'
            )
        if fixes:
            counts = Counter(f"write {name} instead of {alias!r}" for _, alias, name in fixes)
            wallets = counted_noun(len(fixes), "wallet")
            aliases = _join_problem_lines(
                f"the service has another name for the blockchain of {wallets}:",
                [(text, counted_noun(count, "wallet")) for text, count in counts.items()],
            )
            message = f"{message}\n{aliases}" if problems else aliases
            fix = "to replace these names, pass fix=True to fetch_wallets or call wf.clean(…) first"
            hint = f"{hint}; in addition, {fix}" if problems else fix
        super().__init__(message, hint)
        aliased = ((position, alias, f"write {name} instead") for position, alias, name in fixes)
        self.problems: Problems = tuple(sorted((*problems, *aliased)))
        self.fixes: Problems = tuple(fixes)

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for IPython, without the frames of this package."""
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - only IPython calls this

        shell: Any = get_ipython()
        frames = _without_package_frames(self.__traceback__)
        traceback: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return traceback


def _without_package_frames(trace: TracebackType | None) -> TracebackType | None:
    if trace is None:
        return None
    rest = _without_package_frames(trace.tb_next)
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _join_problem_lines(first_line: str, problems: Sequence[tuple[str, str]]) -> str:
    shown = [defang_links(f"  {item}: {reason}") for item, reason in problems[:_MAX_PROBLEMS]]
    rest = _remaining_count_lines(len(problems) - _MAX_PROBLEMS, "  ", ".problems")
    return "\n".join([first_line, *shown, *rest])


def _remaining_count_lines(count: int, indent: str, attribute: str) -> list[str]:
    return [f"{indent}… and {count} more (see {attribute})"] if count > 0 else []


class AmountError(WalletframeError, ArithmeticError):
    """A value is not an exact amount, or does not fit the target type.

    This class is not a ValueError: pandas catches a ValueError and leaves the column unconverted.
    """


class AmountPrecisionError(AmountError):
    """Digits would be lost, or were already lost, for example in a float or a narrow dtype."""


class AmountTypeError(AmountError, TypeError):
    """Amounts don't support the operation. The hint says what to write instead."""


class AmountValueError(AmountError, ValueError):
    """A value assigned to a column of amounts is not an exact amount."""


class ArgumentError(WalletframeError, TypeError):
    """An argument has the wrong type. The hint says which types the function accepts."""


class ColumnsError(WalletframeError, KeyError):
    """A DataFrame lacks columns that a method needs.

    Parameters
    ----------
    missing : sequence of str
        The names of the missing columns. The attribute ``missing`` is a tuple of these names.
    present : sequence of str
        The column names of the DataFrame.
    hint : str, optional
        The advice that is shown after the message.
    """

    def __init__(self, missing: Sequence[str], present: Sequence[str], hint: str = "") -> None:
        lacking, columns = (", ".join(map(repr, names)) for names in (missing, present))
        message = f"the table lacks {lacking}; its columns are: {defang_links(columns or 'none')}"
        super().__init__(message, hint)
        self.missing: tuple[str, ...] = tuple(missing)


class PricesError(WalletframeError, ValueError):
    """Prices can't be used. One error reports all unusable prices.

    Parameters
    ----------
    message : str
        The description of the error.
    hint : str, optional
        The advice that is shown after the message.
    problems : sequence of (int, str, str), optional
        The position or line number, the value as text, and the reason, for each unusable price. The
        message shows the first twenty problems. The attribute ``problems`` contains all problems.
    """

    def __init__(
        self, message: str, hint: str = "", problems: Sequence[tuple[int, str, str]] = ()
    ) -> None:
        listed = [(f"{position}: {value!r}", reason) for position, value, reason in problems]
        super().__init__(_join_problem_lines(message, listed), hint)
        self.problems: Problems = tuple(problems)


class SettingsError(WalletframeError, ValueError):
    """A setting or an option is unknown, missing, contradictory or out of range."""


class LedgerError(WalletframeError, ValueError):
    """The sandbox can't serve these holdings."""


class MissingExtraError(WalletframeError, ImportError):
    """An optional dependency is not installed, or does not work. The hint says what to do.

    Parameters
    ----------
    extra : str
        The extra of walletframe that installs the dependency. Also the attribute ``extra``.
    purpose : str
        The feature that needs the dependency.
    lacking : str, optional
        The missing dependency. By default, the packages of the extra.
    hint : str, optional
        The advice. By default, a command that installs the packages.
    """

    def __init__(self, extra: str, purpose: str, lacking: str = "", hint: str = "") -> None:
        from importlib.metadata import distributions  # noqa: PLC0415 - slow to load

        # The command lists the packages, since pip's package index may not contain walletframe.
        needed = [each for dist in distributions(name=_PACKAGE) for each in dist.requires or []]
        ours = {each.partition(";")[0] for each in needed if each.endswith(f"extra == '{extra}'")}
        names = " ".join(f'"{name}"' for name in sorted(ours) or [f"{_PACKAGE}[{extra}]"])
        packages = f"packages that are not installed (the extra walletframe[{extra}])"
        super().__init__(f"{purpose} needs {lacking or packages}", hint or f"pip install {names}")
        self.extra = extra


class TokenListError(WalletframeError, ValueError):
    """A list of tokens can't be read, or two lists contradict each other.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        The position in the list, the entry as text, and the reason, for each unusable entry. The
        message shows the first twenty problems. The attribute ``problems`` contains all problems.
    hint : str, optional
        The advice that is shown after the message.
    """

    def __init__(
        self,
        problems: Sequence[tuple[int, str, str]],
        hint: str = "pass a file in the Uniswap token-list format, a DataFrame with the columns "
        "token_blockchain and token_address, or (blockchain, contract) pairs",
    ) -> None:
        listed = [(f"{position}: {entry}", reason) for position, entry, reason in problems]
        first = f"a list of tokens can't be used ({POSITIONS_NOTE}):"
        super().__init__(_join_problem_lines(first, listed), hint)
        self.problems: Problems = tuple(problems)


class UnknownTokenError(WalletframeError, LookupError):
    """The holdings don't contain the requested token.

    Parameters
    ----------
    token : str or (str, str or None)
        The requested symbol, or (blockchain, contract). Also the attribute ``token``.
    what : str, default "token"
        The noun in the message, such as "asset".
    hint : str, optional
        The advice that is shown after the message.
    """

    def __init__(
        self, token: str | tuple[str, str | None], what: str = "token", hint: str = ""
    ) -> None:
        named = defang_links(repr(token)) if isinstance(token, str) else token_repr(token)
        default_hint = (
            "pass a token as (blockchain, contract), with None as the contract of a native coin; "
            "or pass a symbol, exactly as in the column 'symbol'"
        )
        super().__init__(f"no row has the {what} {named}", hint or default_hint)
        self.token = token


class AmbiguousTokenError(WalletframeError, ValueError):
    """Several tokens share the same symbol.

    Parameters
    ----------
    contracts : mapping of str to sequence of (str, str or None)
        The tokens of each symbol, as (blockchain, contract). The message shows at most ten symbols,
        and ten tokens of each. The attribute ``contracts`` is a dict from symbols to lists of all
        tokens.
    hint : str, optional
        The advice that is shown after the message.
    notes : mapping of (str, str or None) to str, optional
        Remarks to show after some tokens.
    """

    def __init__(
        self,
        contracts: Mapping[str, Sequence[tuple[str, str | None]]],
        hint: str = "pass the token as (blockchain, contract)",
        *,
        notes: Mapping[tuple[str, str | None], str] | None = None,
    ) -> None:
        by_symbol = {symbol: list(tokens) for symbol, tokens in contracts.items()}
        listed = ["several tokens share the same symbol:"]
        for name, tokens in list(by_symbol.items())[:_MAX_NAMES]:
            listed.append(defang_links(f"  {name!a}:"))
            for token in tokens[:_MAX_NAMES]:
                note = (notes or {}).get(token, "")
                listed.append(f"    {token_repr(token)}{defang_links(note and f': {note}')}")
            listed += _remaining_count_lines(len(tokens) - _MAX_NAMES, "    ", ".contracts")
        rest = _remaining_count_lines(len(by_symbol) - _MAX_NAMES, "  ", ".contracts")
        super().__init__("\n".join([*listed, *rest]), hint)
        self.contracts = by_symbol


class UnknownWalletError(WalletframeError, LookupError):
    """A DataFrame does not contain the requested wallet.

    Parameters
    ----------
    wallet : str
        The requested wallet. Also the attribute ``wallet``.
    hint : str, optional
        The advice that is shown after the message.
    """

    def __init__(
        self, wallet: str, hint: str = "failed and empty wallets have no rows in `holdings`"
    ) -> None:
        super().__init__(defang_links(f"no row has the wallet {wallet!r}"), hint)
        self.wallet = wallet


class UnknownBlockchainError(WalletframeError, LookupError):
    """The requested blockchain is not an option. The hint lists some options.

    Parameters
    ----------
    blockchain : str
        The requested identifier. Also the attribute ``blockchain``.
    known : sequence of str
        The identifiers of all options.
    """

    def __init__(self, blockchain: str, known: Sequence[str]) -> None:
        more = ", …" if len(known) > _MAX_NAMES else ""
        super().__init__(
            defang_links(f"the blockchain {blockchain!r} is not among the options"),
            hint=defang_links(f"choose from: {', '.join(known[:_MAX_NAMES]) or 'none'}{more}"),
        )
        self.blockchain = blockchain


class DetailsOrSummary(Protocol):
    """The common attribute of `WalletDetails` and `FetchSummary`."""

    @property
    def wallets(self) -> Any:
        """The frame of wallets, or the number of wallets in a `FetchSummary`."""


class CacheError(WalletframeError, OSError):
    """Cached answers can't be read. The message names the cache and the reason."""


class ClusterError(WalletframeError, RuntimeError):
    """Some workers of a cluster can't fetch, or the cluster was lost.

    If workers can't fetch, no request was sent, and the message names these workers.
    """


class DatasetError(WalletframeError, OSError):
    """A file or a folder of holdings can't be read or written. Saved data is unchanged."""


class HistoryError(WalletframeError, OSError):
    """A snapshot on this machine can't be read. All other snapshots can still be read."""


class SnapshotError(WalletframeError, ValueError):
    """Holdings can't be saved, compared or added up, or a time can't be read."""


class FramesNeededError(WalletframeError, AttributeError):
    """A method that needs a pandas DataFrame was called on a fetch, folder or Dask DataFrame."""


class UnknownSnapshotError(WalletframeError, LookupError):
    """There is no snapshot at or before the requested time. See ``history.snapshots()``."""


class FetchError(WalletframeError, RuntimeError):
    """Some wallets failed, and ``on_failure`` is ``"raise"``.

    Parameters
    ----------
    message : str
        The number of failed wallets, and the reasons.
    details : WalletDetails or FetchSummary
        The result of the fetch, or the summary of a fetch into a folder. Also the attribute
        ``details``.
    hint : str, optional
        The advice that is shown after the message.
    """

    def __init__(
        self,
        message: str,
        details: DetailsOrSummary,
        hint: str = "see the error's attribute `details`",
    ) -> None:
        super().__init__(message, hint)
        self.details: DetailsOrSummary = details


class FetchInterrupted(KeyboardInterrupt):
    """A fetch was interrupted.

    This class is a KeyboardInterrupt, so that a script or Run All in a notebook also stops. The
    finished wallets are in the cache or in the folder. A repeated call requests only the unfinished
    wallets.

    Parameters
    ----------
    details : WalletDetails or FetchSummary
        The result so far, or the summary of a fetch into a folder. Unfinished wallets have the
        status ``cancelled``. Also the attribute ``details``.
    hint : str, optional
        The advice. Also the attribute ``hint``.
    """

    def __init__(
        self,
        details: DetailsOrSummary,
        hint: str = "the error's attribute `details` contains the finished wallets; a repeated "
        "call requests only the unfinished wallets",
    ) -> None:
        self.details: DetailsOrSummary = details
        self.hint: str = hint
        super().__init__(f"the fetch was interrupted\n\nHint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FetchInterrupted, (self.details, self.hint)

    def _render_traceback_(self) -> list[str]:
        """Return one line for IPython, since an interruption needs no debugging."""
        return [f"{type(self).__name__}: the fetch was interrupted; {self.hint}"]


class WalletframeWarning(UserWarning):
    """The base class of all warnings of walletframe."""


class AnswerWarning(WalletframeWarning):
    """The service sent unrequested wallets or unreadable balances.

    Unrequested wallets are left out, and unreadable values are NA.
    """


class CacheWarning(WalletframeWarning):
    """The cache can't be written or read. The fetch continues without the cache."""


class FetchWarning(WalletframeWarning):
    """Some wallets failed. The rows of these wallets contain the reasons."""


class InputWarning(WalletframeWarning):
    """The input may not be what you meant. For example, a list has duplicate rows.

    Parameters
    ----------
    message : str
        The description of the unusual input.
    problems : sequence of (int, str, str), optional
        The position, the value as text, and the reason, for each problem. A problem is an
        unreadable row, or a second value of a wallet in an extra column.
    """

    def __init__(self, message: str, problems: Problems = ()) -> None:
        super().__init__(message)
        self.problems: Problems = tuple(problems)


class PricesWarning(WalletframeWarning):
    """No price matches a token in the holdings."""


class SpamWarning(WalletframeWarning):
    """Rows of tokens that look like spam were left out, as requested.

    No warning filter turns this warning into an error.
    """


class TestKeyWarning(WalletframeWarning):
    """The shared test key is in use. This key is for testing only."""

    __test__ = False


__all__ = [
    name
    for name, kind in sorted(globals().items())
    if isinstance(kind, type)
    and issubclass(kind, WalletframeError | FetchInterrupted | WalletframeWarning)
]
