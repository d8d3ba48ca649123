"""Totals against plain Python, with their counts of missing data."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import (
    details_of,
    fetches,
    fractions,
    key,
    known_for,
    known_of,
    nearest,
    optional,
    rows_of,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from walletframe.amounts.sums import sum_floats_by_group
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import (
    AmbiguousTokenError,
    AmountError,
    ColumnsError,
    PricesError,
    SettingsError,
    UnknownWalletError,
)

KINDS = ["token", "wallet", "blockchain"]
CUTS = [list(some) for count in (1, 2, 3) for some in combinations(KINDS, count)]
PRICES = {("ETH", "0xA0"): 1.0001, ("bsc", "0xa0"): 0.3, ("ETH", None): 2500, ("L2", "0x12"): 0}
PRICED = {key(*token): Fraction(price) for token, price in PRICES.items()}

ETHER = (("ETH", None, "ETH"), 5 * 10**17, 18)
DOLLARS = (("ETH", "0xA0", "USDC"), 3, 0)
FAKE = (("BSC", "0xbad", "ETH"), 10**30, 18)
UNKNOWN = (("ETH", "0xA0", "USDC"), 7, None)
FETCH = [
    (("ETH", "0xAa"), [ETHER, DOLLARS, DOLLARS]),
    (("eth", "0xbB"), [ETHER, UNKNOWN]),
    (("ETH", "0xcc"), "failed"),
    (("BSC", "0xaa"), []),
    (("NEAR", "alice.near"), "unknown"),
]


def group(kinds, wallet, token=None):
    """Return a group's token, wallet and blockchain, None for each that `kinds` lacks."""
    parts = {"token": token, "wallet": wallet, "blockchain": wallet[0]}
    return tuple(parts[kind] if kind in kinds else None for kind in KINDS)


def groups_of(table, kinds):
    """Return the groups of a table of totals."""
    names = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        named = "token" in kinds and row["token_blockchain"] is not None
        token = key(row["token_blockchain"], row["token_address"]) if named else None
        wallet = key(row.get("blockchain", ""), row.get("address"))
        names.append(group(kinds, wallet, token))
    return names


def expected(fetch, kinds, *, requested):
    """Group the balances of a fetch; requested wallets may add empty groups."""
    groups = {}
    for row in rows_of(fetch):
        groups.setdefault(group(kinds, row.wallet, row.token), []).append(row)
    if requested and kinds != ["token"]:
        owners = {name[1:] for name in groups}
        for name in [group(kinds, wallet) for wallet in known_of(fetch)]:
            if name[1:] not in owners:
                groups[name] = []
    return groups


def value_of(row):
    """Value a balance, rounded once; None where amount or price is unknown."""
    if row.amount is None or row.token not in PRICED:
        return None
    return Fraction(nearest(row.amount * PRICED[row.token]))


def wallets_of(name, rows, known):
    """Return for each requested wallet on a group's blockchains whether it is known."""
    token, wallet, chain = name
    if wallet:
        return [known[wallet]]
    chains = {chain} if chain else {token[0], *(row.wallet[0] for row in rows)}
    return [ok for (chain, _), ok in known.items() if chain in chains]


def measures(name, rows, known):
    """Compute all columns of a group; None for NA."""
    here = wallets_of(name, rows, known)
    amounts = [row.amount for row in rows if row.amount is not None]
    values = [value for value in map(value_of, rows) if value is not None]
    unpriced = [row for row in rows if row.amount is not None and value_of(row) is None]
    none_known = (not amounts) if rows else not any(here)
    counted = bool(rows) or any(here)
    return {
        "amount": sum(amounts) if amounts or (counted and not rows) else None,
        "tokens": None if none_known else len({row.token for row in rows if row.amount}),
        "holders": None if none_known else len({row.wallet for row in rows if row.amount}),
        "balances": len(rows) if counted else None,
        "amount_na": len(rows) - len(amounts) if counted else None,
        "value": nearest(sum(values)) if values or (counted and not rows) else None,
        "unpriced": len(unpriced) if counted else None,
        "wallets_ok": sum(here),
        "wallets_asked": len(here),
    }


