"""Which of several tokens of one symbol is meant most likely, by the packaged list of tokens."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import canonical_key
from walletframe.errors import AmbiguousTokenError
from walletframe.tokens import known_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.tokens import KnownToken

TokenKey: TypeAlias = tuple[str, str | None]

_NO_KNOWN = "not on the packaged list: may be a twin that anybody made"


def known_token(key: TokenKey) -> KnownToken | None:
    """Return what the packaged list says of a token.

    Parameters
    ----------
    key : (str, str or None)
        Canonical.

    Returns
    -------
    KnownToken or None
        None where it is not on the list.

    Examples
    --------
    >>> known_token(("BASE", None)).symbol
    'ETH'
    """
    found = _listed().get(key)
    return found[1] if found else None


def ambiguous(
    shared: Mapping[str, Sequence[TokenKey]], hint: str = "name the one token, such as token={}"
) -> AmbiguousTokenError:
    """Make the error for symbols that several tokens share: what is known first, twins marked.

    Parameters
    ----------
    shared : mapping of str to sequence of (str, str or None)
        For each symbol the tokens that bear it, canonical.
    hint : str, optional
        What to do; ``{}`` is where the first token goes, as it is to be pasted.

    Returns
    -------
    AmbiguousTokenError
        To be raised.

    Examples
    --------
    >>> print(ambiguous({"ETH": [("BASE", "0xbad"), ("BASE", None)]}))
    a symbol is no token where several contracts share it:
      'ETH':
        ('BASE', None): the coin itself
        ('BASE', '0xbad'): not on the packaged list: may be a twin that anybody made
    <BLANKLINE>
    Hint: name the one token, such as token=('BASE', None)
    """
    last = len(known_tokens())
    ordered = {
        symbol: sorted(tokens, key=lambda key: _listed().get(key, (last, None))[0])
        for symbol, tokens in shared.items()
    }
    notes = {key: _note(known_token(key)) for tokens in ordered.values() for key in tokens}
    if not any(key in _listed() for key in notes):
        notes = {}  # then there is no twin to tell of
    first = next(iter(ordered.values()))[0]
    return AmbiguousTokenError(ordered, hint.format(f"{first!a}"), notes=notes)


def _note(known: KnownToken | None) -> str:
    if known is None:
        return _NO_KNOWN
    if known.is_namesake:
        return f"known: {known.asset}, another project"
    said = {"native": "the coin itself", "canonical": f"known: the {known.symbol} of its issuer"}
    return said.get(known.kind, f"known: {known.kind} {known.asset}")


@cache
def _listed() -> dict[TokenKey, tuple[int, KnownToken]]:
    found: dict[TokenKey, tuple[int, KnownToken]] = {}
    for place, token in enumerate(known_tokens()):
        chain, contract = canonical_key(token.blockchain, token.contract or "")
        found.setdefault((chain, contract or None), (place, token))
    return found
