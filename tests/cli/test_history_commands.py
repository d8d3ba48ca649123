"""The commands of ``history``: snapshots kept, shown and compared."""

import json
import re
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from addresses import UPPER_A, UPPER_B, A, B
from canned_service import KEY
from fetches import fetched, token
from moments import interrupt_when

from walletframe.history import save, snapshots
from walletframe.service import SHOWCASE
from walletframe.text import abbreviate

DAY = datetime(2026, 1, 30, 6, tzinfo=UTC)
USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with snapshots of two days."""
    days = [
        {
            f"ETH.{UPPER_A}": [token("USDC", 5, contract=USDC), token("\x1b[31mEV\u202eIL", 7)],
            f"ETH.{UPPER_B}": [token("USDC", 5, contract=USDC)],
        },
        {
            f"ETH.{UPPER_A}": [token("USDC.e", 8, contract=USDC.lower()), token("OK\n", 7)],
            f"ETH.{UPPER_B}": "timeout",
        },
    ]
    for day, answers in enumerate(days):
        save(fetched(answers, at=DAY + timedelta(days=day)), folder=tmp_path)
    return tmp_path


@pytest.fixture
def both_kinds(canned, monkeypatch, tmp_path):
    """Return a service that records its requests, beside folders of both kinds of snapshots."""
    monkeypatch.chdir(tmp_path)
    save(fetched({f"ETH.{UPPER_A}": [token()]}), folder="real", at=DAY)
    save(fetched({f"ETH.{UPPER_A}": [token()]}, service="sandbox"), folder="made-up", at=DAY)
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    return canned


def test_save_keeps_a_snapshot_and_prints_it(run, reachable, tmp_path):
    """Failed wallets are included, and change the exit code."""
    result = run("history", "save", *map(str, SHOWCASE), "--folder", str(tmp_path / "kept"))
    assert result.exit_code == 1
    assert "14 wallets on 12 blockchains: 12 ok, 2 failed" in result.output
    assert re.search(r"saved: a snapshot of 20\d\d-", result.output)
    again = run("history", "save", "NEAR.alice.near", "--folder", str(tmp_path / "kept"))
    assert again.exit_code == 0
    assert sorted(snapshots(folder=tmp_path / "kept")["wallets"]) == [1, 14]


def test_save_refuses_a_url_for_a_folder(run, both_kinds):
    """Before any request."""
    result = run("history", "save", "NEAR.alice.near", "--folder", "s3://bucket/kept")
    assert result.exit_code == 3
    assert "is a URL" in result.output
    assert not both_kinds.paths


def test_save_keeps_a_snapshot_of_a_time(run, reachable, tmp_path):
    """A moment is in the machine's zone, which is printed, unless it names one."""
    words = ["history", "save", "NEAR.alice.near", "--folder", str(tmp_path / "kept"), "--at"]
    result = run(*words, "2026-01-31T08:00+09:00")
    assert "saved: a snapshot of 2026-01-30 23:00:00 UTC" in result.output
    assert snapshots(folder=tmp_path / "kept")["snapshot"].tolist() == [
        pd.Timestamp("2026-01-30T23:00Z")
    ]


@pytest.mark.filterwarnings("default::walletframe.errors.InputWarning")
def test_a_time_without_a_zone_is_explained(run, reachable, tmp_path):
    """The message has its moment in UTC."""
    words = ["history", "save", "NEAR.alice.near", "--folder", str(tmp_path / "kept"), "--at"]
    result = run(*words, "2026-01-31T08:00")
    assert re.search(
        r"has no time zone; it is read in the time zone of this machine .*, as .* UTC",
        result.output,
    )


def test_thin_prints_its_counts(run, folder):
    """How many snapshots are kept, and how many are removed."""
    save(fetched({f"ETH.{UPPER_A}": []}), folder=folder, at=DAY - timedelta(hours=1))
    result = run("history", "thin", "--older-than", "1d", "--folder", str(folder))
    assert result.output == "kept: 2 snapshots; removed: 1 snapshot\n"
    again = run("history", "thin", "--older-than", "soon", "--folder", str(folder))
    assert (again.exit_code, "older_than='soon' is not a duration" in again.output) == (2, True)


