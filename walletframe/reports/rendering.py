"""The text of a report, made of its content by a template.

Whatever a template writes that is not marked as the report's own goes through `walletframe.text`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from walletframe.frames.display import (
    NUMBERS,
    cell_html,
    is_number,
    table_markdown,
    table_rows,
)
from walletframe.numerals import many
from walletframe.text import as_html, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames.display import Cell, Table
    from walletframe.reports.content import Content, View

_LONGEST = 1_000
_LONG = 30
_LEFT_OF_POINT = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ROLES = {
    "thead": "rowgroup",
    "tbody": "rowgroup",
    "tr": "row",
    "th": "columnheader",
    "td": "cell",
}
_CONFIG = {"displaylogo": False, "showTips": False}


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
    environment.filters["rows"] = _html_rows
    environment.filters["table"] = lambda table: Markup(table_markdown(table))  # noqa: S704 - escaped
    environment.globals["many"] = many
    environment.filters["own"] = Markup if escape is _markdown else _html
    return environment


def _html(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_html(str(value), _LONGEST))  # noqa: S704 - escaped


def _markdown(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(as_markdown(str(value), _LONGEST))  # noqa: S704 - escaped


def _html_rows(table: Table) -> Markup:
    return Markup(table_rows(table, _dress, _html_cell))  # noqa: S704 - escaped


def _dress(tag: str, name: str) -> str:
    """Give classes, and roles, which a table loses where a narrow page shows it as blocks."""
    role = f' role="{_ROLES[tag]}"'
    number = name in NUMBERS
    if tag == "td":
        side = "number" if number else "text"
        return f'{role} class="{side} {name.split(" ", maxsplit=1)[0]}" data-name="{name}"'
    return role + (' scope="col"' if tag == "th" else "") + (' class="number"' if number else "")


def _html_cell(cell: Cell) -> str:
    return _html_number(cell.text) if is_number(cell) else cell_html(cell)


def _html_number(text: str) -> str:
    """Set digits in groups by margins, which are not copied; only long numbers may wrap."""
    whole, point, rest = text.partition(".")
    first, *more = _LEFT_OF_POINT.split(whole)
    thirds = [rest[start : start + 3] for start in range(0, len(rest), 3)]
    groups = [f"<span>{first}</span>", *map(_group, more)]
    if point:
        groups += [f"<span>.{thirds[0]}</span>", *map(_group, thirds[1:])]
    drawn = ("<wbr>" if len(text) > _LONG else "").join(groups)
    return f'<span class="digits">{drawn}</span>'


def _group(digits: str) -> str:
    return f'<span class="gap">{digits}</span>'


def _script_data(view: View) -> Markup:
    """Give a figure as JSON that can't end the element it stands in."""
    text = str(view.figure.to_json())
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped
