"""Characters that look like others, or like nothing: what a symbol reads as.

Which characters look alike is Unicode's own list (UTS #39, from confusable_homoglyphs). All text is
cut to a bounded length before.
"""

from __future__ import annotations

from functools import cache
from unicodedata import category, combining, name, normalize

from walletframe.text import is_unseen

_LIKE_A_DOT = frozenset("\u02f3\u0325\u3002\uff61\u00b7\u2022\u2219\u22c5\u2027")
# Greek small letters, too: honest tokens begin with them.
_HONEST = ("LATIN", "GREEK SMALL", "CJK", "HANGUL", "HIRAGANA", "KATAKANA")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_UNKNOWN = ("Cn", "Co", "Cs")
_SIGNS = str.maketrans("$\u20ae\u20b3\u20ac\u20bf\u20b5\u00a2", "staebcc")
_TWINS = str.maketrans("Il|Oo", "11100")


def readable(text: str) -> str:
    """Return text as a person reads it: look-alikes of ASCII letters, digits and dots as these."""
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(char for char in text if char.isspace() or not is_unseen(char))
    return "".join(map(_plain, normalize("NFKC", shown)))


def skeletons(text: str) -> tuple[str, ...]:
    """Return bare forms of a symbol: two symbols look alike where any of their forms is equal."""
    if text.isalnum() and text.isascii():
        return text.lower(), text.translate(_TWINS).lower()
    plain = readable(text)
    if not plain.isascii():
        plain = "".join(char for char in normalize("NFKD", plain) if not combining(char))
    plain = plain.strip("".join(char for char in set(plain) if not _belongs(char)))
    plain = "".join(plain.split())
    found = plain.lower(), plain.translate(_TWINS).lower()
    spelled = found[0].translate(_SIGNS)
    return found if spelled == found[0] else (*found, spelled)


def _belongs(char: str) -> bool:
    return char.isalnum() or char in "+/" or (not char.isascii() and category(char) == "Sc")


def hidden_characters(text: str) -> list[str]:
    """Find characters that show nothing, but for padding and what joins emoji: ``"U+200B"``."""
    if text.isascii() and text.isprintable():
        return []
    inside = text.strip("\0 \t\r\n")
    found = [
        f"U+{ord(char):04X}"
        for before, char in zip(" " + inside, inside, strict=False)
        if is_unseen(char) and not char.isspace() and category(char) not in _UNKNOWN
        if not (char in _JOINERS and not before.isalpha())
    ]
    return list(dict.fromkeys(found))


def mixes_scripts(text: str) -> bool:
    """Tell whether a word has ASCII letters, and all its others only look like such."""
    for word in () if text.isascii() else text.split():
        latin = any(char.isascii() and char.isalpha() for char in word)
        foreign = [char for char in word if char.isalpha() and not char.isascii()]
        honest = any(
            name(char, "").startswith(_HONEST) or not _plain(char).isascii() for char in foreign
        )
        if latin and foreign and not honest:
            return True
    return False


@cache
def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char in _LIKE_A_DOT:
        return "."
    from confusable_homoglyphs import confusables  # noqa: PLC0415 - reads half a megabyte of JSON

    found = confusables.is_confusable(char)
    likes = [like["c"] for like in found[0]["homoglyphs"]] if found else []
    plain = (like for like in likes if like.isascii() and len(like) == 1)
    return next((like for like in plain if like == "." or like.isalnum()), char)
