"""The default client, and `fetch_wallets`, the function that most users need."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Unpack

from walletframe.client.engine import Client, OnFailure
from walletframe.errors import ArgumentError
from walletframe.forks import ForkSafeLock
from walletframe.settings.sources import TABLE_SETTINGS, require_known_settings
from walletframe.settings.tables import read_table_defaults, set_table_defaults
from walletframe.settings.values import Settings, SettingsKwargs
from walletframe.tracebacks import strip_address_tracebacks, strip_tracebacks

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from walletframe.address.lists import OnUnreadable, WalletsLike
    from walletframe.client.job import Progress
    from walletframe.frames.details import WalletDetails

_lock = ForkSafeLock()
_default: Client | None = None


@strip_tracebacks
def configure(
    *,
    currency: str | None = None,
    prices: object = None,
    assets: object = None,
    spam_allow: object = None,
    spam_deny: object = None,
    colors: Mapping[str, str] | None = None,
    **overrides: Unpack[SettingsKwargs],
) -> Settings:
    """Create a new default client with these settings, and set the defaults of tables.

    All other settings come from the environment, a settings file, or the default values.

    Parameters
    ----------
    api_key, key_kind, base_url, public_base_url : optional
        The service and the API key, as in `Settings`.
    service, cache, cache_max_bytes, expire_after_s, stale_if_error : optional
        The options of the cache, as in `Settings`.
    workers, requests_per_second, retry_after_max_s, batch_size : optional
        The number and the rate of requests.
    timeout_s, deadline_s : optional
        The time limits for answers.
    file : str or Path, optional
        The settings file to read, as in `Settings`.
    currency : str, optional
        The default currency of prices, and of ``value(currency=…)``.
    prices : anything that `value` accepts as prices, optional
        The default prices of `value`, the explorer and reports, as in ``value(prices=…)``.
    assets : str, Path or DataFrame, optional
        A list of contracts and their assets, as in `walletframe.assets`, for tables by asset.
    spam_allow, spam_deny : str, Path, DataFrame or iterable of (str, str or None), optional
        The default arguments of ``flag_spam(allow=…, deny=…)``.
    colors : mapping of str to str, optional
        The colours of assets in charts, such as ``{"ETH": "#3366CC"}``.
    **unknown
        Any other name raises an error.

    Returns
    -------
    Settings
        The settings of the new default client. The API key is masked.

    Raises
    ------
    SettingsError
        In the same cases as `Settings`. After an error, nothing has changed.

    Examples
    --------
    >>> configure(key_kind="private", base_url="https://api.example", cache=False).service
    'https://api.example'
    """
    global _default
    require_known_settings(overrides, [*inspect.signature(configure).parameters][:-1])
    values = (currency, prices, assets, spam_allow, spam_deny, colors)
    arguments = dict(zip(TABLE_SETTINGS, values, strict=True))
    tables = read_table_defaults(overrides.get("file"), arguments)
    client = Client(Settings(**overrides))
    set_table_defaults(tables)
    with _lock:
        previous, _default = _default, client
    if previous is not None:
        previous.close()
    return client.settings


# For `configure?` and Tab completion; type checkers read SettingsKwargs.
*_service_settings, _unknown = inspect.signature(Settings).parameters.values()
_table_settings = [_service_settings[0].replace(name=name) for name in TABLE_SETTINGS]
configure.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect looks for it
    [*_service_settings, *_table_settings, _unknown], return_annotation="Settings"
)


@strip_address_tracebacks
def fetch_wallets(  # noqa: PLR0913 - users pass each option by name
    wallets: WalletsLike | os.PathLike[str],
    *,
    keep: str | Sequence[str] = (),
    client: Client | None = None,
    refresh: bool = False,
    offline: bool = False,
    progress: Progress = None,
    on_failure: OnFailure = "warn",
    on_unreadable: OnUnreadable = "raise",
    fix: bool = False,
) -> WalletDetails:
    """Fetch the tokens of wallets into two DataFrames.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, Path, or iterable of them
        One wallet, or an iterable or Series of wallets. A wallet is a string ``"ETH.0x…"``, a tuple
        ``("ETH", "0x…")`` or a mapping ``{"blockchain": "ETH", "address": "0x…"}``. A DataFrame has
        the columns ``blockchain`` and ``address`` (or the service's names ``blockChain`` and
        ``walletAddress``), or one column of strings. A Path, or a str that ends in ``.csv`` or
        ``.txt``, names a file. A CSV file has the same columns. A text file has one wallet per
        line, and comments after #. A file has at most 5 million lines and 256 million characters.
    keep : str or list of str, optional
        Extra columns of the DataFrame or CSV file, such as ``["name", "owner"]``. In the result,
        ``wallets`` ends with these columns. Tables can be grouped by these columns.
    client : Client, optional
        The client that sends the requests. By default, the client of `configure`.
    refresh : bool, default False
        Request every wallet from the service, even if its answer is in the cache.
    offline : bool, default False
        Send no requests. Wallets that are not in the cache have the status ``not_cached``.
    progress : bool or callable, optional
        Whether to show a progress bar. By default, a notebook or a terminal shows the bar. To
        replace the bar, pass a function of (done, total, counts by status).
    on_failure : {"warn", "raise", "ignore"}, default "warn"
        Whether to warn, raise an error or do nothing if wallets are not ok.
    on_unreadable : {"raise", "drop", "ask"}, default "raise"
        Whether to raise an error for unreadable rows, or to drop these rows. An address that does
        not have the form of its blockchain is also unreadable. With ``"ask"``, such an address is
        requested as written. Empty rows are always skipped.
    fix : bool, default False
        Replace chain ids and names of blockchains, such as ``1`` and ``"Ethereum"``, with the
        service's identifiers. If texts in a column to keep differ only in case, replace the later
        texts with the first text. One warning reports all replacements.

    Returns
    -------
    WalletDetails
        ``wallets`` has one row for each distinct wallet, in the order of the input, even if a
        request failed. ``holdings`` has one row for each balance. Text in the columns to keep is
        stripped of white space. Empty text becomes NA.

    Raises
    ------
    ArgumentError
        If `client` is not a `Client`, or if `wallets` has no columns although `keep` is given.
    AddressError
        If rows are unreadable and not dropped. Without `fix`, also if a blockchain has a name that
        `fix` would replace. The error lists all these rows. No request was sent.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``, or a column to keep.
    SettingsError
        If a required setting is not set, if `on_failure` or `on_unreadable` is not supported, or if
        both `refresh` and `offline` are set. Also if a column occurs twice. Also if a column to
        keep contains lists, or has a name that walletframe uses.
    FetchError
        With ``on_failure="raise"``, if wallets are not ok. The attribute ``details`` contains the
        result.
    FetchInterrupted
        After Ctrl-C or the notebook's stop button. The attribute ``details`` contains the wallets
        that were finished.

    Warns
    -----
    FetchWarning
        With ``on_failure="warn"``, if wallets are not ok, or if answers are out of date.
    AnswerWarning
        If the service sent unrequested wallets, or balances that can't be read.
    InputWarning
        If wallets are duplicates or dropped, if a blockchain is unknown, or if `fix` has replaced a
        text. Also if a column to keep has texts that differ only in case, or different values for
        one wallet. Of different values, the first is kept.

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
        fix=fix,
    )


def require_client(argument: object) -> None:
    """Raise an ArgumentError unless the argument is a `Client` or None (the default client)."""
    if argument is not None and not isinstance(argument, Client):
        hint = "pass a walletframe.Client, the client() of a sandbox, or None for the default"
        raise ArgumentError(f"a client of type {type(argument).__name__} is not supported", hint)


def default_client() -> Client:
    """Return the default client. The first call creates this client from the environment."""
    global _default  # noqa: PLW0603 - the only state of the module
    with _lock:
        if _default is None:
            _default = Client()
        return _default
