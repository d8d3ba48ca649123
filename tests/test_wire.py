"""Reading answers: what breaks the contract harms its own wallet, what is only odd is read."""

import json
import sys
from decimal import Decimal

import pytest
from canned_service import answer, balance, wallet
from hypothesis import given
from hypothesis import strategies as st

from walletframe.address import parse_wallets
from walletframe.wire import Status, details_query, read_answer

ASKED = parse_wallets(["ETH.0xA", "NEAR.alice.near"])
SOUND = wallet("alice.near", "NEAR")


def read(*wallets, asked=ASKED):
    """Read an answer of these wallets."""
    return read_answer(answer(*wallets), asked)


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
    "failed is missing": without(wallet(), "failed"),
    "balances is an object": wallet(balances={}),
    "balances is text": wallet(balances="[]"),
    "a balance is null": wallet(balances=[None]),
    "explorer URL is a number": wallet(explorerUrl=5),
    "symbol is a number": wallet(balances=[of(symbol=5)]),
    "symbol is null": wallet(balances=[of(symbol=None)]),
    "symbol is missing": wallet(balances=[without(balance(), "asset", "symbol")]),
    "contract is a number": wallet(balances=[of(address=0)]),
    "token's blockchain is null": wallet(balances=[of(blockchain=None)]),
    "asset is missing": wallet(balances=[without(balance(), "asset")]),
    "amount object is text": wallet(balances=[balance() | {"amount": "5"}]),
    "amount is a number": wallet(balances=[amounts(amount=5)]),
    "amount is null": wallet(balances=[amounts(amount=None)]),
    "amount is negative": wallet(balances=[amounts(amount="-5")]),
    "amount has a point": wallet(balances=[amounts(amount="1.5")]),
    "amount has an exponent": wallet(balances=[amounts(amount="1e18")]),
    "amount is empty": wallet(balances=[balance(), amounts(amount="")]),
    "amount is hexadecimal": wallet(balances=[amounts(amount="0x5")]),
    "amount has a plus": wallet(balances=[amounts(amount="+5")]),
    "amount has underscores": wallet(balances=[amounts(amount="1_000")]),
    "amount has a space": wallet(balances=[amounts(amount=" 5")]),
    "amount has other digits": wallet(balances=[amounts(amount="٣")]),
    "amount has a superscript": wallet(balances=[amounts(amount="5²")]),
    "amount has 5,000 digits": wallet(balances=[amounts(amount="9" * 5000)]),
    "decimals is text": wallet(balances=[amounts(decimals="18")]),
    "decimals is a float": wallet(balances=[amounts(decimals=18.0)]),
    "decimals is a boolean": wallet(balances=[amounts(decimals=True)]),
    "price is text": wallet(balances=[balance() | {"price": "1.5"}]),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_broken_wallet_is_invalid_and_alone(broken):
    """A wallet that breaks the contract is invalid with a reason; its neighbour is whole."""
    first, second = read(broken, SOUND).outcomes
    assert first.status is Status.INVALID
    assert first.error
    assert first.balances is None
    assert second.status is Status.OK
    assert second.balances.raw_amounts == ["1500000"]


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
    """A body without a list of wallets raises nothing and names its reason on one line."""
    outcomes = read_answer(body, ASKED).outcomes
    assert [outcome.status for outcome in outcomes] == [Status.INVALID] * 2
    assert all(outcome.error and "\n" not in outcome.error for outcome in outcomes)


def test_entry_without_identity_spoils_only_what_is_missing():
    """An entry that does not say whose it is makes the wallet without an entry invalid."""
    outcomes = read(wallet(address=5), SOUND).outcomes
    assert [outcome.status for outcome in outcomes] == [Status.INVALID, Status.OK]


