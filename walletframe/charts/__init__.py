"""Charts of holdings: frame in, plain plotly ``Figure`` out.

Pure: nothing is shown, sent or kept, and no option of plotly is read or changed but the default
template, which plotly itself applies. Amounts of different tokens are never added: charts draw
values where the frame has a column ``value``, one token's amounts where one is named, and else
counts or each token's shares.
"""

from plotly.graph_objects import Figure

from walletframe.charts.bars import bar, pie
from walletframe.charts.canvas import has_template, plain, split_words, take_words
from walletframe.charts.heatmaps import heatmap
from walletframe.charts.hierarchies import sunburst, treemap
from walletframe.charts.inequality import lorenz
from walletframe.charts.library import plotly_library
from walletframe.charts.palette import token_colors
from walletframe.charts.timelines import timeline
from walletframe.charts.waterfalls import waterfall

__all__ = [
    "Figure",
    "bar",
    "has_template",
    "heatmap",
    "lorenz",
    "pie",
    "plain",
    "plotly_library",
    "split_words",
    "sunburst",
    "take_words",
    "timeline",
    "token_colors",
    "treemap",
    "waterfall",
]
