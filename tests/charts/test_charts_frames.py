"""Every chart draws every kind of frame, in the user's template."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from addresses import B, whole
from hostile_symbols import SYMBOLS, hostile_holdings

from walletframe import charts
from walletframe.charts.palette import BAND_COLORS, COLORS, OTHER_COLOR, text_color
from walletframe.errors import SettingsError
from walletframe.frames.assembly import assemble
from walletframe.frames.asset_list import assets
from walletframe.frames.identity import token_key
from walletframe.pandas_versions import TEXT
from walletframe.wire.outcome import Status

TOKEN, WALLET = ("ETH", "0xT"), f"ETH.{whole('a1')}"
DAY = pd.Timestamp("2026-01-31", tz="UTC")
CHARTS = {
    "treemap": charts.treemap,
    "treemap of a token": partial(charts.treemap, token=TOKEN),
    "sunburst": charts.sunburst,
    "bar": charts.bar,
    "bar of blockchains": partial(charts.bar, by="blockchain"),
    "bar of a token": partial(charts.bar, token=TOKEN),
    "heatmap": charts.heatmap,
    "pie": partial(charts.pie, wallet=WALLET),
    "lorenz": partial(charts.lorenz, token=TOKEN),
    "timeline": lambda frame, **more: charts.timeline(frame.assign(snapshot=DAY), **more),
}
OF_AMOUNTS = {"treemap of a token", "bar of a token", "lorenz"}
OF_AMOUNTS_OR_SHARES = sorted({*OF_AMOUNTS, "heatmap"})
OF_COUNTS = sorted({*CHARTS} - {*OF_AMOUNTS_OR_SHARES, "timeline"})


def holdings(*amounts, value=None):
    """Return rows of one wallet and one token."""
    text = {
        "blockchain": "ETH",
        "address": whole("A1"),
        "symbol": "T",
        "token_address": "0xT",
        "token_blockchain": "ETH",
    }
    frame = pd.DataFrame([text] * len(amounts), dtype=TEXT)
    frame["amount"] = pd.array(amounts, dtype="amount")
    return frame if value is None else frame.assign(value=value)


EMPTY = assemble([]).holdings
NOTHING = {
    "no rows": (EMPTY, "There are no holdings to draw."),
    "no rows with values": (EMPTY.assign(value=1.0), "There are no holdings to draw."),
    "zeros": (holdings("0", "0"), "No amount is above zero."),
    "negative": (holdings("-1", "-2"), "No amount is above zero."),
    "values of zero": (holdings("1", "1", value=0.0), "No value is above zero."),
    "values unknown": (holdings("1", "1", value=np.nan), "No value above zero is known."),
    "values endless": (holdings("1", "1", value=np.inf), "No value above zero is known."),
    "values negative": (holdings("1", "1", value=-1.0), "No value is above zero."),
}


CASES = [
    (chart, kind)
    for chart in CHARTS
    for kind in NOTHING
    if chart not in OF_AMOUNTS or not kind.startswith("values")  # these draw amounts anyway
]


@pytest.mark.parametrize("chart,kind", CASES)
def test_empty_charts_have_a_reason(chart, kind):
    """If nothing is above zero, the figure shows the reason and has no traces."""
    frame, reason = NOTHING[kind]
    figure = CHARTS[chart](frame)
    assert [note.text for note in figure.layout.annotations] == [reason]
    assert figure.data == ()


def below(figure):
    """Return the lines below a title as one line."""
    return figure.layout.title.subtitle.text.replace("<br>", " ")


def flawed_wallets():
    """Return wallets of a simulated service with every flaw."""
    statuses = pd.Series([*Status] * 3, dtype=TEXT)
    return pd.DataFrame(
        {
            "blockchain": "ETH",
            "address": [whole("A1"), *[f"0x{n}" for n in range(1, len(statuses))]],
            "status": statuses,
            "tokens": 1,
            "fetched_at": DAY,
            "source": ["stale", *["service"] * (len(statuses) - 1)],
            "service": "sandbox",
            "snapshot": DAY,
        }
    )


@pytest.mark.parametrize("chart", CHARTS)
def test_short_lines_describe_the_reliability(chart):
    """Notes on simulated, omitted and stale data are whole; a hover text has minor notes."""
    rows = pd.concat([holdings("7", "-2", None), holdings("1").assign(token_address="0xU")])
    figure = CHARTS[chart](rows, wallets=flawed_wallets())
    lines = figure.layout.title.subtitle.text.split("<br>")
    assert len([line for line in lines if line]) <= 6
    assert max(map(len, lines)) <= 60  # as wide as a phone
    assert lines[0].startswith("Simulated data.")
    trust = {
        "timeline": "In 1 of 1 snapshot, 31 of 33 wallets are unknown.",
        "pie": "1 wallet shows an older answer.",
    }
    assert trust.get(chart, " of 33 wallets unknown; ") in below(figure)
    marks = [note for note in figure.layout.annotations if note.name == "about"]
    hidden = [note for note in figure.layout.meta["about"] if note not in below(figure)]
    assert not [each for each in hidden if re.search("[Nn]ot |unknown|older|^As of", each)]
    count = f"+{len(hidden)} note{'s' * (len(hidden) > 1)}"
    assert [mark.text for mark in marks] == [count] * bool(hidden)
    text = " ".join(mark.hovertext for mark in marks).replace("<br>", " ")
    assert all(note in text for note in hidden)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_axis_has_a_name(chart):
    """Lengths, heights and rows are labelled."""
    figure = CHARTS[chart](holdings("7", "3"))
    if figure.data[0].type not in {"treemap", "sunburst", "pie"}:
        assert figure.layout.xaxis.title.text
        assert figure.layout.yaxis.title.text


@pytest.mark.parametrize("chart", CHARTS)
def test_no_text_is_too_small(chart):
    """No font size is below 11 pixels, and text that would shrink more is hidden."""
    figure = CHARTS[chart](holdings("7", "3")).to_plotly_json()
    figure["layout"].pop("template")
    assert min(sizes(figure), default=12) >= 11
    if figure["data"][0]["type"] in {"treemap", "sunburst", "pie"}:
        assert figure["layout"]["uniformtext"] == {"minsize": 11, "mode": "hide"}


def sizes(thing):
    """Return the size of every font of a figure."""
    if isinstance(thing, dict):
        for name, part in thing.items():
            if "font" in name and isinstance(part, dict):
                yield part.get("size", 12)
            yield from sizes(part)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from sizes(part)


@pytest.mark.parametrize("chart", OF_COUNTS)
def test_unknown_amounts_count_as_balances(chart):
    """Balances of unknown amount are counted, and the hover says so."""
    known = holdings("1").assign(token_address="0xU")
    for amounts, text in (((None,), "unknown amount of T"), ((None, "7"), "7 T")):
        rows = pd.concat([holdings(*amounts), known])
        assert text in CHARTS[chart](rows).to_json()


@pytest.mark.parametrize("chart", OF_AMOUNTS_OR_SHARES)
def test_unknown_amounts_are_left_out(chart):
    """Unknown amounts are not drawn, and a note states this."""
    figure = CHARTS[chart](holdings(None, None))
    assert figure.layout.annotations[0].text == "No amount above zero is known."
    assert "Not counted: 2 balances of unknown amount; " in below(figure)


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("value", [None, 5.0, 1e300, 1e-300])
def test_one_row(chart, value):
    """One balance of any value is drawn."""
    figure = CHARTS[chart](holdings("7", value=value))
    assert figure.data
    json.loads(figure.to_json(), parse_constant=pytest.fail)


@pytest.mark.parametrize("chart", CHARTS)
def test_negative_balances_are_left_out(chart):
    """Negative balances have no area; a note counts them."""
    assert "1 negative balance is not drawn" in below(CHARTS[chart](holdings("7", "-2")))


@pytest.mark.parametrize("chart", [*OF_COUNTS, *OF_AMOUNTS_OR_SHARES])
def test_the_largest_possible_amount(chart):
    """Every digit of 2**256 - 1 is in the hover."""
    figure = CHARTS[chart](holdings(str(2**256 - 1))).to_plotly_json()
    assert f"{2**256 - 1:,} T" in "".join(texts(figure)).replace("<br>", "")


@pytest.mark.parametrize("chart", CHARTS)
def test_figures_use_the_users_template(chart):
    """Figures use the user's template, without the button for uploading."""
    before = pio.templates.default
    try:
        pio.templates.default = "plotly_dark"
        figure = CHARTS[chart](holdings("7"))
    finally:
        pio.templates.default = before
    assert type(figure) is charts.Figure
    assert isinstance(figure, go.Figure)
    assert figure.layout.template == pio.templates["plotly_dark"]
    own = figure.layout.to_plotly_json() | {"template": None}
    assert "sendChartToCloud" in own["modebar"]["remove"]
    assert not {"paper_bgcolor", "plot_bgcolor", "font", "width"} & set(own)
    is_reversed = [each.reversescale for each in figure.data if each.type == "heatmap"]
    assert is_reversed == [True] * (chart == "heatmap")  # small values are near the dark ground