@pytest.mark.parametrize(
    "service, words, reason",
    [
        ("sandbox", [], "can't be stored beside real ones"),
        ("sandbox", ["--folder", "real"], "can't be stored beside real ones"),
        ("mine", ["--folder", "made-up"], "can't be stored beside real ones"),
        ("mine", ["--folder", "real", "--at", "2026-01-30T06:00Z"], "a snapshot of 2026-01-30 06"),
        ("mine", ["--at", "2026-01-30"], "is a day, but a point in time is needed"),
        ("mine", ["--at", "soon"], "is not a time"),
    ],
)
def test_save_refuses_before_any_request(run, both_kinds, monkeypatch, service, words, reason):
    """Wallets that can't be kept are not fetched."""
    monkeypatch.setenv("WALLETFRAME_SERVICE", service)
    result = run("history", "save", f"ETH.{A}", *words)
    assert (result.exit_code, reason in result.output, both_kinds.paths) == (2, True, [])


def test_an_interrupt_keeps_no_snapshot(run, both_kinds, tmp_path):
    """The missing wallets would be unknown; finished ones are in the cache."""
    both_kinds.default = (200, {}, [b" "] * 200)
    interrupt_when(lambda: len(both_kinds.paths) == 4)  # it waits, and loses no work
    wallets = [f"ETH.0x{number:040x}" for number in range(40)]
    result = run("history", "save", *wallets, "--folder", str(tmp_path / "kept"))
    assert (result.exit_code, (tmp_path / "kept").exists()) == (130, False)
    assert "no snapshot was saved" in result.output


def test_simulated_holdings_need_a_named_folder(run, reachable):
    """They are not kept among the user's."""
    result = run("history", "save", "NEAR.alice.near")
    assert result.exit_code == 2
    assert "can't be stored beside real ones" in result.output


def test_show_lists_snapshots(run, folder):
    """Each has one line, the oldest first."""
    lines = run("history", "show", "--folder", str(folder)).output.splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["2026-01-30", "06:00:00Z", "2", "2", "3"],
        ["2026-01-31", "06:00:00Z", "2", "1", "2"],
    ]


def test_show_marks_simulated_snapshots(run, tmp_path):
    """The list has the mark."""
    save(fetched({f"ETH.{UPPER_A}": []}, service="sandbox"), folder=tmp_path)
    assert "Simulated data" in run("history", "show", "--folder", str(tmp_path)).output


def test_show_prints_a_wallets_timeline(run, folder, tmp_path):
    """A line for each time; a gap has a reason; a file for tools."""
    words = ["history", "show", f"ETH.{B}", "--folder", str(folder)]
    output = run(*words, "--output", str(tmp_path / "t.csv")).output
    assert re.search(r"2026-01-30 06:00:00Z +0\.000005 +ok", output)
    assert re.search(r"2026-01-31 06:00:00Z +unknown +timeout", output)
    assert pd.read_csv(tmp_path / "t.csv")["status"].tolist() == ["ok", "timeout"]
    until = run(*words, "--until", "2026-01-30")
    assert ("2026-01-31" in until.output, until.exit_code, run(*words).exit_code) == (False, 0, 1)
    assert f"ETH.{abbreviate(UPPER_B)}" in run(*words, "--token", "USDC").output
    assert run(*words, "--token", "DAI").exit_code == 2


@pytest.mark.parametrize("words", [["--since", "yesterday"], ["--token", "USDC"]])
def test_show_needs_wallets_for_its_filters(run, folder, words):
    """An option without effect is refused."""
    result = run("history", "show", "--folder", str(folder), *words)
    assert (result.exit_code, "no wallets" in result.output) == (2, True)


@pytest.mark.parametrize(
    "words, message",
    [
        (["latest", f"ETH.{B}"], "use either wallets (for amounts over time), or BEFORE and"),
        (
            ["2026-01-30", "--file", "-"],
            "use either wallets (for amounts over time), or BEFORE and",
        ),
        (
            ["2026-01-30", "2026-01-31", "latest"],
            "use either wallets (for amounts over time), or BEFORE and",
        ),
        (["2026-01-30", "--since", "yesterday"], "--since and --until work with wallets, but not"),
        ([f"ETH.{B}", "--by", "token"], "--by needs changes"),
    ],
)
def test_show_prints_wallets_or_changes(run, folder, words, message):
    """Not both, and with the options of one of them."""
    result = run("history", "show", "--folder", str(folder), *words)
    assert (result.exit_code, message in result.output) == (2, True)


def test_compare_prints_changes(run, folder):
    """Two times: exact differences, unknown ones with reasons, and the sources."""
    result = run("history", "show", "2026-01-30", "--folder", str(folder))
    assert result.exit_code == 1
    assert "before: the snapshot of 2026-01-30 06:00:00 UTC" in result.output
    assert "after: the snapshot of 2026-01-31 06:00:00 UTC" in result.output
    assert re.search(r"USDC\.e .* 0\.000005 +0\.000008 +0\.000003 +increased", result.output)
    assert re.search(r"0\.000005 +unknown +unknown +unknown +ok → timeout", result.output)
    assert result.output.endswith("changes: 1 increased, 1 unknown; unknown wallets: 1\n")


