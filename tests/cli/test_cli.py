"""The command line, in this process and as a real one."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from contextlib import redirect_stdout
from itertools import takewhile
from threading import Event
from urllib.request import urlopen

import click
import pandas as pd
import pytest
from addresses import ONE, A
from canned_service import KEY, answer, balance, wallet
from click.testing import CliRunner
from moments import interrupt_when
from own_folders import own_folders
from plain_process import printed

from walletframe.bulk import read_wallets
from walletframe.cli import main
from walletframe.errors import FetchWarning
from walletframe.service import SANDBOX_KEYS, SHOWCASE, Sandbox, sandbox
from walletframe.settings.sources import user_settings_file
from walletframe.settings.values import default_cache_path
from walletframe.transport import cache_statistics


@pytest.fixture
def hostile(canned, monkeypatch):
    """Name a service with hostile tokens in the environment."""
    symbols = ["=HYPERLINK(1)", "\x1b[31mred\u202e", "a\nb", "<script>", "@SUM(1)"]
    sent = wallet(balances=[balance(str(2**256 - 1), 18, symbol=symbol) for symbol in symbols])
    canned.default = (200, {}, answer(sent))
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    return symbols


def test_demo_shows_the_main_job_and_then_the_cache(run):
    """Both tables, the failure and its reason, the simulation, and the answers' source."""
    first, second = run("demo"), run("demo")
    for result in (first, second):
        assert result.exit_code == 0
        assert "Simulated data" in result.output
        assert "Failed: AVAX_CCHAIN.0x7777" in result.output
        assert str(2**256 - 1)[:60] in result.output.replace(".", "")
    assert f"0 of {len(SHOWCASE)} answers came from the cache" in first.output
    assert f"{len(SHOWCASE) - 2} of {len(SHOWCASE)} answers came from the cache" in second.output
    assert f"{len(SHOWCASE)} answered by the service" in run("demo", "--refresh").output


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_tables_fit_the_terminal(run, columns):
    """An amount of 78 digits is shortened, with a note; without a terminal it is complete."""
    output = run("demo", env={"COLUMNS": str(columns)}).output
    tables, note, _ = output.partition("Amounts of more than 25")
    assert note
    assert "1157920892…(60 digits)" in tables
    assert max(map(len, tables.splitlines()[2:])) <= columns
    assert tables.count("0x1111…1111") == run("demo").output.count("0x1111…1111")


def test_demo_is_representative():
    """It has at least ten wallets on at least six blockchains."""
    assert len(SHOWCASE) >= 10
    assert len({wallet.blockchain for wallet in SHOWCASE}) >= 6


def test_fetch_prints_both_tables(run, reachable):
    """The output has wallets, holdings and the summary."""
    result = run("fetch", "NEAR.alice.near", str(SHOWCASE[0]))
    assert result.exit_code == 0
    assert re.search(r"NEAR\.alice\.near +ok +\d+ +service", result.output)
    assert "2 wallets on 2 blockchains: 2 ok" in result.output


def test_fetch_exits_with_1_after_failures(run, reachable):
    """The tables are printed all the same."""
    result = run("fetch", *map(str, SHOWCASE))
    assert result.exit_code == 1
    assert "could not retrieve" in result.output
    assert "… and" in result.output
    assert "… and" not in run("fetch", "--all", *map(str, SHOWCASE)).output


@pytest.mark.filterwarnings("default::walletframe.errors.InputWarning")
def test_fetch_reads_files_and_standard_input(run, reachable, tmp_path):
    """A list with comments, a CSV with columns, and standard input add up."""
    (tmp_path / "list.txt").write_text("\ufeff# mine\nNEAR.alice.near  # a comment\n\n")
    (tmp_path / "table.csv").write_text("name,blockchain,address\nx,ETH,0x" + "1" * 40 + "\n")
    files = ["--file", str(tmp_path / "list.txt"), "--file", str(tmp_path / "table.csv")]
    result = run("fetch", *files, "--file", "-", input=f"{SHOWCASE[0]}\n{SHOWCASE[2]}\n")
    assert result.exit_code == 0
    assert "3 wallets on 3 blockchains" in result.output
    assert "Warning: found 3 wallets in 4 rows; left out: 1 duplicate row" in result.output


