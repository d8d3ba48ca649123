"""What the command line says of errors: options and commands, where Python has arguments."""

import ast
import re
import warnings
from functools import partial
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from fetches import fetched, token

import walletframe as wf
from walletframe.cli import main
from walletframe.cli.files import write_details
from walletframe.cli.main import spelled_for
from walletframe.errors import Argument, Either, PricesError, SettingsError, Spelled
from walletframe.history import save

PACKAGE = Path(wf.__file__).parent
PYTHON = re.compile(r"\w\(|\b[a-z_]+=|\bNone\b|\bDataFrame\b|\bSeries\b|\.astype\b|\('|see \.")
EVM = "ETH.0x" + "1" * 40
NOT_OF_A_COMMAND = {
    "walletframe.amounts": "numbers that a file or the service gave, which say what is wrong there",
    "walletframe.analysis.matrix": "pivots and pairs of wallets, which no command makes",
    "walletframe.frames.contract": "amounts of another dtype: files are read with the right one",
    "walletframe.charts.palette": "colours, which no command takes",
    "walletframe.client": "clients, and fetches that raise: commands make the one, avoid the other",
    "walletframe.frames.joining": "a table of one's own, which no command has",
    "walletframe.pickers": "widgets",
    "walletframe.accessor.stored": "what no command asks of a folder",
    "walletframe.dask": "frames of Dask, which no command has",
    "walletframe.service.recorded": "a ledger that is no path; the command's is one",
    "walletframe.transport.kept": "a cache that was made in Python",
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Give a function that runs the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False)


