"""Interrupted exports: either the earlier file or the new file is complete."""

import contextlib
import os
import shutil
import signal
import stat
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from addresses import A
from fetches import fetched, token
from killable_children import KillableChildren
from small_disk import mounted

import walletframe as wf
from walletframe import disk
from walletframe.cli.files import write_details
from walletframe.exports import to_json

DETAILS = fetched({f"ETH.{A}": [token()], "NEAR.b.near": "failed"})
BIG = fetched({f"ETH.0x{number:0>40}": "failed" for number in range(60)})
MANY = pd.DataFrame(
    {
        "symbol": [os.urandom(16).hex() for _ in range(6_000)],
        "amount": pd.array(range(6_000), "amount"),
    }
)
WRITERS = {
    "h.csv": lambda frame, path: frame.wf.to_csv(path),
    "h.csv.gz": lambda frame, path: frame.wf.to_csv(path),
    "h.parquet": lambda frame, path: frame.wf.to_parquet(path),
    "h.xlsx": lambda frame, path: frame.wf.to_excel(path),
    "h.json": lambda frame, path: to_json({"holdings": frame}, path),
    "r.html": lambda _, path: wf.report(BIG, path),
    "r.md": lambda _, path: wf.report(BIG, path),
    "shell.csv": lambda frame, path: write_details(DETAILS._replace(holdings=frame), path),
}
SCRIPT = """
import os, signal
from pathlib import Path
import test_disk

def work(name, path, when):
    real = os.fsync
    def fsync(handle):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(handle)
    rename = Path.replace
    def replace(self, target):
        found = rename(self, target) if when == "after" else None
        os.kill(os.getpid(), signal.SIGKILL)
    os.fsync, Path.replace = fsync, replace
    test_disk.WRITERS[name](test_disk.MANY, Path(path))
"""


@pytest.fixture(scope="module")
def writers():
    """Start processes that are killed while they write."""
    with KillableChildren(SCRIPT) as children:
        yield children


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_earlier_file(tmp_path, name):
    """The earlier file is unchanged, and no other file is left."""
    with mounted(tmp_path / "m", "size=8k") as small:
        (small / name).write_bytes(b"earlier")
        with pytest.raises(OSError, match="No space left"):
            WRITERS[name](MANY, small / name)
        assert {path.name: path.read_bytes() for path in small.iterdir()} == {name: b"earlier"}


