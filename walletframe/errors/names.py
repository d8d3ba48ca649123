"""Errors about tokens, wallets and blockchains that a frame lacks, or has more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors.root import WalletframeError
from walletframe.errors.spelling import Either, Spelled, lines, more, token_text
from walletframe.text import unlinked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.errors.spelling import Piece, Text

_SHOWN = 10


class UnknownTokenError(WalletframeError, LookupError):
    """The holdings have no such token: give (blockchain, contract), or a symbol as written.

    Parameters
    ----------
    token : str or (str, str or None)
        The symbol, or (blockchain, contract), that was asked for; an attribute as well.
    """

    def __init__(self, token: str | tuple[str, str | None]) -> None:
        named = unlinked(repr(token)) if isinstance(token, str) else token_text(token)
        hint = Spelled(
            "a token is ",
            Either("(blockchain, contract), with None", "BLOCKCHAIN.CONTRACT, BLOCKCHAIN."),
            " for a native coin, or a symbol exactly as ",
            Either("in the column symbol", "it is written"),
        )
        super().__init__(Spelled("no row has the token ", named), hint)
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
        for name, tokens in list(found.items())[:_SHOWN]:
            listed.append(unlinked(f"  {name!a}:"))
            for token in tokens[:_SHOWN]:
                note = (notes or {}).get(token, "")
                listed.append(Spelled("    ", token_text(token), unlinked(note and f": {note}")))
            listed += more(len(tokens) - _SHOWN, "    ", ".contracts")
        rest = more(len(found) - _SHOWN, "  ", ".contracts")
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
        more = ", …" if len(known) > _SHOWN else ""
        super().__init__(
            unlinked(f"no blockchain {blockchain!r} is offered"),
            hint=unlinked(f"choose from: {', '.join(known[:_SHOWN]) or 'none'}{more}"),
        )
        self.blockchain = blockchain
