"""Messages of commands: one error, and a line for shells if the hint names arguments."""

import warnings

import pytest
from addresses import UPPER_A, A, B
from click.testing import CliRunner
from fetches import fetched, token

from walletframe.cli import main
from walletframe.cli.files import write_details
from walletframe.history import save

EVM = "ETH.0x" + "1" * 40
NOTE = "In a shell, write --name for name=…, and set WALLETFRAME_<NAME> for a setting.\n"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that runs the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture
def files(run, tmp_path):
    """Write a snapshot, holdings and prices."""
    details = fetched({f"ETH.{UPPER_A}": [token(), token("USD", contract="0x1"), token("USD")]})
    save(details, folder=tmp_path, at="2026-01-31T06:00Z")
    write_details(details, tmp_path / "h.csv")
    write_details(details.wf.where(blockchain="ETH"), tmp_path / "eth.parquet")
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv").write_text("symbol,price\nUSD,1\n")
    (tmp_path / "none.csv").write_text("token_blockchain,token_address,price\nBSC,0xb,1\n")
    rows = "ETH,0xab,1\nETH,0xab,2\n"
    (tmp_path / "odd.csv").write_text(f"token_blockchain,token_address,price\n{rows}")


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["history", "show", "latest", "latest", "--folder", "."],
            "choose an earlier one from history.snapshots()",
        ),
        (["history", "show", "2026-01-01", "--folder", "."], "; see history.snapshots()"),
        (["history", "show", "odd", "--folder", "."], 'use a day ("2026-01-31", "yesterday") or'),
        (["history", "save", f"ETH.{A}"], "the shell command `walletframe demo`"),
        (["history", "show", "h.csv", "eth.parquet"], "compare files of the same selection, or"),
        (["balance", EVM, "--chain-id", "ODD", "-1"], "'ODD': -1"),
        (["balance", EVM, "--token", "USDC"], "or None for the native coin"),
        (["fetch", f"ETH.{A}"], "set WALLETFRAME_BASE_URL, WALLETFRAME_KEY_KIND and"),
        (["fetch", f"ETH.{A}", "--key-kind=public", "--base-url=https://a.b"], "set public_base"),
        (["fetch", "wallets.csv"], "this is a file name: pass pd.read_csv"),
        (["totals", "h.csv", "--prices", "p.csv"], "with the columns token_blockchain"),
        (
            ["totals", "h.csv", "--prices", "odd.csv"],
            "3: '2': ('ETH', '0xab') already has a price: see number 2",
        ),
        (["totals", "h.csv", "--prices", "two.csv", "--by-symbol"], "such as ('ETH', '0x1')"),
        (["totals", "h.csv", "--token", f"ETH.{B}"], f"no row has the token ('ETH', '{B}')"),
    ],
)
@pytest.mark.usefixtures("files")
def test_errors_of_commands_are_those_of_python(run, words, message):
    """One message with its hint and no traceback, and exit code 2."""
    result = run(*words)
    assert (result.exit_code, NOTE in result.output) == (2, False)
    assert message in result.output
    assert result.output.count("Error: ") == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["history", "show", "--folder", "none"], "pass another folder with folder=…"),
        (["report", f"ETH.{A}", "--output", "r.md", "--before", "latest"], "history.save(details)"),
        (
            ["balance", EVM],
            "set the variable WALLETFRAME_RPC_URL to the https URL of a node, or pass rpc_url=…",
        ),
        (
            ["balance", "ODD.0x" + "1" * 40],
            'for an EVM blockchain, pass its chain id, such as chain_ids={"HYPEREVM": 999}',
        ),
        (["totals", "h.csv", "--token", "USD"], "such as token=('ETH', '0x1')"),
        (["totals", "h.csv", "--by", "symbol"], 'use by="token", or keep the rows of only one'),
    ],
)
@pytest.mark.usefixtures("files")
def test_hints_with_arguments_have_a_line_for_shells(run, words, message):
    """It has the argument's form in a shell."""
    result = run(*words)
    assert message in result.output.partition("Hint: ")[2]
    assert (result.exit_code, result.output.endswith(NOTE)) == (2, True)


@pytest.mark.parametrize(
    "words, message",
    [
        (["fetch", "ETHER.0x1", "odd.csv", "--on-unreadable=drop", "--offline"], "'odd.csv': this"),
        (
            ["fetch", "ETHER.0x1", "--offline", "--base-url=https://a.b"],
            "wf.blockchains() lists the known blockchains",
        ),
        (
            ["totals", "h.csv", "--prices", "none.csv"],
            "no price matches a token in these holdings (1 price given)",
        ),
    ],
)
@pytest.mark.usefixtures("files")
def test_warnings_of_commands(run, words, message):
    """They are printed beside the tables, each once."""
    with warnings.catch_warnings(action="always"):
        lines = run(*words).stderr.splitlines()
    assert [message in line for line in lines if line.startswith("Warning: ")].count(True) == 1
