"""Characters on a console: none that control it, and none that it can't show."""

import json
import os
import pty
import subprocess
import sys

import pytest
from addresses import A
from canned_service import KEY, answer, balance, wallet
from click.testing import CliRunner
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import walletframe as wf
from walletframe.cli import main

EVIL = "\x1b[31m\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\x1b[2J\x9b1A\u202egpj\u2066\u200b"
NODE = "http://127.0.0.1:9"
DRIVER = """
import json, sys
from walletframe.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words, prog_name="walletframe")
    except SystemExit as ended:
        print(f"ended: {' '.join(words[:2])}: {ended.code}")
"""
ENCODINGS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "cp437": {"PYTHONIOENCODING": "cp437"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture
def reachable(canned, monkeypatch):
    """Name a service whose tokens few consoles can show."""
    symbols = ["USD₮", "é", "代币", "🚀", EVIL]
    sent = [balance(symbol=symbol, address=f"0x{at:040x}") for at, symbol in enumerate(symbols)]
    canned.default = (200, {}, answer(wallet(balances=sent)))
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    monkeypatch.setenv("WALLETFRAME_RPC_URL", NODE)


@pytest.mark.parametrize(
    "encoding",
    [
        pytest.param("cp1252", marks=pytest.mark.children),
        "locale C",
        *(pytest.param(name, marks=pytest.mark.stress) for name in ("cp437", "ascii")),
    ],
)
def test_characters_that_a_console_lacks_are_replaced(reachable, home, encoding):
    """Every command that prints, in a real process: to its end, with tables."""
    out = str(home / "out.csv")
    commands = {
        "demo": ["demo"],
        "fetch": ["fetch", f"ETH.{A}", "--all", "--output", out],
        "fetch-to-parquet": ["fetch-to-parquet", str(home / "bulk"), f"ETH.{A}"],
        "totals": ["totals", out],
        "totals with values": ["totals", out, "--currency", "EUR"],
        "history save": ["history", "save", f"ETH.{A}"],
        "history show": ["history", "show"],
        "history show of a wallet": ["history", "show", f"ETH.{A}", "--all"],
        "history show of changes": ["history", "show", out, out],
        "report": ["report", out, "--output", str(home / "report.html")],
        "balance": ["balance", "ETH.0x" + "a" * 40],
        "cache info": ["cache", "info"],
        "settings": ["settings"],
        "an error": ["totals", out, "--token", "…→₮"],
    }
    words = [sys.executable, "-c", DRIVER, json.dumps(list(commands.values()))]
    environment = os.environ | ENCODINGS[encoding]
    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    output = done.stdout.decode("ascii" if encoding == "locale C" else encoding)
    ended = [line for line in output.splitlines() if line.startswith("ended: ")]
    assert done.returncode == 0, done.stderr
    assert [line[-1] for line in ended] == [*"00000000001002"], output
    assert b"Traceback" not in done.stderr
    assert b"Error" in done.stderr
    assert "contract" in output
    assert "USD?" in output
    assert ("0x0000…" if encoding == "cp1252" else "0x0000~") in output


def test_the_bar_fits_the_console(reachable):
    """The bar of a fetch in an ASCII terminal has ASCII characters."""
    code = f"import walletframe as wf; wf.fetch_wallets('ETH.{A}', progress=True)"
    environment = os.environ | ENCODINGS["ascii"]
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment, capture_output=True, check=True)
    assert b"1/1" in done.stderr
    assert done.stderr.isascii()


