"""The figure around a chart: title, notes, margins, and no connection to the web.

The only place where text becomes what plotly draws. Colours of paper and text are the template's,
which is the user's choice.
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
from walletframe.frames.details import wallets_given
from walletframe.frames.known import is_simulated, known_wallets, stale_wallets
from walletframe.numerals import many
from walletframe.text import as_markup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames.details import FetchLike


_TITLE_CHARS, _HOVER_CHARS = 48, 70
_ABOUT = "about"
LEAST_SIZE = 11  # pixels; smaller text is not read
_TITLE_LINE, _NOTE_LINE, _ABOVE, _BELOW = 22, 15, 14, 14
_NOTE_SIZE = 12
_EDGE, _RIGHT = 16, 24
_LEGEND_LINE, _LEGEND_EDGE, _ENTRY, _LETTER = 19, 12, 40, 6
_NARROW, _WIDE = 300, 668
_BLANK, _LONGEST = 240, 500
_SHARE = "sendChartToCloud"
_TEMPLATE = "plotly"  # its own default
_AROUND, _WIDTH = 16, 6.5
_STANDOFF, _BESIDE = 8, 20  # between an axis's name and its ticks; what the name of an axis takes
_ROW, _LEAST = 22, 120
_LEFT = {"xref": "container", "x": 0, "xanchor": "left", "yref": "container"}
_PAPER: dict[str, str | float] = {"xref": "paper", "yref": "paper"}
TOP_RIGHT: dict[str, str | float] = _PAPER | {"x": 1, "xanchor": "right", "y": 1, "yanchor": "top"}


class Space(NamedTuple):
    """Pixels of a figure's parts.

    Told what stands outside its axes, plotly draws a chart once; left to find out, it draws it,
    makes room and draws it again. It still makes more room where this was not enough.
    """

    plot: int  # the height of the plot, its axes and its legend
    above: int = 0  # between the notes and the plot
    below: int = 0  # outside the axes, such as names and a legend
    left: int = 0


def along(names: Sequence[str]) -> int:
    """Measure the longest of some names on an axis, in pixels of most fonts plotly chooses."""
    return int(_AROUND + _WIDTH * max(map(len, names)))


def rows_of(names: Sequence[str], above: int = 36, below: int = 0) -> Space:
    """Return the room for a row of each name, with the names beside them."""
    return Space(max(_ROW * len(names), _LEAST) + below, above, below, _BESIDE + along(names))


def figure(
    traces: Sequence[Any],
    *,
    title: str,
    notes: Notes,
    space: Space,
    annotations: Sequence[dict[str, Any]] = (),
    places: Mapping[str, list[int]] | None = None,
    **layout: Any,
) -> go.Figure:
    """Make a figure with a title, two lines of notes below it at most, and room for the rest.

    All text is plain. All notes are in ``layout.meta["about"]``; a mark shows those that don't fit.
    `places` say which rows and tokens are drawn. The button for uploading is left out.
    """
    every, said = notes.every(), notes.lines()
    top = _ABOVE + _TITLE_LINE + _NOTE_LINE * len(said) + _BELOW + space.above
    others = [note for note in every if note not in " ".join(said)]
    marks = []
    if others:  # at the right end of the shorter line
        line = min(range(len(said)), key=lambda place: len(said[place]))
        mark = {
            "name": _ABOUT,
            "text": many(len(others), "more note"),
            "hovertext": markup([part for note in others for part in wrap(note, _HOVER_CHARS)]),
            "font": {"size": LEAST_SIZE, "lineposition": "under"},
            **TOP_RIGHT,
            "yshift": top - _ABOVE - _TITLE_LINE - _NOTE_LINE * line,
        }
        marks.append(mark)
    own = {
        "title": {
            "text": as_markup(title, _TITLE_CHARS),
            "subtitle": {"text": markup(said), "font": {"size": _NOTE_SIZE}},
            **_LEFT,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": _ABOVE, "l": _EDGE},
        },
        "meta": {
            _ABOUT: [as_markup(note, _LONGEST) for note in every],
            "line": as_markup(notes.line(), _LONGEST),
            **(places or {}),
        },
        "annotations": [{"showarrow": False, **each} for each in (*annotations, *marks)],
        "margin": {"t": top, "l": _EDGE + space.left, "r": _RIGHT, "b": _EDGE + space.below},
        "height": top + space.plot,
        "hoverlabel": {"align": "left", "namelength": -1},
        "modebar": {"remove": [_SHARE]},
    }
    return go.Figure(list(traces), layout=own | layout)


def take_words(figure: go.Figure) -> tuple[str, list[str]]:
    """Take title and notes, as plain text, out of a figure, which becomes lower."""
    layout = figure.layout
    title, notes = plain(layout.title.text), [*map(plain, layout.meta[_ABOUT])]
    off = _ABOVE + _TITLE_LINE + _NOTE_LINE * len(layout.title.subtitle.text.split("<br>"))
    high = layout.height
    layout.title, layout.meta = None, None
    layout.margin.t, layout.height = layout.margin.t - off, high - off
    layout.annotations = [each for each in layout.annotations if each.name != _ABOUT]
    for trace in figure.select_traces(selector={"type": "heatmap"}):  # which have a bar at the top
        if trace.colorbar.y is not None:
            trace.colorbar.y = 1 - ((1 - trace.colorbar.y) * high - off) / layout.height
    return title, notes


def with_legend(space: Space, names: Sequence[str]) -> dict[str, Any]:
    """Return what `figure` takes for a legend at the bottom, with room for it on a narrow page."""
    if len(names) < 2:  # noqa: PLR2004  one thing needs no legend
        return {"space": space, "showlegend": False}
    widest = _ENTRY + _LETTER * max(map(len, names))
    most, least = (-(-len(names) // max(1, wide // widest)) for wide in (_NARROW, _WIDE))
    return {
        "space": space._replace(
            plot=space.plot + _LEGEND_LINE * most,
            below=space.below + _LEGEND_LINE * least + _LEGEND_EDGE,
        ),
        "showlegend": True,
        "legend": {
            "orientation": "h",
            **_LEFT,
            "y": 0.01,
            "yanchor": "bottom",
            "font": {"size": LEAST_SIZE},
            "traceorder": "normal",
        },
    }


def named_axis(names: Sequence[str], of: str) -> dict[str, Any]:
    """Make an axis of names in plain text, at 0, 1, 2 and so on; `of` says what they name."""
    return {
        **titled(of),
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [markup([name]) for name in names],
        "ticklabelstandoff": 4,
        "ticklabeloverflow": "allow",  # to look whether each is on the page takes plotly long
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def titled(name: str) -> dict[str, Any]:
    """Return what an axis needs to have a name."""
    title = {"text": as_markup(name), "font": {"size": _NOTE_SIZE}, "standoff": _STANDOFF}
    return {"title": title}


def blank(title: str, notes: Notes, reason: str) -> go.Figure:
    """Make a figure without traces that says why nothing is drawn."""
    middle = _PAPER | {"x": 0.5, "y": 0.5}
    return figure(
        [],
        title=title,
        notes=notes,
        space=Space(_BLANK),
        annotations=[{**middle, "text": markup(wrap(reason, _TITLE_CHARS)), "font": {"size": 15}}],
        xaxis={"visible": False},
        yaxis={"visible": False},
        plot_bgcolor="rgba(0,0,0,0)",
    )


def has_template() -> bool:
    """Return whether the user has chosen a template other than plotly's own."""
    return bool(pio.templates.default != _TEMPLATE)