def test_compare_adds_up(run, folder, tmp_path):
    """Changes of each token by wallet or in all, with their known wallets."""
    result = run("history", "show", "2026-01-30", "--folder", str(folder), "--by", "token")
    assert result.exit_code == 1
    assert re.search(
        r"USDC\.e .* 0\.000005 +0\.000008 +0\.000003 +increased +1 of 2", result.output
    )
    assert result.output.endswith("with unknown wallets\n")
    written = tmp_path / "sums.csv"
    words = ["--by", "wallet", "--by", "token", "--output", str(written)]
    result = run("history", "show", "2026-01-30", "--folder", str(folder), *words)
    assert re.search(rf"ETH\.{abbreviate(UPPER_B)} .*unknown +0 of 1", result.output)
    assert {*pd.read_csv(written)["address"]} == {UPPER_A, UPPER_B}
    assets = tmp_path / "assets.csv"
    assets.write_text("asset,token_blockchain,token_address\n" + f"Dollars,ETH,{USDC}\n")
    words = ["--by", "asset", "--by", "wallet", "--assets", str(assets)]
    result = run("history", "show", "2026-01-30", "--folder", str(folder), *words)
    assert re.search(rf"ETH\.{abbreviate(UPPER_A)} +Dollars +0\.000005 ", result.output)
    refused = run("history", "show", "2026-01-30", "--folder", str(folder), "--by", "team")
    assert (refused.exit_code, 'use by="token", "asset"' in refused.output) == (2, True)


def test_compare_shows_hostile_tokens_harmlessly(run, folder):
    """No control or bidi character and no line break of a token reaches the terminal."""
    hostile = {f"ETH.{UPPER_A}": [token("\x1b[31mEV\u202eIL\n", 9)]}
    save(fetched(hostile, at=DAY + timedelta(days=2)), folder=folder)
    output = run("history", "show", "2026-01-31", "--folder", str(folder), "--all").output
    assert "[31mEVIL" in output
    assert all(line.isprintable() for line in output.splitlines())


def test_included_spam_is_counted(run, tmp_path, monkeypatch):
    """For both times of changes, and for amounts over time, but not for a token that is named."""
    monkeypatch.chdir(tmp_path)
    spam = token("Visit usdcgift.com to claim", 7)
    for day, held in enumerate([[token()], [token(), spam]]):
        save(fetched({f"ETH.{A}": held}, at=DAY + timedelta(days=day)), folder="kept")
    output = run("history", "show", "2026-01-30", "./kept", "--folder", "kept").output
    before, after = output.partition("after: the snapshot of 2026-01-31 06:00:00 UTC")[::2]
    assert ("spam" in before, "Spam is included: 1 balance." in after) == (False, True)
    words = ["history", "show", f"ETH.{A}", "--folder", "kept"]
    assert run(*words).output.endswith("\nSpam is included: 1 balance.\n")
    assert "Spam is included" not in run(*words, "--token", "TKN").output


def test_a_repeated_token_is_refused(run, folder):
    """A history has one."""
    result = run("history", "show", "--token", "TKN", "--token", "ETH.", "--folder", str(folder))
    assert (result.exit_code, "it can't be repeated in this command" in result.output) == (2, True)


def test_compare_can_select_one_token(run, folder):
    """By a symbol that it has in either, or its contract; an unknown wallet stays."""
    words = ["history", "show", "2026-01-30", "latest", "--folder", str(folder), "--token"]
    assert run(*words, "USDC").output.endswith(
        "changes: 1 increased, 1 unknown; unknown wallets: 1\n"
    )
    output = run(*words, "OK\n").output
    assert "USDC" not in output
    assert output.endswith("\nchanges: 1 unknown; unknown wallets: 1\n")
    assert run(*words, "DAI").exit_code == 2
    assert run(*words, f"eth.{USDC}").output == run(*words, "USDC").output


