"""Characters that look like others, or like nothing: what a symbol reads as.

Which characters look alike is Unicode's own list (UTS #39, from confusable_homoglyphs); forms of
one letter (wide, mathematical, circled) are folded by Unicode's compatibility normalization.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from walletframe.text import is_unseen

_LIKE_A_DOT = frozenset("\u02f3\u0325\u3002\uff61\u00b7\u2022\u2219\u22c5\u2027")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SIGNS = str.maketrans(
    {
        "$": "s",
        "\u20ae": "t",
        "\u20b3": "a",
        "\u20ac": "e",
        "\u20bf": "b",
        "\u20b5": "c",
        "\u00a2": "c",
    }
)
_TWINS = str.maketrans({"I": "1", "l": "1", "|": "1", "O": "0", "o": "0"})


def readable(text: str) -> str:
    r"""Return text as a person reads it, in ASCII as far as it looks like that.

    Parameters
    ----------
    text : str
        Anything, cut to a bounded length before.

    Returns
    -------
    str
        Without characters that show nothing; each character that looks like an ASCII letter, a
        digit or a dot is that one; all others as they are.

    Examples
    --------
    >>> readable("\u0421laim \u200bUSD\u0421\u2024com")
    'Claim USDC.com'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(char for char in text if char.isspace() or not is_unseen(char))
    return "".join(map(_plain, unicodedata.normalize("NFKC", shown)))


def skeletons(text: str) -> tuple[str, ...]:
    r"""Return what is equal for two symbols that a person may take for each other.

    Parameters
    ----------
    text : str
        A symbol, cut to a bounded length before.

    Returns
    -------
    tuple of str
        Its readable form without case, accents, white space and decoration around it; the same
        with I, l, 1 and | as one, and O and 0; and, where it has signs of currencies, with these
        as the letters they are made from. Two symbols look alike where any of these is equal.

    Examples
    --------
    >>> skeletons("$ USD\u0421 ")
    ('usdc', 'usdc')
    >>> skeletons("U$DT")[-1], skeletons("USD\u20ae")[-1]
    ('usdt', 'usdt')
    >>> skeletons("(L1NK)")[1] == skeletons("lINK")[1]
    False
    >>> skeletons("LlNK")[1] == skeletons("LINK")[1]
    True
    """
    if text.isalnum() and text.isascii():
        return text.lower(), text.translate(_TWINS).lower()
    plain = "".join(_undecorated(_without_accents(readable(text))).split())
    found = plain.lower(), plain.translate(_TWINS).lower()
    spelled = found[0].translate(_SIGNS)
    return found if spelled == found[0] else (*found, spelled)


def hidden_characters(text: str) -> list[str]:
    r"""Find the characters that show nothing, where no honest symbol has them.

    Parameters
    ----------
    text : str
        A symbol, cut to a bounded length before.

    Returns
    -------
    list of str
        Such as ``"U+200B"``, each once, in order. Padding at either end, and what joins emoji,
        does not count.

    Examples
    --------
    >>> hidden_characters("US\u200bDC"), hidden_characters("MKR\x00\x00")
    (['U+200B'], [])
    """
    if text.isascii() and text.isprintable():
        return []
    inside = text.strip("\0 \t\r\n")
    found = [
        f"U+{ord(char):04X}"
        for before, char in zip(" " + inside, inside, strict=False)
        if _shows_nothing(char) and not (char in _JOINERS and not before.isalpha())
    ]
    return list(dict.fromkeys(found))


def mixes_scripts(text: str) -> bool:
    r"""Tell whether a word is written with letters of another script that look like ASCII.

    Parameters
    ----------
    text : str
        A symbol, cut to a bounded length before.

    Returns
    -------
    bool
        True where a word has ASCII letters, and all its others are such look-alikes. Greek small
        letters are left out: honest tokens begin with them.

    Examples
    --------
    >>> mixes_scripts("\u0421LAIM"), mixes_scripts("\u03b1USD"), mixes_scripts("\u20bfTC")
    (True, False, False)
    """
    return not text.isascii() and any(_mixed(word) for word in text.split())


def _mixed(word: str) -> bool:
    foreign = [char for char in word if char.isalpha() and not char.isascii()]
    latin = any(char.isascii() and char.isalpha() for char in word)
    return latin and bool(foreign) and all(map(_is_impostor, foreign))


def _is_impostor(char: str) -> bool:
    name = unicodedata.name(char, "")
    honest = name.startswith(("LATIN", "GREEK SMALL", "CJK", "HANGUL", "HIRAGANA", "KATAKANA"))
    return not honest and _plain(char).isascii()


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", text)
    return "".join(char for char in split if not unicodedata.combining(char))


def _undecorated(text: str) -> str:
    start, end = 0, len(text)
    while start < end and not _belongs(text[start]):
        start += 1
    while end > start and not _belongs(text[end - 1]):
        end -= 1
    return text[start:end]


def _belongs(char: str) -> bool:
    return char.isalnum() or char in "+/" or (not char.isascii() and _is_currency(char))


def _is_currency(char: str) -> bool:
    return unicodedata.category(char) == "Sc"


def _shows_nothing(char: str) -> bool:
    unknown = unicodedata.category(char) in ("Cn", "Co", "Cs")
    return is_unseen(char) and not char.isspace() and not unknown


@cache
def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char in _LIKE_A_DOT:
        return "."
    from confusable_homoglyphs import confusables  # noqa: PLC0415 - reads half a megabyte of JSON

    found = confusables.is_confusable(char)
    likes = [like["c"] for like in found[0]["homoglyphs"]] if found else []
    return next((like for like in likes if like.isascii() and _is_plain(like)), char)


def _is_plain(like: str) -> bool:
    return like == "." or (len(like) == 1 and like.isalnum())
