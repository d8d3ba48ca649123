"""The report as a file: a template renders the content, and a browser draws charts as images.

Templates escape all text with `walletframe.text`, except for the report's own markup.
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
from walletframe.numerals import counted_noun
from walletframe.settings.sources import PREFIX
from walletframe.text import as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.tables import Cell
    from walletframe.reports.composition import Chart, ChartView

    ImageQueue: TypeAlias = Queue[Markup | BaseException]

PathLike: TypeAlias = str | Path
Images: TypeAlias = Literal["interactive", "static"]
SUFFIXES = (".html", ".md")


def report(  # noqa: PLR0913 - users pass each option by name
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
    """Write a report on the result of a fetch: its completeness, totals, charts and tables.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The result of a fetch. If `value` added values to the holdings, the report uses them. If
        not, it computes values from the prices that the service sent, if any. Tokens that
        `flag_spam` flagged, or would flag, are listed in a table of their own.
    path : str or Path
        The file to write. A ``.html`` file is one page that opens offline, can be printed, and has
        charts. A ``.md`` file has the same text and tables without charts. An existing file is
        replaced atomically.
    by : str or list of str, optional
        Add a table and a chart of totals that are grouped by these names, such as
        ``["owner", "asset"]``. `.wf.totals` accepts the same names. The table of wallets always
        includes your extra columns.
    before : WalletDetails or tuple of (DataFrame, DataFrame), optional
        The result of an earlier fetch, or a snapshot, to add a table of changes.
    title : str, default "Token holdings"
        The heading of the report.
    images : {"interactive", "static"}, default "interactive"
        The kind of charts in a ``.html`` file. Interactive charts include plotly, which adds about
        5 MB to the file. Static charts are images, for mail and for readers without scripts. They
        require the extra ``images`` and a Chrome or Chromium browser.
    assets : DataFrame, str or Path, optional
        Your own table of assets and their contracts, as in `walletframe.assets`.
    bridged : bool, default False
        Whether an asset includes bridged versions, such as USDC.e and WETH.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    ArgumentError, SettingsError
        If an argument has another type or value, or if totals can't be grouped by a name in `by`.
    MissingExtraError
        With ``images="static"``, if the packages that draw images or a browser are not installed,
        or if the browser exits or does not answer for 90 seconds.
    ColumnsError, AmountError, PricesError, TokenListError, AmbiguousTokenError
        As for `.wf.totals`.
    SnapshotError
        If `before` and `details` can't be compared.
    OSError
        If the file can't be written.

    Notes
    -----
    Long tables are shortened, and the report states how many rows are left out. `.wf.to_excel`
    writes all rows. Numbers are never shortened. The page loads nothing from a server, and does not
    contain the API key.

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
            f"the suffix of {file.name!r} is not supported for a report",
            hint="use a file name that ends in .html or .md",
        )
    if images not in get_args(Images):
        hint = 'use images="interactive" or images="static"'
        raise SettingsError(f"images={images!r} is not supported", hint=hint)
    from walletframe.reports.composition import Grouping, compose  # noqa: PLC0415 - loads plotly

    grouping = Grouping(by, assets, bridged)
    made = datetime.now(UTC)
    content = compose(fetched, before=earlier, title=title, made=made, grouping=grouping)
    if suffix == ".md":
        text = _environment(as_markdown).get_template("report.md").render(content=content)
    else:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - 5 MB, only for HTML

        is_static = images == "static"
        interactive = [] if is_static else content.charts
        page = _environment(as_html).get_template("report.html")
        text = page.render(
            content=content,
            images=_chart_images(content.charts) if is_static else None,
            config={"displaylogo": False, "showTips": False},
            plotly=Markup(get_plotlyjs() if interactive else ""),  # noqa: S704 - plotly's own script
            drawn=[[_figure_json(view) for view in chart.views] for chart in interactive],
        )
    with atomic_write(file) as target:
        target.write(text.encode())
    return file


_MAX_TEXT = 1_000
_LONG_NUMBER = 30
_THOUSANDS = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ROLES = {"tr": "row", "th": "columnheader", "td": "cell"}  # thead and tbody have the role rowgroup
_GAP = '<span class="gap">{}</span>'.format
_WIDE, _NARROW, _SCALE = 960, 360, 2  # of images, in pixels
_LEGEND_LINE = 19
_PURPOSE = "drawing charts as images"
_IMAGE_TIMEOUT_S = 90.0  # for each image; the first includes the start of the browser
_CLOSING_TIMEOUT_S = 10.0


