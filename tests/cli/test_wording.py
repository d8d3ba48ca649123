"""What the command line says of errors: options and commands, where Python has arguments."""

import ast
import importlib
import inspect
import pkgutil
import re

import click
import pytest
from click.testing import CliRunner
from fetches import fetched, token

import walletframe as wf
from walletframe.cli import main
from walletframe.cli.output import write_details
from walletframe.cli.wording import in_shell, options_of, told
from walletframe.errors import PricesError, SettingsError
from walletframe.history import save

PYTHON = re.compile(r"\w\(|\b[a-z_]+=|\bNone\b|\bDataFrame\b|\bSeries\b|\.astype\b")
NOT_OF_A_COMMAND = {
    "walletframe.address.lists": "wallets in a DataFrame, which no command has",
    "walletframe.amounts": "numbers that a file or the service gave, which say what is wrong there",
    "walletframe.analysis.positions": "amounts of another dtype: files are read with the right one",
    "walletframe.charts.palette": "colours, which no command takes",
    "walletframe.client": "clients, and fetches that raise: commands make the one, avoid the other",
    "walletframe.frames.joining": "a table of one's own, which no command has",
    "walletframe.history.grid": "amounts of another dtype",
    "walletframe.pickers": "widgets",
    "walletframe.service.recorded": "a ledger that is no path; the command's is one",
    "walletframe.transport.borrowed": "a cache that was made in Python",
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Give a function that runs the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False)


def hints():
    """Return (module, hint) for all that is written as a hint; what is computed is an ellipsis."""
    for module in pkgutil.walk_packages(wf.__path__, "walletframe."):
        if module.name.endswith("__main__") or module.name.startswith(tuple(NOT_OF_A_COMMAND)):
            continue
        loaded = importlib.import_module(module.name)
        for node in ast.walk(ast.parse(inspect.getsource(loaded))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                yield pytest.param(text_of(node.value, loaded), id=f"{module.name}:{node.lineno}")


def text_of(node, module):
    """Return the text that an expression makes."""
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr():
            return "".join(text_of(each, module) for each in node.values)
        case ast.FormattedValue(value=ast.Name() as name) | (ast.Name() as name):
            return str(getattr(module, name.id, "…"))
        case _:
            return "…"


def options():
    """Return the options of all commands."""
    return {
        name: word for each in main.commands.values() for name, word in options_of(each).items()
    }


@pytest.mark.parametrize("hint", [*hints()])
def test_no_hint_of_a_command_speaks_python(hint):
    """Each that a command can come by is one of a shell, once it is put into its words."""
    assert PYTHON.findall(in_shell(hint, options())) == []


@pytest.mark.parametrize(
    "hint, said",
    [
        ("give each a folder: folder=…", "give each a folder: --folder"),
        ('by="token" tells them apart', "--by token tells them apart"),
        ('give its id: chain_ids={"HYPEREVM": 999}', "give its id: --chain-id HYPEREVM 999"),
        ("set base_url, or correct key_kind", "set --base-url, or correct --key-kind"),
        ("give timeout_s=…", "give timeout_s=…"),
        ("history.snapshots() lists them", "walletframe history show lists them"),
    ],
)
def test_arguments_become_options(hint, said):
    """With their values; what is no option stays as it is."""
    assert in_shell(hint, options()) == said


def test_only_options_of_the_command_are_named():
    """A hint names no option that this command does not have."""
    assert in_shell("folder=…", options_of(main.commands["fetch"])) == "folder=…"
    assert options_of(None) == options_of(click.Command("bare")) == {}


def test_the_message_keeps_what_was_given():
    """Only the hint is put into other words, and the rest of a list is nowhere in a shell."""
    problems = [(place, "folder=x", "negative") for place in range(30)]
    error = PricesError("prices can't be used:", "give prices=…", problems)
    text = told(error, main.commands["value"])
    assert "folder=x" in text
    assert text.endswith("… and 10 more\n\nHint: give --prices")
    assert told(SettingsError("it broke: folder=x"), None) == "it broke: folder=x"


@pytest.mark.parametrize(
    "words, said",
    [
        (["history", "show", "--folder", "none"], "walletframe history save keeps one; --folder n"),
        (["report", "ETH.0xa", "--output", "r.md", "--before", "latest"], "--folder names another"),
        (["compare", "latest", "latest", "--folder", "."], "walletframe history show lists them"),
        (["compare", "2026-01-01", "--folder", "."], "; see walletframe history show"),
        (["balance", "ETH.0x" + "1" * 40], "Hint: set WALLETFRAME_RPC_URL in the environment: the"),
        (["fetch", "ETH.0xa"], "in the environment; try it without a key"),
        (["value", "h.csv", "--prices", "p.csv"], "Hint: a file with the columns"),
    ],
)
@pytest.mark.filterwarnings("ignore::walletframe.FetchWarning")
def test_hints_of_commands(run, tmp_path, words, said):
    """As a user meets them."""
    details = fetched({"ETH.0xA": [token()]})
    save(details, folder=tmp_path, at="2026-01-31T06:00")
    write_details(details, tmp_path / "h.csv")
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    output = run(*words).output
    assert said in " ".join(output.split())
    assert PYTHON.findall(output.partition("Hint: ")[2]) == []
