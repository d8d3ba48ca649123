"""Errors about what the caller passed, and about names that a frame lacks or has more than once."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from walletframe.errors.root import WalletframeError
from walletframe.errors.spelling import Either, Spelled, lines, more, token_text
from walletframe.text import unlinked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.errors.spelling import Piece, Text

_PACKAGE = __name__.partition(".")[0]
Problems: TypeAlias = tuple[tuple[int, str, str], ...]  # position, value and reason
_SHOWN, _NAMES_SHOWN = 20, 10


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
        listed = _listed([(f"{place}: {value!r}", reason) for place, value, reason in problems])
        super().__init__(
            lines(f"{len(problems)} {noun} can't be read ({where}):", *listed),
            hint=Spelled(
                'write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", or ',
                Either(
                    "as a (blockchain, address) pair", "in the two columns blockchain and address"
                ),
            ),
        )
        self.problems: Problems = tuple(problems)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the frames of the caller, none of this package."""
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - IPython alone asks

        shell: Any = get_ipython()
        frames = _of_the_caller(self.__traceback__)
        traceback: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return traceback


def _of_the_caller(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    if trace is None:
        return None
    rest = _of_the_caller(trace.tb_next)
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _listed(problems: Sequence[tuple[str, Text]]) -> list[Piece]:
    """Write the first problems, each with its place and value, and its reason."""
    shown: list[Piece] = [
        Spelled(unlinked(f"  {place}: "), unlinked(reason) if isinstance(reason, str) else reason)
        for place, reason in problems[:_SHOWN]
    ]
    return shown + more(len(problems) - _SHOWN, "  ", ".problems")


class AmountError(WalletframeError, ArithmeticError):
    """A value that is not an exact amount, or does not fit its target type.

    It is not a ValueError, since pandas reads a ValueError as "then leave the column as it is".
    """


class AmountPrecisionError(AmountError):
    """Digits would be lost, or already are: a float, too many decimals, a narrow dtype."""


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

    def __init__(self, missing: Sequence[str], present: Sequence[str], hint: Text = "") -> None:
        lacking, there = (", ".join(map(repr, names)) for names in (missing, present))
        said = f" lacks {lacking}; its columns: {unlinked(there or 'none')}"
        super().__init__(Spelled("the ", Either("DataFrame", "table"), said), hint)
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
        self, message: Text, hint: Text = "", problems: Sequence[tuple[int, str, Text]] = ()
    ) -> None:
        listed = _listed([(f"{place}: {value!r}", reason) for place, value, reason in problems])
        super().__init__(lines(message, *listed), hint)
        self.problems: Problems = tuple(
            (place, value, str(reason)) for place, value, reason in problems
        )


class SettingsError(WalletframeError, ValueError):
    """A setting or option that is unknown, missing, contradictory or out of range."""


class LedgerError(WalletframeError, ValueError):
    """Holdings that were given to the sandbox and can't be served."""


class MissingExtraError(WalletframeError, ImportError):
    """An optional dependency is not installed; the hint is the line that installs it.

    Parameters
    ----------
    extra : str
        The extra of walletframe that installs it; an attribute as well.
    purpose : str
        What needs it.
    """

    def __init__(self, extra: str, purpose: str) -> None:
        text = f"{purpose} needs packages that are not installed (the extra walletframe[{extra}])"
        super().__init__(text, hint=f"pip install {_packages(extra)}")
        self.extra = extra


def _packages(extra: str) -> str:
    """Name what an extra installs: pip gets it wherever this package itself came from."""
    from importlib.metadata import distributions  # noqa: PLC0415 - slow to load

    installed = [each for found in distributions(name=_PACKAGE) for each in found.requires or []]
    ours = {each.partition(";")[0] for each in installed if each.endswith(f"extra == '{extra}'")}
    return " ".join(f'"{name}"' for name in sorted(ours) or [f"{_PACKAGE}[{extra}]"])


