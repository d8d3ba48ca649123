"""Signs of spam in a symbol alone, whichever token has it, website addresses among them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from walletframe.analysis.spam.lookalikes import hidden_characters, mixes_scripts, readable
from walletframe.analysis.spam.reasons import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from publicsuffixlist import PublicSuffixList

HEAD = 512  # strangers choose the symbols: only so many characters are looked at
_LONGEST = 100
_MOST_WORDS, _MOST_LABELS = 2, 2  # of a name: no name has two dots
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
_LINK = re.compile(
    r"(?:h\s?t\s?t\s?p\s?s?|hxxps?|ftp|ipfs)\s?:|://|(?<![a-z0-9])www(?:\s?\.\s?|\s)[a-z0-9]"
    r"|(?:telegram|twitter|discord|\btg|\u7535\u62a5\S?)\s?:?\s?@\w{3}",
    re.IGNORECASE,
)
# A space may stand before a dot, and behind it before a common ending; behind a hyphen a name goes
# on, as in E.WEBER-ST-TOLEDO, unless the ending is a common one.
_DOMAIN = re.compile(
    r"(?<![a-z0-9_.@-])((?:[^\W_](?:[\w-]{0,62}[^\W_])?"
    r"(?:\s?\.(?:\s(?=(?:com|net|org|io|xyz)\b))?|\s?[\[(]\.[\])]\s?))+)"
    r"((?:com|net|org|io|xyz)(?=-)|[a-z]{2,24}(?!-\w))(?![a-z0-9_])(\s?/\s?[a-z0-9])?",
    re.IGNORECASE,
)
# What is left of a domain where its end is cut off, and one that has a space for its dot.
_CUT = re.compile(r"[^\W_][\w-]{2,62}\.[a-z]{0,12}\.{3}$", re.IGNORECASE)
_SPACED = re.compile(r"\b[a-z0-9-]{4,63}\s(?:com|net|org|io|xyz)\b", re.IGNORECASE)
_WHITE = re.compile(r"\s")
_LABELS = re.compile(r"[^\w-]+")
# Top-level domains that projects put into their names; most others are only ever an address.
_STYLISH = frozenset(
    {"ai", "bot", "cat", "dog", "farm", "fi", "fun", "game", "games", "gg", "gold", "man", "meme"}
    | {"moe", "money", "network", "one", "pizza", "zip"}
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
        found += [*_addresses(text), *_signs(head, text)]
    return tuple(found)


def _words(text: str) -> Iterator[Finding]:
    spaced = _CAMEL.sub(" ", text)
    bait = _BAIT.search(spaced) or _COMMAND.match(text)
    if bait:
        yield Finding("claim", (bait.group().strip(),))
    if not text.isalpha() and (prize := _PRIZE.search(spaced)):
        yield Finding("prize", (prize.group().strip(),))
    if len(text.split()) > 1:
        is_phrase = bool(_WORD.search(text))
    else:  # capitals set words apart, too
        is_phrase = len(_WORD.findall(spaced)) > _MOST_WORDS
    if is_phrase or (bait and _letters(bait.group()) < _letters(text)):
        yield Finding("phrase")


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _addresses(text: str) -> Iterator[Finding]:
    """Find the first link, domain, and name that is styled with a top-level domain, as written."""
    matches = _DOMAIN.finditer(text) if "." in text else ()
    dotted = [match for match in matches if _is_top_level(match[2].lower())]
    link = _LINK.search(text) or next((match for match in dotted if match[3]), None)
    if link:
        rest = _WHITE.split(text[link.end() :], maxsplit=1)[0]
        yield Finding("link", (link.group() + rest,))
    domains: list[str] = []
    names: list[str] = []
    for match in dotted:
        whole = match[1] + match[2]
        labels = [label for label in _LABELS.split(whole) if len(label) > 1]
        is_stylish = match[2].lower() in _STYLISH and len(labels) <= _MOST_LABELS
        if "." not in whole[:2]:
            (names if is_stylish else domains).append(whole)
    cut = _CUT.search(text) if text.endswith("...") else None
    spaced = _SPACED.search(text) if " " in text else None
    domains += [match.group() for match in (cut, spaced) if match]
    yield from (Finding("domain", (found,)) for found in domains[:1])
    yield from (Finding("dotted_name", (found,)) for found in names[:1])


@lru_cache(maxsize=4096)  # strangers choose the names
def _is_top_level(name: str) -> bool:
    return _suffixes().publicsuffix(name, accept_unknown=False) == name


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - reads the list when made

    return PublicSuffixList(only_icann=True)


def _signs(head: str, text: str) -> Iterator[Finding]:
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
