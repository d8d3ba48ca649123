"""Names of tokens, wallets and blockchains that tell none in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors.root import WalletframeError
from walletframe.text import unlinked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 10


class UnknownTokenError(WalletframeError, LookupError):
    """A frame holds no such token.

    Parameters
    ----------
    token : str or (str, str or None)
        The symbol, or (blockchain, contract), that was asked for.

    Attributes
    ----------
    token : str or (str, str or None)
        The same.
    """

    def __init__(self, token: str | tuple[str, str | None]) -> None:
        self.token = token
        super().__init__(
            unlinked(f"no row holds the token {token!r}"),
            hint="a token is (blockchain, contract), with None for a native coin, or a symbol "
            "exactly as in the column symbol",
        )


class AmbiguousTokenError(WalletframeError, ValueError):
    """One or more symbols that several tokens share.

    Parameters
    ----------
    contracts : mapping of str to sequence of (str, str or None)
        For each symbol the tokens that bear it, as (blockchain, contract).
    hint : str, optional
        What to do about it.
    notes : mapping of (str, str or None) to str, optional
        What is known of some of the tokens.

    Attributes
    ----------
    contracts : dict of str to list of (str, str or None)
        The same, whole, in the same order: the message shows the first ten symbols, and the first
        ten tokens of each.
    """

    contracts: dict[str, list[tuple[str, str | None]]]

    def __init__(
        self,
        contracts: Mapping[str, Sequence[tuple[str, str | None]]],
        hint: str = "name the token as (blockchain, contract)",
        *,
        notes: Mapping[tuple[str, str | None], str] | None = None,
    ) -> None:
        self.contracts = {symbol: list(tokens) for symbol, tokens in contracts.items()}
        lines = []
        for name, tokens in list(self.contracts.items())[:_SHOWN]:
            lines.append(unlinked(f"  {name!a}:"))
            told = [(token, (notes or {}).get(token, "")) for token in tokens[:_SHOWN]]
            lines += [unlinked(f"    {token!a}{note and f': {note}'}") for token, note in told]
            if len(tokens) > _SHOWN:
                lines.append(f"    … and {len(tokens) - _SHOWN} more (see .contracts)")
        if len(self.contracts) > _SHOWN:
            lines.append(f"  … and {len(self.contracts) - _SHOWN} more (see .contracts)")
        super().__init__(
            "a symbol is no token where several contracts share it:\n" + "\n".join(lines), hint
        )


class UnknownWalletError(WalletframeError, LookupError):
    """A frame has no such wallet.

    Parameters
    ----------
    wallet : str
        The wallet that was asked for.
    hint : str, optional
        What to do about it.

    Attributes
    ----------
    wallet : str
        The same.
    """

    def __init__(
        self,
        wallet: str,
        hint: str = "a wallet that failed, or holds nothing, has no rows in holdings",
    ) -> None:
        self.wallet = wallet
        super().__init__(f"no row is of the wallet {wallet!r}", hint)


class UnknownBlockchainError(WalletframeError, LookupError):
    """There is no such blockchain to choose from.

    Parameters
    ----------
    blockchain : str
        The identifier that was asked for.
    known : sequence of str
        Those that are there.

    Attributes
    ----------
    blockchain : str
        The same.
    """

    def __init__(self, blockchain: str, known: Sequence[str]) -> None:
        self.blockchain = blockchain
        more = ", …" if len(known) > 10 else ""  # noqa: PLR2004 - one line of a terminal
        super().__init__(
            f"no blockchain {blockchain!r} is offered",
            hint=f"choose from: {', '.join(known[:10]) or 'none'}{more}",
        )
