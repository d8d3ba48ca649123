"""Tables of a folder, part by part, equal those of frames, to the last bit."""

import shutil
import warnings
from functools import partial

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
from walletframe.analysis.chunked import (
    chunked_concentration,
    chunked_pivot,
    chunked_prices,
    chunked_share,
    chunked_totals,
)
from walletframe.analysis.distribution import concentration, pivot, share
from walletframe.analysis.sums import distinct_pairs, totals
from walletframe.analysis.valuation import value
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
    """Return frames in which some balances have a price of the service."""
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
    """Totals by any columns don't depend on the parts."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    for names in by:
        result = outcome(lambda names=names: chunked_totals(held, names))
        expected = outcome(
            lambda names=names: totals(details.holdings, names, wallets=details.wallets)
        )
        same(result, expected)


@settings(max_examples=20)
@given(fetch=fetches, seed=st.integers(0, 9), chosen=st.integers(0, 2**8), dropped=st.booleans())
def test_selected_wallets(fetch, seed, chosen, dropped):
    """Dropped wallets leave the totals that the frames have; spam is judged by all."""
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
    held = stored.holdings.holdings_of_wallets(places)
    expected = totals(flagged[left], ["is_spam", "token"], wallets=some)
    same(chunked_totals(held, ["is_spam", "token"]), expected)
    rows = held.read_rows(None, [*flagged.columns])
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
GROUPS = ["wallet", "blockchain", ["wallet", "decimals"], ["blockchain", "asset"], "token"]
whose = st.sampled_from(GROUPS)


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    named=st.sampled_from(NAMED),
    by=whose,
)
def test_one_token(fetch, seed, wallets, named, by):
    """Shares and concentration of one token or asset, by any spelling, or of all."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    own = {"by": by, "asset": None, "token": None, **named}
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
    """The table has the foremost assets or tokens, with their labels among all."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    tables = (
        outcome(lambda: chunked_pivot(held, n, by=by)),
        outcome(lambda: pivot(details.holdings, n, by=by, wallets=details.wallets)),
    )
    same(*tables)
    assert len({str(getattr(each, "attrs", "")) for each in tables}) == 1  # coverage


PRICES = {("ETH", "0xA0"): 1.0001, ("bsc", "0xa0"): 0.3, ("ETH", None): 2500, ("L2", "0x12"): 1e300}


@settings(max_examples=10)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    wallets=st.integers(1, 3),
    prices=st.sampled_from(
        [
            (PRICES, False),
            ({"ETH": 2.5, "NA": 0.1}, True),
            (None, False),
            ([PRICES, "service"], False),
            (["service", {"ETH": 2.5}], True),
        ]
    ),
    by=cuts,
)
def test_value(fetch, seed, wallets, prices, by):
    """Sums of values don't depend on the parts."""
    details = details_of(fetch)
    held = in_parts(details, seed=seed, wallets=wallets)
    own = {"currency": "USD", "by_symbol": prices[1], "assets": None, "bridged": False}

    def found():
        valued = held.with_prices(chunked_prices(held, prices[0], **own))
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


def test_folders_and_frames_have_equal_tables(tmp_path):
    """Kept columns of wallets are read from the files."""
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
    options = {"wallets": details.wallets}
    same(stored.wallets, details.wallets)
    same(stored.wf.totals("asset"), totals(details.holdings, "asset", **options))
    same(stored.wf.share("ETH"), share(details.holdings, "ETH", **options))
    foremost = stored.wf.pivot
    same(foremost(2), pivot(details.holdings, 2, **options))
    same(foremost(2, by="token"), pivot(details.holdings, 2, by="token", **options))
    for own in ({}, {"by": "token"}, {"asset": "ETH"}, {"token": ("BSC", "0xa0")}):
        expected = concentration(details.holdings, **own, **options)
        same(stored.wf.concentration(**own), expected)
    valued = value(details.holdings, PRICES, currency="USD")
    result = stored.wf.value(PRICES, currency="USD").wf.totals("wallet")
    same(result, totals(valued, "wallet", **options))
    assert repr(stored).endswith(f"On disk, in {tmp_path}")
    assert repr(stored.holdings) == repr(stored)
    assert "3 wallets on 2 blockchains" in repr(stored)