@pytest.mark.filterwarnings(
    "ignore::walletframe.errors.PricesWarning"
)  # drawn prices may match nothing
@settings(max_examples=30, deadline=None)
@given(kinds=st.sampled_from(CUTS), requested=st.booleans(), fetch=fetches)
@example(kinds=["token"], requested=True, fetch=FETCH)
@example(kinds=["wallet"], requested=True, fetch=FETCH)
def test_every_column_matches_plain_python(kinds, requested, fetch):
    """Each group is there once, with its amounts, counts, values and completeness."""
    wallets, holdings = details_of(fetch)
    table = totals(
        value(holdings, PRICES, currency="X"), kinds, wallets=wallets if requested else None
    )
    groups, known = expected(fetch, kinds, requested=requested), known_of(fetch)
    assert sorted(map(repr, groups_of(table, kinds))) == sorted(map(repr, groups))
    wanted = [
        measures(name, groups[name], known_for(fetch, groups[name]) if name[0] else known)
        for name in groups_of(table, kinds)
    ]
    for column in wanted[0].keys() & set(table.columns) if wanted else ():
        if column == "amount":
            result = fractions(table[column])
        elif column == "value":
            result = [None if np.isnan(each) else each for each in table[column]]
        else:
            result = optional(table[column])
        assert result == [each[column] for each in wanted], column


@pytest.mark.parametrize("kinds", CUTS, ids=".".join)
@pytest.mark.parametrize("fetch", [[], FETCH, FETCH[2:3], FETCH[3:]])
def test_columns_depend_on_the_arguments_alone(kinds, fetch):
    """Names and dtypes are the same for no rows, none known, and many."""
    wallets, holdings = details_of(fetch)
    table = totals(value(holdings, PRICES), kinds, wallets=wallets)
    full = totals(value(details_of(FETCH).holdings, PRICES), kinds, wallets=details_of(FETCH))
    assert dict(table.dtypes) == dict(full.dtypes)
    assert isinstance(table.index, pd.RangeIndex)


def test_failed_wallets_are_unknown_and_empty_ones_zero():
    """Failed, empty and unknown wallets have rows in the requested order."""
    wallets, holdings = details_of(FETCH)
    table = totals(value(holdings, PRICES), "wallet", wallets=wallets)
    assert table["address"].tolist() == ["0xAa", "0xbB", "0xcc", "0xaa", "alice.near"]
    assert optional(table["balances"]) == [3, 2, None, 0, None]
    assert optional(table["tokens"]) == [2, 1, None, 0, None]
    assert optional(table["wallets_ok"]) == [1, 1, 0, 1, 0]
    assert table["value"].isna().tolist() == [False, False, True, False, True]
    assert table["value"][3] == 0


def test_known_amounts_are_summed_and_unknown_ones_counted():
    """Three rows have one contract in two spellings, one of them an unreadable amount."""
    wallets, holdings = details_of(FETCH)
    dollars = totals(holdings, "token", wallets=wallets).iloc[1]
    assert dollars[["token_blockchain", "token_address", "symbol"]].tolist() == [
        "ETH",
        "0xA0",
        "USDC",
    ]
    assert (str(dollars["amount"]), dollars["balances"], dollars["amount_na"]) == ("6", 3, 1)
    assert (dollars["holders"], dollars["wallets_ok"], dollars["wallets_asked"]) == (1, 1, 3)


def test_unknown_amounts_are_not_zero():
    """If all are unknown, the sum and the holders are NA."""
    table = totals(details_of([(("ETH", "0xAa"), [UNKNOWN])]).holdings)
    assert table[["amount", "holders"]].isna().all(axis=None)
    assert table["amount_na"].item() == 1


def test_a_zero_balance_makes_no_holder():
    """A balance of 0 counts as a balance only."""
    none_left = (("ETH", None, "ETH"), 0, 18)
    table = totals(details_of([(("ETH", "0xAa"), [none_left])]).holdings)
    assert (table["holders"].item(), table["balances"].item(), str(table["amount"].item())) == (
        0,
        1,
        "0",
    )


def test_a_shared_symbol_is_refused_with_its_contracts():
    """Ether and its imitations are never one row."""
    holdings = details_of([(("ETH", "0xAa"), [ETHER, DOLLARS, FAKE])]).holdings
    with pytest.raises(AmbiguousTokenError, match=r'use by="token"') as caught:
        totals(holdings, "symbol")
    assert caught.value.contracts == {"ETH": [("ETH", None), ("BSC", "0xbad")]}
    one = totals(holdings[holdings["token_blockchain"] == "ETH"], ["symbol", "wallet"])
    assert one.columns[:5].tolist() == [
        *["token_blockchain", "token_address", "symbol"],
        *["blockchain", "address"],
    ]


COUNTS = ["balances", "amount_na", "value", "currency", "unpriced"]
COUNTS += ["wallets_ok", "wallets_stale", "wallets_asked"]
TOKEN = ["token_blockchain", "token_address", "symbol"]


