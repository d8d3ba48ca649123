"""The layout of a chart: its title, notes, margins and legend.

All text is escaped and converted to plotly's markup here. The user's template sets the colours of
the background and the text. Plotly's button that uploads a chart is removed.
"""

from __future__ import annotations

from functools import cache, partial
from html import unescape
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import plotly.graph_objects as go
import plotly.io as pio
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from walletframe.charts.palette import text_color
from walletframe.frames.details import extract_frame
from walletframe.frames.known import is_simulated
from walletframe.frames.schema import require_columns
from walletframe.numerals import counted_noun
from walletframe.text import escape_for_plotly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from walletframe.frames.details import FetchLike


_TITLE_CHARS, _HOVER_CHARS = 48, 48  # a phone has space for 48 characters of an address
_ALL_NOTES_KEY = "about"
MIN_FONT_SIZE = 11  # pixels; smaller text is hard to read
_TITLE_HEIGHT, _NOTE_HEIGHT, _TOP_PAD, _NOTES_PAD = 22, 15, 14, 14
_NOTE_FONT_SIZE, _LINE_SPACING = 12, 1.3  # the last one is the spacing of plotly.js
_EDGE_MARGIN, _RIGHT_MARGIN = 16, 24
_LEGEND_LINE_HEIGHT, _LEGEND_PAD, _LEGEND_ENTRY_WIDTH, _LETTER_WIDTH = 19, 16, 40, 6
_NARROW_PAGE_WIDTH, _WIDE_PAGE_WIDTH = 300, 668
_PHONE_WIDTH, _AXIS_WIDTH = 390, 63  # the last one is the width of an axis of sizes, with its title
_BLANK_HEIGHT, _MAX_NOTE_CHARS, _MAX_SENTENCE_CHARS = 240, 500, 330
_LABEL_PAD, _CHAR_WIDTH = 12, 6
_wrap_label = partial(wrap, width=20, max_lines=3, placeholder="…", break_on_hyphens=False)
_AXIS_TITLE_STANDOFF, _AXIS_TITLE_WIDTH = 8, 20  # the distance to the tick labels
_ROW_HEIGHT, _LINE_HEIGHT, _MIN_PLOT_HEIGHT = 22, 13, 120  # pixels
_MIN_HEIGHT_RATIO = 2.3  # a figure's height, divided by its vertical margins
_LINE_CHARS = 60  # the width of a phone, in characters of notes
_MAX_LINES, _MAX_MINOR_LINES = 6, 3  # for important notes, and for all notes if some are minor
_MARK_CHARS, _SHORT_LINE_CHARS = 10, 96
_IMAGE_WIDTH, _MAX_LINE_CHARS = 700, 200  # the first one is plotly's default
_AT_LEFT = {"xref": "container", "x": 0, "xanchor": "left", "yref": "container"}
_PAPER: dict[str, str | float] = {"xref": "paper", "yref": "paper"}
TOP_RIGHT: dict[str, str | float] = _PAPER | {"x": 1, "xanchor": "right", "y": 1, "yanchor": "top"}


class Dimensions(NamedTuple):
    """The sizes of a figure's parts in pixels."""

    plot_height: int  # the height of the plot with its axes and its legend
    above: int = 0  # the distance between the notes and the plot
    below: int = 0  # the space for labels and a legend below the plot
    left: int = 0  # the space for labels on the left of the plot
    right: int = 0  # the space for numbers on the right of the plot
    below_on_phone: int = 0  # the space below the plot on a phone; 0 to ignore phones


if TYPE_CHECKING:

    class _Figure:  # plotly has no types
        def __init__(self, data: Any, *, layout: Mapping[str, Any]) -> None: ...

else:
    _Figure = go.Figure