@pytest.mark.parametrize("draw", [charts.bar, charts.heatmap])
def test_labels_can_be_above_bars_and_cells(draw):
    """Each label is above its own row, which is higher; labels use no width."""
    names = ["A short name", "The long name of the wallet of a foundation"]
    wallets = flawed_wallets().iloc[:2].assign(status="ok", name=names)
    frame = pd.concat([holdings("7"), holdings("3").assign(address=B)])
    wallets = wallets.assign(blockchain="ETH", address=[*frame["address"]])
    figure = draw(frame, wallets=wallets)
    before = charts.Figure(figure)
    charts.move_labels_above_rows(figure)
    axis = figure.layout.yaxis
    assert axis.ticktext == ("A short name", "The long name of the wallet of a founda…")
    assert all(0.3 < row - place <= 0.5 for row, place in enumerate(axis.tickvals))
    assert figure.layout.margin.l < 20 < before.layout.margin.l
    assert figure.layout.height > before.layout.height
    assert axis.title.text is None
    assert len(figure.layout.xaxis.range) == 2  # else plotly moves cells beside the labels


@pytest.mark.parametrize("template", ["plotly_white", "plotly_dark+walletframe", "walletframe"])
def test_templates_of_plotly_apply(template):
    """Our template combines with plotly's templates, and is not the default."""
    assert pio.templates.default == "plotly"
    figure = charts.bar(holdings("7")).update_layout(template=template)
    for part in template.split("+"):
        wanted = pio.templates[part].layout.to_plotly_json()
        assert wanted["colorway"]
    assert [*figure.layout.template.layout.colorway] == [*wanted["colorway"]]
    is_dark = template.startswith("plotly_dark")
    assert (figure.layout.template.layout.paper_bgcolor == "rgb(17,17,17)") == is_dark


