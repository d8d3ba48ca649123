"""What commands add up: the frames of a fetch, or a folder that is larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from walletframe.accessor.folder import open_wallets
from walletframe.analysis import share, totals, value, worth_of_blocks
from walletframe.cli.asking import ask, token_named
from walletframe.cli.files import is_folder, read_saved, saved_file
from walletframe.cli.screen import say
from walletframe.frames import find_token, token_identities, token_place, worth

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.accessor.folder import StoredWallets
    from walletframe.frames import TokenLike, Worth


class Frames(NamedTuple):
    """Holdings, and the wallets asked where they are known."""

    holdings: pd.DataFrame
    wallets: pd.DataFrame | None

    def named(self, text: str | None) -> TokenLike | None:
        """Read which token is meant."""
        return token_named(text, self.holdings)

    def value(self, **prices: Any) -> Frames:
        """Value the balances."""
        return self._replace(holdings=value(self.holdings, **prices))

    def totals(self, token: TokenLike | None, **grouping: Any) -> tuple[pd.DataFrame, Worth | None]:
        """Add up all balances, or those of one token; also what they are worth."""
        rows = slice(None) if token is None else find_token(self.holdings, token)
        holdings = self.holdings[rows]
        return totals(holdings, wallets=self.wallets, **grouping), worth(holdings)

    def share(self, token: TokenLike | None, **wanted: Any) -> pd.DataFrame:
        """Say how much of one token each group holds."""
        return share(self.holdings, token, wallets=self.wallets, **wanted)


class Folder(NamedTuple):
    """A folder of a bulk run, of which a part is read at a time."""

    stored: StoredWallets

    @property
    def wallets(self) -> pd.DataFrame:
        """The wallets asked."""
        return self.stored.wallets

    def named(self, text: str | None) -> TokenLike | None:
        """Read which token is meant."""
        return text if text is None else token_named(text, self.stored.holdings.tokens())

    def value(self, **prices: Any) -> Folder:
        """Value the balances."""
        return Folder(self.stored.wf.value(**prices))

    def totals(self, token: TokenLike | None, **grouping: Any) -> tuple[pd.DataFrame, Worth | None]:
        """Add up all balances, or those of one token, which alone are read then."""
        held = self.stored.holdings
        if token is not None:
            written = held.tokens()
            tokens = token_identities(written)
            key = tokens.keys[token_place(written, tokens, token)]
            names = [*held.whole.holdings.columns]
            return Frames(held.read({key}, names), self.wallets).totals(None, **grouping)
        return self.stored.wf.totals(**grouping), worth_of_blocks(held)

    def share(self, token: TokenLike | None, **wanted: Any) -> pd.DataFrame:
        """Say how much of one token each group holds."""
        return self.stored.wf.share(token, **wanted)


Source: TypeAlias = Frames | Folder


def found(given: tuple[str, ...], files: tuple[str, ...], **options: Any) -> tuple[Source, bool]:
    """Fetch wallets, or read what was saved; and say whether an interrupt ended that."""
    file = saved_file(given, files)
    if file is None:
        details, interrupted = ask(given, files=files, **options)
        return Frames(details.holdings, details.wallets), interrupted
    if is_folder(file):
        return Folder(open_wallets(file)), False
    holdings, wallets = read_saved(file)
    if wallets is None:
        say(
            "Warning: there is no file of wallets beside it, so it is unknown how complete this is",
            err=True,
        )
    return Frames(holdings, wallets), False