@pytest.mark.parametrize("price", [b"1e999", b"-1e999"])
def test_price_beyond_float_is_invalid(price):
    """A price that no float holds does not become infinity."""
    body = answer(wallet(balances=[balance() | {"price": 5}])).replace(
        b'"price": 5', b'"price": ' + price
    )
    assert read_answer(body, ASKED[:1]).outcomes[0].status is Status.INVALID


@pytest.mark.parametrize("decimals", [None, -1, 78, 10**9, 10**30])
def test_odd_decimals_are_read(decimals):
    """Decimals that are null or out of range leave the wallet ok and the amount as sent."""
    outcome = read(wallet(balances=[amounts(decimals=decimals)])).outcomes[0]
    assert outcome.status is Status.OK
    assert outcome.balances.raw_amounts == ["1500000"]


def test_absent_nullable_fields_are_null():
    """Where null is allowed, a field that is left out counts as null."""
    sent = without(wallet(balances=[without(balance(), "amount", "decimals")]), "explorerUrl")
    outcome = read(sent).outcomes[0]
    assert outcome.status is Status.OK
    assert (outcome.explorer_url, outcome.balances.decimals) == (None, [None])


def test_amount_beyond_uint256_is_read():
    """An amount of 300 digits is odd, not wrong."""
    outcome = read(wallet(balances=[amounts(amount="9" * 300)])).outcomes[0]
    assert outcome.balances.raw_amounts == ["9" * 300]


def test_many_long_amounts_are_read():
    """The limit of digits holds for each amount, not for all of them together."""
    outcome = read(wallet(balances=[amounts(amount="9" * 300)] * 50)).outcomes[0]
    assert outcome.status is Status.OK


