"""Whose symbol is whose: the known tokens, and those that the caller allows and denies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from walletframe.analysis.spam.lookalikes import hidden_characters, skeletons
from walletframe.analysis.spam.reasons import Finding
from walletframe.analysis.spam.symbols import HEAD
from walletframe.analysis.token_lists import listed_tokens
from walletframe.errors import TokenListError
from walletframe.frames import known_token, token_key
from walletframe.tokens import PRIME, covered_blockchains, known_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames import TokenKey
    from walletframe.tokens import KnownToken

Bearers: TypeAlias = dict[tuple[str, str], tuple[str, str | None]]

# Contracts that stand for a blockchain's own coin, so that they rightly bear its symbol.
_COIN_CONTRACTS = frozenset(
    {
        "0x0000000000000000000000000000000000000000",
        "0x0000000000000000000000000000000000001010",
        "0x000000000000000000000000000000000000800a",
        "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000",
        "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
        "11111111111111111111111111111111",
    }
)


@dataclass(frozen=True, slots=True)
class Directory:
    """What is known of tokens by their contracts.

    Attributes
    ----------
    allowed, denied : frozenset of (str, str or None)
        The tokens of the caller's lists, canonical.
    bearers : dict
        (blockchain, a skeleton of a symbol) to that symbol and the contract it belongs to.
    names : dict of str to str
        The skeletons of all known symbols, and a symbol of each.
    contracts : dict of str to frozenset of str
        The contracts of known tokens on any blockchain, and the skeletons of their symbols.
    """

    allowed: frozenset[TokenKey]
    denied: frozenset[TokenKey]
    bearers: Bearers
    names: dict[str, str]
    contracts: dict[str, frozenset[str]]

    def standing(self, token: TokenKey) -> Finding | None:
        """Tell what settles the matter before any symbol is read.

        Parameters
        ----------
        token : (str, str or None)
            Canonical.

        Returns
        -------
        Finding or None
            That the token is denied, allowed, known or a coin; None for all others.
        """
        if token in self.denied:
            return Finding("deny_list")
        if token in self.allowed:
            return Finding("allow_list")
        if token[1] is None or token[1] in _COIN_CONTRACTS:
            return Finding("native_coin")
        if known_token(token):
            return Finding("known_token")
        return None

    def imitations(self, token: TokenKey, symbol: str) -> list[Finding]:
        """Find out whose symbol a token bears that is not known itself.

        Parameters
        ----------
        token : (str, str or None)
            Canonical.
        symbol : str
            As sent, of any length.

        Returns
        -------
        list of Finding
            None; ``impersonation`` of a token on the same blockchain or of BTC, ``coin`` for the
            symbol of another blockchain's coin, or ``borrowed`` where the symbol is known on other
            blockchains only, and then ``recased`` where an EVM token writes it as a word, which
            bridges hardly do; ``lookalike`` where it is only made to look like a known one. The
            contract of a known token is its own on every blockchain: nobody else can deploy there.
        """
        head = symbol[:HEAD]
        alike = [name for name in skeletons(head) if name in self.names]
        if not self.contracts.get(token[1] or "", frozenset()).isdisjoint(alike):
            return [Finding("same_contract")]
        bearer = next(filter(None, (self.bearers.get((token[0], name)) for name in alike)), None)
        found = []
        if bearer:
            found.append(Finding("impersonation", (bearer[0], _owner(token[0], bearer[1]))))
        elif alike:
            known = self.names[alike[0]]
            found.append(_borrowed(alike, known, token[0]))
            if head.istitle() and known.isupper() and (token[1] or "").startswith("0x"):
                found.append(Finding("recased", (head, known)))
        misspelled = bearer is not None and bearer[0].lower() not in head.lower()
        if misspelled or (alike and _is_disguised(head)):
            found.append(Finding("lookalike", (self.names[alike[0]],)))
        return found

    def is_borrowed(self, symbol: str) -> bool:
        """Tell whether a symbol is, or looks like, that of any known token.

        Parameters
        ----------
        symbol : str
            As sent, of any length.

        Returns
        -------
        bool
            False where `imitations` finds nothing, whatever the token.
        """
        return any(name in self.names for name in skeletons(symbol[:HEAD]))


def make_directory(allow: TokensLike | None, deny: TokensLike | None) -> Directory:
    """Bring together the bundled tokens and the caller's lists.

    Parameters
    ----------
    allow, deny : str, Path, mapping, DataFrame, iterable of (str, str or None), or None
        As in `listed_tokens`.

    Returns
    -------
    Directory
        In which the symbols of allowed tokens are protected as those of the bundled ones are.

    Raises
    ------
    TokenListError
        Where a list can't be read, or a token is on both.
    ColumnsError
        Where a frame lacks a column.

    Examples
    --------
    >>> make_directory(allow=[("ETH", "0xab")], deny=None).standing(("ETH", "0xab")).reason
    'allow_list'
    """
    allowed = [(token_key(token), symbol) for token, symbol in listed_tokens(allow)]
    denied = [token_key(token) for token, _ in listed_tokens(deny)]
    both = {token for token, _ in allowed}.intersection(denied)
    problems = [
        (place, f"{token}", "it is on the lists given as allow and as deny")
        for place, token in enumerate(denied)
        if token in both
    ]
    if problems:
        raise TokenListError(problems)
    protected = ((token, symbol) for token, symbol in allowed if symbol)
    bearers = _bearers(protected) | _bundled()
    return Directory(
        frozenset(token for token, _ in allowed),
        frozenset(denied),
        bearers,
        {name: symbol for (_, name), (symbol, _) in reversed(bearers.items())},
        _contracts(),
    )


def _borrowed(alike: list[str], symbol: str, blockchain: str) -> Finding:
    """Tell what a known symbol is where no list has it: BTC is no token's, a coin's seldom."""
    coin = next((_coins()[name] for name in alike if name in _coins()), None)
    if not coin or blockchain not in covered_blockchains():
        return Finding("borrowed", (symbol, blockchain))
    reason = "impersonation" if coin.asset in PRIME else "coin"
    return Finding(reason, (symbol, _owner(coin.blockchain, None)))


def _owner(blockchain: str, contract: str | None) -> str:
    return f"{contract} on {blockchain}" if contract else f"the coin of {blockchain} itself"


def _is_disguised(head: str) -> bool:
    """Tell whether letters, and not only what stands around them, are other than they look."""
    foreign = not head.isascii() and any(char.isalpha() and not char.isascii() for char in head)
    return foreign or bool(hidden_characters(head))


def _bearers(tokens: Iterable[tuple[TokenKey, str]]) -> Bearers:
    """Give the token that a symbol belongs to: of several, the first."""
    found: Bearers = {}
    for token, symbol in tokens:
        for name in filter(None, skeletons(symbol[:HEAD])):
            found.setdefault((token[0], name), (symbol, token[1]))
    return found


@cache
def _bundled() -> Bearers:
    return _bearers(
        (token_key((token.blockchain, token.contract)), token.symbol)
        for token in known_tokens()
        if token.is_imitated
    )


@cache
def _coins() -> dict[str, KnownToken]:
    natives = [token for token in known_tokens() if token.kind == "native"]
    return {name: token for token in natives for name in skeletons(token.symbol)}


@cache
def _contracts() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for token in known_tokens():
        contract = token_key((token.blockchain, token.contract))[1]
        if contract and contract.startswith("0x"):
            found[contract] = found.get(contract, frozenset()).union(skeletons(token.symbol))
    return found
