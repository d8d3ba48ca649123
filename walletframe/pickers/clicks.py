"""What a click in a chart selects, what is selected in a few words, and the way back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.frames import ADDED, token_names, wallet_names, with_assets
from walletframe.numerals import many
from walletframe.pickers.portfolio import label_texts
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames import Codes, TokenKey
    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Selected, Selection

_KINDS = ("blockchains", "wallets", "labels", "tokens")  # in the order of a breadcrumb
_PART = re.compile(r"([bwto])(\d*)")  # of the id of a node: its own, then those around it
_NODE = {"b": "blockchains", "w": "wallets", "t": "tokens"}
_GROUP = re.compile(r"(\d+)\.(\d+)")  # its depth, and a row of holdings that is in it


def picked(picture: Picture, click: Mapping[str, Any]) -> Selection:
    """Return what a click selects: one thing of its kind, beside the others.

    It has the ``id`` of a node, the place of a legend's ``token``, or those of ``trace`` and
    ``point``. What stands for several is no choice.
    """
    selected = picture.selected
    found = _node(selected, str(click["id"])) if "id" in click else {}
    for name, row in _clicked(picture, click):
        found |= _of_row(selected, name, row)
    if "tokens" in found and "wallets" in found and picture.options.chart != "Heatmap":
        # First the wallet, then a token in it.
        is_chosen = selected.selection.wallets == found["wallets"]
        found.pop("wallets" if is_chosen else "tokens")
    return replace(selected.selection, **found)


def _node(selected: Selected, named: str) -> dict[str, Any]:
    """Tell what a node of blockchains, wallets and tokens is: of a token its wallet, too."""
    parts = _PART.findall(named)
    if _GROUP.fullmatch(named) or not parts or parts[0][0] == "o":
        return {}
    whose = [part for part in parts[1:2] if parts[0][0] == "t" and part[0] == "w"]
    held = selected.held
    values: dict[str, Sequence[Any]] = {"b": held.chains, "t": held.tokens.keys}
    return {
        _NODE[kind]: (_wallet(selected, int(place)) if kind == "w" else values[kind][int(place)],)
        for kind, place in [parts[0], *whose]
        if place
    }


def _clicked(picture: Picture, click: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Tell of a click what it is by which names, each with a row of holdings that has it."""
    by, point, function = picture.options.by, click.get("point"), picture.options.type.function
    thing = "asset" if "asset" in by else "token"
    owners = [name for name in by if name not in ADDED]
    if group := _GROUP.fullmatch(str(click.get("id", ""))):
        depth, row = map(int, group.groups())
        names = by[max(depth - 1, 0) : depth + 1]
        names = names if {*names} >= {"wallet", thing} else names[-1:]
        return [(name, row) for name in names if row < len(picture.selected.held.holdings)]
    if "token" in click:
        return _rowed([thing], picture.tokens, click["token"])
    if function == "pie":
        return _rowed([thing], picture.tokens, point)
    if function == "bar":
        return _rowed(owners, picture.rows, point)
    if function == "heatmap" and isinstance(point, list):
        row = point[0] if click.get("trace") == 0 else -1
        return _rowed(owners, picture.rows, row) + _rowed([thing], picture.tokens, point[1])
    return []


def _rowed(names: list[str], rows: tuple[int, ...], place: object) -> list[tuple[str, int]]:
    if not isinstance(place, int) or not 0 <= place < len(rows):
        return []
    return [(name, rows[place]) for name in names]


def _of_row(selected: Selected, name: str, row: int) -> dict[str, Any]:
    """Tell what a row of holdings is by a name: of which wallet, token, asset, or label."""
    held, portfolio = selected.held, selected.portfolio
    owner, token = int(held.wallet_codes[row]), held.tokens.codes[row]
    if name == "wallet":
        return {"wallets": (_wallet(selected, owner),)}
    if name == "blockchain":
        return {"blockchains": (held.chains[held.chain_codes[owner]],)}
    if name == "token":
        return {"tokens": (held.tokens.keys[token],)}
    if name == "asset":
        assets = with_assets(held)
        alike = np.unique(held.tokens.codes[assets.tokens.codes == assets.tokens.codes[row]])
        return {"tokens": tuple(held.tokens.keys[place] for place in alike.tolist())}
    asked = portfolio.asked
    place = asked.first[asked.keys.index(held.wallet_keys[owner])]
    return {"labels": ((name, label_texts(portfolio.details.wallets[name]).iloc[place]),)}


def _wallet(selected: Selected, place: int) -> str:
    return ".".join(selected.held.wallets.iloc[place])


def crumbs(portfolio: Portfolio, selection: Selection) -> list[str]:
    """Name what is selected, kind by kind: what a breadcrumb shows behind ``All``."""
    held, labels, found = portfolio.held, selection.labels, []
    if chains := selection.blockchains:
        found.append(chains[0] if len(chains) == 1 else many(len(chains), "blockchain"))
    if wallets := selection.wallet_keys():
        place = _place_of_one(wallets, held.wallet_keys)
        named = [] if place is None else wallet_names(held.wallets, place, portfolio.names)
        found += named or [many(len(wallets), "wallet")]
    if labels:
        name, text = labels[0]
        one = shown(f"{name}: {text}" if text else f"no {name}", 60)
        found.append(one if len(labels) == 1 else many(len(labels), "label"))
    if tokens := selection.tokens:
        place = _place_of_one(tokens, held.tokens.keys)
        named = [] if place is None else token_names(held.holdings, held.tokens, place)
        found += named or [many(len(tokens), "token")]
    return found


def _place_of_one(chosen: Sequence[TokenKey], keys: list[TokenKey]) -> Codes | None:
    is_one = len(chosen) == 1 and chosen[0] in keys
    return np.array([keys.index(chosen[0])]) if is_one else None


def back(selection: Selection, level: int) -> Selection:
    """Return a selection with its first kinds alone, as many as `level`."""
    kinds = [kind for kind in _KINDS if getattr(selection, kind)]
    nothing: dict[str, Any] = dict.fromkeys(kinds[max(level, 0) :], ())
    return replace(selection, **nothing)
