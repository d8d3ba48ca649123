"""Answers kept on this machine, one for each service and wallet, through requests-cache.

Keeps bytes and times, and decides nothing: whether an answer is fresh is the plan's business, and
what may be kept is the client's. The key is in none of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from platformdirs import user_cache_path
from requests_cache import BaseCache

from walletframe.address import canonical_key
from walletframe.errors import SettingsError
from walletframe.transport.borrowed import BorrowedShelf
from walletframe.transport.rows import RowCache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.address import WalletAddress
    from walletframe.settings import CacheChoice
    from walletframe.transport.kept import Kept, Shelf


class AnswerStore:
    """The answers of one service; any number of threads and processes may share a file.

    Parameters
    ----------
    choice : path, "memory", False or requests-cache backend, optional
        Where to keep them; None is the user's cache folder.
    service : str
        The service's name.
    max_bytes : int, optional
        How large a file's content may grow, in bytes; the oldest answers give way.

    Attributes
    ----------
    service : str
        The same.

    Raises
    ------
    SettingsError
        For a choice that keeps no answers, or keeps pickles.

    Warns
    -----
    CacheWarning
        Once, where answers can't be kept there and memory takes over; and where a broken file
        was moved aside. No trouble with the cache is ever an exception.
    """

    def __init__(self, choice: CacheChoice, service: str, *, max_bytes: int | None = None) -> None:
        self.service = service
        self._shelf = _shelf(choice, max_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._shelf is not None:
            self._shelf.close()

    def read(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, Kept]:
        """Return what is kept of some wallets, in one look.

        Parameters
        ----------
        wallets : iterable of WalletAddress
            The wallets to look for.

        Returns
        -------
        dict of WalletAddress to Kept
            Those that were found, in the order given.
        """
        if self._shelf is None:
            return {}
        keys = {wallet: self._key(wallet) for wallet in wallets}
        found = self._shelf.read(list(dict.fromkeys(keys.values())))
        return {wallet: found[key] for wallet, key in keys.items() if key in found}

    def write(self, wallet: WalletAddress, kept: Kept) -> None:
        """Keep an answer in place of one that was asked for before.

        Parameters
        ----------
        wallet : WalletAddress
            Whose answer it is.
        kept : Kept
            The answer; it is dropped where one that was asked for later is kept.
        """
        self.write_many([(wallet, kept)])

    def write_many(self, answers: Iterable[tuple[WalletAddress, Kept]]) -> None:
        """Keep several answers at once, each in place of one that was asked for before.

        Parameters
        ----------
        answers : iterable of (WalletAddress, Kept)
            The answers. In a file, an interrupt leaves all of them or none.
        """
        if self._shelf is not None:
            keyed = [(self._key(wallet), kept) for wallet, kept in answers]
            if keyed:
                self._shelf.write(keyed)

    def turn(self) -> int:
        """Return the next place in the order of all requests whose answers may be kept here.

        Returns
        -------
        int
            Above all that were given before, in a file by any process; no clock has a say in it.
        """
        return 0 if self._shelf is None else self._shelf.turn()

    def _key(self, wallet: WalletAddress) -> str:
        blockchain, address = canonical_key(wallet.blockchain, wallet.address)
        return f"{self.service} {blockchain}.{address}"


def default_path() -> Path:
    """Return the file in which answers are kept unless the settings name another.

    Returns
    -------
    Path
        In the user's cache folder.

    Examples
    --------
    >>> default_path().name
    'answers.sqlite'
    """
    return user_cache_path("walletframe") / "answers.sqlite"


def _shelf(choice: CacheChoice, max_bytes: int | None) -> Shelf | None:
    if choice is False:
        return None
    if choice == "memory":
        return BorrowedShelf(BaseCache())
    if isinstance(choice, RowCache):
        return choice.responses
    if isinstance(choice, BaseCache):
        return BorrowedShelf(choice)
    if choice is None or isinstance(choice, Path):
        shelf = RowCache(choice or default_path(), max_bytes=max_bytes).responses
        shelf.read([])  # so that a file in trouble is told at once
        return shelf
    raise SettingsError(
        f"cache: {type(choice).__name__} keeps no answers",
        hint='a path, "memory", False, or a requests-cache backend',
    )
