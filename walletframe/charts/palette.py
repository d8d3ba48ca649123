"""The colours of tokens: nine colours that colour-blind people can also distinguish.

The colours are Paul Tol's muted scheme. Under simulated protanopia, deuteranopia and tritanopia,
the difference between any two of them is at least 11.5 (CIEDE2000).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.frames.asset_list import assets
from walletframe.frames.identity import token_identities, token_key
from walletframe.frames.positions import Positions
from walletframe.settings.tables import table_settings
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from walletframe.frames.identity import KeyCodes, TokenKey
    from walletframe.frames.positions import PositionsLike

ColorsLike: TypeAlias = "Mapping[TokenKey, str] | Mapping[str, str]"
"""Colours by token, or by the name of an asset."""

COLORS = (
    "#CC6677",
    "#332288",
    "#DDCC77",
    "#117733",
    "#88CCEE",
    "#882255",
    "#44AA99",
    "#999933",
    "#AA4499",
)
OTHER_COLOR = "#DDDDDD"
EDGE_COLOR = "#808080"
"""The outline of all coloured areas, since some colours are hard to see on white or on black."""
OUTLINE_STYLE: dict[str, str | float] = {"color": EDGE_COLOR, "width": 0.5}
PATTERN_STYLE: dict[str, str | float] = {"fillmode": "overlay", "solidity": 0.2}
_HEX = re.compile("#[0-9a-fA-F]{6}")
_MAX_NAMED = 20
_HINT = (
    'use a dict such as {"USDC": "#CC6677", ("ETH", None): "gold"}, or the result of '
    "token_colors(); each key is the name of an asset in walletframe.assets(), or a pair "
    "(blockchain, contract), with None as the contract of the native coin"
)
PATTERN_SHAPES = ("", "/", "x", ".")
"""Plotly's patterns that distinguish traces of the same colour, in the order of their use."""


def token_colors(holdings: PositionsLike) -> dict[TokenKey, str]:
    """Choose a colour for each token, to use the same colours in several charts.

    Call this function once with all holdings. Then pass the result as ``colors=`` to each chart,
    including charts of only some of these holdings.

    Returns
    -------
    dict of (str, str or None) to str
        The colour of each token (blockchain, contract), as ``#RRGGBB``. Tokens are sorted by
        value if there is a column ``value``, and by their number of rows otherwise. The largest
        comes first. The first nine tokens have different colours, then the colours repeat. If the
        setting ``colors`` names an asset, all contracts of the asset have the colour of the setting
        instead. The dict is empty if there are no rows.

    Raises
    ------
    ColumnsError
        If ``token_blockchain`` or ``token_address`` is missing.
    """
    if isinstance(holdings, Positions):
        frame, tokens = holdings.holdings, holdings.tokens
    else:
        frame, tokens = holdings, token_identities(holdings)
    order = _order_by_size(frame, tokens)
    configured = _configured_colors()
    keys = [tokens.keys[index] for index in order]
    return {key: configured.get(key, COLORS[rank % len(COLORS)]) for rank, key in enumerate(keys)}


def choose_colors(
    positions: Positions, indices: Iterable[int], colors: Mapping[Any, str] | None
) -> dict[int, str]:
    """Return the colours of some tokens: from `colors`, or else from the settings and by size.

    An asset has the colour of its largest token. A token that `colors` lacks always has the same
    default colour.
    """
    tokens = positions.tokens
    by_contract = _configured_colors() if colors is None else {}
    # Colours by name replace those of the settings.
    if isinstance(colors, Mapping) and any(isinstance(name, str) for name in colors):
        by_contract, colors = _configured_colors() | _check_colors(colors), None
    keys = {index: tokens.keys[index] for index in indices}
    if positions.assets and (by_contract or colors is not None):
        contracts = positions.contracts
        order = _order_by_size(positions.holdings, contracts)[::-1]
        largest = np.empty(len(tokens.keys), dtype=np.intp)
        # The last, largest token of an asset stays.
        largest[tokens.codes[contracts.first][order]] = order
        keys = {index: contracts.keys[largest[index]] for index in keys}
    if colors is None:
        ranks = np.argsort(_order_by_size(positions.holdings, tokens)) % len(COLORS)
        return {index: by_contract.get(key, COLORS[ranks[index]]) for index, key in keys.items()}
    if hasattr(colors, "get") and all(_is_color(colors.get(key)) for key in keys.values()):
        return {index: colors[key] for index, key in keys.items()}  # all colours needed are valid
    known = _check_colors(colors)
    return {
        index: known.get(key) or COLORS[crc32(repr(key).encode()) % len(COLORS)]
        for index, key in keys.items()
    }