@pytest.mark.parametrize("limit", [0, 640])
def test_limit_of_digits_follows_the_interpreter(limit):
    """With a lower limit set in Python an amount is invalid where it could not be converted."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        outcome = read(wallet(balances=[amounts(amount="9" * 1000)])).outcomes[0]
    finally:
        sys.set_int_max_str_digits(before)
    assert (outcome.status is Status.OK) == (limit == 0)


def test_lone_surrogates_are_replaced():
    """A symbol that no str column can hold is read with replacement characters."""
    outcome = read(wallet(balances=[of(symbol="a\ud800b\udc00")])).outcomes[0]
    assert outcome.balances.symbols == ["a\ufffdb\ufffd"]


def test_lone_surrogate_in_unknown_field_is_ignored():
    """An unknown field with a broken name does not harm the wallet."""
    outcome = read(wallet(**{"x\ud800": "y"})).outcomes[0]
    assert outcome.status is Status.OK


def test_emoji_and_empty_and_huge_symbols_are_kept():
    """Symbols are kept as sent, whatever their length."""
    symbols = ["🚀", "", "x" * 10_000_000]
    outcome = read(wallet(balances=[of(symbol=symbol) for symbol in symbols])).outcomes[0]
    assert outcome.balances.symbols == symbols


def test_unknown_fields_are_ignored():
    """Fields the document does not have are ignored at every level."""
    sent = wallet(balances=[of(logo={"x": [1]}) | {"usd": 5}], page=3)
    assert read(sent).outcomes[0].status is Status.OK


def test_price_is_read():
    """A price, whole or not, or null, is read."""
    prices = [1.5, 3, None]
    sent = wallet(balances=[balance() | {"price": price} for price in prices] + [balance()])
    assert read(sent).outcomes[0].balances.prices == [1.5, 3.0, None, None]


def test_failed_wallet_shows_no_balances():
    """Balances that come with failed are not trusted, whatever they are."""
    for balances in ([balance()], 5, None):
        outcome = read(wallet(failed=True, balances=balances)).outcomes[0]
        assert (outcome.status, outcome.balances) == (Status.FAILED, None)
        assert outcome.explorer_url == "https://explorer.example/0xa"


def test_null_and_empty_balances_differ():
    """Null balances are unknown; an empty list is none."""
    assert read(wallet(balances=None)).outcomes[0].balances is None
    assert len(read(wallet(balances=[])).outcomes[0].balances) == 0


def test_wallets_are_matched_by_address_and_not_by_position():
    """Another order and another case of hex addresses change nothing."""
    outcomes = read(SOUND, wallet("0XA", "eth", balances=[])).outcomes
    assert [len(outcome.balances) for outcome in outcomes] == [0, 1]


def test_case_of_other_addresses_matters():
    """Base58 addresses that differ by case are different wallets."""
    got = read(wallet("AbC", "SOLANA"), asked=parse_wallets("SOLANA.abc"))
    assert got.outcomes[0].status is Status.MISSING
    assert got.strangers == ["SOLANA.AbC"]


def test_missing_wallet_is_missing():
    """A wallet that the answer leaves out says so."""
    assert [outcome.status for outcome in read(SOUND).outcomes] == [Status.MISSING, Status.OK]


def test_equal_repeats_are_one():
    """The same wallet twice, alike but for case and link, is one."""
    for repeat in (wallet(), wallet("0XA"), wallet(explorerUrl=None)):
        assert read(wallet(), repeat).outcomes[0].status is Status.OK


def test_contradicting_repeats_are_invalid():
    """The same wallet twice with other balances is invalid, in any order and number."""
    for entries in ([1, 0], [0, 1], [1, 0, 1], [0, 0, 1]):
        sent = [wallet(balances=[balance()] * count) for count in entries]
        assert read(*sent).outcomes[0].status is Status.INVALID


def test_strangers_are_left_out_and_named_harmlessly():
    """A wallet nobody asked for is reported, fit to be shown."""
    got = read(wallet(), SOUND, wallet("0x\u202e\nb" + "y" * 500))
    assert [outcome.status for outcome in got.outcomes] == [Status.OK] * 2
    assert len(got.strangers) == 1
    assert got.strangers[0].isprintable()
    assert len(got.strangers[0]) <= 80


def test_query_is_percent_encoded():
    """The query names each wallet once, encoded."""
    wallets = parse_wallets([("TON", "a&b=c/d+e"), "ETH.0x1"])
    assert details_query(wallets) == "address=TON.a%26b%3Dc%2Fd%2Be&address=ETH.0x1"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@given(st.data())
def test_any_json_in_any_place_harms_at_most_its_wallet(data):
    """Whatever stands in whatever field, nothing raises and the neighbour is whole."""
    sent = wallet(balances=[balance()])
    path = data.draw(
        st.sampled_from(
            [
                ("failed",),
                ("balances",),
                ("explorerUrl",),
                ("balances", 0),
                ("balances", 0, "asset"),
                ("balances", 0, "asset", "symbol"),
                ("balances", 0, "asset", "address"),
                ("balances", 0, "amount"),
                ("balances", 0, "amount", "amount"),
                ("balances", 0, "amount", "decimals"),
                ("balances", 0, "price"),
            ]
        )
    )
    inner = sent
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(json_values)
    first, second = read(sent, SOUND).outcomes
    assert second.status is Status.OK
    assert (first.error is None) == (first.status is Status.OK)


@given(st.binary(max_size=60))
def test_any_bytes_raise_nothing(body):
    """Any body gives an outcome for every wallet asked for."""
    assert len(read_answer(body, ASKED).outcomes) == 2


@given(
    st.lists(st.tuples(st.integers(0, 2**256), st.integers(0, 77), st.text(max_size=5)), max_size=6)
)
def test_sound_answers_are_read_exactly(rows):
    """Any digits, decimals and symbols come out as they went in."""
    balances = [balance(str(raw), decimals, symbol=symbol) for raw, decimals, symbol in rows]
    got = read(wallet(balances=balances)).outcomes[0].balances
    expected = [Decimal(raw) for raw, _, _ in rows]
    assert [Decimal(text) for text in got.raw_amounts] == expected
    assert got.decimals == [decimals for _, decimals, _ in rows]
    assert got.symbols == [symbol for _, _, symbol in rows]
