"""The commands that the documentation shows run as they stand, against the sandbox."""

import re
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from moments import let_midnight_pass
from own_folders import own_folders

ROOT = Path(__file__).parents[2]
HEX = "0x" + "8" * 40  # which holds USDC
PLACES = {
    "ETH.0x…": f"ETH.{HEX}",
    "$(date +%F)": "today",
}
"""What stands for something of the reader's."""
ENDLESS = ("walletframe sandbox", "walletframe balance")  # serves; needs a node


def commands():
    """Return each command once, as a reader would type it, with the page that shows it first."""
    found = {}
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.splitlines():
                command = line.partition("  #")[0].strip()
                if command.startswith("walletframe ") and not command.startswith(ENDLESS):
                    found.setdefault(command, path.name)
    return found


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory, run, variables):
    """Write what the commands read: lists of wallets, prices, fetches and a snapshot."""
    let_midnight_pass(60)
    folder = tmp_path_factory.mktemp("files")
    own = own_folders(folder / "xdg", folder / "data")
    own["WALLETFRAME_CACHE"] = "false"  # so that each day was asked for
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in (variables | own).items():
            patch.setenv(name, value)
        write_files(run, patch)
    return folder


@pytest.fixture
def files(laid_out, tmp_path, monkeypatch):
    """Go where they are."""
    shutil.copytree(laid_out, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WALLETFRAME_SERVICE", "ours")
    monkeypatch.setenv("WALLETFRAME_CACHE", "false")


def write_files(run, patch):
    """Write them, and keep the snapshots where nobody else does."""
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
    """It ends well, or says that something is unknown."""
    for place, meant in PLACES.items():
        command = command.replace(place, meant)
    a_week_ago = f"{datetime.now(UTC) - timedelta(days=7):%F}"
    command = command.replace("$(date -d '7 days ago' +%F)", a_week_ago)
    done = run(*shlex.split(command)[1:])
    assert done.exit_code in {0, 1}, done.output
