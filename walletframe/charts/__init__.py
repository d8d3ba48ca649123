"""Charts of holdings: frame in, plain plotly ``Figure`` out.

Pure: nothing is shown, sent or kept, and no option of plotly is read or changed but the default
template, which plotly itself applies. Amounts of different tokens are never added: charts draw
values where the frame has a column ``value``, one token's amounts where one is named, and else
counts or each token's shares.
"""

from plotly.graph_objects import Figure

from walletframe.charts.canvas import has_template, plain, plotly_library, take_notes
from walletframe.charts.grids import bar, heatmap, lorenz, pie
from walletframe.charts.hierarchies import read_box_id, sunburst, treemap
from walletframe.charts.palette import token_colors
from walletframe.charts.timelines import timeline, waterfall
