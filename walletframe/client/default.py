"""The default client, and `fetch_wallets`, which is all that most users need."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Unpack

from walletframe.client.engine import Client
from walletframe.errors import ArgumentError
from walletframe.forks import OwnLock
from walletframe.frameless import at_the_boundary, frameless
from walletframe.settings.values import Settings

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.client.engine import OnFailure
    from walletframe.client.job import Progress
    from walletframe.frames.details import WalletDetails
    from walletframe.settings.values import SomeSettings

_lock = OwnLock()
_default: Client | None = None


@frameless
def configure(**overrides: Unpack[SomeSettings]) -> Settings:
    """Replace the default client by one with these settings.

    Parameters
    ----------
    api_key, key_kind, base_url, public_base_url : optional
        Whom to ask, as in `Settings`; what is not given is of the environment, or the default.
    service, cache, cache_max_bytes, expire_after_s, stale_if_error : optional
        What is kept of the answers, and for how long.
    workers, requests_per_second, retry_after_max_s, batch_size : optional
        How fast to ask.
    timeout_s, deadline_s : optional
        How long to wait.
    **unknown
        Any other name is an error.

    Returns
    -------
    Settings
        What is now in force; the key is masked.

    Raises
    ------
    SettingsError
        For a setting that is unknown or wrong; the default client stays as it was then.

    Examples
    --------
    >>> configure(key_kind="private", base_url="https://api.example", cache=False).service
    'https://api.example'
    """
    global _default
    client = Client(Settings(**overrides))
    with _lock:
        previous, _default = _default, client
    if previous is not None:
        previous.close()
    return client.settings


# What `configure?` shows and Tab offers; checkers read SomeSettings.
configure.__signature__ = inspect.signature(Settings).replace(  # type: ignore[attr-defined]
    return_annotation="Settings"
)


@at_the_boundary
def fetch_wallets(  # noqa: PLR0913 - what a caller may wish
    wallets: WalletsLike | os.PathLike[str],
    *,
    keep: str | Sequence[str] = (),
    client: Client | None = None,
    refresh: bool = False,
    offline: bool = False,
    progress: Progress = None,
    on_failure: OnFailure = "warn",
    on_unreadable: OnUnreadable = "raise",
) -> WalletDetails:
    """Fetch the tokens of wallets into two DataFrames.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, Path, or iterable of them
        ``"ETH.0x…"``, ``("ETH", "0x…")``, ``{"blockchain": "ETH", "address": "0x…"}``, a Series
        of such strings, or a DataFrame with the columns blockchain and address, or with one
        column of such strings; or the Path of a CSV file with such columns, or of a text file
        with one wallet a line, of at most 5 million lines and 256 million characters. The names
        ``blockChain`` and ``walletAddress``, as the service has them, are as good.
    keep : str or list of str, optional
        Columns of the DataFrame, or of the CSV, such as ``["name", "owner"]``: what you know of
        the wallets, to come behind the columns of ``wallets``, and to group by.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
    refresh : bool, default False
        Request every wallet from the service, even if its answer is in the cache.
    offline : bool, default False
        Send no request: wallets that are not in the cache have the status ``not_cached``.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status).
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok. Each has its row in any case.
    on_unreadable : {"raise", "drop"}, default "raise"
        What to do with rows that can't be read; empty rows are always skipped.

    Returns
    -------
    WalletDetails
        ``wallets``, one row for each distinct wallet, in the order of the first mention, and
        ``holdings``, one row for each balance. Kept texts are trimmed, and NA where empty.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or `wallets` have no columns to keep.
    AddressError
        Lists every wallet that can't be read; no request was sent.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``, or one to keep.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set; if
        `on_failure` or `on_unreadable` is none of its choices; or if a column to keep has a name
        that walletframe uses, or holds lists.
    FetchError
        With ``on_failure="raise"``; its ``.details`` hold the result.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button; its ``.details`` hold what was finished.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, if wallets are not ok, or their answers are out of date.
    AnswerWarning
        If the service sent wallets that were not requested, or balances can't be read.
    InputWarning
        If wallets are repeated or left out, or a blockchain is unknown: it is sent as written; or
        if rows of one wallet differ in what is kept: the first value is.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     wallets, holdings = fetch_wallets("ETH.0x" + "1" * 40, client=client)
    >>> list(holdings.columns[:5])
    ['blockchain', 'address', 'symbol', 'token_address', 'amount']
    """
    require_client(client)
    return (client or default_client()).fetch(
        wallets,
        keep=keep,
        refresh=refresh,
        offline=offline,
        progress=progress,
        on_failure=on_failure,
        on_unreadable=on_unreadable,
    )


def require_client(given: object) -> None:
    """Refuse what is neither a `Client` nor None, which stands for the default one."""
    if given is not None and not isinstance(given, Client):
        raise ArgumentError(
            f"client is of type {type(given).__name__}, not Client",
            hint="give a walletframe.Client, a sandbox's .client(), or None for the default one",
        )


def default_client() -> Client:
    """Return the client that is used where none is given: configured, or of the environment."""
    global _default  # noqa: PLW0603 - the one piece of state that a default client is
    with _lock:
        if _default is None:
            _default = Client()
        return _default
