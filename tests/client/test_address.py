"""Wallet addresses: all accepted forms, and equality."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walletframe.address.forms import MAX_LENGTH, WalletAddress, canonical_address, canonical_key
from walletframe.address.lists import distinct_wallets, parse_wallets, read_list
from walletframe.errors import AddressError, ColumnsError, SettingsError

A, B = WalletAddress("ETH", "0xA"), WalletAddress("NEAR", "alice.near")
FRAME = pd.DataFrame({"address": ["0xA", "alice.near"], "blockchain": ["ETH", "NEAR"]})
IDENTIFIERS = st.text("abzAZ09_-", min_size=1, max_size=12)
ADDRESSES = st.text("abXYZ0129.:_-é", min_size=1, max_size=60).filter(
    lambda address: "..." not in f".{address}"  # it stands for a shortened address
)


def problems(wallets):
    """Return position, value and reason of every unreadable item."""
    with pytest.raises(AddressError) as caught:
        parse_wallets(wallets)
    return caught.value.problems


class TestForms:
    """Accepted forms of wallets."""

    @pytest.mark.parametrize(
        "argument",
        [
            "ETH.0xA",
            ("ETH", "0xA"),
            {"blockchain": "ETH", "address": "0xA"},
            {"failed": False, "blockChain": "ETH", "address": "0xA"},
            {"walletAddress": "0xA", "blockChain": "ETH"},
            {"blockchain": "ETH", "walletAddress": "0xA"},
            {"blockchain": "ETH", "blockChain": "BSC", "address": "0xA", "walletAddress": "0xB"},
            A,
            ["ETH.0xA"],
            [("ETH", "0xA")],
            [["ETH", "0xA"]],
            ("ETH.0xA",),
            {"ETH.0xA"},
            {"ETH.0xA": 1}.keys(),
            np.array(["ETH.0xA"]),
            pd.Index(["ETH.0xA"]),
            pd.Series(["ETH.0xA"], index=[7]),
            pd.Series(["ETH.0xA"], dtype="category"),
            pd.Series([("ETH", "0xA")]),
            FRAME.iloc[:1],
            FRAME.iloc[:1].rename(columns={"blockchain": "blockChain"}),
            FRAME.iloc[:1].rename(columns={"address": "walletAddress"}),
            FRAME.iloc[:1].set_axis(["walletAddress", "blockChain"], axis=1),
            FRAME.iloc[:1].assign(blockChain="BSC", walletAddress="0xB"),
            FRAME.iloc[:1, ::-1].itertuples(index=False),
        ],
        ids=lambda argument: type(argument).__name__,
    )
    def test_one_wallet(self, argument):
        """Every form of one wallet is read as that wallet."""
        assert parse_wallets(argument) == [A]

    def test_forms_can_be_mixed(self):
        """A list may contain several forms. Its order and its duplicates are kept."""
        mixed = [A, "NEAR.alice.near", ("ETH", "0xA"), {"blockchain": "NEAR", "address": "x"}]
        assert parse_wallets(mixed) == [A, B, A, WalletAddress("NEAR", "x")]

    def test_a_generator_is_read_once(self):
        """Any iterable works."""
        assert parse_wallets(text for text in ("ETH.0xA", "NEAR.alice.near")) == [A, B]

    @pytest.mark.parametrize("empty", [[], (), {}.keys(), FRAME.iloc[:0], pd.Series([], dtype=str)])
    def test_nothing_is_no_wallets(self, empty):
        """An empty input is an empty list, not an error."""
        assert parse_wallets(empty) == []

    def test_frame_by_column_names(self):
        """A DataFrame is read by its column names, in any order, beside others."""
        assert parse_wallets(FRAME.assign(label="x")) == [A, B]

    def test_frame_without_the_columns(self):
        """The error names the missing columns, with a hint."""
        with pytest.raises(ColumnsError, match="lacks 'blockchain'") as caught:
            parse_wallets(FRAME[["address"]])
        assert caught.value.missing == ("blockchain",)
        assert "single column" in caught.value.hint

    def test_frame_of_one_column(self):
        """A DataFrame of a single column is read as that column."""
        for name in ("wallet", "walletAddress"):
            assert parse_wallets(pd.DataFrame({name: ["ETH.0xA", None]})) == [A]

    def test_frame_with_a_column_twice(self):
        """A duplicate column is an error."""
        twice = pd.concat([FRAME, FRAME[["blockchain"]]], axis=1)
        with pytest.raises(SettingsError, match="several columns with the name 'blockchain'"):
            parse_wallets(twice)

    @pytest.mark.parametrize("argument", [5, None, 1.5, pd.NA, object()])
    def test_other_objects_are_refused(self, argument):
        """The error names their type."""
        [(place, _, reason)] = problems(argument)
        assert place == 0
        assert reason == f"a value of type {type(argument).__name__} is not a wallet"

    @pytest.mark.parametrize("text", ["  ETH.0xA", "ETH.0xA\n", "\tETH.0xA\r\n", "\u00a0ETH.0xA "])
    def test_white_space_around(self, text):
        """White space around text and around the parts of pairs and mappings is ignored."""
        assert WalletAddress.parse(text) == A
        assert parse_wallets((" ETH ", " 0xA\n")) == [A]
        assert parse_wallets({"blockchain": " ETH", "address": "0xA "}) == [A]


class TestPairOrList:
    """A tuple of two texts is a pair or a list, depending on a dot in the first."""

    def test_pair(self):
        """Without a dot in the first text, the tuple is one wallet."""
        assert parse_wallets(("NEAR", "alice.near")) == [B]

    def test_list(self):
        """With a dot in the first text, the tuple is two wallets."""
        assert parse_wallets(("ETH.0xA", "NEAR.alice.near")) == [A, B]

    def test_list_whose_second_is_bad(self):
        """A tuple that begins with a dotted text is never a pair."""
        assert [place for place, _, _ in problems(("ETH.0xA", "0xB"))] == [1]

    def test_a_list_is_no_pair(self):
        """Two texts in a list are two wallets, here both without a blockchain."""
        assert [value for _, value, _ in problems(["ETH", "0xA"])] == ["ETH", "0xA"]

    def test_tuple_of_pairs(self):
        """Two pairs in a tuple are two wallets."""
        assert parse_wallets((("ETH", "0xA"), ("NEAR", "alice.near"))) == [A, B]


class TestDots:
    """Identifier and address are joined by the first dot."""

    @pytest.mark.parametrize("address", ["alice.near", "a.b.c", ".a", "a.", "a.."])
    def test_the_address_keeps_its_dots(self, address):
        """The address is the whole text after the first dot."""
        assert WalletAddress.parse(f"NEAR.{address}") == WalletAddress("NEAR", address)

    def test_an_identifier_has_none(self):
        """A pair or a mapping with a dot in the identifier is refused."""
        reason = "the blockchain contains a dot"
        assert problems([("NEAR.x", "alice")])[0][2] == reason
        assert problems({"blockchain": "a.b", "address": "c"})[0][2] == reason

    @given(IDENTIFIERS, ADDRESSES)
    @settings(deadline=None)
    def test_text_and_back(self, blockchain, address):
        """The dotted text of any wallet is read as the same wallet."""
        wallet = WalletAddress(blockchain, address)
        assert WalletAddress.parse(str(wallet)) == wallet
        assert parse_wallets((blockchain, address)) == [wallet]


class TestBad:
    """All unreadable items are reported together."""

    def test_all_are_reported_with_positions(self):
        """The problems have positions from 0, values and reasons."""
        assert problems(["ETH.0xA", "ETH", "NEAR.a", ".0xA", "ETH."]) == (
            (
                1,
                "ETH",
                'there is no dot between blockchain and address: write a wallet as "ETH.0x52…"',
            ),
            (3, ".0xA", "the blockchain is empty"),
            (4, "ETH.", "the address is empty"),
        )

    def test_message_shows_each(self):
        """The message has a line for each problem, and the hint shows how to write a wallet."""
        with pytest.raises(AddressError) as caught:
            parse_wallets(["ETH", "BSC"])
        assert "2 wallet addresses" in str(caught.value)
        assert "  0: 'ETH': there is no dot between blockchain and address" in str(caught.value)
        assert "  1: 'BSC': there is no dot between blockchain and address" in str(caught.value)
        assert '"<BLOCKCHAIN>.<ADDRESS>"' in caught.value.hint

    def test_message_of_very_many(self):
        """The message shows twenty and counts the rest; .problems has all."""
        with pytest.raises(AddressError, match="and 80 more") as caught:
            parse_wallets(["x"] * 100)
        assert len(caught.value.problems) == 100
        assert len(str(caught.value)) < 3000

    @pytest.mark.parametrize(
        "argument",
        [
            (text for text in ("ETH.0xA", "x", "ETH.0xB")),
            pd.Series(["ETH.0xA", "x", "ETH.0xB"], index=[30, 10, 20]),
            pd.DataFrame(
                {"blockchain": ["E", "", "E"], "address": ["a", "x", "b"]}, index=[9, 8, 7]
            ),
        ],
        ids=["generator", "Series", "DataFrame"],
    )
    def test_positions_count_rows(self, argument):
        """The position is the row's number from 0, with any index."""
        assert [place for place, _, _ in problems(argument)] == [1]

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, "", " \t", (None, "")])
    def test_empty_rows_are_skipped(self, missing):
        """Empty rows are neither requested nor an error."""
        arguments = pd.Series(["ETH.0xA", missing, "NEAR.alice.near"], dtype=object)
        assert parse_wallets(arguments) == [A, B]
        reading = read_list(arguments)
        assert (reading.row_count, reading.empty_count, reading.positions) == (3, 1, [0, 2])

    def test_empty_rows_of_a_frame_are_skipped(self):
        """A row is empty only if both cells are empty."""
        frame = FRAME.astype(object)
        frame.loc[1] = [None, "  "]
        assert parse_wallets(frame) == [A]

    @pytest.mark.parametrize("column", ["blockchain", "address"])
    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, " "])
    def test_missing_cells(self, column, missing):
        """A row that lacks only one part is reported."""
        frame = FRAME.astype(object)
        frame.loc[1, column] = missing
        assert problems(frame)[0][::2] == (1, f"the {column} is empty")

    def test_cells_of_no_text(self):
        """Numbers are refused as parts of a wallet."""
        assert problems([("ETH", 5)])[0][2] == "blockchain and address must be strings"

    def test_unreadable_items_can_be_skipped(self):
        """On request, unreadable rows are dropped, and all other rows keep their order."""
        assert read_list(["x", "ETH.0xA", None, B]).wallets == [A, B]

    @pytest.mark.parametrize(
        "argument",
        [
            {"blockchain": "ETH"},
            {"chain": "ETH", "address": "a"},
            {"blockchain": 1},
            {"blockChain": "ETH"},
            {},
        ],
    )
    def test_mappings_need_both_keys(self, argument):
        """For a mapping without the two texts, the error names its keys."""
        assert 'keys "blockchain" and "address"' in problems([argument])[0][2]

    @pytest.mark.parametrize(
        "text",
        [
            "ETH.0x\u200bA",
            "ETH.0xA\u200b",
            "\ufeffETH.0xA",
            "E\u00adTH.0xA",
            "ETH.\u202e0xA",
            "ETH.0x A",
            "ETH.0x\u00a0A",
            "ETH.a\nETH.b",
            "ETH.a\u2028b",
            "ETH.a\x00b",
            "ETH.a\ud800b",
        ],
    )
    def test_invisible_characters(self, text):
        """White space inside and invisible characters anywhere are refused, with their position."""
        [(_, _, reason)] = problems(text)
        place = int(reason.rpartition(" ")[2])
        assert "invisible character" in reason
        assert not text[place].isprintable() or text[place] == " "

    def test_invisible_characters_are_named(self):
        """The reason names the character, so that it can be found."""
        assert ": ZERO WIDTH SPACE at position 6" in problems("ETH.0x\u200bA")[0][2]
        assert ": U+0000 at position 5" in problems("ETH.a\x00b")[0][2]

    def test_visible_characters_of_any_script_pass(self):
        """Visible characters are left to the service."""
        assert WalletAddress.parse("DÖT.ünïcode-地址").address == "ünïcode-地址"

    @pytest.mark.parametrize("text", ["ETH.0xd8dA…6045", "ETH.0xd8dA...6045", "ETH.…"])
    def test_shortened_addresses(self, text):
        """A shortened address is refused as shortened."""
        assert problems(text)[0][2] == "it is shortened: write the full address"

    def test_length(self):
        """The dotted text may have at most 512 characters."""
        longest = "ETH." + "a" * (MAX_LENGTH - 4)
        assert str(WalletAddress.parse(longest)) == longest
        [(_, value, reason)] = problems(longest + "a")
        assert reason == "it is longer than 512 characters"
        assert len(value) == 80

    def test_a_bad_wallet_made_by_hand(self):
        """The class and the parser refuse the same texts, with a ValueError."""
        for parts in [("", "a"), ("a.b", "c"), ("ETH", ""), ("ETH", "a b"), ("ETH", "a" * 600)]:
            with pytest.raises(ValueError, match="can't be read"):
                WalletAddress(*parts)

    @pytest.mark.parametrize("parts", [("ETH", 5), (1, "0xA"), ("ETH", b"0xA")])
    def test_a_wallet_made_by_hand_of_no_text(self, parts):
        """Parts that are not text are refused like any other bad address."""
        with pytest.raises(AddressError):
            WalletAddress(*parts)

    def test_the_message_of_a_long_one_is_short(self):
        """A huge text is not repeated whole, in any way of making a wallet."""
        with pytest.raises(AddressError) as caught:
            WalletAddress("ETH", "a" * 100_000)
        assert len(str(caught.value)) < 1000

    @given(st.lists(st.text(max_size=20), max_size=30))
    @settings(deadline=None)
    def test_every_text_is_read_or_named(self, texts):
        """Either all texts are read, or exactly the bad ones are named."""
        try:
            bad = set()
            parse_wallets(texts)
        except AddressError as error:
            bad = {place for place, _, _ in error.problems}
        good = [text for place, text in enumerate(texts) if place not in bad and text.strip()]
        assert len(parse_wallets(good)) == len(good)


