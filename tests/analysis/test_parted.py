"""Tables of a folder, part by part: what the frames would give, to the last bit."""

import shutil
import warnings

import numpy as np
import pytest
from drawn_fetches import TOKENS, fetches_of
from drawn_fetches import details_of as details_without_prices
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import outcome, same
from parted import in_parts, write_parts

import walletframe as wf
from walletframe.accessor.folder import StoredWallets
from walletframe.analysis.distribution import concentration, pivot, share
from walletframe.analysis.parted import (
    chunked_concentration,
    chunked_pivot,
    chunked_share,
    chunked_totals,
    chunked_unit_prices,
)
from walletframe.analysis.sums import distinct_pairs, totals
from walletframe.analysis.valuation import value
from walletframe.bulk import PriceLookup
from walletframe.errors import (
    DatasetError,
    FramesNeededError,
    PricesError,
    SettingsError,
    SpamWarning,
)
from walletframe.frames.details import WalletDetails

UNKNOWN = [(None, None, "USDC"), (None, "0xa0", "claim at x.io")]
fetches = fetches_of(TOKENS + UNKNOWN)
NAMES = [
    "token",
    "asset",
    "wallet",
    "blockchain",
    "symbol",
    "decimals",
    "token_blockchain",
    "price",
]
cuts = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)


def details_of(fetch):
    """Give some balances a price of the service."""
    wallets, holdings = details_without_prices(fetch)
    numbers = np.arange(len(holdings))
    return WalletDetails(wallets, holdings.assign(price=np.where(numbers % 3, np.nan, numbers / 7)))


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    by=st.lists(cuts, min_size=2, max_size=2),
)
def test_totals(fetch, seed, wallets, by):
    """By anything, whatever is in which part."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    for names in by:
        found = outcome(lambda names=names: chunked_totals(held, names))
        expected = outcome(
            lambda names=names: totals(details.holdings, names, wallets=details.wallets)
        )
        same(found, expected)


@settings(max_examples=20)
@given(fetch=fetches, seed=st.integers(0, 9), chosen=st.integers(0, 2**8), dropped=st.booleans())
def test_some_wallets(fetch, seed, chosen, dropped):
    """Are what is left of the frames without the others, judged by all."""
    details = details_of(fetch)
    stored = StoredWallets(in_parts(details, seed=seed)).wf.flag_spam()
    flagged = details.holdings.wf.flag_spam()
    if dropped:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpamWarning)
            stored = stored.wf.without_spam()
        flagged = flagged[~flagged["is_spam"]]
    places = np.array([n for n in range(len(details.wallets)) if chosen >> n & 1], dtype=np.intp)
    some = details.wallets.iloc[places].reset_index(drop=True)
    owners = some["blockchain"] + "." + some["address"]
    left = (flagged["blockchain"] + "." + flagged["address"]).isin(owners)
    held = stored.holdings.select_wallets(places)
    expected = totals(flagged[left], ["is_spam", "token"], wallets=some)
    same(chunked_totals(held, ["is_spam", "token"]), expected)
    rows = held.read(None, [*flagged.columns])
    same(rows[flagged.columns], flagged[left].reset_index(drop=True))


NAMED = [
    {"token": "USDC"},
    {"token": "ETH"},
    {"token": ("ETH", "0xA0")},
    {"token": ("SOLANA", "EPjF")},
    {"asset": "ETH"},
    {"asset": ("BSC", "0xbad")},
    {"asset": "USDC"},
    {},
]
whose = st.sampled_from(["wallet", "blockchain", ["wallet", "decimals"], ["blockchain", "asset"]])


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    named=st.sampled_from(NAMED),
    by=whose,
)
def test_one_token(fetch, seed, wallets, named, by):
    """Shares and concentration of one, whatever it is called, or of all."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    own = {"by": by, **named}
    same(
        outcome(lambda: chunked_share(held, **own)),
        outcome(lambda: share(details.holdings, wallets=details.wallets, **own)),
    )
    same(
        outcome(lambda: chunked_concentration(held, top=1, **own)),
        outcome(lambda: concentration(details.holdings, top=1, wallets=details.wallets, **own)),
    )


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    n=st.integers(0, 4),
    by=st.sampled_from(["wallet", "blockchain", ["wallet", "asset"], "token"]),
)
def test_pivot(fetch, seed, wallets, n, by):
    """Of the foremost tokens, by their names among all."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    same(
        outcome(lambda: chunked_pivot(held, n, by=by)),
        outcome(lambda: pivot(details.holdings, n, by=by, wallets=details.wallets)),
    )


PRICES = {("ETH", "0xA0"): 1.0001, ("bsc", "0xa0"): 0.3, ("ETH", None): 2500, ("L2", "0x12"): 1e300}


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    prices=st.sampled_from([(PRICES, False), ({"ETH": 2.5, "NA": 0.1}, True), (None, False)]),
    by=cuts,
)
def test_value(fetch, seed, wallets, prices, by):
    """Sums of values, whatever is in which part."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    own = {"currency": "USD", "by_symbol": prices[1]}

    def found():
        units, currency = chunked_unit_prices(held, prices[0], **own)
        valued = held.valued(PriceLookup(units, prices[1], currency))
        return chunked_totals(valued, by), chunked_pivot(valued, 3)

    def expected():
        valued = value(details.holdings, prices[0], **own)
        return totals(valued, by, wallets=details.wallets), pivot(
            valued, 3, wallets=details.wallets
        )

    with warnings.catch_warnings(action="ignore"):
        tables, others = outcome(found), outcome(expected)
    for table, other in zip(tables, others, strict=True):
        same(table, other)