@pytest.mark.filterwarnings("default::walletframe.errors.InputWarning")
@pytest.mark.parametrize("command", [["fetch"], ["fetch-to-parquet", "bulk"]])
def test_unreadable_wallets_can_be_skipped(run, reachable, tmp_path, monkeypatch, command):
    """On request; each is named with its position, and so is an unknown blockchain."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("near.alice.near\nbad\n")
    words = [*command, "--file", "list.txt", "Nea.bob", "worse"]
    refused = run(*words)
    assert refused.exit_code == 2
    assert "list.txt line 2: 'bad'" in refused.output
    result = run(*words, "--on-unreadable", "drop")
    assert "found 2 wallets in 4 rows; left out: 2 unreadable rows (by location): " in result.output
    assert "argument 2: 'worse': there is no dot between blockchain and address" in result.output
    assert "list.txt line 2: 'bad': there is no dot" in result.output
    assert "Nea: did you mean NEAR?" in result.output
    assert "Error" not in result.output


@pytest.mark.filterwarnings("default::walletframe.errors.InputWarning")
@pytest.mark.parametrize("command", [["fetch"], ["fetch-to-parquet", "bulk"]])
def test_names_of_blockchains_can_be_fixed(run, reachable, tmp_path, monkeypatch, command):
    """On request; they are refused otherwise."""
    monkeypatch.chdir(tmp_path)
    refused = run(*command, "nearprotocol.bob")
    assert refused.exit_code == 2
    assert "argument 1: 'nearprotocol': write NEAR instead" in refused.output
    assert "Add --fix" in refused.output
    result = run(*command, "nearprotocol.bob", "--fix")
    assert "replaced 'nearprotocol' with NEAR (1 row)" in result.output
    assert result.exit_code == 0


@pytest.mark.filterwarnings("ignore::walletframe.errors.InputWarning")
def test_the_first_error_names_all_needed_options(run, reachable):
    """A list with aliases and unreadable wallets needs two; the options together succeed."""
    words = ["fetch", "NEAR.alice.near", "nearprotocol.bob", "worse"]
    refused = run(*words).output
    assert "Add --fix to replace these names of blockchains." in refused
    assert "Correct unreadable wallets, or drop them with --on-unreadable=drop." in refused
    assert run(*words, "--fix", "--on-unreadable=drop").exit_code == 0


def test_check_lists_problems_without_a_request(run, tmp_path):
    """With the lines of the file; the exit code says whether there are any."""
    listed = tmp_path / "people.csv"
    rows = ["wallet,owner", f"Ethereum.{A},Ada", "ETH.0x12,Ada", "NEAR.bob,Ben", "NEAR.bob,Cy"]
    listed.write_text("\n".join(rows), encoding="utf-8")
    result = run("check", str(listed), "--keep", "owner")
    assert result.exit_code == 1
    for line, text in (
        ("2", "write ETH"),
        ("3", "40 hex digits"),
        ("5", "'Cy', but 'Ben' in an earlier row"),
    ):
        assert any(row.startswith(line) and text in row for row in result.output.splitlines())
    assert result.output.endswith("1 of 4 rows is without a problem.\n")
    listed.write_text("NEAR.bob\n", encoding="utf-8")
    assert run("check", str(listed.rename(tmp_path / "fine.txt"))).exit_code == 0


@pytest.mark.filterwarnings("default::walletframe.errors.InputWarning")
@pytest.mark.parametrize("command", [["fetch"], ["fetch-to-parquet", "bulk"]])
def test_malformed_addresses_are_refused(run, reachable, tmp_path, monkeypatch, command):
    """On request they are left out, or requested as written; the sandbox fails them."""
    monkeypatch.chdir(tmp_path)
    words = [*command, "NEAR.alice.near", "ETH.0x12"]
    refused = run(*words)
    assert refused.exit_code == 2
    assert "argument 2: 'ETH.0x12': an address on ETH is 0x and 40 hex digits" in refused.output
    assert "To request malformed addresses as written, add --on-unreadable=ask." in refused.output
    asked = run(*words, "--on-unreadable", "ask")
    assert asked.exit_code == 1
    dropped = run(*words, "--on-unreadable", "drop")
    assert "found 1 wallet in 2 rows; left out: 1 unreadable row" in dropped.output
    assert dropped.exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["fetch"],
        ["fetch", "nonsense"],
        ["fetch", "--file", "/no/such/file"],
        ["fetch", "--file", "/no/such/file.csv"],
        ["fetch", f"ETH.{ONE}"],
        ["fetch", f"ETH.{ONE}", "--base-url", "ftp://x"],
        ["fetch", f"ETH.{ONE}", "--output", "table.xls"],
        ["fetch", f"ETH.{ONE}", "--output", "/no/such/folder/table.csv"],
        ["nonsense"],
    ],
)
def test_bad_input_is_a_message_and_exit_code_2(run, words):
    """Unreadable input is a message, without a traceback."""
    result = run(*words)
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_fetch_shows_hostile_tokens_harmlessly(run, hostile):
    """No control or bidi character and no line break of a token reaches the terminal."""
    output = run("fetch", f"ETH.{A}").output
    assert all(line.isprintable() for line in output.splitlines())
    assert "a b" in output


def test_csv_is_exact_and_holds_no_formula(run, hostile, tmp_path):
    """Amounts are read back to the last digit; text that begins like a formula is escaped."""
    result = run("fetch", f"ETH.{A}", "--output", str(tmp_path / "out.csv"))
    assert result.exit_code == 0
    back = pd.read_csv(tmp_path / "out.csv", dtype="str", keep_default_na=False)
    digits = str(2**256 - 1)
    assert set(back.amount) == {f"{digits[:-18]}.{digits[-18:]}"}
    assert set(back.raw_amount) == {digits}
    assert back.symbol.tolist()[0] == "'=HYPERLINK(1)"
    assert back.symbol.tolist()[4] == "'@SUM(1)"
    assert pd.read_csv(tmp_path / "out.wallets.csv").status.tolist() == ["ok"]


def test_parquet_opens_anywhere(run, hostile, tmp_path):
    """Amounts have exact text for a reader that does not know walletframe."""
    run("fetch", f"ETH.{A}", "--output", str(tmp_path / "out.parquet"))
    code = (
        "import pandas as pd, sys;"
        f"frame = pd.read_parquet({str(tmp_path / 'out.parquet')!r});"
        "print(frame.amount_text[0], frame.amount[0], len(frame))"
    )
    digits = str(2**256 - 1)
    assert printed(code) == [f"{digits[:-18]}.{digits[-18:]} None 5"]


def test_json_holds_both_frames(run, hostile, tmp_path):
    """One file, exact amounts as text, times in ISO form."""
    run("fetch", f"ETH.{A}", "--output", str(tmp_path / "out.json"))
    whole = json.loads((tmp_path / "out.json").read_text())
    assert [len(whole["wallets"]), len(whole["holdings"])] == [1, 5]
    assert [row["symbol"] for row in whole["holdings"]] == hostile
    assert whole["holdings"][0]["raw_amount"] == str(2**256 - 1)
    assert whole["wallets"][0]["fetched_at"].endswith("Z")


def test_cache_commands_show_and_clear(run, reachable):
    """The file can be named, listed and cleared; the sandbox's own stay apart."""
    run("fetch", "NEAR.alice.near")
    run("demo")
    assert run("cache", "path").output.strip() == str(default_cache_path())
    info = run("cache", "info").output
    assert "1 answer of sandbox" in info
    assert f"{len(SHOWCASE) - 2} answers of sandbox" in info
    assert ": 1 answer deleted" in run("cache", "clear").output
    assert "no cached answers" in run("cache", "info").output
    assert f"{len(SHOWCASE) - 2} answers deleted" in run("cache", "clear", "--sandbox").output


