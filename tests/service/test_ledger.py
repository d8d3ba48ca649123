"""The sandbox's ledgers: the simulated one draws, a given one replays."""

import json
from collections import Counter
from decimal import Decimal
from hashlib import sha256

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import requests
from addresses import ONE, UPPER_A, A, of_chain, whole
from hypothesis import given
from hypothesis import strategies as st

from walletframe.address.forms import WalletAddress, wallet_or_reason
from walletframe.errors import AnswerWarning, LedgerError
from walletframe.pandas_versions import TEXT
from walletframe.service import SHOWCASE, SimulatedLedger, sandbox
from walletframe.service.ledger import CHAINS, TOKENS
from walletframe.text import is_invisible

HEX = [f"0x{n:040x}" for n in range(400)]
UINT256_MAX = str(2**256 - 1)
ROW = {
    "blockchain": "ETH",
    "address": whole("AA"),
    "token_address": None,
    "symbol": "ETH",
    "raw_amount": "1500",
    "decimals": 18,
}
TOKEN = ROW | {"token_address": "0xCC", "symbol": "<b>", "raw_amount": UINT256_MAX, "price": 0.5}

WALLET = {"failed": False, "blockChain": "ETH", "address": UPPER_A, "balances": []}


def answer_of(*addresses, **options):
    """Return the whole answer of a fresh sandbox."""
    with sandbox(**options) as service:
        query = {"address": addresses, "apiKey": service.settings().api_key.reveal()}
        return requests.get(f"{service.base_url}/wallets/details", params=query, timeout=10).json()


def wallet_of(address, **options):
    """Return a fresh sandbox's entry for one wallet."""
    [wallet] = answer_of(address, **options)["wallets"]
    return wallet


def drawn(*texts, seed=0):
    """Return the simulated ledger's entries of wallets, as plain JSON."""
    ledger = SimulatedLedger(seed)
    details = [ledger.detail(WalletAddress.parse(text)) for text in texts]
    return json.loads(msgspec.json.encode(details))


@pytest.fixture
def saved(tmp_path):
    """Return a function that saves a value as a JSON file and returns its path."""

    def save(content):
        path = tmp_path / "ledger.json"
        path.write_text(json.dumps(content))
        return path

    return save