def test_a_folder_is_asked_as_its_frames_are(tmp_path):
    """With what was kept of wallets, from the files themselves."""
    fetch = [
        (
            ("ETH", "0xAa"),
            [(("ETH", "0xA0", "USDC"), 5, 0), (("ETH", None, "ETH"), 2**256 - 1, 18)],
        ),
        (("NEAR", "alice.near"), "failed"),
        (
            ("ETH", "0xbB"),
            [(("ETH", "0Xa0", "USDC.old"), 7, 0), (("BSC", "0xA0", "USDC"), 1, None)],
        ),
    ]
    details = details_of(fetch)
    stored = wf.open_wallets(write_parts(tmp_path, details, wallets=1))
    given = {"wallets": details.wallets}
    same(stored.wallets, details.wallets)
    same(stored.wf.totals("asset"), totals(details.holdings, "asset", **given))
    same(stored.wf.share("ETH"), share(details.holdings, "ETH", **given))
    same(stored.wf.concentration(), concentration(details.holdings, **given))
    foremost = stored.wf.pivot
    same(foremost(2), pivot(details.holdings, 2, **given))
    valued = value(details.holdings, PRICES, currency="USD")
    found = stored.wf.value(PRICES, currency="USD").wf.totals("wallet")
    same(found, totals(valued, "wallet", **given))
    assert repr(stored).endswith(f"On the disk, in {tmp_path}")
    assert "3 wallets on 2 blockchains" in repr(stored)


@pytest.mark.parametrize("raw", [1, 2**63 - 1, 2**63, 10**19, 2**64 - 1, 2**64, 2**127])
def test_any_amount_above_zero_has_a_holder(tmp_path, raw):
    """A folder counts tokens and holders whatever bits their base units have."""
    token = ("ETH", None, "ETH")
    fetch = [(("ETH", "0xAa"), [(token, raw, 18)]), (("ETH", "0xbB"), [(token, 0, 18)])]
    details = details_of(fetch)
    found = wf.open_wallets(write_parts(tmp_path, details, wallets=1)).wf.totals()
    same(found, totals(details.holdings, wallets=details.wallets))
    assert found["holders"].tolist() == [1]


def test_parts_are_merged_before_they_are_many(monkeypatch):
    """The table stays the same."""
    monkeypatch.setattr("walletframe.analysis.parted._MERGE_ROWS", 2)
    token = ("ETH", "0xA0", "USDC")
    fetch = [(("ETH", f"0x{number:02}"), [(token, number, 0)] * 2) for number in range(9)]
    details = details_of(fetch)
    held = in_parts(details, wallets=2)
    for by in ("token", "wallet", "decimals", "asset"):
        expected = totals(details.holdings, by, wallets=details.wallets)
        same(chunked_totals(held, by), expected)
    found, expected = StoredWallets(held), details
    same(found.wf.explain_spam(everything=True), expected.wf.explain_spam(everything=True))


def test_each_row_of_an_unknown_token_is_judged_alone():
    """What another one of the same name holds says nothing of it."""
    nameless = (None, None, "claim now")
    details = details_of([(("ETH", "0xAa"), [(nameless, 10**70, 0), (nameless, 1, 0)])])
    found = StoredWallets(in_parts(details)).wf.flag_spam(threshold=0.9).wf.totals("is_spam")
    same(found, details.wf.flag_spam(threshold=0.9).wf.totals("is_spam"))
    assert found["balances"].tolist() == [1, 1]


DENIED = [("BSC", "0xA0")]


