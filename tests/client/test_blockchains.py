"""Blockchains: the list, one spelling for all, and what was meant by an unknown name."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from canned_service import answer, balance, wallet

import walletframe as wf
from walletframe import history
from walletframe.address.lists import parse_wallets
from walletframe.chains import (
    find_blockchain,
    known_blockchains,
    normalize_blockchain,
    suggest_blockchains,
)
from walletframe.errors import FetchWarning, InputWarning
from walletframe.frames.contract import normalize_blockchains
from walletframe.pandas_versions import TEXT
from walletframe.service.ledger import CHAINS
from walletframe.tokens import native_coin

LIVE = [
    wallet("0xA", "ETH", balances=[balance(blockchain="ETH"), balance(blockchain="eth")]),
    wallet("0xb", "eth", balances=[balance(blockchain="Eth"), balance(blockchain="bsc")]),
    wallet("x", "NEWCHAIN", balances=[balance(blockchain="newchain"), balance(blockchain="Other")]),
    wallet("y", "newChain", balances=[balance(blockchain="OTHER")]),
]
ASKED = ["eth.0xA", "Eth.0xb", "NewChain.x", "newchain.y"]


def spellings(details):
    """Return all spellings in both frames."""
    columns = details.wallets.blockchain, details.holdings.blockchain
    return set().union(*columns, details.holdings.token_blockchain)


class TestList:
    """The identifiers, and what public lists say of them."""

    def test_frame(self):
        """One row for each, in columns of fixed dtypes; what the lists lack is NA."""
        frame = wf.blockchains()
        assert len(frame) == frame.blockchain.nunique() == 107
        assert frame.dtypes.tolist() == [TEXT, TEXT, TEXT, "Int64"]
        known = frame.set_index("blockchain")
        assert known.loc["BSC"].tolist() == ["BNB Smart Chain Mainnet", "BNB", 56]
        assert known.loc["SOLANA", ["name", "coin"]].tolist() == ["Solana Mainnet Beta", "SOL"]
        assert known.loc["SOLANA"].isna().tolist() == [False, False, True]
        assert known.loc["HYPERLIQUID"].isna().all()
        assert known.chain_id.dropna().is_unique
        assert known.chain_id.notna().sum() >= 50

    def test_frame_can_be_changed(self):
        """It is the caller's own."""
        mine = wf.blockchains()
        mine["name"] = "mine"
        assert wf.blockchains().name.nunique() > 90

    def test_identifiers_are_what_the_service_could_mean(self):
        """Capitals without a dot or white space: each can stand in front of an address."""
        for name in known_blockchains():
            assert (parse_wallets(f"{name}.x")[0].blockchain, name.upper()) == (name, name)

    def test_native_coins_agree_with_the_list_of_tokens(self):
        """Of each blockchain that both know."""
        coins = {name: native_coin(name).symbol for name in CHAINS}
        assert {name: find_blockchain(name).coin for name in CHAINS} == coins


class TestNear:
    """What somebody may have meant."""

    @pytest.mark.parametrize(
        "written, meant",
        [
            ("Ethereum", ["ETH"]),
            ("ethereum-mainnet", ["ETH"]),
            ("ETHERIUM", ["ETH"]),
            ("matic", ["POLYGON"]),
            ("Polygn", ["POLYGON", "POLYGONZK"]),
            ("avax", ["AVAX_CCHAIN"]),
            ("Avalanche", ["AVAX_CCHAIN"]),
            ("binance", ["BSC"]),
            ("BNB Chain", ["BSC", "BNB"]),
            ("arbitrum_one", ["ARBITRUM"]),
            ("xdai", ["GNOSIS"]),
            ("Bitcoin", ["BTC"]),
            ("sol", ["SOLANA"]),
            ("cosmoshub", ["COSMOS"]),
            ("nonsense", []),
            ("", []),
            ("…", []),
        ],
    )
    def test_what_people_write(self, written, meant):
        """By name, former name, native coin, beginning, or a letter's difference."""
        assert suggest_blockchains(written) == meant

    def test_at_most_three(self):
        """A list of all would help nobody."""
        assert suggest_blockchains("arb") == ["ARBITRUM", "GOERLI_ARBITRUM", "SEPOLIA_ARBITRUM"]
        assert len(suggest_blockchains("o")) == 3

    def test_known_ones_are_spelled_others_kept(self):
        """Whatever the case and the white space."""
        assert [normalize_blockchain(name) for name in (" eth", "Avax_CChain", " Foo ")] == [
            "ETH",
            "AVAX_CCHAIN",
            "Foo",
        ]


