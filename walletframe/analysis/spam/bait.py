"""Words that promise or demand something, and text that is more than a symbol."""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_BAIT = re.compile(
    # Parts of words, too: of 29,000 symbols of public lists five have one, and none has more.
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
_MARKUP = re.compile(
    rf"<\s*/?\s*(?:{_TAGS}|script|span|style|svg|table|u|video)\b[^<]{{0,200}}>"
    r"|javascript\s*:|^\s*[=@+-]\s*[a-z.]{2,20}\s*\(",
    re.IGNORECASE,
)


def apart(text: str) -> str:
    """Return text with a space wherever a capital letter follows a small one.

    Parameters
    ----------
    text : str
        Any, of a bounded length.

    Returns
    -------
    str
        With the words that are run together apart.

    Examples
    --------
    >>> apart("BlurAirdropBox")
    'Blur Airdrop Box'
    """
    return _CAMEL.sub(" ", text)


def find_bait(text: str) -> str | None:
    """Find a word or phrase that promises or demands something.

    Parameters
    ----------
    text : str
        A symbol in its readable form.

    Returns
    -------
    str or None
        As written; None where there is none.

    Examples
    --------
    >>> find_bait("Huobi Airdrop"), find_bait("Randomly You Won"), find_bait("DISCLAIMER")
    ('Airdrop', 'You Won', None)
    """
    found = _BAIT.search(apart(text)) or _COMMAND.match(text)
    return found.group().strip() if found else None


def find_prize(text: str) -> str | None:
    """Find a sum of money.

    Parameters
    ----------
    text : str
        A symbol in its readable form.

    Returns
    -------
    str or None
        As written; None where there is none.

    Examples
    --------
    >>> find_prize("$ 5000 USDC"), find_prize("You Won $53,250"), find_prize("USD1")
    ('$ 5000', '$53,250', None)
    """
    if text.isalpha():
        return None
    found = _PRIZE.search(text)
    return found.group().strip() if found else None


def find_foremost(text: str) -> str | None:
    """Find signs, apart from the rest, that put a symbol first in a list.

    Parameters
    ----------
    text : str
        A symbol in its readable form.

    Returns
    -------
    str or None
        As written; None where it does not begin with any.

    Examples
    --------
    >>> find_foremost("! ACX"), find_foremost("$WIF")
    ('!', None)
    """
    found = _FOREMOST.match(text)
    return found.group() if found else None


def is_address(text: str) -> bool:
    """Tell whether a symbol is an address of a contract or wallet.

    Parameters
    ----------
    text : str
        A symbol in its readable form.

    Returns
    -------
    bool
        True for one of an EVM blockchain.
    """
    return text.startswith("0x") and bool(_ADDRESS.fullmatch(text))


def is_cut_off(text: str) -> bool:
    """Tell whether a symbol ends in the middle of something, with dots.

    Parameters
    ----------
    text : str
        A symbol in its readable form, which has three dots for an ellipsis.

    Returns
    -------
    bool
        True for what is longer than it shows.

    Examples
    --------
    >>> is_cut_off("Visit usdc-rew..."), is_cut_off("D.O.G.E")
    (True, False)
    """
    return text.endswith("...") and bool(_CUT_OFF.search(text))


def is_phrase(text: str, spaced: str) -> bool:
    """Tell whether a symbol says something: two words, or three run together.

    Parameters
    ----------
    text, spaced : str
        A symbol in its readable form, as written and with its words `apart`.

    Returns
    -------
    bool
        True for a phrase.

    Examples
    --------
    >>> [is_phrase(text, apart(text)) for text in ("Rewards Pass", "BlurAirdropBox", "weETH")]
    [True, True, False]
    """
    if len(text.split()) > 1:
        return bool(_WORD.search(text))
    return len(_WORD.findall(spaced)) > 2  # noqa: PLR2004 - said above


def find_markup(text: str) -> str | None:
    """Find what a page or a spreadsheet would run or render.

    Parameters
    ----------
    text : str
        A symbol in its readable form, of a bounded length.

    Returns
    -------
    str or None
        A tag, a script's address or the beginning of a formula; None where there is none.

    Examples
    --------
    >>> find_markup("<b>GIFT</b>"), find_markup("=HYPERLINK('a')"), find_markup("a<b")
    ('<b>', '=HYPERLINK(', None)
    """
    found = _MARKUP.search(text)
    return found.group() if found else None
