"""Lists with mistakes: `check`, `clean` and `fix=True`."""

import sys

import pandas as pd
import pytest
from canned_service import answer, wallet

import walletframe as wf
from walletframe.address import formats
from walletframe.address.forms import WalletAddress
from walletframe.address.lists import read_pasted
from walletframe.chains import identifier_of_alias, known_blockchains
from walletframe.errors import AddressError, FetchWarning, InputWarning, SettingsError
from walletframe.pandas_versions import TEXT

ONE, TWO = (f"0x{digit * 40}" for digit in "12")
PEOPLE = pd.DataFrame(
    {
        "blockchain": ["Ethereum", "eth", None, "137"],
        "address": [ONE, TWO, None, ONE],
        "owner": ["Ada L", "ada l ", "x", "Ben"],
        "limit": pd.array([1, 2, 3, None], dtype="Int64"),
    },
    index=list("abcd"),
)
REPLACED = (
    "replaced 'Ethereum' with ETH (1 row); '137' with POLYGON (1 row); "
    "'ada l' with 'Ada L' in 'owner'"
)


def problem(text):
    """Return the problem that `check` finds in one wallet, and the fix."""
    return wf.check([text])[["problem", "fix"]].fillna("").iloc[0].tolist()


class TestAliases:
    """Aliases of blockchains."""

    @pytest.mark.parametrize(
        "alias, identifier",
        [
            ("Ethereum", "ETH"),
            (" ethereum-mainnet", "ETH"),
            ("1", "ETH"),
            ("eip155:1", "ETH"),
            ("EIP155:42161", "ARBITRUM"),
            ("Arbitrum One", "ARBITRUM"),
            ("arbitrum_one", "ARBITRUM"),
            ("MATIC", "POLYGON"),
            ("Avalanche", "AVAX_CCHAIN"),
            ("BNB Chain", "BSC"),
            ("bitcoin", "BTC"),
            ("sol", "SOLANA"),
            ("XRP", "XRPL"),
        ],
    )
    def test_names_and_chain_ids(self, alias, identifier):
        """Names, native coins and chain ids that only one blockchain has are aliases."""
        assert identifier_of_alias(alias) == identifier

    @pytest.mark.parametrize(
        "text",
        [
            *("cro", "Terra chain", "BNB mainnet", "S", "Polygn", "0", "1.0", "01", "eip155:None"),
            *("", "…", "\ufeffETH", "ETHé", "none"),
        ],
    )
    def test_what_is_unsure_is_no_alias(self, text):
        """Names of several blockchains, typos and invisible characters make no alias."""
        assert identifier_of_alias(text) is None

    def test_an_identifier_means_itself(self):
        """BNB and TERRA are identifiers, although they are also names of other blockchains."""
        assert {*map(identifier_of_alias, known_blockchains())} == {None}
        assert WalletAddress.parse("bnb.x").blockchain == "BNB"

    @pytest.mark.parametrize("chain_id", [1, 1.0, "1", " eip155:1 "])
    def test_a_column_of_chain_ids(self, chain_id):
        """Chain ids may be integers, or floats in a column with missing values."""
        with pytest.warns(InputWarning, match="1' with ETH"):
            assert wf.clean([(chain_id, ONE)]).blockchain.tolist() == ["ETH"]

    @pytest.mark.parametrize("number", [0, 7.0, 1.5, float("inf"), 10**400, b"1"])
    def test_other_numbers_are_refused(self, number):
        """A number that is the chain id of no known blockchain is not a blockchain."""
        with pytest.raises(AddressError, match="must be strings"):
            wf.clean([(number, ONE)])

    def test_one_wallet_is_refused_with_its_fix(self):
        """A single wallet and pasted text are refused with the same fix."""
        with pytest.raises(AddressError, match="write ETH instead of 'Ethereum'"):
            WalletAddress.parse(f"Ethereum.{ONE}")
        pasted = read_pasted(f"NEAR.bob\nmatic.{ONE}")
        assert pasted.problems == [(2, "matic", "write POLYGON instead")]

    def test_a_join_understands_them(self, client):
        """A list that was fetched with fix=True is joined by the same wallets."""
        with pytest.warns(InputWarning, match="replaced"):
            wallets, _ = PEOPLE.wf.fetch(fix=True, client=client)
        joined = PEOPLE.dropna(subset="blockchain").wf.join(wallets, how="inner")
        assert joined.blockchain.tolist() == ["ETH", "ETH", "POLYGON"]


