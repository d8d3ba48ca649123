"""The command line program ``walletframe``, which converts errors to messages and exit codes.

The exit code is 0 on success. It is 1 if tables are printed in which a wallet, an amount or a token
is unknown. It is 2 for invalid input or settings, and 3 if a file, a disk or a port can't be used.
After an interrupt, the exit code is 130, and the tables of the finished wallets are printed.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import click

from walletframe.cli import flags
from walletframe.cli.fetch import balance, check, demo, fetch, fetch_to_parquet
from walletframe.cli.history import history
from walletframe.cli.screen import echo, prepare_streams, sanitized_errors, with_option_names
from walletframe.cli.settings import cache, sandbox, settings
from walletframe.cli.summaries import report, totals
from walletframe.errors import WalletframeError
from walletframe.settings.sources import PREFIX

_IN_A_SHELL = f"In a shell, write --name for name=…, and set {PREFIX}<NAME> for a setting."
_FETCH_COMMANDS = [demo, check, fetch, fetch_to_parquet, balance, totals, report]


class _UnusableResourceError(click.ClickException):
    exit_code = 3


class _SafeConsoleGroup(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        prepare_streams()
        return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with sanitized_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with sanitized_errors(), warnings.catch_warnings(record=True) as caught:
            try:
                return super().invoke(ctx)
            except WalletframeError as error:
                kind = _UnusableResourceError if isinstance(error, OSError) else click.UsageError
                has_names = re.search(r"\b[a-z_]+=", with_option_names(error.hint))
                note = f"\n{_IN_A_SHELL}" if has_names else ""
                raise kind(f"{with_option_names(error)}{note}") from None
            except OSError as error:
                raise _UnusableResourceError(str(error)) from None
            finally:
                for warning in caught:
                    echo(f"Warning: {with_option_names(warning.message)}", err=True)


@click.group(
    cls=_SafeConsoleGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=flags.examples("walletframe demo", "walletframe fetch --help"),
    commands=[*_FETCH_COMMANDS, history, sandbox, cache, settings],
)
@click.version_option(package_name="walletframe")
def main() -> None:
    """Fetch and analyse the token holdings of wallets.

    Settings are read from environment variables WALLETFRAME_<NAME>, and from files called
    walletframe.toml. `walletframe settings` shows them.
    """
