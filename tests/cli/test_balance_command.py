"""``walletframe balance``, in this process and as a real one."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from walletframe.cli import main

ANN, BEN = "0x" + "a" * 40, "0x" + "b" * 40


@pytest.fixture
def run(bare_chain, monkeypatch):
    """Return a function that runs the command, with the blockchain's URL in the environment."""
    monkeypatch.setenv("WALLETFRAME_RPC_URL", bare_chain.url)
    return lambda *words: CliRunner().invoke(main, ["balance", *words], catch_exceptions=False)


def test_balances_are_printed(run, bare_chain):
    """Each wallet has one line, exact; hostile tokens are escaped."""
    token = bare_chain.token([ANN, BEN], 10**18 + 1, symbol="a\x1b[2J\u202e\nb").address
    result = run(f"ETH.{ANN}", f"ETH.{BEN}", "--token", token)
    assert result.exit_code == 0
    assert all(line.isprintable() for line in result.output.splitlines())
    assert "1.000000000000000001" in result.output
    assert "2.000000000000000002" in result.output


def test_exit_code_is_1_for_unknown_balances(run):
    """The line has the reason; the others are printed all the same."""
    result = run(f"ETH.{ANN}", f"FANTOM.{BEN}", "--chain-id", "FANTOM", "250")
    assert result.exit_code == 1
    assert "other_chain" in result.output
    assert result.stderr == ""


def test_old_block_and_base_units(run, bare_chain):
    """A block is named by its number; without decimals base units are shown."""
    ancient = bare_chain.deploy("Ancient").address
    assert "5 base units" in run(f"ETH.{ANN}", "--token", ancient).output
    before = run(f"ETH.{ANN}", "--token", ancient, "--block", "0")
    assert (before.exit_code, "invalid" in before.output) == (1, True)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_balances_are_written(run, bare_chain, tmp_path, suffix):
    """Files for tools have exact amounts."""
    bare_chain.fund(ANN, 10**27 + 1)
    path = tmp_path / f"out{suffix}"
    assert f"written: {path}" in run(f"ETH.{ANN}", "--output", str(path)).output
    if suffix == ".json":
        amount = json.loads(path.read_text())["balances"][0]["amount"]
    else:
        read = pd.read_csv if suffix == ".csv" else pd.read_parquet
        amount = read(path, **({"dtype": "str"} if suffix == ".csv" else {})).amount[0]
    assert str(amount) == "1000000000.000000000000000001"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["NEAR.alice.near"],
        [f"HOME.{ANN}"],
        [f"ETH.{ANN}", "--token", "USDC"],
        [f"ETH.{ANN}", "--block", "x"],
        [f"ETH.{ANN}", "--output", "x.xls"],
    ],
)
def test_bad_input_is_a_message(run, words):
    """The exit code is 2, without a traceback."""
    result = run(*words)
    assert (result.exit_code, "Error: " in result.output) == (2, True)


def test_url_is_not_in_the_process_list(bare_chain):
    """A real process reads it from its environment, and has no option for it."""
    words = [sys.executable, "-m", "walletframe", "balance", f"ETH.{ANN}"]
    environment = os.environ | {"WALLETFRAME_RPC_URL": f"{bare_chain.url}/my-secret-key"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert "my-secret-key" not in done.stdout + done.stderr
    assert done.returncode in (0, 1)
    refused = subprocess.run([*words, "--rpc-url", "x"], capture_output=True, check=False)
    assert refused.returncode == 2