class TestFetch:
    """A fetch of a list with aliases."""

    def test_is_refused_before_any_request(self, canned):
        """The message counts the aliases. The attributes contain all of them."""
        wallets = [f"Ethereum.{ONE}", "bad", f"matic.{ONE}", f"Ethereum.{TWO}"]
        with canned.client() as client, pytest.raises(AddressError) as caught:
            client.fetch(wallets)
        assert canned.paths == []
        assert str(caught.value).splitlines()[2:] == [
            "the service has another name for the blockchain of 3 wallets:",
            "  write ETH instead of 'Ethereum': 2 wallets",
            "  write POLYGON instead of 'matic': 1 wallet",
            "",
            (
                'Hint: write a wallet as "<BLOCKCHAIN>.<ADDRESS>", such as "ETH.0x52…", or as a '
                "(blockchain, address) pair; in addition, to replace these names, pass fix=True to "
                "fetch_wallets or call wf.clean(…) first"
            ),
        ]
        fixes = ((0, "Ethereum", "ETH"), (2, "matic", "POLYGON"), (3, "Ethereum", "ETH"))
        assert caught.value.fixes == fixes
        assert [place for place, _, _ in caught.value.problems] == [0, 1, 2, 3]

    def test_dropping_unreadable_rows_does_not_drop_them(self, canned):
        """An alias is not unreadable."""
        with canned.client() as client, pytest.raises(AddressError) as caught:
            client.fetch([f"matic.{ONE}"], on_unreadable="drop")
        assert str(caught.value).startswith(
            "the service has another name for the blockchain of 1 wallet:"
        )

    def test_fix_replaces_them_in_one_line(self, canned):
        """Requests have identifiers, labels have one spelling, and other columns are unchanged."""
        canned.default = (200, {}, answer(wallet(ONE), wallet(TWO), wallet(ONE, "POLYGON")))
        with canned.client(batch_size=9) as client, pytest.warns(InputWarning) as caught:
            wallets = PEOPLE.wf.fetch(keep=["owner", "limit"], fix=True, client=client).wallets
        assert [str(each.message) for each in caught] == [REPLACED]
        assert f"address=ETH.{ONE}&address=ETH.{TWO}&address=POLYGON.{ONE}" in canned.paths[0]
        assert wallets.owner.tolist() == ["Ada L", "Ada L", "Ben"]
        assert (wallets.owner.dtype, wallets.limit.dtype) == (TEXT, "Int64")

    def test_fix_changes_nothing_else(self, client):
        """A list without aliases stays unchanged, without a warning."""
        details = wf.fetch_wallets(["NEAR.bob", f"ETH.{ONE}"], fix=True, client=client)
        assert details.wallets.blockchain.tolist() == ["NEAR", "ETH"]

    def test_a_wallet_address_means_itself(self, canned):
        """A WalletAddress can request a new blockchain with another blockchain's name."""
        canned.default = (200, {}, answer(wallet(ONE, "AVALANCHE")))
        with canned.client() as client, pytest.warns(InputWarning, match="did you mean AVAX"):
            client.fetch(WalletAddress("AVALANCHE", ONE))
        assert f"address=AVALANCHE.{ONE}" in canned.paths[0]

    def test_labels_that_differ_in_case_are_reported(self, client):
        """One warning contains the first three labels and counts the rest."""
        names = ["Ada", "ADA", "ada", "aDa", "adA", "Ben"]
        people = pd.DataFrame({"wallet": [f"NEAR.a{n}" for n in range(6)], "owner": names})
        with pytest.warns(InputWarning) as caught:
            people.wf.fetch(keep="owner", offline=True, on_failure="ignore", client=client)
        [message] = [str(each.message) for each in caught]
        assert message == (
            "labels differ only in case; wf.clean replaces 'ADA' with 'Ada' in "
            "'owner', 'ada' with 'Ada' in 'owner', 'aDa' with 'Ada' in 'owner', and 1 more label"
        )