def plain_hints():
    """Return each hint that is written as one text, so the same for Python and for a shell."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module, source = ".".join(parts).removesuffix(".__init__"), path.read_text(encoding="utf-8")
        if module.startswith(tuple(NOT_OF_A_COMMAND)) or "hint=" not in source:
            continue  # of most modules, nothing need be parsed
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                written = [node.value, *getattr(node.value, "values", [])]
                texts = [str(each.value) for each in written if isinstance(each, ast.Constant)]
                yield pytest.param("".join(texts), id=f"{module}:{node.value.lineno}")


def in_shell(text, command):
    """Spell a text for a command."""
    return text.in_shell(partial(spelled_for, main.commands.get(command)))


@pytest.mark.parametrize("hint", [*plain_hints()])
def test_no_plain_hint_speaks_python(hint):
    """What Python spells in its own way is written as an `Argument` or `Either`."""
    assert PYTHON.findall(hint) == []


@pytest.mark.parametrize(
    "pieces, python, shell",
    [
        (("a folder: ", Argument("folder")), "a folder: folder=…", "a folder: --folder"),
        ((Argument("by", Either('"token"', "token")),), 'by="token"', "--by token"),
        (("set ", Argument("base_url", "")), "set base_url", "set --base-url"),
        ((Argument("timeout_s"),), "timeout_s=…", "WALLETFRAME_TIMEOUT_S"),
        ((Argument("colors"),), "colors=…", "colors"),
        (("a", Either(", b"), Spelled(" c")), "a, b c", "a c"),
    ],
)
def test_pieces_are_spelled_for_who_reads_them(pieces, python, shell):
    """An argument is an option of some command, else a variable, else bare."""
    text = Spelled(*pieces)
    every = click.Group(commands=main.commands)
    assert str(text) == python
    assert text.in_shell(partial(spelled_for, every)) == shell


def test_only_options_of_the_command_are_named():
    """A hint names no option that this command does not have."""
    assert in_shell(Spelled(Argument("folder")), "fetch") == "folder"
    assert spelled_for(None, "base_url") == "WALLETFRAME_BASE_URL"


def test_the_message_keeps_what_was_given():
    """The rest of a list is nowhere in a shell; what somebody wrote is as it was."""
    problems = [(place, "folder=x", "negative") for place in range(30)]
    error = PricesError("prices can't be used:", Spelled("give ", Argument("prices")), problems)
    text = in_shell(error.spelled, "value")
    assert "folder=x" in text
    assert text.endswith("… and 10 more\n\nHint: give --prices")
    assert in_shell(SettingsError("it broke: folder=x").spelled, "value") == "it broke: folder=x"


@pytest.mark.parametrize(
    "words, said",
    [
        (["history", "show", "--folder", "none"], "walletframe history save keeps one; --folder n"),
        (["report", "ETH.0xa", "--output", "r.md", "--before", "latest"], "--folder names another"),
        (["compare", "latest", "latest", "--folder", "."], "walletframe history show lists them"),
        (["compare", "2026-01-01", "--folder", "."], "; see walletframe history show"),
        (["compare", "odd", "--folder", "."], "a day, such as"),
        (["history", "save", "ETH.0xa"], "in the environment; try it without a key"),
        (["balance", EVM], "Hint: set WALLETFRAME_RPC_URL in the environment: the"),
        (["balance", "ODD.0x" + "1" * 40], "Hint: if it is an EVM blockchain, give its id: --cha"),
        (["balance", EVM, "--chain-id", "ODD", "-1"], "--chain-id: 'ODD': -1"),
        (["balance", EVM, "--token", "USDC"], "or nothing for the native coin"),
        (["fetch", "ETH.0xa"], "in the environment; try it without a key"),
        (
            ["fetch", "ETH.0xa", "--key-kind", "public", "--base-url", "https://a.b"],
            "--public-base",
        ),
        (["fetch", "wallets.csv"], "pass it with --file"),
        (["value", "h.csv", "--prices", "p.csv"], "Hint: a file with the columns"),
        (["value", "h.csv", "--prices", "odd.csv"], "3: '2': priced already, at 2: ETH.0xab"),
        (["value", "h.csv", "--prices", "two.csv", "--by-symbol"], "such as those of ETH.0x1"),
        (["totals", "h.csv", "--token", "ETH.0xb"], "no row has the token ETH.0xb"),
        (["totals", "h.csv", "--token", "USD"], "such as --token ETH.0x"),
        (["totals", "h.csv", "--by", "symbol"], "--by token keeps contracts apart"),
    ],
)
@pytest.mark.filterwarnings("ignore::walletframe.FetchWarning")
def test_errors_of_commands(run, tmp_path, words, said):
    """As a user meets them: nothing but the shell's own words."""
    details = fetched({"ETH.0xA": [token(), token("USD", contract="0x1"), token("USD")]})
    save(details, folder=tmp_path, at="2026-01-31T06:00Z")
    write_details(details, tmp_path / "h.csv")
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv").write_text("symbol,price\nUSD,1\n")
    rows = "ETH,0xab,1\nETH,0xab,2\n"
    (tmp_path / "odd.csv").write_text(f"token_blockchain,token_address,price\n{rows}")
    output = " ".join(run(*words).output.split())
    assert said in output
    assert PYTHON.findall(output.partition("Error: ")[2]) == []


@pytest.mark.parametrize(
    "words, said",
    [
        (
            ["fetch", "ETHER.0x1", "odd.csv", "--on-unreadable=drop", "--offline"],
            "pass it with --file)",
        ),
        (
            ["fetch", "ETHER.0x1", "--offline", "--base-url=https://a.b"],
            "107 blockchains are known",
        ),
        (["value", "h.csv", "--prices", "p.csv"], "nothing for a native coin, such as ETH.0xa"),
    ],
)
def test_warnings_of_commands(run, tmp_path, words, said):
    """They come beside the tables, in the shell's own words, too."""
    write_details(fetched({"ETH.0xA": [token(contract="0xA")]}), tmp_path / "h.csv")
    (tmp_path / "p.csv").write_text("token_blockchain,token_address,price\nBSC,0xb,1\n")
    with warnings.catch_warnings(action="always"):
        lines = run(*words).stderr.splitlines()
    warned = [line for line in lines if line.startswith("Warning: ")]
    assert said in "\n".join(warned)
    assert PYTHON.findall("\n".join(warned)) == []
