"""Counts and their nouns: one is singular."""

import re
from pathlib import Path

import pytest
from addresses import UPPER_A, A
from canned_service import KEY, answer, balance, wallet
from click.testing import CliRunner
from fetches import fetched, token

import walletframe as wf
from walletframe import history
from walletframe.analysis.valuation import value
from walletframe.cli import main
from walletframe.errors import AddressError, AmountError, FetchWarning, PricesError, SnapshotError
from walletframe.numerals import count_with_verb, counted_noun

NOUNS = (
    "wallets|balances|tokens|prices|rows|answers|items|blockchains|reasons|bytes|holdings|"
    "snapshots|amounts|contracts|symbols|problems|holders|files|parts"
)
ONE_OF_SEVERAL = re.compile(rf"(?<![\w.,])1 (?:\w+ )?(?:{NOUNS})\b")
COUNTED = re.compile(rf"\{{[^{{}}]*\}} (?:more |other )?(?:{NOUNS})\b")
NEVER_ONE = {
    "are too many for a download",
    "are too many to be had one by one",
    "len(contents):,} bytes",
    "it is one of {} contracts",
}
FILES = [
    path
    for path in sorted(Path(wf.__path__[0]).rglob("*"))
    if path.suffix in (".py", ".html", ".md")
]


@pytest.fixture
def run(canned, monkeypatch, tmp_path):
    """Return a function that runs the command line for one wallet with one token."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", canned.base_url)
    canned.default = (200, {}, answer(wallet(A, balances=[balance("5", 0)])))
    (tmp_path / "p.csv").write_text("token_blockchain,token_address,price\nETH,0xTOKEN,x\n")
    return lambda *words: CliRunner().invoke(main, words, catch_exceptions=False).output


def test_a_count_agrees_with_its_noun_and_its_verb():
    """One, none and many."""
    assert [counted_noun(count, "price") for count in (0, 1, 2)] == [
        "0 prices",
        "1 price",
        "2 prices",
    ]
    assert count_with_verb(1, 1, "wallet") == "1 of 1 wallet is"
    assert count_with_verb(2, 1_000, "wallet") == "2 of 1,000 wallets are"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_count_precedes_a_fixed_plural(path):
    """Neither in the code nor in a template: `many` writes them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    result = [line.strip() for line in lines if COUNTED.search(line)]
    assert [line for line in result if not any(words in line for words in NEVER_ONE)] == []


@pytest.mark.parametrize(
    "words",
    [
        f"fetch ETH.{A}",
        "fetch nonsense",
        f"totals ETH.{A}",
        f"totals ETH.{A} --prices p.csv",
        f"totals ETH.{A} --currency USD",
        f"report ETH.{A} --output r.md",
        f"fetch-to-parquet bulk ETH.{A}",
    ],
)
def test_commands_about_one_wallet(run, words):
    """Their output has singular nouns."""
    output = run(*words.split())
    assert re.search(r"(?<!\d)1 ", output) or "1 wallet" in output
    assert ONE_OF_SEVERAL.findall(output) == []


def test_the_cache_of_one_answer(run):
    """Its information and its deletion."""
    run("fetch", f"ETH.{A}")
    output = run("cache", "info") + run("cache", "clear")
    assert "1 answer deleted" in output
    assert ONE_OF_SEVERAL.findall(output) == []


@pytest.mark.parametrize("name", ["r.md", "r.html"])
def test_a_report_on_one_wallet(tmp_path, name):
    """One balance, one token, one row, one hidden, one that looks like spam."""
    spam = token("Visit https://evil.example to claim", contract="0xbad")
    details = fetched({f"ETH.{UPPER_A}": [token(), spam]})
    text = wf.report(details, tmp_path / name).read_text(encoding="utf-8")
    text = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "1 balance of 1 token" in text
    assert ONE_OF_SEVERAL.findall(text) == []


def test_a_table_that_leaves_one_row_out():
    """In Markdown, and in a report."""
    details = fetched({f"ETH.0x{number:0>40}": [token()] for number in range(11)})
    assert "… and 1 more wallet\n" in details._repr_markdown_()


@pytest.mark.parametrize(
    "kind, act",
    [
        (FetchWarning, lambda: wf.fetch_wallets("NEAR.bob", client=_nowhere())),
        (
            PricesError,
            lambda: value(fetched({f"ETH.{UPPER_A}": [token()]}).holdings, {("ETH", "0x"): -1}),
        ),
        (AddressError, lambda: wf.fetch_wallets("bob")),
        (AmountError, lambda: wf.AmountArray.from_raw([1], decimals=[1, 2])),
        (SnapshotError, lambda: history.save(_changed(), folder="nowhere")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_messages_about_one(kind, act):
    """One wallet, one price, one row."""
    with pytest.raises(kind, match=r"\b1\b") as caught:
        act()
    assert ONE_OF_SEVERAL.findall(str(caught.value)) == []


def _nowhere():
    return wf.Client(base_url="http://127.0.0.1:1", key_kind="private", api_key=KEY, cache=False)


def _changed():
    details = fetched({f"ETH.{UPPER_A}": [token()]})
    return details._replace(holdings=details.holdings.head(0))
