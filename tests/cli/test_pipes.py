"""Commands that read from pipes and devices, and commands with closed streams."""

import os
import subprocess
import sys
from threading import Thread

import pandas as pd
import pytest

import walletframe as wf

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("reachable")]
WALLETS = ["NEAR.alice.near", f"ETH.0x{'1' * 40}"]
TEXTS = {
    "wallets.txt": "\n".join(WALLETS),
    "wallets.csv": "owner,blockchain,address\nAda,NEAR,alice.near\nBen,ETH,0x" + "1" * 40,
}


@pytest.fixture
def pipe(tmp_path):
    """Return a function that makes a named pipe and writes a text into it, once."""
    threads = []

    def made(name, text):
        path = tmp_path / name
        os.mkfifo(path)
        threads.append(Thread(target=path.write_text, args=[text], daemon=True))
        threads[0].start()
        return str(path)

    yield made
    threads[0].join(60)
    assert not threads[0].is_alive()


@pytest.mark.parametrize("name", TEXTS)
def test_a_pipe_is_read_once(run, pipe, tmp_path, name):
    """A process substitution, with lines or CSV."""
    out = tmp_path / "out.csv"
    assert run("fetch", "--file", pipe(name, TEXTS[name]), "--output", str(out)).exit_code == 0
    assert pd.read_csv(tmp_path / "out.wallets.csv").blockchain.tolist() == ["NEAR", "ETH"]


def test_columns_of_a_pipe_are_kept(run, pipe):
    """They come from the same reading as the wallets."""
    words = ["--keep", "owner", "--by", "owner"]
    result = run("totals", "--file", pipe("wallets.csv", TEXTS["wallets.csv"]), *words)
    assert result.exit_code == 0
    assert "Ada" in result.output
    assert "Ben" in result.output


def test_a_pipe_of_holdings_is_refused(run, pipe):
    """By its columns, as a file is."""
    head = "blockchain,address,symbol,token_address,amount,decimals,raw_amount,token_blockchain"
    result = run("fetch", "--file", pipe("holdings.csv", f"{head},price\n"))
    assert result.exit_code == 2
    assert "contains saved holdings, not a list of wallets" in result.output


# A small process starts the command: a child's peak counts its parent's memory until exec, too.
PEAK = """
import os, sys
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_an_endless_device_is_read_up_to_a_limit():
    """The error names it; less than a gigabyte of memory is used."""
    words = [sys.executable, "-c", PEAK, sys.executable, "-m", "walletframe"]
    words += ["fetch", "--file", "/dev/zero"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "the file has more than 5,000,000 lines or 256,000,000 characters" in result.stderr
    assert int(result.stdout) < 2**20 * (1024 if sys.platform == "darwin" else 1)


@pytest.mark.parametrize("bound", ["_MAX_LINES", "_MAX_CHARACTERS"])
@pytest.mark.parametrize("name", ["-", "wallets.txt", "wallets.csv"])
def test_endless_lines_are_read_up_to_a_limit(run, tmp_path, monkeypatch, bound, name):
    """Lines and CSV have a limit; a list within it is read."""
    monkeypatch.setattr(f"walletframe.walletfile.{bound}", 9 if bound == "_MAX_LINES" else 200)
    for count in (8, 60):
        text = "".join(f"NEAR.alice-{number}.near\n" for number in range(count))
        (tmp_path / name).write_text(f"wallet\n{text}" if name.endswith(".csv") else text)
        arguments = (name, text) if name == "-" else (str(tmp_path / name), None)
        result = run("fetch", "--file", arguments[0], input=arguments[1])
        assert ("the file has more than " in result.output) == (count == 60), result.output


def shell(words, closed):
    """Run this Python in a shell that closes some of its streams; return its exit code and text."""
    line = ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, *words]
    own = dict(os.environ)  # without COLUMNS, which readline sets behind Python's back
    done = subprocess.run(line, env=own, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.children
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_failure(home, closed):
    """Their output is dropped, and is in no file that is opened later."""
    out = home / "out.csv"
    words = ["-m", "walletframe", "fetch", WALLETS[0], "--output", str(out)]
    code, output = shell(words, closed)
    assert code == 0
    assert ("written: " in output) == (">&-" not in closed.split())
    assert wf.read_holdings(out).address.unique().tolist() == ["alice.near"]


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_errors_without_streams_have_their_exit_code(closed):
    """A closed standard input has no wallets."""
    assert shell(["-m", "walletframe", "fetch", "--file", "-"], closed)[0] == 2


def test_a_script_without_streams_fetches():
    """A system service, or a program with windows, may print frames, too."""
    code = f"import walletframe as wf; found = wf.fetch_wallets({WALLETS[0]!r}); repr(found)"
    assert shell(["-c", f"{code}; assert len(found.holdings)"], "<&- >&- 2>&-")[0] == 0


@pytest.mark.children
@pytest.mark.parametrize("command", ["fetch", "totals"])
def test_a_closed_pipe_loses_no_file(home, command):
    """As with ``| head -1``: the files are written, and the exit code is that of the wallets."""
    out = home / "out.csv"
    words = [sys.executable, "-m", "walletframe", command, WALLETS[0], "--output", str(out)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(pd.read_csv(out))