class TestSimulated:
    """The simulated ledger."""

    def test_it_draws_the_same_as_ever(self):
        """The generator's answers change only together with its version."""
        texts = [str(wallet) for wallet in SHOWCASE]
        texts += [f"{chain}.{of_chain(chain, number)}" for chain in CHAINS for number in range(20)]
        content = json.dumps(drawn(*texts), sort_keys=True)
        digest = sha256(content.encode()).hexdigest()
        assert SimulatedLedger().fingerprint == "v2-seed0"
        assert digest[:16] == "a51082b71f3707bd"

    def test_another_seed_draws_otherwise(self):
        """Holdings depend on the seed."""
        assert drawn(f"ETH.{ONE}", seed=1) != drawn(f"ETH.{ONE}", seed=2)

    def test_every_known_blockchain_holds_something(self):
        """On each known blockchain most wallets hold its native coin, which comes first."""
        for chain in CHAINS.values():
            wallets = (f"{chain.name}.{of_chain(chain.name, number)}" for number in range(20))
            held = [each["balances"] for each in drawn(*wallets)]
            coins = [balances[0] for balances in held if balances]
            assert len(coins) > 10
            assert {coin["asset"]["address"] for coin in coins} == {None}
            assert {coin["asset"]["symbol"] for coin in coins} == {chain.coin.symbol}
            assert {coin["amount"]["decimals"] for coin in coins} == {chain.coin.decimals}

    def test_a_malformed_address_fails(self):
        """With any holdings, unless these have the wallet."""
        assert wallet_of("ETH.0x12") == {
            "failed": True,
            "blockChain": "ETH",
            "address": "0x12",
            "balances": None,
            "explorerUrl": "https://etherscan.io/address/0x12",
        }
        ledger = pd.DataFrame([ROW, ROW | {"address": "0x12"}])
        assert wallet_of("ETH.vitalik.eth", ledger=ledger)["failed"]
        assert not wallet_of("ETH.0x12", ledger=ledger)["failed"]

    def test_a_few_are_empty_and_fewer_unknown(self):
        """Some wallets hold nothing, some have balances of null, most are ordinary."""
        kinds = Counter(
            "null" if wallet["balances"] is None else "held" if wallet["balances"] else "empty"
            for wallet in drawn(*(f"ETH.{one}" for one in HEX))
        )
        assert 0 < kinds["null"] < kinds["empty"] < 40
        assert kinds["held"] > 350

    def test_amounts_span_many_powers_of_ten(self):
        """The largest holding of a token is more than a million times the smallest."""
        balances = [
            one for w in drawn(*(f"ETH.{one}" for one in HEX)) for one in w["balances"] or []
        ]
        held = [int(one["amount"]["amount"]) for one in balances if one["asset"]["symbol"] == "DAI"]
        assert max(held) > 10**6 * min(held) > 0

    def test_there_are_hostile_symbols_collisions_and_extremes(self):
        """Spam, one symbol with two contracts, and 2**256 - 1 all occur by chance."""
        balances = [
            one for w in drawn(*(f"ETH.{one}" for one in HEX)) for one in w["balances"] or []
        ]
        symbols = {one["asset"]["symbol"] for one in balances}
        assert any(symbol.startswith("=HYPERLINK") for symbol in symbols)
        assert any("<script>" in symbol for symbol in symbols)
        tokens = {(one["asset"]["symbol"], one["asset"]["address"]) for one in balances}
        assert max(Counter(symbol for symbol, _ in tokens).values()) > 1
        assert UINT256_MAX in {one["amount"]["amount"] for one in balances}

    def test_no_wallet_lists_a_token_twice(self):
        """Within one wallet every contract appears once."""
        wallets = (f"{chain}.{of_chain(chain, n)}" for chain in TOKENS for n in range(50))
        for wallet in drawn(*wallets):
            contracts = [one["asset"]["address"] for one in wallet["balances"] or []]
            assert len(set(contracts)) == len(contracts)

    def test_the_real_tokens_are_well_formed(self):
        """Every contract in the table is distinct on its blockchain and looks like one of it."""
        forms = {"hex": r"0x[0-9a-fA-F]{40}", "solana": r"[1-9A-HJ-NP-Za-km-z]{32,44}"}
        forms |= {"tron": r"T[1-9A-HJ-NP-Za-km-z]{33}", "near": r"[0-9a-z.-]{2,64}"}
        for name, tokens in TOKENS.items():
            contracts = pd.Series([token.contract for token in tokens])
            assert contracts.str.fullmatch(forms[CHAINS[name].form]).all()
            assert contracts.is_unique

    def test_an_address_is_quoted_in_its_explorer_page(self):
        """Untrusted text in an address stays inside the path."""
        [wallet] = drawn(f"ETH.{ONE}/../?q=<b>")
        assert wallet["explorerUrl"] == f"https://etherscan.io/address/{ONE}%2F..%2F%3Fq%3D%3Cb%3E"

    @given(
        st.text(
            st.characters().filter(lambda char: not is_invisible(char)), min_size=1, max_size=40
        ).filter(lambda address: isinstance(wallet_or_reason(f"ETH.{address}"), WalletAddress)),
        st.integers(),
    )
    def test_any_address_gets_the_same_answer_twice(self, address, seed):
        """For any address and seed, the answer is valid and repeats."""
        first, second = (drawn(f"ETH.{address}", seed=seed) for _ in range(2))
        assert first == second
        assert all(one["amount"]["amount"].isdigit() for one in first[0]["balances"] or [])


