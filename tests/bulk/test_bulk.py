"""Wallets into a folder of Parquet files and back: requests, files, messages."""

import itertools
import pickle
import sqlite3
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from threading import Event, get_ident

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from addresses import ONE, ZERO, A, B
from canned_service import answer, balance, wallet
from click.testing import CliRunner
from fast_service import fast_service, wallet_address
from plain_process import printed

import walletframe as wf
from walletframe.bulk.dataset import WalletRegister
from walletframe.bulk.files import wallet_key
from walletframe.bulk.run import fetch_into
from walletframe.bulk.summary import RunCounters
from walletframe.cli import main
from walletframe.errors import (
    AddressError,
    AnswerWarning,
    DatasetError,
    FetchError,
    FetchWarning,
    InputWarning,
    SettingsError,
)
from walletframe.service import SHOWCASE

TOKENS = 3
UNFINISHED = "lacks .* wallets, since the fetch into it has not finished; repeat the"


@pytest.fixture(scope="module")
def server():
    """Start one fast server for the whole module."""
    with fast_service(tokens=TOKENS) as running:
        yield running


@pytest.fixture
def fast(server):
    """Return the server, reset."""
    server.forget()
    return server


@pytest.fixture
def small_parts(monkeypatch):
    """Fill a part with ten wallets."""
    monkeypatch.setattr("walletframe.bulk.run.MAX_WALLETS_PER_PART", 10)


@pytest.fixture
def folder(tmp_path):
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "bulk"


def addresses(*numbers, **more):
    """Return wallets of the fast server."""
    return [wallet_address(number, **more) for number in numbers]


def rows(folder, name, columns="address"):
    """Return the rows that DuckDB reads from the files."""
    return duckdb.sql(f"SELECT {columns} FROM '{folder}/{name}/*.parquet'").fetchall()


def read_addresses(folder):
    """Return the wallets of a folder in the order of `read_wallets`."""
    wallets = wf.read_wallets(folder).wallets
    return (wallets.blockchain + "." + wallets.address).tolist()


