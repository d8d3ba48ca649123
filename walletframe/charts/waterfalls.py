"""The waterfall: what changed of one token or asset, wallet by wallet or owner by owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import check_top
from walletframe.charts.canvas import (
    BESIDE,
    Space,
    along,
    blank,
    figure,
    hover,
    named_axis,
    titled,
)
from walletframe.charts.levels import label_text, no_label
from walletframe.charts.notes import Notes, other, simulated, wallets_frame
from walletframe.charts.palette import COLORS, EDGE, OTHER
from walletframe.errors import (
    Argument,
    ColumnsError,
    Either,
    SettingsError,
    Spelled,
    UnknownTokenError,
)
from walletframe.frames import (
    COMPARED,
    SIMULATED,
    find_token,
    given_names,
    token_identities,
    unique_names,
    wallet_names,
    wallets_given,
    whole_wallet,
)
from walletframe.numerals import compact, many
from walletframe.text import shown

if TYPE_CHECKING:
    from walletframe.amounts.scalar import Amount
    from walletframe.frames import FetchLike, TokenLike

_TOKEN, _ASSET = ["symbol", "token_address", "token_blockchain"], "asset"
_NEEDED = ["before", "difference", "change"]
_BARS, _ROW, _LEAST, _AXIS = 100, 22, 120, 36
_SHORT, _LONG = 24, 80
_WHO = 3  # names in a note
_PAD = 0.12  # of the axis, for numbers beside the bars
_ALL = "all together"
_MORE, _LESS = COLORS[6], COLORS[0]
_BY_ASSET = Either(
    "compare(before, after, asset=…).wf.plot.waterfall() draws one asset; several can be chosen "
    "from with compare(before, after, by=['wallet', 'asset'])",
    "",
)
_COMPARED = Either("compare(before, after).wf.plot.waterfall() draws changes", "")


def waterfall(
    changes: pd.DataFrame,
    *,
    token: TokenLike | None = None,
    asset: str | None = None,
    top: int = 20,
    wallets: FetchLike | None = None,
) -> go.Figure:
    """Draw changes of one token or asset, the largest first, and what they come to."""
    most = check_top("top", top, _BARS)
    needed = [*_NEEDED, *([_ASSET] if _ASSET in changes or asset is not None else _TOKEN)]
    if missing := [name for name in needed if name not in changes.columns]:
        present = [str(name) for name in changes.columns]
        of_tokens = missing == [_ASSET] and {*_TOKEN} <= {*present}
        raise ColumnsError(missing, present, hint=Spelled(_BY_ASSET if of_tokens else _COMPARED))
    named = _of_one(changes, token, asset)
    is_known = (named["change"] != "unknown").to_numpy() & _some(named).to_numpy()
    known, unknown = named[is_known], named[~is_known]
    left_out, trust = [], []
    if len(unknown):
        said = f"{many(len(unknown), 'change')} not known, and not drawn"
        left_out.append(f"{said}: {_who(unknown, wallets)}.")
    if {"wallets_known", "wallets"} <= {*known.columns}:
        partly = known[known["wallets_known"] < known["wallets"]]
        if len(partly):
            trust.append(f"Not all wallets are known of {_who(partly, wallets)}.")
    told = changes.attrs.get(COMPARED, {})
    times = [f"From {told['before']} to {told['after']}."] if {"before", "after"} <= {*told} else []
    real = ["Simulated data."] if told.get("service") == SIMULATED else []
    if wallets is not None:
        real = simulated(wallets_frame(wallets))
    drawn = [*times, "Length: the change, of what is known at both times."]
    notes = Notes(real, drawn, left_out, trust)
    if known.empty:
        return blank("What changed", notes, "No change is known.")
    sizes = np.abs(known["difference"].astype("float64").to_numpy())
    order = np.argsort(-sizes, kind="stable")
    return _drawn(known.iloc[order[:most]], known.iloc[order[most:]], wallets, notes)


def _some(changes: pd.DataFrame) -> pd.Series:
    """Tell which changes are of something, and not of a wallet of which nothing is known."""
    return changes["token_blockchain" if "symbol" in changes else _ASSET].notna()


def _of_one(changes: pd.DataFrame, token: TokenLike | None, asset: str | None) -> pd.DataFrame:
    """Give the changes of one token or asset, and of wallets with none known."""
    by_token, something = "symbol" in changes, _some(changes)
    named = changes[something]
    if asset is not None:
        held = [name for name in named[_ASSET].unique() if name.casefold() == asset.casefold()]
        if not held:
            raise UnknownTokenError(asset, _ASSET, "give one of those in the column asset")
        named = named[named[_ASSET].isin(held)]
    if token is not None:
        named = named[find_token(named, token)]
    kinds = token_identities(named).keys if by_token else named[_ASSET].unique()
    if len(kinds) > 1:
        hint = Spelled("name one: ", Argument("token" if by_token else _ASSET))
        raise SettingsError("amounts of different tokens are never added", hint=hint)
    return pd.concat([named, changes[~something]])


def _who(rows: pd.DataFrame, wallets: FetchLike | None) -> str:
    """Name whose changes some are, the first few."""
    names = list(dict.fromkeys(_names(rows, wallets)[0]))
    more = [f"{len(names) - _WHO:,} more"] if len(names) > _WHO else []
    return ", ".join([*names[:_WHO], *more])


def _drawn(
    rows: pd.DataFrame, rest: pd.DataFrame, wallets: FetchLike | None, notes: Notes
) -> go.Figure:
    """Draw a bar for each row, one for the rest, and one for all."""
    symbol = shown(str(rows["symbol" if "symbol" in rows else _ASSET].iloc[0]), _SHORT)
    short, full = _names(rows, wallets)
    exact = [*rows["difference"]]
    if len(rest):
        short, full = ([*names, other(len(rest), "change")] for names in (short, full))
        exact.append(rest["difference"].sum())
    total = pd.concat([rows, rest])["difference"].sum()
    texts = [f"{'+' * (each > 0)}{compact(float(each))}" for each in [*exact, total]]
    said = [f"{each} {symbol}" for each in [*exact, total]]
    trace = go.Waterfall(
        orientation="h",
        y=list(range(len(texts))),
        x=[*map(float, exact), 0],
        measure=["relative"] * len(exact) + ["total"],
        text=texts,
        textposition="outside",
        cliponaxis=False,
        constraintext="none",
        hovertext=[hover(*each) for each in zip([*full, _ALL], said, strict=True)],
        hoverinfo="text",
        increasing=_marked(_MORE),
        decreasing=_marked(_LESS),
        totals=_marked(OTHER),
        connector={"line": {"color": EDGE, "width": 0.5}},
    )
    of = "wallet" if "address" in rows else ", ".join(map(shown, _by(rows))) or "wallets"
    return figure(
        [trace],
        title=f"What changed of {symbol}",
        notes=notes,
        space=Space(
            max(_ROW * len(texts), _LEAST), above=_AXIS, left=BESIDE + along([*short, _ALL])
        ),
        showlegend=False,
        bargap=0.25,
        yaxis=named_axis([*short, _ALL], of) | {"range": [len(texts) - 0.5, -0.5]},
        xaxis=titled(f"change of {symbol}") | {"side": "top", "range": _range(exact)},
        xaxis_title_standoff=4,
    )


def _marked(color: str) -> dict[str, Any]:
    return {"marker": {"color": color, "line": {"color": EDGE, "width": 0.5}}}


def _range(exact: list[Amount]) -> list[float]:
    """Leave room for the numbers: to the right of what became more, to the left of what less."""
    sizes = [float(each) for each in exact]
    ends: list[float] = np.cumsum(sizes).tolist()
    bars = [*zip([*sizes, ends[-1]], [*ends, ends[-1]], strict=True)]
    low, high = min(0, *ends), max(0, *ends)
    pad = _PAD * (high - low)
    left = min([low, *(end - pad for size, end in bars if size < 0)])
    return [left, max([high, *(end + pad for size, end in bars if size > 0)])]


def _by(rows: pd.DataFrame) -> list[str]:
    """Tell what changes were added up by, beside the token or asset."""
    columns = [str(name) for name in rows.columns]
    return [name for name in columns[: columns.index("before")] if name not in {*_TOKEN, _ASSET}]


def _names(rows: pd.DataFrame, wallets: FetchLike | None) -> tuple[list[str], list[str]]:
    """Name rows by their wallet, or by what they were added up by: for the axis, and in full."""
    if "address" in rows:
        called = given_names(rows, None if wallets is None else wallets_given(wallets))
        each = zip(rows["blockchain"], rows["address"], called, strict=True)
        full = [whole_wallet(*parts) for parts in each]
        return wallet_names(rows, np.arange(len(rows)), called), full
    labels = rows[_by(rows)]
    if not len(labels.columns):
        return ["all wallets"], ["all wallets"]
    short, full = (
        [
            " · ".join(
                no_label(str(name)) if pd.isna(label) else label_text(label, limit)
                for name, label in zip(labels, row, strict=True)
            )
            for row in labels.to_numpy(dtype=object)
        ]
        for limit in (_SHORT, _LONG)
    )
    return unique_names(short, full.__getitem__), full
