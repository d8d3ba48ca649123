"""``walletframe totals``: on a service, on files and folders of a fetch, and at prices."""

import json
import re

import pandas as pd
import pytest
from addresses import A, B, C, D
from canned_service import KEY, answer, balance, wallet
from click.testing import CliRunner
from fetches import fetched, token
from moments import interrupt_when
from parted import write_parts

import walletframe as wf
from walletframe.bulk import read_wallets
from walletframe.cli import main
from walletframe.cli.files import is_holdings_path, read_saved_frames, write_details
from walletframe.history import load, save, total_timeline
from walletframe.text import abbreviate

# The third balance of 0xa has no decimals.
pytestmark = pytest.mark.filterwarnings("ignore:1 of 3 balances:walletframe.errors.AnswerWarning")
ETHER = {"address": None, "symbol": "ETH"}
SUFFIXES = [".csv", ".parquet", ".json"]


@pytest.fixture
def run(canned, monkeypatch):
    """Return a function that runs the command line for three wallets.

    0xa holds ether, a token whose symbol is a formula and one of unknown amount; 0xb holds
    nothing; 0xc fails.
    """
    held = [
        balance("1500000000000000001", 18, **ETHER) | {"price": 0.1 + 0.2},
        balance("2500000", 6, symbol="=1+1"),
        balance("7", None, symbol="NA", address="0x7"),
    ]
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    monkeypatch.setenv("WALLETFRAME_DEADLINE_S", "0")
    monkeypatch.setenv("WALLETFRAME_WORKERS", "1")
    for sent in [
        wallet(A, balances=held),
        wallet(B, balances=[]),
        wallet(C, failed=True, balances=None),
    ]:
        canned.add_reply(answer(sent))
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture
def details(run, canned):
    """Return the fetch of those wallets."""
    with canned.client(workers=1) as client:
        return client.fetch([f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"], on_failure="ignore")


def test_the_last_line_says_what_is_not_counted(run):
    """For one token, it states the selection, and how many balances are not selected."""
    wallets = (f"ETH.{A}", f"ETH.{B}", f"ETH.{C}")
    unknown = "Not counted: 1 of 3 wallets unknown"
    as_of = r"As of 20\d\d-\d\d-\d\d \d\d:\d\d UTC\."
    lines = run("totals", *wallets).output.splitlines()
    assert re.fullmatch(f"{unknown}; 1 balance of unknown amount. {as_of}", lines[-1])
    lines = run("totals", *wallets, "--token", "ETH").output.splitlines()
    selected = re.escape("Selected: token='ETH'. ")
    assert re.fullmatch(f"{selected}{unknown}; 2 balances not selected. {as_of}", lines[-1])


def test_prices_of_the_settings_are_used(details, tmp_path, monkeypatch):
    """Without an option; the service's own are in the list."""
    monkeypatch.chdir(tmp_path)
    write_details(details, tmp_path / "holdings.parquet")
    command = ["totals", "holdings.parquet"]
    assert "Value:" not in CliRunner().invoke(main, command).output
    wf.configure(prices=["service"], currency="USD")
    output = CliRunner().invoke(main, command).output
    assert re.search(r"Value: .* USD, from 1 of 3 balances", output)


def line_of(output, word):
    """Return the cells of the first line with a word."""
    return next(re.split(r"\s{2,}", line) for line in output.splitlines() if word in line)


def test_totals_of_wallets(run):
    """They are exact, with unknown amounts and known wallets; one failed, so the code is 1."""
    result = run("totals", f"ETH.{A}", f"ETH.{B}", f"ETH.{C}", "--by", "token")
    assert result.exit_code == 1
    ether = ["ETH", "ETH", "native coin", "1.500000000000000001", "1", "1", "0", "2/3"]
    assert line_of(result.output, "native coin") == ether
    assert line_of(result.output, "NA ")[3:] == ["unknown", "-", "1", "1", "1/3"]
    assert "3 wallets on 1 blockchain: 2 ok, 1 failed" in result.output


def test_totals_are_by_asset(run, details, tmp_path):
    """Unless another column is named, or one token."""
    write_details(details, tmp_path / "h.csv")
    command = ["totals", str(tmp_path / "h.csv")]
    result = run(*command)
    assert result.exit_code == 1
    headings = ["asset", "amount", "contracts", "blockchains", "holders", "balances"]
    assert re.split(r"\s{2,}", result.output.splitlines()[0])[:6] == headings
    ether = ["ETH", "1.500000000000000001", "1", "1", "1", "1", "0", "2/3"]
    assert line_of(result.output, "ETH ") == ether
    assert line_of(result.output, "NA ")[1:] == ["unknown", "-", "-", "-", "1", "1", "1/3"]
    assert run(*command, "--by", "asset").output == result.output
    one = run(*command, "--token", "ETH.")
    assert line_of(one.output, "native coin")[:2] == ["ETH", "ETH"]
    assert one.output == run(*command, "--token", "ETH.", "--by", "token").output


def test_totals_by_wallet(run):
    """A failed wallet has a gap, and an empty one a zero."""
    output = run("totals", f"ETH.{A}", f"ETH.{B}", f"ETH.{C}", "--by", "wallet").output
    assert line_of(output, f"ETH.{abbreviate(A)}") == [f"ETH.{abbreviate(A)}", "2", "3", "1", "1/1"]
    assert line_of(output, f"ETH.{abbreviate(B)}") == [f"ETH.{abbreviate(B)}", "0", "0", "0", "1/1"]
    assert line_of(output, f"ETH.{abbreviate(C)}") == [f"ETH.{abbreviate(C)}", "-", "-", "-", "0/1"]


CLAIM = token("Visit usdcgift.com to claim", 930_000_000, contract="0xbad")


@pytest.fixture
def claims():
    """Return a fetch of tokens and spam of value, and of a token that is unknown."""
    unknown = token("?", contract=None, blockchain=None)
    saved = fetched({f"ETH.{A}": [token(), CLAIM], f"ETH.{B}": [token(), unknown], f"BSC.{C}": []})
    return saved._replace(holdings=saved.holdings.assign(price=1.0))


@pytest.mark.parametrize("suffix", [".csv", ""])
def test_spam_is_left_out_with_its_value(run, claims, tmp_path, suffix):
    """The last line counts it; with an option, or by its name, it is in the table."""
    path = tmp_path / f"h{suffix}"
    write_details(claims, path) if suffix else write_parts(path, claims)
    values = [str(path), "--currency", "USD"]
    output = run("totals", *values, "--by", "wallet").output
    assert line_of(output, f"ETH.{abbreviate(A)}")[1:3] == ["1", "1"]
    assert "Value: 3.00 USD, from 2 of 3 balances" in output
    assert "; 1 spam balance (930.00 USD). As of" in output.splitlines()[-1]
    every = run("totals", *values, "--with-spam").output
    assert ("Value: 933.00 USD, from 3 of 4 balances" in every, "spam" in every) == (True, False)
    assert line_of(run("totals", str(path), "--token", CLAIM[2]).output, "Visit")[3] == "930"
    assert line_of(run("totals", str(path), "--asset", CLAIM[2]).output, "Visit")[1] == "930"


def test_spam_of_holdings_without_wallets_is_stated(run, claims, tmp_path):
    """Also if the file lacks a column that only the detection of spam reads."""
    claims.holdings.drop(columns="raw_amount").to_csv(tmp_path / "own.csv", index=False)
    output = run("totals", str(tmp_path / "own.csv")).stdout
    assert output.splitlines()[-1] == "Not counted: 1 spam balance; failed wallets, if any."


@pytest.mark.parametrize("suffix", [".csv", ""])
def test_totals_of_chosen_assets(run, tmp_path, suffix):
    """By any case of their names; balances that may be of them are counted."""
    usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    usdt = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
    unknown = token("?", contract=None, blockchain=None)
    held = [token("USDC", contract=usdc), token("USDT", contract=usdt), token()]
    saved = fetched({f"ETH.{A}": held, f"ETH.{B}": [unknown], f"BASE.{C}": "timeout"})
    path = tmp_path / f"h{suffix}"
    write_details(saved, path) if suffix else write_parts(path, saved)
    result = run("totals", str(path), "--asset", "usdc")
    assert line_of(result.output, "USDC")[:2] == ["USDC", "1.5"]
    assert line_of(result.output, "USDC")[-1] == "2/3"
    assert (
        "Selected: asset='USDC'. Not counted: 1 of 3 wallets unknown; 1 balance whose token is "
        "unknown; 2 balances not selected."
    ) in result.output
    assert result.exit_code == 1
    both = run("totals", str(path), "--asset", "USDC", "--asset", "USDT", "--by", "wallet").output
    one = ["1.5", "1", "1", "1", "0", "1/1"]
    assert line_of(both, "USDC") == [f"ETH.{abbreviate(A)}", "USDC", *one]
    assert line_of(both, "USDT") == [f"ETH.{abbreviate(A)}", "USDT", *one]
    assert line_of(both, f"ETH.{abbreviate(B)}")[-1] == "1/1"
    named = run("totals", str(path), "--token", f"ETH.{usdc}", "--by", "blockchain").output
    assert line_of(named, "ETH")[:5] == ["ETH", "USDC", "ETH", abbreviate(usdc), "1.5"]
    both = run("totals", str(path), "--token", f"ETH.{usdc}", "--token", "TKN").output
    assert [line_of(both, name)[0] for name in ("USDC", "TKN")] == ["USDC", "TKN"]
    refused = run("totals", str(path), "--asset", "DAI")
    assert (refused.exit_code, "no row has the asset 'DAI'" in refused.output) == (2, True)
    refused = run("totals", str(path), "--asset", "USDC", "--token", "TKN")
    assert (refused.exit_code, "token=… and asset=… can't be combined" in refused.output) == (
        2,
        True,
    )


@pytest.mark.parametrize("suffix", [".csv", ""])
def test_the_exit_code_follows_the_coverage_of_the_printed_rows(run, tmp_path, suffix):
    """A failed wallet counts unless it is on a blockchain that can't hold the token."""
    saved = fetched({f"ETH.{A}": [token(), token("ETH", contract=None)], f"BASE.{C}": "timeout"})
    path = tmp_path / f"h{suffix}"
    write_details(saved, path) if suffix else write_parts(path, saved)
    for words, code, line in (
        (["--token", "TKN"], 0, "Selected: token='TKN'. Not counted: 1 balance not selected."),
        (["--asset", "TKN", "--by", "wallet"], 0, "Not counted: 1 balance not selected."),
        (["--asset", "ETH"], 1, "Not counted: 1 of 2 wallets unknown; 1 balance not selected."),
        ([], 1, "Not counted: 1 of 2 wallets unknown."),
    ):
        result = run("totals", str(path), *words)
        assert (result.exit_code, line in result.output) == (code, True), result.output


@pytest.mark.filterwarnings("always::walletframe.errors.InputWarning")
def test_bridged_versions_of_a_chosen_asset(run, tmp_path):
    """They are counted with an option of the shell, which the messages name."""
    weth, coin = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", token("ETH", contract=None)
    write_details(fetched({f"ETH.{A}": [coin, token("WETH", contract=weth)]}), tmp_path / "h.csv")
    words = ["totals", str(tmp_path / "h.csv"), "--asset", "ETH", "--by", "wallet"]
    result = run(*words)
    assert "Not counted: 1.5 in 1 bridged version. As of" in result.stdout
    warning = "the result lacks 1.5 in 1 bridged version; pass --bridged to include all versions"
    assert warning in result.stderr
    assert line_of(run(*words, "--bridged").stdout, "ETH.0x")[2:4] == ["3", "2"]


@pytest.fixture
def people(tmp_path):
    """Return a file of those wallets with owners, stray spaces and a repeat."""
    rows = f"Ada,eth, {A} \nAda ,ETH,{B}\n,ETH,{C}\nBen,ETH,{B}\n"
    (tmp_path / "people.csv").write_text(f" owner ,blockchain, address\n{rows}")
    return str(tmp_path / "people.csv")


@pytest.mark.filterwarnings("always::walletframe.errors.InputWarning")
def test_totals_by_a_kept_column(run, people):
    """Wallets without an owner are a group; lines with contradicting owners are named."""
    result = run("totals", "--file", people, "--keep", "owner", "--by", "owner")
    assert line_of(result.output, "Ada") == ["Ada", "2", "1", "3", "1", "2/2"]
    assert result.output.splitlines()[3].split() == ["-", "-", "-", "-", "-", "0/1"]
    assert (
        f"{people} line 5: 'ETH.{abbreviate(B)}': 'Ben', but 'Ada' in an earlier row"
        in result.stderr
    )


@pytest.mark.filterwarnings("ignore::walletframe.errors.InputWarning")
def test_kept_columns_are_written(run, people, tmp_path):
    """Totals of the file have them; also by asset, with contracts and blockchains."""
    path = str(tmp_path / "h.csv")
    fetched = run("fetch", "--file", people, "--keep", "owner", "--output", path)
    assert "written" in fetched.output
    output = run("totals", path, "--by", "owner", "--by", "asset").output
    header, _, ether, *_ = (re.split(r"\s{2,}", line) for line in output.splitlines())
    assert header[:5] == ["owner", "asset", "amount", "contracts", "blockchains"]
    assert ether == ["Ada", "ETH", "1.500000000000000001", "1", "1", "1", "1", "0", "2/2"]


@pytest.mark.filterwarnings("ignore::walletframe.errors.InputWarning")
@pytest.mark.parametrize(
    "words",
    [
        ["totals", "--by", "owner", "--by", "asset"],
        ["totals", "--token", "=1+1", "--by", "blockchain"],
        ["totals", "--token", "ETH."],
        ["totals", "--token", "NONE"],
        ["totals", "--by", "owner", "--currency", "USD"],
        ["totals", "--token", "ETH.", "--by", "wallet", "--currency", "USD"],
    ],
    ids=" ".join,
)
def test_a_folder_equals_a_file(run, people, tmp_path, words):
    """Text, numbers and exit codes are the same."""
    command, *options = words
    file, folder = str(tmp_path / "h.parquet"), str(tmp_path / "bulk")
    run("fetch-to-parquet", folder, "--file", people, "--keep", "owner")
    write_details(read_wallets(folder), tmp_path / "h.parquet")
    ours, theirs = run(command, folder, *options), run(command, file, *options)
    assert ours.output == theirs.output
    assert ours.exit_code == theirs.exit_code


def test_a_folder_without_any_balance(run, details, tmp_path):
    """Its value is zero."""
    empty = details._replace(wallets=details.wallets[1:2], holdings=details.holdings[:0])
    write_parts(tmp_path / "bulk", empty)
    output = run("totals", str(tmp_path / "bulk"), "--by", "wallet", "--currency=USD").output
    assert "Value: 0.00, from 0 of 0 balances (0 without a price, 0 of" in output


def test_other_folders_are_read_as_wallets(run, tmp_path):
    """So is a name that is too long for any file."""
    for word in (str(tmp_path), f"ETH.{'0x' * 300}"):
        assert not is_holdings_path(word)
    assert "can't be read" in run("totals", str(tmp_path)).output


def test_reports_and_changes_of_a_folder(run, details, tmp_path):
    """The whole folder is read."""
    folder, page = str(write_parts(tmp_path / "bulk", details)), str(tmp_path / "report.md")
    assert f"written: {page}" in run("report", folder, "--output", page).output
    assert "unknown wallets: 1" in run("history", "show", folder, folder).output


def test_totals_by_the_time_of_snapshots(run, details, tmp_path):
    """A file with several has times to the second."""
    times = pd.Series(pd.to_datetime(["2026-01-30T06:00:01Z", "2026-01-31T06:00:00Z"]))
    holdings = pd.concat([details.holdings.assign(snapshot=time) for time in times])
    holdings.reset_index(drop=True).wf.to_parquet(tmp_path / "h.parquet")
    output = run("totals", str(tmp_path / "h.parquet"), "--by", "snapshot").output
    assert line_of(output, "06:00:01Z")[:3] == ["2026-01-30 06:00:01Z", "2", "1"]


def test_groups_of_several_kinds_stay_together(run, canned):
    """Below the first kind; a known empty wallet has no unknown amount."""
    output = run("totals", f"ETH.{A}", f"ETH.{B}", "--by", "wallet", "--by", "token").output
    wallets = [line.split()[0] for line in output.splitlines()[2:6]]
    assert wallets == [f"ETH.{abbreviate(A)}"] * 3 + [f"ETH.{abbreviate(B)}"]
    assert "unknown" not in line_of(output, f"ETH.{abbreviate(B)}")


@pytest.mark.parametrize(
    "words, order",
    [
        (
            ["totals", "--currency", "USD", "--by", "wallet", "--by", "token"],
            [A, A, B, B],
        ),
        (["totals", "--by", "wallet", "--by", "token", "--token", "ETH."], [B, A]),
        (["totals", "--by", "wallet", "--token", "ETH."], [B, A]),
    ],
)
def test_the_largest_comes_first_in_each_wallet(run, details, tmp_path, words, order):
    """By value; by amount of one token."""
    ether = details.holdings[details.holdings["symbol"] == "ETH"]
    coin = ether.assign(symbol="USD", token_address="0x8")
    values = [(A, ether, 1, 100.0), (B, ether, 3, 50.0), (B, coin, 2, 40.0)]
    rows = [
        row.assign(
            address=owner, amount=pd.array([str(amount)], dtype="amount"), price=value / amount
        )
        for owner, row, amount, value in [*values, (A, coin, 4, 4.0)]
    ]
    path = tmp_path / "h.csv"
    write_details(details._replace(holdings=pd.concat(rows, ignore_index=True)), path)
    lines = run(words[0], str(path), *words[1:]).output.splitlines()[2:]
    assert [line.split()[0] for line in lines if line.startswith("ETH.0x")][: len(order)] == [
        f"ETH.{abbreviate(owner)}" for owner in order
    ]


def test_headings_of_a_file_may_have_any_case(run, tmp_path):
    """Those of wallets, and kept ones, which get the requested name."""
    path = tmp_path / "p.csv"
    path.write_text(f"Blockchain, ADDRESS , Owner\neth,{A},Ada\n")
    output = run("totals", "--file", str(path), "--keep", "owner", "--by", "owner").output
    assert output.split()[0] == "owner"
    assert "Ada" in output


def test_a_users_file_of_assets(run, tmp_path):
    """It overrides the packaged list; bridged tokens count on request."""
    own = tmp_path / "assets.csv"
    own.write_text("asset,token_blockchain,token_address,kind\nETH,ETH,0xTOKEN,bridged\n")
    words = ["totals", f"ETH.{A}", "--by", "asset", "--assets", str(own)]
    assert line_of(run(*words).output, "1.500000000000000001")[0] == "ETH"
    assert line_of(run(*words, "--bridged").output, "ETH ")[1:3] == ["4.000000000000000001", "2"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--by", "owner"], "'--by': 'owner' is not a column of balances"),
        (["--keep", "owner", f"ETH.{A}"], "--keep needs a --file whose name ends in .csv"),
        (["--keep", "team"], "lacks 'team'"),
        (["--keep", "status"], "walletframe has a column of this name"),
        (["--by", "wallet", "--bridged"], "group by asset, or leave out bridged=…"),
    ],
)
@pytest.mark.filterwarnings("ignore::walletframe.errors.InputWarning")
def test_missing_columns_are_refused(run, people, words, message):
    """Before any request, if possible."""
    file = [] if f"ETH.{A}" in words else ["--file", people]
    result = run("totals", *file, *words)
    assert result.exit_code == 2
    assert message in result.output


def test_values_at_the_services_prices(run):
    """Missing prices and amounts are counted apart; values need a currency or prices."""
    result = run("totals", f"ETH.{A}", "--by", "blockchain", "--currency", "USD")
    assert result.exit_code == 1  # the amount of a balance is unknown
    header, *_ = result.output.splitlines()
    assert header.split()[-2:] == ["value", "complete"]
    assert (
        "Value: 0.45 USD, from 1 of 3 balances (1 without a price, 1 of unknown amount)"
        in result.output
    )
    assert "value" not in run("totals", f"ETH.{A}", "--by", "blockchain").output.lower()
    named = ["--prices", "service", "--currency", "USD"]
    values = "Value: 0.45 USD, from 1 of 3 balances"
    assert values in run("totals", f"ETH.{A}", "--by", "blockchain", *named).output


def test_values_at_prices_of_a_file(run, tmp_path):
    """By contract, with the named currency."""
    (tmp_path / "p.csv").write_text(
        "token_blockchain,token_address,price\nETH,,2000\neth,0xTOKEN,1\n"
    )
    prices = ["--prices", str(tmp_path / "p.csv"), "--currency", "USD"]
    result = run("totals", f"ETH.{A}", *prices)
    assert "Value: 3,002.50 USD, from 2 of 3 balances" in result.output
    (tmp_path / "own.csv").write_text("token_blockchain,token_address,price\nETH,,1000\n")
    listed = run("totals", f"ETH.{A}", "--prices", str(tmp_path / "own.csv"), *prices)
    assert "Value: 1,502.50 USD, from 2 of 3 balances" in listed.output
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["ETH", "=1+1", "NA"]


@pytest.mark.filterwarnings("always::walletframe.errors.PricesWarning")
def test_values_at_prices_by_asset(run, tmp_path):
    """Also of the user's assets, in rows of any groups."""
    prices, mine = tmp_path / "p.csv", tmp_path / "assets.csv"
    prices.write_text("asset,price\nETH,2000\nMINE,10\n")
    mine.write_text("asset,token_blockchain,token_address,kind\nMINE,ETH,0x7,bridged\n")
    words = ["totals", f"ETH.{A}", "--prices", str(prices)]
    by_asset = run(*words, "--assets", str(mine), "--bridged", "--by", "asset").output
    assert re.search(r"MINE +.*unknown", by_asset)
    result = run(*words, "--assets", str(mine), "--bridged", "--by", "wallet")
    assert (result.exit_code, "3,000.00" in result.output) == (1, True)
    assert "3: 'MINE'" in run(*words, "--assets", str(mine)).stderr
    by_token = run(*words, "--assets", str(mine), "--bridged", "--by", "token")
    assert (by_token.exit_code, "3,000.00" in by_token.output) == (1, True)
    prices.write_text("symbol,price\nETH,2000\n")
    assert run(*words, "--by-symbol", "--bridged").exit_code == 1
    refused = run(*words, "--by-symbol", "--bridged", "--by", "token")
    assert refused.exit_code == 2
    assert "bridged=… applies only to tables of assets" in refused.output


def test_a_symbol_with_a_dot_is_a_symbol(run, details, tmp_path):
    """If a token has it; otherwise it is a blockchain and a contract."""
    path = tmp_path / "dotted.csv"
    holdings = details.holdings.replace({"symbol": {"=1+1": "USD.E"}})
    write_details(details._replace(holdings=holdings), path)
    output = run("totals", str(path), "--token", "USD.E").output
    assert line_of(output, "USD.E")[:2] == ["USD.E", "ETH"]
    assert run("totals", str(path), "--token", "USD.F").exit_code == 2


def test_a_small_value_is_not_rounded_to_zero(run, tmp_path):
    """Less than a cent has its digits, in the table and in the sum, as in a report."""
    (tmp_path / "p.csv").write_text("token_blockchain,token_address,price\neth,0xTOKEN,0.00196\n")
    output = run(
        "totals", f"ETH.{A}", "--prices", str(tmp_path / "p.csv"), "--token", "=1+1"
    ).output
    assert line_of(output, "=1+1")[-2:] == ["0.0049", "1/1"]
    assert "Value: 0.0049, from 1 of 1 balance (" in output


@pytest.mark.filterwarnings("always::walletframe.errors.PricesWarning")
def test_prices_of_unheld_tokens_are_reported(run, tmp_path):
    """On standard error, beside an unknown value."""
    (tmp_path / "p.csv").write_text("token_blockchain,token_address,price\nBSC,,2000\n")
    result = run("totals", f"ETH.{A}", "--prices", str(tmp_path / "p.csv"))
    assert "Warning: no price matches a token in these holdings (1 price given)" in result.stderr
    assert "Value: unknown, from 0 of 3 balances" in result.stdout


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_a_fetch_are_read_back(details, tmp_path, suffix):
    """Both frames, hostile text and the last bit of a price included."""
    write_details(details, tmp_path / f"h{suffix}")
    holdings, wallets = read_saved_frames(str(tmp_path / f"h{suffix}"))
    pd.testing.assert_frame_equal(holdings, details.holdings, check_exact=True)
    pd.testing.assert_frame_equal(wallets, details.wallets, check_exact=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_an_empty_fetch(details, tmp_path, suffix):
    """Empty frames have the same dtypes."""
    nothing = type(details)(details.wallets.head(0), details.holdings.head(0))
    write_details(nothing, tmp_path / f"h{suffix}")
    holdings, wallets = read_saved_frames(str(tmp_path / f"h{suffix}"))
    assert holdings.dtypes.equals(details.holdings.dtypes)
    assert wallets.dtypes.equals(details.wallets.dtypes)


def test_a_symbol_forges_no_row(run, details, tmp_path):
    """A bare carriage return ends no row of a file that the shell wrote and reads."""
    forged = "x\rETH,0xa,USDC,0x7,1000000,6,1000000000000,ETH,"
    evil = details.holdings.assign(symbol=forged)
    write_details(details._replace(holdings=evil), tmp_path / "h.csv")
    result = run("totals", str(tmp_path / "h.csv"))
    assert "1,000,000" not in result.output
    assert len(read_saved_frames(str(tmp_path / "h.csv"))[0]) == len(evil)


def test_amounts_are_shown_to_the_last_digit(run, details, tmp_path):
    """With any number of digits."""
    huge = details.holdings.assign(amount=pd.array(["17" * 60] * len(details.holdings), "amount"))
    write_details(details._replace(holdings=huge.head(1)), tmp_path / "h.csv")
    assert "17" * 60 in run("totals", str(tmp_path / "h.csv")).output


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".xlsx"])
def test_totals_of_a_file_of_a_notebook(run, details, tmp_path, suffix):
    """With any suffix; the completeness is unknown."""
    write = details.holdings.wf.to_excel if suffix == ".xlsx" else details.holdings.wf.to_csv
    write(tmp_path / f"h{suffix}")
    details.holdings.wf.to_parquet(tmp_path / "h.parquet")
    result = run("totals", str(tmp_path / f"h{suffix}"))
    assert result.stdout == run("totals", str(tmp_path / "h.parquet")).stdout
    assert "the totals may be incomplete" in result.stderr


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_totals_of_a_file_equal_those_of_its_wallets(run, tmp_path, suffix):
    """The same table and exit code, without a request."""
    path = str(tmp_path / f"h{suffix}")
    run("fetch", f"ETH.{A}", f"ETH.{B}", f"ETH.{C}", "--output", path)
    result = run("totals", path, "--by", "token", "--by", "wallet")
    assert result.exit_code == 1
    assert "1.500000000000000001" in result.output
    assert line_of(result.output, f"ETH.{abbreviate(C)}")[:5] == [
        *("-", "-", "-"),
        f"ETH.{abbreviate(C)}",
        "unknown",
    ]