def test_compare_and_show_can_select_one_asset(run, folder):
    """All its contracts together, and all wallets that could hold some."""
    words = ["history", "show", "2026-01-30", "--folder", str(folder), "--asset", "USDC"]
    output = run(*words).output
    assert re.search(
        rf"ETH\.{abbreviate(UPPER_A)} +USDC +0\.000005 +0\.000008 +0\.000003 +increased", output
    )
    once = "1 balance of 1 wallet (0.000005 before) not known at both times"
    counts = "changes: 1 increased, 1 unknown; unknown wallets: 1"
    assert output.endswith(f"Not counted: 1 of 2 wallets unknown; {once}.\n{counts}\n")
    assert re.search(r"ETH +USDC .* increased +1 of 2", run(*words, "--by", "blockchain").output)
    lines = run(
        "history", "show", f"ETH.{UPPER_B}", "--folder", str(folder), "--asset", "USDC"
    ).output
    assert re.search(
        rf"ETH\.{abbreviate(UPPER_B)} +USDC +2026-01-31 06:00:00Z +unknown +timeout", lines
    )


@pytest.mark.filterwarnings("always:.*the same cached answer:walletframe.errors.InputWarning")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_compare_takes_the_files_of_fetch(run, reachable, tmp_path, suffix):
    """Beside a snapshot of the same wallets: nothing changed but failures."""
    words = [str(wallet) for wallet in SHOWCASE if "7777" not in str(wallet)]
    run("history", "save", *words, "--folder", str(tmp_path / "kept"))
    run("fetch", *words, "--output", str(tmp_path / f"now{suffix}"))
    kept = ["latest", "--folder", str(tmp_path / "kept")]
    result = run("history", "show", str(tmp_path / f"now{suffix}"), *kept)
    assert "changes: 1 unknown; unknown wallets: 1\n" in result.stdout  # one answers without a list
    assert "Simulated data" in result.stdout
    assert "12 of 13 wallets have the same cached answer in before and after" in result.stderr


def test_compare_writes_its_changes(run, folder, tmp_path):
    """For tools: exact text, in the format of the file name."""
    path = tmp_path / "changes.json"
    run(
        "history",
        "show",
        "2026-01-30",
        "2026-01-31",
        "--folder",
        str(folder),
        "--output",
        str(path),
    )
    rows = json.loads(path.read_text())["changes"]
    assert [row["difference"] for row in rows] == ["0.000003", None]
    assert [row["status_after"] for row in rows] == ["ok", "timeout"]


def test_no_change_is_reported(run, tmp_path):
    """The exit code is 0."""
    for day in range(2):
        requested = fetched({f"ETH.{UPPER_A}": [token()]}, at=DAY + timedelta(days=day))
        save(requested, folder=tmp_path)
    result = run("history", "show", "2026-01-30", "--folder", str(tmp_path))
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "changes: none")


def test_an_unknown_token_is_an_unknown_change(run, tmp_path):
    """The exit code is 1, although all wallets and amounts are known."""
    held = [token(), token("?", contract=None, blockchain=None)]
    for day in range(2):
        save(fetched({f"ETH.{A}": held}, at=DAY + timedelta(days=day)), folder=tmp_path)
    result = run("history", "show", "2026-01-30", "--folder", str(tmp_path))
    assert result.exit_code == 1
    assert "2 balances of 1 wallet not known at both times" in result.output
    assert result.output.endswith("changes: 2 unknown\n")  # the wallet is known


@pytest.mark.parametrize(
    "words",
    [
        ["soon"],
        ["2026-01-01"],
        ["2026-01-31", "latest"],
        ["no-such-file.csv"],
        ["latest", "no-such-file.json"],
    ],
)
def test_other_arguments_are_refused(run, folder, words):
    """Bad times, times before all snapshots, one snapshot twice, missing files."""
    result = run("history", "show", *words, "--folder", str(folder))
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_a_file_without_its_wallets_is_refused(run, folder, tmp_path):
    """Its failed wallets would seem gone."""
    fetched({f"ETH.{UPPER_A}": [token()]}).holdings.wf.to_parquet(tmp_path / "alone.parquet")
    result = run("history", "show", str(tmp_path / "alone.parquet"), "--folder", str(folder))
    assert result.exit_code == 2
    assert "the file of wallets from the same fetch is missing" in result.output


@pytest.mark.parametrize("words", [["history"], ["history", "save"], ["history", "show"]])
def test_commands_have_help(run, words):
    """Each has a usage line."""
    assert "Usage: " in run(*words, "--help").output


def test_a_broken_history_is_reported(run, folder):
    """The message names the unreadable file."""
    [path] = folder.glob("date=2026-01-31/*/wallets.parquet")
    path.write_text("?")
    result = run("history", "show", "--folder", str(folder))
    assert result.exit_code == 3
    assert "wallets.parquet" in result.output
