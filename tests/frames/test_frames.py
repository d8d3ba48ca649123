"""The column contract holds for any records, and the summary of a fetch is honest."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from addresses import ONE, THREE, TWO, A
from canned_service import answer, balance, wallet

from walletframe.address.lists import parse_wallets
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.known import summary_lines
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES, AnswerSource
from walletframe.pandas_versions import TEXT
from walletframe.wire.answer import read_answer
from walletframe.wire.outcome import Outcome, Status
from walletframe.wire.schemas import Balances

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
[ETH] = parse_wallets(f"ETH.{A}")


def record(*balances, **fields):
    """Return a record of ETH.0xA with these balances."""
    outcome = read_answer(answer(wallet(balances=list(balances))), [ETH]).outcomes[0]
    return WalletRecord(ETH, outcome, "s", NOW, AnswerSource.SERVICE, **fields)


def failure(status):
    """Return a record of ETH.0xA that failed."""
    return WalletRecord(ETH, Outcome(status, "why"), "s")


CASES = {
    "no wallets": [],
    "all failed": [failure(status) for status in Status if status is not Status.OK],
    "null balances": [WalletRecord(ETH, Outcome(Status.OK), "s", NOW, AnswerSource.CACHE)],
    "an empty list": [record()],
    "balances": [record(balance(), balance(decimals=None, address=None))],
    "prices": [record(balance() | {"price": 1.5})],
    "odd decimals": [record(balance(decimals=10**30), balance(decimals=-1))],
    "uint256": [record(balance(amount=str(2**256 - 1), decimals=77))],
    "many chunks": [record(*[balance(amount=str(i)) for i in range(3_001)]) for _ in range(3)],
}


@pytest.mark.parametrize("records", CASES.values(), ids=CASES.keys())
def test_columns_and_dtypes_are_the_same_in_every_case(records):
    """Names, order, dtypes and categories never depend on the data."""
    wallets, holdings = assemble(records)
    assert dict(wallets.dtypes) == WALLET_DTYPES
    assert dict(holdings.dtypes) == HOLDING_DTYPES
    assert [str(dtype) for dtype in wallets.dtypes] == [
        str(TEXT),
        str(TEXT),
        "category",
        str(TEXT),
        "Int64",
        str(TEXT),
        "datetime64[us, UTC]",
        "category",
        str(TEXT),
    ]
    assert [str(dtype) for dtype in holdings.dtypes] == [
        *[str(TEXT)] * 4,
        "amount",
        "Int16",
        str(TEXT),
        str(TEXT),
        "float64",
    ]
    assert isinstance(wallets.index, pd.RangeIndex)
    assert isinstance(holdings.index, pd.RangeIndex)
    assert len(wallets) == len(records)


def test_frames_of_different_cases_concatenate_without_loss():
    """Joining two fetches keeps every dtype, categories included."""
    both = pd.concat([assemble(CASES["all failed"]).wallets, assemble(CASES["prices"]).wallets])
    assert dict(both.dtypes) == WALLET_DTYPES


def test_values_land_in_their_columns():
    """One balance, field by field."""
    sent = balance("2500000000000000001", 18, symbol="S", address="0xT", blockchain="L2")
    row = assemble([record(sent | {"price": 2})]).holdings.iloc[0]
    assert row.tolist()[:4] == ["ETH", A, "S", "0xT"]
    assert (str(row.amount), row.decimals) == ("2.500000000000000001", 18)
    assert (row.raw_amount, row.token_blockchain, row.price) == ("2500000000000000001", "L2", 2.0)


def test_native_coin_has_no_contract():
    """A null contract is NA, not text."""
    assert assemble([record(balance(address=None))]).holdings.token_address.isna().all()


@pytest.mark.parametrize(
    "decimals, kept",
    [
        *((each, each) for each in (-1, 78, 300, 2**15 - 1, -(2**15))),
        *((each, None) for each in (None, 2**15, 10**9, 10**30, -(10**30))),
    ],
)
def test_unusable_decimals_give_no_amount(decimals, kept):
    """Beyond 77, or unknown, they make the amount NA; the sent value stays if an Int16 holds it."""
    sent = [balance(decimals=6), balance(decimals=decimals), balance("7", 77)]
    holdings = assemble([record(*sent)]).holdings
    assert holdings.amount.astype("str").tolist()[::2] == ["1.5", f"0.{'7':0>77}"]
    assert holdings.amount.isna().tolist() == [False, True, False]
    assert [None if pd.isna(each) else each for each in holdings.decimals] == [6, kept, 77]
    assert holdings.raw_amount.tolist() == ["1500000", "1500000", "7"]


def test_amounts_are_exact_at_any_size():
    """2**256 - 1 with 0, 18 and 77 decimals comes out digit by digit."""
    top = 2**256 - 1
    sent = [balance(str(top), decimals) for decimals in (0, 18, 77)]
    amounts = assemble([record(*sent)]).holdings.amount
    digits = str(top)
    assert [str(amount) for amount in amounts] == [
        digits,
        f"{digits[:-18]}.{digits[-18:]}",
        f"{digits[:-77]}.{digits[-77:]}",
    ]


def test_order_is_that_of_wallets_and_then_of_the_answer():
    """Rows follow the records, over the limits of chunks."""
    records = [
        WalletRecord(each, record(*[balance(amount=str(i)) for i in range(1500)]).outcome, "s")
        for each in parse_wallets([f"ETH.{TWO}", f"ETH.{ONE}", f"ETH.{THREE}"])
    ]
    holdings = assemble(records).holdings
    assert holdings.address.unique().tolist() == [TWO, ONE, THREE]
    assert holdings.raw_amount.tolist() == [str(i) for i in range(1500)] * 3


def test_wallet_row_has_its_counts():
    """Tokens are counted: zero if there are none, and NA if they are unknown."""
    rows = [record(balance()), record(), *CASES["null balances"], failure(Status.TIMEOUT)]
    wallets = assemble(rows).wallets
    assert wallets.tokens.tolist() == [1, 0, pd.NA, pd.NA]
    assert wallets.status.tolist() == ["ok", "ok", "ok", "timeout"]
    assert wallets.error.isna().tolist() == [True, True, True, False]
    assert wallets.source.tolist()[:3] == ["service", "service", "cache"]
    assert wallets.fetched_at[0] == pd.Timestamp(NOW)
    assert wallets.fetched_at.isna().tolist() == [False, False, False, True]


def test_missing_prices_are_nan():
    """A price is a float or NaN, never zero."""
    holdings = assemble([record(balance(), balance() | {"price": 0})]).holdings
    np.testing.assert_array_equal(holdings.price, [np.nan, 0.0])


def test_summary_has_all_counts():
    """Statuses, sources, unreadable balances and simulated data."""
    simulated = WalletRecord(
        ETH,
        Outcome(Status.OK, balances=Balances.from_sent_balances([])),
        "sandbox",
        NOW,
        AnswerSource.STALE,
        "late",
    )
    odd = balance("0x1f")
    details = assemble([record(balance(), odd), simulated, failure(Status.TIMEOUT)])
    text = repr(details)
    assert text.startswith("\n".join(summary_lines(*details)))
    assert "3 wallets on 1 blockchain: 2 ok, 1 timeout" in text
    assert "2 balances of 1 token; 1 answered" in text
    assert "1 of 2 balances is unreadable: the amount or the token is unknown." in text
    assert "1 wallet shows an older answer: no newer answer was available." in text
    assert "1 answered by the service and 1 earlier (out of date)" in text
    assert "2026-01-02 03:04 UTC" in text
    assert "Simulated data" in text


@pytest.mark.parametrize(
    "source, message",
    [
        (AnswerSource.SERVICE, "1 answered by the service, the oldest at"),
        (AnswerSource.CACHE, "1 answered from the local cache, the oldest at"),
        (AnswerSource.STALE, "1 answered earlier (out of date), the oldest at"),
    ],
)
def test_summary_of_one_source_is_a_sentence(source, message):
    """For every source the line has its verb."""
    wallets, _ = assemble([WalletRecord(ETH, Outcome(Status.OK), "s", NOW, source)])
    assert message in summary_lines(wallets)[1]


def test_details_unpack_into_two_frames():
    """The result is a plain tuple of two."""
    wallets, holdings = details = assemble([])
    assert (details.wallets is wallets, details.holdings is holdings) == (True, True)