class TestGivenFrame:
    """Holdings in a DataFrame."""

    def test_it_is_served_unchanged(self):
        """Rows become balances in their order, with their symbols and amounts."""
        wallet = wallet_of(
            f"ETH.{whole('aa')}", ledger=pd.DataFrame([ROW | {"price": None}, TOKEN])
        )
        coin, token = wallet["balances"]
        assert coin == {
            "asset": {"blockchain": "ETH", "address": None, "symbol": "ETH"},
            "amount": {"amount": "1500", "decimals": 18},
        }
        assert token["asset"] == {"blockchain": "ETH", "address": "0xCC", "symbol": "<b>"}
        assert token["amount"] == {"amount": UINT256_MAX, "decimals": 18}
        assert token["price"] == 0.5
        assert wallet["address"] == whole("aa")

    def test_a_wallet_that_is_not_in_it_is_empty(self):
        """Others hold nothing; on an unknown blockchain they fail."""
        frame = pd.DataFrame([ROW, ROW | {"blockchain": "MINE", "address": "m1"}])
        requested = [
            f"ETH.{whole('bb')}",
            "mine.m1",
            "MINE.m2",
            f"BTC.{of_chain('BTC', 1)}",
            "OTHER.o",
        ]
        result = answer_of(*requested, ledger=frame)["wallets"]
        assert [wallet["failed"] for wallet in result] == [False, False, False, False, True]
        assert [wallet["balances"] and 1 for wallet in result] == [[], 1, [], [], None]

    def test_a_frame_of_holdings_is_accepted(self):
        """The columns that walletframe returns need no change; the others are ignored."""
        frame = pd.DataFrame([ROW, TOKEN | {"decimals": None}]).assign(
            amount=[1.5e-15, None], token_blockchain=["ETH", None], price=[3000.0, np.nan]
        )
        frame["decimals"] = frame["decimals"].astype("Int16")
        frame = frame.astype({"blockchain": "category", "symbol": TEXT, "token_address": TEXT})
        coin, token = wallet_of(f"ETH.{whole('AA')}", ledger=frame)["balances"]
        assert coin["price"] == 3000.0
        assert token["amount"]["decimals"] is None
        assert token["asset"]["blockchain"] == "ETH"
        assert "price" not in token

    def test_a_fetch_is_served_with_unknown_tokens_and_failed_wallets(self):
        """The round trip keeps the token unknown, and the wallet failed."""
        requested = [f"ETH.{whole('AA')}", f"ETH.{ONE}"]
        with sandbox(ledger=pd.DataFrame([ROW, TOKEN])) as service:
            wallets, holdings = service.client(cache=False).fetch(requested)
        failed = wallets.assign(status=["ok", "failed"])
        names = ["symbol", "token_address", "token_blockchain"]
        unknown = holdings.assign(**dict.fromkeys(names))
        warned = pytest.warns(AnswerWarning, match="2 of 2 balances")
        with sandbox(ledger=(failed, unknown)) as service, warned:
            served = service.client(cache=False).fetch(requested, on_failure="ignore")
        assert served.wallets.status.tolist() == ["ok", "failed"]
        assert served.wallets.error[0] == "2 of 2 balances could not be read"
        assert served.holdings[names].isna().all(axis=None)
        assert served.holdings.raw_amount.tolist() == unknown.raw_amount.tolist()
        with pytest.raises(LedgerError, match="the wallets lack 'status'"):
            sandbox(ledger=(wallets.drop(columns="status"), unknown))

    def test_whole_numbers_are_exact_amounts(self):
        """Ints of any kind and text of digits are served unchanged."""
        amounts = [7, 2**256 - 1, np.int64(7), np.uint64(2**64 - 1), "007"]
        frame = pd.DataFrame([ROW | {"raw_amount": one} for one in amounts], dtype=object)
        balances = wallet_of(f"ETH.{whole('AA')}", ledger=frame)["balances"]
        assert [one["amount"]["amount"] for one in balances] == [str(one) for one in amounts]

    def test_decimals_as_floats_are_read(self):
        """A frame read from CSV has decimals such as 6.0 beside NaN."""
        frame = pd.DataFrame([ROW | {"decimals": 6.0}, TOKEN | {"decimals": np.nan}])
        balances = wallet_of(f"ETH.{whole('AA')}", ledger=frame)["balances"]
        assert [one["amount"]["decimals"] for one in balances] == [6, None]

    def test_prices_of_any_kind_are_floats(self):
        """Arrow's decimals, NumPy's numbers and whole ones are read."""
        prices = [Decimal("0.5"), np.float32(0.5), 2]
        frame = pd.DataFrame([TOKEN | {"price": price} for price in prices], dtype=object)
        balances = wallet_of(f"ETH.{whole('AA')}", ledger=frame)["balances"]
        assert [one["price"] for one in balances] == [0.5, 0.5, 2.0]

    def test_an_empty_frame_serves_empty_wallets(self):
        """A frame without rows is a ledger without holdings."""
        assert wallet_of(f"ETH.{ONE}", ledger=pd.DataFrame(columns=[*ROW]))["balances"] == []

    @pytest.mark.parametrize(
        "column, value",
        [
            ("blockchain", None),
            ("address", 5),
            ("token_address", ""),
            ("token_address", 5),
            ("symbol", "\ud800"),
            ("raw_amount", 1.0),
            ("raw_amount", "1.0"),
            ("raw_amount", "-1"),
            ("raw_amount", "٣"),
            ("raw_amount", -1),
            ("raw_amount", None),
            ("raw_amount", True),
            ("raw_amount", "x" * 100_000),
            ("decimals", 1.5),
            ("decimals", "18"),
            ("decimals", True),
            ("price", "much"),
            ("price", float("inf")),
            ("price", [1]),
            ("price", True),
        ],
    )
    def test_a_wrong_cell_is_named(self, column, value):
        """The error names the row and the column, shortly."""
        frame = pd.DataFrame([TOKEN, TOKEN | {column: value}], dtype=object)
        with pytest.raises(LedgerError, match=rf"row 1 .*'{column}'") as caught:
            sandbox(ledger=frame)
        assert len(str(caught.value)) < 300

    @pytest.mark.parametrize(
        "change", [{"blockchain": "A.B"}, {"address": "0x1…2"}, {"address": ""}]
    )
    def test_a_row_without_a_wallet_is_named(self, change):
        """The error has the row and the fault of its wallet."""
        with pytest.raises(LedgerError, match=r"row 0 .*has no valid wallet"):
            sandbox(ledger=pd.DataFrame([ROW | change]))

    @pytest.mark.parametrize("column", list(ROW))
    def test_a_missing_column_is_named(self, column):
        """The error has the column, and lists the needed ones."""
        with pytest.raises(LedgerError, match=f"lack '{column}'"):
            sandbox(ledger=pd.DataFrame([ROW]).drop(columns=column))

    def test_a_duplicate_column_is_named(self):
        """Two columns of one name are refused, unless they are unused."""
        frame = pd.DataFrame([ROW])
        unused = pd.DataFrame([[1, 2, 3]], columns=["note", "note", 0])
        assert wallet_of(f"ETH.{whole('AA')}", ledger=pd.concat([frame, unused], axis=1))[
            "balances"
        ]
        with pytest.raises(LedgerError, match="several columns with the name 'symbol'"):
            sandbox(ledger=pd.concat([frame, frame[["symbol"]]], axis=1))

    def test_other_arguments_are_refused(self):
        """The error has the value's type."""
        with pytest.raises(LedgerError, match="a ledger of type int is not supported"):
            sandbox(ledger=5)


