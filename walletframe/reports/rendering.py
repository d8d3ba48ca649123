"""The text of a report, made of its content by a template, and its charts as pictures.

Whatever a template writes that is not marked as the report's own goes through `walletframe.text`.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from walletframe.errors import MissingExtraError
from walletframe.frames.display import cell_html, is_number, table_markdown, table_rows
from walletframe.frames.tables import NUMBERS
from walletframe.numerals import many
from walletframe.settings import PREFIX
from walletframe.text import as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames.tables import Cell
    from walletframe.reports.composition import Content
    from walletframe.reports.figures import Chart, View

_LONGEST = 1_000
_LONG = 30
_LEFT_OF_POINT = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ROLES = {"tr": "row", "th": "columnheader", "td": "cell"}  # of thead and tbody: rowgroup
_GAP = '<span class="gap">{}</span>'.format
_CONFIG = {"displaylogo": False, "showTips": False}
_WIDE, _NARROW, _SCALE = 960, 360, 2  # pictures, in pixels
_LEGEND_LINE = 19


def render_html(content: Content, images: Sequence[Sequence[str]] | None = None) -> str:
    """Write a page that needs nothing else.

    ``images`` has a URL of a picture for each view of each chart; without, the page draws them.
    """
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 - 5 MB, for this form alone

    template = _environment(_html).get_template("report.html")
    drawing = bool(content.charts) and images is None
    return template.render(
        content=content,
        images=None if images is None else [list(map(Markup, views)) for views in images],
        config=_CONFIG,
        plotly=Markup(get_plotlyjs() if drawing else ""),  # noqa: S704 - plotly's own script
        drawn=[[_script_data(view) for view in chart.views] for chart in content.charts if drawing],
    )


def render_markdown(content: Content) -> str:
    """Write the same as Markdown, with words in the place of charts."""
    return _environment(_markdown).get_template("report.md").render(content=content)


@cache
def _environment(escape: Callable[[Any], Markup]) -> Environment:
    environment = Environment(
        loader=PackageLoader("walletframe.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["rows"] = lambda table: Markup(table_rows(table, _dress, _html_cell))  # noqa: S704 - escaped
    environment.filters["table"] = lambda table: Markup(table_markdown(table))  # noqa: S704 - escaped
    environment.globals["many"] = many
    environment.filters["own"] = Markup if escape is _markdown else _html
    return environment


def _html(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_html(str(value), _LONGEST))  # noqa: S704 - escaped


def _markdown(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_markdown(str(value), _LONGEST))  # noqa: S704 - escaped


def _dress(tag: str, name: str) -> str:
    """Give classes, and roles, which a table loses where a narrow page shows it as blocks."""
    role = f' role="{_ROLES.get(tag, "rowgroup")}"'
    number = name in NUMBERS
    if tag == "td":
        side = "number" if number else "text"
        kind, heading = as_html(name.split(" ", maxsplit=1)[0]), as_html(name)
        return f'{role} class="{side} {kind}" data-name="{heading}"'
    return role + (' scope="col"' if tag == "th" else "") + (' class="number"' if number else "")


def _html_cell(cell: Cell) -> str:
    """Set digits in groups by margins, which are not copied; only long numbers may wrap."""
    if not is_number(cell):
        return cell_html(cell)
    whole, point, rest = cell.text.partition(".")
    first, *more = _LEFT_OF_POINT.split(whole)
    groups = [f"<span>{first}</span>", *map(_GAP, more)]
    if point:
        thirds = [rest[start : start + 3] for start in range(0, len(rest), 3)]
        groups += [f"<span>.{thirds[0]}</span>", *map(_GAP, thirds[1:])]
    drawn = ("<wbr>" if len(cell.text) > _LONG else "").join(groups)
    return f'<span class="digits">{drawn}</span>'


def _script_data(view: View) -> Markup:
    """Give a figure as JSON that can't end the element it stands in."""
    text = str(view.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped


def drawn_images(charts: Sequence[Chart]) -> list[list[str]]:
    """Draw each view of charts, offline, as a ``data:`` URL of a PNG."""
    if not charts:
        return []
    if find_spec("kaleido") is None:
        raise MissingExtraError("images", "drawing charts as pictures")
    import kaleido  # noqa: PLC0415 - an extra

    browser = _browser_class()
    found = browser.find_browser(skip_local=False)
    if not found or not Path(found).is_file():  # kaleido's thread would end, and be waited for
        raise MissingExtraError("images", "drawing charts as pictures, which takes a Chromium,")
    page = kaleido.PageGenerator(mathjax=False)  # else it is asked for on the web
    kaleido.start_sync_server(n=1, page_generator=page, browser_cls=browser, silence_warnings=True)
    try:
        return [[_image(view) for view in chart.views] for chart in charts]
    finally:
        kaleido.stop_sync_server(silence_warnings=True)


def _browser_class() -> Any:
    from choreographer.browsers.chromium import Chromium  # noqa: PLC0415 - comes with kaleido

    class Unknowing(Chromium):
        """A browser whose processes inherit none of walletframe's settings: one is the key."""

        def get_env(self) -> dict[str, str]:
            settings = [name for name in os.environ if name.upper().startswith(PREFIX)]
            return {name: text for name, text in os.environ.items() if name not in settings}

    return Unknowing


def _image(view: View) -> str:
    from kaleido import calc_fig_sync  # noqa: PLC0415 - an extra

    figure, high = view.figure, view.figure.layout.height
    narrow = view.name == "narrow"
    if narrow and figure.layout.showlegend:
        high += _LEGEND_LINE * len(figure.data)
    size = {"width": _NARROW if narrow else _WIDE, "height": high, "scale": _SCALE}
    png: bytes = calc_fig_sync(figure, opts={"format": "png", **size})
    return f"data:image/png;base64,{b64encode(png).decode()}"
