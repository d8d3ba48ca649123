"""The sandbox, an HTTP server in this process that simulates the service."""

from __future__ import annotations

import atexit
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from platformdirs import user_cache_path

from walletframe.errors import MissingExtraError, SettingsError
from walletframe.service.ledger import SimulatedLedger
from walletframe.service.options import SANDBOX_KEYS, Behaviour
from walletframe.service.recorded import LedgerLike, as_ledger
from walletframe.settings.key import safe_repr
from walletframe.settings.values import KeyKind, Settings, SettingsKwargsWithoutKeyKind
from walletframe.tracebacks import strip_tracebacks

if TYPE_CHECKING:
    from walletframe.client import Client


class Sandbox(AbstractContextManager["Sandbox"]):
    """A simulated wallet balance service on a port of this machine.

    The server runs until `stop` is called, the ``with`` block ends, or the process ends. The
    function `sandbox` creates a sandbox on a free port, and documents the parameters.

    Parameters
    ----------
    behaviour : Behaviour, optional
        The latency, the failures, the seed and the rate limit.
    ledger : DataFrame, WalletDetails, path or Ledger, optional
        Holdings to serve instead of simulated holdings.
    port : int, default 0
        The port to listen on; 0 means any free port.

    Raises
    ------
    LedgerError, MissingExtraError
        In the same cases as `sandbox`.
    OSError
        If another program uses the port.

    Examples
    --------
    >>> with Sandbox() as service:
    ...     settings = service.settings()
    ...     service.client().close()
    ...     service.stop()
    ...     service.wait()
    >>> settings.service
    'sandbox'
    """

    _latest: ClassVar[Sandbox | None] = None

    def __init__(
        self, behaviour: Behaviour | None = None, ledger: LedgerLike | None = None, *, port: int = 0
    ) -> None:
        options = behaviour or Behaviour()
        self._ledger = SimulatedLedger(options.seed) if ledger is None else as_ledger(ledger)
        try:
            from walletframe.service.app import HOST, Gate, LoopbackServer, create_app  # noqa: PLC0415 - the package is an optional extra
        except ImportError as error:
            raise MissingExtraError("sandbox", "the sandbox") from error
        self._keys = SANDBOX_KEYS
        if ledger is not None:  # the data may be private, so the keys must be secret
            self._keys = {
                kind: replace(known, key=f"wf-sandbox-{kind}-{token_hex(16)}")
                for kind, known in SANDBOX_KEYS.items()
            }
        self._gate = Gate(options.requests_per_second, self._keys.values())
        self._server = LoopbackServer(create_app(self._ledger, options, self._gate), port=port)
        self._origin = f"http://{HOST}:{self._server.port}"
        self._running = True
        self._start_copy = partial(Sandbox, options, ledger)
        Sandbox._latest = self
        atexit.register(self.stop)

    @property
    def base_url(self) -> str:
        """The base URL of the private endpoint, such as ``http://127.0.0.1:50000/private``."""
        return f"{self._origin}/private"

    @property
    def public_base_url(self) -> str:
        """The base URL of the public endpoint, such as ``http://127.0.0.1:50000/public``."""
        return f"{self._origin}/public"

    @property
    def openapi_url(self) -> str:
        """The URL of the endpoint's OpenAPI document."""
        return f"{self._origin}/openapi.json"

    @strip_tracebacks
    def settings(
        self, key_kind: KeyKind = "private", **overrides: Unpack[SettingsKwargsWithoutKeyKind]
    ) -> Settings:
        """Return settings for requests to this sandbox, without settings from the environment.

        The service's name is ``sandbox``. The cache is a separate file for each ledger.

        Parameters
        ----------
        key_kind : {"private", "public", "test"}, default "private"
            The sandbox's API key to use.
        **overrides
            Settings that replace the sandbox's own settings.

        Returns
        -------
        Settings
            The settings, for `walletframe.Client` or `walletframe.configure`.

        Raises
        ------
        SettingsError
            If there is no key of this kind, or if a setting is unknown or out of range.
        """
        if key_kind not in self._keys:
            hint = f"use one of {', '.join(self._keys)}"
            raise SettingsError(f"key_kind is not valid: {safe_repr(key_kind)}", hint)
        chosen: dict[str, Any] = {
            "api_key": self._keys[key_kind].key,
            "key_kind": key_kind,
            "base_url": self.base_url,
            "public_base_url": self.public_base_url,
            "service": "sandbox",
            "cache": user_cache_path("walletframe") / f"sandbox-{self._ledger.fingerprint}.sqlite",
        }
        chosen.update({name: value for name, value in overrides.items() if value is not None})
        return Settings.isolated(**chosen)

    @strip_tracebacks
    def client(
        self, key_kind: KeyKind = "private", **overrides: Unpack[SettingsKwargsWithoutKeyKind]
    ) -> Client:
        """Return a client that sends its requests to this sandbox.

        Parameters
        ----------
        key_kind, **overrides : optional
            The arguments of `settings`.

        Returns
        -------
        walletframe.Client
            The client. The caller has to close the client.

        Raises
        ------
        SettingsError
            In the same cases as `settings`.
        """
        from walletframe.client import Client  # noqa: PLC0415 - slow to load, and not needed to serve

        return Client(self.settings(key_kind, **overrides))

    def wait(self) -> None:
        """Block until another thread stops the sandbox.

        Raises
        ------
        KeyboardInterrupt
            If the user interrupts the wait. The sandbox continues to run.
        """
        self._server.wait()

    def stop(self) -> None:
        """Stop the server; a second call does nothing."""
        if self._running:
            self._running = False
            self._server.stop()
            self._gate.close()
            atexit.unregister(self.stop)

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = f"at {self._origin}" if self._running else "stopped"
        return f"<walletframe sandbox, simulated data, {state}>"


