"""Shares of a token and its concentration, against plain Python."""

import math
from fractions import Fraction

import numpy as np
import pytest
from drawn_fetches import (
    TOKENS,
    details_of,
    fetches,
    fractions,
    key,
    known_of,
    nearest,
    optional,
    rows_of,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from walletframe.analysis.distribution import concentration, share
from walletframe.analysis.sums import totals
from walletframe.errors import AmbiguousTokenError, SettingsError, UnknownTokenError
from walletframe.frames.identity import encode_tokens

CONTRACTS = sorted({key(*token[:2]) for token in TOKENS}, key=repr)
ETHER = ("ETH", None, "ETH")
FETCH = [
    (("ETH", "0x01"), [(ETHER, 1, 0)]),
    (("ETH", "0x02"), [(ETHER, 3, 0), (ETHER, 0, None)]),
    (("ETH", "0x03"), []),
    (("ETH", "0x04"), "failed"),
    (("ETH", "0x05"), [(ETHER, 9, None)]),
    (("BSC", "0x01"), []),
]


def held_by_wallet(fetch, token):
    """Sum each wallet's balances of a token: the known part, and the number of unknown ones."""
    result = {}
    for row in rows_of(fetch):
        if row.token == token:
            result.setdefault(row.wallet, []).append(row.amount)
    return {
        wallet: (
            sum(each for each in amounts if each is not None) if set(amounts) != {None} else None,
            amounts.count(None),
        )
        for wallet, amounts in result.items()
    }


def expected_shares(fetch, token, *, requested):
    """List wallet, amount, unknown balances and share, the largest first, unknown ones last."""
    held = held_by_wallet(fetch, token)
    if requested:
        chains = {token[0], *(chain for chain, _ in held)}
        others = {
            wallet: (Fraction(0), 0) if known else (None, None)
            for wallet, known in known_of(fetch).items()
            if wallet[0] in chains
        }
        held = others | held
    order = list(known_of(fetch))
    ranked = sorted(
        held.items(),
        key=lambda each: (each[1][0] is None, -(each[1][0] or 0), order.index(each[0])),
    )
    whole = sum(amount for amount, _ in held.values() if amount is not None)
    return [
        (wallet, amount, gaps, None if amount is None or not whole else nearest(amount / whole))
        for wallet, (amount, gaps) in ranked
    ]


@settings(max_examples=60, deadline=None)
@given(fetch=fetches, number=st.integers(0, 9), requested=st.booleans())
def test_shares_match_plain_python(fetch, number, requested):
    """Amounts are exact, shares rounded once, and every requested wallet has its row."""
    tokens = [row.token for row in rows_of(fetch) if row.token in CONTRACTS]
    assume(tokens)
    token = tokens[number % len(tokens)]
    wallets, holdings = details_of(fetch)
    table = share(holdings, token=token, wallets=wallets if requested else None)
    result = zip(
        map(key, table["blockchain"], table["address"]),
        fractions(table["amount"]),
        optional(table["amount_na"]),
        [None if np.isnan(each) else each for each in table["share"]],
        strict=True,
    )
    assert list(result) == expected_shares(fetch, token, requested=requested)


def test_unknown_wallets_are_not_zero():
    """Failed wallets, and unknown amounts, are NA; empty wallets of the blockchain have 0."""
    wallets, holdings = details_of(FETCH)
    table = share(holdings, "ETH", wallets=wallets)
    assert table["address"].tolist() == ["0x02", "0x01", "0x03", "0x04", "0x05"]
    assert table["share"].fillna(-1).tolist() == [0.75, 0.25, 0, -1, -1]
    assert optional(table["amount_na"]) == [1, 0, 0, None, 1]
    assert table["wallets_ok"].tolist() == [0, 1, 1, 0, 0]
    assert table["wallets_asked"].tolist() == [1] * 5


def test_tokens_are_named_by_contract_or_unique_symbol():
    """Both return the same; a shared symbol and an unknown token are errors."""
    holdings = details_of(FETCH).holdings
    assert share(holdings, token="ETH").equals(share(holdings, token=("eth", None)))
    for kind in ("token", "asset"):
        with pytest.raises(UnknownTokenError):
            share(holdings, **{kind: ("ETH", "0x1")})
    fake = details_of([(("BSC", "0x1"), [(ETHER, 1, 0), (("BSC", "0xbad", "ETH"), 1, 0)])])
    with pytest.raises(AmbiguousTokenError, match="0xbad"):
        share(fake.holdings, token="ETH")
    assert fractions(share(fake.holdings, "ETH")["amount"]) == [1]


def test_shares_of_nothing_are_unknown():
    """If all amounts are 0, shares are unknown."""
    table = share(details_of([(("ETH", "0x1"), [(ETHER, 0, 0)])]).holdings, "ETH")
    assert table["share"].isna().all()


def gini_by_differences(amounts):
    """Gini as half the relative mean absolute difference, over all pairs."""
    differences = sum(abs(one - other) for one in amounts for other in amounts)
    return nearest(differences / (2 * len(amounts) * sum(amounts)))


@settings(max_examples=60, deadline=None)
@given(fetch=fetches, top=st.integers(1, 4))
def test_concentration_matches_its_definitions(fetch, top):
    """Gini over all pairs, Herfindahl over all shares, and the largest holders."""
    holdings = details_of(fetch).holdings
    table = concentration(holdings, by="token", top=top)
    assert table.iloc[:, :-3].equals(totals(holdings, "token"))
    for place, token in enumerate(encode_tokens(holdings).keys):
        amounts = [amount for amount, _ in held_by_wallet(fetch, token).values() if amount]
        measures = table.iloc[place, -3:].tolist()
        if not amounts:
            assert np.isnan(measures).all()
            continue
        shares = sorted((amount / sum(amounts) for amount in amounts), reverse=True)
        assert measures == [
            gini_by_differences(amounts),
            nearest(sum(each**2 for each in shares)),
            nearest(sum(shares[:top]))
            if len(shares) >= top
            else pytest.approx(np.nan, nan_ok=True),
        ]


def test_concentration_of_known_cases():
    """Even and almost concentrated holdings have the figures of textbooks."""
    even = [(("ETH", f"0x{n}"), [(ETHER, 5, 0)]) for n in range(1, 5)]
    result = concentration(details_of(even).holdings, "ETH", top=1).iloc[0]
    assert result[["gini", "herfindahl", "top_share"]].tolist() == [0, 0.25, 0.25]
    odd = [(("ETH", f"0x{n}"), [(ETHER, 10**30 if n == 1 else 1, 0)]) for n in range(1, 5)]
    result = concentration(details_of(odd).holdings, ("ETH", None), top=1).iloc[0]
    assert result[["gini", "herfindahl", "top_share"]].tolist() == [0.75, 1, 1]


@pytest.mark.parametrize(
    "top,holders", [(0.01, 1), (0.29, 29), (0.299, 29), (0.999, 99), (100, 100), (101, 0)]
)
def test_top_share_of_a_part_of_the_holders(top, holders):
    """The part is rounded down, to at least one holder; too few holders have no such share."""
    fetch = [(("ETH", f"0x{n}"), [(ETHER, n, 0)]) for n in range(1, 101)]
    share = concentration(details_of(fetch).holdings, "ETH", top=top)["top_share"].item()
    richest = sum(range(101 - holders, 101)) / 5050 if holders else np.nan
    assert share == pytest.approx(richest, nan_ok=True)


def test_concentration_of_zero_amounts_is_unknown():
    """The measures of a token of which all have 0 are unknown."""
    table = concentration(details_of([(("ETH", "0x1"), [(ETHER, 0, 0)])]).holdings)
    assert table[["gini", "herfindahl", "top_share"]].isna().to_numpy().all()


def test_one_token_of_many():
    """A named token has its row alone; a number of holders below 1 is refused."""
    wallets, holdings = details_of([*FETCH, (("BSC", "0x9"), [(("BSC", "0xA0", "USDC"), 1, 0)])])
    table = concentration(holdings, token="USDC", wallets=wallets)
    assert table["token_address"].tolist() == ["0xA0"]
    assert (table["wallets_ok"].item(), table["wallets_asked"].item()) == (2, 2)
    for top in (0, -0.1, 1.5, math.nan, math.inf):
        with pytest.raises(
            SettingsError, match=f"top={top} is neither a number of holders nor a fraction"
        ):
            concentration(holdings, top=top)
