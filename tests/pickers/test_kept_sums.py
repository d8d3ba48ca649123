"""What an explorer reads of a whole folder is kept beside it where that was asked."""

import json
import os
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from drawn_fetches import TOKENS, details_of, fetches_of
from fetches import fetched
from hostile_symbols import SYMBOLS
from hypothesis import given, settings
from parted import in_parts, write_parts
from small_disk import mounted, remount
from widgets import answers

import walletframe as wf
from walletframe.bulk import open_holdings
from walletframe.pickers import HoldingsExplorer
from walletframe.pickers.folder import Folder
from walletframe.pickers.portfolio import Selection
from walletframe.pickers.widget import NotReadError
from walletframe.service import SHOWCASE

KEPT = Path(".walletframe", "explorer")
OPENING = [
    {"kind": "chart"},
    *({"kind": "rows", "by": by} for by in ("token", "wallet", "blockchain")),
    {"kind": "remaining", "of": ["wallets", "tokens", "blockchains"]},
    {"kind": "options tokens"},
]
OWN = {"view", "rows", "offered", "table"}  # of each explorer


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Let every folder be one of more balances than are read at a time."""
    for name in ("reading", "folder"):
        monkeypatch.setattr(f"walletframe.pickers.{name}.MOST_ROWS", 2)


@pytest.fixture(scope="module")
def written(service, tmp_path_factory):
    """Write a folder of two parts, and another one of two others."""
    folders = tmp_path_factory.mktemp("written")
    with service.client(cache="memory") as client:
        for name, some in {"bulk": [SHOWCASE[:5], SHOWCASE[5:9]], "other": [SHOWCASE[9:]]}.items():
            for wallets in some:
                given = {"client": client, "on_failure": "ignore", "progress": False}
                wf.fetch_to_parquet(wallets, folders / name, **given)
    return folders


@pytest.fixture
def folder(written, tmp_path):
    """Give a copy of the folder, which nobody has explored."""
    return shutil.copytree(written / "bulk", tmp_path / "bulk")


def seen(stored, *asked, cache=True):
    """Open an explorer, and give what its page is told at first, or is asked."""
    stored = wf.open_wallets(stored) if isinstance(stored, Path) else stored
    explorer = HoldingsExplorer(stored, cache=cache)
    try:
        said = [answers(explorer, {**each})[0] for each in asked or OPENING]
    finally:
        explorer.close()
    told = json.loads(json.dumps(said))
    return [{name: each[name] for name in each.keys() - OWN} for each in told]


def spoil(folder):
    """Let no balance be read any more, in files that look as they did."""
    for path in (folder / "holdings").iterdir():
        before = path.stat()
        path.write_bytes(b"?" * before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def files(folder):
    """List what is in a folder, with what is in it."""
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_second_opening_reads_no_balances(folder):
    """It shows the same; what is picked is read, and the same as without."""
    before, told = files(folder), seen(folder)
    added = files(folder)
    assert added.keys() - before.keys() == {KEPT}
    assert {name: added[name] for name in before} == before
    assert (folder / KEPT).stat().st_mode & 0o077 == 0 or os.name == "nt"
    pick = {"kind": "chart", "pick": {"of": "blockchains", "values": ["ETH"]}}
    picked = seen(folder, {"kind": "chart"}, pick, OPENING[1])
    assert picked == seen(folder, {"kind": "chart"}, pick, OPENING[1], cache=False)
    spoil(folder)
    assert seen(folder) == told
    with pytest.raises(AssertionError, match="Parquet"):
        seen(folder, cache=False)


def test_nothing_is_written_unless_asked(folder):
    """And what others have kept is not read."""
    before = files(folder)
    seen(folder, cache=False)
    assert files(folder) == before


def test_others_pass_over_what_is_kept(folder, service):
    """Readers, and a run that goes on: then there is more, which is read, and kept."""
    expected = wf.read_wallets(folder)
    first = seen(folder)
    pd.testing.assert_frame_equal(wf.read_wallets(folder).holdings, expected.holdings)
    with service.client(cache="memory") as client:
        given = {"client": client, "on_failure": "ignore", "progress": False}
        assert wf.fetch_to_parquet(SHOWCASE, folder, **given).resumed > 0
    grown = seen(folder)
    assert grown != first
    assert grown == seen(folder, cache=False)
    spoil(folder)
    assert seen(folder) == grown


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "of another folder"])
def test_what_is_damaged_or_foreign_is_read_anew(folder, written, tmp_path, harm):
    """Without a word, and replaced."""
    told, kept = seen(folder), folder / KEPT
    content = kept.read_bytes()
    if harm == "of another folder":
        other = shutil.copytree(written / "other", tmp_path / "other")
        seen(other)
        content = (other / KEPT).read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    harmed = {"cut": content[:-1], "changed": changed, "empty": b""}
    kept.write_bytes(harmed.get(harm, content))
    with warnings.catch_warnings(action="error"):
        assert seen(folder) == told
    spoil(folder)
    assert seen(folder) == told


def test_a_part_that_is_another_one_is_read(folder):
    """Though it has its name and its size."""
    seen(folder)
    part = next((folder / "holdings").iterdir())
    os.utime(part, ns=(0, 0))
    spoil(folder)
    with pytest.raises(AssertionError, match="Parquet"):
        seen(folder)


def test_what_was_done_to_a_folder_counts(folder):
    """Other prices, other flags, or without spam: each is read for itself."""
    stored = wf.open_wallets(folder)
    done = [
        stored,
        stored.wf.value({("ETH", None): 3_000}, currency="EUR"),
        stored.wf.value({("ETH", None): 4_000}, currency="EUR"),
        stored.wf.flag_spam(deny=[("ETH", None)]),
        stored.wf.without_spam(),
    ]
    told = [seen(each) for each in done]
    assert told == [seen(each, cache=False) for each in done]
    spoil(folder)
    assert seen(done[-1]) == told[-1]
    with pytest.raises(AssertionError, match="Parquet"):
        seen(done[0])


def test_a_folder_that_can_not_be_written(folder, tmp_path):
    """Is explored all the same; that nothing is kept is said once."""
    with mounted(tmp_path / "m", "size=8m") as disk:
        stored = wf.open_wallets(shutil.copytree(folder, disk / "bulk"))
        remount(disk, "ro")
        with pytest.warns(wf.CacheWarning, match="can't be kept there: Read-only") as told:
            assert seen(stored) == seen(stored) == seen(stored, cache=False)
    assert len(told) == 1


def test_answers_in_no_part_count():
    """Those of a run that was killed: other ones are read."""
    one, other = (
        in_parts(fetched({"ETH.0xA": [("ETH", None, "ETH", amount, 18)]})).stamp()
        for amount in (1, 2)
    )
    assert one != other


short = [symbol for symbol in SYMBOLS.values() if len(symbol) < 1_000]
hostile = [("ETH", f"0x{place}", symbol) for place, symbol in enumerate(short)]
drawn = fetches_of([*TOKENS, *hostile, (None, None, "USDC"), (None, "0xa0", "claim at x.io")])


def opened(root):
    """Open a folder, and give all that is at hand then."""
    folder = Folder(open_holdings(root), cache=True)
    read = []
    for selection in (Selection(spam=True), Selection()):
        while True:
            try:
                folder.select(selection)
                break
            except NotReadError:
                folder.load(lambda: read.append(1))
    return folder, read


@settings(max_examples=15)
@given(drawn)
def test_whatever_tokens_are_called(fetch):
    """It is there again, to the last bit, with the same identities."""
    wallets, holdings = details_of(fetch)
    holdings = holdings.assign(price=[[0.001, 2.0][n % 2] for n in range(len(holdings))])
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setattr("walletframe.pickers.folder.MOST_ROWS", -1)
        write_parts(root, wf.WalletDetails(wallets, holdings))
        (first, read), (second, again) = opened(root), opened(root)
    assert (len(read) > 0, again) == (True, [])
    assert first._opening == second._opening
    assert first._kept.keys() == second._kept.keys()
    for key, sums in first._kept.items():
        other = second._kept[key]
        pd.testing.assert_frame_equal(other.table, sums.table)
        for one, two in [(sums.whole, other.whole), *[(sums.rows, other.rows)] * bool(sums.rows)]:
            pd.testing.assert_frame_equal(two.holdings, one.holdings)
            assert two.tokens.keys == one.tokens.keys
            assert two.wallet_codes.tolist() == one.wallet_codes.tolist()