def test_cache_commands_need_a_file(run, monkeypatch, tmp_path):
    """A chosen file is used; without one there is nothing to name or clear, but the sandbox's."""
    monkeypatch.setenv("WALLETFRAME_CACHE", str(tmp_path / "mine.sqlite"))
    assert run("cache", "path").output.strip() == str(tmp_path / "mine.sqlite")
    monkeypatch.setenv("WALLETFRAME_CACHE", "memory")
    assert run("cache", "path").exit_code == run("cache", "clear").exit_code == 2
    run("demo")
    assert "of sandbox" in run("cache", "info").output


def test_settings_are_shown_without_the_key(run, monkeypatch):
    """Each setting with its origin; the key is masked."""
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
    output = run("settings").output
    assert KEY not in output
    assert re.search(r"workers +3 +\(WALLETFRAME_WORKERS\)", output)
    assert re.search(r"timeout_s +60\.0 +\(default\)", output)


def test_settings_of_files_are_shown_with_the_file(run, monkeypatch, tmp_path):
    """The environment wins over it."""
    monkeypatch.chdir(tmp_path)
    file, own = tmp_path / "walletframe.toml", user_settings_file()
    file.write_text("currency = 'USD'\nprices = ['p.csv', 'service']", encoding="utf-8")
    own.parent.mkdir(parents=True)
    own.write_text("workers = 2\ntimeout_s = 5", encoding="utf-8")
    monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
    output = run("settings").output
    assert re.search(rf"currency +USD +\({re.escape(str(file))}\)", output)
    assert re.search(rf"prices +\S*p\.csv, service +\({re.escape(str(file))}\)", output)
    assert re.search(rf"timeout_s +5\.0 +\({re.escape(str(own))}\)", output)
    assert re.search(r"workers +3 +\(WALLETFRAME_WORKERS\)", output)
    assert re.search(r"colors +not set +\(default\)", output)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["demo"],
        ["fetch"],
        ["fetch-to-parquet"],
        ["sandbox"],
        ["cache"],
        ["cache", "clear"],
        ["settings"],
    ],
)
def test_every_command_has_help(run, words):
    """Its help has a usage line."""
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.output