def test_a_file_without_its_wallets_is_reported(run, details, tmp_path):
    """Standard error says that the completeness is unknown."""
    details.holdings.wf.to_parquet(tmp_path / "h.parquet")
    result = run("totals", str(tmp_path / "h.parquet"))
    assert result.exit_code == 1  # the amount of a balance is unknown
    assert "the totals may be incomplete" in result.stderr
    assert "complete" not in result.stdout


def test_unknown_tokens_are_counted_beside_a_token(run, tmp_path):
    """A balance of an unknown token may be of any, so the exit code is 1."""
    strange = token("?", contract=None, blockchain=None)
    saved = fetched({f"ETH.{A}": [token()], f"ETH.{B}": [strange], f"ETH.{C}": []})
    write_details(saved, tmp_path / "h.csv")
    for argument in (tmp_path / "h.csv", write_parts(tmp_path / "bulk", saved)):
        result = run("totals", str(argument), "--token", "TKN")
        text = "Not counted: 1 balance whose token is unknown"
        assert (result.exit_code, text in result.output) == (1, True)
        assert run("totals", str(argument), "--by", "wallet").exit_code == 0


def test_totals_of_a_token_over_time_count_known_wallets(run, tmp_path):
    """By snapshot, the known wallets are those of Python's timeline of the token."""
    strange, path = token("?", contract=None, blockchain=None), tmp_path / "h.csv"
    quiet, unread = [token()], [token(), token(decimals=None), strange]
    for day, other in [("2026-01-30", quiet), ("2026-01-31", unread), ("2026-02-01", quiet)]:
        details = fetched({f"ETH.{A}": quiet, f"ETH.{B}": other})
        save(details, folder=tmp_path / "history", at=f"{day}T06:00Z")
    history = load(folder=tmp_path / "history")
    write_details(history, path)
    words = ["--token", "TKN", "--by", "snapshot", "--output", str(tmp_path / "totals.csv")]
    assert run("totals", str(path), *words).exit_code == 1
    known = total_timeline(history, token="TKN")["wallets_known"].tolist()
    rows = pd.read_csv(tmp_path / "totals.csv").sort_values("snapshot")
    assert rows["wallets_ok"].tolist() == known == [2, 1, 2]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_totals_are_written_exactly(run, tmp_path, suffix):
    """The file has the printed amounts, to the last digit."""
    path = tmp_path / f"out{suffix}"
    assert f"written: {path}" in run("totals", f"ETH.{A}", "--output", str(path)).output
    if suffix == ".json":
        frame = pd.DataFrame(json.loads(path.read_text())["totals"])
    else:
        frame = pd.read_csv(path, dtype="str") if suffix == ".csv" else pd.read_parquet(path)
    assert "1.500000000000000001" in [*map(str, frame["amount"])]