class Figure(_Figure):
    """A plotly figure. Images of the figure show all notes."""

    def to_image(self, *args: Any, **options: Any) -> Any:
        """Call plotly's `to_image` on a copy of the figure that shows all notes."""
        return self._with_all_notes(**options).to_image(*args, **options)

    def write_image(self, *args: Any, **options: Any) -> None:
        """Call plotly's `write_image` on a copy of the figure that shows all notes."""
        self._with_all_notes(**options).write_image(*args, **options)

    def _with_all_notes(self, width: float | None = None, **_: Any) -> go.Figure:
        figure = go.Figure(self)
        layout, shown = figure.layout, figure.layout.title.subtitle.text or ""
        notes = layout.meta.get(_ALL_NOTES_KEY, []) if isinstance(layout.meta, dict) else []
        words = markup_to_text(" ".join(notes)).split()
        if not shown or {*markup_to_text(shown).split()} - {*words, "…"}:
            return figure  # the user has changed the subtitle
        pixels = (width or layout.width or _IMAGE_WIDTH) - _EDGE_MARGIN - _RIGHT_MARGIN
        chars = min(max(int(pixels) // _CHAR_WIDTH, _LINE_CHARS), _MAX_LINE_CHARS)
        lines = wrap(" ".join(words), chars)
        layout.title.subtitle.text = to_markup(lines)
        added = _NOTE_HEIGHT * (len(lines) - len(shown.split("<br>")))
        layout.margin.t = max((layout.margin.t or 0) + added, 0)
        layout.height = layout.height and layout.height + added  # keeps the plot's size
        layout.annotations = [each for each in layout.annotations if each.name != _ALL_NOTES_KEY]
        return figure


def label_width(names: Sequence[str]) -> int:
    """Return the estimated width in pixels of the longest axis label."""
    return int(_LABEL_PAD + _CHAR_WIDTH * max(map(len, names)))


def row_dimensions(names: Sequence[str], above: int = 36, below: int = 0) -> Dimensions:
    """Return the dimensions of a chart with a labelled row for each name."""
    labels = [_wrap_label(name) for name in names]
    height = _ROW_HEIGHT + _LINE_HEIGHT * (max(map(len, labels)) - 1)
    left = _AXIS_TITLE_WIDTH + label_width([line for label in labels for line in label])
    return Dimensions(max(height * len(names), _MIN_PLOT_HEIGHT) + below, above, below, left)


def make_figure(
    traces: Sequence[Any],
    *,
    title: str,
    notes: Notes,
    dimensions: Dimensions,
    annotations: Sequence[dict[str, Any]] = (),
    explorer_meta: Mapping[str, Sequence[Any]] | None = None,  # added to `layout.meta`
    **layout: Any,
) -> go.Figure:
    """Return a figure with a title and notes. A hover text shows the notes that don't fit."""
    every, visible = notes.all_notes(), notes.visible_note_lines()
    others = [note for note in every if note not in " ".join(visible)]
    if others and min(map(len, visible)) > _LINE_CHARS - _MARK_CHARS:
        visible.append("")
    top = _TOP_PAD + _TITLE_HEIGHT + _NOTE_HEIGHT * len(visible) + _NOTES_PAD + dimensions.above
    marks = []
    if others:  # the annotation is at the right end of the shortest line
        line = min(range(len(visible)), key=lambda index: len(visible[index]))
        mark = {
            "name": _ALL_NOTES_KEY,
            "text": f"+{counted_noun(len(others), 'note')}",
            "hovertext": to_markup([part for note in others for part in wrap(note, _HOVER_CHARS)]),
            "font": {"size": MIN_FONT_SIZE, "lineposition": "under"},
            **TOP_RIGHT,
            "xshift": _RIGHT_MARGIN + dimensions.right - _EDGE_MARGIN,
            "yshift": top - _TOP_PAD - _TITLE_HEIGHT - _LINE_SPACING * _NOTE_FONT_SIZE * line,
        }
        marks.append(mark)
    height = _figure_height(top, dimensions.plot_height, _EDGE_MARGIN + dimensions.below)
    if below := dimensions.below_on_phone:  # the plot has 45% of the area on a phone
        width_share = 1 - (_AXIS_WIDTH + _RIGHT_MARGIN + dimensions.right) / _PHONE_WIDTH
        height = max(height, int((top + _EDGE_MARGIN + below) / (1 - 0.46 / width_share)))
    defaults = {
        "title": {
            "text": escape_for_plotly(title, _TITLE_CHARS),
            "subtitle": {"text": to_markup(visible), "font": {"size": _NOTE_FONT_SIZE}},
            **_AT_LEFT,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": _TOP_PAD, "l": _EDGE_MARGIN},
        },
        "meta": {
            _ALL_NOTES_KEY: [escape_for_plotly(note, _MAX_NOTE_CHARS) for note in every],
            "line": escape_for_plotly(notes.one_line_summary(), _MAX_NOTE_CHARS),
            "plot_height": dimensions.plot_height,
            **(explorer_meta or {}),
        },
        "annotations": [{"showarrow": False, **each} for each in (*annotations, *marks)],
        "margin": {
            "t": top,
            "l": _EDGE_MARGIN + dimensions.left,
            "r": _RIGHT_MARGIN + dimensions.right,
            "b": _EDGE_MARGIN + dimensions.below,
        },
        "height": height,
        "hoverlabel": {"align": "left", "namelength": -1},
        "modebar": {"remove": ["sendChartToCloud"]},
    }
    return Figure(list(traces), layout=defaults | layout)


def _figure_height(top: float, plot_height: float, bottom: float) -> int:
    return max(int(top + plot_height), int(_MIN_HEIGHT_RATIO * (top + bottom)))


def pop_title_and_notes(figure: go.Figure) -> tuple[str, list[str]]:
    """Remove the title and the notes from a figure. Return both as plain text."""
    layout = figure.layout
    title = markup_to_text(layout.title.text)
    notes = [*map(markup_to_text, layout.meta[_ALL_NOTES_KEY])]
    lines, plot_height = layout.title.subtitle.text.split("<br>"), layout.meta["plot_height"]
    layout.title, layout.meta = None, None
    layout.margin.t -= _TOP_PAD + _TITLE_HEIGHT + _NOTE_HEIGHT * len(lines)
    layout.height = _figure_height(layout.margin.t, plot_height, layout.margin.b)
    layout.annotations = [each for each in layout.annotations if each.name != _ALL_NOTES_KEY]
    return title, notes


def legend_options(dimensions: Dimensions, names: Sequence[str], least: int = 2) -> dict[str, Any]:
    """Return arguments of `make_figure`. A legend of fewer than `least` names is hidden."""
    if len(names) < least:
        return {"dimensions": dimensions, "showlegend": False}
    widest = _LEGEND_ENTRY_WIDTH + _LETTER_WIDTH * max(map(len, names))
    most, fewest = (
        -(-len(names) // max(1, wide // widest)) for wide in (_NARROW_PAGE_WIDTH, _WIDE_PAGE_WIDTH)
    )
    on_phone, shown = dimensions.below_on_phone, fewest if dimensions.below_on_phone else most
    return {
        "dimensions": dimensions._replace(
            plot_height=dimensions.plot_height + _LEGEND_LINE_HEIGHT * shown,
            below=dimensions.below + _LEGEND_LINE_HEIGHT * fewest + _LEGEND_PAD,
            below_on_phone=on_phone and on_phone + _LEGEND_LINE_HEIGHT * most + _LEGEND_PAD,
        ),
        "showlegend": True,
        "legend": {
            "orientation": "h",
            **_AT_LEFT,
            "y": 0.005,
            "yanchor": "bottom",
            "font": {"size": MIN_FONT_SIZE},
            "traceorder": "normal",
        },
    }


def label_axis_options(title: str) -> dict[str, Any]:
    """Return plotly's options for an axis of names."""
    return {
        **axis_title(title),
        "tickfont": {"size": MIN_FONT_SIZE},
        "ticklabelstandoff": 4,
        "ticklabeloverflow": "allow",  # otherwise plotly checks each label, which is slow
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def row_axis_options(names: Sequence[str], title: str) -> dict[str, Any]:
    """Return plotly's options for an axis with a row per name, from top to bottom."""
    return label_axis_options(title) | {
        "tickvals": list(range(len(names))),
        "ticktext": [to_markup(_wrap_label(name)) for name in names],
        "range": [len(names) - 0.5, -0.5],
    }


def move_labels_above_rows(figure: go.Figure) -> None:
    """Move each row label above its bar or cells, to save width on a narrow page."""
    axis, layout = figure.layout.yaxis, figure.layout
    is_grid = figure.data[0].type == "heatmap"
    breaks = max(text.count("<br>") for text in axis.ticktext)
    added = (_ROW_HEIGHT - _LINE_HEIGHT * breaks) * len(axis.tickvals)
    legend = _LEGEND_PAD + _LEGEND_LINE_HEIGHT * len(figure.data)  # one column
    least = int(_MIN_HEIGHT_RATIO * (layout.margin.t + legend))
    layout.height = max(layout.height + added, least)
    figure.update_traces(ygap=_ROW_HEIGHT) if is_grid else layout.update(bargap=0.6)
    axis.update(
        tickvals=[row - (0.5 if is_grid else 0.38) for row in axis.tickvals],
        ticktext=[text.replace("<br>", " ") for text in axis.ticktext],
        ticklabelposition="inside",
        ticklabelstandoff=0,
        range=[axis.range[0], axis.range[1] - 0.25],
    )
    axis.title, layout.margin.l = None, _EDGE_MARGIN
    if is_grid:  # otherwise plotly moves the cells to the right of the labels
        layout.xaxis.update(range=[-0.5, len(figure.data[0].x) - 0.5], tickangle=-90)


def axis_title(name: str) -> dict[str, Any]:
    """Return plotly's options for the title of an axis."""
    font, text = {"size": _NOTE_FONT_SIZE}, escape_for_plotly(name)
    return {"title": {"text": text, "font": font, "standoff": _AXIS_TITLE_STANDOFF}}


def empty_figure(title: str, notes: Notes, reason: str) -> go.Figure:
    """Return a figure without traces that shows the reason as text."""
    text = to_markup(wrap(reason, _TITLE_CHARS))
    return make_figure(
        [],
        title=title,
        notes=notes,
        dimensions=Dimensions(_BLANK_HEIGHT),
        annotations=[{**_PAPER, "x": 0.5, "y": 0.5, "text": text, "font": {"size": 15}}],
        xaxis={"visible": False},
        yaxis={"visible": False},
        plot_bgcolor="rgba(0,0,0,0)",
    )


def has_custom_template() -> bool:
    """Return whether the user has set a default template other than plotly's own."""
    return bool(pio.templates.default != "plotly")


def has_dark_template() -> bool:
    """Return whether the user's default template has a dark plot background."""
    default = pio.templates.default
    background = default and pio.templates[default].layout.plot_bgcolor
    return background is not None and text_color(background) == "#FFFFFF"


def markup_to_text(text: str) -> str:
    """Convert plotly's markup to plain text on one line."""
    return unescape(text.replace("<br>", " "))


def to_markup(lines: Sequence[str]) -> str:
    """Convert lines of untrusted text to plotly's markup."""
    return "<br>".join(escape_for_plotly(line, 200) for line in lines)


def shorten_middle(text: str, limit: int, end: int) -> str:
    """Shorten a text to `limit` characters. An ellipsis precedes the last `end` characters."""
    return text if len(text) <= limit else f"{text[: limit - end - 1].rstrip(' …')}…{text[-end:]}"


def hover_text(heading: str, *lines: str) -> str:
    """Return plotly's markup of a hover text: a bold heading, and lines that fit on a phone."""
    first, *rest = [
        escape_for_plotly(line)
        if len(line) <= _HOVER_CHARS
        else to_markup([part for name in line.split(" · ") for part in wrap(name, _HOVER_CHARS)])
        for line in (heading, *filter(None, lines))
    ]
    return "<br>".join([f"<b>{first}</b>", *rest])


class Notes(NamedTuple):
    """The sentences below a chart's title. In each field, the most important sentence is first."""

    simulated: Sequence[str] = ()  # the note that the data is simulated
    drawn: Sequence[str] = ()  # notes about the drawn data
    left_out: Sequence[str] = ()  # notes about data that is not drawn
    data_quality: Sequence[str] = ()  # notes about the completeness and the age of the data

    def all_notes(self) -> list[str]:
        """Return the sentences of all fields in one list."""
        return [note for group in self for note in group]

    def one_line_summary(self) -> str:
        """Return notes on drawn and omitted data, or else on data quality, as one line."""
        drawn = [*self.drawn[:1], *self.left_out, *self.drawn[1:]]
        line, *rest = drawn or self.data_quality or [""]
        line = shorten(line, _SHORT_LINE_CHARS, placeholder=" …")
        for note in rest:
            if len(f"{line} {note}") > _SHORT_LINE_CHARS:
                break
            line += f" {note}"
        return line

    def visible_note_lines(self) -> list[str]:
        """Return the lines of the most important notes that fit on a figure."""
        time = [note for note in self.data_quality if note.startswith("As of ")]
        quality = [note for note in self.data_quality if note not in time]
        important = [*self.simulated, *quality[:1], *time, *self.drawn[:1]]
        important += [*quality[1:], *self.left_out]
        fitting, lines = set[str](), list[str]()
        for note in (*important, *self.drawn[1:]):
            shown = [each for each in self.all_notes() if each in fitting or each == note]
            cut = [shorten(each, _MAX_SENTENCE_CHARS, placeholder=" …") for each in shown]
            tried = wrap(" ".join(cut), _LINE_CHARS)
            if len(tried) <= (
                _MAX_LINES if note in important else max(_MAX_MINOR_LINES, len(lines))
            ):
                fitting.add(note)
                lines = tried
        return lines


def wallets_frame(wallets: FetchLike) -> pd.DataFrame:
    """Return the DataFrame of wallets, or raise a ColumnsError if a column is missing."""
    frame = extract_frame(wallets, "wallets")
    require_columns(frame, ("status", "tokens", "fetched_at", "source", "service"))
    return frame


def drawn_count_note(
    *parts: tuple[int, int, str], others_text: str = "Other contains the rest"
) -> str:
    """Return a sentence such as "3 wallets are drawn". A part is (drawn, not drawn, noun)."""
    texts = [
        f"{drawn:,} of " * bool(others) + counted_noun(drawn + others, noun)
        for drawn, others, noun in parts
    ]
    *first, last = texts
    text = f"{', '.join(first)} and {last}" if first else last
    is_singular = not first and parts[0][0] == 1
    end = f"; {others_text}" if any(others for _, others, _ in parts) else ""
    return f"{text} {'is' if is_singular else 'are'} drawn{end}."


def undrawn_notes(count: int, noun: str, detail: str = "") -> list[str]:
    """Return a list with a sentence about rows that are not drawn, or [] if `count` is 0."""
    verb = "is" if count == 1 else "are"
    return [f"{counted_noun(count, noun)}{detail} {verb} not drawn."] if count else []


def other_label(count: int, noun: str) -> str:
    """Return the label of combined items, such as ``Other (3 tokens)``."""
    return f"Other ({counted_noun(count, noun)})"


def simulated_notes(wallets: FetchLike | None) -> list[str]:
    """Return the note that the data is simulated, or [] if `wallets` has no simulated data."""
    return ["Simulated data."] * (wallets is not None and is_simulated(wallets_frame(wallets)))


@cache
def plotlyjs_version_and_script() -> tuple[str, bytes]:
    """Return the version and the script of plotly.js."""
    return str(get_plotlyjs_version()), str(get_plotlyjs()).encode()