@pytest.mark.parametrize("raw", [1, 2**63 - 1, 2**63, 10**19, 2**64 - 1, 2**64, 2**127])
def test_any_amount_above_zero_has_a_holder(tmp_path, raw):
    """A folder counts tokens and holders for every bit pattern of base units."""
    token = ("ETH", None, "ETH")
    fetch = [(("ETH", "0xAa"), [(token, raw, 18)]), (("ETH", "0xbB"), [(token, 0, 18)])]
    details = details_of(fetch)
    result = wf.open_wallets(write_parts(tmp_path, details, wallets=1)).wf.totals()
    same(result, totals(details.holdings, wallets=details.wallets))
    assert result["holders"].tolist() == [1]


def test_merging_partial_tables_early_changes_nothing(monkeypatch):
    """The table stays the same."""
    monkeypatch.setattr("walletframe.analysis.chunked._MERGE_ROWS", 2)
    token = ("ETH", "0xA0", "USDC")
    fetch = [(("ETH", f"0x{number:02}"), [(token, number, 0)] * 2) for number in range(9)]
    details = details_of(fetch)
    held = in_parts(details, wallets=2)
    for by in ("token", "wallet", "decimals", "asset"):
        expected = totals(details.holdings, by, wallets=details.wallets)
        same(chunked_totals(held, by), expected)
    result, expected = StoredWallets(held), details
    same(result.wf.explain_spam(everything=True), expected.wf.explain_spam(everything=True))


def test_rows_of_unknown_tokens_are_judged_separately():
    """Another token of the same name is no evidence."""
    nameless = (None, None, "claim now")
    details = details_of([(("ETH", "0xAa"), [(nameless, 10**70, 0), (nameless, 1, 0)])])
    result = StoredWallets(in_parts(details)).wf.flag_spam(threshold=0.9).wf.totals("is_spam")
    same(result, details.wf.flag_spam(threshold=0.9).wf.totals("is_spam"))
    assert result["balances"].tolist() == [1, 1]


DENIED = [("BSC", "0xA0")]


@settings(max_examples=8)
@given(fetch=fetches, seed=st.integers(0, 9), wallets=st.integers(1, 3), twice=st.booleans())
def test_spam(fetch, seed, wallets, twice):
    """Spam is judged by all balances, in any parts; those of unknown tokens one by one."""
    details = details_of(fetch)
    stored = StoredWallets(in_parts(details, seed=seed, wallets=wallets))
    same(stored.wf.explain_spam(everything=True), details.wf.explain_spam(everything=True))
    if twice:
        stored, details = stored.wf.flag_spam(deny=DENIED), details.wf.flag_spam(deny=DENIED)
    with warnings.catch_warnings(record=True, action="always") as ours:
        result = stored.wf.without_spam(deny=DENIED).wf.value({"ETH": 2}).wf.flag_spam()
    with warnings.catch_warnings(record=True, action="always") as theirs:
        expected = details.wf.without_spam(deny=DENIED).wf.value({"ETH": 2}).wf.flag_spam()
    assert [str(each.message) for each in ours] == [str(each.message) for each in theirs]
    for names in ("token", ["wallet", "spam_score"], ["is_spam", "spam_reasons"], "unit_price"):
        same(result.wf.totals(names), expected.wf.totals(names))
    own = {"token": ("ETH", "0xA0"), "by": ["wallet", "spam_reasons"]}
    same(outcome(lambda: result.wf.share(**own)), outcome(lambda: expected.wf.share(**own)))
    same(outcome(lambda: result.wf.share("ETH")), outcome(lambda: expected.wf.share("ETH")))
    measures = (each.wf.concentration for each in (result, expected))
    same(*(outcome(partial(each, "ETH")) for each in measures))
    same(result.wf.concentration(), expected.wf.concentration())
    ours, theirs = result.wf.pivot, expected.wf.pivot
    same(ours(2), theirs(2))
    with warnings.catch_warnings(action="ignore"):
        for kind in (lambda fetch: fetch, lambda fetch: fetch.wf.without_spam(deny=DENIED)):
            again = [kind(each) for each in (stored, details)]
            same(*(each.wf.explain_spam(everything=True) for each in again))
            same(*(each.wf.without_spam().wf.totals("token") for each in again))
            same(*(each.wf.where(spam=False).wf.totals("token") for each in again))