class TestFrames:
    """Frames read from a folder."""

    def test_equals_a_fetch(self, client, folder):
        """The same rows, order, types and categories: failed, null, empty, spam, 2**256 - 1."""
        expected = client.fetch(SHOWCASE, on_failure="ignore")
        summary = wf.fetch_to_parquet(SHOWCASE, folder, client=client, on_failure="ignore")
        result = wf.read_wallets(folder)
        own = ["fetched_at", "source"]
        pd.testing.assert_frame_equal(result.holdings, expected.holdings)
        pd.testing.assert_frame_equal(
            result.wallets.drop(columns=own), expected.wallets.drop(columns=own)
        )
        assert (result.wallets.dtypes == expected.wallets.dtypes).all()
        assert summary.balances == len(expected.holdings) > 0
        assert repr(summary).endswith("Simulated data: the sandbox generated it.")
        assert str(2**256 - 1) in result.holdings.raw_amount.tolist()

    def test_order_is_as_requested_over_several_parts(self, fast, folder, small_parts):
        """Positions follow the requested order, not the order of the answers."""
        requested = addresses(*range(35))
        with fast.client() as client:
            assert wf.fetch_to_parquet(requested, folder, client=client).parts == 4
        assert read_addresses(folder) == requested
        wallets, holdings = wf.read_wallets(folder)
        expected = wallets.address.repeat(TOKENS).reset_index(drop=True)
        pd.testing.assert_series_equal(holdings.address, expected)

    def test_selected_wallets_keep_the_requested_order_and_spelling(
        self, fast, folder, small_parts
    ):
        """A wallet that is not in the folder has the status not_cached."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(*range(25)), folder, client=client)
        wanted = [addresses(21)[0].upper().replace("0X", "0x"), "NEAR.nobody", addresses(2)[0]]
        wallets, holdings = wf.read_wallets(folder, wallets=wanted)
        assert (wallets.blockchain + "." + wallets.address).tolist() == wanted
        assert wallets.status.tolist() == ["ok", "not_cached", "ok"]
        assert holdings.address.tolist() == [wanted[0][4:]] * TOKENS + [wanted[2][4:]] * TOKENS
        whole = wf.read_wallets(folder).holdings
        assert holdings.raw_amount.tolist() == [
            amount
            for name in (addresses(21)[0], wanted[2])
            for amount in whole.raw_amount[whole.address == name[4:]]
        ]
        assert len(wf.read_wallets(folder, wallets=addresses(7)).holdings) == TOKENS

    @pytest.mark.parametrize("wanted", [None, []])
    def test_no_wallets_have_all_columns(self, client, folder, wanted):
        """An empty list is written and read."""
        summary = wf.fetch_to_parquet([], folder, client=client)
        expected = client.fetch([])
        for result, empty in zip(wf.read_wallets(folder, wallets=wanted), expected, strict=True):
            pd.testing.assert_frame_equal(result, empty)
        assert (summary.wallets, summary.ok_count, summary.parts) == (0, 0, 0)


class TestFiles:
    """Files as other programs read them."""

    @pytest.fixture
    def written(self, canned, folder):
        """Return a folder with 9, 100, the largest, NEAR of 24 decimals, and no amount."""
        sent = [balance("9", 0), balance("100", 0), balance(str(2**256 - 1), 18)]
        sent += [balance("2000000000000000000500001", 24), balance("5", None)]
        canned.default = (200, {}, answer(wallet(balances=sent)))
        with canned.client() as client, pytest.warns(AnswerWarning, match="1 of 5 balances"):
            wf.fetch_to_parquet(f"ETH.{A}", folder, client=client)
        return folder

    def test_duckdb_and_polars_compute_with_amounts(self, written):
        """Decimals are rounded to 18 places, and null if 38 digits do not hold the amount."""
        digits = str(2**256 - 1)
        texts = ["9", "100", f"{digits[:-18]}.{digits[-18:]}", "2.000000000000000000500001", None]
        near = Decimal("2.000000000000000001")
        decimals = [Decimal(9), Decimal(100), None, near, None]
        pairs = [*zip(decimals, texts, strict=True)]
        assert rows(written, "holdings", "amount, amount_text") == pairs
        assert rows(written, "holdings", "max(amount), sum(amount)") == [(100, 109 + near)]
        frame = pl.read_parquet(written / "holdings")
        assert frame["amount_text"].to_list() == texts
        assert (frame["amount"].max(), frame["amount"].sum()) == (100, 109 + near)
        ordered = [near, 9, 100, None, None]
        assert frame.sort("amount", nulls_last=True)["amount"].to_list() == ordered

    def test_exact_amounts_are_read(self, written):
        """Exact amounts are read, even if the decimals are rounded or null."""
        near, largest = Fraction("2.000000000000000000500001"), Fraction(2**256 - 1, 10**18)
        exact = wf.read_wallets(written).holdings["amount"]
        assert [*map(Fraction, exact.dropna())] == [9, 100, largest, near]
        [total] = wf.open_wallets(written).wf.totals("symbol")["amount"]
        assert Fraction(total) == 109 + largest + near

    def test_pandas_without_walletframe_reads_both(self, written):
        """Status is text, times are UTC."""
        code = (
            "import pandas, sys; wallets = pandas.read_parquet(sys.argv[1] + '/wallets');"
            "holdings = pandas.read_parquet(sys.argv[1] + '/holdings');"
            "print(wallets.status[0], wallets.fetched_at.dtype, wallets.position[0], len(holdings))"
        )
        assert printed(code, written) == ["ok datetime64[us, UTC] 0 5"]

    def test_there_are_no_other_files(self, written):
        """The folder has parts, and an empty folder for failed wallets."""
        assert not list((written / "failed").iterdir())
        for name in ("wallets", "holdings"):
            assert [path.name for path in (written / name).iterdir()] == ["part-000001.parquet"]

    def test_a_name_like_a_partition_adds_no_column(self, fast, tmp_path):
        """A folder may have any name."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1), tmp_path / "day=1" / "chain=ETH", client=client)
        assert len(wf.read_wallets(tmp_path / "day=1" / "chain=ETH").wallets) == 1


