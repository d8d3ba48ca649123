"""The genuine token of each symbol: a known token, or a token on the user's allow list."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from walletframe.analysis.spam.reasons import RULES, Finding
from walletframe.analysis.spam.symbols import MAX_SYMBOL_LENGTH, hidden_characters, skeletons
from walletframe.analysis.token_lists import parse_tokens
from walletframe.errors import TokenListError
from walletframe.frames.identity import token_key
from walletframe.frames.names import known_token_by_key
from walletframe.tokens import MOST_IMITATED, hand_listed_blockchains, known_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames.identity import TokenKey
    from walletframe.tokens import KnownToken

SymbolOwners: TypeAlias = dict[tuple[str, str], tuple[str, str | None]]

# Contracts that represent the native coin of a blockchain. They rightly have the coin's symbol.
_COIN_CONTRACTS = frozenset(RULES["coin_contracts"])


class TokenDirectory(NamedTuple):
    """The keys of allowed and denied tokens, and the genuine token of each known symbol."""

    allowed: frozenset[TokenKey]
    denied: frozenset[TokenKey]
    symbol_owners: SymbolOwners  # (blockchain, skeleton) -> (symbol, contract)
    symbols: dict[str, str]  # skeleton -> known symbol

    def conclusive_finding(self, token: TokenKey) -> Finding | None:
        """Return a finding that decides alone, such as "deny_list", or None."""
        if token in self.denied:
            return Finding("deny_list")
        if token in self.allowed:
            return Finding("allow_list")
        if token[1] is None or token[1] in _COIN_CONTRACTS:
            return Finding("native_coin")
        return Finding("known_token") if token in known_token_by_key() else None

    def known_skeletons(self, symbol: str) -> list[str]:
        """Return the skeletons (normalized forms) that a symbol shares with known symbols."""
        return [*filter(self.symbols.__contains__, skeletons(symbol))]

    def imitation_findings(self, token: TokenKey, symbol: str, shared: list[str]) -> list[Finding]:
        """Return signs for or against an imitation. `shared` has the symbol's known skeletons."""
        if not shared:
            return []
        # Only the deployer of a contract can get the same address on another EVM blockchain.
        if not _skeletons_by_contract().get(token[1] or "", set()).isdisjoint(shared):
            return [Finding("same_contract")]
        owners = (self.symbol_owners.get((token[0], name)) for name in shared)
        owner = next(filter(None, owners), None)
        findings = []
        if owner:
            findings.append(Finding("impersonation", (owner[0], _token_text(token[0], owner[1]))))
        else:
            known = self.symbols[shared[0]]
            # No honest token has the symbol BTC, and few have the symbol of another coin.
            coin = next(filter(None, map(_coin_by_skeleton().get, shared)), None)
            if not coin or token[0] not in hand_listed_blockchains():
                findings.append(Finding("borrowed", (known, token[0])))
            else:
                reason = "impersonation" if coin.asset in MOST_IMITATED else "coin"
                findings.append(Finding(reason, (known, _token_text(coin.blockchain, None))))
            if symbol.istitle() and known.isupper() and (token[1] or "").startswith("0x"):
                findings.append(Finding("recased", (symbol, known)))
        misspelled = owner is not None and owner[0].lower() not in symbol.lower()
        # Only letters count as look-alikes, not punctuation around the symbol.
        foreign = any(char.isalpha() and not char.isascii() for char in symbol)
        if misspelled or foreign or hidden_characters(symbol):
            findings.append(Finding("lookalike", (self.symbols[shared[0]],)))
        return findings


def make_token_directory(allow: TokensLike | None, deny: TokensLike | None) -> TokenDirectory:
    """Combine the user's lists with the known tokens."""
    listed = [(token_key(token), symbol) for token, symbol in parse_tokens(allow)]
    denied = [token_key(token) for token, _ in parse_tokens(deny)]
    allowed, fault = frozenset(dict(listed)), "it is on both the allow list and the deny list"
    if both := [(row, f"{token}", fault) for row, token in enumerate(denied) if token in allowed]:
        raise TokenListError(both)
    allowed_owners = _symbol_owners((token, symbol) for token, symbol in listed if symbol)
    owners = allowed_owners | _packaged_symbol_owners()  # known tokens take precedence
    symbols = {name: symbol for (_, name), (symbol, _) in reversed(owners.items())}
    return TokenDirectory(allowed, frozenset(denied), owners, symbols)


def _token_text(blockchain: str, contract: str | None) -> str:
    return f"{contract} on {blockchain}" if contract else f"the native coin of {blockchain}"


def _symbol_owners(tokens: Iterable[tuple[TokenKey, str]]) -> SymbolOwners:
    owners: SymbolOwners = {}
    for token, symbol in tokens:
        for name in filter(None, skeletons(symbol[:MAX_SYMBOL_LENGTH])):
            owners.setdefault((token[0], name), (symbol, token[1]))
    return owners


@cache
def _packaged_symbol_owners() -> SymbolOwners:
    listed = known_token_by_key().items()
    return _symbol_owners((key, token.symbol) for key, token in listed if token.owns_symbol)


@cache
def _coin_by_skeleton() -> dict[str, KnownToken]:
    natives = [token for token in known_tokens() if token.kind == "native"]
    return {name: token for token in natives for name in skeletons(token.symbol)}


@cache
def _skeletons_by_contract() -> dict[str, set[str]]:
    skeletons_by_contract: defaultdict[str, set[str]] = defaultdict(set)
    for (_, contract), token in known_token_by_key().items():
        if contract and contract.startswith("0x"):
            skeletons_by_contract[contract].update(skeletons(token.symbol))
    return dict(skeletons_by_contract)