@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_folder_is_named(tmp_path, monkeypatch, name):
    """The error contains the call's path, not that of the temporary file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"directory: 'missing/{name}'$"):
        WRITERS[name](MANY, Path("missing", name))


def test_a_folder_removed_during_writing_is_named(tmp_path, monkeypatch):
    """The error has the path of the call."""
    monkeypatch.chdir(tmp_path)
    Path("leaving").mkdir()
    with (
        pytest.raises(FileNotFoundError, match=r"directory: 'leaving/h\.csv'$"),
        disk.atomic_write(Path("leaving/h.csv")),
    ):
        shutil.rmtree("leaving")


@pytest.mark.parametrize("when", ["before", "between", "after"])
@pytest.mark.parametrize(
    "name", ["h.csv", *(pytest.param(name, marks=pytest.mark.stress) for name in WRITERS)]
)
def test_a_kill_leaves_the_earlier_file_or_the_new_one(writers, tmp_path, name, when):
    """A killed export leaves one complete file. Temporary files are removed after a day."""
    path = tmp_path / name
    path.write_bytes(b"earlier")
    writers.start(name, path, when)
    assert writers.wait_for_kill()[0]
    left = [each for each in tmp_path.iterdir() if each != path]
    assert (path.read_bytes() == b"earlier") == (when != "after")
    assert len(left) == (when != "after")
    for each in left:
        os.utime(each, (0, 0))
    WRITERS[name](MANY, path)
    assert not [each for each in left if each.exists()]


@pytest.mark.parametrize("name", ["h.csv", "r.md"])
def test_only_remains_of_exports_are_removed(tmp_path, name):
    """Old files of other names, folders with their files, and links stay."""
    folder, link, left = (f".walletframe-{digit * 16}" for digit in "012")
    (tmp_path / folder).mkdir()
    (tmp_path / link).symlink_to(folder)
    others = [
        ".walletframe-notes.csv",
        f".walletframe-{'4' * 15}",
        f".walletframe-{'5' * 17}",
        f".walletframe-{'A' * 16}",
        f".walletframe-{'6' * 16}.csv",
        f"x.walletframe-{'7' * 16}",
        f"{folder}/thesis.csv",
    ]
    for each in [*others, left]:
        (tmp_path / each).write_text("the work of a year")
    for each in tmp_path.rglob("*"):
        os.utime(each, (0, 0), follow_symlinks=False)
    WRITERS[name](MANY, tmp_path / name)
    result = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert result == {*others, folder, link, name}


@pytest.mark.parametrize("age_s", [0, 23 * 3600])
def test_remains_of_a_running_export_stay(tmp_path, age_s):
    """Temporary files stay until they are a day old."""
    left = tmp_path / f".walletframe-{'0' * 16}"
    left.touch()
    os.utime(left, (time.time() - age_s,) * 2)
    DETAILS.holdings.wf.to_csv(tmp_path / "h.csv")
    assert left.exists()


def test_remains_of_another_user_stay(tmp_path, monkeypatch):
    """Several users may write into a folder."""
    left = tmp_path / f".walletframe-{'0' * 16}"
    left.touch()
    os.utime(left, (0, 0))
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)  # only root may give a file away
    DETAILS.holdings.wf.to_csv(tmp_path / "h.csv")
    assert left.exists()


def test_an_interrupt_leaves_the_earlier_file(tmp_path):
    """An interrupt leaves the earlier file and no other file."""
    (tmp_path / "h.csv").write_bytes(b"earlier")

    def interrupted():
        yield "half"
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), disk.atomic_write(tmp_path / "h.csv") as file:
        file.writelines(line.encode() for line in interrupted())
    assert [path.name for path in tmp_path.iterdir()] == ["h.csv"]
    assert (tmp_path / "h.csv").read_bytes() == b"earlier"


def test_a_file_that_another_program_holds_stays(tmp_path, monkeypatch):
    """Windows refuses to replace a spreadsheet's open file: the error says so."""

    def refused(self, target):
        raise PermissionError(13, "The process cannot access the file", str(target))

    (tmp_path / "h.xlsx").write_bytes(b"earlier")
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError, match=r"cannot access the file.*h\.xlsx"):
        DETAILS.holdings.wf.to_excel(tmp_path / "h.xlsx")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"h.xlsx": b"earlier"}