class TestGivenFile:
    """Holdings and answers in files."""

    def test_json_records_are_served(self, saved):
        """A list of records, by a path or its text, is served like a frame."""
        path = saved([ROW, TOKEN | {"raw_amount": 2**256 - 1}])
        for given_path in (path, str(path)):
            _, token = wallet_of(f"ETH.{whole('AA')}", ledger=given_path)["balances"]
            assert token["amount"]["amount"] == UINT256_MAX

    def test_an_empty_list_serves_empty_wallets(self, saved):
        """A file without records is a ledger without holdings."""
        assert wallet_of(f"ETH.{whole('AA')}", ledger=saved([]))["balances"] == []

    def test_parquet_is_served(self, tmp_path):
        """A Parquet file of holdings is served like a frame, with any other columns."""
        path = tmp_path / "holdings.parquet"
        frame = pd.DataFrame([ROW, TOKEN]).assign(note="mine")
        frame.astype({"decimals": "Int16", "blockchain": "category"}).to_parquet(path)
        coin, token = wallet_of(f"ETH.{whole('AA')}", ledger=path)["balances"]
        assert coin["amount"] == {"amount": "1500", "decimals": 18}
        assert token["amount"] == {"amount": UINT256_MAX, "decimals": 18}
        assert "price" not in coin

    def test_a_recorded_answer_is_replayed(self, saved):
        """An answer of the service is repeated, failures and nulls included."""
        requested = [*map(str, SHOWCASE), f"NOWHERE.{ONE}"]
        recorded = answer_of(*requested)
        assert answer_of(*requested, ledger=saved(recorded)) == recorded

    def test_a_recorded_unknown_token_stays_unknown(self, saved):
        """A null asset is served in the documented form, and not as the native coin."""
        unknown = {"asset": None, "amount": {"amount": "5", "decimals": 6}}
        path = saved({"wallets": [WALLET | {"balances": [unknown]}]})
        warned = pytest.warns(AnswerWarning, match="1 of 1 balance")
        with sandbox(ledger=path) as service, warned:
            _, holdings = service.client(cache=False).fetch(f"ETH.{UPPER_A}")
        assert holdings.token_blockchain.isna().tolist() == [True]
        assert holdings.amount.astype(str).tolist() == ["0.000005"]

    def test_an_answer_with_equal_repeats_is_one(self, saved):
        """A repeated wallet in the answer is fine if both agree, and named if not."""
        twin = WALLET | {"address": A}
        result = wallet_of(f"ETH.{UPPER_A}", ledger=saved({"wallets": [WALLET, twin]}))
        assert result["explorerUrl"] == f"https://etherscan.io/address/{UPPER_A}"
        path = saved({"wallets": [WALLET, twin | {"failed": True}]})
        with pytest.raises(LedgerError, match=rf"ETH\.{A} twice"):
            sandbox(ledger=path)

    @pytest.mark.parametrize(
        "content, reason",
        [
            ({"wallets": [{"failed": False}]}, "not a valid answer of the service"),
            ({"wallets": [WALLET | {"blockChain": ""}]}, "wallet 0"),
            ({"blockchain": {"0": "ETH"}}, "does not contain holdings"),
            ([1], "does not contain holdings"),
            ([{"blockchain": "ETH"}], "lack 'address'"),
            ([ROW | {"raw_amount": 1e18}], "row 0 .*'raw_amount'"),
        ],
    )
    def test_a_wrong_json_file_has_a_reason(self, saved, content, reason):
        """The error has the fault, and its position."""
        path = saved(content)
        with pytest.raises(LedgerError, match=reason):
            sandbox(ledger=path)

    @pytest.mark.parametrize("name", ["ledger.json", "ledger.parquet"])
    def test_a_missing_or_broken_file_is_named(self, tmp_path, name):
        """The error names the file."""
        path = tmp_path / name
        for _ in range(2):
            with pytest.raises(LedgerError, match=name):
                sandbox(ledger=path)
            path.write_bytes(b"[" * 100_000)

    def test_another_kind_of_file_is_refused(self):
        """Only .json and .parquet are read."""
        with pytest.raises(LedgerError, match=r"holdings\.csv is neither a .json nor a .parquet"):
            sandbox(ledger="holdings.csv")

    def test_a_parquet_file_without_a_column_names_it(self, tmp_path):
        """The error is that of a frame."""
        path = tmp_path / "holdings.PARQUET"
        pa.parquet.write_table(pa.table({"blockchain": ["ETH"]}), path)
        with pytest.raises(LedgerError, match="lack 'address'"):
            sandbox(ledger=path)


def cache_of(ledger):
    """Return the cache of this ledger's sandbox."""
    with sandbox(ledger=ledger) as service:
        return service.settings().cache


def test_each_ledger_has_a_cache_of_its_own():
    """Equal data share a cache in any order of wallets; any difference separates them."""
    other = ROW | {"address": whole("BB")}
    one, same = pd.DataFrame([ROW, other]), pd.DataFrame([other, ROW])
    changed = pd.DataFrame([ROW, other | {"raw_amount": "1501"}])
    assert cache_of(one) == cache_of(same) != cache_of(changed)
