"""What a person sees of a fetch as a chart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.frames import known_wallets, token_names
from walletframe.numerals import many, money
from walletframe.pickers.stock import Sieve, sift, without_values
from walletframe.pickers.widget import error_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.frames import Positions, TokenKey
    from walletframe.pickers.selection import Selection
    from walletframe.pickers.stock import Sifted, Stock

VALUE, AMOUNTS, BALANCES = "value", "amounts", "balances"
_ROUND, _LOW = {"Treemap", "Sunburst"}, 400
_NO_MARGIN = dict.fromkeys("tblr", 0)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to choose."""

    function: str  # in `walletframe.charts`
    takes: str  # "perhaps a token", "a token", "a wallet" or ""
    options: Mapping[str, Any]  # how much is drawn, so that a browser draws it in a moment
    by: tuple[str, ...] = ()  # what it groups by; nothing where that is no choice
    below: tuple[str, ...] = ()  # what it groups by below a user's own column
    colored: bool = True  # whether it takes the colours of tokens


_NARROW = {"bar": {"top_tokens": 4}, "heatmap": {"top": 15, "top_tokens": 5}}
_NESTED, _BARS = {"top": 80}, {"top": 12, "top_tokens": 6}
_LEVELS = ("blockchain", "wallet", "token"), ("wallet", "token")
_CELLS = {"top": 20, "top_tokens": 15}
CHARTS = {
    "Treemap": Chart("treemap", "perhaps a token", _NESTED, *_LEVELS),
    "Sunburst": Chart("sunburst", "perhaps a token", _NESTED, *_LEVELS),
    "Bars by wallet": Chart("bar", "perhaps a token", _BARS, ("wallet",)),
    "Bars by blockchain": Chart("bar", "perhaps a token", _BARS, ("blockchain",), ("blockchain",)),
    "Heatmap": Chart("heatmap", "", _CELLS, ("wallet",), colored=False),
    "Pie of a wallet": Chart("pie", "a wallet", {}),
    "Lorenz curve": Chart("lorenz", "a token", {}, colored=False),
}
WALLET, TOKENS, ASSETS = "wallet", "tokens", "assets"


@dataclass(frozen=True, slots=True)
class Look:
    """How a person wants to see what is selected."""

    chart: str = "Treemap"
    measure: str = ""  # where it is empty or can't be had, what is best
    sieve: Sieve = Sieve()  # noqa: RUF009 - it is frozen
    group: str = WALLET  # or a column that the wallets keep
    assets: bool = False  # in the place of tokens
    narrow: bool = False  # a page that has little room beside names


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as the page gets it; texts are plain, as strangers may have written them."""

    look: Look  # with the measure that was chosen
    measures: tuple[str, ...]  # what there is to choose from
    token: str  # the one token that is drawn, if it is one
    title: str
    line: str
    about: tuple[str, ...]
    figure: bytes  # JSON; empty where nothing is drawn
    reason: str  # why nothing is
    arguments: Mapping[str, Any] | None  # of the chart's function, None where nothing is drawn
    held: Positions  # whose places the figure and its nodes have
    rows: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()


def draw(stock: Stock, selection: Selection, look: Look, sifted: Sifted | None = None) -> Picture:
    """Draw what is selected; where its chart can't be drawn, say why."""
    sifted = sifted or sift(stock, selection, look.sieve)
    held, chart = sifted.held, CHARTS[look.chart]
    measures = tuple(_measures(held, chart))
    measure = look.measure if look.measure in measures else _best(selection, measures, chart)
    picture = Picture(
        look=replace(look, measure=measure),
        measures=measures,
        token="",
        title=look.chart,
        line="",
        about=(),
        figure=b"",
        reason="",
        arguments=None,
        held=held,
    )
    if not len(held.holdings):
        return replace(picture, reason=absence(sifted, selection, look.sieve))
    shown = held if measure == VALUE or chart.takes == "a token" else without_values(held)
    try:
        given = _arguments(look, measure, selection, held)
        given |= _NARROW.get(chart.function, {}) if look.narrow else {}
        colors = {"colors": stock.colors} if chart.colored else {}
        figure = getattr(charts, chart.function)(shown, wallets=sifted.wallets, **given, **colors)
    except Exception as error:  # noqa: BLE001 - shown in the chart's place
        return replace(picture, reason=f"No chart: {error_text(error)}")
    if not figure.data:  # its one annotation says why
        return replace(picture, reason=charts.plain(figure.layout.annotations[0].text))
    return _finished(picture, figure, given)