class TestSameWallet:
    """Equality of two spellings."""

    @pytest.mark.parametrize("one, other", [("ETH.0xAB", "eth.0xab"), ("ETH.0XAB", "Eth.0xaB")])
    def test_hex_without_case(self, one, other):
        """Identifiers and hex addresses are compared without case."""
        assert WalletAddress.parse(one).canonical == WalletAddress.parse(other).canonical

    @pytest.mark.parametrize("one, other", [("S.9xQe", "S.9xqe"), ("ETH.0xa", "BSC.0xa")])
    def test_others_with_case(self, one, other):
        """Any other address keeps its case, and the blockchain counts."""
        assert WalletAddress.parse(one).canonical != WalletAddress.parse(other).canonical

    def test_equality_is_of_spellings(self):
        """Two spellings are unequal values until their canonical forms are compared."""
        assert WalletAddress("ETH", "0xA") != WalletAddress("ETH", "0xa")
        assert str(WalletAddress("eth", "0xA").canonical) == "ETH.0xa"

    def test_token_contracts_too(self):
        """The same comparison serves contracts, valid wallets or not."""
        assert canonical_address("0XDEAD") == "0xdead"
        assert canonical_address("EPjF") == "EPjF"
        assert canonical_key("eth", "") == ("ETH", "")

    def test_distinct_in_the_order_of_first_mention(self):
        """Each wallet is returned once, in its first spelling."""
        texts = ["b.0xB", "A.0xa", "B.0xb", "a.0XA", "S.x", "S.X"]
        result = distinct_wallets(parse_wallets(texts))
        assert [str(wallet) for wallet in result] == ["b.0xB", "A.0xa", "S.x", "S.X"]

    @pytest.mark.parametrize("written", ["eth", " Eth", "ETH\n"])
    def test_a_known_blockchain_has_the_services_spelling(self, written):
        """The identifier is in capitals, in any form of the wallet. The address is unchanged."""
        assert parse_wallets([(written, "0xaB")]) == [WalletAddress("ETH", "0xaB")]
        assert WalletAddress(written.strip(), "0xaB").blockchain == "ETH"

    def test_another_blockchain_keeps_its_first_spelling(self):
        """All wallets of a list get the first spelling of the blockchain."""
        result = parse_wallets(["Newchain.x", " newchain .y", "NEWCHAIN.x"])
        assert {wallet.blockchain for wallet in result} == {"Newchain"}
        assert [str(wallet) for wallet in distinct_wallets(result)] == ["Newchain.x", "Newchain.y"]

    def test_no_wallets_are_distinct(self):
        """An empty list has no distinct wallets."""
        assert distinct_wallets([]) == []

    @pytest.mark.parametrize("text", ["ß" * 300 + ".a", "ETH.0x" + "İ" * 400])
    def test_a_valid_wallet_has_a_canonical_form(self, text):
        """Letters whose capital has two letters are valid."""
        wallet = WalletAddress.parse(text)
        assert wallet.canonical.canonical == wallet.canonical

    @given(st.lists(st.tuples(IDENTIFIERS, ADDRESSES), max_size=20))
    @settings(deadline=None)
    def test_canonical_is_stable(self, pairs):
        """A canonical form is its own canonical form. Distinct wallets have distinct forms."""
        result = distinct_wallets(parse_wallets(pairs))
        forms = [wallet.canonical for wallet in result]
        assert [form.canonical for form in forms] == forms
        assert len(set(forms)) == len(forms)
        assert set(forms) == {wallet.canonical for wallet in parse_wallets(pairs)}