class TestAgain:
    """A repeated call."""

    def test_only_wallets_that_are_not_ok_are_requested(self, fast, folder, small_parts):
        """A new row replaces the old one, and the order stays."""
        requested = [
            *addresses(*range(12)),
            *addresses(12, 13, failing=True),
            *addresses(*range(14, 25)),
        ]
        with fast.client() as client:
            with pytest.warns(FetchWarning, match="2 of 25 wallets are not ok"):
                first = wf.fetch_to_parquet(requested, folder, client=client)
            fast.heal()
            second = wf.fetch_to_parquet(requested, folder, client=client)
        assert (first.ok_count, first.resumed, second.ok_count, second.resumed) == (23, 0, 25, 23)
        counts = fast.request_counts()
        assert {name: counts.pop(name) for name in requested[12:14]} == dict.fromkeys(
            requested[12:14], 2
        )
        assert set(counts.values()) == {1}
        assert read_addresses(folder) == requested
        assert len(rows(folder, "wallets")) == 25
        assert len(rows(folder, "holdings")) == len(wf.read_wallets(folder).holdings) == 75
        assert not list((folder / "failed").iterdir())

    def test_a_wallet_that_fails_again_has_one_row(self, fast, folder, small_parts):
        """The newest failure counts. A wallet that is no longer requested keeps its row."""
        requested = addresses(*range(25), failing=True)
        with fast.client() as client:
            for number in (25, 25, 20):
                wf.fetch_to_parquet(requested[:number], folder, client=client, on_failure="ignore")
        assert sorted(rows(folder, "failed", "position")) == [(number,) for number in range(25)]
        wallets = wf.read_wallets(folder).wallets
        assert set(wallets.status) == {"failed"}
        assert wallets.fetched_at[:20].min() > wallets.fetched_at[20:].max()
        assert wf.read_wallets(folder, wallets=requested[3]).wallets.status.tolist() == ["failed"]

    def test_more_wallets_are_inserted_or_appended(self, fast, folder):
        """New wallets of a longer list are in its order, those of another list at the end."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1, 2), folder, client=client)
            wf.fetch_to_parquet(addresses(1, 2, 3), folder, client=client)
            wf.fetch_to_parquet(addresses(9, 2, 8), folder, client=client)
        assert read_addresses(folder) == addresses(1, 2, 3, 9, 8)

    def test_a_complete_folder_needs_no_key(self, fast, folder):
        """A complete folder is read without a request."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1), folder, client=client)
        with wf.Client(base_url=fast.base_url, cache=False) as keyless:
            assert wf.fetch_to_parquet(addresses(1), folder, client=keyless).resumed == 1
            with pytest.raises(wf.errors.SettingsError, match="api_key"):
                wf.fetch_to_parquet(addresses(1, 2), folder, client=keyless)

    def test_another_service_needs_another_folder(self, fast, folder):
        """Wallets of two services are never in one folder."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1), folder, client=client)
        with fast.client(service="other") as client, pytest.raises(DatasetError, match="'other'"):
            wf.fetch_to_parquet(addresses(2), folder, client=client)
        assert read_addresses(folder) == addresses(1)

    def test_answers_in_no_part_are_resumed(self, service, folder, monkeypatch):
        """Answers are read from the journal, and no request is repeated."""
        requested = [f"ETH.0x{number:040x}" for number in range(23)]

        def fail(*_):
            raise DatasetError("the disk has gone")

        with service.client(cache=False, batch_size=5) as client:
            expected = client.fetch(requested)
            with monkeypatch.context() as broken:
                broken.setattr("walletframe.bulk.dataset.DatasetWriter.write_part", fail)
                with pytest.raises(DatasetError, match="has gone"):
                    wf.fetch_to_parquet(requested, folder, client=client)
        assert not list((folder / "wallets").iterdir())
        with wf.Client(base_url=service.base_url, service="sandbox", cache=False) as keyless:
            summary = wf.fetch_to_parquet(requested, folder, client=keyless)
        assert (summary.ok_count, summary.resumed) == (23, 23)
        result = wf.read_wallets(folder)
        pd.testing.assert_frame_equal(result.holdings, expected.holdings)
        own = ["fetched_at"]
        pd.testing.assert_frame_equal(
            result.wallets.drop(columns=own), expected.wallets.drop(columns=own)
        )
        assert not list((folder / ".walletframe").glob("*.journal"))


class TestCache:
    """The client's own cache."""

    def test_fresh_answers_are_used_and_new_ones_not_cached(self, fast, folder):
        """No request is repeated, and an answer is stored only once."""
        with fast.client(cache="memory") as client:
            client.fetch(addresses(1))
            wf.fetch_to_parquet(addresses(1, 2), folder, client=client)
            kept = client.fetch(addresses(1, 2), offline=True, on_failure="ignore").wallets
        assert set(fast.request_counts().values()) == {1}
        assert wf.read_wallets(folder).wallets.source.tolist() == ["cache", "service"]
        assert kept.status.tolist() == ["ok", "not_cached"]

    def test_a_stale_answer_is_never_used(self, canned, folder):
        """The folder holds the new answer, or the failure."""
        canned.add_reply(answer(wallet()))
        canned.default = (200, {}, answer(wallet(failed=True)))
        with canned.client(expire_after_s=0) as client:
            client.fetch(f"ETH.{A}")
            wf.fetch_to_parquet(f"ETH.{A}", folder, client=client, on_failure="ignore")
        assert wf.read_wallets(folder).wallets.status.tolist() == ["failed"]