@settings(max_examples=8)
@given(fetch=fetches, seed=st.integers(0, 9), wallets=st.integers(1, 3), twice=st.booleans())
def test_spam(fetch, seed, wallets, twice):
    """By all balances, whatever is in which part; those of unknown tokens one by one."""
    details = details_of(fetch)
    stored = StoredWallets(in_parts(details, seed=seed, wallets=wallets))
    same(stored.wf.explain_spam(everything=True), details.wf.explain_spam(everything=True))
    if twice:
        stored, details = stored.wf.flag_spam(deny=DENIED), details.wf.flag_spam(deny=DENIED)
    with warnings.catch_warnings(record=True, action="always") as ours:
        found = stored.wf.without_spam(deny=DENIED).wf.value({"ETH": 2}).wf.flag_spam()
    with warnings.catch_warnings(record=True, action="always") as theirs:
        expected = details.wf.without_spam(deny=DENIED).wf.value({"ETH": 2}).wf.flag_spam()
    assert [str(each.message) for each in ours] == [str(each.message) for each in theirs]
    for names in ("token", ["wallet", "spam_score"], ["is_spam", "spam_reasons"], "unit_price"):
        same(found.wf.totals(names), expected.wf.totals(names))
    own = {"token": ("ETH", "0xA0"), "by": ["wallet", "spam_reasons"]}
    same(outcome(lambda: found.wf.share(**own)), outcome(lambda: expected.wf.share(**own)))
    same(outcome(lambda: found.wf.share("ETH")), outcome(lambda: expected.wf.share("ETH")))
    same(found.wf.concentration(), expected.wf.concentration())
    ours, theirs = found.wf.pivot, expected.wf.pivot
    same(ours(2), theirs(2))


def test_the_wallets_of_a_folder_are_its_own():
    """Others are refused, since those on the disk count."""
    wallets, holdings = details_of([(("ETH", "0xAa"), [(("ETH", None, "ETH"), 2, 0)])])
    stored = StoredWallets(in_parts(WalletDetails(wallets, holdings)))
    with pytest.raises(SettingsError, match="has its own wallets"):
        stored.wf.totals(wallets=wallets)


def test_prices_of_the_service_that_cannot_be_used():
    """By their positions among the balances that are left."""
    spam, ether = ("ETH", "0xbad", "claim at x.io"), ("ETH", None, "ETH")
    wallets, holdings = details_of(
        [(("ETH", "0xAa"), [(spam, 1, 0), (ether, 2, 0), (ether, 3, 0)])]
    )
    details = WalletDetails(wallets, holdings.assign(price=[1.0, 2.0, -3.0]))
    with pytest.warns(SpamWarning, match="1 row of 1 token"):
        stored = StoredWallets(in_parts(details)).wf.without_spam()
    with pytest.raises(PricesError) as refused:
        stored.wf.value()
    assert [place for place, _, _ in refused.value.problems] == [1]


def test_refusals():
    """What only frames can answer is refused with what to do, and nothing else is."""
    stored = StoredWallets(in_parts(details_of([])))
    for name in ("overlap", "plot", "top"):
        with pytest.raises(FramesNeededError, match="read_wallets"):
            getattr(stored.wf, name)
    with pytest.raises(AttributeError, match="no attribute 'totls'"):
        _ = stored.wf.totls
    with pytest.raises(FramesNeededError, match=r"^value\(at=…\) takes balances"):
        stored.wf.value(at="snapshot")
    with pytest.raises(TypeError, match="'dropped'"):
        stored.wf.flag_spam(dropped=True)
    assert not hasattr(stored.wf, "_repr_html_")
    foremost = stored.wf.pivot
    with pytest.raises(SettingsError, match="group by 'decimals': it is a column of balances"):
        foremost(2, by="decimals")


def test_tables_of_unknown_tokens(monkeypatch):
    """Of a folder they are those of its frames, where not all rows fit into memory at once."""
    monkeypatch.setattr("walletframe.analysis.parted._BATCH_ROWS", 1)
    ether, nameless = ("ETH", None, "ETH"), (None, None, "claim now")
    held = [(ether, 2, 0), (nameless, 3, 0), (nameless, 4, 0)]
    details = details_of([(("ETH", "0xAa"), held), (("ETH", "0xbB"), held)])
    stored = StoredWallets(in_parts(details, wallets=1))
    same(stored.wf.concentration(), details.wf.concentration())
    with warnings.catch_warnings(action="ignore"):
        found, expected = (each.wf.without_spam(threshold=1) for each in (stored, details))
    same(found.wf.concentration(), expected.wf.concentration())
    for each in (stored, details):
        with pytest.raises(SettingsError, match="n must be 1 or more, not 0"):
            each.wf.pivot(0)
        with pytest.raises(SettingsError, match="of one token or of one asset"):
            each.wf.share()


def test_pairs_of_many_groups():
    """Beyond what 32 bits can number."""
    codes, members = np.array([1, 1, 0]), np.array([2**40, 2**40, 5])
    found = distinct_pairs(codes, members)
    assert [each.tolist() for each in found] == [[0, 1], [5, 2**40]]


def test_a_wallet_that_is_in_two_parts_is_refused(tmp_path):
    """Its balances would count twice."""
    details = details_of([(("ETH", "0xAa"), [(("ETH", None, "ETH"), 1, 0)])])
    folder = write_parts(tmp_path, details)
    for kind in ("wallets", "holdings"):
        shutil.copy(folder / kind / "part-000001.parquet", folder / kind / "part-000002.parquet")
    with pytest.raises(DatasetError, match="lists a wallet twice"):
        wf.open_wallets(folder)