def test_other_wallets_are_refused():
    """A folder has its own wallets on the disk."""
    wallets, holdings = details_of([(("ETH", "0xAa"), [(("ETH", None, "ETH"), 2, 0)])])
    stored = StoredWallets(in_parts(WalletDetails(wallets, holdings)))
    with pytest.raises(SettingsError, match="the folder already contains its wallets"):
        stored.wf.totals(wallets=wallets)


def test_unusable_prices_of_the_service():
    """Positions are those among the remaining balances."""
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


def test_methods_that_need_frames_are_refused():
    """The hint says how to read the frames."""
    stored = StoredWallets(in_parts(details_of([])))
    for name in ("overlap", "plot", "top"):
        with pytest.raises(FramesNeededError, match="read_wallets"):
            getattr(stored.wf, name)
    with pytest.raises(AttributeError, match="no attribute 'totls'"):
        _ = stored.wf.totls
    with pytest.raises(FramesNeededError, match=r"^value\(at=…\) needs balances"):
        stored.wf.value(at="snapshot")
    with pytest.raises(TypeError, match="'dropped'"):
        stored.wf.flag_spam(dropped=True)
    assert not hasattr(stored.wf, "_repr_html_")
    foremost = stored.wf.pivot
    with pytest.raises(
        SettingsError,
        match="grouping by 'decimals' needs the balances in memory, since 'decimals' is not a "
        "column of wallets",
    ):
        foremost(2, by="decimals")


def test_tables_of_unknown_tokens(monkeypatch):
    """Tables of a folder equal those of its frames, even if not all rows fit into memory."""
    monkeypatch.setattr("walletframe.analysis.chunked._BATCH_ROWS", 1)
    ether, nameless = ("ETH", None, "ETH"), (None, None, "claim now")
    held = [(ether, 2, 0), (nameless, 3, 0), (nameless, 4, 0)]
    details = details_of([(("ETH", "0xAa"), held), (("ETH", "0xbB"), held)])
    stored = StoredWallets(in_parts(details, wallets=1))
    same(stored.wf.concentration(), details.wf.concentration())
    with warnings.catch_warnings(action="ignore"):
        result, expected = (each.wf.without_spam(threshold=1) for each in (stored, details))
    same(result.wf.concentration(), expected.wf.concentration())
    for each in (stored, details):
        with pytest.raises(SettingsError, match="n must be 1 or more, not 0"):
            each.wf.pivot(0)
        with pytest.raises(SettingsError, match="a share needs one asset or one token"):
            each.wf.share()


def test_amounts_of_a_single_asset_are_added_up():
    """By wallet, too, in a folder as in frames; but not if parts have different assets."""
    dollars = ("ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC")
    on_base = ("BASE", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC")
    wallets = (("ETH", "0xAa"), ("BASE", "0xbB"), ("ETH", "0xcc"))
    for second, amounts in ((on_base, [2, 5]), (("ETH", None, "ETH"), None)):
        held = [[(dollars, 2, 0)], [(second, 5, 0)], "failed"]
        details = details_of([*zip(wallets, held, strict=True)])
        expected = details.wf.totals(by="wallet")
        same(StoredWallets(in_parts(details, wallets=1)).wf.totals(by="wallet"), expected)
        assert ("amount" in expected) == (amounts is not None)
        assert amounts is None or expected["amount"].tolist()[:2] == amounts
        assert amounts is None or expected["amount"].isna().tolist() == [False, False, True]


def test_pairs_of_many_groups():
    """Pairs are numbered beyond 32 bits."""
    codes, members = np.array([1, 1, 0]), np.array([2**40, 2**40, 5])
    result = distinct_pairs(codes, members)
    assert [each.tolist() for each in result] == [[0, 1], [5, 2**40]]


def test_a_wallet_in_two_parts_is_refused(tmp_path):
    """Its balances would count twice."""
    details = details_of([(("ETH", "0xAa"), [(("ETH", None, "ETH"), 1, 0)])])
    folder = write_parts(tmp_path, details)
    for kind in ("wallets", "holdings"):
        shutil.copy(folder / kind / "part-000001.parquet", folder / kind / "part-000002.parquet")
    with pytest.raises(DatasetError, match="lists a wallet twice"):
        wf.open_wallets(folder)