class TestInput:
    """Forms of input."""

    def test_repeats_are_requested_once_in_the_first_spelling(self, fast, folder):
        """Lists and streams are treated alike."""
        [name] = addresses(0xAB)
        other = name[:-40] + name[-40:].upper()
        with fast.client() as client:
            with pytest.warns(InputWarning, match="found 1 wallet in 2 rows"):
                assert wf.fetch_to_parquet([other, name], folder, client=client).wallets == 1
            assert wf.fetch_to_parquet(iter([name, other]), folder, client=client).wallets == 1
        assert read_addresses(folder) == [other]
        assert fast.request_counts().total() == 1

    def test_unreadable_wallets_can_be_skipped(self, fast, folder, tmp_path):
        """The warning names each unreadable wallet of a list or a file, and its position."""
        [name] = addresses(0xAB)
        (tmp_path / "list.txt").write_text(f"{name}\n\nbad\n")
        with fast.client() as client:
            for argument, place in (([name, None, "bad"], 2), (tmp_path / "list.txt", 3)):
                with pytest.warns(
                    InputWarning, match=f"1 wallet .* {place}: 'bad': there is no dot"
                ):
                    summary = wf.fetch_to_parquet(
                        argument, folder, client=client, on_unreadable="drop", on_failure="raise"
                    )
                assert (summary.wallets, summary.ok_count) == (1, 1)
            with pytest.raises(SettingsError, match="on_unreadable='ignore' is not supported"):
                wf.fetch_to_parquet([name], folder, client=client, on_unreadable="ignore")

    def test_a_stream_can_be_strict(self, fast, folder):
        """The first bad item ends the run. Empty items are skipped."""
        [name] = addresses(0xAB)
        stream = iter([name, None, "", "bad"])
        with fast.client() as client, pytest.raises(AddressError) as caught:
            wf.fetch_to_parquet(stream, folder, client=client, on_unreadable="raise")
        assert [place for place, _, _ in caught.value.problems] == [3]

    def test_an_unknown_blockchain_is_reported_once(self, fast, folder):
        """Lists and streams are treated alike. The first spelling is requested."""
        requested = ["Polygn.0x1cafe", "polygn.0x2cafe"]
        for argument in (requested, iter(requested)):
            with (
                fast.client() as client,
                pytest.warns(InputWarning, match="mean POLYGON") as caught,
            ):
                wf.fetch_to_parquet(argument, folder, client=client, on_failure="ignore")
            assert len(caught) == 1
        assert wf.read_wallets(folder).wallets.blockchain.tolist() == ["Polygn", "Polygn"]

    def test_bad_addresses_leave_no_trace(self, fast, folder):
        """The error lists all bad addresses; nothing is requested or written."""
        with fast.client() as client, pytest.raises(AddressError) as caught:
            wf.fetch_to_parquet([*addresses(1), "bad", "worse"], folder, client=client)
        assert [place for place, _, _ in caught.value.problems] == [1, 2]
        assert not folder.exists()
        assert fast.request_counts().total() == 0

    @pytest.mark.parametrize("kind", [str, lambda path: path])
    def test_files_are_read(self, fast, folder, tmp_path, kind):
        """Text and CSV files are read, by a name with this ending or by a path."""
        one, two = addresses(1, 2)
        (tmp_path / "list.txt").write_text(f"# mine\n{one}\n")
        (tmp_path / "list.csv").write_text(f"blockchain,address\nETH,{two[4:]}\n")
        with fast.client() as client:
            for name in ("list.txt", "list.csv"):
                wf.fetch_to_parquet(kind(tmp_path / name), folder, client=client)
        assert read_addresses(folder) == [one, two]

    def test_bad_lines_of_a_file_are_named(self, fast, folder, tmp_path):
        """The error has their line numbers."""
        (tmp_path / "list.txt").write_text(f"\n{addresses(1)[0]}\nbad\n")
        with (
            fast.client() as client,
            pytest.raises(AddressError, match=r"listed by line number in .*list\.txt"),
        ):
            wf.fetch_to_parquet(tmp_path / "list.txt", folder, client=client)

    def test_a_stream_is_read_on_demand(self, canned, folder):
        """A stream may be endless: a refused key ends the run."""
        canned.default = (401, {}, b"no")
        endless = (f"ETH.0x{number:040x}" for number in itertools.count())
        with canned.client() as client:
            summary = wf.fetch_to_parquet(endless, folder, client=client, on_failure="ignore")
        assert summary.key_rejected
        assert summary.statuses["rejected"] >= 1
        assert int(next(endless)[6:], 16) < 2_000

    def test_a_stream_is_read_in_its_own_thread(self, fast, folder):
        """A database cursor only works in the thread that created it."""
        link = sqlite3.connect(":memory:")
        link.execute("CREATE TABLE wallets (name TEXT)")
        link.executemany("INSERT INTO wallets VALUES (?)", [(name,) for name in addresses(1, 2)])
        stream = (name for (name,) in link.execute("SELECT name FROM wallets"))
        with fast.client() as client:
            assert wf.fetch_to_parquet(stream, folder, client=client).ok_count == 2
        link.close()

    def test_a_slow_stream_does_not_delay_requests(self, fast, folder):
        """Wallets are requested while the next is awaited."""
        read, before = [], fast.request_counts().total()

        def slow():
            for name in addresses(*range(600)):
                read.append(name)
                yield name
                if fast.request_counts().total() > before:
                    return
                time.sleep(0.1)

        with fast.client() as client:
            assert wf.fetch_to_parquet(slow(), folder, client=client).ok_count == len(read) < 600

    def test_bad_items_of_a_stream_are_skipped_and_reported(self, fast, folder):
        """A warning names the first bad item. The other wallets are fetched."""
        stream = iter([*addresses(1), "bad", *addresses(2), 7])
        with fast.client() as client, pytest.warns(FetchWarning) as caught:
            summary = wf.fetch_to_parquet(stream, folder, client=client)
        assert [place for place, _, _ in summary.unreadable] == [1, 3]
        assert (summary.ok_count, summary.wallets, summary.unreadable_count) == (2, 2, 2)
        assert "item 1 (counted from 0) of the iterator, " in str(caught[0].message)
        assert "2 items of the iterator are not wallets and were dropped" in str(caught[1].message)
        assert {warning.filename for warning in caught} == {__file__}

    def test_the_first_thousand_bad_items_are_kept(self, fast, folder):
        """The summary counts all bad items."""
        with fast.client() as client, pytest.warns(FetchWarning):
            summary = wf.fetch_to_parquet(iter(["bad"] * 1_003), folder, client=client)
        assert (len(summary.unreadable), summary.unreadable_count) == (1_000, 1_003)

    def test_an_error_of_the_stream_is_raised(self, fast, folder):
        """Finished wallets are in the folder."""

        def broken():
            yield from addresses(*range(300))
            raise ZeroDivisionError

        with fast.client() as client:
            with pytest.raises(ZeroDivisionError):
                wf.fetch_to_parquet(broken(), folder, client=client)
            with pytest.warns(FetchWarning, match=UNFINISHED):
                done = len(wf.read_wallets(folder).wallets)
            summary = wf.fetch_to_parquet(addresses(*range(300)), folder, client=client)
        assert summary.ok_count == 300
        assert summary.resumed >= done
        assert len(wf.open_wallets(folder).wallets) == 300

    @pytest.mark.filterwarnings("always::walletframe.errors.FetchWarning")
    def test_a_shorter_list_does_not_finish_a_folder(self, fast, folder):
        """The wallets of the longer list are still missing; the shell's exit code says so."""
        with fast.client() as client, pytest.raises(ZeroDivisionError):
            wf.fetch_to_parquet(
                addresses(*range(50)), folder, client=client, progress=lambda *_: 1 / 0
            )
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(0, 70), folder, client=client)
        with pytest.warns(FetchWarning, match=UNFINISHED) as caught:
            count = len(wf.open_wallets(folder).wallets)
        assert f" lacks {50 - count} of 50 wallets, since" in str(caught[0].message)
        for command in (["totals"], ["report", "--output", str(folder.with_suffix(".md"))]):
            printed = CliRunner().invoke(main, [*command, str(folder)])
            assert printed.exit_code == 1
            missing = f"{50 - count} of 50 wallets"
            assert f"lacks {missing}, since" in printed.output
            assert f"\nNot counted: {missing} not fetched yet (the fetch " in printed.output
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(*range(50)), folder, client=client)
        assert not wf.open_wallets(folder).wf.coverage().unfinished


class TestOutcome:
    """Summaries and warnings."""

    def test_summary_counts_every_wallet(self, fast, folder):
        """The summary has counts by status, and reasons, and a text for a person."""
        requested = [*addresses(1, 2), *addresses(3, failing=True)]
        with fast.client() as client:
            summary = wf.fetch_to_parquet(requested, folder, client=client, on_failure="ignore")
        assert summary.statuses == {"ok": 2, "failed": 1}
        assert summary.reasons == {"the service could not retrieve this wallet": 1}
        lines = repr(summary).splitlines()
        assert lines[:2] == [
            "3 wallets: 2 ok, 1 failed",
            "  1 x the service could not retrieve this wallet",
        ]
        assert lines[2].startswith(f"6 balances in 1 new part of {folder}, ")
        assert pickle.loads(pickle.dumps(summary)) == summary

    def test_summary_of_many_failures_stays_short(self, canned, folder):
        """The text lists the most frequent reasons, the summary all reasons."""
        for number in range(7):
            canned.add_reply(b"no", status=404 + number)
        stream = (f"ETH.0x{number:0>40}" if number < 7 else "x" for number in range(9))
        with canned.client(workers=1) as client, pytest.warns(FetchWarning) as caught:
            summary = wf.fetch_to_parquet(stream, folder, client=client)
        assert "2 items of the iterator are not wallets and were dropped" in str(caught[-1].message)
        lines = repr(summary).splitlines()
        assert len(summary.reasons) == 7
        assert lines[6:8] == [
            "  and 2 other reasons",
            "2 items of the iterator are not wallets and were dropped",
        ]
        assert len(lines) == 9

    def test_refused_key_ends_the_run(self, canned, folder):
        """The summary counts the other wallets. The next call requests them."""
        canned.add_reply(answer(wallet(ZERO)))
        canned.default = (403, {}, b"no")
        requested = [f"ETH.0x{number:040x}" for number in range(600)]
        warns = pytest.warns(FetchWarning, match=r"599 of 600 .*not requested")
        with canned.client(workers=1) as client, warns:
            summary = wf.fetch_to_parquet(requested, folder, client=client)
        assert len(canned.paths) == 2
        assert summary.statuses == {"ok": 1, "rejected": 1, "cancelled": 598}
        with pytest.warns(FetchWarning, match="lacks 598 of 600 wallets, since"):
            assert wf.read_wallets(folder).wallets.status.tolist() == ["ok", "rejected"]

    def test_on_failure_raise_carries_the_summary(self, fast, folder):
        """The folder has the wallets that are ok."""
        requested = [*addresses(1), *addresses(2, failing=True)]
        with fast.client() as client, pytest.raises(FetchError, match="1 of 2") as caught:
            wf.fetch_to_parquet(requested, folder, client=client, on_failure="raise")
        assert caught.value.details.ok_count == 1
        assert "in the folder" in caught.value.hint

    def test_unknown_option_is_refused_first(self, client, folder):
        """The error is that of a fetch."""
        with pytest.raises(wf.errors.SettingsError, match="on_failure"):
            wf.fetch_to_parquet([f"ETH.{ONE}"], folder, client=client, on_failure="shout")
        assert not folder.exists()

    def test_unrequested_wallets_warn(self, canned, folder):
        """Unrequested wallets are left out, and counted."""
        canned.default = (200, {}, answer(wallet(A), wallet(B)))
        with (
            canned.client() as client,
            pytest.warns(wf.errors.AnswerWarning, match="1 unrequested wallet"),
        ):
            wf.fetch_to_parquet(f"ETH.{A}", folder, client=client)

    def test_default_client_is_used(self, fast, folder):
        """Settings of `configure` are used."""
        with fast.client() as client:
            settings = client.settings
        wf.configure(
            base_url=fast.base_url, key_kind="private", api_key=settings.api_key, cache=False
        )
        assert wf.fetch_to_parquet(addresses(1), folder).ok_count == 1