class TokenListError(WalletframeError, ValueError):
    """A list of tokens that can't be read, or two that contradict each other.

    Parameters
    ----------
    problems : sequence of (int, str, str)
        Position in the list, the entry as text, and the reason, one for each bad entry: the
        message shows the first twenty, the attribute has all of them.
    hint : str, optional
        What to give.
    """

    def __init__(
        self,
        problems: Sequence[tuple[int, str, str]],
        hint: Text = "give a file in the Uniswap token-list format, a frame with token_blockchain "
        "and token_address, or (blockchain, contract) pairs",
    ) -> None:
        listed = _listed([(f"{place}: {entry}", reason) for place, entry, reason in problems])
        super().__init__(
            lines("a list of tokens can't be used (by position, from 0):", *listed), hint
        )
        self.problems: Problems = tuple(problems)


class UnknownTokenError(WalletframeError, LookupError):
    """The holdings have no such token: give (blockchain, contract), or a symbol as written.

    Parameters
    ----------
    token : str or (str, str or None)
        The symbol, or (blockchain, contract), that was asked for; an attribute as well.
    what : str, default "token"
        What it names, if that is an asset.
    hint : str, optional
        What to do about it.
    """

    def __init__(
        self, token: str | tuple[str, str | None], what: str = "token", hint: Text = ""
    ) -> None:
        named = unlinked(repr(token)) if isinstance(token, str) else token_text(token)
        usual = Spelled(
            "a token is ",
            Either("(blockchain, contract), with None", "BLOCKCHAIN.CONTRACT, BLOCKCHAIN."),
            " for a native coin, or a symbol exactly as ",
            Either("in the column symbol", "it is written"),
        )
        super().__init__(Spelled(f"no row has the {what} ", named), hint or usual)
        self.token = token


class AmbiguousTokenError(WalletframeError, ValueError):
    """One or more symbols that several tokens share: name the token that you mean.

    Parameters
    ----------
    contracts : mapping of str to sequence of (str, str or None)
        For each symbol the tokens that bear it, as (blockchain, contract): the message shows the
        first ten of both, the attribute, a dict of lists, has all of them.
    hint : str, optional
        What to do about it.
    notes : mapping of (str, str or None) to str, optional
        What is known of some of the tokens.
    """

    def __init__(
        self,
        contracts: Mapping[str, Sequence[tuple[str, str | None]]],
        hint: Text = "name the token as (blockchain, contract)",
        *,
        notes: Mapping[tuple[str, str | None], str] | None = None,
    ) -> None:
        found = {symbol: list(tokens) for symbol, tokens in contracts.items()}
        listed: list[Piece] = ["a symbol is ambiguous if several contracts share it:"]
        for name, tokens in list(found.items())[:_NAMES_SHOWN]:
            listed.append(unlinked(f"  {name!a}:"))
            for token in tokens[:_NAMES_SHOWN]:
                note = (notes or {}).get(token, "")
                listed.append(Spelled("    ", token_text(token), unlinked(note and f": {note}")))
            listed += more(len(tokens) - _NAMES_SHOWN, "    ", ".contracts")
        rest = more(len(found) - _NAMES_SHOWN, "  ", ".contracts")
        super().__init__(lines(*listed, *rest), hint)
        self.contracts = found


class UnknownWalletError(WalletframeError, LookupError):
    """A frame has no such wallet: one that failed, or holds nothing, has no rows in holdings.

    Parameters
    ----------
    wallet : str
        The wallet that was asked for; an attribute as well.
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
        The identifier that was asked for; an attribute as well.
    known : sequence of str
        Those that are there.
    """

    def __init__(self, blockchain: str, known: Sequence[str]) -> None:
        more = ", …" if len(known) > _NAMES_SHOWN else ""
        super().__init__(
            unlinked(f"no blockchain {blockchain!r} is offered"),
            hint=unlinked(f"choose from: {', '.join(known[:_NAMES_SHOWN]) or 'none'}{more}"),
        )
        self.blockchain = blockchain
