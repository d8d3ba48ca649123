"""The figure around a chart: title, notes, margins, and no connection to the web.

All text becomes plotly's markup here. The colours of paper and text come from the template, which
the user chooses.
"""

from __future__ import annotations

from functools import cache
from html import unescape
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from walletframe.frames.contract import require_columns
from walletframe.frames.details import as_wallets_frame
from walletframe.frames.known import is_simulated, known_wallets, stale_wallets
from walletframe.numerals import counted_noun
from walletframe.text import as_markup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames.details import FetchLike


_TITLE_CHARS, _HOVER_CHARS = 48, 70
_ABOUT = "about"
LEAST_SIZE = 11  # pixels; smaller text is hard to read
_TITLE_LINE, _NOTE_LINE, _ABOVE, _BELOW = 22, 15, 14, 14
_NOTE_SIZE = 12
_EDGE, _RIGHT = 16, 24
_LEGEND_LINE, _LEGEND_EDGE, _ENTRY, _LETTER = 19, 12, 40, 6
_NARROW_PAGE, _WIDE_PAGE = 300, 668
_BLANK_HEIGHT, _MAX_NOTE_CHARS = 240, 500
_UPLOAD_BUTTON = "sendChartToCloud"
_TEMPLATE = "plotly"  # plotly's default
_LABEL_PAD, _CHAR_WIDTH = 16, 6.5
_STANDOFF, _AXIS_TITLE = 8, 20  # from an axis's title to its ticks; width of the title
_ROW, _LOWEST = 22, 120
_AT_LEFT = {"xref": "container", "x": 0, "xanchor": "left", "yref": "container"}
_PAPER: dict[str, str | float] = {"xref": "paper", "yref": "paper"}
TOP_RIGHT: dict[str, str | float] = _PAPER | {"x": 1, "xanchor": "right", "y": 1, "yanchor": "top"}


class Space(NamedTuple):
    """Sizes of a figure's parts in pixels.

    With margins given, plotly draws a chart once; otherwise it draws it, measures the labels, and
    draws it again. It still enlarges a margin that is too small.
    """

    plot: int  # the height of the plot, its axes and its legend
    above: int = 0  # between the notes and the plot
    below: int = 0  # outside the axes, such as names and a legend
    left: int = 0


def label_width(names: Sequence[str]) -> int:
    """Estimate the width of the longest name on an axis, in pixels of plotly's usual fonts."""
    return int(_LABEL_PAD + _CHAR_WIDTH * max(map(len, names)))


def row_space(names: Sequence[str], above: int = 36, below: int = 0) -> Space:
    """Return the space for one row per name, with the names beside the rows."""
    left = _AXIS_TITLE + label_width(names)
    return Space(max(_ROW * len(names), _LOWEST) + below, above, below, left)


def figure(
    traces: Sequence[Any],
    *,
    title: str,
    notes: Notes,
    space: Space,
    annotations: Sequence[dict[str, Any]] = (),
    sample_rows: Mapping[str, list[int]] | None = None,  # for the meta, to handle clicks
    **layout: Any,
) -> go.Figure:
    """Return a figure with a title, two lines of notes at most, and all notes in its meta."""
    every, visible = notes.every(), notes.lines()
    top = _ABOVE + _TITLE_LINE + _NOTE_LINE * len(visible) + _BELOW + space.above
    others = [note for note in every if note not in " ".join(visible)]
    marks = []
    if others:  # the link is at the right end of the shorter line
        line = min(range(len(visible)), key=lambda place: len(visible[place]))
        mark = {
            "name": _ABOUT,
            "text": counted_noun(len(others), "more note"),
            "hovertext": markup([part for note in others for part in wrap(note, _HOVER_CHARS)]),
            "font": {"size": LEAST_SIZE, "lineposition": "under"},
            **TOP_RIGHT,
            "yshift": top - _ABOVE - _TITLE_LINE - _NOTE_LINE * line,
        }
        marks.append(mark)
    own = {
        "title": {
            "text": as_markup(title, _TITLE_CHARS),
            "subtitle": {"text": markup(visible), "font": {"size": _NOTE_SIZE}},
            **_AT_LEFT,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": _ABOVE, "l": _EDGE},
        },
        "meta": {
            _ABOUT: [as_markup(note, _MAX_NOTE_CHARS) for note in every],
            "line": as_markup(notes.line(), _MAX_NOTE_CHARS),
            **(sample_rows or {}),
        },
        "annotations": [{"showarrow": False, **each} for each in (*annotations, *marks)],
        "margin": {"t": top, "l": _EDGE + space.left, "r": _RIGHT, "b": _EDGE + space.below},
        "height": top + space.plot,
        "hoverlabel": {"align": "left", "namelength": -1},
        "modebar": {"remove": [_UPLOAD_BUTTON]},
    }
    return go.Figure(list(traces), layout=own | layout)


