"""Answers kept on this machine, one for each service and wallet, through requests-cache.

Keeps bytes and times, and decides nothing: whether an answer is fresh is the plan's business, and
what may be kept is the client's. The key is in none of it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from platformdirs import user_cache_path
from requests_cache import BaseCache, CachedResponse, SQLiteCache
from requests_cache.serializers import SerializerPipeline, Stage

from walletframe.errors import CacheWarning, SettingsError
from walletframe.notice import notify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.address import WalletAddress
    from walletframe.settings import CacheChoice


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was kept.

    Attributes
    ----------
    body : bytes
        As the service sent it.
    fetched_at : datetime
        When, in UTC.
    """

    body: bytes
    fetched_at: datetime


class AnswerStore:
    """The answers of one service.

    Parameters
    ----------
    choice : path, "memory", False or requests-cache backend, optional
        Where to keep them; None is the user's cache folder.
    service : str
        The service's name.
    """

    def __init__(self, choice: CacheChoice, service: str) -> None:
        self._service = service
        self._backend = _backend(choice)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._backend is not None:
            self._backend.close()

    def read(self, wallets: Iterable[WalletAddress]) -> dict[WalletAddress, Kept]:
        """Return what is kept of some wallets.

        Parameters
        ----------
        wallets : iterable of WalletAddress
            The wallets to look for.

        Returns
        -------
        dict of WalletAddress to Kept
            Those that were found.
        """
        if self._backend is None:
            return {}
        found = ((wallet, self._backend.responses.get(self._key(wallet))) for wallet in wallets)
        return {
            wallet: Kept(response.content, response.created_at)
            for wallet, response in found
            if response is not None and response.content
        }

    def write(self, wallet: WalletAddress, kept: Kept) -> None:
        """Keep an answer in place of an older one.

        Parameters
        ----------
        wallet : WalletAddress
            Whose answer it is.
        kept : Kept
            The answer.
        """
        if self._backend is None:
            return
        try:
            self._backend.responses[self._key(wallet)] = _response(kept)
        except (OSError, sqlite3.Error) as fault:
            self._backend = None
            notify(f"answers are no longer kept: {fault}", CacheWarning)

    def _key(self, wallet: WalletAddress) -> str:
        return f"{self._service} {wallet.canonical}"


def _response(kept: Kept) -> CachedResponse:
    return CachedResponse(content=kept.body, created_at=kept.fetched_at, status_code=200)


def _dumps(response: CachedResponse) -> str:
    body = response.content.decode("utf-8", "surrogateescape")
    return json.dumps({"fetched_at": response.created_at.isoformat(), "body": body})


def _loads(row: str) -> CachedResponse:
    kept = json.loads(row)
    body = kept["body"].encode("utf-8", "surrogateescape")
    return _response(Kept(body, datetime.fromisoformat(kept["fetched_at"])))


_JSON_ROWS = SerializerPipeline(
    [Stage(dumps=_dumps, loads=_loads)], name="walletframe", is_binary=False
)


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


def _backend(choice: CacheChoice) -> BaseCache | None:
    if choice is False:
        return None
    if choice == "memory":
        return BaseCache()
    if isinstance(choice, BaseCache):
        return choice
    if choice is None or isinstance(choice, Path):
        return _open_file(choice or default_path())
    raise SettingsError(
        f"cache: {type(choice).__name__} keeps no answers",
        hint='a path, "memory", False, or a requests-cache backend',
    )


def _open_file(path: Path) -> BaseCache:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        return SQLiteCache(path, serializer=_JSON_ROWS)
    except (OSError, sqlite3.Error) as fault:
        notify(
            f"answers can't be kept in {path} ({fault}); they are kept in memory instead",
            CacheWarning,
        )
        return BaseCache()


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What is kept in one file.

    Attributes
    ----------
    path : Path
        The file.
    size_bytes : int
        Its size.
    answers : dict of str to int
        How many answers of each service, by the service's name.
    """

    path: Path
    size_bytes: int
    answers: dict[str, int]


def describe(path: Path) -> StoreFacts:
    """Say what is kept in a file.

    Parameters
    ----------
    path : Path
        The file; one that does not exist keeps nothing.

    Returns
    -------
    StoreFacts
        What is in it.
    """
    if not path.exists():
        return StoreFacts(path, 0, {})
    with closing(SQLiteCache(path, serializer=_JSON_ROWS)) as backend:
        services = Counter(str(key).rpartition(" ")[0] for key in backend.responses)
    return StoreFacts(path, path.stat().st_size, dict(services))


def clear(path: Path) -> int:
    """Forget everything that is kept in a file.

    Parameters
    ----------
    path : Path
        The file; one that does not exist is left alone.

    Returns
    -------
    int
        How many answers were forgotten.
    """
    if not path.exists():
        return 0
    with closing(SQLiteCache(path, serializer=_JSON_ROWS)) as backend:
        forgotten = len(backend.responses)
        backend.clear()
    return forgotten