def test_sandbox_ends_on_an_interrupt(run, monkeypatch):
    """The command itself returns, with a message."""
    begun, wait = Event(), Sandbox.wait
    monkeypatch.setattr(Sandbox, "wait", lambda service: begun.set() or wait(service))
    interrupt_when(begun.is_set)
    result = run("sandbox", "--failure-share", "0.5")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "Stopped.")


@pytest.mark.children
def test_sandbox_serves_in_the_foreground_until_interrupted(home):
    """A real process prints lines for a shell that reach it, serves, and ends on Ctrl-C."""
    command = [sys.executable, "-m", "walletframe", "sandbox", "--seed", "3"]
    environment = os.environ | own_folders(home / "a folder's name; with $HOME", home)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, env=environment) as process:
        lines = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
        texts = "".join(lines)
        url = re.search(r"http://\S+/openapi\.json", texts).group()
        with urlopen(url) as document:  # noqa: S310 - the pattern above allows only http
            assert "/private/wallets/details" in json.load(document)["paths"]
        then = '"$0" -m walletframe fetch NEAR.alice.near; ls "$WALLETFRAME_CACHE"'
        words = ["/bin/sh", "-c", f"set -eu\n{texts}\n{then}", sys.executable]
        shell = subprocess.run(words, capture_output=True, text=True, check=True)
        assert "1 wallet on 1 blockchain: 1 ok" in shell.stdout
        assert "a folder's name; with $HOME/walletframe/sandbox-" in shell.stdout
        assert shell.stderr == ""
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert (process.stdout.read(), process.stderr.read()) == ("", "Stopped.\n")


def test_sandbox_prints_lines_for_powershell(run, home, monkeypatch):
    """They have its quotes, for any name of the folder."""
    for name, folder in own_folders(home / "Ann's", home).items():
        monkeypatch.setenv(name, folder)
    monkeypatch.setattr(Sandbox, "wait", lambda _: None)
    lines = run("sandbox", "--shell", "powershell").stdout.splitlines(keepends=True)
    assert re.fullmatch(
        r"\$env:WALLETFRAME_BASE_URL = 'http://127\.0\.0\.1:\d+/private'\n", lines[1]
    )
    assert lines[3].startswith("$env:WALLETFRAME_SERVICE = 'sandbox'; $env:WALLETFRAME_CACHE = '")
    assert "/Ann''s/walletframe/sandbox-" in lines[3]
    assert lines[4].startswith(
        "$env:WALLETFRAME_KEY_KIND = 'private'; $env:WALLETFRAME_API_KEY = '"
    )


