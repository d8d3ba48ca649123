"""Charts that follow a dark page, where the user has chosen no template of plotly's.

JupyterLab doesn't tell the kernel which theme it has, and a person may change it at any time: so
the page itself decides, by a style sheet.
"""

from __future__ import annotations

FOLLOWS = "walletframe-follows-page"
"""The class of what follows."""

_TEXT, _LINE = "var(--jp-ui-font-color1)", "var(--jp-border-color2)"
_RULES = (
    (".main-svg", "background: transparent"),
    (".bglayer .bg, .legend .bg", "fill: transparent"),
    (":is(.infolayer, .cartesianlayer) text", f"fill: {_TEXT}"),
    (".gridlayer path", f"stroke: {_LINE}"),
    (":is(.zerolinelayer, .xtick, .ytick) path", f"stroke: {_LINE}"),
    (".modebar-group", "background: transparent"),
    (".modebar-btn path", f"fill: {_TEXT}"),
)
STYLE = "\n".join(
    f'body[data-jp-theme-light="false"] .{FOLLOWS} .js-plotly-plot :is({parts}) '
    f"{{ {rule} !important }}"
    for parts, rule in _RULES
)
"""The rules, for a page that is JupyterLab or Jupyter Notebook; others know no such attribute."""
