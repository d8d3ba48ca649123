"""The report as a file: a template renders the content, and a browser draws charts as pictures.

Templates escape all text with `walletframe.text`, unless it is marked as the report's own.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from walletframe.disk import atomic_write
from walletframe.errors import MissingExtraError, SettingsError
from walletframe.frames.details import as_details
from walletframe.frames.display import cell_html, is_number, table_markdown, table_rows
from walletframe.frames.tables import NUMBERS
from walletframe.numerals import many
from walletframe.settings.values import PREFIX
from walletframe.text import as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.tables import Cell
    from walletframe.reports.composition import Chart, ChartView

    Pictures: TypeAlias = Queue[Markup | BaseException]

PathLike: TypeAlias = str | Path
Images: TypeAlias = Literal["interactive", "static"]
SUFFIXES = (".html", ".md")


def report(  # noqa: PLR0913 - the options of a report
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
    """Write a report on a fetch: its completeness, totals, charts and tables.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The fetch. Values are those of `value`, else at the service's own prices, if it sent any.
        Tokens that `flag_spam` flagged, or would flag, have a table of their own.
    path : str or Path
        The file to write: a ``.html``, one page that opens offline, prints well and draws charts;
        or a ``.md`` with the same text and tables. An existing file is replaced atomically.
    by : str or list of str, optional
        Add totals by these names, in a table and a chart: those that `.wf.totals` takes, such as
        ``["owner", "asset"]``. The table of wallets always has the columns that you kept.
    before : WalletDetails or tuple of (DataFrame, DataFrame), optional
        An earlier fetch or snapshot, to add a table of changes.
    title : str, default "Token holdings"
        The heading.
    images : {"interactive", "static"}, default "interactive"
        How a ``.html`` shows charts: with plotly inside, some 5 MB; or as pictures, for mail and
        for readers without scripts. Pictures need the extra ``images`` and a Chrome or Chromium.
    assets : DataFrame, str or Path, optional
        By asset: your own contracts, as in `walletframe.assets`.
    bridged : bool, default False
        By asset: whether bridged versions count, such as USDC.e and WETH.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArgumentError, SettingsError
        If `details` or `before` is not a fetch, the path has another suffix, `images` has another
        value, or `by` names no column.
    MissingExtraError
        With ``images="static"``, if the packages that draw pictures are not installed, or there is
        no Chrome or Chromium, or it exits or doesn't answer for 90 seconds.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.
    TokenListError, AmbiguousTokenError
        If `assets` can't be used, or `by` has symbols, and tokens share one.
    SnapshotError
        If `before` and `details` can't be compared.
    OSError
        If the file can't be written.

    Notes
    -----
    Long tables are cut, and say how many rows are left out: `.wf.to_excel` writes all of them. No
    number is cut. The page loads nothing from a server, and does not contain the key.

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
    fetched = as_details(details)
    earlier = None if before is None else as_details(before, "before")
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingsError(
            f"a report can't be written as {file.name!r}",
            hint="use a name that ends in .html or .md",
        )
    if images not in get_args(Images):
        hint = 'use "interactive" or "static"'
        raise SettingsError(f"images can't be {images!r}", hint=hint)
    from walletframe.reports.composition import Grouping, compose  # noqa: PLC0415 - loads plotly

    grouping = None if by is None else Grouping(by, assets, bridged)
    made = datetime.now(UTC)
    content = compose(fetched, before=earlier, title=title, made=made, grouping=grouping)
    if suffix == ".md":
        text = _environment(as_markdown).get_template("report.md").render(content=content)
    else:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - 5 MB, for this format alone

        is_static = images == "static"
        interactive = [] if is_static else content.charts
        page = _environment(as_html).get_template("report.html")
        text = page.render(
            content=content,
            images=_chart_images(content.charts) if is_static else None,
            config={"displaylogo": False, "showTips": False},
            plotly=Markup(get_plotlyjs() if interactive else ""),  # noqa: S704 - plotly's own script
            drawn=[[_script_data(view) for view in chart.views] for chart in interactive],
        )
    with atomic_write(file) as target:
        target.write(text.encode())
    return file


_LONGEST = 1_000
_LONG = 30
_THOUSANDS = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ROLES = {"tr": "row", "th": "columnheader", "td": "cell"}  # of thead and tbody: rowgroup
_GAP = '<span class="gap">{}</span>'.format
_WIDE, _NARROW, _SCALE = 960, 360, 2  # pictures, in pixels
_LEGEND_LINE = 19
_PURPOSE = "drawing charts as pictures"
_PATIENCE_S = 90.0  # for each picture; for the first with the start of the browser
_CLOSING_S = 10.0


