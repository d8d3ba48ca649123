"""The report as a file: a template renders the content, and a browser draws images and PDF files.

Templates escape all text with `walletframe.text`, except for the report's own markup.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from base64 import b64decode, b64encode
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from walletframe.disk import atomic_write
from walletframe.errors import MissingExtraError, SettingsError
from walletframe.exports import to_csv
from walletframe.frames.coverage import differing_selections_text
from walletframe.frames.details import as_details
from walletframe.frames.display import cell_html, shows_all_digits, table_markdown, table_rows_html
from walletframe.frames.tables import NUMBER_COLUMNS
from walletframe.history import compare
from walletframe.numerals import count_with_verb, counted_noun
from walletframe.settings.sources import PREFIX
from walletframe.text import as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.tables import Cell
    from walletframe.reports.composition import Chart

    Job: TypeAlias = Callable[[Any], Awaitable[bytes]]

PathLike: TypeAlias = str | Path
Images: TypeAlias = Literal["interactive", "static"]
SUFFIXES = (".html", ".md", ".pdf")


def report(  # noqa: PLR0913 - users pass each option by name
    details: DetailsLike,
    path: PathLike,
    *,
    by: By | None = None,
    before: DetailsLike | None = None,
    title: str = "Token holdings",
    images: Images = "interactive",
    data: bool = False,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> Path:
    """Write a report on the result of a fetch: one screen to read, with the details folded below.

    The first screen has the total value, its change since an earlier fetch, the largest groups and
    changes, two charts, and notes on uncounted wallets and balances. If there are no prices and all
    holdings are of one asset, the exact amount replaces the value.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        The result of a fetch. The report uses the column ``value``. If this column is missing,
        values are computed at the default prices of `value`, if there are any. Spam, as in
        `flag_spam`, is listed in a separate table.
    path : str or Path
        The file to write. A ``.html`` file is one page that opens offline and can be printed. A
        ``.pdf`` file has the same page with short tables, on at most 4 sheets of A4. It requires
        the extra ``images`` and a Chrome or Chromium browser. A ``.md`` file has the same text and
        tables without charts. An existing file is replaced atomically.
    by : str or list of str, optional
        The columns to group the first screen by, such as ``"owner"`` or ``["owner",
        "blockchain"]``, as in `.wf.totals`. The default is the column ``owner`` of the wallets. If
        this column is missing, each wallet is a group.
    before : WalletDetails or tuple of (DataFrame, DataFrame), optional
        The result of an earlier fetch, or a snapshot, to compare with. Without a column ``value``,
        the earlier balances are valued at the earlier prices. If you valued `details` with your own
        prices, your prices are used instead. Apply the same `where` to both fetches, since
        different selections can't be compared.
    title : str, default "Token holdings"
        The heading of the report.
    images : {"interactive", "static"}, default "interactive"
        The kind of charts in a ``.html`` file. Interactive charts include plotly, which adds about
        5 MB to the file. Static charts are images, for mail and for readers without scripts. They
        require the extra ``images`` and a Chrome or Chromium browser.
    data : bool, default False
        Whether to write CSV files with all rows and exact amounts beside the report. The files are
        ``report-holdings.csv``, ``report-wallets.csv`` and, with `before`, ``report-changes.csv``.
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
        If an argument has an unsupported type or value, such as an unknown name in `by`.
    MissingExtraError
        For a ``.pdf`` file or static charts: if a browser or the extra ``images`` is not installed,
        or if the browser exits or does not answer for 90 seconds.
    ColumnsError, AmountError, PricesError, TokenListError, AmbiguousTokenError
        As for `.wf.totals`.
    SnapshotError
        If `details` has several snapshots, or if `before` and `details` can't be compared.
    OSError
        If the file can't be written.

    Notes
    -----
    Long tables are shortened, and the report states the number of omitted rows. Numbers are never
    shortened. The page loads nothing from a server, and contains no API key.

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
            hint="use a file name that ends in .html, .md or .pdf",
        )
    if images not in get_args(Images):
        hint = 'use images="interactive" or images="static"'
        raise SettingsError(f"images={images!r} is not supported", hint=hint)
    from walletframe.reports import composition  # noqa: PLC0415 - loads plotly

    grouping, made_at = composition.Grouping(by, assets, bridged), datetime.now(UTC)
    content = composition.compose(fetched, earlier, title=title, made_at=made_at, grouping=grouping)
    frames = {"holdings": fetched.holdings, "wallets": fetched.wallets} if data else {}
    if data and earlier is not None and not differing_selections_text(earlier, fetched):
        frames["changes"] = compare(*composition.without_spam(earlier, fetched))
    files = {name: file.with_name(f"{file.stem}-{name}.csv") for name in frames}
    data_note = "To get files of all rows, write this report with data=True, or --data in a shell."
    if files:
        names = ", ".join(each.name for each in files.values())
        data_note = f"The files beside this report have the data of all tables: {names}."
    if suffix == ".md":
        page = _template_environment(as_markdown).get_template("report.md")
        output = page.render(content=content, data_note=data_note).encode()
    else:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - 5 MB, only for HTML

        from walletframe.charts import has_custom_template  # noqa: PLC0415 - loads plotly

        is_static = images == "static" and suffix == ".html"
        interactive = [] if is_static else content.charts
        page = _template_environment(as_html).get_template("report.html")
        output = page.render(
            content=content,
            data_note=data_note,
            images=_draw_chart_images(content.charts) if is_static else None,
            config={"displayModeBar": False, "showTips": False},  # the bar covers titles of axes
            plotly=Markup(get_plotlyjs() if interactive else ""),  # noqa: S704 - plotly's own script
            follows_page=not has_custom_template(),
            drawn=[_figure_json(chart) for chart in interactive],
        ).encode()
    if suffix == ".pdf":
        with TemporaryDirectory() as folder:
            printed = Path(folder) / "report.html"
            printed.write_bytes(output)
            [output] = _run_in_browser([partial(_print_pdf, printed.as_uri())])
    for name, each in files.items():
        to_csv(frames[name], each)
    with atomic_write(file) as target:
        target.write(output)
    return file