class TestValue:
    """Wallet addresses are frozen, hashable and sortable."""

    def test_frozen_and_hashable(self):
        """A wallet address is a valid key, and is immutable."""
        assert {A: 1}[WalletAddress("ETH", "0xA")] == 1
        with pytest.raises(AttributeError):
            A.address = "0xB"

    def test_sorted_by_blockchain_then_address(self):
        """Wallets can be sorted."""
        assert sorted([B, A, WalletAddress("ETH", "0x9")])[1:] == [A, B]

    def test_pickles(self):
        """A pickled wallet address is equal to the original."""
        assert pickle.loads(pickle.dumps(B)) == B


def test_rows_of_an_array_are_pairs():
    """A two-dimensional array, as from ``to_numpy``, is read row by row."""
    pairs = pd.DataFrame({"blockchain": ["ETH"], "address": ["0xA"]}).to_numpy()
    assert parse_wallets(pairs) == [WalletAddress("ETH", "0xA")]


@pytest.mark.parametrize("blank", "\u3164\u2800\ufe0f")
def test_blank_letters_are_invisible(blank):
    """Characters that are drawn as a blank are refused like other invisible ones."""
    with pytest.raises(AddressError, match="invisible"):
        parse_wallets(f"ETH.0x1{blank}")


@pytest.mark.parametrize("argument", ["ETH.", [], ["ETH.0x1", "ETH.0x2"], b"ETH.0x1", None])
def test_parse_takes_one_text(argument):
    """The class reads one text, and refuses anything else with a reason."""
    with pytest.raises(AddressError):
        WalletAddress.parse(argument)


def test_bytes_are_one_bad_wallet():
    """Bytes are one unreadable wallet, not a list of numbers."""
    with pytest.raises(AddressError, match="bytes is not a wallet") as caught:
        parse_wallets(b"ETH.0x1")
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("name", ["wallets.txt", "wallets.csv", "holdings.parquet"])
def test_the_name_of_a_file_is_no_wallet(name):
    """A file's name looks like a wallet, and is refused before any request."""
    with pytest.raises(AddressError, match="a file"):
        parse_wallets(name)