def test_sandbox_with_a_ledger_prints_secret_keys(tmp_path):
    """They fetch its wallets, and the published keys don't."""
    held = {"blockchain": "NEAR", "address": "alice.near", "symbol": "MINE", "decimals": 0}
    held |= {"token_address": None, "raw_amount": "7"}
    (tmp_path / "mine.json").write_text(json.dumps([held]))
    words = ["-m", "walletframe", "sandbox", "--ledger", str(tmp_path / "mine.json")]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        lines = list(
            takewhile(lambda line: "Ctrl-C" not in line, iter(process.stdout.readline, ""))
        )
        then = '"$0" -m walletframe fetch --refresh NEAR.alice.near'
        with_key = (
            f"WALLETFRAME_CACHE=false WALLETFRAME_API_KEY={SANDBOX_KEYS['private'].key} {then}"
        )
        shell = f"{''.join(lines)}\n{then}\n{with_key}"
        done = subprocess.run(
            ["/bin/sh", "-c", shell, sys.executable], capture_output=True, text=True, check=False
        )
        process.send_signal(signal.SIGINT)
    assert done.stdout.count("MINE") == 1
    assert "rejected the API key" in done.stdout
    assert done.stdout.index("MINE") < done.stdout.index("rejected the API key")


def test_bad_wallets_of_all_sources_are_reported_together(run, tmp_path):
    """Each has its file and line, or its position on the command line."""
    (tmp_path / "w.txt").write_text("# mine\n\nbad1\nNEAR.alice.near\n")
    (tmp_path / "t.CSV").write_text("blockchain,address\nETH,\n,,\nNEAR,alice.near\n")
    files = ["--file", str(tmp_path / "w.txt"), "--file", str(tmp_path / "t.CSV")]
    result = run("fetch", "bad0", *files)
    assert result.exit_code == 2
    assert "3 wallets can't be read" in result.output
    assert "argument 1: 'bad0'" in result.output
    assert "w.txt line 3: 'bad1'" in result.output
    assert "t.CSV line 2" in result.output


def test_the_first_of_many_bad_wallets_are_named(run):
    """Twenty of them, and the number of the others."""
    result = run("fetch", *(f"bad{number}" for number in range(25)))
    assert result.exit_code == 2
    assert "'bad19'" in result.output
    assert "'bad20'" not in result.output
    assert "… and 5 more" in result.output


def test_one_column_of_wallets_is_enough(run, reachable, tmp_path):
    """A CSV with a single column holds dotted wallets; for another the error names its columns."""
    (tmp_path / "one.csv").write_text("wallet\nNEAR.alice.near\n")
    (tmp_path / "two.csv").write_text("a,b\n1,2\n")
    assert run("fetch", "--file", str(tmp_path / "one.csv")).exit_code == 0
    assert "needs the columns" in run("fetch", "--file", str(tmp_path / "two.csv")).output


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_files_of_a_fetch_are_ledgers(run, reachable, tmp_path, suffix):
    """A sandbox serves them."""
    path = tmp_path / f"out{suffix}"
    first = run("fetch", str(SHOWCASE[0]), "--output", str(path)).output
    with sandbox(ledger=path) as again, again.client(cache=False) as client:
        holdings = client.fetch(SHOWCASE[0]).holdings
    assert len(holdings) >= 1
    assert all(str(amount) in first for amount in holdings.amount)


def test_system_errors_are_messages(run, canned):
    """A used port is reported, with an exit code of its own."""
    result = run("sandbox", "--port", str(canned.server_port))
    assert result.exit_code == 3
    assert "Error: " in result.output
    assert run("sandbox", "--port", "99999").exit_code == 2


@pytest.mark.children
def test_a_closed_reader_ends_it_quietly(reachable):
    """Output to `head` is an example."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "walletframe", "fetch", "NEAR.alice.near"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_it_prints_into_any_object(reachable):
    """The output in a notebook is an object of Python's."""
    with redirect_stdout(io.StringIO()) as printed:
        main(["settings"], standalone_mode=False)
    assert "base_url" in printed.getvalue()


def test_a_folder_is_refused_as_output(run, reachable, tmp_path):
    """Before anything is fetched."""
    (tmp_path / "x.csv").mkdir()
    result = run("fetch", "NEAR.alice.near", "--output", str(tmp_path / "x.csv"))
    assert result.exit_code == 2


