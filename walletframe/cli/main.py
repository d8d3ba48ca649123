"""The group of commands, which turns errors into one message and an exit code."""

from __future__ import annotations

import warnings
from dataclasses import fields
from functools import partial
from typing import Any

import click

from walletframe.cli.fetch import balance, demo, fetch, fetch_to_parquet
from walletframe.cli.history import compare, history
from walletframe.cli.options import example
from walletframe.cli.screen import fit_consoles, harmless_errors, say
from walletframe.cli.settings import cache, sandbox, settings
from walletframe.cli.summaries import report, share, totals, value
from walletframe.errors import WalletframeError, WalletframeWarning
from walletframe.settings import PREFIX, Settings


def spelled_for(command: click.Command | None, argument: str) -> str:
    """Name an argument as a command has it: an option, a setting's variable, or as it is."""
    inner = command.commands.values() if isinstance(command, click.Group) else []
    params = [param for each in (command, *inner) if each is not None for param in each.params]
    for param in params:
        if isinstance(param, click.Option) and param.name == argument:
            return param.opts[0]
    is_setting = argument in {field.name for field in fields(Settings)}
    return f"{PREFIX}{argument.upper()}" if is_setting else argument


class _MachineError(click.ClickException):
    """A file, a port or a disk that does not do what it should."""

    exit_code = 3


class _Commands(click.Group):
    """A group whose commands answer bad input with a message instead of a traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        fit_consoles()
        return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with harmless_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with harmless_errors(), warnings.catch_warnings(record=True) as caught:
            try:
                return self._invoked(ctx)
            finally:
                for warning in caught:
                    say(f"Warning: {self._spelled(warning.message, ctx)}", err=True)

    def _invoked(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WalletframeError as error:
            kind = _MachineError if isinstance(error, OSError) else click.UsageError
            raise kind(self._spelled(error, ctx)) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _MachineError(str(error)) from None

    def _spelled(self, message: Warning | WalletframeError | str, ctx: click.Context) -> str:
        if not isinstance(message, WalletframeError | WalletframeWarning):
            return str(message)
        command = self.commands.get(ctx.invoked_subcommand or "")
        return message.spelled.in_shell(partial(spelled_for, command))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example("walletframe demo", "walletframe fetch --help"),
)
@click.version_option(package_name="walletframe")
def main() -> None:
    """Token holdings of wallets, from the shell.

    Settings come from WALLETFRAME_<NAME> variables; `walletframe settings` shows them.
    """


_ASKING = [demo, fetch, fetch_to_parquet, balance, totals, share, value, report]
for _command in [*_ASKING, history, compare, sandbox, cache, settings]:
    main.add_command(_command)
