"""Content in, a document's text out, by a template.

Whatever a template writes that is not marked as the report's own goes through `walletframe.text`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from walletframe.numerals import many
from walletframe.text import as_href, as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames.display import Cell
    from walletframe.reports.content import Content, View

_LONGEST = 1_000
_LONG = 30
_NUMBER = re.compile(r"-?[0-9,]+(\.[0-9]+)?")
_LEFT_OF_POINT = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_CONFIG = {"displaylogo": False, "showTips": False}


def render_html(content: Content, images: Sequence[Sequence[str]] | None = None) -> str:
    """Write a page that needs nothing else.

    Parameters
    ----------
    content : Content
        What is in it.
    images : sequence of sequence of str, optional
        A picture of each view of each chart, as a URL; without them the page draws them itself.

    Returns
    -------
    str
        HTML, with plotly inside where there are charts.
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
    """Write the same as Markdown, with words in the place of charts.

    Parameters
    ----------
    content : Content
        What is in it.

    Returns
    -------
    str
        Markdown with tables.
    """
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
    environment.filters["cell"] = _html_cell if escape is _html else _markdown_cell
    environment.globals["many"] = many
    environment.filters["own"] = Markup if escape is _markdown else _html
    return environment


def _html(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_html(str(value), _LONGEST))  # noqa: S704 - escaped


def _markdown(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_markdown(str(value), _LONGEST))  # noqa: S704 - escaped


def _html_cell(cell: Cell) -> Markup:
    if _is_number(cell):
        return _html_number(cell.text)
    text = as_html(cell.text, cell.limit, whole=cell.whole)
    if cell.link is not None:
        text = f'<a href="{as_href(cell.link)}" rel="noopener noreferrer">{text}</a>'
    return Markup(text)  # noqa: S704 - escaped


def _html_number(text: str) -> Markup:
    """Set digits in groups that are seen but not copied; only a long line ends between two."""
    whole, point, rest = text.partition(".")
    first, *more = _LEFT_OF_POINT.split(whole)
    thirds = [rest[start : start + 3] for start in range(0, len(rest), 3)]
    groups = [f"<span>{first}</span>", *map(_group, more)]
    if point:
        groups += [f"<span>.{thirds[0]}</span>", *map(_group, thirds[1:])]
    drawn = ("<wbr>" if len(text) > _LONG else "").join(groups)
    return Markup(f'<span class="digits">{drawn}</span>')  # noqa: S704 - digits


def _is_number(cell: Cell) -> bool:
    return len(cell.text) <= cell.limit and _NUMBER.fullmatch(cell.text) is not None


def _group(digits: str) -> str:
    return f'<span class="gap">{digits}</span>'


def _markdown_cell(cell: Cell) -> Markup:
    text = cell.text if _is_number(cell) else as_markdown(cell.text, cell.limit)
    if cell.link is not None:
        text = f"[{text}](<{cell.link.replace('|', '%7C').replace('$', '%24')}>)"
    return Markup(text)  # noqa: S704 - escaped


def _script_data(view: View) -> Markup:
    """Give a figure as JSON that can't end the element it stands in."""
    text = str(view.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped
