"""The command ``report``."""

import pytest
from click.testing import CliRunner

from walletframe.cli import main


@pytest.fixture
def run(reachable):
    """Return a function that runs the command, with the sandbox in its environment."""
    return lambda *words: CliRunner().invoke(
        main, ["report", *map(str, words)], catch_exceptions=False
    )


@pytest.fixture
def addresses(tmp_path):
    """Return a text file of 20 addresses, as a new user has it."""
    path = tmp_path / "wallets.txt"
    lines = [f"ETH.0x{number:040x}" for number in range(1, 21)]
    path.write_text("# treasury\n" + "\n".join(lines), encoding="utf-8")
    return path


def test_one_line_from_addresses_to_a_report(run, addresses, tmp_path):
    """A text file in, a page out; the exit code depends on unknown wallets."""
    result = run("--file", addresses, "--output", tmp_path / "r.html", "--title", "Treasury")
    assert result.exit_code in {0, 1}
    assert "As of 20" in result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Treasury</h1>" in page
    assert "Simulated data" in page


def test_saved_fetch_and_its_changes(run, addresses, tmp_path):
    """Files of fetch are a source, and an earlier one is compared."""
    saved = tmp_path / "old.csv"
    CliRunner().invoke(main, ["fetch", "--file", str(addresses), "--output", str(saved)])
    result = run(saved, "--before", saved, "--output", tmp_path / "r.md")
    assert result.exit_code in {0, 1}
    assert "## Changes" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_changes_since_a_folder(run, addresses, tmp_path):
    """Of fetch-to-parquet or of snapshots; a word that is neither these nor a time is refused."""
    words = ["--file", str(addresses), "--offline"]
    runner = CliRunner()
    runner.invoke(main, ["fetch-to-parquet", str(tmp_path / "bulk"), *words[:2]])
    runner.invoke(main, ["history", "save", *words[:2], "--folder", str(tmp_path / "kept")])
    for folder in ("bulk", "kept"):
        run(*words, "--before", tmp_path / folder, "--output", tmp_path / f"{folder}.md")
        assert "## Changes" in (tmp_path / f"{folder}.md").read_text(encoding="utf-8")
    refused = run(*words, "--before", "soon", "--output", tmp_path / "r.md")
    message = "'soon' is not a time, nor a file or folder of holdings or snapshots"
    assert (refused.exit_code, message in refused.output) == (2, True)


def test_spam_is_counted_on_request(run, tmp_path):
    """In the page and in the line that is printed."""
    words = ["ETH.0x" + "1" * 40, "NEAR.alice.near", "--output", tmp_path / "r.md"]
    assert "spam balances" in run(*words).output
    assert "## Tokens that look like spam" in (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "spam balances" not in run(*words, "--with-spam").output
    assert "## Tokens that look like spam" not in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_totals_by_kept_columns(run, tmp_path):
    """A table and the list of wallets have it."""
    people = tmp_path / "people.csv"
    people.write_text("owner,wallet\nAda,NEAR.alice.near\n", encoding="utf-8")
    words = ["--file", people, "--keep", "owner", "--by", "owner", "--by", "asset"]
    assert run(*words, "--output", tmp_path / "r.md").exit_code in {0, 1}
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "## Totals by owner and asset" in text
    assert "| owner |" in text.partition("## Wallets")[2]


def test_data_is_written_beside_the_report(run, tmp_path):
    """With --data, in CSV files."""
    run("NEAR.alice.near", "--data", "--output", tmp_path / "r.md")
    assert (tmp_path / "r-holdings.csv").is_file()
    assert (tmp_path / "r-wallets.csv").is_file()


def test_prices_of_a_file_are_used(run, tmp_path):
    """Values are in the named currency."""
    prices = tmp_path / "prices.csv"
    prices.write_text("token_blockchain,token_address,price\nNEAR,,2\n", encoding="utf-8")
    words = ["--prices", prices, "--currency", "EUR", "--output", tmp_path / "r.md"]
    run("NEAR.alice.near", *words)
    assert " EUR**" in (tmp_path / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["r.docx", "nowhere/r.html"])
def test_bad_output_is_refused_before_any_request(run, tmp_path, name):
    """The message has the fault of the name."""
    result = run("NEAR.alice.near", "--output", tmp_path / name)
    assert result.exit_code == 2
    assert "--output" in result.output


def test_saved_fetch_without_its_wallets_is_refused(run, addresses, tmp_path):
    """Its failures would be left out silently."""
    saved = tmp_path / "old.csv"
    CliRunner().invoke(main, ["fetch", "--file", str(addresses), "--output", str(saved)])
    (tmp_path / "old.wallets.csv").unlink()
    result = run(saved, "--output", tmp_path / "r.md")
    assert result.exit_code == 2
    assert "file of wallets" in result.output