class TestPlaces:
    """Positions of wallets in the requested order."""

    def register(self, **positions):
        """Return a folder's positions, by key."""
        pairs = [key.partition("_")[::2] for key in positions]
        table = pa.table(
            {
                "blockchain": [chain for chain, _ in pairs],
                "address": [address for _, address in pairs],
                "position": list(positions.values()),
            }
        )
        return WalletRegister([table], [])

    def places(self, register, *keys):
        """Classify wallets, and return the positions of those to request."""
        return {
            key: register.pending[key] for key in keys if register.classify_next(key) == "request"
        }

    def test_gaps_are_filled_by_their_own_wallets(self):
        """The same list has the same positions, at any end of an earlier run."""
        register = self.register(A_0=0, A_3=3, A_5=5)
        keys = [f"A.{number}" for number in range(8)]
        expected = {f"A.{number}": number for number in (1, 2, 4, 6, 7)}
        assert self.places(register, *keys) == expected

    def test_another_list_comes_last(self):
        """The wallets of a second list get the positions after the first list."""
        register = self.register(A_0=0, A_1=1)
        assert self.places(register, "A.8", "A.9", "A.1", "A.7") == {"A.8": 2, "A.9": 3, "A.7": 4}

    def test_a_wallet_is_requested_once(self):
        """Stored and repeated wallets are not requested."""
        register = self.register(A_0=0)
        actions = [register.classify_next(key) for key in ("A.0", "A.1", "A.1", "A.0")]
        assert actions == ["stored", "request", "duplicate", "duplicate"]
        assert len(register.seen) == 2


