"""What a caller gave that can't be used."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from walletframe.errors.root import WalletframeError
from walletframe.text import unlinked

if TYPE_CHECKING:
    from collections.abc import Sequence


_PACKAGE = __name__.partition(".")[0]


class AddressError(WalletframeError, ValueError):
    """One or more wallet addresses that can't be read, all reported at once.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the input, the value as text, and the reason, one for each bad wallet.
    where : str, optional
        What the positions count.

    Attributes
    ----------
    problems : tuple of (int, str, str)
        The same, whole: the message shows the first twenty.
    """

    problems: tuple[tuple[int, str, str], ...]

    def __init__(
        self, problems: Sequence[tuple[int, str, str]], where: str = "by position, from 0"
    ) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        noun = "wallet address" if count == 1 else "wallet addresses"
        super().__init__(
            f"{count} {noun} can't be read ({where}):\n" + _listed(self.problems),
            hint='write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", '
            "or as a (blockchain, address) pair",
        )

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the frames of the caller, none of this package."""
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - IPython alone asks

        frames = _of_the_caller(self.__traceback__)
        shell: Any = get_ipython()
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return lines


def _of_the_caller(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    if trace is None:
        return None
    rest = _of_the_caller(trace.tb_next)
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _listed(problems: Sequence[tuple[int, str, str]]) -> str:
    shown = [unlinked(f"  {place}: {value!r}: {reason}") for place, value, reason in problems[:20]]
    if len(problems) > len(shown):
        shown.append(f"  … and {len(problems) - len(shown)} more (see .problems)")
    return "\n".join(shown)


class AmountError(WalletframeError, ArithmeticError):
    """A value that is no exact amount, or does not fit where it should go.

    It is no ValueError, since pandas takes a ValueError for "then leave the column as it is".
    """


class AmountPrecisionError(AmountError):
    """Digits would be lost, or are lost already: a float, too many decimals, a narrow dtype."""


class AmountValueError(AmountError, ValueError):
    """What was to be set in a column of amounts, or inserted, is no exact amount."""


class ArgumentError(WalletframeError, TypeError):
    """An argument of another kind than what a function takes."""


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
        super().__init__(f"the DataFrame lacks {lacking}; its columns: {unlinked(there)}", hint)


class PricesError(WalletframeError, ValueError):
    """Prices that can't be used, all that is wrong with them reported at once.

    Parameters
    ----------
    message : str
        What is wrong.
    hint : str, optional
        What to do about it.
    problems : sequence of (int, str, str), optional
        Position among the prices, the value as text, and the reason, one for each bad price.

    Attributes
    ----------
    problems : tuple of (int, str, str)
        The same, whole: the message shows the first twenty.
    """

    problems: tuple[tuple[int, str, str], ...]

    def __init__(
        self, message: str, hint: str = "", problems: Sequence[tuple[int, str, str]] = ()
    ) -> None:
        self.problems = tuple(problems)
        lines = [message, _listed(self.problems)] if self.problems else [message]
        super().__init__("\n".join(lines), hint)


class SettingsError(WalletframeError, ValueError):
    """A setting that is unknown, missing, contradictory or out of range."""


class LedgerError(WalletframeError, ValueError):
    """Holdings that were given to the sandbox and can't be served."""


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


class TokenListError(WalletframeError, ValueError):
    """A list of tokens that can't be read, or two that contradict each other.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the list, the entry as text, and the reason, one for each bad entry.

    Attributes
    ----------
    problems : tuple of (int, str, str)
        The same, whole: the message shows the first twenty.
    """

    problems: tuple[tuple[int, str, str], ...]

    def __init__(self, problems: Sequence[tuple[int, str, str]]) -> None:
        self.problems = tuple(problems)
        first = self.problems[:20]
        shown = [unlinked(f"  {place}: {entry}: {reason}") for place, entry, reason in first]
        if len(self.problems) > len(shown):
            shown.append(f"  … and {len(self.problems) - len(shown)} more (see .problems)")
        super().__init__(
            "a list of tokens can't be used (by position, from 0):\n" + "\n".join(shown),
            hint="give a file in the Uniswap token-list format, a frame with token_blockchain "
            "and token_address, or (blockchain, contract) pairs",
        )
