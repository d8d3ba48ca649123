"""What a click in a chart selects, what is selected in a few words, and the way back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.frames import ADDED, token_names, wallet_names, with_assets
from walletframe.numerals import many
from walletframe.pickers.labels import label_texts
from walletframe.pickers.pictures import CHARTS, grouped_by
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.frames import Positions, TokenKey
    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.selection import Selection
    from walletframe.pickers.stock import Stock

_KINDS = ("blockchains", "wallets", "labels", "tokens")
_PART = re.compile(r"([bwto])(\d*)")  # of the id of a node: its own, then those around it
_NODE = {"b": "blockchains", "w": "wallets", "t": "tokens"}
_GROUP = re.compile(r"(\d+)\.(\d+)")  # its depth, and a row of holdings that is in it


def picked(
    stock: Stock, picture: Picture, selection: Selection, click: Mapping[str, Any]
) -> Selection:
    """Return what a click in a picture selects: one thing of its kind, beside the others.

    A click has the ``id`` of a node, a ``token`` of the legend by the place of its entry, or the
    place of its ``trace`` and ``point``. What stands for several is no choice.
    """
    found = _node(picture, str(click["id"])) if "id" in click else {}
    for name, row in _clicked(picture, click):
        found |= _of_row(stock, picture.held, name, row)
    if "tokens" in found and "wallets" in found and picture.look.chart != "Heatmap":
        # First the wallet, then a token in it.
        found.pop("wallets" if selection.wallets == found["wallets"] else "tokens")
    return replace(selection, **found)


def _node(picture: Picture, named: str) -> dict[str, Any]:
    """Tell what a node of blockchains, wallets and tokens is: of a token its wallet, too."""
    parts = _PART.findall(named)
    if _GROUP.fullmatch(named) or not parts or parts[0][0] == "o":
        return {}
    whose = [part for part in parts[1:2] if parts[0][0] == "t" and part[0] == "w"]
    places = {_NODE[kind]: int(place) for kind, place in [parts[0], *whose] if place}
    held, values = picture.held, dict[str, Any]()
    for kind, place in places.items():
        if kind == "wallets":
            values[kind] = (_wallet(held, place),)
        else:
            values[kind] = ((held.tokens.keys if kind == "tokens" else held.chains)[place],)
    return values


def _clicked(picture: Picture, click: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Tell of a click what it is by which names, each with a row of holdings that has it."""
    by, point = grouped_by(picture.look), click.get("point")
    thing = "asset" if "asset" in by else "token"
    owners = [name for name in by if name not in ADDED]
    function = CHARTS[picture.look.chart].function
    if group := _GROUP.fullmatch(str(click.get("id", ""))):
        depth, row = map(int, group.groups())
        names = by[max(depth - 1, 0) : depth + 1]
        names = names if {*names} >= {"wallet", thing} else names[-1:]
        return [(name, row) for name in names if row < len(picture.held.holdings)]
    if "token" in click:
        return _rowed([thing], picture.tokens, click["token"])
    if function == "pie":
        return _rowed([thing], picture.tokens, point)
    if function == "bar":
        return _rowed(owners, picture.rows, point)
    if function == "heatmap" and isinstance(point, list) and len(point) == 2:  # noqa: PLR2004
        row = point[0] if click.get("trace") == 0 else -1
        return _rowed(owners, picture.rows, row) + _rowed([thing], picture.tokens, point[1])
    return []


def _rowed(names: list[str], rows: tuple[int, ...], place: object) -> list[tuple[str, int]]:
    is_there = isinstance(place, int) and 0 <= place < len(rows)
    return [(name, rows[place]) for name in names] if is_there and isinstance(place, int) else []


def _of_row(stock: Stock, held: Positions, name: str, row: int) -> dict[str, Any]:
    """Tell what a row of holdings is by a name: of which wallet, token, asset, or label."""
    owner, token = int(held.wallet_codes[row]), held.tokens.codes[row]
    if name == "wallet":
        return {"wallets": (_wallet(held, owner),)}
    if name == "blockchain":
        return {"blockchains": (held.chains[held.chain_codes[owner]],)}
    if name == "token":
        return {"tokens": (held.tokens.keys[token],)}
    if name == "asset":
        assets = with_assets(held)
        alike = np.unique(held.tokens.codes[assets.tokens.codes == assets.tokens.codes[row]])
        return {"tokens": tuple(held.tokens.keys[place] for place in alike.tolist())}
    asked, key = stock.asked_keys, held.wallet_keys[owner]
    text = label_texts(stock.details.wallets[name]).iloc[asked.first[asked.keys.index(key)]]
    return {"labels": ((name, text),)}


def _wallet(held: Positions, place: int) -> str:
    blockchain, address = held.wallets.iloc[place]
    return f"{blockchain}.{address}"


def crumbs(stock: Stock, selection: Selection) -> list[str]:
    """Name what is selected, kind by kind: what a breadcrumb shows behind ``All``."""
    held, found = stock.held, []
    if selection.blockchains:
        chains = selection.blockchains
        found.append(chains[0] if len(chains) == 1 else many(len(chains), "blockchain"))
    if selection.wallets:
        found.append(_crumb("wallet", held.wallet_keys, selection.wallet_keys(), held, stock))
    if labels := selection.labels:
        name, text = labels[0]
        one = f"{name}: {text or 'not told'}"
        found.append(shown(one, 60) if len(labels) == 1 else many(len(labels), "label"))
    if selection.tokens:
        found.append(_crumb("token", held.tokens.keys, [*selection.tokens], held, stock))
    return found


def _crumb(
    kind: str, keys: list[TokenKey], chosen: list[TokenKey], held: Positions, stock: Stock
) -> str:
    if len(chosen) > 1 or chosen[0] not in keys:
        return many(len(chosen), kind)
    place = np.array([keys.index(chosen[0])])
    if kind == "token":
        return token_names(held.holdings, held.tokens, place)[0]
    return wallet_names(held.wallets, place, stock.names)[0]


def back(selection: Selection, level: int) -> Selection:
    """Return a selection with its first kinds alone, as many as `level`."""
    kinds = [kind for kind in _KINDS if getattr(selection, kind)]
    return replace(selection, **dict.fromkeys(kinds[max(level, 0) :], ()))