class TestShards:
    """One of several runs of one list."""

    def run(self, fast, folder, wallets, *, tell=False, **orders):
        """Fetch into a folder with these options."""
        requested = [wf.WalletAddress.parse(wallet) for wallet in wallets]
        with fast.client() as client:
            return fetch_into(folder, requested, client, tell, RunCounters(), **orders)

    def test_wallets_keep_their_positions_in_the_whole_list(self, fast, folder, small_parts):
        """Resumed runs keep the positions in the whole list, too."""
        requested = addresses(*range(30))
        places = {
            wallet_key(wf.WalletAddress.parse(each)): 7 * n for n, each in enumerate(requested)
        }
        self.run(fast, folder, requested[20:], positions=places)
        self.run(fast, folder, requested[:20], positions=places)
        result = dict(rows(folder, "wallets", "'ETH.' || address, position"))
        assert result == {each: 7 * number for number, each in enumerate(requested)}
        assert read_addresses(folder) == requested

    def test_ends_when_it_is_cancelled(self, fast, folder):
        """Finished wallets are in the folder, and the summary counts the others."""
        cancel = Event()
        summary = self.run(
            fast, folder, addresses(*range(3_000)), tell=lambda *_: cancel.set(), cancel=cancel
        )
        assert 0 < summary.ok_count == len(rows(folder, "wallets")) < 3_000
        assert summary.statuses["cancelled"] == 3_000 - summary.ok_count


