"""The errors and warnings of walletframe; this module imports nothing of the package.

::

    Exception
    └── WalletframeError
        ├── AddressError         (ValueError)    one or more wallets that can't be read
        ├── AmountError          (ValueError)    a value that is no exact amount
        ├── ColumnsError         (KeyError)      a frame lacks what a method needs
        ├── SettingsError        (ValueError)    a setting that is unknown, missing or wrong
        ├── LedgerError          (ValueError)    holdings that the sandbox can't serve
        ├── CacheError           (OSError)       answers that were kept can't be read
        ├── FetchError           (RuntimeError)  wallets that failed, on request an error
        └── MissingExtraError    (ImportError)   an optional dependency is not installed

    KeyboardInterrupt
    └── FetchInterrupted         a fetch that was stopped, with all that was finished

    UserWarning
    └── WalletframeWarning
        ├── AnswerWarning        the service answered more than it was asked
        ├── CacheWarning         answers can't be kept or read
        ├── FetchWarning         some wallets failed
        └── TestKeyWarning       the shared test key is in use

Every error says what happened, then, after a blank line, what to do about it. All of them carry
plain data, survive pickling, and never hold the API key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def _rebuild(kind: type[WalletframeError], text: str, state: dict[str, Any]) -> WalletframeError:
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update(state)
    return error


class WalletframeError(Exception):
    """The root of all errors that walletframe raises.

    Parameters
    ----------
    message : str
        What happened.
    hint : str, optional
        What to do about it; shown behind the message.

    Attributes
    ----------
    hint : str
        The hint, empty where there is none.
    """

    hint: str

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\n\nHint: {hint}" if hint else message)
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], dict(self.__dict__))


class AddressError(WalletframeError, ValueError):
    """One or more wallet addresses that can't be read, all reported at once.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the input, the value as text, and the reason, one for each bad wallet.

    Attributes
    ----------
    problems : tuple of (int, str, str)
        The same, whole: the message shows the first twenty.
    """

    problems: tuple[tuple[int, str, str], ...]

    def __init__(self, problems: Sequence[tuple[int, str, str]]) -> None:
        self.problems = tuple(problems)
        shown = [f"  {place}: {value!r}: {reason}" for place, value, reason in self.problems[:20]]
        if len(self.problems) > len(shown):
            shown.append(f"  … and {len(self.problems) - len(shown)} more (see .problems)")
        count = len(self.problems)
        noun = "wallet address" if count == 1 else "wallet addresses"
        super().__init__(
            f"{count} {noun} can't be read (by position, from 0):\n" + "\n".join(shown),
            hint='write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", '
            "or as a (blockchain, address) pair",
        )


class AmountError(WalletframeError, ValueError):
    """A value that is no exact amount, or does not fit where it should go."""


class ColumnsError(WalletframeError, KeyError):
    """A DataFrame lacks columns that a method needs.

    Parameters
    ----------
    missing : sequence of str
        The names of the missing columns.
    present : sequence of str
        The names of the columns that are there.
    hint : str, optional
        What to do about it.

    Attributes
    ----------
    missing : tuple of str
        The names of the missing columns.
    """

    missing: tuple[str, ...]

    def __init__(self, missing: Sequence[str], present: Sequence[str], hint: str = "") -> None:
        self.missing = tuple(missing)
        there = ", ".join(repr(name) for name in present) or "none"
        lacking = ", ".join(repr(name) for name in self.missing)
        super().__init__(f"the DataFrame lacks {lacking}; its columns: {there}", hint)


class SettingsError(WalletframeError, ValueError):
    """A setting that is unknown, missing, contradictory or out of range."""


class LedgerError(WalletframeError, ValueError):
    """Holdings that were given to the sandbox and can't be served."""


class CacheError(WalletframeError, OSError):
    """Answers that were kept on this machine can't be read."""


class FetchError(WalletframeError, RuntimeError):
    """Some wallets failed, and the caller asked for an error in that case.

    Parameters
    ----------
    message : str
        How many failed, and why.
    details : WalletDetails
        Everything that was fetched, with a row for every wallet asked for.

    Attributes
    ----------
    details : WalletDetails
        The same.
    """

    def __init__(self, message: str, details: Any) -> None:
        self.details = details
        super().__init__(message, hint="what was fetched is in the error's .details")


class FetchInterrupted(KeyboardInterrupt):
    """A fetch that was stopped; a KeyboardInterrupt, so that whatever runs on stops as well.

    Parameters
    ----------
    details : WalletDetails
        Everything that was finished; the other wallets have the status ``cancelled``.

    Attributes
    ----------
    details : WalletDetails
        The same. What was finished is in the cache, too: the next call asks for the rest.
    """

    def __init__(self, details: Any) -> None:
        self.details = details
        self.hint = (
            "what was finished is in the error's .details; the same call again asks only for "
            "the rest"
        )
        super().__init__(f"the fetch was interrupted\n\nHint: {self.hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FetchInterrupted, (self.details,)


class MissingExtraError(WalletframeError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    extra : str
        The extra of walletframe that installs it.
    purpose : str
        What needs it.

    Attributes
    ----------
    extra : str
        The same.
    """

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(
            f"{purpose} needs packages that are not installed",
            hint=f'pip install "walletframe[{extra}]"',
        )


class WalletframeWarning(UserWarning):
    """The root of all warnings of walletframe."""


class AnswerWarning(WalletframeWarning):
    """The service answered more than it was asked; the surplus was left out."""


class CacheWarning(WalletframeWarning):
    """Answers can't be kept or read on this machine; fetching goes on."""


class FetchWarning(WalletframeWarning):
    """Some wallets failed; their rows say why."""


class TestKeyWarning(WalletframeWarning):
    """The shared test key is in use, which is for testing only."""

    __test__ = False
