"""Plotly express treats amounts as numbers, and draws them on the correct axis."""

import json

import pandas as pd
import plotly
import plotly.express as px
import pytest

SERIES = pd.Series(["1.5", "2", None, "4"], dtype="amount", name="amount", index=list("wxyz"))
FRAME = SERIES.dropna().to_frame().assign(b=lambda frame: frame["amount"] * 2, f=[1.0, 2.0, 3.0])
NUMBERS = [1.5, 2.0, None, 4.0]
ENGINE = (
    "json" if plotly.__version__ < "6" else "auto"
)  # plotly 5 passes pandas's NA to orjson unconverted


def drawn(figure):
    """Return the first trace as a browser gets it."""
    return json.loads(figure.to_json(engine=ENGINE))["data"][0]


@pytest.mark.parametrize("draw", [px.bar, px.line, px.area, px.scatter])
@pytest.mark.parametrize("data", [SERIES, SERIES.to_frame()], ids=["Series", "one column"])
def test_amounts_are_on_the_y_axis(draw, data):
    """The rows are on the x axis, and nothing is counted."""
    trace = drawn(draw(data))
    assert (trace["x"], trace["y"], trace["orientation"]) == (list("wxyz"), NUMBERS, "v")


def test_amounts_on_the_x_axis_make_horizontal_bars():
    """Bars are horizontal, as they are for floats."""
    assert drawn(px.bar(FRAME, x="amount"))["orientation"] == "h"


def test_colours_are_a_scale():
    """Amounts as colours are a scale, not categories."""
    trace = drawn(px.scatter(FRAME, x="f", y="b", color="amount"))
    assert trace["marker"]["color"] == [1.5, 2.0, 4.0]


def test_sizes_are_floats():
    """Plotly refuses objects as sizes, so they have to be floats."""
    with pytest.raises(ValueError, match="size"):
        px.scatter(FRAME, x="f", y="b", size="amount")
    trace = px.scatter(FRAME, x="f", y="b", size=FRAME["amount"].astype(float)).data[0]
    assert trace.marker.size.tolist() == [1.5, 2.0, 4.0]


def test_the_plotly_backend():
    """Pandas's own plots, drawn by plotly."""
    assert drawn(SERIES.plot(backend="plotly"))["y"] == NUMBERS
    trace = drawn(SERIES.plot(kind="bar", backend="plotly"))
    assert (trace["x"], trace["y"]) == (list("wxyz"), NUMBERS)