class TestUrls:
    """Folders of object stores, which have no locks."""

    @pytest.mark.parametrize("kind", [str, Path])
    @pytest.mark.parametrize(
        "url", ["s3://bucket/run", "gs://bucket", "abfs://x/y", "file:///tmp/x"]
    )
    def test_are_refused_before_any_request(self, fast, folder, url, kind, monkeypatch):
        """The error has a hint. Without the check, a URL would be used as a path."""
        folder.mkdir()
        monkeypatch.chdir(folder)
        with fast.client() as client:
            for call in (
                lambda: wf.fetch_to_parquet(addresses(1), kind(url), client=client),
                lambda: wf.read_wallets(kind(url)),
                lambda: wf.open_wallets(kind(url)),
                lambda: wf.history.save(client.fetch([]), folder=kind(url)),
                lambda: wf.history.snapshots(folder=kind(url)),
            ):
                with pytest.raises(
                    DatasetError, match=r"is a URL.* neither locks nor renaming[^$]*Hint: .*sync"
                ):
                    call()
        assert not fast.request_counts()
        assert not list(folder.iterdir())

    def test_a_colon_makes_no_url(self, fast, tmp_path, monkeypatch):
        """A folder's name may have a colon."""
        monkeypatch.chdir(tmp_path)
        with fast.client() as client:
            assert wf.fetch_to_parquet(addresses(1), "of:today", client=client).ok_count == 1


class TestProgress:
    """Progress reports."""

    def test_callable_gets_earlier_counts_too(self, fast, folder):
        """The callable runs on the caller's thread. The total of a stream is None."""
        seen, threads = [], set()

        def tell(done, total, counts):
            seen.append((done, total, counts))
            threads.add(get_ident())

        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1, 2), folder, client=client)
            wf.fetch_to_parquet(addresses(1, 2, 3), folder, client=client, progress=tell)
            wf.fetch_to_parquet(iter(addresses(1, 4)), folder, client=client, progress=tell)
        assert seen == [(3, 3, {"ok": 3}), (1, None, {"ok": 1}), (2, None, {"ok": 2})]
        assert threads == {get_ident()}

    def test_bar_starts_at_the_earlier_count(self, fast, folder, capsys):
        """Without a terminal, the bar is only drawn if it is requested."""
        with fast.client() as client:
            wf.fetch_to_parquet(addresses(1, 2), folder, client=client)
            assert capsys.readouterr().err == ""
            wf.fetch_to_parquet(addresses(1, 2, 3), folder, client=client, progress=True)
        assert "3/3" in capsys.readouterr().err.splitlines()[-1]

    def test_a_callable_that_raises_ends_the_run(self, fast, folder):
        """The error is raised, and finished wallets are in the folder."""
        with fast.client() as client:
            with pytest.raises(ZeroDivisionError):
                wf.fetch_to_parquet(
                    addresses(*range(50)), folder, client=client, progress=lambda *_: 1 / 0
                )
            with pytest.warns(FetchWarning, match=UNFINISHED):
                done = len(wf.read_wallets(folder).wallets)
            assert wf.fetch_to_parquet(addresses(*range(50)), folder, client=client).resumed >= done
        assert done >= 1
