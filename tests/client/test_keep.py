"""Kept columns: from a table or a file, through fetches, folders and files."""

import pandas as pd
import pyarrow as pa
import pytest
from addresses import base58

import walletframe as wf
from walletframe import history
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    FetchInterrupted,
    InputWarning,
    SettingsError,
)
from walletframe.frames.extra_columns import RESERVED_NAMES
from walletframe.frames.schema import WALLET_DTYPES
from walletframe.pandas_versions import TEXT
from walletframe.walletfile import read_input

ETHER, NEAR = "ETH.0x" + "1" * 40, "NEAR.alice.near"
HOSTILE = "<img src=x>\n=HYPERLINK(1)\u202e"
PEOPLE = pd.DataFrame(
    {
        "wallet": [NEAR, ETHER, f"SOLANA.{base58('9xQe')}"],
        "name": [" Ada ", HOSTILE, " "],
        "team": pd.array([1, None, 3], dtype="Int64"),
        "limit": pd.array(["1.5", None, str(2**256 - 1)], dtype="amount"),
        "since": pd.to_datetime(["2026-01-01", None, "2026-01-03"], utc=True).as_unit("us"),
    }
)
KEPT = ["name", "team", "limit", "since"]
OWN = PEOPLE[KEPT].assign(name=pd.array(["Ada", HOSTILE, None], dtype=TEXT))
DOUBLE = pd.concat([PEOPLE, PEOPLE[["name"]]], axis=1)


@pytest.fixture
def details(client):
    """Return a fetch with its user's columns of wallets."""
    return PEOPLE.wf.fetch(keep=KEPT, client=client)


def same(wallets, own=OWN):
    """Check that a user's own columns equal the kept ones."""
    pd.testing.assert_frame_equal(wallets[[*own]].reset_index(drop=True), own)


def test_columns_come_after_those_of_the_contract(details, client):
    """With their dtypes, texts trimmed, and empty ones missing; once, in the requested order."""
    assert [*details.wallets] == [*WALLET_DTYPES, *KEPT]
    same(details.wallets)
    assert "name" not in details.holdings
    some = wf.fetch_wallets(PEOPLE, keep=["team", "name", "limit", "since", "team"], client=client)
    assert [*some.wallets][-4:] == ["team", "name", "limit", "since"]


def test_one_column_is_named_as_text(client):
    """A single name is one column; addresses may be in two columns."""
    table = pd.DataFrame({"blockchain": ["near"], "address": ["bob"], "owner": [7], "more": [1]})
    assert table.wf.fetch(keep="owner", client=client).wallets["owner"].tolist() == [7]


def test_different_labels_of_one_wallet_are_reported(client):
    """The first label stays; a missing one agrees with any."""
    table = pd.DataFrame({"wallet": [NEAR, ETHER, NEAR.lower(), NEAR, NEAR]})
    table["owner"] = [None, "Ben", "Ada", " Ada", "E\u202eve"]
    with pytest.warns(InputWarning) as caught:
        wallets = table.wf.fetch(keep="owner", client=client).wallets
    assert wallets["owner"].tolist() == ["Ada", "Ben"]
    [warning] = [each.message for each in caught]
    assert "In 1 row, 'owner' differs from an earlier row of the same wallet; the first" in str(
        warning
    )
    assert "found 2 wallets in 5 rows; left out: 3 duplicate rows. In" in str(warning)
    problem = (4, NEAR, "'Eve', but 'Ada' in an earlier row")
    assert str(warning).endswith(
        f" (listed by position, counted from 0): 4: {NEAR!r}: {problem[2]}"
    )
    assert warning.problems == (problem,)


def test_a_warning_shows_three_of_many_problems(client):
    """Dropped rows come first; the attribute has all problems, with whole addresses."""
    table = pd.DataFrame({"wallet": [*[ETHER] * 6, "bad"], "owner": range(7)})
    with pytest.warns(InputWarning) as caught:
        table.wf.fetch(keep="owner", client=client, on_unreadable="drop")
    [warning] = [each.message for each in caught]
    assert str(warning).endswith(
        ": '2', but '0' in an earlier row; and 3 more in the warning's attribute problems"
    )
    assert ETHER not in str(warning)
    assert "counted from 0): 6: 'bad': " in str(warning)
    assert [place for place, _, _ in warning.problems] == [6, 1, 2, 3, 4, 5]
    assert warning.problems[1][1] == ETHER


