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

    from walletframe.frames.identity import KeyCodes, TokenKey
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
"""The outline of every colour, since some colours can't be seen on white or on black."""
OUTLINE: dict[str, str | float] = {"color": EDGE, "width": 0.5}
PATTERN: dict[str, str | float] = {"fillmode": "overlay", "solidity": 0.2}
_HEX = re.compile("#[0-9a-fA-F]{6}")
_MAX_NAMED = 20
_HINT = (
    "use tokens as keys, as token_colors() does: (blockchain, contract), None for a native coin; "
    'and colours as values, such as "#CC6677" or "gold"'
)
PATTERNS = ("", "/", "x", ".")
"""Plotly's patterns that tell traces of one colour apart, in the order of their use."""


def token_colors(holdings: PositionsLike) -> dict[TokenKey, str]:
    """Choose a colour for each token, so that it stays the same in several charts.

    Call it once with all holdings, and pass the result to charts of some of them as ``colors=``.

    Returns
    -------
    dict of (str, str or None) to str
        The colour, as ``#RRGGBB``, of each token (blockchain, contract), the largest first: by
        value if there is one, else by the number of rows. The first nine differ, then the colours
        repeat. Empty for no rows.

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
    """Return the colours of some tokens: from `colors`, or by their rank in size if it is None.

    An asset has the colour of its largest token. A token that is not in `colors` gets one that
    depends on its contract alone; in that case bad keys or values are a SettingsError.
    """
    tokens = positions.tokens
    if colors is None:
        ranks = np.argsort(_by_size(positions.holdings, tokens))
        return {place: COLORS[ranks[place] % len(COLORS)] for place in places}
    keys = {place: tokens.keys[place] for place in places}
    if positions.assets:
        contracts = positions.contracts
        order = _by_size(positions.holdings, contracts)[::-1]
        largest = np.empty(len(tokens.keys), dtype=np.intp)
        largest[tokens.codes[contracts.first][order]] = order  # the last write stays: the largest
        keys = {place: contracts.keys[largest[place]] for place in keys}
    if hasattr(colors, "get") and all(_is_color(colors.get(key)) for key in keys.values()):
        return {place: colors[key] for place, key in keys.items()}  # no need to check all
    known = _checked(colors)
    return {
        place: known.get(key) or COLORS[crc32(repr(key).encode()) % len(COLORS)]
        for place, key in keys.items()
    }


def text_on(color: str) -> str:
    """Return black or white, whichever has more contrast by WCAG 2's relative luminance."""
    if not _HEX.fullmatch(color):
        return "#000000"  # other formats count as light
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004  as sRGB is defined
        for part in channels
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def patterns(colors: Sequence[str]) -> list[str]:
    """Choose plotly's patterns so that traces of one colour differ."""
    seen: defaultdict[str, count[int]] = defaultdict(count)
    return [PATTERNS[next(seen[color]) % len(PATTERNS)] for color in colors]


def _checked(colors: Mapping[TokenKey, str]) -> dict[TokenKey, str]:
    """Return colours by canonical token; the error names all bad tokens and colours at once."""
    if not isinstance(colors, Mapping):
        raise SettingsError(f"colors is a {type(colors).__name__}, not a mapping", hint=_HINT)
    checked, bad = {}, []
    for token, color in colors.items():
        try:
            checked[token_key(token)] = color
        except UnknownTokenError:
            bad.append(f"{token!r} is not a token")
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


def _by_size(holdings: pd.DataFrame, tokens: KeyCodes) -> np.ndarray:
    weights = None
    if "value" in holdings.columns:
        values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
        weights = np.where(np.isfinite(values), values, 0)
    sizes = np.bincount(tokens.codes, weights=weights, minlength=len(tokens.keys))
    return np.argsort(-sizes, kind="stable")
