"""Files of a kind that a command does not read: the message names the kind, with a hint."""

import json
import shutil

import pytest
from addresses import A, B
from click.testing import CliRunner
from fetches import fetched, token

from walletframe.cli import main
from walletframe.cli.files import write_details, write_frames_if_path
from walletframe.history import compare

DETAILS = fetched({f"ETH.{A}": [token()], f"ETH.{B}": "timeout"})
LATER = fetched({f"ETH.{A}": [token(raw=7)], f"ETH.{B}": "timeout"})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with files of all kinds."""
    folder = tmp_path_factory.mktemp("files")
    for suffix in (".csv", ".parquet", ".json"):
        write_details(DETAILS, folder / f"h{suffix}")
    tables = {
        "totals": DETAILS.holdings.wf.totals(wallets=DETAILS),
        "by-wallet": DETAILS.holdings.wf.totals("wallet", wallets=DETAILS),
        "changes": compare(DETAILS, LATER),
    }
    for name, frame in tables.items():
        write_frames_if_path(folder / f"{name}.csv", **{name: frame})
    write_frames_if_path(folder / "totals.json", totals=tables["totals"])
    shutil.copy(folder / "h.wallets.csv", folder / "renamed.csv")
    (folder / "prices.csv").write_text("token_blockchain,token_address,price\nETH,,2000\n")
    (folder / "list.csv").write_text(f"blockchain,address\nETH,{A}\n")
    (folder / "theirs.csv").write_text(f"blockChain,walletAddress,price\nETH,{A},5\n")
    (folder / "one.csv").write_text(f"wallet\nETH.{A}\n")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "sent.csv").write_text(f"failed,blockChain,address\nfalse,ETH,{A}\n")
    (folder / "numbers.json").write_text(json.dumps([1, 2]))
    return folder


@pytest.fixture
def run(monkeypatch, tmp_path, files):
    """Return a function that runs the command line beside copies of them."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WALLETFRAME_SERVICE", "nobody")
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize(
    "command", ["totals", "totals --by-symbol", "history show", "report --output r.md"]
)
@pytest.mark.parametrize(
    "name, kind, way",
    [
        (
            "h.wallets.csv",
            "saved wallets",
            "use the file of holdings from the same fetch: h.csv",
        ),
        ("h.wallets.parquet", "saved wallets", "from the same fetch: h.parquet"),
        ("renamed.csv", "saved wallets", "use the file of holdings from the same fetch\n"),
        ("list.csv", "a list of wallets", "walletframe fetch --file list.csv"),
        ("sent.csv", "a list of wallets", "walletframe fetch --file sent.csv"),
        ("one.csv", "a list of wallets", "walletframe fetch --file one.csv"),
        ("prices.csv", "prices", "walletframe totals FILE --prices prices.csv"),
        ("totals.csv", "totals", "use a file that fetch --output wrote"),
        ("totals.json", "totals", "use a file that fetch --output wrote"),
        ("changes.csv", "changes between two snapshots", "use a file that fetch --output wrote"),
    ],
)
def test_other_files_than_holdings_are_refused(run, command, name, kind, way):
    """The message has the needed kind, the file's kind and a hint; before any computation."""
    result = run(*command.split(), name)
    assert result.exit_code == 2
    assert f"{name} contains {kind}, not saved holdings" in result.output
    assert way in result.output.partition("Hint: ")[2]
    assert "the file of wallets" not in result.output


@pytest.mark.parametrize("name, columns", [("other.csv", "'a', 'b'"), ("numbers.json", "0")])
def test_unknown_files_are_refused_with_their_columns(run, name, columns):
    """The message lists the missing columns, and the existing ones."""
    result = run("totals", name)
    assert result.exit_code == 2
    assert "it lacks 'blockchain', 'address', 'symbol'" in result.output
    assert f"its columns are: {columns}" in result.output


@pytest.mark.parametrize("command", ["fetch --offline", "totals", "fetch-to-parquet bulk"])
@pytest.mark.parametrize(
    "name, kind, way",
    [
        (
            "h.csv",
            "saved holdings",
            "including failed and empty ones, are in h.wallets.csv",
        ),
        ("h.csv", "saved holdings", "walletframe totals h.csv"),
        ("h.parquet", ".parquet data", "walletframe totals h.parquet"),
        ("h.json", ".json data", "walletframe totals h.json"),
        ("prices.csv", "prices", "a .csv with the columns blockchain and address"),
        ("totals.csv", "totals", "a .csv with the columns blockchain and address"),
    ],
)
def test_other_files_than_wallets_are_refused(run, command, name, kind, way):
    """Holdings, too: failed wallets are not among them, and would be lost silently."""
    result = run(*command.split(), "--file", name)
    assert result.exit_code == 2
    assert f"{name} contains {kind}, not a list of wallets" in result.output
    assert way in result.output.partition("Hint: ")[2]


@pytest.mark.parametrize(
    "name, wallets",
    [
        ("h.wallets.csv", 2),
        ("list.csv", 1),
        ("theirs.csv", 1),
        ("one.csv", 1),
        ("by-wallet.csv", 2),
    ],
)
def test_every_table_of_wallets_is_a_list_of_them(run, name, wallets):
    """It has the two columns, by any of their names, or one."""
    assert f"{wallets} not_cached" in run("fetch", "--offline", "--file", name).output


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b'"' + b"x" * 200_000])
def test_unreadable_files_are_reported_by_their_reader(run, tmp_path, content):
    """They have no kind."""
    (tmp_path / "odd.csv").write_bytes(content)
    result = run("fetch", "--offline", "--file", "odd.csv")
    assert (result.exit_code, "contains" in result.output) == (2, False)


def test_the_name_of_a_file_is_no_wallet(run):
    """The message names the option for it."""
    text = "list.txt': this is a file name: pass pd.read_csv(…) in Python, or"
    assert f"{text} --file NAME in a shell" in run("fetch", "list.txt").output