_MAX_TEXT = 1_000
_LONG_NUMBER = 30
_BREAKS = re.compile(r"(?<=,)|(?<=\.)|(?<=\d{3})(?=\d)")
_SIGNED = frozenset({"change", "from prices", "from amounts"})
_ROLES = {"tr": "row", "th": "columnheader", "td": "cell"}  # thead and tbody have the role rowgroup
_WIDTH, _SCALE = 400, 2  # of images, in pixels
_LEGEND_LINE = 19
_PURPOSE = "drawing charts as images or writing PDF files"
_IMAGE_TIMEOUT_S = 90.0  # for each image; the first includes the start of the browser
_CLOSING_TIMEOUT_S = 10.0


@cache
def _template_environment(escape: Callable[[str, int], str]) -> Environment:

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
    environment.filters["rows"] = lambda table: Markup(  # noqa: S704 - `table_rows_html` escapes the cells
        table_rows_html(table, _table_tag_attributes, _breakable_html)
    )
    environment.filters["table"] = lambda table: Markup(table_markdown(table))  # noqa: S704 - `table_markdown` escapes the cells
    environment.globals |= {"counted_noun": counted_noun, "count_with_verb": count_with_verb}
    environment.filters["trusted"] = Markup if escape is as_markdown else escaped
    return environment


def _table_tag_attributes(tag: str, name: str) -> str:
    # On narrow pages, rows are displayed as blocks, which removes the implicit roles of tags.
    role = f' role="{_ROLES.get(tag, "rowgroup")}"'
    if tag not in {"th", "td"}:
        return role
    kind = "number" if name in NUMBER_COLUMNS or name in _SIGNED else "text"
    first_word, heading = as_html(name.split(" ", maxsplit=1)[0]), as_html(name)
    own = ' scope="col"' if tag == "th" else f' data-name="{heading}"'
    return f'{role} class="{kind} {first_word}"{own}'


def _breakable_html(cell: Cell) -> str:
    if len(cell.text) <= _LONG_NUMBER or not shows_all_digits(cell):
        return cell_html(cell)
    return f'<span class="long">{_BREAKS.sub("<wbr>", cell.text)}</span>'