NAMES = {
    "settings": ["settings"],
    "cache path": ["cache", "path"],
    "cache info": ["cache", "info"],
    "cache clear": ["cache", "clear"],
    "what was written": ["fetch", f"ETH.{A}", "--output", "{folder}/{evil}.csv"],
    "a folder of Parquet files": ["fetch-to-parquet", "{folder}/{evil}", f"ETH.{A}"],
    "a report": ["report", f"ETH.{A}", "--output", "{folder}/{evil}.html"],
    "a report in no folder": ["report", f"ETH.{A}", "--output", "{evil}/x.html"],
    "an output of no kind": ["fetch", f"ETH.{A}", "--output", "{evil}.xls"],
    "an output in no folder": ["fetch", f"ETH.{A}", "--output", "{evil}/x.csv"],
    "a file of wallets": ["fetch", "--file", "{folder}/columns-{evil}.csv"],
    "a file that is not there": ["fetch", "--file", "{evil}"],
    "a file of holdings": ["totals", "{folder}/columns-{evil}.csv"],
    "holdings that are not there": ["totals", "{evil}.csv"],
    "holdings of two files": ["totals", "{evil}.csv", "b.csv"],
    "prices": ["totals", f"ETH.{A}", "--prices", "{folder}/columns-{evil}.csv"],
    "prices that are not there": ["totals", f"ETH.{A}", "--prices", "{evil}"],
    "a currency": ["totals", f"ETH.{A}", "--currency", "{evil}"],
    "a token of balances": ["totals", f"ETH.{A}", "--token", "{evil}"],
    "a comparison": ["history", "show", "{folder}/columns-{evil}.csv"],
    "a time": ["history", "show", "{evil}"],
    "a folder of snapshots": ["history", "show", "--folder", "{folder}/columns-{evil}.csv"],
    "a wallet": ["fetch", "{evil}"],
    "a wallet with a dot": ["fetch", "{evil}.{evil}"],
    "a valid base URL": ["fetch", f"ETH.{A}", "--base-url", "https://{evil}"],
    "use one of public, private, test": ["fetch", f"ETH.{A}", "--key-kind", "{evil}"],
    "a ledger": ["sandbox", "--ledger", "{folder}/columns-{evil}.csv"],
    "a port": ["sandbox", "--port", "{evil}"],
    "a chain id": ["balance", f"ETH.{A}", "--chain-id", "{evil}", "1"],
    "a token": ["balance", "ETH.0x" + "a" * 40, "--token", "{evil}"],
    "an option": ["fetch", "--{evil}"],
    "an option of none": ["--{evil}"],
    "a command": ["{evil}"],
    "a command of a group": ["cache", "{evil}"],
}


@pytest.fixture
def hostile(reachable, home, monkeypatch):
    """Set settings and files with names that control a terminal."""
    monkeypatch.setenv("WALLETFRAME_CACHE", str(home / f"cache-{EVIL}.sqlite".replace("/", "")))
    monkeypatch.setenv("WALLETFRAME_SERVICE", EVIL)
    evil = EVIL.replace("/", "")
    (home / f"columns-{evil}.csv").write_text(f"{EVIL},other {EVIL}\n1,2\n")
    return evil


def harmless(text):
    """Return whether text is printable, and not empty."""
    return text.strip() and all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_control_the_terminal(hostile, home, name):
    """Printed settings, files, columns and arguments are plain text."""
    words = [word.format(folder=home, evil=hostile) for word in NAMES[name]]
    done = CliRunner().invoke(main, words, color=True)
    assert harmless(done.output), repr(done.output)
    assert isinstance(done.exception, SystemExit | None)


def test_a_real_terminal_gets_plain_text(hostile):
    """In a real process on a real terminal, of which click strips nothing."""
    near, far = pty.openpty()
    words = [sys.executable, "-m", "walletframe", "settings"]
    with subprocess.Popen(words, stdout=far, stderr=far) as process:
        os.close(far)
        text = b""
        while piece := _read(near):
            text += piece
    os.close(near)
    assert process.returncode == 0
    assert "8;;https:" in text.decode()
    assert harmless(text.decode().replace("\r\n", "\n"))


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # all writers have closed it
        return b""


MAGICS = {
    "a wallet": f"%wallets {EVIL!s}",
    "an option": f"%wallets ETH.{A} --out {EVIL}",
    "a quote": f"%wallets 'ETH.{A} {EVIL}",
    "a client": f"%wallets ETH.{A} --client {EVIL}",
    "a cell": f"%%wallets\n{EVIL}",
}


@pytest.mark.parametrize("name", MAGICS)
def test_the_magics_error_is_plain_text(name):
    """IPython prints it unchanged."""
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    magic, _, rest = MAGICS[name].lstrip("%").partition(" " if name != "a cell" else "\n")
    arguments = ("", rest) if name == "a cell" else (rest,)
    run = shell.run_cell_magic if name == "a cell" else shell.run_line_magic
    with pytest.raises(UsageError) as refused:
        run(magic, *arguments)
    assert harmless(str(refused.value))


def test_the_magics_messages_are_plain_text(hostile, canned, capsys):
    """They are printed after the cell, about wallets that are not ok."""
    canned.default = (500, {}, EVIL.encode())
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    shell.run_cell(f"%wallets ETH.{A}\nNone")
    assert harmless(capsys.readouterr().err)
