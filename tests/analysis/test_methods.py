"""``df.wf`` passes its arguments on, and returns the functions' results."""

import pandas as pd
import pytest
from drawn_fetches import details_of

from walletframe.analysis.distribution import concentration, overlap, pivot, share
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value

ETHER, USDC = ("ETH", None, "ETH"), ("ETH", "0xA0", "USDC")
WALLETS, HOLDINGS = details_of(
    [
        (("ETH", "0x01"), [(ETHER, 25, 1), (USDC, 3, 0)]),
        (("ETH", "0x02"), [(ETHER, 1, 0), (USDC, 1, 0)]),
        (("ETH", "0x03"), "failed"),
    ]
)


@pytest.mark.parametrize(
    "function,argument,named",
    [
        (totals, [["wallet"]], {"wallets": WALLETS}),
        (share, ["ETH"], {"wallets": WALLETS}),
        (share, [], {"token": "USDC", "wallets": WALLETS}),
        (pivot, [1], {"wallets": WALLETS}),
        (concentration, ["ETH"], {"wallets": WALLETS, "top": 1}),
        (overlap, [1], {"wallets": WALLETS}),
        (value, [{"ETH": 2}], {"currency": "USD", "by_symbol": True}),
    ],
)
def test_methods_are_the_functions(function, argument, named):
    """Every argument reaches the function of that name."""
    result = getattr(HOLDINGS.wf, function.__name__)(*argument, **named)
    pd.testing.assert_frame_equal(result, function(HOLDINGS, *argument, **named))


def test_labels_are_a_column_of_their_frame():
    """They have one label for each row."""
    assert HOLDINGS.wf.token_labels().tolist() == ["ETH", "USDC"] * 2
