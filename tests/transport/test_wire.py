"""Parsing of answers: a malformed entry makes only its wallet invalid."""

import json
import re
import sys

import pytest
from addresses import UPPER_A, A, C
from canned_service import answer, balance, wallet

from walletframe.address.lists import parse_wallets
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.wire.answer import NO_LIST, read_answer
from walletframe.wire.outcome import Status

REQUESTED = parse_wallets([f"ETH.{UPPER_A}", "NEAR.alice.near"])
SOUND = wallet("alice.near", "NEAR")


def read(*wallets, requested=REQUESTED):
    """Read an answer of these wallets; "@5" in it is the number 5, which may be long."""
    return read_answer(re.sub(rb'"@([0-9]+)"', rb"\1", answer(*wallets)), requested)


def of(**asset_fields):
    """Return a balance whose asset differs."""
    return balance() | {"asset": balance()["asset"] | asset_fields}


def amounts(**amount_fields):
    """Return a balance whose amount differs."""
    return balance() | {"amount": balance()["amount"] | amount_fields}


def without(mapping, *path):
    """Return a deep copy without one field."""
    copy = json.loads(json.dumps(mapping))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return copy


BROKEN = {
    "failed is text": wallet(failed="false"),
    "failed is a number": wallet(failed=0),
    "failed is null": wallet(failed=None),
    "balances is an object": wallet(balances={}),
    "balances is text": wallet(balances="[]"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_broken_wallet_is_invalid_and_alone(broken):
    """A wallet with an unusable structure is invalid with a reason; its neighbour is ok."""
    first, second = read(broken, SOUND).outcomes
    assert first.status is Status.INVALID
    assert first.error
    assert first.balances is None
    assert second.status is Status.OK
    assert second.balances.raw_amounts == ["1500000"]


ODD = {  # a balance; its raw amount, as it is read
    "amount is null": (amounts(amount=None), None),
    "amount is negative": (amounts(amount="-5"), "-5"),
    "amount is a negative number": (amounts(amount=-5), "-5"),
    "amount is a fraction": (amounts(amount="1.5"), "1.5"),
    "amount is a number with a point": (amounts(amount=1.5), "1.5"),
    "amount has an exponent": (amounts(amount="1e18"), "1e18"),
    "amount is a number with an exponent": (amounts(amount=1e300), "1e+300"),
    "amount is empty": (amounts(amount=""), ""),
    "amount is hexadecimal": (amounts(amount="0x5"), "0x5"),
    "amount has a plus": (amounts(amount="+5"), "+5"),
    "amount has underscores": (amounts(amount="1_000"), "1_000"),
    "amount has a space": (amounts(amount=" 5"), " 5"),
    "amount has other digits": (amounts(amount="٣"), "٣"),
    "amount has a superscript": (amounts(amount="5²"), "5²"),
    "amount has 5,000 digits": (amounts(amount="9" * 5000), "9" * 5000),
    "amount is a number of 5,000 digits": (amounts(amount="@" + "9" * 5000), "9" * 5000),
    "amount is long": (amounts(amount="x" * 201), "x" * 199 + "…"),
    "amount is true": (amounts(amount=True), "true"),
    "amount is an object": (amounts(amount={"x": 1}), '{"x": 1}'),
    "amount is a list": (amounts(amount=[1.5]), "[1.5]"),
    "amount is left out": (without(balance(), "amount", "amount"), None),
    "amount object is text": (balance() | {"amount": "5"}, "5"),
    "amount object is a number": (balance() | {"amount": 5}, "5"),
    "amount object is null": (balance() | {"amount": None}, None),
    "amount object is left out": (without(balance(), "amount"), None),
    "decimals are null": (amounts(decimals=None), "1500000"),
    "decimals are left out": (without(balance(), "amount", "decimals"), "1500000"),
    "decimals are a float": (amounts(decimals=18.0), "1500000"),
    "decimals are a boolean": (amounts(decimals=True), "1500000"),
    "decimals are empty": (amounts(decimals=""), "1500000"),
    "decimals are negative": (amounts(decimals=-1), "1500000"),
    "decimals are an object": (amounts(decimals={}), "1500000"),
    "decimals are 78": (amounts(decimals=78), "1500000"),
    "decimals are out of any range": (amounts(decimals=10**30), "1500000"),
    "decimals are text out of any range": (amounts(decimals="9" * 5000), "1500000"),
    "blockchain is null": (of(blockchain=None), "1500000"),
    "blockchain is empty": (of(blockchain=""), "1500000"),
    "blockchain is a number": (of(blockchain=5), "1500000"),
    "blockchain is left out": (without(balance(), "asset", "blockchain"), "1500000"),
    "contract is empty": (of(address=""), "1500000"),
    "contract is a number": (of(address=0), "1500000"),
    "contract is an object": (of(address={}), "1500000"),
    "asset is text": (balance() | {"asset": "ETH"}, "1500000"),
    "asset is null": (balance() | {"asset": None}, "1500000"),
    "asset is left out": (without(balance(), "asset"), "1500000"),
    "it is null": (None, None),
    "it is a number": (5, "5"),
    "it is a list": ([balance()], json.dumps([balance()])),
}


@pytest.mark.parametrize("odd,raw", ODD.values(), ids=ODD.keys())
def test_an_odd_balance_costs_itself(odd, raw):
    """A malformed balance keeps its row and its text, and is reported."""
    [outcome] = read(
        wallet(balances=[balance("1"), odd, balance("2")]), requested=REQUESTED[:1]
    ).outcomes
    assert outcome.status is Status.OK
    assert outcome.error == "1 of 3 balances could not be read"
    assert outcome.balances.raw_amounts == ["1", raw, "2"]
    _, holdings = assemble([WalletRecord(REQUESTED[0], outcome, "s")])
    assert holdings["amount"].astype("str")[[0, 2]].tolist() == ["0.000001", "0.000002"]
    unreadable = holdings["amount"].isna() | holdings["token_blockchain"].isna()
    assert unreadable.tolist() == [False, True, False]
    assert holdings["token_blockchain"].isna()[1] or holdings["amount"].isna()[1]
    is_native = holdings["token_address"].isna() & holdings["token_blockchain"].notna()
    assert not is_native.any()


LEGIBLE = {
    "amount is a number": amounts(amount=1500000),
    "decimals are text": amounts(decimals="6"),
    "price is text": balance() | {"price": "1.5"},
    "price is no number": balance() | {"price": "much"},
    "price is an object": balance() | {"price": {}},
    "symbol is null": of(symbol=None),
    "symbol is empty": of(symbol=""),
    "symbol is left out": without(balance(), "asset", "symbol"),
    "symbol is a number": of(symbol=5),
}


@pytest.mark.parametrize("sent", LEGIBLE.values(), ids=LEGIBLE.keys())
def test_other_spellings_of_values_are_read(sent):
    """Integers equal text of digits. An unreadable price or symbol affects no other field."""
    [outcome] = read(wallet(balances=[sent]), requested=REQUESTED[:1]).outcomes
    assert (outcome.status, outcome.error) == (Status.OK, None)
    _, holdings = assemble([WalletRecord(REQUESTED[0], outcome, "s")])
    assert str(holdings["amount"].item()) == "1.5"
    assert holdings["token_address"].item() == "0xToken"
    assert holdings["symbol"].isna().item() == (sent["asset"].get("symbol") != "TKN")
    assert holdings["price"].isna().item() == (sent.get("price") != "1.5")


@pytest.mark.parametrize("number", [0, 2**64, 2**256 - 1, 10**300])
def test_integers_of_any_size_are_read_exactly(number):
    """A JSON integer is read like the text of its digits."""
    [outcome] = read(wallet(balances=[amounts(amount=number)]), requested=REQUESTED[:1]).outcomes
    assert outcome.error is None
    assert outcome.balances.raw_amounts == [str(number)]


def test_missing_failed_counts_as_false():
    """A missing `failed` counts as false."""
    assert read(without(wallet(), "failed")).outcomes[0].status is Status.OK


def with_error(error, *wallets, price=None):
    """Read an answer with an error beside its wallets, one of which has an odd price."""
    odd = [balance() | {"price": price}] if price else []
    sent = {"wallets": [*wallets, wallet(C, balances=odd)], "error": error}
    return read_answer(json.dumps(sent).encode(), REQUESTED).outcomes


@pytest.mark.parametrize("price", [None, "odd"])
@pytest.mark.parametrize("error", ["node down", {"code": 7, "message": "node down"}, ["node down"]])
def test_an_error_without_balances_is_no_empty_wallet(error, price):
    """Wallets with balances stay. Wallets without balances are invalid, with the reason."""
    empty, missing = with_error(error, wallet(balances=[]), price=price)
    assert (empty.status, empty.balances, missing.status) == (Status.INVALID, None, Status.INVALID)
    assert "node down" in empty.error
    assert empty.error == missing.error
    assert with_error(error, wallet(), price=price)[0].status is Status.OK
    failed, _ = with_error(error, wallet(failed=True), price=price)
    assert failed.status is Status.FAILED


@pytest.mark.parametrize("price", [None, "odd"])
@pytest.mark.parametrize("error", [None, "", False, 0, [], {}])
def test_an_empty_error_is_none(error, price):
    """Null, false, "" and similar values mean no error."""
    empty, missing = with_error(error, wallet(balances=[], error=error), price=price)
    assert (empty.status, missing.status) == (Status.OK, Status.MISSING)


def test_an_error_in_place_of_wallets_is_quoted():
    """An error without wallets is quoted on one line, truncated."""
    body = json.dumps({"error": "down\n" + "x" * 500, "traceId": 5}).encode()
    reason = read_answer(body, REQUESTED).outcomes[0].error
    assert "down x" in reason
    assert len(reason) < 150


def test_an_odd_explorer_url_is_left_out():
    """A link of a wrong type is left out."""
    outcome = read(wallet(explorerUrl=5)).outcomes[0]
    assert (outcome.status, outcome.explorer_url) == (Status.OK, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"<html><body>Login</body></html>",
        b"[]",
        b"null",
        b"5",
        b"{}",
        b'{"wallets": null}',
        b'{"wallets": {}}',
        b'{"wallets": [',
        b'{"wallets": []} {"wallets": []}',
        b'{"wallets": [], "x": NaN}',
        b'{"wallets": [], "x": Infinity}',
        b'{"wallets": ' + b"[" * 100_000,
        b'{"wallets": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"\x80\x81",
        b"\xef\xbb\xbf{}",
    ],
)
def test_body_that_is_no_answer_makes_every_wallet_invalid(body):
    """A body without a list of wallets makes each wallet invalid, with a one-line reason."""
    outcomes = read_answer(body, REQUESTED).outcomes
    assert [outcome.status for outcome in outcomes] == [Status.INVALID] * 2
    assert all(outcome.error and "\n" not in outcome.error for outcome in outcomes)


def test_entry_without_identity_spoils_only_missing_wallets():
    """An entry without a wallet makes the wallet without an entry invalid."""
    outcomes = read(wallet(address=5), SOUND).outcomes
    assert [outcome.status for outcome in outcomes] == [Status.INVALID, Status.OK]


@pytest.mark.parametrize("price", [b"1e999", b"-1e999", b'"1e999"', b'"NaN"', b"true"])
def test_price_beyond_float_is_missing(price):
    """A price above the largest float is missing, and affects no other field."""
    body = answer(wallet(balances=[balance() | {"price": 5}])).replace(
        b'"price": 5', b'"price": ' + price
    )
    outcome = read_answer(body, REQUESTED[:1]).outcomes[0]
    assert (outcome.status, outcome.error) == (Status.OK, None)
    assert outcome.balances.prices == [None]


def test_absent_nullable_fields_are_null():
    """If null is allowed, a missing field counts as null."""
    sent = without(wallet(balances=[without(balance(), "amount", "decimals")]), "explorerUrl")
    outcome = read(sent).outcomes[0]
    assert outcome.status is Status.OK
    assert (outcome.explorer_url, outcome.balances.decimals) == (None, [None])


def test_amount_beyond_uint256_is_read():
    """An amount of 300 digits is valid."""
    outcome = read(wallet(balances=[amounts(amount="9" * 300)])).outcomes[0]
    assert outcome.balances.raw_amounts == ["9" * 300]


def test_many_long_amounts_are_read():
    """The limit of digits holds for each amount, not for all of them together."""
    outcome = read(wallet(balances=[amounts(amount="9" * 300)] * 50)).outcomes[0]
    assert outcome.status is Status.OK


@pytest.mark.parametrize("limit", [0, 640])
def test_limit_of_digits_follows_the_interpreter(limit):
    """With a lower limit set in Python an amount is unreadable if it could not be converted."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        outcome = read(wallet(balances=[amounts(amount="9" * 1000)])).outcomes[0]
    finally:
        sys.set_int_max_str_digits(before)
    assert (outcome.error is None) == (limit == 0)


def test_lone_surrogates_are_replaced():
    """A symbol that no str column can hold is read with replacement characters."""
    outcome = read(wallet(balances=[of(symbol="a\ud800b\udc00")])).outcomes[0]
    assert outcome.balances.symbols == ["a\ufffdb\ufffd"]


def test_lone_surrogate_in_unknown_field_is_ignored():
    """An unknown field with a broken name does not harm the wallet."""
    outcome = read(wallet(**{"x\ud800": "y"})).outcomes[0]
    assert outcome.status is Status.OK


def test_emoji_and_blank_and_huge_symbols_are_kept():
    """Symbols of any length are kept as sent."""
    symbols = ["🚀", " ", "x" * 10_000_000]
    outcome = read(wallet(balances=[of(symbol=symbol) for symbol in symbols])).outcomes[0]
    assert outcome.balances.symbols == symbols


def test_unknown_fields_are_ignored():
    """Undocumented fields are ignored at every level."""
    sent = wallet(balances=[of(logo={"x": [1]}) | {"usd": 5}], page=3)
    assert read(sent).outcomes[0].status is Status.OK


def test_price_is_read():
    """A price, whole or not, or null, is read; beside an odd amount, too."""
    priced = [balance() | {"price": price} for price in (1.5, 3, None)]
    sent = wallet(balances=[*priced, balance(), amounts(amount={}) | {"price": 2.5}])
    assert read(sent).outcomes[0].balances.prices == [1.5, 3.0, None, None, 2.5]


def test_failed_wallet_shows_no_balances():
    """If `failed` is true, balances are ignored in any form."""
    for balances in ([balance()], 5, None):
        outcome = read(wallet(failed=True, balances=balances)).outcomes[0]
        assert (outcome.status, outcome.balances) == (Status.FAILED, None)
        assert outcome.explorer_url == f"https://explorer.example/{A}"


def test_null_and_empty_balances_differ():
    """Null or a missing field means unavailable balances; an empty list means no balances."""
    for sent in (wallet(balances=None), without(wallet(), "balances")):
        outcome = read(sent).outcomes[0]
        assert (outcome.status, outcome.error) == (Status.FAILED, NO_LIST)
        assert outcome.balances is None
    assert len(read(wallet(balances=[])).outcomes[0].balances) == 0