def test_reserved_names_are_refused(client):
    """Names of the contract and of results, before any request."""
    for name in RESERVED_NAMES:
        with pytest.raises(SettingsError, match="rename your column"):
            PEOPLE.rename(columns={"name": name}).wf.fetch(keep=[name], client=client)


@pytest.mark.parametrize(
    "argument,keep,error",
    [
        (PEOPLE, ["nobody"], ColumnsError),
        (PEOPLE, [3], SettingsError),
        (PEOPLE, " ", SettingsError),
        (DOUBLE, "name", SettingsError),
        (PEOPLE.assign(name=[[1], [2], [3]]), KEPT, SettingsError),
        (PEOPLE["wallet"], "name", ArgumentError),
        ([NEAR], "name", ArgumentError),
        (iter([NEAR]), "name", ArgumentError),
    ],
)
def test_other_columns_are_refused(argument, keep, error, client, tmp_path):
    """In a fetch and in a bulk run, before any request."""
    with pytest.raises(error):
        wf.fetch_wallets(argument, keep=keep, client=client)
    with pytest.raises(error):
        wf.fetch_to_parquet(argument, tmp_path / "bulk", keep=keep, client=client)
    assert not (tmp_path / "bulk").exists()


def test_odd_texts_and_mixed_cells_are_kept(client):
    """Invalid characters are replaced; a column of several types stays one of objects."""
    table = PEOPLE.assign(
        name=pd.Series(["a\ud800", "b", None], dtype=object), mixed=[1, " x ", None], none=None
    )
    wallets = table.wf.fetch(keep=[*KEPT, "mixed", "none"], client=client).wallets
    assert wallets["name"].tolist()[:2] == ["a?", "b"]
    assert wallets["mixed"].tolist()[:2] == [1, "x"]
    assert wallets["none"].isna().all()


def test_skipped_rows_drop_their_labels(client):
    """Empty rows and unreadable ones shift nothing."""
    table = pd.DataFrame({"wallet": ["bad", None, NEAR, ETHER], "owner": ["x", "y", "Ada", "Ben"]})
    with pytest.warns(InputWarning, match="left out"):
        wallets = table.wf.fetch(keep="owner", client=client, on_unreadable="drop").wallets
    assert wallets["owner"].tolist() == ["Ada", "Ben"]
    assert table.iloc[:0].wf.fetch(keep="owner", client=client).wallets["owner"].empty


def test_an_interrupt_keeps_them(client):
    """Finished wallets have their columns."""

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(FetchInterrupted) as caught:
        PEOPLE[["wallet", "name"]].wf.fetch(keep="name", client=client, progress=stop)
    assert caught.value.details.wallets["name"].tolist()[:2] == ["Ada", HOSTILE]


CSV = f"wallet, name ,team\n{NEAR},  Ada,1\n\nbad,x,2\n{ETHER}\n{NEAR},Eve,\n"


def test_a_file_has_columns_to_keep(tmp_path, client):
    """Columns are text, and match by their trimmed names; short rows have none."""
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    with pytest.warns(InputWarning) as caught:
        details = wf.fetch_wallets(path, keep=["team", "name"], client=client, on_unreadable="drop")
    assert details.wallets["name"].fillna("-").tolist() == ["Ada", "-"]
    assert details.wallets["team"].fillna("-").tolist() == ["1", "-"]
    [warning] = [each.message for each in caught]
    assert [place for place, _, _ in warning.problems] == [4, 6]
    assert warning.problems[1] == (6, NEAR, "'Eve', but 'Ada' in an earlier row")
    assert read_input(path, ["name", "team"]).labels["name"].tolist()[0] == "Ada"


@pytest.mark.parametrize(
    "name,text,error",
    [
        ("people.csv", "wallet,x\n", ColumnsError),
        ("people.csv", "wallet,name,name\n", SettingsError),
        ("people.txt", "NEAR.bob\n", ArgumentError),
    ],
)
def test_a_file_without_such_a_column_is_refused(tmp_path, name, text, error):
    """It lacks it, has it twice, or has no columns at all."""
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match="name"):
        read_input(tmp_path / name, ["name"])
    (tmp_path / "empty.csv").write_text("wallet,name\n")
    assert [*read_input(tmp_path / "empty.csv", ["name"]).labels] == ["name"]