@pytest.mark.parametrize("chart", CHARTS)
def test_frames_are_not_changed(chart):
    """A chart reads a frame of any index and dtypes, and leaves it unchanged."""
    frame = holdings("7", "8").astype({"symbol": "object", "blockchain": "category"})
    frame.index = ["x", "x"]
    before = frame.copy(deep=True)
    CHARTS[chart](frame)
    pd.testing.assert_frame_equal(frame, before)


def texts(thing):
    """Return every text of a figure."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        for part in thing.values():
            yield from texts(part)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from texts(part)


@pytest.mark.parametrize("chart", CHARTS)
def test_no_untrusted_markup(chart):
    """No text of a figure has a tag but our own, a dollar, a control character, or many lines."""
    frame = hostile_holdings()
    frame.loc[0, ["address", "token_address"]] = [whole("A1"), "0xT"]
    figure = CHARTS[chart](frame).to_plotly_json()
    figure["layout"].pop("template")
    result = [*texts(figure)]
    assert len(result) > 10
    for text in result:
        assert "<" not in re.sub(r"</?b>|<br>", "", text), text
        assert "$" not in text
        assert len(text) < 1000
        assert text.isprintable()


def test_symbols_are_distinct():
    """Forty hostile symbols that look alike have different names in a chart."""
    frame = hostile_holdings()
    ticks = charts.heatmap(frame, top_tokens=200).data[0].x
    assert len(set(ticks)) == len(ticks) == 2 * len(SYMBOLS)
    assert any("look-alike" in name for name in SYMBOLS)
    cyrillic = [tick for tick in ticks if tick.startswith(SYMBOLS["look-alike"])]
    assert all("0x0000…" in tick for tick in cyrillic)


def contrast(*colors):
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(text):
        parts = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        lines = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return np.dot(lines, [0.2126, 0.7152, 0.0722])

    dark, light = sorted(map(luminance, colors))
    return (light + 0.05) / (dark + 0.05)


class TestColors:
    """Colours of tokens."""

    FRAME = pd.concat(
        [
            holdings(*["1"] * (30 - n)).assign(token_address=f"0x{n:02}", symbol=f"T{n}")
            for n in range(12)
        ]
    )

    def test_a_token_has_one_colour_in_every_chart(self):
        """A colour depends only on the token, not on other rows or their order."""
        colors = charts.token_colors(self.FRAME)
        assert {*colors.values()} <= {*COLORS}
        assert colors["ETH", "0x04"] == "#4BAE98"  # in every session
        assert charts.token_colors(self.FRAME[::-1]) == colors
        view = self.FRAME[self.FRAME.symbol.isin(["T4", "T7", "T11"])]
        for figure in (charts.bar(view), charts.bar(view, by="blockchain", colors=colors)):
            drawn = {trace.name: trace.marker.color for trace in figure.data}
            assert drawn == {f"T{n}": colors["ETH", f"0x{n:02}"] for n in (4, 7, 11)}

    def test_the_great_assets_differ(self):
        """The colours of large assets are fixed, and apply to all their contracts."""
        listed = assets().assign(symbol="T", amount=pd.array(["1"] * len(assets()), dtype="amount"))
        frame = listed.assign(blockchain="ETH", address="0xA")
        colors = charts.token_colors(frame)
        owned = zip(frame.token_blockchain, frame.token_address, frame.asset, strict=True)
        by_asset = {}
        for chain, contract, asset in owned:
            key = token_key((chain, None if pd.isna(contract) else contract))
            by_asset.setdefault(asset, set()).add(colors[key])
        assert {len(each) for each in by_asset.values()} == {1}
        great = [*by_asset["ETH"], *by_asset["BTC"], *by_asset["USDC"], *by_asset["USDT"]]
        assert len({*great, *by_asset["BNB"], *by_asset["SOL"], *by_asset["DAI"]}) == 7
        bars = charts.bar(frame, by="asset", top=200).data[0]
        drawn = dict(zip(bars.hovertext, bars.marker.color, strict=True))
        for text, color in drawn.items():
            name = text.removeprefix("<b>").partition("</b>")[0]
            assert color in by_asset.get(name, {color})

    def test_a_new_tokens_colour_comes_from_its_contract(self):
        """A new token's colour does not depend on other tokens."""
        known = charts.token_colors(self.FRAME.iloc[:1])
        view = self.FRAME[self.FRAME.symbol == "T5"]
        one = charts.bar(view, colors=known).data[0].marker.color
        both = charts.bar(self.FRAME, colors=known, top_tokens=20).data[5].marker.color
        assert one == both
        assert one in COLORS

    def test_equal_colours_have_different_patterns(self):
        """If two tokens share a colour, a pattern distinguishes them."""
        data = charts.bar(self.FRAME, top_tokens=20).data
        looks = [(trace.marker.color, trace.marker.pattern.shape) for trace in data]
        assert len(set(looks)) == 12

    @pytest.mark.parametrize("chart", ["treemap", "sunburst"])
    def test_nodes_of_equal_colours_have_different_patterns(self, chart):
        """The largest tokens have no pattern, and no pattern has the colour of its text."""
        [trace] = getattr(charts, chart)(self.FRAME).data
        look = trace.marker.pattern
        tokens = [place for place, key in enumerate(trace.ids) if key.startswith("2.")]
        drawn = {(trace.marker.colors[place], look.shape[place]) for place in tokens}
        assert len(tokens) == len(drawn) == 12
        assert look.shape[trace.labels.index("T0")] == ""
        assert not any(map(str.__eq__, look.fgcolor, trace.textfont.color))

    def test_other_is_grey(self):
        """No token has this colour."""
        assert charts.bar(self.FRAME, top_tokens=3).data[-1].marker.color == OTHER_COLOR

    @pytest.mark.parametrize("color", [*COLORS, OTHER_COLOR, *BAND_COLORS, "#FFFFFF", "#000000"])
    def test_text_is_readable_on_every_colour(self, color):
        """The contrast of text is at least 4.5, as WCAG requires."""
        assert contrast(color, text_color(color)) >= 4.5
        rgb = ", ".join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))
        assert text_color(f"rgb({rgb})") == text_color(color)

    def test_a_heatmap_is_light_to_dark(self):
        """A heatmap's text is black, and readable on the whole scale."""
        frame = holdings("7", "3", value=[70.0, 3.0]).assign(token_address=["0xT", "0xU"])
        [trace] = charts.heatmap(frame).data
        scale = [color for _, color in trace.colorscale]
        assert not trace.reversescale
        against_white = [contrast(color, "#FFFFFF") for color in scale]
        assert against_white == sorted(against_white)
        assert min(contrast(color, trace.textfont.color) for color in scale) >= 4.5
        assert min(contrast(color, "#1F1F1F") for color in scale) >= 3

    @pytest.mark.parametrize("ground", ["#111111", "#181818", "#1F1F1F"])
    def test_colours_are_visible_on_dark_pages(self, ground):
        """On the dark pages of plotly, the explorer and VS Code, the contrast is at least 3."""
        assert min(contrast(color, ground) for color in [*COLORS, OTHER_COLOR]) >= 3

    def test_tokens_match_in_any_spelling(self):
        """A colour belongs to the token, not to its spelling."""
        key = ("eth", "0X00")
        [trace] = charts.bar(self.FRAME.iloc[:1], colors={key: "#010203"}).data
        assert trace.marker.color == "#010203"

    @pytest.mark.parametrize("chart", ["treemap", "sunburst", "bar", "timeline"])
    def test_wrong_colours_are_refused(self, chart):
        """The error names all wrong colours, and all keys that are not tokens."""
        frame = self.FRAME.assign(snapshot=pd.Timestamp("2026-01-31", tz="UTC"))
        colors = {"T0": "red", ("ETH", "0x00"): "blurple", ("ETH", "0x01"): 7, ("BSC", None): "red"}
        with pytest.raises(SettingsError, match=r"token_colors\(\)") as caught:
            getattr(charts, chart)(frame, colors=colors)
        bad = "'T0' is not a token or an asset, 'blurple' is not a colour, 7 is not a colour"
        assert str(caught.value).split("\n")[0] == f"colors can't be used: {bad}"

    @pytest.mark.parametrize("last", ["asset", "token"])
    def test_colours_by_the_name_of_an_asset(self, last):
        """A colour applies to all contracts of an asset; its name is not case-sensitive."""
        coins = {"token_address": None, "token_blockchain": ["ETH", "BASE"], "symbol": "ETH"}
        frame = pd.concat([self.FRAME.iloc[:2].assign(**coins), self.FRAME.iloc[2:40]])

        def drawn(**options):
            figure = charts.bar(frame, by=["wallet", last], **options)
            return {trace.name: trace.marker.color for trace in figure.data}

        colors = drawn(colors={"eth": "gold"})
        named = {name for name in colors if name.startswith("ETH")}
        assert len(named) == (1 if last == "asset" else 2)
        assert colors == drawn() | dict.fromkeys(named, "gold")
        assert drawn(colors={"eth": "gold", ("ETH", "0x00"): "red"})["T0"] == "red"

    def test_colours_are_a_mapping(self):
        """A list is refused."""
        with pytest.raises(SettingsError, match="colors of type list are not supported"):
            charts.pie(self.FRAME, WALLET, colors=["red"])

    def test_colours_in_words_have_dark_text(self):
        """A caller's colour in another form is used unchanged."""
        key = ("ETH", "0x00")
        figure = charts.treemap(self.FRAME.iloc[:1], colors={key: "gold"})
        assert "gold" in figure.data[0].marker.colors
        assert figure.data[0].textfont.color[-1] == "#000000"
