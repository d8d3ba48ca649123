"""The commands in the documentation run unchanged, against the sandbox."""

import re
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from moments import wait_past_midnight
from own_folders import own_folders

ROOT = Path(__file__).parents[2]
HEX = "0x" + "8" * 40  # it holds USDC
PLACEHOLDERS = {
    "ETH.0x…": f"ETH.{HEX}",
    "$(date +%F)": "today",
}
"""What stands for something of the reader's."""
ENDLESS = ("walletframe sandbox", "walletframe balance")  # serves; needs a node


def commands():
    """Return each command once, as a reader would type it, with the first page that shows it."""
    result = {}
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.splitlines():
                command = line.partition("  #")[0].strip()
                if command.startswith("walletframe ") and not command.startswith(ENDLESS):
                    result.setdefault(command, path.name)
    return result


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory, run, variables):
    """Write the commands' input: lists of wallets, prices, fetches and a snapshot."""
    wait_past_midnight(60)
    folder = tmp_path_factory.mktemp("files")
    own = own_folders(folder / "xdg", folder / "data")
    own["WALLETFRAME_CACHE"] = "false"  # so that each day has a request
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in (variables | own).items():
            patch.setenv(name, value)
        write_files(run, patch)
    return folder


@pytest.fixture
def files(laid_out, tmp_path, monkeypatch):
    """Change to their folder."""
    shutil.copytree(laid_out, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WALLETFRAME_SERVICE", "ours")
    monkeypatch.setenv("WALLETFRAME_CACHE", "false")


def write_files(run, patch):
    """Write the files, and keep the snapshots in a folder of their own."""
    people = pd.DataFrame(
        {"blockchain": ["ETH", "NEAR"], "address": [HEX, "alice.near"], "owner": "Ada", "name": "a"}
    )
    people.to_csv("people.csv", index=False)
    people.to_csv("wallets.csv", index=False)
    Path("wallets.txt").write_text(f"ETH.{HEX}\nNEAR.alice.near\n")
    Path("prices.csv").write_text("asset,price\nETH,2500\n")
    for name in ("holdings.csv", "yesterday.csv"):
        fetched = run("fetch", "--file", "people.csv", "--keep", "owner", "--output", name)
        assert fetched.exit_code == 0
    patch.setenv("WALLETFRAME_SERVICE", "ours")  # simulated holdings are no history
    for days in (7, 1, 0):
        moment = f"{datetime.now(UTC) - timedelta(days=days):%FT%TZ}"
        saved = ("history", "save", "--file", "people.csv", "--keep", "owner", "--at", moment)
        assert run(*saved).exit_code == 0
    assert run("fetch-to-parquet", "bulk", "--file", "people.csv").exit_code == 0


@pytest.mark.usefixtures("reachable", "files")
@pytest.mark.parametrize("command", commands(), ids=lambda command: command[12:60])
def test_documented_command_runs(command, run):
    """It succeeds, or reports something unknown."""
    for place, meant in PLACEHOLDERS.items():
        command = command.replace(place, meant)
    a_week_ago = f"{datetime.now(UTC) - timedelta(days=7):%F}"
    command = command.replace("$(date -d '7 days ago' +%F)", a_week_ago)
    done = run(*shlex.split(command)[1:])
    assert done.exit_code in {0, 1}, done.output
