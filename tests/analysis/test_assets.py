"""Assets on several blockchains: the packaged list, the user's, and totals and shares by asset."""

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest
from drawn_fetches import LARGEST, details_of, fractions, key, known_of, optional, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

import walletframe as wf
from walletframe.analysis.distribution import concentration, overlap, pivot, share, token_labels
from walletframe.analysis.sums import totals
from walletframe.chains import known_blockchains
from walletframe.errors import (
    AmbiguousTokenError,
    ArgumentError,
    ColumnsError,
    SettingsError,
    TokenListError,
    UnknownTokenError,
)
from walletframe.pandas_versions import TEXT
from walletframe.tokens import known_tokens

COLUMNS = ["asset", "token_blockchain", "token_address", "symbol", "kind"]
ON_ETH = ("ETH", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC")
ON_BASE = ("BASE", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC")
TWIN = ("POLYGON", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", "USDC.e")
FAKE = ("BASE", "0xbad", "USDC")
OTHER = ("BSC", "0x1", "AERO")
DOLLARS = [
    (("ETH", "0xa"), [(ON_ETH, 1_500_000, 6), (ON_ETH, LARGEST, 6)]),
    (("BASE", "0xa"), [(ON_BASE, 2_000_001, 6), (FAKE, 10**30, 18)]),
    (("POLYGON", "0xb"), [(TWIN, 4 * 10**6, 6), (("POLYGON", None, "POL"), 5, 0)]),
    (("BSC", "0xc"), [(OTHER, 7, 0)]),
    (("ARBITRUM", "0xd"), "failed"),
    (("BTC", "bc1q"), "failed"),
]
IN_ALL = Fraction(1_500_000 + LARGEST + 2_000_001, 10**6)


def by_name(table):
    """Return the rows of totals by asset, by name."""
    return {row["asset"]: row for row in table.to_dict("records")}


class TestList:
    """`walletframe.assets`."""

    def test_every_row_has_a_contract_of_an_asset_with_several(self):
        """Five columns of text; no contract twice, and the issuer has one on each blockchain."""
        listed = wf.assets()
        assert listed.columns.tolist() == COLUMNS
        assert set(listed.dtypes) == {TEXT}
        assert listed.index.equals(pd.RangeIndex(len(listed)))
        contracts = listed["token_address"].str.lower()
        assert (
            not listed.assign(contract=contracts).duplicated(["token_blockchain", "contract"]).any()
        )
        assert min(Counter(listed["asset"]).values()) > 1
        issued = listed[listed["kind"] != "bridged"]
        assert not issued.duplicated(["asset", "token_blockchain"]).any()
        assert set(listed["kind"]) == {"native", "canonical", "bridged"}
        assert ((listed["kind"] == "native") == listed["token_address"].isna()).all()

    def test_every_row_has_a_source(self):
        """A contract is a known token, which names its source; a coin is that of a blockchain."""
        known = {(token.blockchain, token.contract) for token in known_tokens()}
        coins = {(chain.identifier, chain.coin) for chain in known_blockchains().values()}
        for row in wf.assets().itertuples(index=False):
            if row.kind == "native":
                assert row.asset == row.symbol
                assert (row.token_blockchain, row.symbol) in coins
            else:
                assert (row.token_blockchain, row.token_address) in known

    @pytest.mark.parametrize(
        "chain,contract,asset,kind",
        [
            ("ETH", ON_ETH[1], "USDC", "canonical"),
            ("LINEA", "0x176211869cA2b568f2A7D4EE941E073a821EE1ff", "USDC", "canonical"),
            ("SOLANA", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "USDC", "canonical"),
            ("BSC", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", "USDC", "bridged"),
            ("CELO", "0xef4229c8c3250C675F21BCefa42f58EfbfF6002a", "USDC", "bridged"),
            ("ETH", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "ETH", "bridged"),
            ("OPTIMISM", "0xdC6fF44d5d932Cbd77B52E5612Ba0529DC6226F1", "WLD", "bridged"),
        ],
    )
    def test_kinds(self, chain, contract, asset, kind):
        """An issuer's own contract is canonical; a bridge's or a wrapper's is bridged."""
        listed = wf.assets()
        here = (listed["token_blockchain"] == chain) & (listed["token_address"] == contract)
        assert listed.loc[here, ["asset", "kind"]].to_numpy().tolist() == [[asset, kind]]

    def test_ether_is_a_coin_of_many_blockchains_without_test_networks(self):
        """Worthless coins of test networks are not added."""
        listed = wf.assets()
        ether = listed[(listed["asset"] == "ETH") & (listed["kind"] == "native")]
        chains = set(ether["token_blockchain"])
        assert {"ETH", "BASE", "LINEA", "SCROLL"} <= chains
        assert not any("GOERLI" in chain or "SEPOLIA" in chain for chain in chains)

    @pytest.mark.parametrize("asset", ["BTT", "EURe", "FRAX", "FXS", "MAGA", "Velo (BSC)"])
    def test_ambiguous_assets_are_left_out(self, asset):
        """Changed units, duplicate balances, moved symbols and namesakes are not listed."""
        assert asset not in set(wf.assets()["asset"])

    @pytest.mark.parametrize(
        "chain,contract",
        [
            ("BSC", "0x2B3F34e9D4b127797CE6244Ea341a83733ddd6E4"),
            ("OPTIMISM", "0x3c8B650257cFb5f272f799F5e2b4e65093a11a05"),
            ("ETH", "0x8dAEBADE922dF735c38C80C7eBD708Af50815fAa"),
            ("ETH", "0x1456688345527bE1f37E9e627DA0837D6f08C925"),
        ],
    )
    def test_former_contracts_are_left_out(self, chain, contract):
        """The first contracts of FLOKI, Velodrome and tBTC are not listed."""
        listed = wf.assets()
        here = (listed["token_blockchain"] == chain) & (listed["token_address"] == contract)
        assert not here.any()


class TestOwnList:
    """The user's own list."""

    own = pd.DataFrame(
        {
            "asset": ["Points", " Points ", "Dollars", None],
            "token_blockchain": ["eth", "BASE", "base", ""],
            "token_address": ["0x01", None, ON_BASE[1].upper().replace("0X", "0x"), None],
            "kind": ["bridged", None, "", None],
            "note": 7,
        }
    )

    def test_it_is_appended_and_overrides_the_packaged_list(self):
        """Rows keep their order; kinds are filled in, empty rows skipped."""
        listed = wf.assets(self.own)
        assert listed.tail(3)[["asset", "token_blockchain", "kind"]].to_numpy().tolist() == [
            ["Points", "ETH", "bridged"],
            ["Points", "BASE", "native"],
            ["Dollars", "BASE", "canonical"],
        ]
        assert len(listed) == len(wf.assets()) + 1  # BASE's own coin and its USDC changed assets
        assert wf.assets(listed).equals(listed)

    @pytest.mark.parametrize("name", ["own.csv", "own.parquet"])
    def test_files_equal_their_frame(self, tmp_path, name):
        """CSV and Parquet, by a str or a Path; names of columns may have spaces around them."""
        path = tmp_path / name
        if name.endswith("csv"):
            self.own.rename(columns={"asset": " asset"}).to_csv(path, index=False)
        else:
            self.own.to_parquet(path)
        wanted = wf.assets(self.own)
        assert wf.assets(path).equals(wanted)
        assert wf.assets(str(path)).equals(wanted)

    def test_all_bad_rows_are_reported_together(self):
        """With their positions: no asset, no blockchain, an odd kind, a contract of two assets."""
        bad = pd.DataFrame(
            {
                "asset": ["A", "B", None, "C", "D", "A"],
                "token_blockchain": ["ETH", "eth", "ETH", None, "ETH", "ETH"],
                "token_address": ["0xAB", "0xab", "0x2", "0x3", "0x4", "0xab"],
                "kind": [None, None, None, None, "\u202ewrapped", None],
            }
        )
        with pytest.raises(TokenListError, match="columns asset, token_blockchain") as caught:
            wf.assets(bad)
        assert [(place, reason) for place, _, reason in caught.value.problems] == [
            (1, "row 0 lists it as canonical A"),
            (2, "it has no asset"),
            (3, "it has no blockchain"),
            (4, caught.value.problems[3][2]),
        ]
        assert "not one of native, canonical, bridged" in caught.value.problems[3][2]
        assert "\u202e" not in str(caught.value)

    def test_other_arguments_are_refused(self, tmp_path):
        """Another type, a missing column, and an unreadable or missing file are refused."""
        with pytest.raises(ArgumentError, match="type int"):
            wf.assets(7)
        with pytest.raises(ColumnsError, match="token_address"):
            wf.assets(self.own.drop(columns="token_address"))
        (tmp_path / "bad.csv").write_bytes(b"\xff\xfe")
        with pytest.raises(TokenListError, match="can't be read"):
            wf.assets(tmp_path / "bad.csv")
        with pytest.raises(FileNotFoundError):
            wf.assets(tmp_path / "none.csv")


class TestTotals:
    """``totals(by="asset")``."""

    def test_amounts_of_an_asset_are_added_exactly(self):
        """Sums are exact; bridged and unlisted tokens and imitations stay apart."""
        details = details_of(DOLLARS)
        result = by_name(totals(details.holdings, "asset", wallets=details.wallets))
        assert list(result) == ["USDC", "USDC (BASE 0xbad)", "USDC.e", "POL", "AERO"]
        assert Fraction(result["USDC"]["amount"]) == IN_ALL
        assert Fraction(result["USDC.e"]["amount"]) == 4
        assert (result["USDC"]["contracts"], result["USDC"]["blockchains"]) == (2, 2)
        assert result["USDC"]["holders"] == 2

    def test_bridged_tokens_count_on_request(self):
        """With bridged=True, USDC.e is USDC; the imitation still is not."""
        result = by_name(totals(details_of(DOLLARS).holdings, "asset", bridged=True))
        assert list(result) == ["USDC", "USDC (BASE 0xbad)", "POL", "AERO"]
        assert Fraction(result["USDC"]["amount"]) == IN_ALL + 4
        assert (result["USDC"]["contracts"], result["USDC"]["blockchains"]) == (3, 3)

    def test_completeness_counts_all_blockchains_of_the_asset(self):
        """A failed wallet on any of them may hold USDC, but not one on Bitcoin."""
        details = details_of(DOLLARS)
        result = by_name(totals(details.holdings, "asset", wallets=details.wallets))
        assert (result["USDC"]["wallets_ok"], result["USDC"]["wallets_asked"]) == (3, 4)
        assert (result["AERO"]["wallets_ok"], result["AERO"]["wallets_asked"]) == (1, 1)

    def test_assets_beside_other_columns(self):
        """By wallet, each requested wallet has its row; with tokens, each has its asset."""
        details = details_of(DOLLARS)
        table = totals(details.holdings, ["wallet", "asset"], wallets=details.wallets)
        failed = table[table["asset"].isna()]
        assert failed["blockchain"].tolist() == ["ARBITRUM", "BTC"]
        assert failed[["amount", "contracts", "blockchains"]].isna().all(axis=None)
        each = totals(details.holdings, ["token", "asset"])
        assert each["asset"].tolist()[:2] == ["USDC", "USDC"]
        assert each.columns.tolist()[:6] == [
            "token_blockchain", "token_address", "symbol", "asset", "amount", "contracts",
        ]  # fmt: skip
        assert each.drop(columns=["asset", "contracts", "blockchains"]).equals(
            totals(details.holdings, "token")
        )

    def test_own_assets_count(self, tmp_path):
        """The own list may be a frame or a file."""
        own = pd.DataFrame([["Mine", *FAKE[:2]], ["Mine", *OTHER[:2]]], columns=COLUMNS[:3])
        own.to_csv(tmp_path / "own.csv", index=False)
        for more in (own, tmp_path / "own.csv"):
            result = by_name(totals(details_of(DOLLARS).holdings, "asset", assets=more))
            assert Fraction(result["Mine"]["amount"]) == 10**12 + 7
            assert (result["Mine"]["contracts"], result["Mine"]["blockchains"]) == (2, 2)

    def test_options_of_assets_need_assets(self):
        """Without assets these options are refused."""
        holdings = details_of(DOLLARS).holdings
        with pytest.raises(SettingsError, match="bridged=… applies only to tables of assets"):
            totals(holdings, "token", bridged=True)
        for ask in (share, concentration):
            with pytest.raises(SettingsError, match="assets=… applies only to tables of assets"):
                ask(holdings, token="AERO", assets=TestOwnList.own)
        for ask in (pivot, overlap, concentration):
            with pytest.raises(SettingsError, match="Hint: group by asset, or leave out bridged=…"):
                ask(holdings, by="token", bridged=True)

    def test_assets_are_the_default(self):
        """Written out or not."""
        details = details_of(DOLLARS)
        for wallets in (None, details.wallets):
            by_asset = totals(details.holdings, "asset", wallets=wallets)
            assert totals(details.holdings, wallets=wallets).equals(by_asset)
        assert totals(details.holdings, bridged=True)["asset"].tolist() == [
            *["USDC", "USDC (BASE 0xbad)", "POL", "AERO"]
        ]

    def test_no_rows_give_no_assets(self):
        """An empty fetch has all columns."""
        table = totals(details_of([]).holdings, "asset")
        assert len(table) == 0
        assert {"asset", "amount", "contracts", "blockchains"} <= {*table.columns}

    def test_unknown_tokens_are_never_added(self):
        """A balance of an unknown token is of no asset."""
        holdings = pd.concat([details_of(DOLLARS[:1]).holdings] * 2, ignore_index=True)
        table = totals(holdings.assign(token_blockchain=None), "asset")
        assert len(table) == len(holdings)
        assert (table["contracts"] == 1).all()

    @pytest.mark.parametrize("chain", ["asset", "ASSET", "\0"])
    def test_no_blockchain_is_mistaken_for_an_asset(self, chain):
        """No blockchain and contract of a service match an asset by accident."""
        fetch = [*DOLLARS, (("ETH", "0xe"), [((chain, "USDC", "USDC"), 9, 0)])]
        result = by_name(totals(details_of(fetch).holdings, "asset"))
        assert Fraction(result["USDC"]["amount"]) == IN_ALL
        assert len(result) == 6


class TestShare:
    """``share(asset=…)``."""

    def test_each_wallet_has_its_part_of_all_contracts(self):
        """Shares are exact; wallets that could hold it have a row, unknown ones NA."""
        details = details_of(DOLLARS)
        table = share(details.holdings, asset="USDC", wallets=details.wallets)
        assert table["blockchain"].tolist() == ["ETH", "BASE", "POLYGON", "ARBITRUM"]
        amounts = fractions(table["amount"])
        assert amounts == [
            Fraction(1_500_000 + LARGEST, 10**6),
            Fraction(2_000_001, 10**6),
            0,
            None,
        ]
        counts = table[["contracts", "blockchains", "wallets_ok", "wallets_asked"]].fillna(-1)
        rows = [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [-1, -1, 0, 1]]
        assert counts.to_numpy().tolist() == rows

    def test_bridged_tokens_and_own_assets(self):
        """`share` has the options of `totals`."""
        holdings = details_of(DOLLARS).holdings
        assert sum(fractions(share(holdings, asset="USDC", bridged=True)["amount"])) == IN_ALL + 4
        own = pd.DataFrame([["Mine", *FAKE[:2]]], columns=COLUMNS[:3])
        assert fractions(share(holdings, asset="Mine", assets=own)["amount"]) == [10**12]

    def test_owners_have_their_shares(self):
        """Each has its own contracts, and its wallets that could hold some."""
        wallets, holdings = details_of(DOLLARS)
        requested = wallets.assign(owner=["Ada", "Ada", "Ben", "Ben", "Eve", "Eve"])
        table = share(holdings, asset="USDC", by="owner", wallets=requested)
        assert table["owner"].tolist() == ["Ada", "Ben", "Eve"]
        assert fractions(table["amount"]) == [IN_ALL, 0, None]
        assert optional(table["contracts"]) == [2, 0, None]
        assert optional(table["wallets_ok"]) == [2, 1, 0]
        assert optional(table["wallets_asked"]) == [2, 1, 1]
        for by in ("owner", ["owner", "asset"]):
            assert share(holdings, "USDC", by=by, wallets=requested).equals(table)
        assert share(holdings, asset=ON_BASE[:2], by="owner", wallets=requested).equals(table)

    def test_the_rest_of_a_fetch_makes_no_groups(self):
        """By a column of holdings, only rows of the asset count."""
        details = details_of(DOLLARS)
        table = share(details.holdings, asset="USDC", by="token_blockchain", wallets=details)
        assert table["token_blockchain"].tolist() == ["ETH", "BASE"]
        assert set(optional(table["wallets_asked"])) == {4}

    def test_the_name_of_an_asset_is_read_without_case(self):
        """As in prices and colors."""
        holdings = details_of(DOLLARS).holdings
        assert share(holdings, asset=" usdc").equals(share(holdings, asset="USDC"))

    @pytest.mark.parametrize("held", [FAKE, (*TWIN[:2], "USDC")])
    def test_a_symbol_is_not_an_asset(self, held):
        """Where only an imitation or a bridged version is held, the hint names the options."""
        holdings = details_of([(("BASE", "0xa"), [(held, 9, 0)])]).holdings
        for ask in (share, concentration):
            with pytest.raises(UnknownTokenError) as caught:
                ask(holdings, "USDC")
            assert str(caught.value) == (
                "no row has the asset 'USDC'\n\nHint: pass bridged=True to include bridged "
                "versions of the asset, or token=… for a token with this symbol"
            )
            assert fractions(ask(holdings, token="USDC")["amount"]) == [9]

    def test_an_unlisted_token_is_an_asset(self):
        """It has its unique symbol as its name."""
        details = details_of(DOLLARS)
        table = share(details.holdings, "AERO", wallets=details.wallets)
        assert fractions(table["amount"]) == [7]
        assert share(details.holdings, OTHER[:2], wallets=details.wallets).equals(table)
        assert concentration(details.holdings, "AERO")["asset"].tolist() == ["AERO"]
        bridged = share(details.holdings, "USDC", bridged=True)
        assert share(details.holdings, "USDC.e", bridged=True).equals(bridged)
        with pytest.raises(UnknownTokenError, match="no row has the token 'DOGGY'"):
            share(details.holdings, "DOGGY")
        other = details_of([*DOLLARS, (("BASE", "0xe"), [(("BASE", "0x2", "AERO"), 1, 0)])])
        for kind in ("asset", "token"):
            with pytest.raises(AmbiguousTokenError, match="0x2") as caught:
                share(other.holdings, **{kind: "AERO"})
            assert "all contracts of the asset" not in str(caught.value)
        with pytest.raises(AmbiguousTokenError, match="of the asset with asset='USDC'"):
            share(other.holdings, token="USDC")

    def test_exactly_one_token_or_asset_is_needed(self):
        """Neither, and both, are errors."""
        holdings = details_of(DOLLARS).holdings
        with pytest.raises(SettingsError, match="a share needs one asset or one token"):
            share(holdings)
        with pytest.raises(SettingsError, match="token=… and asset=… can't be combined"):
            share(holdings, "USDC", token="AERO")


OWNED = [
    (("ETH", "0xa"), [(ON_ETH, 3, 0), (OTHER, 1, 0)]),
    (("BASE", "0xb"), [(ON_BASE, 1, 0), (FAKE, 7, 0)]),
    (("POLYGON", "0xc"), [(TWIN, 5, 0)]),
    (("SOLANA", "9xQe"), "failed"),
    (("BTC", "bc1q"), "failed"),
]


def owned():
    """Return a fetch with owners."""
    wallets, holdings = details_of(OWNED)
    return wallets.assign(owner=["Ada", "Ada", "Ben", "Ben", "Ada"]), holdings


class TestTables:
    """Comparisons of wallets, or owners, by assets."""

    def test_the_columns_of_a_table_are_assets(self):
        """A failed wallet is NA; an owner's amount is the sum of known wallets, as in totals."""
        wallets, holdings = owned()
        table = pivot(holdings, wallets=wallets)
        assert pivot(holdings, by="asset", wallets=wallets).equals(table)
        assert table.columns.tolist() == ["USDC", "AERO", "USDC (BASE 0xbad)", "USDC.e"]
        assert table.columns.name == "asset"
        assert fractions(table["USDC"]) == [3, 1, 0, None, None]
        by_owner = pivot(holdings, by=["owner", "asset"], wallets=wallets, bridged=True)
        assert by_owner.columns.tolist() == ["USDC", "AERO", "USDC (BASE 0xbad)"]
        sums = totals(holdings, ["owner", "asset"], wallets=wallets, bridged=True)
        held = sums[sums["asset"] == "USDC"].set_index("owner")["amount"]
        assert fractions(by_owner["USDC"]) == fractions(held[by_owner.index]) == [4, 5]
        assert fractions(by_owner["AERO"]) == [1, 0]
        by_owner = pivot(holdings, by=["owner", "token"], wallets=wallets)
        assert by_owner.columns.tolist() == token_labels(holdings).drop_duplicates().tolist()
        assert by_owner.columns.name == "token"
        assert fractions(by_owner.iloc[:, 0]) == [3, 0]

    def test_concentration_of_assets(self):
        """It counts all contracts; the totals by asset are beside it."""
        wallets, holdings = owned()
        every = concentration(holdings, wallets=wallets)
        assert concentration(holdings, by=["wallet", "asset"], wallets=wallets).equals(every)
        assert every[[*totals(holdings, "asset", wallets=wallets)]].equals(
            totals(holdings, "asset", wallets=wallets)
        )
        assert every["herfindahl"].tolist() == [0.625, 1, 1, 1]
        one = concentration(holdings, asset="USDC", by="owner", bridged=True, wallets=wallets)
        assert one["herfindahl"].tolist() == [(16 + 25) / 81]
        assert optional(one["contracts"]) == [3]
        with pytest.raises(SettingsError, match="can't be combined"):
            concentration(holdings, "USDC", token="USDC")

    def test_concentration_of_tokens(self):
        """Each contract has a row beside its totals."""
        wallets, holdings = owned()
        every = concentration(holdings, by="token", wallets=wallets)
        assert every.iloc[:, :-3].equals(totals(holdings, "token", wallets=wallets))
        assert every["herfindahl"].tolist() == [1] * 5
        one = concentration(holdings, token=ON_BASE[:2], by="owner", wallets=wallets)
        assert one["token_address"].tolist() == [ON_BASE[1]]
        assert fractions(one["amount"]) == [1]

    def test_overlap_by_assets(self):
        """Wallets on different blockchains, without a common token, share assets."""
        wallets, holdings = owned()
        assert overlap(holdings, by="token").empty
        pairs = overlap(holdings, wallets=wallets)
        assert overlap(holdings, by="asset", wallets=wallets).equals(pairs)
        assert pairs[["blockchain", "other_blockchain"]].to_numpy().tolist() == [["ETH", "BASE"]]
        assert (optional(pairs["assets_both"]), optional(pairs["assets_either"])) == ([1], [3])
        owners = overlap(holdings, by=["owner", "asset"], bridged=True, wallets=wallets)
        assert owners[["owner", "other_owner"]].to_numpy().tolist() == [["Ada", "Ben"]]
        assert owners["jaccard"].tolist() == [1 / 3]


TOKENS = [ON_ETH, ("eth", ON_ETH[1].lower(), "usdc"), ON_BASE, TWIN, FAKE, OTHER]
TOKENS += [("ETH", None, "ETH"), ("BASE", None, "ETH"), ("SOLANA", "EPjF", "USDC")]
WALLETS = [("ETH", "0xa"), ("BASE", "0xa"), ("POLYGON", "0xb"), ("SOLANA", "9xQe")]
ASSETS = {key(*ON_ETH[:2]): "USDC", key(*ON_BASE[:2]): "USDC"}
ASSETS |= {("ETH", None): "ETH", ("BASE", None): "ETH"}
amounts = st.sampled_from([0, 1, 10**18, LARGEST]) | st.integers(0, LARGEST)
balances = st.tuples(st.sampled_from(TOKENS), amounts, st.sampled_from([0, 6, 18, None]))
fetches = st.lists(
    st.tuples(st.sampled_from(WALLETS), st.lists(balances, max_size=6) | st.just("failed")),
    max_size=4,
    unique_by=lambda asked: asked[0],
)


def added_up(fetch, counted):
    """Compute each asset's sum, contracts, blockchains and holders by hand."""
    result = {}
    for row in rows_of(fetch):
        result.setdefault(counted.get(row.token, row.token), []).append(row)
    measures = []
    for rows in result.values():
        sums = [row.amount for row in rows if row.amount is not None]
        held = [row for row in rows if row.amount]
        counts = [
            len({row.token for row in held}) if sums else None,
            len({row.token[0] for row in held}) if sums else None,
            len({row.wallet for row in held}) if sums else None,
        ]
        measures.append((sum(sums) if sums else None, *counts, len(rows)))
    return measures


@settings(max_examples=100, deadline=None)
@given(fetch=fetches, bridged=st.booleans())
def test_totals_by_asset_match_plain_python(fetch, bridged):
    """Sums and counts of each asset are in the order of the first row."""
    counted = ASSETS | ({key(*TWIN[:2]): "USDC"} if bridged else {})
    table = totals(details_of(fetch).holdings, "asset", bridged=bridged)
    columns = [
        optional(table[name]) for name in ("contracts", "blockchains", "holders", "balances")
    ]
    assert [*zip(fractions(table["amount"]), *columns, strict=True)] == added_up(fetch, counted)
    assert table["asset"].is_unique


@settings(max_examples=60, deadline=None)
@given(fetch=fetches)
def test_shares_of_an_asset_match_plain_python(fetch):
    """Each wallet's amounts of all contracts are added; wallets elsewhere have no row."""
    rows = [row for row in rows_of(fetch) if ASSETS.get(row.token) == "USDC"]
    wallets, holdings = details_of(fetch)
    if not rows:
        with pytest.raises(UnknownTokenError):
            share(holdings, asset="USDC", wallets=wallets)
        return
    table = share(holdings, asset="USDC", wallets=wallets)
    result = dict(zip(map(key, table["blockchain"], table["address"]), fractions(table["amount"]),
                     strict=True))  # fmt: skip
    wanted = {}
    for wallet, known in known_of(fetch).items():
        mine = [row.amount for row in rows if row.wallet == wallet]
        sums = [amount for amount in mine if amount is not None]
        wanted[wallet] = sum(sums) if known and (sums or not mine) else None
    assert result == wanted
