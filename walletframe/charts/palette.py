"""The colours of tokens and assets, and plotly's template ``walletframe``.

Under simulated protanopia, deuteranopia and tritanopia, any two of the nine colours and grey differ
by at least 15 (CIEDE2000). On dark pages, each colour has a contrast of at least 3.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import plotly.graph_objects as go
import plotly.io as pio

from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.frames.asset_list import asset_key_by_contract
from walletframe.frames.identity import encode_tokens, token_key
from walletframe.settings.tables import table_defaults
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from walletframe.frames.identity import TokenKey

ColorsLike: TypeAlias = "Mapping[TokenKey, str] | Mapping[str, str]"
"""Colours by token, or by the name of an asset."""

_FIXED_COLORS: dict[TokenKey, str] = {
    ("asset", "ETH"): "#8B8DC0",
    ("asset", "BTC"): "#CA9D00",
    ("asset", "USDC"): "#B5CCFF",
    ("asset", "USDT"): "#4BAE98",
    ("asset", "BNB"): "#FFDB96",
    ("asset", "SOL"): "#247B33",
    ("asset", "POL"): "#8D45DF",
    ("asset", "DAI"): "#9B547D",
    ("asset", "AVAX"): "#EA536E",
}
COLORS = (*_FIXED_COLORS.values(),)
OTHER_COLOR = "#DDDDDD"
BAND_COLORS = ("#CBD8E8", "#E6EEF7")
"""The backgrounds of boxes that contain other boxes: of outermost boxes, and of inner boxes."""
EDGE_COLOR = "#808080"
"""The outline of coloured areas, since some colours are hard to see on white or on black."""
OUTLINE_STYLE: dict[str, str | float] = {"color": EDGE_COLOR, "width": 0.5}
_HEX = re.compile("#[0-9a-fA-F]{6}")
_RGB = re.compile(r"rgb\((\d+), ?(\d+), ?(\d+)\)")
_MAX_NAMED = 20
_HINT = (
    'use a dict such as {"USDC": "#CC6677", ("ETH", None): "gold"}, or the result of '
    "token_colors(); each key is the name of an asset in walletframe.assets(), or a pair "
    "(blockchain, contract), with None as the contract of the native coin"
)
PATTERN_SHAPES = ("", "/", "x", ".", "-", "|", "+", "\\")
"""Plotly's patterns for traces of the same colour, in the order of use."""
_GRID = {"gridcolor": "rgba(128, 128, 128, 0.25)", "zerolinecolor": "rgba(128, 128, 128, 0.5)"}
pio.templates["walletframe"] = go.layout.Template(
    layout={
        "colorway": COLORS,
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "xaxis": _GRID,
        "yaxis": _GRID,
        "modebar": {"remove": ["sendChartToCloud"]},
    }
)


def token_colors(holdings: pd.DataFrame) -> dict[TokenKey, str]:
    """Return the colour of each token in charts, so that your own charts can match.

    Returns
    -------
    dict of (str, str or None) to str
        The colour of each token (blockchain, contract), as ``#RRGGBB``, in the order of the
        holdings. A token has the same colour in all charts and sessions. All contracts of an asset
        in `walletframe.assets` have the same colour, from the setting ``colors`` or from a palette
        of nine colours. Without rows, the dict is empty.

    Raises
    ------
    ColumnsError
        If ``token_blockchain`` or ``token_address`` is missing.
    """
    keys = encode_tokens(holdings).keys
    return dict(zip(keys, choose_colors(keys), strict=True))


def choose_colors(keys: Iterable[TokenKey], colors: Mapping[Any, str] | None = None) -> list[str]:
    """Look up each token's or asset's colour in `colors`, the settings and then the palette."""
    assets = asset_key_by_contract()
    own = _settings_and_user_colors({} if colors is None else colors, assets)
    pairs = ((key, assets.get(key, key)) for key in keys)
    return [
        own.get(key)
        or _FIXED_COLORS.get(asset)
        or COLORS[crc32(repr(asset).encode()) % len(COLORS)]
        for key, asset in pairs
    ]