@cache
def _environment(escape: Callable[[str, int], str]) -> Environment:
    """Return the environment of the templates. It applies `escape` to all text but markup."""

    def escaped(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value), _MAX_TEXT))  # noqa: S704 - the text is escaped here

    environment = Environment(
        loader=PackageLoader("walletframe.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["rows"] = lambda table: Markup(  # noqa: S704 - `table_rows` escapes the cells
        table_rows(table, _table_attributes, _grouped_cell_html)
    )
    environment.filters["table"] = lambda table: Markup(table_markdown(table))  # noqa: S704 - `table_markdown` escapes the cells
    environment.globals["counted_noun"] = counted_noun
    environment.filters["trusted"] = Markup if escape is as_markdown else escaped
    return environment


def _table_attributes(tag: str, name: str) -> str:
    """Return the attributes role and class of a tag in a table.

    On narrow pages, rows are shown as blocks, so the tags would lose their implicit roles.
    """
    role = f' role="{_ROLES.get(tag, "rowgroup")}"'
    number = name in NUMBERS
    if tag == "td":
        side = "number" if number else "text"
        kind, heading = as_html(name.split(" ", maxsplit=1)[0]), as_html(name)
        return f'{role} class="{side} {kind}" data-name="{heading}"'
    return role + (' scope="col"' if tag == "th" else "") + (' class="number"' if number else "")


def _grouped_cell_html(cell: Cell) -> str:
    """Return the HTML of a cell. Digits are grouped by margins, which are not copied."""
    if not is_number(cell):
        return cell_html(cell)
    integer_part, decimal_point, fraction = cell.text.partition(".")
    first_group, *other_groups = _THOUSANDS.split(integer_part)
    groups = [f"<span>{first_group}</span>", *map(_GAP, other_groups)]
    if decimal_point:
        fraction_groups = [fraction[start : start + 3] for start in range(0, len(fraction), 3)]
        groups += [f"<span>.{fraction_groups[0]}</span>", *map(_GAP, fraction_groups[1:])]
    digits = ("<wbr>" if len(cell.text) > _LONG_NUMBER else "").join(groups)
    return f'<span class="digits">{digits}</span>'


def _figure_json(view: ChartView) -> Markup:
    """Return a figure as JSON that is safe inside a script element."""
    text = str(view.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - the text is escaped here


def _chart_images(charts: Sequence[Chart]) -> list[list[Markup]]:
    """Draw each view of each chart offline, and return the PNG images as ``data:`` URLs."""
    if not charts:
        return []
    if find_spec("kaleido") is None:
        raise MissingExtraError("images", _PURPOSE)
    import kaleido  # noqa: PLC0415 - the package is an optional extra

    browser_class = _keyless_browser_class()
    path = browser_class.find_browser(skip_local=False)
    if not path or not Path(path).is_file():
        needed = "a Chrome or Chromium browser, but none was found"
        raise _missing_browser_error(needed, "install one")
    page = kaleido.PageGenerator(mathjax=False)  # MathJax would be loaded from the web
    browser = kaleido.Kaleido(n=1, page_generator=page, browser_cls=browser_class)
    images: ImageQueue = Queue()
    work = _draw_images(browser, [view for chart in charts for view in chart.views], images)
    thread = Thread(target=asyncio.run, args=(work,), name="walletframe-pictures", daemon=True)
    thread.start()  # a thread, since the notebook's own thread already runs an event loop
    try:
        urls = [[_next_image(images, path) for _ in chart.views] for chart in charts]
        thread.join(_CLOSING_TIMEOUT_S)
    finally:
        if thread.is_alive():  # the browser hangs, or the user interrupted the call
            _kill_browser(browser)
            thread.join(_CLOSING_TIMEOUT_S)
    return urls


async def _draw_images(browser: Any, views: Sequence[ChartView], images: ImageQueue) -> None:
    """Draw each view, and put its image, or the error, into the queue."""
    try:
        async with browser:
            for view in views:
                layout, is_narrow = view.figure.layout, view.name == "narrow"
                legend_entries = len(view.figure.data) if is_narrow and layout.showlegend else 0
                width = _NARROW if is_narrow else _WIDE
                height = layout.height + _LEGEND_LINE * legend_entries
                opts = {"format": "png", "width": width, "height": height, "scale": _SCALE}
                png = await browser.calc_fig(view.figure, opts=opts)
                url = f"data:image/png;base64,{b64encode(png).decode()}"
                images.put(Markup(url))  # noqa: S704 - letters and digits
    except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001 - `_next_image` raises the error
        images.put(fault)


def _next_image(images: ImageQueue, browser_path: str) -> Markup:
    """Return the next image, or raise an error if the browser ended or does not answer."""
    needed = f"a Chrome or Chromium browser that works, but {browser_path}"
    start = f"start {browser_path} in a shell to see the reason"
    try:
        image = images.get(timeout=_IMAGE_TIMEOUT_S)
    except Empty:
        needed += f" did not answer within {_IMAGE_TIMEOUT_S:g} s"
        raise _missing_browser_error(needed, start) from None
    if isinstance(image, BaseException):
        needed += " ended before it had drawn all charts"
        raise _missing_browser_error(needed, start) from image
    return image


def _missing_browser_error(needed: str, hint: str) -> MissingExtraError:
    """Return the error for a browser that is missing or does not work."""
    hint += (
        ", or set the environment variable BROWSER_PATH to the path of a browser that works; "
        'images="interactive" needs no browser'
    )
    return MissingExtraError("images", _PURPOSE, needed, hint)


def _kill_browser(browser: Any) -> None:
    with suppress(AttributeError, ProcessLookupError):  # the browser has not started, or has ended
        if sys.platform == "win32":  # pragma: no cover - Windows has no process groups
            browser.subprocess.kill()
        else:
            os.killpg(browser.subprocess.pid, signal.SIGKILL)


def _keyless_browser_class() -> Any:
    """Return a browser class whose processes don't inherit walletframe's settings."""
    from choreographer.browsers.chromium import Chromium  # noqa: PLC0415 - comes with kaleido

    class KeylessChromium(Chromium):
        """A browser whose processes don't inherit walletframe's settings, such as the key."""

        def get_env(self) -> dict[str, str]:
            items = os.environ.items()
            return {name: text for name, text in items if not name.upper().startswith(PREFIX)}

    return KeylessChromium
