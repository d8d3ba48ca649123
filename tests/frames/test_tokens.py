"""The bundled list of tokens, by which imitations are detected."""

import re
import tomllib
from importlib.resources import files

import pytest

from walletframe.address.forms import canonical_key
from walletframe.service.ledger import CHAINS
from walletframe.tokens import known_tokens, native_coin

EVM = r"0x[0-9a-fA-F]{40}"
FORMS = {
    "SOLANA": r"[1-9A-HJ-NP-Za-km-z]{32,44}",
    "TRON": r"T[1-9A-HJ-NP-Za-km-z]{33}",
    "NEAR": r"[a-z0-9._-]{2,64}",
}


def test_every_blockchain_has_its_coin_and_no_contract_twice():
    """A contract has one symbol; of equal symbols on a blockchain the usual one comes first."""
    tokens = [token for token in known_tokens() if token.contract]
    contracts = {canonical_key(token.blockchain, token.contract) for token in tokens}
    assert len(contracts) == len(tokens) > 1000
    first = {}
    for token in tokens:
        first.setdefault((token.blockchain, token.symbol), token)
    assert first["ETH", "USDC"].contract == "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    assert not any(token.has_symbol_of_other_project for token in tokens if token.source == "hand")
    assert {native_coin(name).blockchain for name in CHAINS} == set(CHAINS)


def test_contracts_have_the_form_of_their_blockchain():
    """No cell slipped, no letter is lost."""
    for token in known_tokens():
        assert 0 <= token.decimals <= 24
        if token.contract:
            assert re.fullmatch(FORMS.get(token.blockchain, EVM), token.contract), token


def test_every_token_has_an_asset_a_kind_and_a_source():
    """Its asset, one of four kinds, and a source with a date or a version."""
    tokens = known_tokens()
    assert {token.kind for token in tokens} == {"native", "canonical", "wrapped", "bridged"}
    sources = tomllib.loads(files("walletframe.tokens").joinpath("sources.toml").read_text("utf-8"))
    assert {token.source for token in tokens} == {*sources}
    assert all(token.asset for token in tokens)
    assert all((token.kind == "native") is (token.contract is None) for token in tokens)


@pytest.mark.parametrize(
    "blockchain,symbol,asset,kind",
    [
        ("ETH", "WETH", "ETH", "wrapped"),
        ("POLYGON", "WETH", "ETH", "bridged"),
        ("POLYGON", "USDC.e", "USDC", "bridged"),
        ("POLYGON", "USDC", "USDC", "canonical"),
        ("BASE", "ETH", "ETH", "native"),
        ("ETH", "WBTC", "BTC", "wrapped"),
        ("BSC", "VELO", "Velo (BSC)", "canonical"),
    ],
)
def test_kinds(blockchain, symbol, asset, kind):
    """Coins, their wrappers, tokens of a bridge, and of an issuer; namesakes, too."""
    result = next(t for t in known_tokens() if (t.blockchain, t.symbol) == (blockchain, symbol))
    assert (result.asset, result.kind) == (asset, kind)
