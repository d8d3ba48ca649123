"""The explorer's pickers: what each offers, and what remains of it beside what others choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from walletframe.frames import is_unknown, known_wallets
from walletframe.pickers.holdings import TokenOptions, chain_options
from walletframe.pickers.options import Fact, Option, Options
from walletframe.pickers.portfolio import label_texts
from walletframe.pickers.wallets import wallet_options
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.pickers.portfolio import Portfolio, Selection

    Remaining = Mapping[Any, Fact | None]

_NAME, _LABEL = 24, 60


@dataclass(frozen=True, slots=True)
class Filter:
    """A picker of the explorer, of one kind of what a `Selection` has."""

    title: str
    options: Callable[[Portfolio], Options]
    count: Callable[[Portfolio], int]  # of the options, which then need not be made


def _label_options(portfolio: Portfolio) -> Options:
    wallets = portfolio.details.wallets
    options = []
    for name in portfolio.groups:
        for label in label_texts(wallets[name]).value_counts().index:
            text, column = shown(label, _LABEL), shown(name, _NAME)
            key, none = (name, label), f"no {column}"  # as charts say it
            short = f"{column}: {text}" if text else none
            options.append(Option(key, key, text or none, column, short=short))
    return Options("Label or column", options)


FILTERS = {
    "wallets": Filter(
        "Wallets",
        lambda portfolio: wallet_options(portfolio.details),
        lambda portfolio: len(portfolio.asked.keys),
    ),
    "tokens": Filter(
        "Tokens",
        lambda portfolio: TokenOptions(portfolio.details.holdings),
        lambda portfolio: sum(not is_unknown(key) for key in portfolio.held.tokens.keys),
    ),
    "blockchains": Filter(
        "Blockchains",
        lambda portfolio: chain_options(portfolio.details),
        lambda portfolio: len(
            {*portfolio.held.chain_places, *(chain for chain, _ in portfolio.asked.keys)}
        ),
    ),
    "labels": Filter(
        "Labels",
        _label_options,
        lambda portfolio: sum(
            label_texts(portfolio.details.wallets[name]).nunique() for name in portfolio.groups
        ),
    ),
}


def remaining(portfolio: Portfolio, selection: Selection, kind: str) -> Remaining:
    """Return what of a kind is there beside what is chosen of the others, with what is held."""
    nothing: dict[str, Any] = {kind: ()}
    others = replace(selection, **nothing)
    found: dict[Any, Fact | None] = {}
    if kind != "labels":
        found |= portfolio.facts(others, kind)
    if kind == "tokens" or (selection.tokens and kind != "labels"):
        return found  # who holds none of these tokens is not meant
    asked = portfolio.asked_marks(others)
    keys = [portfolio.asked.keys[code] for code in portfolio.asked.codes[asked].tolist()]
    wallets = portfolio.details.wallets[asked]
    if kind == "wallets":
        known = known_wallets(wallets)
        return {
            f"{chain}.{address}": Fact(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known, strict=True)
        } | found
    if kind == "blockchains":
        return {chain: Fact(0, math.nan) for chain, _ in keys} | found
    if selection.tokens:
        owners = portfolio.facts(others, "wallets")
        wallets = wallets[[f"{chain}.{address}" in owners for chain, address in keys]]
    texts = ((name, label_texts(wallets[name]).unique()) for name in portfolio.groups)
    return {(name, text): None for name, labels in texts for text in labels}
