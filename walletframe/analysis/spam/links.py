"""Website addresses in a symbol: links, domains, and names that only look like a domain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

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


def find_addresses(text: str) -> list[tuple[str, str]]:
    """Find the first ``link``, ``domain`` and ``dotted_name`` of a readable symbol, as written.

    A link has a scheme, www, a path, or is a name in a messenger. Where projects style their names
    with a top-level domain, a domain is a dotted name only.
    """
    scheme = _LINK.search(text)
    dotted = _dotted(text) if "." in text else []
    spans = [scheme.span()] if scheme else [each.span for each in dotted if each.has_path]
    links = [text[start:end] + _WHITE.split(text[end:], maxsplit=1)[0] for start, end in spans[:1]]
    names = [each for each in dotted if each.is_long]
    found = {
        "link": links,
        "domain": [each.whole for each in names if not each.is_stylish] + _broken(text),
        "dotted_name": [each.whole for each in names if each.is_stylish],
    }
    return [(kind, texts[0]) for kind, texts in found.items() if texts]


def _broken(text: str) -> list[str]:
    cut = _CUT.search(text) if text.endswith("...") else None
    spaced = _SPACED.search(text) if " " in text else None
    return [match.group() for match in (cut, spaced) if match]


@dataclass(frozen=True, slots=True)
class _Dotted:
    """Labels, dots and a public top-level domain, where they stand, and whether a path follows."""

    span: tuple[int, int]
    whole: str
    top: str
    has_path: bool

    @property
    def is_long(self) -> bool:
        return "." not in self.whole[:2]

    @property
    def is_stylish(self) -> bool:
        labels = [label for label in _LABELS.split(self.whole) if len(label) > 1]
        return self.top in _STYLISH and len(labels) <= 2  # noqa: PLR2004 - no name has two dots


def _dotted(text: str) -> list[_Dotted]:
    found = [
        _Dotted(match.span(), match[1] + match[2], match[2].lower(), bool(match[3]))
        for match in _DOMAIN.finditer(text)
    ]
    return [each for each in found if _is_top_level(each.top)]


@lru_cache(maxsize=4096)  # strangers choose the names
def _is_top_level(name: str) -> bool:
    return _suffixes().publicsuffix(name, accept_unknown=False) == name


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - reads the list when made

    return PublicSuffixList(only_icann=True)
