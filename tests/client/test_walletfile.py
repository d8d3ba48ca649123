"""Files of wallets: lines and CSV, and messages about unreadable ones."""

import pytest
from addresses import ONE

from walletframe.address.forms import WalletAddress
from walletframe.address.lists import distinct_wallets_and_labels
from walletframe.errors import AddressError
from walletframe.walletfile import read_file_rows, read_input

ALICE = WalletAddress("NEAR", "alice.near")


@pytest.fixture
def path(tmp_path):
    """Return the path of a file of lines."""
    return tmp_path / "list.txt"


def test_lines_have_comments_and_numbers(path):
    """A byte order mark, empty lines and line ends of any system are harmless."""
    path.write_bytes(
        b"\xef\xbb\xbf# mine\r\n\r\n NEAR.alice.near # the first\r\nETH." + ONE.encode()
    )
    assert list(read_file_rows(path, ())) == [(3, "NEAR.alice.near", ()), (4, f"ETH.{ONE}", ())]


@pytest.mark.parametrize(
    "text",
    [
        "name,blockchain,address\nx,NEAR,alice.near\n,,\n",
        "wallet\nNEAR.alice.near\n",
        '"blockchain","address"\n\n"NEAR","alice.near"\n',
        " blockchain , address\n , \nnear, alice.near \n",
        "blockChain,walletAddress,failed\nNEAR,alice.near,false\n",
        "WALLETADDRESS,blockchain\nalice.near,NEAR\n",
        "walletAddress,address,blockChain\nbob.near,alice.near,NEAR\n",
        "walletAddress\nNEAR.alice.near\n",
    ],
)
def test_csv_has_two_columns_or_one(tmp_path, text):
    """Other columns and empty rows are ignored."""
    (tmp_path / "LIST.CSV").write_text(text)
    assert read_input(tmp_path / "LIST.CSV").wallets == [ALICE]


def test_all_bad_lines_are_named(path):
    """By the numbers of their lines."""
    path.write_text("NEAR.alice.near\nbad\n\nETH.\n")
    reading = read_input(path)
    assert [number for number, _, _ in reading.problems] == [2, 4]
    with pytest.raises(AddressError, match=r"listed by line number in .*list\.txt"):
        distinct_wallets_and_labels(reading, "raise")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", ""])
def test_another_csv_is_refused_with_the_needed_columns(tmp_path, text):
    """It has neither the two columns nor a single one."""
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(AddressError, match="needs the columns blockchain and address"):
        read_input(tmp_path / "list.csv")


@pytest.mark.parametrize("name", ["list.txt", "list.csv"])
def test_binary_files_are_refused(tmp_path, name):
    """Without a traceback of a decoder."""
    (tmp_path / name).write_bytes(b"wallet\nNEAR.alice.near\n\xff\xfe")
    with pytest.raises(AddressError, match="can't be read: 'utf-8'"):
        read_input(tmp_path / name)


def test_a_missing_file_raises_filenotfounderror(path):
    """There is no error of our own."""
    with pytest.raises(FileNotFoundError):
        read_input(path)
