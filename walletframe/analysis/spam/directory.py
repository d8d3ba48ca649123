"""Which tokens own a symbol: the known ones, and those that the caller allows and denies."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from walletframe.analysis.spam.reasons import Finding
from walletframe.analysis.spam.symbols import HEAD, hidden_characters, skeletons
from walletframe.analysis.token_lists import listed_tokens
from walletframe.errors import TokenListError
from walletframe.frames.identity import token_key
from walletframe.frames.names import known_by_key
from walletframe.tokens import PRIME, covered_blockchains, known_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames.identity import TokenKey
    from walletframe.tokens import KnownToken

Owners: TypeAlias = dict[tuple[str, str], tuple[str, str | None]]

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
    """What is known of tokens, all of them canonical."""

    allowed: frozenset[TokenKey]
    denied: frozenset[TokenKey]
    owners: Owners  # by blockchain and skeleton: the symbol, and the contract it belongs to
    names: dict[str, str]  # a symbol for each skeleton of a known one

    def standing(self, token: TokenKey) -> Finding | None:
        """Return what settles the matter before any symbol is read, if anything does."""
        if token in self.denied:
            return Finding("deny_list")
        if token in self.allowed:
            return Finding("allow_list")
        if token[1] is None or token[1] in _COIN_CONTRACTS:
            return Finding("native_coin")
        return Finding("known_token") if token in known_by_key() else None

    def imitations(self, token: TokenKey, symbol: str) -> list[Finding]:
        """Find out whose symbol, of at most `HEAD` characters, an unknown token bears."""
        # A known token's contract is its own on every EVM blockchain: nobody else can deploy there.
        alike = [name for name in skeletons(symbol) if name in self.names]
        if not _contracts().get(token[1] or "", set()).isdisjoint(alike):
            return [Finding("same_contract")]
        owner = next(filter(None, (self.owners.get((token[0], name)) for name in alike)), None)
        found = []
        if owner:
            found.append(Finding("impersonation", (owner[0], _described(token[0], owner[1]))))
        elif alike:
            known = self.names[alike[0]]
            # BTC is no token's symbol, a coin's seldom.
            coin = next((_coins()[name] for name in alike if name in _coins()), None)
            if not coin or token[0] not in covered_blockchains():
                found.append(Finding("borrowed", (known, token[0])))
            else:
                reason = "impersonation" if coin.asset in PRIME else "coin"
                found.append(Finding(reason, (known, _described(coin.blockchain, None))))
            if symbol.istitle() and known.isupper() and (token[1] or "").startswith("0x"):
                found.append(Finding("recased", (symbol, known)))
        misspelled = owner is not None and owner[0].lower() not in symbol.lower()
        # Letters, and not only what stands around them, may be other than they look.
        foreign = any(char.isalpha() and not char.isascii() for char in symbol)
        if misspelled or (alike and (foreign or hidden_characters(symbol))):
            found.append(Finding("lookalike", (self.names[alike[0]],)))
        return found


def make_directory(allow: TokensLike | None, deny: TokensLike | None) -> Directory:
    """Merge the packaged tokens and the caller's; allowed ones own their symbols."""
    allowed = [(token_key(token), symbol) for token, symbol in listed_tokens(allow)]
    denied = [token_key(token) for token, _ in listed_tokens(deny)]
    clean, said = frozenset(dict(allowed)), "it is on the lists given as allow and as deny"
    if both := [(place, f"{token}", said) for place, token in enumerate(denied) if token in clean]:
        raise TokenListError(both)
    owners = _owners((token, symbol) for token, symbol in allowed if symbol) | _bundled()
    names = {name: symbol for (_, name), (symbol, _) in reversed(owners.items())}
    return Directory(clean, frozenset(denied), owners, names)


def _described(blockchain: str, contract: str | None) -> str:
    return f"{contract} on {blockchain}" if contract else f"the coin of {blockchain} itself"


def _owners(tokens: Iterable[tuple[TokenKey, str]]) -> Owners:
    """Return the token that a symbol belongs to: of several, the first."""
    found: Owners = {}
    for token, symbol in tokens:
        for name in filter(None, skeletons(symbol[:HEAD])):
            found.setdefault((token[0], name), (symbol, token[1]))
    return found


@cache
def _bundled() -> Owners:
    listed = (each for each in known_tokens() if each.is_imitated)
    return _owners((token_key((each.blockchain, each.contract)), each.symbol) for each in listed)


@cache
def _coins() -> dict[str, KnownToken]:
    natives = [token for token in known_tokens() if token.kind == "native"]
    return {name: token for token in natives for name in skeletons(token.symbol)}


@cache
def _contracts() -> dict[str, set[str]]:
    """Return the EVM contracts of known tokens, and the skeletons of their symbols."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for token in known_tokens():
        contract = token_key((token.blockchain, token.contract))[1]
        if contract and contract.startswith("0x"):
            found[contract].update(skeletons(token.symbol))
    return dict(found)
