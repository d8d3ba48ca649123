"""Every kind of chart, from made-up holdings. Run as a script, this prints the charts as JSON."""

import json
import sys
from base64 import b64decode
from datetime import timedelta

import numpy as np
import pandas as pd
from addresses import A, B
from fetches import FETCHED_AT, fetched, made_up_details, token

from walletframe import charts
from walletframe.analysis.selection import Selection
from walletframe.history import compare
from walletframe.pickers.chart import CHARTS, ChartOptions, draw_chart
from walletframe.pickers.data import ExplorerData

DETAILS = made_up_details(300, wallets=9, tokens=9)
HOLDINGS = DETAILS.holdings
VALUED = HOLDINGS.assign(value=np.arange(1.0, len(HOLDINGS) + 1), currency="USD")
TOKEN = tuple(HOLDINGS.loc[0, ["token_blockchain", "token_address"]])
WALLET = tuple(HOLDINGS.loc[0, ["blockchain", "address"]])
TIMES = [FETCHED_AT + timedelta(days=day) for day in range(3)]
SNAPSHOTS = pd.concat([VALUED.assign(snapshot=time) for time in TIMES], ignore_index=True).astype(
    {"snapshot": "datetime64[us, UTC]"}
)
CHANGES = compare(
    fetched({f"ETH.{A}": [token(raw=1)], f"ETH.{B}": [token(raw=5)]}),
    fetched({f"ETH.{A}": [token(raw=2**200)], f"ETH.{B}": [token(raw=4)]}),
)
FEW = made_up_details(20, wallets=4, tokens=4).holdings
FIGURES = {
    "treemap": lambda: charts.treemap(VALUED, wallets=DETAILS),
    "treemap of counts": lambda: charts.treemap(HOLDINGS),
    "treemap of a token": lambda: charts.treemap(HOLDINGS, token=TOKEN),
    "sunburst": lambda: charts.sunburst(VALUED),
    "bar": lambda: charts.bar(VALUED, top=3),
    "bar of blockchains": lambda: charts.bar(HOLDINGS, by="blockchain"),
    "bars of blockchains in small charts": lambda: charts.bar(VALUED, facet="blockchain", top=3),
    "bar of a token": lambda: charts.bar(HOLDINGS, token=TOKEN),
    "heatmap": lambda: charts.heatmap(VALUED, top=3),
    "heatmap of shares": lambda: charts.heatmap(FEW),
    "pie": lambda: charts.pie(VALUED, WALLET),
    "lorenz": lambda: charts.lorenz(HOLDINGS, TOKEN),
    "timeline": lambda: charts.timeline(SNAPSHOTS),
    "timeline of wallets": lambda: charts.timeline(SNAPSHOTS, by="wallet"),
    "timeline in small charts": lambda: charts.timeline(SNAPSHOTS, facet="blockchain"),
    "timeline of one moment": lambda: charts.timeline(VALUED.assign(snapshot=SNAPSHOTS.snapshot)),
    "waterfall": lambda: charts.waterfall(CHANGES),
    "blank": lambda: charts.treemap(HOLDINGS.iloc[:0]),
}


def described():
    """Return the traces and layouts of figures, with arrays as lists of numbers.

    The default template is left out, since it differs between releases of plotly.
    """
    result = {name: json.loads(figure().to_json()) for name, figure in FIGURES.items()}
    selected = ExplorerData(DETAILS).select_holdings(Selection())
    for chart in CHARTS:
        result[f"{chart} of the explorer"] = json.loads(
            draw_chart(selected, ChartOptions(chart)).figure
        )
    for figure in result.values():
        figure["layout"].pop("template", None)
    return _listed(result)


def _listed(value):
    """Decode the arrays that plotly 6 encodes."""
    if isinstance(value, list):
        return [_listed(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "bdata" not in value:
        return {name: _listed(each) for name, each in value.items()}
    array = np.frombuffer(b64decode(value["bdata"]), value["dtype"])
    return array.reshape(_shape(value, len(array))).tolist()


def _shape(value, length):
    return [int(each) for each in str(value.get("shape", length)).split(",")]


if __name__ == "__main__":
    json.dump(described(), sys.stdout)