@pytest.mark.parametrize(
    "by,names",
    [
        ("token", [*TOKEN, "amount", "holders"]),
        ("wallet", ["blockchain", "address", "tokens"]),
        ("blockchain", ["blockchain", "tokens", "holders"]),
        (["wallet", "token"], ["blockchain", "address", *TOKEN, "amount"]),
        (["token", "blockchain"], [*TOKEN, "blockchain", "amount", "holders"]),
        (["blockchain", "wallet", "wallet"], ["blockchain", "address", "tokens"]),
    ],
)
def test_no_amounts_without_tokens(by, names):
    """Counts depend on the groups; amounts of different tokens are never added."""
    wallets, holdings = details_of(FETCH)
    table = totals(value(holdings, PRICES), by, wallets=wallets)
    assert table.columns.tolist() == names + COUNTS
    assert totals(holdings, by).columns.tolist() == names + COUNTS[:2]


def test_columns_follow_the_requested_order():
    """Columns follow `by`, rows the wallets."""
    table = totals(details_of(FETCH).holdings, ["wallet", "token"])
    assert table.columns[:3].tolist() == ["blockchain", "address", "token_blockchain"]
    assert table["address"].tolist() == ["0xAa", "0xAa", "0xbB", "0xbB"]


@pytest.mark.parametrize("by", ["tokens", [], ["token", "chain"], [["token"]]])
def test_other_groups_are_refused(by):
    """The message lists the possible groups."""
    with pytest.raises(SettingsError, match="token, wallet, blockchain"):
        totals(details_of(FETCH).holdings, by)


def test_wallets_of_another_fetch_are_refused():
    """They have no information about completeness."""
    holdings = details_of(FETCH).holdings
    with pytest.raises(UnknownWalletError, match=r"ETH\.0xaa") as caught:
        totals(holdings, wallets=details_of(FETCH[1:]))
    assert "`holdings` has 1 wallet that `wallets` lacks" in caught.value.hint


def test_wrong_frames_are_refused():
    """Missing columns, amounts that are text, and wallets without a status."""
    wallets, holdings = details_of(FETCH)
    with pytest.raises(ColumnsError, match="'symbol'"):
        totals(holdings.drop(columns="symbol"))
    with pytest.raises(AmountError, match="astype"):
        totals(holdings.astype({"amount": "str"}))
    with pytest.raises(ColumnsError, match="'status'"):
        totals(holdings, wallets=wallets.drop(columns="status"))


def test_values_in_two_currencies_are_never_added():
    """Even if the currency of some is missing."""
    holdings = details_of(FETCH).holdings
    messages = {
        "EUR": "the values are in 2 currencies: 'USD', 'EUR'",
        None: "some values are in 'USD', and others have no currency",
    }
    for other, message in messages.items():
        both = [value(holdings, PRICES, currency=name) for name in ("USD", other)]
        with pytest.raises(PricesError, match=message):
            totals(pd.concat(both))
    assert totals(both[0])["currency"].unique().tolist() == ["USD"]


def test_own_values_are_summed():
    """A column of values, exact ones too, needs no currency."""
    holdings = details_of(FETCH).holdings
    table = totals(holdings.assign(value=holdings["amount"] * 2), "blockchain")
    assert table["value"].tolist() == [14]
    assert (table["currency"].isna().item(), table["unpriced"].item()) == (True, 0)


def test_a_repeated_wallet_counts_once():
    """It is known if it was ok once, as after a retry."""
    first, second = details_of(FETCH[2:3]), details_of([(("eth", "0xCC"), [ETHER])])
    both = pd.concat([first.wallets, second.wallets])
    table = totals(second.holdings, "blockchain", wallets=both)
    assert (table["wallets_ok"].item(), table["wallets_asked"].item()) == (1, 1)


@given(st.lists(st.tuples(st.floats(allow_nan=True, allow_infinity=False), st.integers(0, 2))))
def test_sums_of_floats_are_the_nearest(rows):
    """Sums are the nearest float in any order; NaN is left out and counted."""
    floats = np.array([number for number, _ in rows], dtype=float)
    ids = np.array([place for _, place in rows], dtype=np.intp)
    result = sum_floats_by_group(floats, ids, 3)
    known = [[Fraction(f) for f, i in rows if i == place and not np.isnan(f)] for place in range(3)]
    assert result.sums().tolist() == [nearest(sum(numbers)) for numbers in known]
    assert result.sizes.tolist() == list(map(len, known))


def test_infinite_floats_add_up_as_floats_do():
    """One infinite value makes its own group infinite; opposite ones make NaN."""
    floats = np.array([1.0, np.inf, 2.0, np.inf, -np.inf])
    sums = sum_floats_by_group(floats, np.array([0, 0, 1, 2, 2]), 3).sums()
    np.testing.assert_array_equal(sums, [np.inf, 2.0, np.nan])
