"""Common steps of commands: read wallets, fetch wallets, and exit with an exit code."""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import click
import pandas as pd

from walletframe.accessor.delegation import LazyPackage
from walletframe.address import lists
from walletframe.cli.files import require_wallet_list
from walletframe.errors import FetchInterrupted
from walletframe.frames.extra_columns import check_keep
from walletframe.numerals import counted_noun
from walletframe.walletfile import ExtraValues, read_file_rows, read_open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from walletframe import client
    from walletframe.address.forms import WalletAddress, WalletLike
    from walletframe.address.lists import OnUnreadable
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.results import Coverage
    from walletframe.settings.values import Settings
else:
    client = LazyPackage("client")

_LocatedWallet: TypeAlias = "tuple[str, WalletLike, ExtraValues]"  # location, wallet, extra values

NEVER_RAISE: dict[str, Any] = {"on_failure": "ignore", "on_unreadable": "ask"}
_SHOWN = 20
_DROP_HINT = "Correct unreadable wallets, or drop them with --on-unreadable=drop."
_MALFORMED_HINT = "To request malformed addresses as written, add --on-unreadable=ask."
NO_WALLETS = "no wallets were given; add wallets, such as NEAR.alice.near, or --file wallets.txt"


def parse_token(text: str | list[str] | None, *holdings: pd.DataFrame) -> Any:
    """Parse BLOCKCHAIN.CONTRACT. If `text` is the symbol of a held token, return `text`."""
    if isinstance(text, list):
        return [parse_token(each, *holdings) for each in text]
    if text is None or "." not in text or any((held["symbol"] == text).any() for held in holdings):
        return text
    blockchain, _, contract = text.partition(".")
    return blockchain, contract or None


def fetch_until_interrupted(
    wallets: Sequence[str],
    *,
    keep: Sequence[str],
    check_settings: Callable[[Settings], None] = lambda _settings: None,
    **options: Any,
) -> tuple[WalletDetails, bool]:
    """Fetch wallets. Return the result, and whether the fetch was interrupted."""
    read_options = {name: options.pop(name) for name in ("files", "on_unreadable", "fix")}
    fetch_options = {name: options.pop(name) for name in ("refresh", "offline")}
    requested = read_requested_wallets(wallets, keep=keep, **read_options)
    with client.Client(**options) as fetcher:
        check_settings(fetcher.settings)
        try:
            return fetcher.fetch(requested, keep=keep, **fetch_options, **NEVER_RAISE), False
        except FetchInterrupted as stopped:
            return cast("WalletDetails", stopped.details), True


def exit_by_completeness(*, all_known: object, interrupted: bool = False) -> NoReturn:
    """Exit with the code 0 if all data is known, 1 if not, or 130 after an interrupt."""
    sys.exit(130 if interrupted else 0 if all_known else 1)


def exit_by_coverage(coverage: Coverage, *, interrupted: bool = False) -> NoReturn:
    """Exit with the code 0 if a table has no unknown wallet, amount or token, otherwise 1."""
    gaps = coverage.unfinished or coverage.unknown_tokens or coverage.amount_na
    known = coverage.wallets_ok == coverage.wallets_asked and not gaps
    exit_by_completeness(all_known=known, interrupted=interrupted)


def read_requested_wallets(
    arguments: Iterable[str],
    files: Sequence[str],
    on_unreadable: OnUnreadable = "ask",
    keep: Sequence[str] = (),
    *,
    fix: bool = False,
) -> list[WalletAddress] | pd.DataFrame:
    """Read the distinct wallets of a command line. If `keep` names columns, return a DataFrame."""
    if keep and not any(name.lower().endswith(".csv") for name in files):
        raise click.UsageError("--keep needs a --file whose name ends in .csv")
    kept = check_keep(keep)
    located: list[_LocatedWallet] = [
        (f"argument {n}", text, (None,) * len(kept)) for n, text in enumerate(arguments, 1)
    ]
    for name in files:
        located += _read_wallet_file(name, kept)
    parsed = lists.read_numbered(enumerate(wallet for _, wallet, _ in located), "by location")
    if kept:
        labelled = pd.DataFrame([located[number][2] for number in parsed.positions], columns=kept)
        parsed = lists.add_extra_columns(parsed, labelled)
    parsed = lists.replace_aliases_and_unify_labels(parsed) if fix else parsed
    parsed = lists.move_malformed_to_problems(parsed, on_unreadable)
    aliases = [(number, alias, f"write {name} instead") for number, alias, name in parsed.aliases]
    unreadable = [] if on_unreadable == "drop" else parsed.problems
    if problems := sorted([*unreadable, *aliases]):
        count = len(problems)
        shown = (f"{located[n][0]}: {value!r}: {reason}" for n, value, reason in problems)
        more = [f"… and {count - _SHOWN} more"] if count > _SHOWN else []
        lines = [f"{counted_noun(count, 'wallet')} can't be read:", *islice(shown, _SHOWN), *more]
        hints = ["Add --fix to replace these names of blockchains."] * bool(aliases)
        hints += [_DROP_HINT] * (on_unreadable == "raise" and bool(unreadable))
        hints += [_MALFORMED_HINT] * (parsed.has_malformed and bool(unreadable))
        raise click.UsageError("\n  ".join(lines) + "\n" * bool(hints) + "\n".join(["", *hints]))
    requested, labels = lists.distinct_wallets_and_labels(
        parsed, on_unreadable, position_text=lambda number: located[number][0]
    )
    if not requested:
        raise click.UsageError(NO_WALLETS)
    if labels is None:
        return requested
    pairs = [(wallet.blockchain, wallet.address) for wallet in requested]
    return pd.DataFrame(pairs, columns=["blockchain", "address"]).join(labels)


def _read_wallet_file(name: str, keep: Sequence[str]) -> Iterator[_LocatedWallet]:
    path = Path(name)
    try:
        if name == "-":
            numbered = read_open_file(sys.stdin, path, keep)
        else:
            require_wallet_list(name)
            numbered = read_file_rows(path, keep, partial(require_wallet_list, name))
        for number, wallet, labels in numbered:
            yield f"{name} line {number}", wallet, labels
    except OSError as error:
        raise click.UsageError(f"{name} can't be read: {error}") from None
