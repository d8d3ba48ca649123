"""The report as a file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from walletframe.errors import SettingsError
from walletframe.reports.rendering import render_html, render_markdown

if TYPE_CHECKING:
    from walletframe.frames import WalletDetails

PathLike: TypeAlias = str | Path
_WRITERS = {".html": render_html, ".md": render_markdown}
SUFFIXES = tuple(_WRITERS)


def report(
    details: WalletDetails,
    path: PathLike,
    *,
    before: WalletDetails | None = None,
    title: str = "Token holdings",
) -> Path:
    """Write a report: what was asked, how complete the answer is, totals, charts and tables.

    Parameters
    ----------
    details : WalletDetails
        What was fetched. Values are drawn and added up where ``holdings`` have the columns of
        `value`; without them, at the service's own prices, where it sent any. What was flagged by
        `flag_spam` (anew, where there is no column ``is_spam``) has a table of its own.
    path : str or Path
        Where to write: a ``.html``, one page that opens offline, prints well and draws charts; or a
        ``.md`` with the same in words and tables. What is there is replaced as a whole.
    before : WalletDetails, optional
        An earlier fetch or snapshot: then what changed has a table.
    title : str, default "Token holdings"
        The heading.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    SettingsError
        Where the path ends otherwise.
    ColumnsError
        Where a column is missing.
    AmountError
        Where the amounts are of another dtype.
    PricesError
        Where values are in more than one currency.
    SnapshotError
        Where `before` and `details` can't be compared.
    OSError
        Where the file can't be written.

    Notes
    -----
    Tables are cut to what is readable, and say how many rows were left out. The page asks for
    nothing: no server is in it, and no key.

    Examples
    --------
    >>> import tempfile, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets(["NEAR.alice.near"], client=client)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = report(details, f"{folder}/alice.md").read_text(encoding="utf-8")
    >>> text.splitlines()[0]
    '# Token holdings'
    """
    file = Path(path)
    write = _WRITERS.get(file.suffix.lower())
    if write is None:
        raise SettingsError(
            f"a report can't be written as {file.name!r}", hint="end it in .html or .md"
        )
    from walletframe.reports.composition import compose  # noqa: PLC0415 - loads plotly

    content = compose(details, before=before, title=title, made=datetime.now(UTC))
    _replace(file, write(content))
    return file


def _replace(file: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    beside = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
