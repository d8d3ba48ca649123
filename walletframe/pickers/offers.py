"""What the explorer's pickers offer, and what remains of it beside what the others choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.frames import is_unknown, known_wallets
from walletframe.pickers.facts import Fact, facts
from walletframe.pickers.holdings import BlockchainPicker, TokenPicker, chain_options, token_options
from walletframe.pickers.labels import label_options, label_texts
from walletframe.pickers.wallets import WalletPicker, wallet_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.frames import Mask
    from walletframe.pickers.chooser import Options
    from walletframe.pickers.selection import Selection
    from walletframe.pickers.stock import Sieve, Stock

    Remaining = Mapping[Any, Fact | None]


@dataclass(frozen=True, slots=True)
class Offer:
    """A picker of the explorer."""

    title: str
    hint: str
    options: Callable[[Stock], Options]
    count: Callable[[Stock], int]  # of the options, which then need not be made


OFFERS = {
    "wallets": Offer(
        "Wallets",
        str(WalletPicker._hint.default_value),  # noqa: SLF001 - it is one of ours
        lambda stock: wallet_options(stock.details),
        lambda stock: len(stock.asked_keys.keys),
    ),
    "tokens": Offer(
        "Tokens",
        str(TokenPicker._hint.default_value),  # noqa: SLF001
        lambda stock: token_options(stock.details.holdings),
        lambda stock: sum(not is_unknown(key) for key in stock.held.tokens.keys),
    ),
    "blockchains": Offer(
        "Blockchains",
        str(BlockchainPicker._hint.default_value),  # noqa: SLF001
        lambda stock: chain_options(stock.details),
        lambda stock: len({*stock.held.chain_places, *(key[0] for key in stock.asked_keys.keys)}),
    ),
    "labels": Offer(
        "Labels",
        "Label or column",
        lambda stock: label_options(stock.details),
        lambda stock: sum(
            label_texts(stock.details.wallets[name]).nunique() for name in stock.groups
        ),
    ),
}


def remaining(stock: Stock, selection: Selection, sieve: Sieve, kind: str) -> Remaining:
    """Return what of a kind is there beside what is chosen of the others, with what is held."""
    others = replace(selection, **{kind: ()})
    marks = stock.marks(others)
    if sieve.spam:
        marks &= ~stock.spam
    found = _held(stock, marks, kind) if kind != "labels" else {}
    if kind == "tokens" or (selection.tokens and kind != "labels"):
        return found  # who holds none of these tokens is not meant
    asked = stock.asked_marks(others)
    keys = [stock.asked_keys.keys[code] for code in stock.asked_keys.codes[asked].tolist()]
    wallets = stock.details.wallets[asked]
    if kind == "wallets":
        known = known_wallets(wallets)
        return {
            f"{chain}.{address}": Fact(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known, strict=True)
        } | found
    if kind == "blockchains":
        return {chain: Fact(0, math.nan) for chain, _ in keys} | found
    if selection.tokens:
        codes = np.unique(stock.held.wallet_codes[marks]).tolist()
        owners = {stock.held.wallet_keys[code] for code in codes}
        wallets = wallets[[key in owners for key in keys]]
    texts = ((name, label_texts(wallets[name]).unique()) for name in stock.groups)
    return {(name, text): None for name, labels in texts for text in labels}


def _held(stock: Stock, marks: Mask, kind: str) -> dict[Any, Fact | None]:
    """Return of what is held in some rows how many balances there are, and of what value."""
    held = stock.held
    keys: list[Any]
    if kind == "tokens":
        keys, codes = held.tokens.keys, held.tokens.codes
    elif kind == "wallets":
        keys = [f"{chain}.{address}" for chain, address in held.wallet_keys]
        codes = held.wallet_codes
    else:
        keys, codes = [*held.chain_places], held.chain_codes[held.wallet_codes]
    found = facts(keys, codes[marks], None if stock.worth is None else stock.worth[marks])
    return {key: fact for key, fact in found.items() if fact.balances and not is_unknown(key)}