class TestMalformed:
    """Addresses in a fetch that don't have the format of their blockchain."""

    WALLETS = ("ETH.0x12", f"ETH.{ONE}", "vitalik.eth", "bad", f"new.{ONE[:5]}")
    REASONS = (
        "an address on ETH is 0x and 40 hex digits",
        "vitalik.eth is an ENS name; resolve it first, at app.ens.domains",
    )

    def test_are_refused_before_any_request(self, canned):
        """One error has the same problems as `check`. Unknown blockchains are not checked."""
        with canned.client() as client, pytest.raises(AddressError) as caught:
            client.fetch(self.WALLETS)
        assert canned.paths == []
        assert [place for place, _, _ in caught.value.problems] == [0, 2, 3]
        assert [reason for _, _, reason in caught.value.problems][:2] == [*self.REASONS]
        checked = wf.check(self.WALLETS).iloc[[0, 2]]
        joined = checked.problem + ("; " + checked.fix).fillna("")
        assert joined.tolist() == [*self.REASONS]
        assert caught.value.hint == (
            'correct these addresses, or pass on_unreadable="drop" to leave them out; a fetch '
            'with on_unreadable="ask" requests them unchanged'
        )

    def test_the_hint_for_names_of_blockchains_is_there_as_well(self, canned):
        """The error contains the fix of each problem."""
        with canned.client() as client, pytest.raises(AddressError) as caught:
            client.fetch(["Ethereum.0x12"])
        assert "0: 'ETH.0x12': an address on ETH is" in str(caught.value)
        assert "write ETH instead of 'Ethereum': 1 wallet" in str(caught.value)

    def test_are_requested_as_written(self, canned):
        """Malformed addresses are requested as written. Unparseable wallets are still an error."""
        canned.default = (200, {}, answer(wallet("0x12")))
        with canned.client() as client:
            wallets, _ = client.fetch("ETH.0x12", on_unreadable="ask")
            with pytest.raises(AddressError, match="1 wallet address can't be read"):
                client.fetch(["ETH.0x12", "bad"], on_unreadable="ask")
        assert wallets.status.tolist() == ["ok"]
        assert "address=ETH.0x12&" in canned.paths[0]
        assert len(canned.paths) == 1

    def test_are_dropped_with_their_labels(self, canned):
        """All other wallets keep their labels."""
        people = pd.DataFrame({"wallet": [*self.WALLETS[:3]], "owner": ["Ada", "Ben", "Cai"]})
        canned.default = (200, {}, answer(wallet(ONE)))
        dropped = pytest.warns(InputWarning, match="; left out: 2 unreadable rows")
        with canned.client() as client, dropped as caught:
            wallets, _ = client.fetch(people, keep="owner", on_unreadable="drop")
        assert wallets.owner.tolist() == ["Ben"]
        assert caught[0].message.problems[0] == (0, "ETH.0x12", self.REASONS[0])

    def test_of_a_stream_are_dropped_and_counted(self, canned, tmp_path):
        """The summary contains the reason."""
        canned.default = (200, {}, answer(wallet(ONE)))
        wallets = iter([f"ETH.{ONE}", "ETH.0x12"])
        with canned.client() as client, pytest.warns(FetchWarning, match="is not a wallet"):
            summary = wf.fetch_to_parquet(wallets, tmp_path, client=client)
        assert (summary.ok_count, summary.unreadable) == (1, ((1, "ETH.0x12", self.REASONS[0]),))

    @pytest.mark.parametrize("kind", [list, iter])
    def test_of_a_bulk_run_are_refused_or_requested(self, canned, tmp_path, kind):
        """A bulk run refuses or requests malformed addresses like a fetch."""
        canned.default = (200, {}, answer(wallet("0x12")))
        options = {"folder": tmp_path, "client": canned.client()}
        with pytest.raises(AddressError, match="an address on ETH is") as caught:
            wf.fetch_to_parquet(kind(["ETH.0x12"]), on_unreadable="raise", **options)
        assert "ask" in caught.value.hint
        assert wf.fetch_to_parquet(kind(["ETH.0x12"]), on_unreadable="ask", **options).ok_count == 1

    def test_are_not_refused_where_nothing_is_requested(self):
        """`parse` keeps malformed addresses, and refuses ``on_unreadable="ask"``."""
        wallets = pd.Series(["ETH.0x12"])
        assert wallets.wf.parse().address.tolist() == ["0x12"]
        with pytest.raises(SettingsError, match="on_unreadable='ask'") as caught:
            wallets.wf.parse(on_unreadable="ask")
        assert caught.value.hint == 'use on_unreadable="raise" or "drop"'

    @pytest.mark.parametrize("kind", [list, iter])
    def test_a_bulk_run_replaces_names(self, canned, tmp_path, kind):
        """A list and a stream warn once about each alias."""
        canned.default = (200, {}, answer(wallet(ONE), wallet(TWO)))
        wallets = kind([f"Ethereum.{ONE}", f"Ethereum.{TWO}"])
        replaced = pytest.warns(InputWarning, match="replaced 'Ethereum' with ETH")
        with canned.client(batch_size=2) as client, replaced as caught:
            assert wf.fetch_to_parquet(wallets, tmp_path, client=client, fix=True).ok_count == 2
        assert len(caught) == 1