def plain(text: str) -> str:
    """Return what plotly would show, on one line."""
    return unescape(text.replace("<br>", " "))


def markup(lines: Sequence[str]) -> str:
    """Join lines of any text in plotly's markup, made harmless."""
    return "<br>".join(as_markup(line, 200) for line in lines)


def hover(head: str, *lines: str) -> str:
    """Write what is shown under the pointer: a bold head, and lines, broken where they are long."""
    broken = [
        line[start : start + _HOVER_CHARS]
        for line in lines
        for start in range(0, len(line), _HOVER_CHARS)
    ]
    return "<br>".join([f"<b>{as_markup(head)}</b>", *map(as_markup, broken)])


_LINES, _CHARS = 2, 96


class Notes(NamedTuple):
    """Sentences on a chart, in the order they are read in, of each group the foremost first."""

    real: Sequence[str] = ()  # that it is not
    drawn: Sequence[str] = ()  # what is drawn
    left_out: Sequence[str] = ()  # what is not
    trust: Sequence[str] = ()  # how complete, and as of when

    def every(self) -> list[str]:
        """Return all sentences."""
        return [note for group in self for note in group]

    def line(self) -> str:
        """Join in one line what is drawn and left out, for a page that says the rest itself."""
        return _packed([*self.drawn[:1], *self.left_out, *self.drawn[1:]] or self.trust or [""])[0]

    def lines(self) -> list[str]:
        """Join in lines what fits on a figure: how far to trust it goes before what it is of."""
        first, rest = self.drawn[:1], self.drawn[1:]
        kept: set[str] = set()
        for note in (*self.real, *self.trust, *first, *self.left_out, *rest):
            tried = [each for each in self.every() if each in kept or each == note]
            if len(_packed(tried)) <= _LINES:
                kept.add(note)
        return _packed([note for note in self.every() if note in kept])