def test_long_tables_are_truncated_unless_all_is_requested(run, details, tmp_path):
    """The last line has the number of the other rows."""
    many = pd.concat([details.holdings.head(1)] * 60, ignore_index=True)
    many["token_address"] = [f"0x{number}" for number in range(60)]
    many.wf.to_csv(tmp_path / "h.csv")
    assert "… and 20 more" in run("totals", str(tmp_path / "h.csv")).output
    assert "… and" not in run("totals", str(tmp_path / "h.csv"), "--all").output


@pytest.mark.parametrize(
    "words,reason",
    [
        (["totals"], "no wallets"),
        (["totals", f"ETH.{A}", "h.csv"], "use wallets, or one file or folder"),
        (["totals", "h.csv", "--file", "w.txt"], "use wallets, or one file or folder"),
        (["totals", "gone.csv"], "can't be read as saved holdings"),
        (["totals", "other.json"], "can't be read as saved holdings"),
        (["totals", "other.csv"], "lacks 'blockchain'"),
        (["totals", f"ETH.{A}", "--by", "chain"], "Invalid value for '--by'"),
        (["totals", f"ETH.{A}", "--prices", "gone.csv"], "does not exist"),
        (["totals", f"ETH.{A}", "--prices", "other.csv"], "lacks 'token_blockchain'"),
    ],
)
def test_other_arguments_are_messages(run, tmp_path, monkeypatch, words, reason):
    """With exit code 2, and without a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.json").write_text("[1]")
    result = run(*words)
    assert result.exit_code == 2
    assert reason in result.output


def test_a_shared_symbol_is_refused_and_the_coin_named(run, details, tmp_path):
    """The error names each of them; the blockchain alone means its native coin."""
    details.holdings.assign(symbol="ETH").wf.to_csv(tmp_path / "h.csv")
    refused = run("totals", str(tmp_path / "h.csv"), "--token", "ETH")
    assert refused.exit_code == 2
    assert "('ETH', '0x7'): not on walletframe's list: may be an imitation" in refused.output
    assert "Hint: pass blockchain and contract, such as token=('ETH', None)\n" in refused.output
    assert run("totals", str(tmp_path / "h.csv"), "--token", "ETH.").exit_code == 0


def test_shared_symbols_are_named(run, details, tmp_path):
    """Totals by symbol are refused if contracts share one."""
    details.holdings.assign(symbol="ETH").wf.to_csv(tmp_path / "h.csv")
    result = run("totals", str(tmp_path / "h.csv"), "--by", "symbol", "--with-spam")
    assert result.exit_code == 2
    assert "    ('ETH', None): the native coin\n" in result.output


def test_hostile_tokens_reach_no_terminal(run, details, tmp_path):
    """Control and bidi characters of a symbol are left out."""
    details.holdings.assign(symbol="\x1b[31m\u202ea\nb").wf.to_parquet(tmp_path / "h.parquet")
    output = run("totals", str(tmp_path / "h.parquet"), "--with-spam").stdout
    assert all(line.isprintable() for line in output.splitlines())
    assert "[31ma b" in output


def test_values_of_no_rows(run, details, tmp_path):
    """An empty file has the value zero, and no gaps."""
    details.holdings.head(0).wf.to_csv(tmp_path / "h.csv")
    output = run("totals", str(tmp_path / "h.csv"), "--currency", "USD").output
    assert "Value: 0.00, from 0 of 0 balances" in output


def test_an_interrupt_adds_up_finished_wallets(run, canned):
    """Their table is printed, with the exit code of an interrupt."""
    while len(canned.replies) > 1:
        canned.replies.pop()
    canned.default = (200, {}, [b" "] * 100)
    canned.handle_error = lambda *_: None  # the client will be gone

    interrupt_when(lambda: len(canned.paths) == 2)
    result = run("totals", f"ETH.{A}", f"ETH.{D}", "--by", "wallet")
    assert result.exit_code == 130
    assert line_of(result.output, f"ETH.{abbreviate(A)}")[1] == "2"
    assert line_of(result.output, f"ETH.{abbreviate(D)}")[-1] == "0/1"
