"""What a symbol alone gives away, whoever bears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.analysis.spam.bait import (
    apart,
    find_bait,
    find_foremost,
    find_markup,
    find_prize,
    is_address,
    is_cut_off,
    is_phrase,
)
from walletframe.analysis.spam.links import find_addresses
from walletframe.analysis.spam.lookalikes import hidden_characters, mixes_scripts, readable
from walletframe.analysis.spam.reasons import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 512
_LONGEST = 100


def read_symbol(symbol: str) -> tuple[Finding, ...]:
    """Find what speaks against a token in its symbol.

    Parameters
    ----------
    symbol : str
        As sent, of any length; only its first 512 characters are looked at.

    Returns
    -------
    tuple of Finding
        Each reason at most once; none for nearly all real symbols.

    Examples
    --------
    >>> [finding.reason for finding in read_symbol("$ usdcgift.com - Visit to claim")]
    ['claim', 'phrase', 'domain', 'foremost']
    >>> read_symbol("USDC.e")
    ()
    """
    return tuple(_findings(symbol))


def _findings(symbol: str) -> Iterator[Finding]:
    head = symbol[:HEAD]
    text = readable(head)
    spaced = apart(text)
    bait = find_bait(text)
    if bait:
        yield Finding("claim", (bait,))
    if prize := find_prize(spaced):
        yield Finding("prize", (prize,))
    if is_phrase(text, spaced) or (bait and _letters(bait) != _letters(text)):
        yield Finding("phrase")
    if len(symbol) > _LONGEST:
        yield Finding("long_text", (f"{len(symbol):,}",))
    if is_address(head):
        yield Finding("address")
    if not (head.isalnum() and head.isascii()):
        yield from _signs(head, text)


def _signs(head: str, text: str) -> Iterator[Finding]:
    yield from (Finding(reason, (found,)) for reason, found in find_addresses(text))
    if markup := find_markup(text):
        yield Finding("markup", (markup,))
    if hidden := hidden_characters(head):
        yield Finding("hidden", (", ".join(hidden[:5]),))
    if foremost := find_foremost(text):
        yield Finding("foremost", (foremost,))
    if is_cut_off(text):
        yield Finding("cut_off")
    if mixes_scripts(head):
        yield Finding("lookalike", (text,))


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