def _packed(sentences: Sequence[str]) -> list[str]:
    """Join sentences to lines; one that is longer than a line is cut between two words."""
    lines: list[str] = []
    for sentence in sentences:
        whole = shorten(sentence, _CHARS, placeholder=" …")
        if lines and len(lines[-1]) + 1 + len(whole) <= _CHARS:
            lines[-1] += f" {whole}"
        else:
            lines.append(whole)
    return lines


def wallets_frame(wallets: FetchLike) -> pd.DataFrame:
    """Return the DataFrame of wallets, whichever way it was given, with the columns needed here."""
    frame = wallets_given(wallets)
    require_columns(frame, ("status", "tokens", "fetched_at", "source", "service"))
    return frame


def drawn_of(*parts: tuple[int, int, str]) -> str:
    """Write what is drawn: ``20 of 412 wallets, 3 tokens, the rest as Other``."""
    texts = [
        f"{drawn:,} of {many(drawn + rest, noun)}" if rest else many(drawn, noun)
        for drawn, rest, noun in parts
    ]
    return ", ".join([*texts, *["the rest as Other"] * any(rest for _, rest, _ in parts)]) + "."


def other(count: int, noun: str) -> str:
    """Name what is not drawn for itself, such as ``Other (3 tokens)``."""
    return f"Other ({many(count, noun)})"


def provenance(given: FetchLike) -> list[str]:
    """Write how complete the answers for all wallets are, and as of when."""
    wallets = wallets_frame(given)
    if not len(wallets):
        return ["No wallet was asked."]
    known, outdated = known_wallets(wallets), int(stale_wallets(wallets).sum())
    flaws = [f"{outdated} out of date"] * bool(outdated)
    flaws += [
        f"{count} {str(status).replace('_', ' ')}"
        for status, count in wallets["status"][~known].value_counts().items()
        if count
    ]
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    text += f" ({', '.join(flaws)})" if flaws else ""
    return [f"{text}.", *_age(wallets[known], "Oldest answer {}.")]


def answered(wallets: pd.DataFrame) -> list[str]:
    """Write how old the answer for one wallet is, given its rows."""
    stale = ", out of date" if stale_wallets(wallets).any() else ""
    return _age(wallets, f"Answer of {{}}{stale}.")


def _age(wallets: pd.DataFrame, said: str) -> list[str]:
    times = pd.to_datetime(wallets["fetched_at"], utc=True).dropna()
    return [said.format(f"{times.min():%Y-%m-%d %H:%M} UTC")] if len(times) else []


def simulated(wallets: pd.DataFrame) -> list[str]:
    """Return a note where answers are made up."""
    return ["Simulated data."] * is_simulated(wallets)


@cache
def plotly_library() -> tuple[str, bytes]:
    """Read plotly.js, once: its version and its script."""
    return str(get_plotlyjs_version()), str(get_plotlyjs()).encode()