def _configured_colors() -> dict[TokenKey, str]:
    """Return the colours in the settings by token: all contracts of an asset have its colour."""
    colors = table_settings().colors
    if not colors:
        return {}
    contracts = _contracts_by_asset()
    if unknown := [name for name in colors if name.casefold() not in contracts]:
        raise SettingsError(
            f"{safe_line(unknown[0])!r} in the setting `colors` is not a known asset",
            hint="use a name that walletframe.assets() lists, or add the asset to the table in the "
            "setting `assets`",
        )
    return {key: color for name, color in colors.items() for key in contracts[name.casefold()]}


def _contracts_by_asset() -> dict[str, list[TokenKey]]:
    """Return the contracts of each listed asset, by its name in lower case."""
    listed = assets()
    contracts: defaultdict[str, list[TokenKey]] = defaultdict(list)
    tokens = token_identities(listed)
    for code, name in zip(tokens.codes.tolist(), listed["asset"].str.casefold(), strict=True):
        contracts[name].append(tokens.keys[code])
    return contracts


def text_color(color: str) -> str:
    """Return black or white, whichever contrasts more with a colour according to WCAG 2."""
    if not _HEX.fullmatch(color):
        return "#000000"  # the luminance of other formats is not computed
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 - as sRGB is defined
        for part in channels
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def choose_patterns(colors: Sequence[str]) -> list[str]:
    """Choose a plotly pattern for each trace, so that traces of the same colour differ."""
    seen: defaultdict[str, count[int]] = defaultdict(count)
    return [PATTERN_SHAPES[next(seen[color]) % len(PATTERN_SHAPES)] for color in colors]


def _check_colors(colors: Mapping[Any, str]) -> dict[TokenKey, str]:
    """Return the colours by token, or raise an error that names all invalid tokens and colours."""
    if not isinstance(colors, Mapping):
        raise SettingsError(f"colors of type {type(colors).__name__} are not supported", hint=_HINT)
    checked: dict[TokenKey, str] = {}
    bad = []
    contracts = _contracts_by_asset()
    for token, color in colors.items():
        keys = contracts.get(token.casefold()) if isinstance(token, str) else None
        try:
            checked |= dict.fromkeys(keys or [token_key(token)], color)
        except UnknownTokenError:
            bad.append(f"{token!r} is not a token or an asset")
        if not _is_color(color):
            bad.append(f"{color!r} is not a colour")
    if bad:
        more = [f"and {len(bad) - _MAX_NAMED:,} more"] * (len(bad) > _MAX_NAMED)
        problems = ", ".join([*bad[:_MAX_NAMED], *more])
        raise SettingsError(f"colors can't be used: {problems}", hint=_HINT)
    return checked


def _is_color(color: object) -> bool:
    if not isinstance(color, str):
        return False
    if _HEX.fullmatch(color):
        return True
    try:
        go.layout.Font(color=color)
    except ValueError:
        return False
    return True


def _order_by_size(holdings: pd.DataFrame, tokens: KeyCodes) -> np.ndarray:
    weights = None
    if "value" in holdings.columns:
        values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
        weights = np.where(np.isfinite(values), values, 0)
    sizes = np.bincount(tokens.codes, weights=weights, minlength=len(tokens.keys))
    return np.argsort(-sizes, kind="stable")
