"""Blockchains: the list, one spelling for all, and suggestions for an unknown name."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from addresses import UPPER_A, UPPER_B, A, B
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
from walletframe.frames.schema import normalize_blockchains
from walletframe.pandas_versions import TEXT
from walletframe.service.ledger import CHAINS
from walletframe.tokens import native_coin

LIVE = [
    wallet(UPPER_A, "ETH", balances=[balance(blockchain="ETH"), balance(blockchain="eth")]),
    wallet(B, "eth", balances=[balance(blockchain="Eth"), balance(blockchain="bsc")]),
    wallet("x", "NEWCHAIN", balances=[balance(blockchain="newchain"), balance(blockchain="Other")]),
    wallet("y", "newChain", balances=[balance(blockchain="OTHER")]),
]
REQUESTED = [f"eth.{UPPER_A}", f"Eth.{B}", "NewChain.x", "newchain.y"]


def spellings(details):
    """Return all spellings in both frames."""
    columns = details.wallets.blockchain, details.holdings.blockchain
    return set().union(*columns, details.holdings.token_blockchain)


class TestList:
    """The identifiers, and their data from public lists."""

    def test_frame(self):
        """One row for each, in columns of fixed dtypes; missing data is NA."""
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

    def test_frame_is_a_copy(self):
        """A change has no effect on later frames."""
        mine = wf.blockchains()
        mine["name"] = "mine"
        assert wf.blockchains().name.nunique() > 90

    def test_identifiers_are_valid(self):
        """Capitals without a dot or white space: each can precede an address."""
        for name in known_blockchains():
            assert (parse_wallets(f"{name}.x")[0].blockchain, name.upper()) == (name, name)

    def test_native_coins_agree_with_the_list_of_tokens(self):
        """For each blockchain that both have."""
        coins = {name: native_coin(name).symbol for name in CHAINS}
        assert {name: find_blockchain(name).coin for name in CHAINS} == coins


class TestNear:
    """Suggestions for an unknown name."""

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
    def test_suggestions(self, written, meant):
        """By name, former name, native coin, beginning, or a letter's difference."""
        assert suggest_blockchains(written) == meant

    def test_at_most_three(self):
        """A longer list would not help."""
        assert suggest_blockchains("arb") == ["ARBITRUM", "GOERLI_ARBITRUM", "SEPOLIA_ARBITRUM"]
        assert len(suggest_blockchains("o")) == 3

    def test_known_ones_are_normalized_others_kept(self):
        """In any case and with white space."""
        assert [normalize_blockchain(name) for name in (" eth", "Avax_CChain", " Foo ")] == [
            "ETH",
            "AVAX_CCHAIN",
            "Foo",
        ]