def take_notes(figure: go.Figure) -> tuple[str, list[str]]:
    """Remove title and notes from a figure, reduce its height, and return them as plain text."""
    layout = figure.layout
    title, notes = plain(layout.title.text), [*map(plain, layout.meta[_ABOUT])]
    removed = _ABOVE + _TITLE_LINE + _NOTE_LINE * len(layout.title.subtitle.text.split("<br>"))
    height = layout.height
    layout.title, layout.meta = None, None
    layout.margin.t, layout.height = layout.margin.t - removed, height - removed
    layout.annotations = [each for each in layout.annotations if each.name != _ABOUT]
    for trace in figure.select_traces(selector={"type": "heatmap"}):  # y is a share of the height
        if trace.colorbar.y is not None:
            trace.colorbar.y = 1 - ((1 - trace.colorbar.y) * height - removed) / layout.height
    return title, notes


def with_legend(space: Space, names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `figure` for a legend at the bottom, with room on narrow pages."""
    if len(names) < 2:  # noqa: PLR2004  one trace needs no legend
        return {"space": space, "showlegend": False}
    widest = _ENTRY + _LETTER * max(map(len, names))
    most, least = (-(-len(names) // max(1, wide // widest)) for wide in (_NARROW_PAGE, _WIDE_PAGE))
    return {
        "space": space._replace(
            plot=space.plot + _LEGEND_LINE * most,
            below=space.below + _LEGEND_LINE * least + _LEGEND_EDGE,
        ),
        "showlegend": True,
        "legend": {
            "orientation": "h",
            **_AT_LEFT,
            "y": 0.01,
            "yanchor": "bottom",
            "font": {"size": LEAST_SIZE},
            "traceorder": "normal",
        },
    }


def category_axis(names: Sequence[str], title: str) -> dict[str, Any]:
    """Return plotly's options for an axis with plain names at 0, 1, 2 and so on."""
    return {
        **axis_title(title),
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [markup([name]) for name in names],
        "ticklabelstandoff": 4,
        "ticklabeloverflow": "allow",  # plotly is slow to check each label
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def axis_title(name: str) -> dict[str, Any]:
    """Return plotly's options for an axis title."""
    title = {"text": as_markup(name), "font": {"size": _NOTE_SIZE}, "standoff": _STANDOFF}
    return {"title": title}


def blank(title: str, notes: Notes, reason: str) -> go.Figure:
    """Return a figure without traces that shows why nothing is drawn."""
    middle = _PAPER | {"x": 0.5, "y": 0.5}
    return figure(
        [],
        title=title,
        notes=notes,
        space=Space(_BLANK_HEIGHT),
        annotations=[{**middle, "text": markup(wrap(reason, _TITLE_CHARS)), "font": {"size": 15}}],
        xaxis={"visible": False},
        yaxis={"visible": False},
        plot_bgcolor="rgba(0,0,0,0)",
    )


def has_template() -> bool:
    """Return whether the user has set a template other than plotly's default."""
    return bool(pio.templates.default != _TEMPLATE)


def plain(text: str) -> str:
    """Return the plain text of plotly's markup, on one line."""
    return unescape(text.replace("<br>", " "))


def markup(lines: Sequence[str]) -> str:
    """Join lines of untrusted text as plotly's markup, escaped."""
    return "<br>".join(as_markup(line, 200) for line in lines)


def hover(head: str, *lines: str) -> str:
    """Return a hover text as markup: a bold head, and lines, of which long ones are broken."""
    broken = [
        line[start : start + _HOVER_CHARS]
        for line in lines
        for start in range(0, len(line), _HOVER_CHARS)
    ]
    return "<br>".join([f"<b>{as_markup(head)}</b>", *map(as_markup, broken)])


_MAX_LINES, _LINE_CHARS = 2, 96


class Notes(NamedTuple):
    """Sentences on a chart, in reading order; in each group the most important first."""

    simulated: Sequence[str] = ()  # the note that the data is simulated
    drawn: Sequence[str] = ()  # what is drawn
    left_out: Sequence[str] = ()  # what is not drawn
    trust: Sequence[str] = ()  # the completeness and age of the data

    def every(self) -> list[str]:
        """Return all sentences."""
        return [note for group in self for note in group]

    def line(self) -> str:
        """Join the notes on what is drawn and left out, for a page that shows the others itself."""
        return _wrap([*self.drawn[:1], *self.left_out, *self.drawn[1:]] or self.trust or [""])[0]

    def lines(self) -> list[str]:
        """Return the lines that fit on a figure; notes on trust take precedence."""
        first, rest = self.drawn[:1], self.drawn[1:]
        fitting: set[str] = set()
        for note in (*self.simulated, *self.trust, *first, *self.left_out, *rest):
            tried = [each for each in self.every() if each in fitting or each == note]
            if len(_wrap(tried)) <= _MAX_LINES:
                fitting.add(note)
        return _wrap([note for note in self.every() if note in fitting])


def _wrap(sentences: Sequence[str]) -> list[str]:
    """Join sentences into lines; one that is longer than a line is cut between two words."""
    lines: list[str] = []
    for sentence in sentences:
        whole = shorten(sentence, _LINE_CHARS, placeholder=" …")
        if lines and len(lines[-1]) + 1 + len(whole) <= _LINE_CHARS:
            lines[-1] += f" {whole}"
        else:
            lines.append(whole)
    return lines


def wallets_frame(wallets: FetchLike) -> pd.DataFrame:
    """Return the DataFrame of wallets, and check that it has the columns needed here."""
    frame = as_wallets_frame(wallets)
    require_columns(frame, ("status", "tokens", "fetched_at", "source", "service"))
    return frame


def drawn_note(*parts: tuple[int, int, str]) -> str:
    """Write how much is drawn: ``3 of 9 wallets and 3 tokens are drawn; the rest is Other.``."""
    texts = [
        f"{drawn:,} of {counted_noun(drawn + rest, noun)}" if rest else counted_noun(drawn, noun)
        for drawn, rest, noun in parts
    ]
    one = len(parts) == 1 and parts[0][0] == 1
    other = "; the rest is Other" if any(rest for _, rest, _ in parts) else ""
    return f"{' and '.join(texts)} {'is' if one else 'are'} drawn{other}."


def not_drawn(count: int, noun: str, kind: str = "") -> list[str]:
    """Return a sentence on rows that are not drawn, if there are any."""
    return [f"{counted_noun(count, noun)}{kind} {'is' if count == 1 else 'are'} not drawn."] * bool(
        count
    )


def other_name(count: int, noun: str) -> str:
    """Return the label of Other, such as ``Other (3 tokens)``."""
    return f"Other ({counted_noun(count, noun)})"


def provenance(fetch: FetchLike) -> list[str]:
    """Return a sentence on the known wallets, and one on the oldest answer."""
    wallets = wallets_frame(fetch)
    if not len(wallets):
        return ["No wallet was requested."]
    known, outdated = known_wallets(wallets), int(stale_wallets(wallets).sum())
    flaws = [f"{outdated} out of date"] * bool(outdated)
    flaws += [
        f"{count} {str(status).replace('_', ' ')}"
        for status, count in wallets["status"][~known].value_counts().items()
        if count
    ]
    text = f"{int(known.sum()):,} of {counted_noun(len(wallets), 'wallet')} known"
    text += f" ({', '.join(flaws)})" if flaws else ""
    return [f"{text}.", *_age(wallets[known], "Oldest answer {}.")]


def age_note(wallets: pd.DataFrame) -> list[str]:
    """Return a sentence on the age of one wallet's answer, given its rows."""
    stale = ", out of date" if stale_wallets(wallets).any() else ""
    return _age(wallets, f"Answer of {{}}{stale}.")


def _age(wallets: pd.DataFrame, sentence: str) -> list[str]:
    times = pd.to_datetime(wallets["fetched_at"], utc=True).dropna()
    return [sentence.format(f"{times.min():%Y-%m-%d %H:%M} UTC")] if len(times) else []


def simulated_note(wallets: pd.DataFrame) -> list[str]:
    """Return a note if the answers are simulated."""
    return ["Simulated data."] * is_simulated(wallets)


@cache
def plotly_library() -> tuple[str, bytes]:
    """Return the version and the script of plotly.js, read once."""
    return str(get_plotlyjs_version()), str(get_plotlyjs()).encode()
