"""Signs of spam in a symbol alone, whichever token has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from walletframe.analysis.spam.links import find_addresses
from walletframe.analysis.spam.lookalikes import hidden_characters, mixes_scripts, readable
from walletframe.analysis.spam.reasons import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 512  # strangers choose the symbols: only so many characters are looked at
_LONGEST = 100
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_BAIT = re.compile(
    # Parts of words, too: of 29,500 symbols of public lists four have one, and nothing beside it.
    r"air[- ]?drop(?:s|ped)?|(?<!ac)(?<!dis)(?<!ex)(?<!pro)(?<!re)claim(?:s|ed|able|ing)?"
    r"|eligible|give[- ]?away|redeem|rewards?|visit|vouchers?"
    r"|(?<![a-z])(?:bonus(?:es)?|congratulations|gift(?:s|ed)?|invitation|jackpot|prizes?|promo"
    r"|raffle|spam|verify|website|winners?)(?![a-z])"
    r"|\bfree (?:airdrop|claim|exchange|gift|mint|nft|play|spins?|tokens?)\b"
    r"|\byou(?:'ve| have)? won\b"
    r"|\baccess token|\bclick here|\bofficial (?:link|site|website)|\bpowered by |\bsecure your "
    r"|\bswap (?:at|for|on) |\bunwrap\b.{0,80}\b(?:at|on)\b"
    r"|\u7a7a\u6295|\u9886\u53d6|\u9818\u53d6|\u514d\u8d39|\u514d\u8cbb|\u5956\u52b1|\u7ea2\u5305",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\W*(?:buy|collect|earn|get|join|register|sell|try|use)\s+\w+", re.IGNORECASE
)
_PRIZE = re.compile(
    r"\$ \d[\d,.]+|(?<!\w)\$\d[\d,.]{2,}"
    r"|(?<![\w.-])\d[\d,.]*k? ?(?:\$|usd[tc]?\b)"
    r"|(?<![\w.-])\d(?:[\d,.]*k? |[\d,.]{2,}k?)(?:eth|bnb|btc|sol|matic)\b",
    re.IGNORECASE,
)
_FOREMOST = re.compile(r"(?:[!#$*>~]|[^\w\s\x00-\x7f])+(?=\s+\w)")
_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_CUT_OFF = re.compile(r"[^\W_]\s?\.{3}$")
_TAGS = "a|b|br|body|button|div|embed|font|form|h[1-6]|html|i|iframe|img|input|link|meta|object|p"
# What a page or a spreadsheet would run or render: tags, scripts' addresses, formulas.
_MARKUP = re.compile(
    rf"<\s*/?\s*(?:{_TAGS}|script|span|style|svg|table|u|video)\b[^<]{{0,200}}>"
    r"|javascript\s*:|^\s*[=@+-]\s*[a-z.]{2,20}\s*\(",
    re.IGNORECASE,
)


def read_symbol(symbol: str) -> tuple[Finding, ...]:
    """Find what speaks against a token in its symbol: nothing in nearly all real ones."""
    head = symbol[:HEAD]
    text = readable(head)
    found = list(_words(text))
    if len(symbol) > _LONGEST:
        found.append(Finding("long_text", (f"{len(symbol):,}",)))
    if head.startswith("0x") and _ADDRESS.fullmatch(head):
        found.append(Finding("address"))
    if not (head.isalnum() and head.isascii()):
        found += _signs(head, text)
    return tuple(found)


def _words(text: str) -> Iterator[Finding]:
    spaced = _CAMEL.sub(" ", text)
    bait = _BAIT.search(spaced) or _COMMAND.match(text)
    if bait:
        yield Finding("claim", (bait.group().strip(),))
    if not text.isalpha() and (prize := _PRIZE.search(spaced)):
        yield Finding("prize", (prize.group().strip(),))
    if _is_phrase(text, spaced) or (bait and _letters(bait.group()) < _letters(text)):
        yield Finding("phrase")


def _is_phrase(text: str, spaced: str) -> bool:
    """Tell whether a symbol is two words, or three that capitals set apart."""
    if len(text.split()) > 1:
        return bool(_WORD.search(text))
    return len(_WORD.findall(spaced)) > 2  # noqa: PLR2004 - said above


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _signs(head: str, text: str) -> Iterator[Finding]:
    yield from (Finding(reason, (found,)) for reason, found in find_addresses(text))
    if markup := _MARKUP.search(text):
        yield Finding("markup", (markup.group(),))
    if hidden := hidden_characters(head):
        yield Finding("hidden", (", ".join(hidden[:5]),))
    if foremost := _FOREMOST.match(text):
        yield Finding("foremost", (foremost.group(),))
    if text.endswith("...") and _CUT_OFF.search(text):
        yield Finding("cut_off")
    if mixes_scripts(head):
        yield Finding("lookalike", (text,))
