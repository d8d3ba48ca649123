"""Colours of tokens: few enough to tell apart, also with colour blindness.

Paul Tol's muted scheme; of nine such colours any two differ by at least 11.5 (CIEDE2000) under
simulated protanopia, deuteranopia and tritanopia.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.frames import Positions, token_identities, token_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from walletframe.frames import Identities, PositionsLike, TokenKey

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
OTHER = "#DDDDDD"
EDGE = "#808080"
"""Drawn around every colour: seen on white and on black, where some of the colours are not."""
_HEX = re.compile("#[0-9a-fA-F]{6}")
_SHOWN = 20
_FORMS = (
    "keys are tokens as token_colors() gives them, (blockchain, contract) with None for a native "
    'coin; values are colours such as "#CC6677" or "gold"'
)
PATTERNS = ("", "/", "x", ".")
"""What tells things of one colour apart, in the order of their use."""


def token_colors(holdings: PositionsLike) -> dict[TokenKey, str]:
    """Choose a colour for each token, the largest first, for charts of some of these rows.

    The first nine differ, then the colours begin anew.
    """
    if isinstance(holdings, Positions):
        frame, tokens = holdings.holdings, holdings.tokens
    else:
        frame, tokens = holdings, token_identities(holdings)
    order = _by_size(frame, tokens)
    return {tokens.keys[place]: COLORS[rank % len(COLORS)] for rank, place in enumerate(order)}


def chosen_colors(
    positions: Positions, places: Iterable[int], colors: Mapping[TokenKey, str] | None
) -> dict[int, str]:
    """Give the colours of some tokens: those chosen earlier, or by the tokens' order of size.

    An asset has that of its largest token; what is not among `colors` one that depends on its
    contract alone, and then bad keys or values are a SettingsError.
    """
    tokens = positions.tokens
    if colors is None:
        ranks = np.argsort(_by_size(positions.holdings, tokens))
        return {place: COLORS[ranks[place] % len(COLORS)] for place in places}
    chosen = [*places]
    keys = dict(zip(chosen, _largest_tokens(positions, chosen), strict=True))
    if hasattr(colors, "get") and all(_is_color(colors.get(key)) for key in keys.values()):
        return {place: colors[key] for place, key in keys.items()}  # of many tokens few are drawn
    known = _checked(colors)
    return {
        place: known.get(key) or COLORS[crc32(repr(key).encode()) % len(COLORS)]
        for place, key in keys.items()
    }


def _largest_tokens(positions: Positions, places: list[int]) -> list[TokenKey]:
    """Give the keys of tokens, or those of the largest token of each asset in their place."""
    keys = positions.tokens.keys
    if not positions.assets:
        return [keys[place] for place in places]
    contracts = positions.contracts
    order = _by_size(positions.holdings, contracts)
    of_tokens, found = positions.tokens.codes[contracts.first], np.empty(len(keys), dtype=np.intp)
    found[of_tokens[order[::-1]]] = order[::-1]  # of several writes the last one stays
    return [contracts.keys[place] for place in found[places].tolist()]


def text_on(color: str) -> str:
    """Return black or white, whichever has more contrast by WCAG 2's relative luminance.

    What is not ``#RRGGBB`` is taken for a light colour.
    """
    if not _HEX.fullmatch(color):
        return "#000000"
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004  as sRGB is defined
        for part in channels
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def patterns(colors: Sequence[str]) -> list[str]:
    """Give things side by side that have one colour different patterns of plotly's."""
    seen: defaultdict[str, count[int]] = defaultdict(count)
    return [PATTERNS[next(seen[color]) % len(PATTERNS)] for color in colors]


def pattern(shape: str | Sequence[str]) -> dict[str, Any]:
    """Make what plotly calls a pattern, of names as `patterns` gives them."""
    return {"shape": shape, "fillmode": "overlay", "solidity": 0.2}


def _checked(colors: Mapping[TokenKey, str]) -> dict[TokenKey, str]:
    """Return colours by canonical token; all that are no token or no colour are named at once."""
    if not isinstance(colors, Mapping):
        raise SettingsError(f"colors: {type(colors).__name__} is not a mapping", hint=_FORMS)
    found, bad = {}, []
    for token, color in colors.items():
        try:
            found[token_key(token)] = color
        except UnknownTokenError:
            bad.append(f"{token!r} is not a token")
        if not _is_color(color):
            bad.append(f"{color!r} is not a colour")
    if bad:
        more = [f"and {len(bad) - _SHOWN:,} more"] * (len(bad) > _SHOWN)
        raise SettingsError(f"colors: {', '.join([*bad[:_SHOWN], *more])}", hint=_FORMS)
    return found


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


def _by_size(holdings: pd.DataFrame, tokens: Identities) -> np.ndarray:
    weights = None
    if "value" in holdings.columns:
        values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
        weights = np.where(np.isfinite(values), values, 0)
    sizes = np.bincount(tokens.codes, weights=weights, minlength=len(tokens.keys))
    return np.argsort(-sizes, kind="stable")
