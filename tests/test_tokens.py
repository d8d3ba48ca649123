"""The bundled list of tokens: what is imitated is told apart by it."""

import re

from walletframe.address import canonical_key
from walletframe.service.chains import CHAINS
from walletframe.tokens import known_tokens, native_coin

FORMS = {"hex": r"0x[0-9a-fA-F]{40}", "solana": r"[1-9A-HJ-NP-Za-km-z]{43,44}"}


def test_every_blockchain_has_its_coin_and_no_symbol_twice():
    """A symbol and a blockchain name one token, and a contract has one symbol."""
    tokens = [token for token in known_tokens() if token.contract]
    names = {(token.blockchain, token.symbol.lower()) for token in tokens}
    contracts = {canonical_key(token.blockchain, token.contract) for token in tokens}
    assert len(names) == len(contracts) == len(tokens) > 200
    assert {native_coin(name).blockchain for name in CHAINS} == set(CHAINS)


def test_contracts_have_the_form_of_their_blockchain():
    """No cell slipped, no letter is lost."""
    for token in known_tokens():
        form = FORMS.get(CHAINS[token.blockchain].form)
        assert 0 <= token.decimals <= 24
        assert not (form and token.contract) or re.fullmatch(form, token.contract), token
