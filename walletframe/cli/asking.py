"""Steps that commands share: read wallets from arguments and files, fetch them, and exit."""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import click
import pandas as pd

from walletframe.accessor.delegation import LazyPackage
from walletframe.address.lists import read_rows, select_wallets, with_labels
from walletframe.cli.files import require_wallets
from walletframe.errors import FetchInterrupted
from walletframe.frames.kept import names_to_keep
from walletframe.numerals import counted_noun
from walletframe.walletfile import rows_of, rows_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from walletframe import client
    from walletframe.address.forms import WalletAddress, WalletLike
    from walletframe.address.lists import OnUnreadable
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.names import TokenLike
    from walletframe.settings.values import Settings
    from walletframe.walletfile import Labels
else:
    client = LazyPackage("client")

_Placed: TypeAlias = "tuple[str, WalletLike, Labels]"

_INTERRUPTED = 130
_SHOWN = 20


def parse_token(text: str | None, *holdings: pd.DataFrame) -> TokenLike | None:
    """Return a token from text: BLOCKCHAIN.CONTRACT, unless some holdings have it as a symbol."""
    if text is None or "." not in text or any((held["symbol"] == text).any() for held in holdings):
        return text
    blockchain, _, contract = text.partition(".")
    return blockchain, contract or None


def fetch_details(
    wallets: Sequence[str],
    *,
    files: Sequence[str],
    keep: Sequence[str],
    on_unreadable: OnUnreadable,
    before: Callable[[Settings], None] | None = None,
    **overrides: Any,
) -> tuple[WalletDetails, bool]:
    """Fetch wallets; also return whether an interrupt ended the fetch.

    ``before`` gets the settings before any request, and may raise.
    """
    options: dict[str, Any] = {name: overrides.pop(name) for name in ("refresh", "offline")}
    requested = requested_wallets(wallets, files, on_unreadable, keep)
    with client.Client(**overrides) as fetcher:
        if before is not None:
            before(fetcher.settings)
        try:
            details = fetcher.fetch(requested, keep=keep, **options, on_failure="ignore")
        except FetchInterrupted as stopped:
            return cast("WalletDetails", stopped.details), True
    return details, False


def exit_with(*, known: object, interrupted: bool = False) -> NoReturn:
    """Exit with 0 if all is known, 1 if not, 130 after an interrupt."""
    sys.exit(_INTERRUPTED if interrupted else 0 if known else 1)


def requested_wallets(
    words: Iterable[str],
    files: Sequence[str],
    on_unreadable: OnUnreadable = "raise",
    keep: Sequence[str] = (),
) -> list[WalletAddress] | pd.DataFrame:
    """Read the distinct wallets of a command line, with the columns to keep.

    All unreadable wallets are reported at once. Kept columns are NA for wallets that are arguments
    or come from a file that is not a .csv.
    """
    if keep and not any(name.lower().endswith(".csv") for name in files):
        raise click.UsageError("--keep is for columns of a --file that ends in .csv")
    kept = names_to_keep(keep)
    no_labels = (None,) * len(kept)
    placed: list[_Placed] = [(f"argument {n}", word, no_labels) for n, word in enumerate(words, 1)]
    for name in files:
        placed += _rows(name, kept)
    reading = read_rows(enumerate(wallet for _, wallet, _ in placed), "by place")
    if reading.problems and on_unreadable == "raise":
        count = len(reading.problems)
        shown = (f"{placed[n][0]}: {value!r}: {reason}" for n, value, reason in reading.problems)
        more = [f"… and {count - _SHOWN} more"] if count > _SHOWN else []
        lines = [f"{counted_noun(count, 'wallet')} can't be read:", *islice(shown, _SHOWN), *more]
        raise click.UsageError("\n  ".join(lines))
    if kept:
        labelled = pd.DataFrame([placed[number][2] for number in reading.positions], columns=kept)
        reading = with_labels(reading, labelled)
    requested, labels = select_wallets(
        reading, on_unreadable, locate=lambda number: placed[number][0]
    )
    if not requested:
        raise click.UsageError("no wallets: give some, or a --file of them")
    if labels is None:
        return requested
    pairs = [(wallet.blockchain, wallet.address) for wallet in requested]
    return pd.DataFrame(pairs, columns=["blockchain", "address"]).join(labels)


def _rows(name: str, keep: Sequence[str]) -> Iterator[_Placed]:
    """Read the wallets of a file or of standard input, with their places and kept columns."""
    path = Path(name)
    try:
        if name == "-":
            numbered = rows_of(sys.stdin, path, keep)
        else:
            require_wallets(name)
            numbered = rows_of_file(path, keep, partial(require_wallets, name))
        for number, wallet, labels in numbered:
            yield f"{name} line {number}", wallet, labels
    except OSError as fault:
        raise click.UsageError(f"{name} can't be read: {fault}") from None
