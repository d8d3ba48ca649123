"""Signs of spam in a symbol, and the ASCII text that a symbol looks like.

Look-alike characters are the confusables of Unicode (UTS #39, from confusable_homoglyphs).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from unicodedata import category, combining, name, normalize

from walletframe.analysis.spam.reasons import RULES, Finding
from walletframe.text import is_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from publicsuffixlist import PublicSuffixList

MAX_SYMBOL_LENGTH = 512  # further characters are ignored, since symbols are untrusted
_LONG_TEXT = 100
_MAX_WORDS, _MAX_LABELS = 2, 2  # of a project's name, such as "yearn.finance"
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_BAIT = re.compile(
    # The lookahead of each group rejects most symbols fast. The first group also matches parts of
    # words, which affects only four of 29,500 symbols in public lists.
    r"(?=[acegrv])(?:air[- ]?drop(?:s|ped)?"
    r"|(?<!ac)(?<!dis)(?<!ex)(?<!pro)(?<!re)claim(?:s|ed|able|ing)?"
    r"|eligible|give[- ]?away|redeem|rewards?|visit|vouchers?)"
    r"|(?=[bcgijprsvw])(?<![a-z])(?:bonus(?:es)?|congratulations|gift(?:s|ed)?|invitation|jackpot"
    r"|prizes?|promo|raffle|spam|verify|website|winners?)(?![a-z])"
    r"|\b(?=[acfopsuy])(?:free (?:airdrop|claim|exchange|gift|mint|nft|play|spins?|tokens?)\b"
    r"|you(?:'ve| have)? won\b|access token|click here|official (?:link|site|website)|powered by "
    r"|secure your |swap (?:at|for|on) |unwrap\b.{0,80}\b(?:at|on)\b)"
    r"|\u7a7a\u6295|[\u9886\u9818]\u53d6|\u514d[\u8d39\u8cbb]|\u5956\u52b1|\u7ea2\u5305",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\W*(?:buy|collect|earn|get|join|register|sell|try|use)\s+\w+", re.IGNORECASE
)
# Text patterns without `re.compile` are compiled at first use, since few symbols need these.
_PRIZE = (
    r"(?i)(?=[$\d])(?:\$ \d[\d,.]+|(?<!\w)\$\d[\d,.]{2,}|(?<![\w.-])\d"
    r"(?:[\d,.]*k? ?(?:\$|usd[tc]?\b)|(?:[\d,.]*k? |[\d,.]{2,}k?)(?:eth|bnb|btc|sol|matic)\b))"
)
_FOREMOST = re.compile(r"(?:[!#$*>~]|[^\w\s\x00-\x7f])+(?=\s+\w)")
_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_TRUNCATED = re.compile(r"[^\W_]\s?\.{3}$")
_TAGS = "a|b|br|body|button|div|embed|font|form|h[1-6]|html|i|iframe|img|input|link|meta|object|p"
# Text that a web page or a spreadsheet would run or render: tags, script URLs, formulas.
_MARKUP = (
    rf"(?i)<\s*/?\s*(?:{_TAGS}|script|span|style|svg|table|u|video)\b[^<]{{0,200}}>"
    r"|javascript\s*:|^\s*[=@+-]\s*[a-z.]{2,20}\s*\("
)
_LINK = (
    r"(?i)(?:h\s?t\s?t\s?p\s?s?|hxxps?|ftp|ipfs)\s?:|://|(?<![a-z0-9])www(?:\s?\.\s?|\s)[a-z0-9]"
    r"|(?:telegram|twitter|discord|\btg|\u7535\u62a5\S?)\s?:?\s?@\w{3}"
)
# A space may precede a dot. Before a common top-level domain, a space may also follow the dot. A
# hyphen after an uncommon top-level domain continues the name, as in E.WEBER-ST-TOLEDO.
_DOMAIN = (
    r"(?i)(?<![a-z0-9_.@-])((?:[^\W_](?:[\w-]{0,62}[^\W_])?"
    r"(?:\s?\.(?:\s(?=(?:com|net|org|io|xyz)\b))?|\s?[\[(]\.[\])]\s?))+)"
    r"((?:com|net|org|io|xyz)(?=-)|[a-z]{2,24}(?!-\w))(?![a-z0-9_])(\s?/\s?[a-z0-9])?"
)
# A domain with a cut-off end, and a domain with a space instead of the dot.
_TRUNCATED_DOMAIN = re.compile(r"[^\W_][\w-]{2,62}\.[a-z]{0,12}\.{3}$", re.IGNORECASE)
_SPACED_DOMAIN = re.compile(r"\b[a-z0-9-]{4,63}\s(?:com|net|org|io|xyz)\b", re.IGNORECASE)
_WHITE_SPACE = re.compile(r"\s")
_LABEL_SEPARATOR = re.compile(r"[^\w-]+")
# Top-level domains that projects use in their names. Most others occur only in web addresses.
_PROJECT_DOMAINS = frozenset(RULES["project_domains"])
_DOT_LOOK_ALIKES = frozenset("\u02f3\u0325\u3002\uff61\u00b7\u2022\u2219\u22c5\u2027")
# Scripts of honest symbols, some of which begin with lower-case Greek letters.
_HONEST_SCRIPTS = ("LATIN", "GREEK SMALL", "CJK", "HANGUL", "HIRAGANA", "KATAKANA")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_UNASSIGNED = ("Cn", "Co", "Cs")
_CURRENCY_LETTERS = str.maketrans("$\u20ae\u20b3\u20ac\u20bf\u20b5\u00a2", "staebcc")
# All ASCII characters, since `str.translate` is slow for characters that its table lacks.
_LOOK_ALIKE_DIGITS = bytes(range(128)).decode().translate(str.maketrans("Il|Oo", "11100"))


def symbol_findings(symbol: str) -> tuple[Finding, ...]:
    """Return signs of spam in the text of a symbol."""
    start = symbol[:MAX_SYMBOL_LENGTH]
    text = readable_text(start)
    findings = _word_findings(text)
    if len(symbol) > _LONG_TEXT:
        findings.append(Finding("long_text", (f"{len(symbol):,}",)))
    if start.startswith("0x") and _ADDRESS.fullmatch(start):
        findings.append(Finding("address"))
    if not (start.isalnum() and start.isascii()):
        findings += [*_domain_findings(text), *_character_findings(start, text)]
    return tuple(findings)


def _word_findings(text: str) -> list[Finding]:
    findings, words = [], text.split()
    spaced = text if text.isupper() else _CAMEL_CASE.sub(" ", text)
    bait = _BAIT.search(spaced) or (len(words) > 1 and _COMMAND.match(text))
    if bait:
        findings.append(Finding("claim", (bait.group().strip(),)))
    can_be_prize = not text.isalnum() or text[0].isdigit()  # a prize begins with $ or a digit
    if can_be_prize and (prize := re.search(_PRIZE, spaced)):
        findings.append(Finding("prize", (prize.group().strip(),)))
    if len(words) > 1:
        is_phrase = bool(_WORD.search(text))
    else:  # upper-case letters also separate words
        is_phrase = len(spaced) > 3 * _MAX_WORDS and len(_WORD.findall(spaced)) > _MAX_WORDS
    if is_phrase or (bait and _count_letters(bait.group()) < _count_letters(text)):
        findings.append(Finding("phrase"))
    return findings


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _domain_findings(text: str) -> Iterator[Finding]:
    matches = re.finditer(_DOMAIN, text) if "." in text else ()
    dotted = [match for match in matches if _is_top_level_domain(match[2].lower())]
    link = re.search(_LINK, text) or next((match for match in dotted if match[3]), None)
    if link:
        rest = _WHITE_SPACE.split(text[link.end() :], maxsplit=1)[0]
        yield Finding("link", (link.group() + rest,))
    domains: list[str] = []
    names: list[str] = []
    for match in dotted:
        domain = match[1] + match[2]
        labels = [label for label in _LABEL_SEPARATOR.split(domain) if len(label) > 1]
        is_project_name = match[2].lower() in _PROJECT_DOMAINS and len(labels) <= _MAX_LABELS
        if "." not in domain[:2]:
            (names if is_project_name else domains).append(domain)
    cut = _TRUNCATED_DOMAIN.search(text) if text.endswith("...") else None
    spaced = _SPACED_DOMAIN.search(text) if " " in text else None
    domains += [match.group() for match in (cut, spaced) if match]
    yield from (Finding("domain", (domain,)) for domain in domains[:1])
    yield from (Finding("dotted_name", (name,)) for name in names[:1])


@lru_cache(maxsize=4096)  # not unlimited, since the names are untrusted
def _is_top_level_domain(name: str) -> bool:
    return _public_suffixes().publicsuffix(name, accept_unknown=False) == name


@cache
def _public_suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - the import reads a file

    return PublicSuffixList(only_icann=True)


def _character_findings(symbol: str, readable: str) -> Iterator[Finding]:
    if markup := re.search(_MARKUP, readable):
        yield Finding("markup", (markup.group(),))
    if hidden := hidden_characters(symbol):
        yield Finding("hidden", (", ".join(hidden[:5]),))
    if foremost := _FOREMOST.match(readable):
        yield Finding("foremost", (foremost.group(),))
    if readable.endswith("...") and _TRUNCATED.search(readable):
        yield Finding("cut_off")
    if mixes_scripts(symbol):
        yield Finding("lookalike", (readable,))


def readable_text(text: str) -> str:
    """Remove invisible characters, and replace look-alikes of ASCII characters by ASCII."""
    if text.isascii() and text.isprintable():
        return text
    visible = "".join(char for char in text if char.isspace() or not is_invisible(char))
    return "".join(map(_to_ascii, normalize("NFKC", visible)))


def skeletons(text: str) -> tuple[str, ...]:
    """Return normalized forms of a symbol. Symbols that look alike share a form."""
    if text.isalnum() and text.isascii():
        return text.lower(), text.translate(_LOOK_ALIKE_DIGITS).lower()
    plain = readable_text(text)
    if not plain.isascii():
        plain = "".join(char for char in normalize("NFKD", plain) if not combining(char))
    plain = plain.strip("".join(char for char in set(plain) if not _is_ticker_character(char)))
    plain = "".join(plain.split())
    forms = plain.lower(), plain.translate(_LOOK_ALIKE_DIGITS).lower()
    with_letters = forms[0].translate(_CURRENCY_LETTERS)
    return forms if with_letters == forms[0] else (*forms, with_letters)


def _is_ticker_character(char: str) -> bool:
    return char.isalnum() or char in "+/" or (not char.isascii() and category(char) == "Sc")


def hidden_characters(text: str) -> list[str]:
    """Return distinct hidden characters, such as ``"U+200B"``, except joiners in emoji."""
    if text.isascii() and text.isprintable():
        return []
    inside = text.strip("\0 \t\r\n")
    codes = [
        f"U+{ord(char):04X}"
        for before, char in zip(" " + inside, inside, strict=False)
        if is_invisible(char) and not char.isspace() and category(char) not in _UNASSIGNED
        if not (char in _JOINERS and not before.isalpha())
    ]
    return list(dict.fromkeys(codes))


def mixes_scripts(text: str) -> bool:
    """Return whether any word has ASCII letters and other letters that look like ASCII."""
    for word in () if text.isascii() else text.split():
        latin = any(char.isascii() and char.isalpha() for char in word)
        foreign = [char for char in word if char.isalpha() and not char.isascii()]
        honest = any(
            name(char, "").startswith(_HONEST_SCRIPTS) or not _to_ascii(char).isascii()
            for char in foreign
        )
        if latin and foreign and not honest:
            return True
    return False


@cache
def _to_ascii(char: str) -> str:
    if char.isascii():
        return char
    if char in _DOT_LOOK_ALIKES:
        return "."
    from confusable_homoglyphs import confusables  # noqa: PLC0415 - the import reads 0.5 MB of JSON

    matches = confusables.is_confusable(char)
    likes = [like["c"] for like in matches[0]["homoglyphs"]] if matches else []
    plain = (like for like in likes if like.isascii() and len(like) == 1)
    return next((like for like in plain if like == "." or like.isalnum()), char)