class TestSpelling:
    """One spelling in all frames of any source."""

    def test_of_a_fetch(self, canned):
        """Known ones in capitals, others as first written, in the request, too."""
        canned.default = (200, {}, answer(*LIVE))
        with canned.client(batch_size=10) as client, pytest.warns(InputWarning, match="NewChain"):
            details = client.fetch(REQUESTED)
        assert spellings(details) == {"ETH", "BSC", "NewChain", "Other"}
        assert details.wallets.address.tolist() == [UPPER_A, B, "x", "y"]
        assert f"address=ETH.{UPPER_A}&address=ETH.{B}&address=NewChain.x" in canned.paths[0]
        assert (details.holdings.blockchain == "ETH").sum() == 4

    def test_of_the_cache(self, canned, tmp_path):
        """A cached answer is spelled like a new one."""
        canned.default = (200, {}, answer(LIVE[1]))
        with canned.client(cache=tmp_path / "answers.sqlite") as client:
            client.fetch(f"ETH.{B}")
            kept = client.fetch(f"eth.{UPPER_B}", offline=True)
        assert kept.wallets.source.item() == "cache"
        assert spellings(kept) == {"ETH", "BSC"}
        assert kept.holdings.address.unique().tolist() == [UPPER_B]

    def test_of_a_folder_of_an_earlier_release(self, canned, tmp_path):
        """Its files are unchanged; the frames read from it have one spelling."""
        canned.default = (200, {}, answer(*LIVE))
        with canned.client(batch_size=10) as client, pytest.warns(InputWarning):
            wf.fetch_to_parquet(REQUESTED, tmp_path / "bulk", client=client)
        for path in tmp_path.glob("bulk/[wh]*/*.parquet"):
            pq.write_table(as_written_once(pq.read_table(path, partitioning=None)), path)
        assert spellings(wf.read_wallets(tmp_path / "bulk")) == {"ETH", "BSC", "newchain", "other"}
        some = wf.read_wallets(tmp_path / "bulk", wallets=[f"Eth.{UPPER_A}", "NEWchain.y"])
        assert spellings(some) == {"ETH", "NEWchain", "other"}

    def test_of_snapshots_of_an_earlier_release(self, canned, tmp_path):
        """One snapshot, and many."""
        canned.default = (200, {}, answer(*LIVE[:2]))
        with canned.client(batch_size=10) as client:
            details = client.fetch(REQUESTED[:2])
        for day in ("2026-01-30T06:00Z", "2026-01-31T06:00Z"):
            old = (as_written_once(frame) for frame in details)
            history.save(tuple(old), folder=tmp_path / "history", at=day)
        assert spellings(history.snapshot(folder=tmp_path / "history")) == {"ETH", "BSC"}
        result = history.load(folder=tmp_path / "history", wallets=f"ETH.{UPPER_A}")
        assert spellings(result) == {"ETH"}
        assert len(result.wallets) == 2

    def test_normalized_frames_are_not_copied(self):
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

    def test_is_requested_as_written_and_reported_once(self, canned):
        """With the nearest ones, at the caller's line."""
        canned.default = (200, {}, answer(wallet(A, "Etherum"), wallet("b", "Avalanch")))
        with canned.client(batch_size=9) as client, pytest.warns(InputWarning) as caught:
            details = client.fetch([f"Etherum.{A}", "Avalanch.b"])
        [message] = [str(each.message) for each in caught]
        assert message == (
            "Etherum: did you mean ETH? Avalanch: did you mean AVAX_CCHAIN? "
            "wf.blockchains() lists the known blockchains"
        )
        assert caught[0].filename == __file__
        assert details.wallets.status.tolist() == ["ok", "ok"]
        assert f"Etherum.{A}" in canned.paths[0]

    @pytest.mark.parametrize(
        "reply, message",
        [
            ((200, {}, answer(wallet(A, "Etherum", failed=True))), "could not retrieve"),
            ((200, {}, answer()), "the answer does not contain this wallet"),
            ((400, {}, b"unknown blockchain"), "unknown blockchain"),
        ],
    )
    def test_a_failed_wallet_repeats_it(self, canned, reply, message):
        """After the service's own reason."""
        canned.default = reply
        with canned.client() as client, pytest.warns((InputWarning, FetchWarning)):
            error = client.fetch(f"Etherum.{A}").wallets.error.item()
        assert message in error
        assert error.endswith("; Etherum: did you mean ETH?")

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refused_key_is_not_the_blockchain_s_fault(self, canned, status):
        """The error does not mention the blockchain."""
        canned.default = (status, {}, b"no")
        with canned.client() as client, pytest.warns((InputWarning, FetchWarning)):
            assert "mean" not in client.fetch(f"Etherum.{A}").wallets.error.item()

    def test_a_failed_wallet_of_a_known_one_does_not(self, canned):
        """The error suggests no other one."""
        canned.default = (200, {}, answer(wallet(A, failed=True)))
        with canned.client() as client, pytest.warns(FetchWarning):
            assert "mean" not in client.fetch(f"ETH.{A}").wallets.error.item()

    def test_many_are_reported_in_one_line(self, canned):
        """The first three, and the number of the others."""
        canned.default = (200, {}, json.dumps({"wallets": []}).encode())
        wallets = [f"nochain{'x' * number}\u0301.{A}" for number in range(5)]
        with canned.client() as client, pytest.warns(InputWarning, match="and 2 more;") as caught:
            client.fetch(wallets, on_failure="ignore")
        assert len(caught) == 1
