"""The default client, and `fetch_wallets`, the function that most users need."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Unpack

from walletframe.client.engine import Client
from walletframe.errors import ArgumentError
from walletframe.forks import OwnLock
from walletframe.frameless import frameless, frameless_address_errors
from walletframe.settings.values import Settings

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.client.engine import OnFailure
    from walletframe.client.job import Progress
    from walletframe.frames.details import WalletDetails
    from walletframe.settings.values import SettingsKwargs

_lock = OwnLock()
_default: Client | None = None


@frameless
def configure(**overrides: Unpack[SettingsKwargs]) -> Settings:
    """Replace the default client by one with these settings.

    Parameters
    ----------
    api_key, key_kind, base_url, public_base_url : optional
        The service and the key, as in `Settings`. Settings that are not given come from the
        environment, else from the defaults.
    service, cache, cache_max_bytes, expire_after_s, stale_if_error : optional
        Which answers are cached, where, and for how long.
    workers, requests_per_second, retry_after_max_s, batch_size : optional
        How fast to send requests.
    timeout_s, deadline_s : optional
        How long to wait for answers.
    **unknown
        Any other name is an error.

    Returns
    -------
    Settings
        The settings now in force; the key is masked.

    Raises
    ------
    SettingsError
        If a setting is unknown or wrong; the default client is not changed then.

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


# For `configure?` and Tab completion; type checkers read SettingsKwargs.
configure.__signature__ = inspect.signature(Settings).replace(  # type: ignore[attr-defined]
    return_annotation="Settings"
)


@frameless_address_errors
def fetch_wallets(  # noqa: PLR0913 - options
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
        with one wallet a line, of at most 5 million lines and 256 million characters. The service's
        names ``blockChain`` and ``walletAddress`` are accepted as well.
    keep : str or list of str, optional
        Columns of the DataFrame or CSV to keep, such as ``["name", "owner"]``: they are appended to
        the columns of ``wallets``, and can be grouped by.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.
    refresh : bool, default False
        Request every wallet from the service, even if its answer is in the cache.
    offline : bool, default False
        Send no request: wallets that are not in the cache have the status ``not_cached``.
    progress : bool or callable, optional
        False hides the progress bar; a callable gets (done, total, counts by status).
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        What to do if wallets are not ok. Every wallet has its row in any case.
    on_unreadable : {"raise", "drop"}, default "raise"
        What to do with rows that can't be read; empty rows are always skipped.

    Returns
    -------
    WalletDetails
        ``wallets``, one row for each distinct wallet, in the order of the first mention, and
        ``holdings``, one row for each balance. Kept texts are trimmed, and NA if empty.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or `wallets` have no columns to keep.
    AddressError
        If wallets can't be read; it lists all of them, and no request was sent.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``, or one to keep.
    SettingsError
        If a request is needed and the key, its kind or its base address is not set; if
        `on_failure` or `on_unreadable` is none of its choices; or if a column to keep has a name
        that walletframe uses, or holds lists.
    FetchError
        If wallets are not ok, with ``on_failure="raise"``; its ``.details`` hold the result.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button; its ``.details`` hold the finished part.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, if wallets are not ok, or their answers are out of date.
    AnswerWarning
        If the service sent wallets that were not requested, or balances can't be read.
    InputWarning
        If wallets are repeated or left out; if a blockchain is unknown, which is sent as written;
        or if rows of one wallet differ in a kept column, whose first value is used.

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


def require_client(argument: object) -> None:
    """Raise an ArgumentError unless the argument is a `Client` or None (the default client)."""
    if argument is not None and not isinstance(argument, Client):
        raise ArgumentError(
            f"client is of type {type(argument).__name__}, not Client",
            hint="give a walletframe.Client, a sandbox's .client(), or None for the default one",
        )


def default_client() -> Client:
    """Return the default client: the configured one, else one made from the environment."""
    global _default  # noqa: PLW0603 - the module's one piece of state
    with _lock:
        if _default is None:
            _default = Client()
        return _default