CHECKSUMMED = (  # of EIP-55: all capitals, all lower case, and mixed
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)
BECH32 = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
BECH32M = "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"


class TestChecksums:
    """The checksums of bech32 and EIP-55, which only warn."""

    @pytest.mark.parametrize("address", CHECKSUMMED)
    def test_of_eip_55(self, address):
        """The examples of EIP-55 are correct. Lower case and capitals have no checksum."""
        for fine in (address, address.lower(), address.upper(), f"0X{address[2:]}"):
            assert problem(f"ETH.{fine}") == ["", ""]
        swapped = f"0x{address[2:].swapcase()}"
        is_mixed = address[2:] not in (address[2:].lower(), address[2:].upper())
        expected = ["its checksum is wrong", "copy the address again"] if is_mixed else ["", ""]
        assert problem(f"INJECTIVE.{swapped}") == expected

    def test_of_eip_55_without_the_library(self, monkeypatch):
        """Without the library, the checksum is not checked."""
        wrong = "ETH.0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
        assert problem(wrong)[0] == "its checksum is wrong"
        formats._keccak_or_none.cache_clear()
        formats._has_wrong_eip55_case.cache_clear()
        monkeypatch.setitem(sys.modules, "Crypto.Hash.keccak", None)
        assert problem(wrong) == ["", ""]
        formats._keccak_or_none.cache_clear()
        formats._has_wrong_eip55_case.cache_clear()

    def test_no_blockchain_has_checksums_of_eip_1191(self):
        """RSK, whose checksums contain the chain id, is not a known blockchain."""
        assert not {30, 31} & {each.chain_id for each in known_blockchains().values()}

    @pytest.mark.parametrize("address", [BECH32, BECH32.upper(), BECH32M])
    def test_of_each_version(self, address):
        """The examples of BIP-173 and BIP-350 are correct, and wrong with two letters exchanged."""
        assert problem(f"BTC.{address}") == ["", ""]
        exchanged = f"{address[:4]}{address[5]}{address[4]}{address[6:]}"
        assert problem(f"BTC.{exchanged}") == ["its checksum is wrong", "copy the address again"]

    def test_of_cosmos(self):
        """Addresses of Cosmos have a checksum but no version."""
        assert problem("COSMOS.cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0") == ["", ""]
        assert problem(f"COSMOS.cosmos1{'q' * 38}")[0] == "its checksum is wrong"

    def test_a_fetch_warns_and_requests_the_wallet(self, client):
        """The warning names the first three."""
        wallets = [f"COSMOS.cosmos1{letter * 38}" for letter in "qpzr"]
        with pytest.warns(InputWarning) as caught:
            details = wf.fetch_wallets(wallets, client=client)
        expected = (
            f"the checksum of {', '.join(wallets[:3])} and 1 more is wrong: copy the address again"
        )
        assert [str(each.message) for each in caught] == [expected]
        assert details.wallets.status.isin(["ok", "failed"]).all()

    def test_a_stream_warns_once(self, client, tmp_path):
        """A stream warns only about the first wrong checksum."""
        wallets = (f"COSMOS.cosmos1{letter * 38}" for letter in "qp")
        with pytest.warns(InputWarning, match="is wrong: copy the address again") as caught:
            wf.fetch_to_parquet(wallets, tmp_path, client=client, on_failure="ignore")
        assert len(caught) == 1