def _figure_json(chart: Chart) -> Markup:
    text = str(chart.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - the text is escaped here


def _draw_chart_images(charts: Sequence[Chart]) -> list[Markup]:
    images = _run_in_browser([partial(_draw_image, chart) for chart in charts])
    urls = (f"data:image/png;base64,{b64encode(png).decode()}" for png in images)
    return [Markup(url) for url in urls]  # noqa: S704 - letters and digits


def _run_in_browser(jobs: Sequence[Job]) -> list[bytes]:
    if not jobs:
        return []
    if find_spec("kaleido") is None:
        raise MissingExtraError("images", _PURPOSE)
    import kaleido  # noqa: PLC0415 - the package is an optional extra
    from choreographer.browsers.chromium import Chromium  # noqa: PLC0415 - comes with kaleido

    class ChromiumWithFilteredEnv(Chromium):
        """A browser that does not inherit walletframe's settings, such as the API key."""

        def get_env(self) -> dict[str, str]:
            items = os.environ.items()
            return {name: text for name, text in items if not name.upper().startswith(PREFIX)}

    path = ChromiumWithFilteredEnv.find_browser(skip_local=False)
    if not path or not Path(path).is_file():
        needed = "a Chrome or Chromium browser, but none was found"
        raise _missing_browser_error(needed, "install one")
    page = kaleido.PageGenerator(mathjax=False)  # MathJax would be loaded from the web
    browser = kaleido.Kaleido(n=1, page_generator=page, browser_cls=ChromiumWithFilteredEnv)
    results: Queue[bytes | BaseException] = Queue()
    work = _run_jobs(browser, jobs, results)
    thread = Thread(target=asyncio.run, args=(work,), name="walletframe-pictures", daemon=True)
    thread.start()  # a thread, since the notebook's own thread already runs an event loop
    try:
        done = [_wait_for_result(results, path) for _ in jobs]
        thread.join(_CLOSING_TIMEOUT_S)
    finally:
        if thread.is_alive():  # the browser hangs, or the user interrupted the call
            with suppress(AttributeError, ProcessLookupError):  # it has not started, or has ended
                if sys.platform == "win32":  # pragma: no cover - Windows has no process groups
                    browser.subprocess.kill()
                else:
                    os.killpg(browser.subprocess.pid, signal.SIGKILL)
            thread.join(_CLOSING_TIMEOUT_S)
    return done


async def _run_jobs(
    browser: Any, jobs: Sequence[Job], results: Queue[bytes | BaseException]
) -> None:
    try:
        async with browser:
            for job in jobs:
                results.put(await job(browser))
    except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001 - `_wait_for_result` raises the error
        results.put(fault)


async def _draw_image(chart: Chart, browser: Any) -> bytes:
    layout = chart.figure.layout
    height = layout.height + _LEGEND_LINE * len(chart.figure.data) * bool(layout.showlegend)
    opts = {"format": "png", "width": _WIDTH, "height": height, "scale": _SCALE}
    png: bytes = await browser.calc_fig(chart.figure, opts=opts)
    return png


async def _print_pdf(url: str, browser: Any) -> bytes:
    tab = await browser.create_tab()
    loaded = tab.subscribe_once("Page.loadEventFired")
    await tab.send_command("Page.enable")
    await tab.send_command("Page.navigate", {"url": url})
    await loaded
    await tab.send_command("Runtime.evaluate", {"expression": "drawn", "awaitPromise": True})
    options = {"preferCSSPageSize": True, "printBackground": True}
    answer = await tab.send_command("Page.printToPDF", options)
    return b64decode(answer["result"]["data"])


def _wait_for_result(results: Queue[bytes | BaseException], browser: str) -> bytes:
    needed = f"a Chrome or Chromium browser that works, but {browser}"
    start = f"start {browser} in a shell to see the reason"
    try:
        result = results.get(timeout=_IMAGE_TIMEOUT_S)
    except Empty:
        needed += f" did not answer within {_IMAGE_TIMEOUT_S:g} s"
        raise _missing_browser_error(needed, start) from None
    if isinstance(result, BaseException):
        needed += " ended before it had drawn all charts"
        raise _missing_browser_error(needed, start) from result
    return result


def _missing_browser_error(needed: str, hint: str) -> MissingExtraError:
    hint += (
        ", or set the environment variable BROWSER_PATH to the path of a browser that works; "
        'a .html file with images="interactive" needs no browser'
    )
    return MissingExtraError("images", _PURPOSE, needed, hint)