@cache
def _environment(escape: Callable[[str, int], str]) -> Environment:
    def escaped(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value), _LONGEST))  # noqa: S704 - escaped

    environment = Environment(
        loader=PackageLoader("walletframe.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["rows"] = lambda table: Markup(table_rows(table, _classes, _html_cell))  # noqa: S704 - escaped
    environment.filters["table"] = lambda table: Markup(table_markdown(table))  # noqa: S704 - escaped
    environment.globals["many"] = many
    environment.filters["own"] = Markup if escape is as_markdown else escaped
    return environment


def _classes(tag: str, name: str) -> str:
    """Return a tag's class and role; tables lose implicit roles if a narrow page shows blocks."""
    role = f' role="{_ROLES.get(tag, "rowgroup")}"'
    number = name in NUMBERS
    if tag == "td":
        side = "number" if number else "text"
        kind, heading = as_html(name.split(" ", maxsplit=1)[0]), as_html(name)
        return f'{role} class="{side} {kind}" data-name="{heading}"'
    return role + (' scope="col"' if tag == "th" else "") + (' class="number"' if number else "")


def _html_cell(cell: Cell) -> str:
    """Return a cell with digits in groups by margins, which are not copied; long numbers wrap."""
    if not is_number(cell):
        return cell_html(cell)
    whole, point, rest = cell.text.partition(".")
    first, *more = _THOUSANDS.split(whole)
    groups = [f"<span>{first}</span>", *map(_GAP, more)]
    if point:
        thirds = [rest[start : start + 3] for start in range(0, len(rest), 3)]
        groups += [f"<span>.{thirds[0]}</span>", *map(_GAP, thirds[1:])]
    drawn = ("<wbr>" if len(cell.text) > _LONG else "").join(groups)
    return f'<span class="digits">{drawn}</span>'


def _script_data(view: ChartView) -> Markup:
    """Return a figure as JSON that can't close its script element."""
    text = str(view.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped


def _chart_images(charts: Sequence[Chart]) -> list[list[Markup]]:
    """Draw each view of each chart, offline, and return ``data:`` URLs of PNGs."""
    if not charts:
        return []
    if find_spec("kaleido") is None:
        raise MissingExtraError("images", _PURPOSE)
    import kaleido  # noqa: PLC0415 - an extra

    kind = _browser_class()
    path = kind.find_browser(skip_local=False)
    if not path or not Path(path).is_file():
        raise _no_browser("a Chrome or Chromium, and none was found", "install one")
    page = kaleido.PageGenerator(mathjax=False)  # it would be loaded from the web
    browser = kaleido.Kaleido(n=1, page_generator=page, browser_cls=kind)
    drawn: Pictures = Queue()
    work = _draw(browser, [view for chart in charts for view in chart.views], drawn)
    thread = Thread(target=asyncio.run, args=(work,), name="walletframe-pictures", daemon=True)
    thread.start()  # since the notebook's thread already runs an event loop
    try:
        pictures = [[_next_picture(drawn, path) for _ in chart.views] for chart in charts]
        thread.join(_CLOSING_S)
    finally:
        if thread.is_alive():  # the browser hangs, or the user interrupted it
            _kill(browser)
            thread.join(_CLOSING_S)
    return pictures


async def _draw(browser: Any, views: Sequence[ChartView], drawn: Pictures) -> None:
    """Draw and queue each view's picture, or queue the error."""
    try:
        async with browser:
            for view in views:
                layout, is_narrow = view.figure.layout, view.name == "narrow"
                entries = len(view.figure.data) if is_narrow and layout.showlegend else 0
                width = _NARROW if is_narrow else _WIDE
                height = layout.height + _LEGEND_LINE * entries
                opts = {"format": "png", "width": width, "height": height, "scale": _SCALE}
                png = await browser.calc_fig(view.figure, opts=opts)
                url = f"data:image/png;base64,{b64encode(png).decode()}"
                drawn.put(Markup(url))  # noqa: S704 - letters and digits
    except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001 - `_next_picture` raises it
        drawn.put(fault)


def _next_picture(drawn: Pictures, path: str) -> Markup:
    """Return the next picture; raise if the browser ended or does not answer."""
    needed = f"a Chrome or Chromium that works: {path}"
    start = f"start {path} in a shell to see why"
    try:
        picture = drawn.get(timeout=_PATIENCE_S)
    except Empty:
        raise _no_browser(f"{needed} did not answer within {_PATIENCE_S:g} s", start) from None
    if isinstance(picture, BaseException):
        raise _no_browser(f"{needed} ended before it had drawn them", start) from picture
    return picture


def _no_browser(lacking: str, hint: str) -> MissingExtraError:
    hint += ', or name one that works in the variable BROWSER_PATH; images="interactive" needs none'
    return MissingExtraError("images", _PURPOSE, lacking, hint)


def _kill(browser: Any) -> None:
    """Kill a browser's processes."""
    with suppress(AttributeError, ProcessLookupError):  # it has not started, or has ended
        if sys.platform == "win32":  # pragma: no cover - it has no process groups
            browser.subprocess.kill()
        else:
            os.killpg(browser.subprocess.pid, signal.SIGKILL)


def _browser_class() -> Any:
    from choreographer.browsers.chromium import Chromium  # noqa: PLC0415 - comes with kaleido

    class KeylessChromium(Chromium):
        """A browser whose processes don't inherit walletframe's settings, such as the key."""

        def get_env(self) -> dict[str, str]:
            items = os.environ.items()
            return {name: text for name, text in items if not name.upper().startswith(PREFIX)}

    return KeylessChromium