class TestClean:
    """A list with all reliable fixes."""

    def test_keeps_the_index_and_the_columns(self):
        """Each readable wallet keeps its row, with its index and columns."""
        with pytest.warns(InputWarning) as caught:
            cleaned = PEOPLE.wf.clean(keep=["owner", "limit"])
        assert [str(each.message) for each in caught] == [REPLACED]
        assert cleaned.index.tolist() == ["a", "b", "d"]
        assert cleaned.blockchain.tolist() == ["ETH", "ETH", "POLYGON"]
        assert cleaned.owner.tolist() == ["Ada L", "Ada L", "Ben"]
        assert [*cleaned] == ["blockchain", "address", "owner", "limit"]

    def test_a_category_stays_one(self):
        """A categorical column keeps its dtype."""
        people = pd.DataFrame({"wallet": ["NEAR.aa", "NEAR.bb"], "owner": ["Ada", "ada"]})
        people = people.astype({"owner": "category"})
        with pytest.warns(InputWarning, match="'ada' with 'Ada'"):
            cleaned = wf.clean(people, keep="owner")
        assert cleaned.owner.dtype == people.owner.dtype
        assert cleaned.owner.tolist() == ["Ada", "Ada"]

    def test_labels_of_mixed_cells(self):
        """Only text is replaced, whatever the name of the column."""
        people = pd.DataFrame(
            {"wallet": ["NEAR.aa", "NEAR.bb", "NEAR.cc"], "self": ["Ada", "ADA", 7]}
        )
        with pytest.warns(InputWarning, match="'ADA' with 'Ada' in 'self'"):
            assert wf.clean(people, keep="self")["self"].tolist() == ["Ada", "Ada", 7]

    def test_unreadable_rows_are_not_lost(self):
        """Unreadable rows are an error, or dropped with a warning."""
        with pytest.raises(AddressError, match="no dot"):
            wf.clean(["bad"])
        with pytest.warns(InputWarning, match="1 unreadable"):
            assert wf.clean(["bad", "NEAR.bob"], on_unreadable="drop").address.tolist() == ["bob"]

    def test_malformed_addresses_are_dropped_as_in_a_fetch(self):
        """Malformed addresses are dropped with their labels and index. Duplicates stay."""
        frame = pd.DataFrame(
            {"wallet": ["ETH.vitalik.eth", "NEAR.bob", "NEAR.bob"], "owner": [*"ABB"]}
        )
        with pytest.warns(InputWarning, match="1 unreadable .* is an ENS name"):
            cleaned = wf.clean(frame, keep="owner", on_unreadable="drop")
        assert cleaned.owner.to_dict() == {1: "B", 2: "B"}

    def test_malformed_addresses_are_refused_or_kept_as_in_a_fetch(self):
        """A list that passes can be fetched with the same choice."""
        with pytest.raises(AddressError, match="an address on ETH is"):
            wf.clean(["ETH.0x12"])
        assert wf.clean(["ETH.0x12"], on_unreadable="ask").address.tolist() == ["0x12"]
        with pytest.raises(SettingsError, match="on_unreadable='no'"):
            wf.clean(["ETH.0x12"], on_unreadable="no")

    def test_its_result_has_no_problem(self):
        """The cleaned list can be fetched."""
        with pytest.warns(InputWarning, match="replaced"):
            cleaned = wf.clean(PEOPLE)
        assert wf.check(cleaned).problem.isna().all()


class TestCheck:
    """The problems of a list, row by row."""

    def test_frame(self):
        """`check` returns a row for each nonempty row, with fixed dtypes."""
        found = PEOPLE.wf.check(keep="owner")
        assert found.dtypes.tolist() == ["int64", TEXT, TEXT, TEXT, TEXT]
        assert found.row.tolist() == [0, 1, 3]
        assert found.blockchain.tolist() == ["Ethereum", "ETH", "137"]
        assert found.problem.tolist() == [
            "'Ethereum' is another name of ETH",
            "'ada l' in 'owner' has another spelling",
            "'137' is another name of POLYGON",
        ]
        assert found.fix.tolist() == ["write ETH", "write 'Ada L'", "write POLYGON"]
        assert wf.check([]).dtypes.equals(found.dtypes)

    def test_several_problems_of_a_row(self):
        """All problems of a row are listed."""
        found = wf.check([f"ETH.{ONE}", f"1.{ONE}", "bad", f"polygn.{ONE}", "new.x"])
        assert found.problem.fillna("").tolist() == [
            "",
            "'1' is another name of ETH; the same wallet as in row 0",
            'there is no dot between blockchain and address: write a wallet as "ETH.0x52…"',
            "this blockchain is not known",
            "this blockchain is not known",
        ]
        assert found.fix.fillna("").tolist() == [
            *("", "write ETH", "", "did you mean POLYGON or POLYGONZK?", "")
        ]
        assert found.blockchain.isna().tolist() == [False, False, True, False, False]

    def test_two_owners_of_a_wallet(self):
        """The later row names both; a row without an owner contradicts none."""
        people = pd.DataFrame({"wallet": ["NEAR.aa"] * 3, "owner": ["Ada", None, "Bo"]})
        found = wf.check(people, keep="owner")
        assert found.problem.fillna("").tolist() == [
            "",
            "the same wallet as in row 0",
            "the same wallet as in row 0; 'owner' is 'Bo', but 'Ada' in an earlier row",
        ]

    def test_rows_of_a_file_are_lines(self, tmp_path):
        """Rows of a file are numbered by line. A Series can also be checked."""
        (tmp_path / "list.txt").write_text("# mine\nbitcoin.x\n")
        assert wf.check(tmp_path / "list.txt").row.tolist() == [2]
        assert pd.Series(["x"]).wf.check().address.tolist() == ["x"]

    @pytest.mark.parametrize(
        "text, name",
        [
            ("vitalik.eth", "an ENS name"),
            ("ETH.vitalik.eth", "an ENS name"),
            ("BASE.a.vitalik.ETH", "an ENS name"),
            ("SOLANA.bonfida.sol", "an SNS name"),
            ("BSC.binance.bnb", "a SPACE ID name"),
            ("POLYGON.brad.crypto", "an Unstoppable Domains name"),
        ],
    )
    def test_names_are_named(self, text, name):
        """Names such as ENS names are recognized, with the hint to resolve them."""
        found, fix = problem(text)
        assert found.endswith(f" is {name}")
        assert fix.startswith("resolve it first, at ")


