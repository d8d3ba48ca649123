"""Holdings read into positions: each row's wallet and token, and the known wallets."""

import numpy as np
import pandas as pd
import pytest
from addresses import UPPER_A, UPPER_C, A, C
from fetches import fetched, token

from walletframe.amounts.scalar import Amount
from walletframe.analysis.distribution import concentration, overlap, pivot, share
from walletframe.analysis.sums import totals
from walletframe.errors import ArgumentError, UnknownWalletError
from walletframe.frames.positions import read_positions, snapshot_column, sum_by_cell

COIN = token("ETH", 1, 0, contract=None)
WALLETS, HOLDINGS = fetched(
    {
        f"ETH.{UPPER_A}": [COIN, token("B", 2, 0, contract="0xB")],
        f"BSC.{UPPER_A}": "failed",
        f"ETH.{UPPER_C}": [COIN, token("B", 3, 0, contract="0xB")],
    }
)


def described(positions):
    """Return wallets, which of them are known, and each row's wallet and token by their keys."""
    wallets = [*positions.wallets.itertuples(index=False, name=None)]
    keys, tokens = positions.wallet_keys, positions.tokens
    rows = [
        (keys[wallet], tokens.keys[token])
        for wallet, token in zip(positions.wallet_codes, tokens.codes, strict=True)
    ]
    return wallets, positions.known.tolist(), rows


def test_wallets_are_the_requested_or_those_with_rows():
    """In their order and spelling."""
    rows = [(("ETH", owner), what) for owner in (A, C) for what in (("ETH", None), ("ETH", "0xb"))]
    held, requested = read_positions(HOLDINGS), read_positions(HOLDINGS, WALLETS)
    assert described(held) == ([("ETH", UPPER_A), ("ETH", UPPER_C)], [True, True], rows)
    three = [("ETH", UPPER_A), ("BSC", UPPER_A), ("ETH", UPPER_C)]
    assert described(requested) == (three, [True, False, True], rows)
    assert (
        held.distinct_chains,
        requested.distinct_chains,
        requested.wallet_chain_codes.tolist(),
    ) == (["ETH"], ["ETH", "BSC"], [0, 1, 0])


def test_positions_are_not_read_again():
    """They replace their holdings, and take later wallets."""
    held = read_positions(HOLDINGS)
    assert read_positions(held) is held
    later = read_positions(held, WALLETS)
    assert later.tokens is held.tokens
    assert described(later) == described(read_positions(HOLDINGS, WALLETS))
    with pytest.raises(UnknownWalletError, match=rf"ETH\.{C}"):
        read_positions(held, WALLETS.head(2))


def test_wallets_of_another_fetch_are_refused():
    """A wallet that failed there has no balances."""
    other = fetched({f"NEAR.{name}": [token("NEAR", 1)] for name in ("alice", "bob")})
    failed = fetched({"NEAR.alice": "failed", "NEAR.bob": []}).wallets
    with pytest.raises(
        ArgumentError, match=r"1 wallet that failed .* such as NEAR\.alice"
    ) as caught:
        read_positions(other.holdings, failed)
    assert caught.value.hint == "pass both frames of the same fetch"
    assert other._replace(wallets=failed.assign(status="ok", tokens=1)).wf.totals().amount.item()
    with pytest.raises(ArgumentError, match="1 wallet that failed"):
        other._replace(wallets=failed).wf.explore()


@pytest.mark.parametrize("wallets", [None, WALLETS], ids=["held", "asked"])
@pytest.mark.parametrize("chosen", [[True] * 4, [False, False, True, False], [False] * 4], ids=str)
def test_selected_rows_are_read_as_alone(wallets, chosen):
    """Their wallets are those with rows, or all requested ones."""
    some = read_positions(HOLDINGS, wallets).select_rows(np.array(chosen))
    alone = read_positions(HOLDINGS[chosen], wallets)
    assert described(some) == described(alone)
    assert some.holdings.equals(alone.holdings)
    assert some.index_by_chain == alone.index_by_chain


@pytest.mark.parametrize(
    "table",
    [totals, pivot, overlap, concentration, lambda argument, **more: share(argument, "B", **more)],
)
def test_tables_take_positions_as_holdings(table):
    """The results are equal."""
    argument = read_positions(HOLDINGS)
    pd.testing.assert_frame_equal(
        table(argument, wallets=WALLETS), table(HOLDINGS, wallets=WALLETS)
    )


def test_times_are_those_of_snapshots():
    """In UTC, from any zone."""
    dated = HOLDINGS.assign(snapshot=pd.Timestamp("2026-01-31 01:00", tz="Europe/Berlin"))
    times = snapshot_column(read_positions(dated).holdings)
    assert set(times) == {pd.Timestamp("2026-01-31", tz="UTC")}


def test_cells_of_a_grid_are_exact_or_unknown():
    """0 without an amount, NA if all amounts are unknown."""
    amounts = pd.array(["0.1", "9" * 40, None, "1", "5", None], dtype="amount")
    summed = sum_by_cell(amounts, np.array([0, 0, 2, 2, -1, 3]), 4)
    assert [*summed] == [Amount("9" * 40 + ".1"), Amount(0), Amount(1), pd.NA]