def _finished(picture: Picture, figure: charts.Figure, given: Mapping[str, Any]) -> Picture:
    held, meta = picture.held, figure.layout.meta
    title, about = charts.take_words(figure)
    token = ""
    if "token" in given:
        place = held.tokens.keys.index(given["token"])
        [token] = token_names(held.holdings, held.tokens, np.array([place]))
    return replace(
        picture,
        token=token,
        title=title,
        line=charts.plain(meta["line"]),
        about=tuple(about),
        figure=_fitted(figure, picture.look).to_json(validate=False).encode(),
        reason="",
        arguments=given,
        rows=tuple(meta.get("rows", ())),
        tokens=tuple(meta.get("tokens", ())),
    )


def _fitted(figure: charts.Figure, look: Look) -> charts.Figure:
    """Let a figure fill the page, which paints it in its own colours."""
    layout = figure.layout
    if not charts.has_template():
        layout.template = None
    if look.chart in _ROUND:  # nothing stands beside it
        room = layout.margin.t + layout.margin.b
        layout.height, layout.margin = layout.height - room, _NO_MARGIN
        if look.narrow:
            layout.height = min(layout.height, _LOW)
    elif look.narrow and look.chart == "Heatmap":  # no room for texts, and for what the scale is
        high = layout.margin.t
        figure.update_traces(texttemplate=None, showscale=False)
        layout.annotations, layout.margin.t, layout.height = (), 0, layout.height - high
        layout.xaxis.update(tickangle=-90, title=None)
        layout.yaxis.title = None
    return figure


def _measures(held: Positions, chart: Chart) -> list[str]:
    """Tell by what rows can be drawn: shares stand for amounts where a chart takes no token."""
    if chart.takes == "a token":
        return [AMOUNTS]
    found = [VALUE] if "value" in held.holdings and held.holdings["value"].notna().any() else []
    found += [AMOUNTS] if chart.takes == "perhaps a token" else []
    return [*found, BALANCES]


def _best(selection: Selection, measures: tuple[str, ...], chart: Chart) -> str:
    """Prefer values, and the amounts of the one token that is picked."""
    if len(selection.tokens) == 1 and chart.takes == "perhaps a token":
        return AMOUNTS
    return VALUE if VALUE in measures else measures[-1]


def _arguments(look: Look, measure: str, selection: Selection, held: Positions) -> dict[str, Any]:
    """Choose the arguments of a chart of some holdings, which are not empty.

    Where it needs a token or a wallet and none is picked, it is the one with the most balances.
    """
    chart, by = CHARTS[look.chart], grouped_by(look)
    found: dict[str, Any] = {"by": by[0] if len(by) == 1 else [*by]} if by else {}
    found |= chart.options
    if chart.takes == "a wallet":
        found["wallet"] = _first(selection.wallet_keys(), held.wallet_keys, held.wallet_codes)
    elif measure == AMOUNTS:
        found["token"] = _first(selection.tokens, held.tokens.keys, held.tokens.codes)
    return found


def grouped_by(look: Look) -> tuple[str, ...]:
    """Tell what a chart groups by: as it is, or by a user's own column, and by assets."""
    chart = CHARTS[look.chart]
    if not chart.by:
        return ()
    by = chart.by if look.group == WALLET else (look.group, *chart.below)
    return (*(name for name in by if name != "token"), "asset") if look.assets else by


def _first(chosen: Iterable[TokenKey], keys: list[TokenKey], codes: np.ndarray) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there, most = set(keys), keys[int(np.bincount(codes).argmax())]
    return next((key for key in chosen if key in there), most)


def absence(sifted: Sifted, selection: Selection, sieve: Sieve) -> str:
    """Say why there is no balance: by what is left out, picked, or by what the wallets are like."""
    wallets = sifted.wallets
    picked = selection.blockchains or selection.wallets or selection.tokens or selection.labels
    known, tokens = known_wallets(wallets), wallets["tokens"]
    others = "other tokens than are picked" if selection.tokens else "balances that were left out"
    counts = {
        "not ok": (~known).sum(),
        "without any balance": (known & (tokens == 0)).sum(),
        f"with {others}": (known & (tokens > 0)).sum(),
    }
    parts = [f"{many(int(count), 'wallet')} {said}" for said, count in counts.items() if count]
    none = "no wallet is on what is picked" if picked else "no wallet was asked for"
    advice = " Take away some of what is picked." if picked else ""
    if sieve.spam and sifted.spam_balances:
        advice = f" {many(sifted.spam_tokens, 'token')} that look like spam are hidden."
    if sieve.dust and sifted.dust_balances:
        advice += f" {many(sifted.dust_balances, 'balance')} below {money(sieve.limit)} are folded."
    return f"No balance to show: {', '.join(parts) or none}.{advice}"