@pytest.mark.children
def test_interrupted_fetch_prints_finished_wallets(home):
    """A real process, stopped in the middle, writes its tables and ends with 130."""
    wallets = [f"ETH.0x{number:040x}" for number in range(40)]
    with sandbox(latency_s=0.5) as slow:
        own = {"API_KEY": slow.settings().api_key.reveal(), "KEY_KIND": "private"}
        own |= {"BASE_URL": slow.base_url, "WORKERS": "4", "CACHE": str(home / "kept.sqlite")}
        environment = os.environ | {f"WALLETFRAME_{name}": value for name, value in own.items()}
        words = [sys.executable, "-m", "walletframe", "fetch", *wallets]
        words += ["--output", str(home / "out.csv")]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
            while sum(cache_statistics(home / "kept.sqlite").answers.values()) < 4:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            output = process.stdout.read()
            assert process.wait(60) == 130
    assert re.search(r"40 wallets on 1 blockchain: \d+ ok, \d+ cancelled", output)
    assert len(pd.read_csv(home / "out.wallets.csv")) == 40


def test_fetch_to_parquet_fills_a_folder(run, reachable, tmp_path):
    """It prints the outcomes, and the second time that the wallets are there."""
    (tmp_path / "list.txt").write_text("NEAR.alice.near\n")
    words = ["fetch-to-parquet", str(tmp_path / "bulk"), str(SHOWCASE[0])]
    words += ["--file", str(tmp_path / "list.txt")]
    first, second = run(*words), run(*words)
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "2 wallets: 2 ok\n" in first.output
    assert "Simulated data" in first.output
    assert "2 wallets: 2 ok (2 of them before the run)" in second.output
    assert len(read_wallets(tmp_path / "bulk").wallets) == 2


@pytest.mark.parametrize(
    "code, words",
    [
        (1, ["{bulk}", *map(str, SHOWCASE)]),
        (2, ["{bulk}"]),
        (2, ["{bulk}", "nonsense"]),
        (2, ["{bulk}", f"ETH.{ONE}", "--base-url", "ftp://x"]),
        (3, ["{other}", "NEAR.alice.near"]),
    ],
)
def test_fetch_to_parquet_has_exit_codes(run, reachable, tmp_path, code, words):
    """For a failed wallet, bad input, and a folder of other files."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    folders = {name: tmp_path / name for name in ("bulk", "other")}
    result = run("fetch-to-parquet", *(word.format(**folders) for word in words))
    assert result.exit_code == code
    assert ("Error: " in result.output) == (code > 1)


@pytest.mark.children
def test_interrupted_fetch_to_parquet_prints_its_progress(home):
    """A real process, stopped in the middle, ends with 130."""
    wallets = [f"ETH.0x{number:040x}" for number in range(40)]
    with sandbox(latency_s=0.5) as slow:
        own = {"API_KEY": slow.settings().api_key.reveal(), "KEY_KIND": "private"}
        own |= {"BASE_URL": slow.base_url, "WORKERS": "4", "CACHE": "false"}
        environment = os.environ | {f"WALLETFRAME_{name}": value for name, value in own.items()}
        words = [sys.executable, "-m", "walletframe", "fetch-to-parquet", home / "bulk", *wallets]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
            while not list((home / "bulk" / ".walletframe").glob("*.journal")):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            output = process.stdout.read()
            assert process.wait(60) == 130
    ok = int(re.search(r"40 wallets: (\d+) ok, \d+ cancelled", output)[1])
    with pytest.warns(FetchWarning, match="has not finished"):
        assert len(read_wallets(home / "bulk").wallets) >= ok >= 1


@pytest.mark.filterwarnings("always")
def test_warnings_are_lines_for_people(run, service, monkeypatch):
    """The library's warnings are printed without their location in code."""
    monkeypatch.setenv("WALLETFRAME_API_KEY", service.settings("test").api_key.reveal())
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "test")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", service.base_url)
    result = run("fetch", "NEAR.alice.near")
    assert result.stderr.strip() == (
        "Warning: the shared test key has a low limit and is for testing only"
    )


@pytest.mark.filterwarnings("always")
def test_warnings_of_other_packages_are_lines_too():
    """Their location in code is not printed."""

    @click.group(cls=type(main))
    def group():
        """Group nothing but this."""

    @group.command()
    def noisy():
        """Warn as another package does."""
        warnings.warn("out of\x1b[2J date", FutureWarning, stacklevel=1)

    result = CliRunner().invoke(group, ["noisy"])
    assert result.exit_code == 0
    [line] = result.stderr.splitlines()
    assert re.fullmatch(r"Warning: out of.*date", line)
    assert "\x1b" not in line
