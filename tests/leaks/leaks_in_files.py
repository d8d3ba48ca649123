"""Surfaces that files offer: the cache in every make, exports, recordings."""

import gzip
import zipfile

import pyarrow.parquet
import pytest
import requests_cache
import vcr
from addresses import B
from canned_service import balance
from leak_ground import WALLET, texts_of, within
from leak_scan import KEY
from leak_surfaces import surface, surfaces

import walletframe as wf
from walletframe.cli.files import write_details
from walletframe.service import sandbox


def contents(folder):
    """Return the names and the bytes of all files."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [part for path in files for part in (path.name, path.read_bytes())]


def echoing(ground):
    """Send sound answers that repeat the key in stored and shown fields."""
    ground.answer(balances=[balance(symbol=KEY)], explorerUrl=f"https://explorer.example/{KEY}")


@surface
def cache_open(ground):
    """The cache's files while they are open."""
    echoing(ground)
    with ground.client(cache=ground.folder / "kept.sqlite") as client:
        client.fetch(WALLET)
        seen = contents(ground.folder)
    assert {"kept.sqlite", "kept.sqlite-wal", "kept.sqlite.pace"} < set(map(str, seen))
    return seen


CACHES = {
    "file": lambda folder: folder / "kept.sqlite",
    "folder of JSON": lambda folder: requests_cache.FileCache(folder / "kept", serializer="json"),
    "SQLite of requests-cache": lambda folder: requests_cache.SQLiteCache(
        folder / "kept", serializer="json"
    ),
}


@surfaces(CACHES)
def cache(ground, variant):
    """The cache's files."""
    echoing(ground)
    cache = CACHES[variant](ground.folder)
    assert ground.fetch(cache=cache).wallets.status.item() == "ok"
    assert ground.fetch(cache=cache).wallets.source.item() == "cache"
    if not hasattr(cache, "parent"):
        cache.close()
    return contents(ground.folder)


@surface
def cache_in_memory(ground):
    """The cache in memory."""
    echoing(ground)
    with ground.client() as client:
        client.fetch(WALLET)
        seen = within(client._store)
    assert "explorer.example" in "".join(seen)
    return seen


@surface
def cache_after_failures(ground):
    """The cache's files after an answer that is kept and a failure that is not."""
    echoing(ground)
    cache = ground.folder / "kept.sqlite"
    ground.fetch(cache=cache)
    ground.echo()
    with ground.client(cache=cache) as client:
        client.fetch([WALLET, f"ETH.{B}"], refresh=True, on_failure="ignore")
    return contents(ground.folder)


@surface
def cache_moved_aside(ground):
    """The cache's files where a broken one was moved aside."""
    echoing(ground)
    path = ground.folder / "kept.sqlite"
    path.write_bytes(b"no database" * 1000)
    with ground.client(cache=path) as client, pytest.warns(wf.errors.CacheWarning) as caught:
        client.fetch(WALLET)
    return [*contents(ground.folder), *(str(each.message) for each in caught)]


@surface
def cache_folder(ground):
    """The user's cache folder after a call of the helper."""
    echoing(ground)
    settings = ground.settings()
    del settings["cache"]
    wf.configure(**settings)
    wf.fetch_wallets(WALLET)
    wf.configure(cache=False)
    seen = contents(ground.folder)
    assert "answers.sqlite" in seen
    return seen


@surface
def sandbox_cache(ground):
    """The cache of a sandbox, with its own key."""
    with sandbox() as service, service.client() as client:
        client.fetch(WALLET)
        assert service.settings().api_key.reveal()
    return contents(ground.folder)


def _parquet(path):
    table = pyarrow.parquet.read_table(path)
    return [repr(table.to_pydict()), repr(table.schema.metadata), path.read_bytes()]


def _zipped(path):
    with zipfile.ZipFile(path) as packed:
        return [packed.read(name) for name in packed.namelist()]


EXPORTS = {
    "CSV": lambda details, folder: write_details(details, folder / "a.csv"),
    "compressed CSV": lambda details, folder: details.wallets.wf.to_csv(folder / "a.csv.gz"),
    "Parquet": lambda details, folder: write_details(details, folder / "a.parquet"),
    "JSON": lambda details, folder: write_details(details, folder / "a.json"),
    "Excel": lambda details, folder: details.wallets.wf.to_excel(folder / "a.xlsx"),
    "pickle": lambda details, folder: details.wallets.to_pickle(folder / "a.pickle"),
    "pandas's own Parquet": lambda details, folder: details.wallets.to_parquet(
        folder / "b.parquet"
    ),
}
READ = {
    ".parquet": _parquet,
    ".xlsx": _zipped,
    ".gz": lambda path: [gzip.decompress(path.read_bytes())],
}


@surfaces(EXPORTS)
def export(ground, variant):
    """An export."""
    echoing(ground)
    EXPORTS[variant](ground.fetch(), ground.folder)
    files = [path for path in ground.folder.iterdir() if path.is_file()]
    return [
        part for path in files for part in READ.get(path.suffix, lambda it: [it.read_bytes()])(path)
    ]


def _bulk_run(ground):
    """Fetch a wallet that is ok and one that is not into a folder."""
    echoing(ground)
    ground.server.add_reply(f"no: {KEY}".encode(), 500)
    folder = ground.folder / "bulk"
    with ground.client(workers=1) as client:
        summary = wf.fetch_to_parquet(
            [f"ETH.{B}", WALLET], folder, client=client, on_failure="ignore"
        )
    assert summary.statuses == {"ok": 1, "service_error": 1}
    return summary


@surface
def bulk_run(ground):
    """The folder of a bulk run, and its summary."""
    summary = _bulk_run(ground)
    tables = [part for path in ground.folder.rglob("*.parquet") for part in _parquet(path)]
    return [*contents(ground.folder), *tables, repr(summary), repr(summary.reasons)]


@surface
def bulk_journal(ground):
    """The journal of a bulk run that could not write its parts, and the error."""

    def fail(*_):
        raise wf.errors.DatasetError("the disk has gone")

    ground.patch.setattr("walletframe.bulk.dataset.DatasetWriter.write_part", fail)
    with pytest.raises(wf.errors.DatasetError) as caught:
        _bulk_run(ground)
    seen = contents(ground.folder)
    assert any(b"explorer.example" in part for part in seen if isinstance(part, bytes))
    return [*seen, *texts_of(caught.value)]


@surface
def cassette(ground):
    """The tape of an HTTP recorder."""
    ground.answer()
    with vcr.use_cassette(str(ground.folder / "a.yaml")) as tape:
        ground.fetch()
    return [repr(tape), repr(tape.requests), *contents(ground.folder)]