class TestShapes:
    """The length and the alphabet of addresses."""

    @pytest.mark.parametrize(
        "text",
        [
            f"ETH.{ONE}",
            "HYPERLIQUID.0Xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
            "BTC.1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "BTC.3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "BTC.bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "BTC.BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ",
            "BTC.bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
            "SOLANA.9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
            "SOLANA.11111111111111111111111111111111",
            "TRON.TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
            "NEAR.alice.near",
            f"NEAR.{'a0' * 32}",
            "COSMOS.cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0",
            f"OSMOSIS.osmo1{'q' * 52}65mj83",
            f"INJECTIVE.{ONE}",
            f"INJECTIVE.inj1{'q' * 32}e2hm49",
            "XRPL.anything",
        ],
    )
    def test_right(self, text):
        """Each format of a blockchain is valid. Unknown formats are not checked."""
        assert problem(text) == ["", ""]

    @pytest.mark.parametrize(
        "text, needed",
        [
            ("ETH.0xAa", "an address on ETH is 0x and 40 hex digits"),
            (f"ETH.{ONE[:-1]}g", "0x and 40 hex digits"),
            (
                "BTC.1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN",
                "a base58 address that begins with 1 or 3 and has a valid checksum, or",
            ),
            ("BTC.1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0", "or a bech32 address that begins with bc1"),
            (f"BTC.bc1{'q' * 38}", "bc1"),
            (f"BTC.{ONE}", "base58"),
            ("SOLANA.9xQe", "32 bytes in base58 (32 to 44 characters)"),
            (f"SOLANA.{'z' * 44}", "32 bytes"),
            ("TRON.1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "begins with T"),
            ("NEAR.Alice", "2 to 64 lower-case letters, digits and separators"),
            ("NEAR.a", "2 to 64"),
            (f"NEAR.{'a' * 65}", "2 to 64"),
            (f"COSMOS.osmo1{'q' * 38}", "a bech32 address that begins with cosmos1"),
            (f"COSMOS.cosmos1{'q' * 39}", "cosmos1"),
            (f"COSMOS.cosmos1{'b' * 38}", "cosmos1"),
        ],
    )
    def test_wrong(self, text, needed):
        """The problem describes the correct format."""
        found, fix = problem(text)
        assert needed in found
        assert fix == ""

    def test_forms_are_those_that_are_described(self):
        """Each format in known.csv is known to the code, or is a prefix of bech32."""
        forms = {form for chain in known_blockchains().values() for form in chain.address_formats}
        others = {form for form in forms if not form.endswith("1") and form[:7] != "base58-"}
        assert others == {"evm", "near", "solana"}

    def test_two_owners_of_a_wallet_are_stated(self):
        """Two owners are reported before the user drops duplicates."""
        people = pd.DataFrame({"wallet": ["NEAR.bob", "NEAR.bob"], "owner": ["Ada", "Cy"]})
        text = "in 1 row, 'owner' differs from an earlier row"
        with pytest.warns(InputWarning, match=text) as caught:
            assert wf.clean(people, keep="owner").owner.tolist() == ["Ada", "Cy"]
        assert "'Cy', but 'Ada' in an earlier row" in str(caught[0].message.problems)