def test_a_path_is_a_file_of_wallets(tmp_path, client):
    """A file of lines, too."""
    path = tmp_path / "wallets.txt"
    path.write_text(f"{NEAR} # mine\n")
    assert wf.fetch_wallets(path, client=client).wallets["address"].tolist() == ["alice.near"]


@pytest.mark.parametrize("name", ["wallets.txt", "Clean.CSV", "near.csv"])
def test_a_file_can_be_named_as_text(tmp_path, monkeypatch, client, name):
    """The name has one of two endings; a file that exists is never a wallet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(f"{NEAR}\n" if name == "wallets.txt" else f"wallet\n{NEAR}\n")
    assert wf.fetch_wallets(name, client=client).wallets["address"].tolist() == ["alice.near"]


def test_a_wallet_is_never_a_file(client):
    """Text that names a wallet of a known blockchain is one; other names are of missing files."""
    text = "NEAR.alice.txt"
    assert wf.fetch_wallets(text, client=client).wallets["address"].tolist() == ["alice.txt"]
    assert wf.check([text]).blockchain.tolist() == ["NEAR"]
    with pytest.raises(FileNotFoundError, match=r"wallets\.csv"):
        wf.fetch_wallets("wallets.csv", client=client)


def test_a_folder_keeps_them(tmp_path, client):
    """They are exact, for all wallets and for some, in files that other programs open."""
    wf.fetch_to_parquet(PEOPLE, tmp_path / "bulk", keep=KEPT, client=client)
    same(wf.read_wallets(tmp_path / "bulk").wallets)
    some = wf.read_wallets(tmp_path / "bulk", wallets=[ETHER, "NEAR.new"]).wallets
    assert some["name"].fillna("-").tolist() == [HOSTILE, "-"]
    written = pd.read_parquet(tmp_path / "bulk" / "kept.parquet")
    assert [*written][:4] == ["blockchain", "address", "name", "team"]


def test_a_folder_keeps_columns_that_later_calls_lack(tmp_path, client):
    """New columns and values are added, and a call that keeps nothing removes nothing."""
    folder = tmp_path / "bulk"
    wf.fetch_to_parquet(PEOPLE, folder, keep=KEPT, client=client)
    stamp = (folder / "kept.parquet").stat().st_mtime_ns
    wf.fetch_to_parquet(PEOPLE, folder, keep=KEPT, client=client)
    assert (folder / "kept.parquet").stat().st_mtime_ns == stamp
    more = pd.DataFrame({"wallet": [ETHER, "NEAR.new"], "name": [None, "New"], "x": ["a", "b"]})
    wf.fetch_to_parquet(more, folder, keep=["name", "x"], client=client)
    wf.fetch_to_parquet([NEAR], folder, client=client)
    wallets = wf.read_wallets(folder).wallets
    assert wallets["name"].fillna("-").tolist() == ["Ada", HOSTILE, "-", "New"]
    assert wallets["x"].fillna("-").tolist() == ["-", "a", "-", "b"]
    assert str(wallets["limit"].iloc[2]) == str(2**256 - 1)


def test_snapshots_keep_them(details, tmp_path, client):
    """Each has its own; NA where one has none, and text where types differ."""
    history.save(details, folder=tmp_path, at="2026-01-30T06:00Z")
    same(history.snapshot(folder=tmp_path).wallets)
    other = PEOPLE[["wallet"]].assign(team="blue", new=True, limit="none").iloc[:1]
    later = other.wf.fetch(keep=["team", "new", "limit"], client=client)
    history.save(later, folder=tmp_path, at="2026-01-31T06:00Z")
    wallets, holdings = history.load(folder=tmp_path)
    assert wallets["team"].fillna("-").tolist() == ["1", "-", "3", "blue"]
    assert wallets["limit"].fillna("-").tolist() == ["1.5", "-", str(2**256 - 1), "none"]
    assert "limit_text" not in wallets
    assert wallets["new"].notna().tolist() == [False, False, False, True]
    assert wallets["name"].isna().tolist() == [False, False, True, True]
    one = history.load(folder=tmp_path, wallets=NEAR).wallets
    assert one["team"].tolist() == ["1", "blue"]
    table = holdings.wf.totals(by=["snapshot", "team"], wallets=wallets)
    assert len(table) == 4
    mixed = details.wallets.assign(tags=[[1], "a", None])
    with pytest.raises(ArgumentError, match="'tags', with values of type list, str,"):
        history.save((mixed, details.holdings), folder=tmp_path, at="2026-02-01T06:00Z")


SIZES = pd.Categorical(["large", "small", "large"], categories=["small", "large"], ordered=True)


def test_the_same_is_saved_once_with_any_kept_columns(tmp_path, client):
    """Whole numbers and booleans are read with other dtypes, and are equal."""
    table = PEOPLE[["wallet"]].assign(rank=[1, 2, 3], cold=[True, False, True], size=SIZES)
    kept = table.wf.fetch(keep=["rank", "cold", "size"], client=client)
    time = history.save(kept, folder=tmp_path)
    with pytest.warns(InputWarning, match="no snapshot was added"):
        assert history.save(kept, folder=tmp_path) == time
    assert len(history.snapshots(folder=tmp_path)) == 1


def test_categories_are_kept_in_files_as_their_values(tmp_path, client):
    """An order of chance would make comparisons wrong."""
    table = PEOPLE[["wallet"]].assign(size=SIZES, rank=pd.Categorical([1, None, 3]))
    kept = table.wf.fetch(keep=["size", "rank"], client=client)
    assert kept.wallets["size"].cat.ordered
    history.save(kept, folder=tmp_path / "history")
    wf.fetch_to_parquet(table, tmp_path / "bulk", keep=["size", "rank"], client=client)
    own = pd.DataFrame(
        {
            "size": pd.array([*SIZES], dtype=TEXT),
            "rank": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    same(history.snapshot(folder=tmp_path / "history").wallets, own)
    same(wf.read_wallets(tmp_path / "bulk").wallets, own)


def test_texts_of_any_dtype_are_trimmed(client):
    """Otherwise one owner would be two groups."""
    names = [" Ada", "Ada", " "]
    arrow = pd.array(names, dtype=pd.ArrowDtype(pa.string()))
    table = PEOPLE[["wallet"]].assign(owner=pd.Categorical(names), team=arrow, size=SIZES)
    own = pd.DataFrame(dict.fromkeys(["owner", "team"], pd.array(["Ada", "Ada", None], TEXT)))
    kept = table.wf.fetch(keep=["owner", "team", "size"], client=client).wallets
    same(kept, own.assign(size=SIZES))


def test_numbers_that_files_can_not_hold_are_refused(tmp_path, client):
    """With our error."""
    table = PEOPLE[["wallet"]].assign(id=[2**70, 1, 1])
    kept = table.wf.fetch(keep="id", client=client)
    with pytest.raises(ArgumentError, match=r"'id'.*too large"):
        history.save(kept, folder=tmp_path / "history")
    with pytest.raises(ArgumentError, match=r"'id'.*too large"):
        wf.fetch_to_parquet(table, tmp_path / "bulk", keep="id", client=client)


def test_a_column_named_like_exact_text_is_not_kept(tmp_path, client):
    """Files have the exact text of amounts there; nothing is fetched or saved."""
    table = PEOPLE[["wallet", "limit"]].assign(limit_text="mine")
    kept = table.wf.fetch(keep=["limit", "limit_text"], client=client)
    with pytest.raises(SettingsError, match=r"'limit_text'[\s\S]*rename"):
        history.save(kept, folder=tmp_path / "history")
    with pytest.raises(SettingsError, match=r"'limit_text'[\s\S]*rename"):
        wf.fetch_to_parquet(table, tmp_path / "b", keep=["limit", "limit_text"], client=client)
    assert not [*tmp_path.rglob("*.parquet")]


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet", ".xlsx"])
def test_saved_files_keep_them(details, tmp_path, suffix):
    """They are harmless in a spreadsheet, and read back to the last character."""
    path = tmp_path / f"wallets{suffix}"
    wallets = details.wallets
    write = {".xlsx": wallets.wf.to_excel, ".parquet": wallets.wf.to_parquet}
    write.get(suffix, wallets.wf.to_csv)(path)
    back = wf.read_holdings(path)
    assert back["name"].fillna("-").tolist() == ["Ada", HOSTILE, "-"]
    assert back["limit"].dropna().astype("amount").astype("str").tolist() == [
        "1.5",
        str(2**256 - 1),
    ]
    assert details.holdings.wf.totals(by="name", wallets=back)["wallets_ok"].sum() == 3
