"""Colours of tokens: few enough to tell apart, also with colour blindness.

Paul Tol's muted scheme; of nine such colours any two differ by at least 11.5 (CIEDE2000) under
simulated protanopia, deuteranopia and tritanopia.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from walletframe.errors import SettingsError, UnknownTokenError
from walletframe.frames.identity import token_identities, token_key
from walletframe.frames.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from walletframe.frames.identity import Identities, TokenKey
    from walletframe.frames.positions import PositionsLike

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
OUTLINE: dict[str, str | float] = {"color": EDGE, "width": 0.5}
PATTERN: dict[str, str | float] = {"fillmode": "overlay", "solidity": 0.2}
_HEX = re.compile("#[0-9a-fA-F]{6}")
_SHOWN = 20
_FORMS = (
    "keys are tokens as token_colors() gives them, (blockchain, contract) with None for a native "
    'coin; values are colours such as "#CC6677" or "gold"'
)
PATTERNS = ("", "/", "x", ".")
"""What tells things of one colour apart, in the order of their use."""


def token_colors(holdings: PositionsLike) -> dict[TokenKey, str]:
    """Choose a colour for each token, to be kept while the view changes.

    Make it once, of all holdings, and give it to charts of some of them as ``colors=``.

    Returns
    -------
    dict of (str, str or None) to str
        The colour, as ``#RRGGBB``, of each token (blockchain, contract), the largest first: by
        value where there is one, else by the number of rows. The first nine differ, then the
        colours begin anew; empty for no rows.

    Raises
    ------
    ColumnsError
        If ``token_blockchain`` or ``token_address`` is missing.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": [None]})
    >>> frame.wf.plot.token_colors()
    {('ETH', None): '#CC6677'}
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
    """Return the colours of some tokens: those chosen earlier, or by the tokens' order of size.

    An asset has that of its largest token; what is not among `colors` one that depends on its
    contract alone, and then bad keys or values are a SettingsError.
    """
    tokens = positions.tokens
    if colors is None:
        ranks = np.argsort(_by_size(positions.holdings, tokens))
        return {place: COLORS[ranks[place] % len(COLORS)] for place in places}
    keys = {place: tokens.keys[place] for place in places}
    if positions.assets:  # which have the key of their largest token
        contracts = positions.contracts
        order = _by_size(positions.holdings, contracts)[::-1]
        found = np.empty(len(tokens.keys), dtype=np.intp)
        found[tokens.codes[contracts.first][order]] = order  # of several writes the last one stays
        keys = {place: contracts.keys[found[place]] for place in keys}
    if hasattr(colors, "get") and all(_is_color(colors.get(key)) for key in keys.values()):
        return {place: colors[key] for place, key in keys.items()}  # of many tokens few are drawn
    known = _checked(colors)
    return {
        place: known.get(key) or COLORS[crc32(repr(key).encode()) % len(COLORS)]
        for place, key in keys.items()
    }


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
    """Choose for things of one colour side by side different patterns of plotly's."""
    seen: defaultdict[str, count[int]] = defaultdict(count)
    return [PATTERNS[next(seen[color]) % len(PATTERNS)] for color in colors]


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