def latest_or_restarted_sandbox() -> Sandbox | None:
    """Return this process's latest sandbox. If the sandbox was stopped, start a copy."""
    latest = Sandbox._latest  # noqa: SLF001 - this module defines the class
    return latest if latest is None or latest._running else latest._start_copy()  # noqa: SLF001 - this module defines the class


def sandbox(
    *,
    latency_s: float = 0.0,
    failure_share: float = 0.0,
    seed: int = 0,
    requests_per_second: float | None = None,
    ledger: LedgerLike | None = None,
) -> Sandbox:
    """Start a simulated wallet balance service on a free port of this machine.

    Parameters
    ----------
    latency_s : float, default 0.0
        Delay of an answer per requested wallet, in seconds.
    failure_share : float, default 0.0
        Share of wallets that fail, from 0 to 1. A second request for the same wallet can succeed.
    seed : int, default 0
        Seed of the simulated holdings and failures. Equal seeds give equal answers.
    requests_per_second : float, optional
        Rate limit per IP address and per API key, from 0.02 to 1,000,000; None means no limit. The
        test key is always limited to 2 requests per second.
    ledger : DataFrame, WalletDetails, path or Ledger, optional
        Holdings to serve instead of simulated holdings: a DataFrame, the result of a fetch, or the
        path of a ``.parquet`` or ``.json`` file. Required columns: blockchain, address, symbol,
        token_address, raw_amount and decimals, as in the holdings of `fetch_wallets`. Optional
        columns: token_blockchain and price. A ``.json`` file can also be a recorded answer of the
        service. Wallets that failed in the passed fetch also fail in the sandbox. All remaining
        wallets without rows are empty. Only requests with a key of this sandbox can read these
        holdings. The key is in ``settings()`` and ``client()``.

    Returns
    -------
    Sandbox
        The running sandbox. Use it as a context manager, or call ``stop()``.

    Raises
    ------
    SettingsError
        If a number is out of range.
    LedgerError
        If the holdings in `ledger` can't be served.
    MissingExtraError
        If the extra ``sandbox`` is not installed.

    Examples
    --------
    >>> with sandbox(seed=7) as service:
    ...     service.base_url.startswith("http://127.0.0.1:")
    True
    """
    behaviour = Behaviour(
        latency_s=latency_s,
        failure_share=failure_share,
        seed=seed,
        requests_per_second=requests_per_second,
    )
    return Sandbox(behaviour, ledger)