class TestSpelling:
    """One spelling in all frames, from wherever they come."""

    def test_of_a_fetch(self, canned):
        """Known ones in capitals, others as first written, in the request, too."""
        canned.default = (200, {}, answer(*LIVE))
        with canned.client(batch_size=10) as client, pytest.warns(InputWarning, match="NewChain"):
            details = client.fetch(ASKED)
        assert spellings(details) == {"ETH", "BSC", "NewChain", "Other"}
        assert details.wallets.address.tolist() == ["0xA", "0xb", "x", "y"]
        assert "address=ETH.0xA&address=ETH.0xb&address=NewChain.x" in canned.paths[0]
        assert (details.holdings.blockchain == "ETH").sum() == 4

    def test_of_the_cache(self, canned, tmp_path):
        """An answer that was kept is spelled like a new one."""
        canned.default = (200, {}, answer(LIVE[1]))
        with canned.client(cache=tmp_path / "answers.sqlite") as client:
            client.fetch("ETH.0xb")
            kept = client.fetch("eth.0xB", offline=True)
        assert kept.wallets.source.item() == "cache"
        assert spellings(kept) == {"ETH", "BSC"}
        assert kept.holdings.address.unique().tolist() == ["0xB"]

    def test_of_a_folder_of_an_earlier_release(self, canned, tmp_path):
        """Its files are as they were; what is read of them is in one spelling."""
        canned.default = (200, {}, answer(*LIVE))
        with canned.client(batch_size=10) as client, pytest.warns(InputWarning):
            wf.fetch_to_parquet(ASKED, tmp_path / "bulk", client=client)
        for path in tmp_path.glob("bulk/[wh]*/*.parquet"):
            pq.write_table(as_written_once(pq.read_table(path, partitioning=None)), path)
        assert spellings(wf.read_wallets(tmp_path / "bulk")) == {"ETH", "BSC", "newchain", "other"}
        some = wf.read_wallets(tmp_path / "bulk", wallets=["Eth.0xA", "NEWchain.y"])
        assert spellings(some) == {"ETH", "NEWchain", "other"}

    def test_of_snapshots_of_an_earlier_release(self, canned, tmp_path):
        """Of one and of many."""
        canned.default = (200, {}, answer(*LIVE[:2]))
        with canned.client(batch_size=10) as client:
            details = client.fetch(ASKED[:2])
        for day in ("2026-01-30T06:00Z", "2026-01-31T06:00Z"):
            old = (as_written_once(frame) for frame in details)
            history.save(tuple(old), folder=tmp_path / "history", at=day)
        assert spellings(history.snapshot(folder=tmp_path / "history")) == {"ETH", "BSC"}
        found = history.load(folder=tmp_path / "history", wallets="ETH.0xA")
        assert spellings(found) == {"ETH"}
        assert len(found.wallets) == 2

    def test_nothing_is_copied_where_nothing_changes(self):
        """Frames that are spelled well come back as they are."""
        frame = pd.DataFrame({"blockchain": ["ETH"], "token_blockchain": [None]}, dtype=TEXT)
        assert normalize_blockchains(frame)[0] is frame


def as_written_once(table):
    """Return a table, or a frame, with its blockchains in small letters."""
    names = [name for name in ("blockchain", "token_blockchain") if name in [*table_names(table)]]
    if isinstance(table, pd.DataFrame):
        return table.assign(**{name: table[name].str.lower() for name in names})
    for name in names:
        lower = pa.array([each.lower() for each in table[name].to_pylist()], pa.large_string())
        table = table.set_column(table.column_names.index(name), name, lower)
    return table


def table_names(table):
    """Return the names of the columns."""
    return table.columns if isinstance(table, pd.DataFrame) else table.column_names


class TestDoubt:
    """An identifier that is not in the list."""

    def test_is_asked_as_written_and_told_once(self, canned):
        """With the nearest ones, at the caller's line."""
        canned.default = (200, {}, answer(wallet("0xa", "Ethereum"), wallet("b", "matic")))
        with canned.client(batch_size=9) as client, pytest.warns(InputWarning) as caught:
            details = client.fetch(["Ethereum.0xa", "matic.b"])
        [told] = [str(each.message) for each in caught]
        assert told == (
            "Ethereum: did you mean ETH? matic: did you mean POLYGON? "
            "107 blockchains are known, see wf.blockchains()"
        )
        assert caught[0].filename == __file__
        assert details.wallets.status.tolist() == ["ok", "ok"]
        assert "Ethereum.0xa" in canned.paths[0]

    @pytest.mark.parametrize(
        "reply, said",
        [
            ((200, {}, answer(wallet("0xa", "Ethereum", failed=True))), "could not retrieve"),
            ((200, {}, answer()), "left this wallet out"),
            ((400, {}, b"unknown blockchain"), "unknown blockchain"),
        ],
    )
    def test_a_failed_wallet_repeats_it(self, canned, reply, said):
        """Behind the service's own reason."""
        canned.default = reply
        with canned.client() as client, pytest.warns((InputWarning, FetchWarning)):
            error = client.fetch("Ethereum.0xa").wallets.error.item()
        assert said in error
        assert error.endswith("; Ethereum: did you mean ETH?")

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refused_key_is_not_the_blockchain_s_fault(self, canned, status):
        """Nothing is said of the blockchain then."""
        canned.default = (status, {}, b"no")
        with canned.client() as client, pytest.warns((InputWarning, FetchWarning)):
            assert "mean" not in client.fetch("Ethereum.0xa").wallets.error.item()

    def test_a_failed_wallet_of_a_known_one_does_not(self, canned):
        """There is nothing to doubt."""
        canned.default = (200, {}, answer(wallet("0xa", failed=True)))
        with canned.client() as client, pytest.warns(FetchWarning):
            assert "mean" not in client.fetch("ETH.0xa").wallets.error.item()

    def test_many_are_told_in_one_line(self, canned):
        """The first three, and how many more."""
        canned.default = (200, {}, json.dumps({"wallets": []}).encode())
        wallets = [f"nochain{'x' * number}\u0301.0xa" for number in range(5)]
        with canned.client() as client, pytest.warns(InputWarning, match="and 2 more;") as caught:
            client.fetch(wallets, on_failure="ignore")
        assert len(caught) == 1
