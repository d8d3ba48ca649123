"""Charts of holdings: each function draws a DataFrame and returns a plotly ``Figure``.

The functions display, send and store nothing, and change no option of plotly. Amounts of different
tokens are never added. If the caller names a token, a chart shows the amounts of this token.
Otherwise it shows the column ``value``. Without this column, it shows the amounts if all balances
have the same asset, or else counts. A heatmap without this column shows shares.
"""

from walletframe.charts.canvas import (
    Figure,
    has_custom_template,
    markup_to_text,
    move_labels_above_rows,
    plotlyjs_version_and_script,
    pop_title_and_notes,
)
from walletframe.charts.grids import bar, heatmap, lorenz, pie
from walletframe.charts.hierarchies import parse_box_id, sunburst, treemap
from walletframe.charts.palette import token_colors
from walletframe.charts.timelines import timeline, waterfall
