"""The sandbox: the whole service on loopback inside this process, with simulated data.

FastAPI and the other server packages are imported when a sandbox is made.
"""

from __future__ import annotations

import atexit
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from platformdirs import user_cache_path

from walletframe.errors import MissingExtraError, SettingsError
from walletframe.frameless import frameless
from walletframe.service.ledger import SimulatedLedger
from walletframe.service.options import SANDBOX_KEYS, Behaviour
from walletframe.service.recorded import as_ledger
from walletframe.settings.values import KeyKind, Settings, quoted

if TYPE_CHECKING:
    from walletframe.client import Client
    from walletframe.service.recorded import LedgerLike
    from walletframe.settings.values import SettingsKwargsWithoutKind

SIMULATED_HEADER = "X-Walletframe-Simulated"


class Sandbox:
    """The wallet balance service, simulated, on a port of this machine.

    It serves until `stop`, the end of its ``with`` block, or the end of the process. `sandbox`
    makes one on a free port, and documents the parameters.

    Parameters
    ----------
    behaviour : Behaviour, optional
        Latency, failures, seed and limits.
    ledger : DataFrame, path or Ledger, optional
        Holdings to serve instead of simulated ones.
    port : int, default 0
        Where to listen; 0 for any free port.

    Raises
    ------
    LedgerError, MissingExtraError
        As `sandbox`.
    OSError
        If the port is taken.

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
            from walletframe.service.app import HOST, LoopbackServer, create_app  # noqa: PLC0415  an extra
            from walletframe.service.gate import Gate  # noqa: PLC0415  an extra
        except ImportError as error:
            raise MissingExtraError("sandbox", "the sandbox") from error
        self._keys = SANDBOX_KEYS
        if ledger is not None:  # secret keys, since the ledger may be the user's own data
            self._keys = {
                kind: replace(known, key=f"wf-sandbox-{kind}-{token_hex(16)}")
                for kind, known in SANDBOX_KEYS.items()
            }
        self._gate = Gate(options.requests_per_second, self._keys.values())
        app = create_app(self._ledger, options, self._gate)
        self._server = LoopbackServer(app, port=port, headers=[(SIMULATED_HEADER, "true")])
        self._origin = f"http://{HOST}:{self._server.port}"
        self._running = True
        self._make_again = partial(Sandbox, options, ledger)
        Sandbox._latest = self
        atexit.register(self.stop)

    @property
    def base_url(self) -> str:
        """The private base address, such as ``http://127.0.0.1:50000/private``."""
        return f"{self._origin}/private"

    @property
    def public_base_url(self) -> str:
        """The public base address, such as ``http://127.0.0.1:50000/public``."""
        return f"{self._origin}/public"

    @property
    def openapi_url(self) -> str:
        """The address of the endpoint's OpenAPI document."""
        return f"{self._origin}/openapi.json"

    @frameless
    def settings(
        self, key_kind: KeyKind = "private", **overrides: Unpack[SettingsKwargsWithoutKind]
    ) -> Settings:
        """Return settings that reach this sandbox, with nothing from the environment.

        Answers are cached in a file of their own for each ledger, as of the service ``sandbox``.

        Parameters
        ----------
        key_kind : {"private", "public", "test"}, default "private"
            Which of the sandbox's keys to use.
        **overrides
            Any setting, instead of the sandbox's own.

        Returns
        -------
        Settings
            For `walletframe.Client` or `walletframe.configure`.

        Raises
        ------
        SettingsError
            If there is no key of this kind, or a setting is unknown or out of range.
        """
        if key_kind not in self._keys:
            hint = f"use one of {', '.join(self._keys)}"
            raise SettingsError(f"key_kind can't be {quoted(key_kind)}", hint)
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

    @frameless
    def client(
        self, key_kind: KeyKind = "private", **overrides: Unpack[SettingsKwargsWithoutKind]
    ) -> Client:
        """Return a client of this sandbox.

        Parameters
        ----------
        key_kind : {"private", "public", "test"}, default "private"
            Which of the sandbox's keys to use.
        **overrides
            Any setting, instead of the sandbox's own.

        Returns
        -------
        walletframe.Client
            To be closed by the caller.

        Raises
        ------
        SettingsError
            As `settings`.
        """
        from walletframe.client import Client  # noqa: PLC0415  the one arrow up

        return Client(self.settings(key_kind, **overrides))

    def wait(self) -> None:
        """Return when the sandbox has been stopped by another thread.

        Raises
        ------
        KeyboardInterrupt
            At an interrupt; the sandbox continues to serve.
        """
        self._server.wait()

    def stop(self) -> None:
        """Stop serving; a second call does nothing."""
        if self._running:
            self._running = False
            self._server.stop()
            self._gate.close()
            atexit.unregister(self.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = f"at {self._origin}" if self._running else "stopped"
        return f"<walletframe sandbox, simulated data, {state}>"


def latest_sandbox() -> Sandbox | None:
    """Return the latest sandbox of this process, made again if it was stopped, or None."""
    made = Sandbox._latest  # noqa: SLF001 - of this module
    return made if made is None or made._running else made._make_again()  # noqa: SLF001


def sandbox(
    *,
    latency_s: float = 0.0,
    failure_share: float = 0.0,
    seed: int = 0,
    requests_per_second: float | None = None,
    ledger: LedgerLike | None = None,
) -> Sandbox:
    """Start the wallet balance service, simulated, on a free port of this machine.

    Parameters
    ----------
    latency_s : float, default 0.0
        Seconds that an answer takes for each requested wallet.
    failure_share : float, default 0.0
        Share of the wallet answers that say ``failed``, from 0 to 1; a retry can succeed.
    seed : int, default 0
        Seed of the simulated holdings and failures; equal seeds give equal answers.
    requests_per_second : float, optional
        Limit for each IP address and each key, from 0.02 to 1,000,000; None for no limit, except
        for the test key's 2 a second.
    ledger : DataFrame, path or Ledger, optional
        Holdings to serve instead of simulated ones: a DataFrame, a ``.parquet`` file or a ``.json``
        file with the columns blockchain, address, symbol, token_address, raw_amount, decimals and
        optionally token_blockchain and price (as the holdings that `fetch_wallets` returns); or a
        recorded answer of the service, as ``.json``. Only the keys of this sandbox, which its
        settings and clients have, give access to them.

    Returns
    -------
    Sandbox
        Running; use it as a context manager, or end it with its ``stop()``.

    Raises
    ------
    SettingsError
        If a number is out of range.
    LedgerError
        If the given holdings can't be served.
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