class TestKinds:
    """Kinds of paths."""

    def test_a_link_stays_a_link(self, tmp_path):
        """The link's target is replaced or created."""
        (tmp_path / "there").mkdir()
        link, target = tmp_path / "link.csv", tmp_path / "there" / "h.csv"
        link.symlink_to("there/h.csv")
        for _ in range(2):
            DETAILS.holdings.wf.to_csv(link)
            assert link.is_symlink()
            assert wf.read_holdings(target).equals(DETAILS.holdings)

    def test_circular_links_are_refused(self, tmp_path):
        """A circular link raises the error of the system."""
        (tmp_path / "a.csv").symlink_to("b.csv")
        (tmp_path / "b.csv").symlink_to("a.csv")
        with pytest.raises(OSError, match="symbolic links"):
            DETAILS.holdings.wf.to_csv(tmp_path / "a.csv")

    def test_a_mode_is_kept(self, tmp_path):
        """An existing file keeps its mode. A new file gets the mode of the umask."""
        path = tmp_path / "h.csv"
        umask = os.umask(0o027)
        try:
            DETAILS.holdings.wf.to_csv(path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            path.chmod(0o606)
            DETAILS.holdings.wf.to_csv(path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o606
        finally:
            os.umask(umask)

    @pytest.mark.parametrize("name", ["/dev/fd", "/proc/self/fd", "link"])
    def test_an_open_descriptor_is_written_to(self, tmp_path, name):
        """A path like /dev/stdout is written to, since it cannot be replaced."""
        path, (read, write) = tmp_path / "out.csv", os.pipe()
        with path.open("w+b") as out, os.fdopen(read, "rb") as end:
            for handle in (out.fileno(), write):
                arguments = f"{name}/{handle}"
                if name == "link":
                    arguments = tmp_path / f"{handle}.csv"
                    arguments.symlink_to(f"/dev/fd/{handle}")
                DETAILS.holdings.wf.to_csv(arguments)
            os.close(write)
            assert end.read() == path.read_bytes()
            assert path.stat().st_ino == os.fstat(out.fileno()).st_ino
        assert wf.read_holdings(path).equals(DETAILS.holdings)

    def test_a_device_is_written_to(self):
        """A device stays a device."""
        DETAILS.holdings.wf.to_parquet("/dev/null")
        assert Path("/dev/null").is_char_device()

    def test_a_folder_is_refused(self, tmp_path):
        """A folder is refused before anything is written."""
        with pytest.raises(IsADirectoryError):
            DETAILS.holdings.wf.to_csv(tmp_path)

    def test_a_read_only_file_is_not_replaced(self, tmp_path, monkeypatch):
        """A read-only file in a writable folder is unchanged."""
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
        (tmp_path / "h.csv").write_bytes(b"earlier")
        with pytest.raises(PermissionError):
            DETAILS.holdings.wf.to_csv(tmp_path / "h.csv")
        assert (tmp_path / "h.csv").read_bytes() == b"earlier"

    def test_a_folder_that_can_not_be_synced_is_no_failure(self, tmp_path, unsyncable):
        """The file is complete even if its folder can't be synced."""
        DETAILS.holdings.wf.to_parquet(tmp_path / "h.parquet")
        wf.history.save(DETAILS, folder=tmp_path / "history")
        assert pq.read_metadata(tmp_path / "h.parquet").num_rows == 1
        assert len(wf.history.snapshots(folder=tmp_path / "history")) == 1


@pytest.fixture
def unsyncable(monkeypatch):
    """Fail each sync of a folder, as some network disks do."""
    real = os.fsync

    def fsync(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


def modes(folder):
    """Return the modes of all files in a folder, and its own; a run may remove a file meanwhile."""
    result = set()
    for path in [folder, *folder.rglob("*")]:
        with contextlib.suppress(FileNotFoundError):
            mode = path.stat().st_mode
            result.add(("d" if stat.S_ISDIR(mode) else "f", oct(stat.S_IMODE(mode))))
    return result


class TestPrivate:
    """Files that only their owner reads, whatever the umask."""

    @pytest.fixture(autouse=True)
    def open_umask(self):
        """Set the umask with which everybody can read new files."""
        umask = os.umask(0)
        yield
        os.umask(umask)

    def test_bulk_folders(self, tmp_path, client):
        """Parts, marker, lock and folders are private, and the journal while it exists."""
        seen = []

        def look(*_):
            seen.extend(tmp_path.rglob("*.journal"))
            assert modes(tmp_path / "new") == {("d", "0o700"), ("f", "0o600")}

        wallets = ["NEAR.alice.near", "ETH.0x" + "1" * 40]
        wf.fetch_to_parquet(
            wallets, tmp_path / "new" / "bulk", client=client, progress=look, on_failure="ignore"
        )
        assert seen
        assert modes(tmp_path / "new") == {("d", "0o700"), ("f", "0o600")}

    def test_histories(self, tmp_path):
        """New folders are private, in a new parent or an old one, which is unchanged."""
        tmp_path.chmod(0o755)
        wf.history.save(DETAILS, folder=tmp_path / "new" / "h")
        assert modes(tmp_path / "new") == {("d", "0o700"), ("f", "0o600")}
        (tmp_path / "there").mkdir(mode=0o755)
        wf.history.save(DETAILS, folder=tmp_path / "there")
        assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o755
        below = {path.name: modes(path) for path in (tmp_path / "there").iterdir()}
        assert below.pop(".lock") == {("f", "0o600")}
        assert [*below.values()] == [{("d", "0o700"), ("f", "0o600")}]

    def test_exports_keep_the_umask(self, tmp_path):
        """Other users may read exports."""
        DETAILS.holdings.wf.to_parquet(tmp_path / "h.parquet")
        assert stat.S_IMODE((tmp_path / "h.parquet").stat().st_mode) == 0o666

    def test_a_file_is_private_from_its_first_moment(self, tmp_path):
        """The file is private when it is created."""
        with disk.create_private_file(tmp_path / "x"):
            assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600
