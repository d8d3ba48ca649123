"""The report as a file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from walletframe.disk import replaced
from walletframe.errors import SettingsError
from walletframe.frames import details_given
from walletframe.reports.rendering import drawn_images, render_html, render_markdown

if TYPE_CHECKING:
    from walletframe.frames import AssetsLike, By, DetailsLike

PathLike: TypeAlias = str | Path
Images: TypeAlias = Literal["interactive", "static"]
SUFFIXES = (".html", ".md")


def report(  # noqa: PLR0913 - what a caller may wish
    details: DetailsLike,
    path: PathLike,
    *,
    by: By | None = None,
    before: DetailsLike | None = None,
    title: str = "Token holdings",
    images: Images = "interactive",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> Path:
    """Write a report: what was asked, how complete the answer is, totals, charts and tables.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        What was fetched. Values are those of `value`, else at the service's own prices, where it
        sent any. What `flag_spam` flagged, or would, has a table of its own.
    path : str or Path
        Where to write: a ``.html``, one page that opens offline, prints well and draws charts; or a
        ``.md`` with the same in words and tables. An existing file is replaced atomically.
    by : str or list of str, optional
        Totals by these, too, in a table and a chart: the names that `.wf.totals` takes, such as
        ``["owner", "asset"]``. What you kept of wallets is in the table of wallets in any case.
    before : WalletDetails or tuple of (DataFrame, DataFrame), optional
        An earlier fetch or snapshot, to add a table of what changed.
    title : str, default "Token holdings"
        The heading.
    images : {"interactive", "static"}, default "interactive"
        How a ``.html`` shows charts: with plotly inside, some 5 MB, or as pictures, for mail and
        for readers without scripts. Pictures need the extra ``images`` and a Chrome or Chromium.
    assets : DataFrame, str or Path, optional
        By asset: contracts of your own, as `walletframe.assets` takes them.
    bridged : bool, default False
        By asset: whether twins count, such as USDC.e and WETH.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArgumentError, SettingsError
        If `details` or `before` is not a fetch, the path has another suffix, `images` is neither
        of these, or `by` names no column.
    MissingExtraError
        With ``images="static"``, if the packages that draw pictures are not installed.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.
    TokenListError, AmbiguousTokenError
        If `assets` can't be used, or symbols are asked for, and tokens share one.
    SnapshotError
        If `before` and `details` can't be compared.
    OSError
        If the file can't be written.

    Notes
    -----
    Tables are cut to what is readable, and say how many rows were left out: `.wf.to_excel`
    writes all of them. No number is cut. The page loads nothing from a server, and holds no key.

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
    fetched = details_given(details)
    earlier = None if before is None else details_given(before, "before")
    file = Path(path)
    form = file.suffix.lower()
    if form not in SUFFIXES:
        raise SettingsError(
            f"a report can't be written as {file.name!r}",
            hint="use a name that ends in .html or .md",
        )
    if images not in get_args(Images):
        raise SettingsError(f"images: {images!r}", hint="interactive or static")
    from walletframe.reports.composition import compose  # noqa: PLC0415 - loads plotly
    from walletframe.reports.figures import Grouping  # noqa: PLC0415 - as well

    grouping = None if by is None else Grouping(by, assets, bridged)
    made = datetime.now(UTC)
    content = compose(fetched, before=earlier, title=title, made=made, grouping=grouping)
    if form == ".md":
        text = render_markdown(content)
    else:
        drawn = None if images == "interactive" else drawn_images(content.charts)
        text = render_html(content, drawn)
    with replaced(file) as target:
        target.write(text.encode())
    return file