def area_style(colors: Any, patterns: Any, color_option: str = "color") -> dict[str, Any]:
    """Return plotly's style of areas. `color_option` is the name of the option for colours."""
    pattern = {"fillmode": "overlay", "solidity": 0.2, "shape": patterns}
    return {color_option: colors, "line": OUTLINE_STYLE, "pattern": pattern}


def text_color(color: str) -> str:
    """Return black or white, whichever has more contrast to a colour according to WCAG 2."""
    if match := _RGB.fullmatch(color):
        color = "#{:02x}{:02x}{:02x}".format(*map(int, match.groups()))
    if not _HEX.fullmatch(color):
        return "#000000"  # the luminance of other formats is not computed
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 - as sRGB is defined
        for part in channels
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def choose_patterns(
    colors: Sequence[str], keys: Sequence[TokenKey], drawn: Iterable[int]
) -> list[str]:
    """Choose a pattern for each key. Up to 8 drawn keys of one colour have distinct patterns."""
    seen: defaultdict[str, count[int]] = defaultdict(count)
    taken: defaultdict[str, set[str]] = defaultdict(set)
    order = sorted(range(len(keys)), key=lambda at: keys[at] not in _FIXED_COLORS)
    patterns = {at: PATTERN_SHAPES[next(seen[colors[at]]) % len(PATTERN_SHAPES)] for at in order}
    for at in sorted({*drawn}, key=order.index):
        options = (patterns[at], *PATTERN_SHAPES)
        patterns[at] = next((each for each in options if each not in taken[colors[at]]), options[0])
        taken[colors[at]].add(patterns[at])
    return [patterns[at] for at in range(len(keys))]


def choose_group_fills(names: Sequence[str]) -> list[tuple[str, str]]:
    """Choose a colour and a pattern for each name. Use each colour once before any is reused."""
    keys, colors = [("label", name) for name in sorted({*names})], list[str]()
    for key in keys:
        start = crc32(repr(key).encode()) % len(COLORS)
        colors.append(min((*COLORS[start:], *COLORS[:start]), key=colors.count))
    patterns = choose_patterns(colors, keys, range(len(keys)))
    fills = dict(zip(keys, zip(colors, patterns, strict=True), strict=True))
    return [fills["label", name] for name in names]


def _settings_and_user_colors(
    colors: Mapping[Any, str], assets: Mapping[TokenKey, TokenKey]
) -> dict[TokenKey, str]:
    if not isinstance(colors, Mapping):
        raise SettingsError(f"colors of type {type(colors).__name__} are not supported", hint=_HINT)
    keys_by_name: defaultdict[str, list[TokenKey]] = defaultdict(list)
    for key, asset in assets.items():
        keys_by_name[str(asset[1]).casefold()] += [asset, key]
    own: dict[TokenKey, str] = {}
    for name, color in (table_defaults().colors or {}).items():
        if name.casefold() not in keys_by_name:
            raise SettingsError(
                f"{safe_line(name)!r} in the setting `colors` is not a known asset",
                hint="use a name that walletframe.assets() lists, or add the asset to the table in "
                "the setting `assets`",
            )
        own |= dict.fromkeys(keys_by_name[name.casefold()], color)
    checked: dict[TokenKey, str] = {}
    problems = []
    for token, color in colors.items():
        try:
            keys = keys_by_name.get(token.casefold()) if isinstance(token, str) else None
            checked |= dict.fromkeys(keys or [key := token_key(token)], color)
            if not keys:
                checked.setdefault(assets.get(key, key), color)  # the first token's colour
        except UnknownTokenError:
            problems.append(f"{token!r} is not a token or an asset")
        if not _is_color(color):
            problems.append(f"{color!r} is not a colour")
    if problems:
        more = [f"and {len(problems) - _MAX_NAMED:,} more"] * (len(problems) > _MAX_NAMED)
        listed = ", ".join([*problems[:_MAX_NAMED], *more])
        raise SettingsError(f"colors can't be used: {listed}", hint=_HINT)
    return own | checked


def _is_color(color: Any) -> bool:
    try:
        return bool(_HEX.fullmatch(color) or go.layout.Font(color=color))
    except (TypeError, ValueError):  # not a text, or not a colour
        return False
