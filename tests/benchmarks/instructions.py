"""Count the instructions of measured operations, as multiples of those of ``import pandas``.

Unlike times, counts hardly vary between runs, even on a busy machine. valgrind's cachegrind counts
instructions. For shell commands and imports, it counts the whole process. Other measures run in
forks of a process that has already run each of them on little data, so that imports don't count.
The count is the difference between a fork that runs the measure and a fork that only prepares it.

``python tests/benchmarks/instructions.py`` fails if a count is more than 3 % above the count in
``instructions.json``, in two runs, since small counts vary with the state of the heap.
``--write FEATURE`` writes the file, and notes the feature at each measure that has grown.
PYTHONPATH selects the measured version of walletframe.
"""

# ruff: noqa: PLC0415 - the counting process must not import the measured packages

import argparse
import decimal
import functools
import gc
import importlib.metadata
import io
import itertools
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")
PINS = Path(__file__).parents[2] / ".ci" / "instructions.txt"
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
GROWTH = 1.03
FIRST_TOKEN = ("ETH", "0x" + "1" * 40)
WALLETS, TOKENS, SMALL = 500, 100, 5
BASE_URL = "https://api.example"
PANDAS = ("-c", "import pandas")
PROCESSES = {
    "import walletframe": ("-c", "import walletframe"),
    "walletframe --help": ("-m", "walletframe", "--help"),
    "walletframe settings": ("-m", "walletframe", "settings"),
    "walletframe totals": ("-m", "walletframe", "totals", "small.csv"),
}
FETCHED, AMOUNTS = {}, {}  # the measures by name
OF_DECIMALS, CACHED_SESSION = " of Decimals", "CachedSession"


def of_fetch(function):
    """Register a measure of a fetch: a generator that yields once after the preparation."""
    FETCHED[function.__name__] = function
    return function


def of_amounts(function):
    """Register a measure of a DataFrame of amounts. It needs no preparation."""
    AMOUNTS[function.__name__] = function
    return function


@of_fetch
def cached(wallets):
    """Read wallets from the cache, and assemble both frames."""
    from walletframe.client import Client

    with Client(base_url=BASE_URL, cache=Path("cache.sqlite")) as client:
        yield
        assert len(client.fetch(wallets, offline=True).holdings) == len(wallets) * TOKENS


def of_cached_session(wallets):
    """Get each wallet's answer from requests-cache, as JSON."""
    from requests_cache import CachedSession, SQLiteCache

    with CachedSession(backend=SQLiteCache("plain.sqlite")) as session:
        yield
        for wallet in wallets:
            session.get(plain_url(wallet), only_if_cached=True).json()


@of_fetch
def decoded(wallets):
    """Decode answers."""
    from walletframe.address.lists import parse_wallets
    from walletframe.wire.answer import read_answer

    bodies = answers(wallets).values()
    requested = [[wallet] for wallet in parse_wallets(wallets)]
    yield
    for body, each in zip(bodies, requested, strict=True):
        read_answer(body, each)


@of_fetch
def totals(wallets):
    """Compute totals by token."""
    details = read_details(wallets)
    yield
    details.wf.totals()


@of_fetch
def share(wallets):
    """Compute each wallet's share of a token."""
    details = read_details(wallets)
    symbol = details.holdings["symbol"].iloc[0]
    yield
    details.wf.share(token=symbol)


@of_fetch
def pivot(wallets):
    """Compute a table with a row per wallet and a column per token."""
    details = read_details(wallets)
    yield
    details.wf.pivot()


@of_fetch
def value(wallets):
    """Value each balance."""
    holdings = read_details(wallets).holdings
    yield
    holdings.wf.value(currency="USD")


@of_fetch
def without_spam(wallets):
    """Drop rows that look like spam."""
    holdings = read_details(wallets).holdings
    yield
    holdings.wf.without_spam()


@of_fetch
def treemap(wallets):
    """Draw values as a treemap."""
    details = read_details(wallets)
    valued = details._replace(holdings=details.holdings.assign(value=1.5))
    yield
    valued.wf.plot.treemap()


@of_fetch
def report(wallets):
    """Write a page with the charts of values."""
    import walletframe as wf

    details = read_details(wallets)
    valued = details._replace(holdings=details.holdings.assign(value=1.5))
    yield
    wf.report(valued, f"report-{len(wallets)}.html")


@of_fetch
def explorer(wallets):
    """Open the explorer and send the first requests of its page."""
    from walletframe import HoldingsExplorer

    details = read_details(wallets)
    yield
    opened = HoldingsExplorer(details)
    for kind in ("status", "chart", "rows"):
        opened._handlers[kind]({})


@of_fetch
def clicks(wallets):
    """Draw each chart of the explorer once."""
    from walletframe.analysis.selection import Selection
    from walletframe.pickers.chart import CHARTS, ChartOptions, draw_chart
    from walletframe.pickers.data import ExplorerData

    details = read_details(wallets)
    valued = details._replace(holdings=details.holdings.assign(value=1.5))
    selected = ExplorerData(valued).select_holdings(Selection())
    yield
    for chart in CHARTS:
        draw_chart(selected, ChartOptions(chart))


@of_fetch
def rows(wallets):
    """Sort, find and group the rows of the explorer's table."""
    from walletframe.frames.positions import read_positions
    from walletframe.pickers.table import HoldingsTable

    details = read_details(wallets)
    positions = read_positions(details.holdings.assign(value=1.5), details.wallets)
    table = HoldingsTable(positions)
    known = {"table": table.answer_rows({})["table"]}
    yield
    for query in ({"sort": "amount"}, {"sort": "token"}, {"find": "t12 eth"}, {"by": "token"}):
        table.answer_rows(known | query)


def of_folder(name, call):
    """Register a measure of a table of a folder."""

    def measure(wallets):
        import walletframe as wf

        folder = f"folder-{len(wallets)}"
        wf.open_wallets(folder).wf.totals()
        yield
        call(wf.open_wallets(folder))

    FETCHED[name] = measure


of_folder("folder, totals", lambda stored: stored.wf.totals())
of_folder("folder, spam", lambda stored: stored.wf.flag_spam().wf.totals("is_spam"))
of_folder("folder, share", lambda stored: stored.wf.share(FIRST_TOKEN))


@of_fetch
def few_cached(wallets):
    """Read 14 wallets from the cache, with a client that has already read one."""
    from walletframe.client import Client

    with Client(base_url=BASE_URL, cache=Path("cache.sqlite")) as client:
        client.fetch(wallets[:1], offline=True)
        yield
        client.fetch(wallets[:14], offline=True)


@of_fetch
def few_totals(wallets):
    """Compute totals of 100 rows by token."""
    details = read_details(wallets[:1])
    yield
    details.wf.totals()


@of_fetch
def repr_of_details(wallets):
    """Make the repr of a fetch."""
    details = read_details(wallets)
    yield
    repr(details)


@of_amounts
def add_up(frame):
    """Compute the sum."""
    frame["amount"].sum()


@of_amounts
def groupby(frame):
    """Compute sums by token."""
    frame.groupby("token_address")["amount"].sum()


@of_amounts
def cumsum(frame):
    """Compute cumulative sums."""
    frame["amount"].cumsum()


@of_amounts
def greater(frame):
    """Compare with a number."""
    frame["amount"].gt(Decimal(1000))


@of_amounts
def merge(frame):
    """Merge by amount."""
    frame.merge(frame.head(len(frame) // 10), on="amount")


@of_amounts
def sort(frame):
    """Sort by amount."""
    frame.sort_values("amount")


@of_amounts
def factorize(frame):
    """Factorize amounts."""
    frame["amount"].factorize()


@of_amounts
def to_list(frame):
    """Convert to a list of Decimals."""
    frame["amount"].to_list()


@of_amounts
def to_text(frame):
    """Convert to a column of text."""
    frame["amount"].astype("str")


@of_amounts
def from_text(frame):
    """Read a list of text."""
    import pandas as pd

    texts = frame["text"].tolist()
    if frame["amount"].dtype == object:
        pd.Series(list(map(Decimal, texts)))
    else:
        pd.Series(texts, dtype="amount")


@of_amounts
def to_csv(frame):
    """Write CSV."""
    frame[["amount"]].to_csv(io.StringIO())


@of_amounts
def read_csv(frame):
    """Read CSV."""
    import pandas as pd

    is_object = frame["amount"].dtype == object
    how = {"converters": {"amount": Decimal}} if is_object else {"dtype": {"amount": "amount"}}
    pd.read_csv(f"amounts-{len(frame)}.csv", **how)


@of_amounts
def to_parquet(frame):
    """Write Parquet. The rival is a column of Arrow's decimal128."""
    frame[[{"object": "decimal128"}.get(str(frame["amount"].dtype), "amount")]].to_parquet(
        io.BytesIO()
    )


def rival(name):
    """Return the measure with which a measure is compared, or None."""
    return name + OF_DECIMALS if name in AMOUNTS else {"cached": CACHED_SESSION}.get(name)


def prepared(name, wallets):
    """Prepare a measure of these wallets, and return a function that runs the measure."""
    if name in FETCHED or name == CACHED_SESSION:
        measure = FETCHED.get(name, of_cached_session)(wallets)
        next(measure)
        return functools.partial(next, measure, None)
    frame = pickle.loads(
        Path("decimals.pickle" if OF_DECIMALS in name else "amounts.pickle").read_bytes()
    )
    return functools.partial(
        AMOUNTS[name.removesuffix(OF_DECIMALS)], frame.head(len(wallets) * TOKENS)
    )


def run_forks(names, jobs):
    """Run each measure in two forks, of which the first only prepares. Write their ids."""
    decimal.getcontext().prec = 200  # so that sums of Decimals are not rounded
    wallets = list(pickle.loads(Path("answers.pickle").read_bytes()))
    forks = {}
    for name in list(names):
        try:
            prepared(name, wallets[:SMALL])()
        except Exception as error:  # noqa: BLE001 - failures are reported after the other measures
            forks[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(1)
    gc.collect()
    running = failed = 0
    for name, only_prepare in itertools.product(names, (True, False)):
        if isinstance(forks.get(name), str):
            continue
        if running == jobs:
            failed += os.wait()[1] != 0
            running -= 1
        pid = os.fork()
        if not pid:
            run_fork(name, wallets, only_prepare=only_prepare)
        running += 1
        forks.setdefault(name, []).append(pid)
    failed += sum(os.wait()[1] != 0 for _ in range(running))
    if failed:
        sys.exit(f"{failed} forks failed")
    Path("forks.json").write_text(json.dumps(forks), encoding="utf-8")


def run_fork(name, wallets, *, only_prepare):
    """Run a measure on 500 wallets, and end this process."""
    try:
        work = prepared(name, wallets)
        gc.collect()  # otherwise, the count depends on the last collection
        if not only_prepare:
            work()
    except BaseException:  # noqa: BLE001 - on any error, the fork must end here
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def answers(wallets):
    """Return the answer of each wallet."""
    every = pickle.loads(Path("answers.pickle").read_bytes())
    return {wallet: every[wallet] for wallet in wallets}


def read_details(wallets):
    """Return the fetch of the first wallets, as many as `wallets`."""
    from walletframe import WalletDetails

    frames = pickle.loads(Path("details.pickle").read_bytes())
    rows = (len(wallets), len(wallets) * TOKENS)
    return WalletDetails(*(frame.head(count) for frame, count in zip(frames, rows, strict=True)))


def plain_url(wallet):
    """Return the URL of a wallet's answer."""
    return f"{BASE_URL}/wallets/details?address={wallet}"


def write_plain_cache(answers):
    """Write answers into a cache of requests-cache with default options."""
    from requests import Request
    from requests_cache import CachedRequest, CachedResponse, SQLiteCache

    cache = SQLiteCache("plain.sqlite")
    with cache.responses.bulk_commit():
        for wallet, content in answers.items():
            request = Request("GET", plain_url(wallet)).prepare()
            sent = CachedRequest.from_request(request)
            cache.responses[cache.create_key(request)] = CachedResponse(
                content=content, status_code=200, url=request.url, request=sent
            )
    cache.close()


def prepare():
    """Write the input of the measures into the working folder."""
    import pandas as pd
    import pyarrow as pa

    from walletframe import fetch_to_parquet
    from walletframe.address.lists import parse_wallets
    from walletframe.client import Client
    from walletframe.transport import AnswerStore, CachedAnswer

    rng = random.Random(20_260_101)
    tokens = [
        (
            {"blockchain": "ETH", "address": f"0x{rng.randrange(16**40):040x}", "symbol": f"T{n}"},
            rng.choice([6, 8, 18, 18, 18]),
        )
        for n in range(5_000)
    ]
    tokens[0][0]["address"] = FIRST_TOKEN[1]
    bodies = {}
    for _ in range(WALLETS):
        address = f"0x{rng.randrange(16**40):040x}"
        balances = [
            {
                "asset": asset,
                "amount": {"amount": str(rng.randrange(10**24)), "decimals": decimals},
                "price": 1.5,
            }
            for asset, decimals in [tokens[0], *rng.sample(tokens[1:], TOKENS - 1)]
        ]
        entry = {
            "failed": False,
            "blockChain": "ETH",
            "address": address,
            "balances": balances,
            "explorerUrl": f"https://etherscan.io/address/{address}",
        }
        bodies[f"ETH.{address}"] = json.dumps({"wallets": [entry]}, separators=(",", ":")).encode()
    now = datetime.now(UTC)
    kept = [(*parse_wallets(wallet), CachedAnswer(body, now)) for wallet, body in bodies.items()]
    with AnswerStore(Path("cache.sqlite"), BASE_URL) as store:
        store.write_answers(kept)
    with Client(base_url=BASE_URL, cache=Path("cache.sqlite")) as client:
        wallets, holdings = client.fetch(list(bodies), offline=True)
        for count in (SMALL, WALLETS):
            fetch_to_parquet(list(bodies)[:count], f"folder-{count}", client=client)
    write_plain_cache(bodies)
    Path("answers.pickle").write_bytes(pickle.dumps(bodies))
    Path("details.pickle").write_bytes(pickle.dumps((wallets, holdings)))
    amounts = holdings[["token_address", "amount"]].assign(text=holdings["amount"].astype("str"))
    amounts["text"] = amounts["text"].astype(object)
    decimals = amounts.assign(amount=pd.Series(amounts["amount"].array.to_decimal(), dtype=object))
    decimals["decimal128"] = decimals["amount"].astype(pd.ArrowDtype(pa.decimal128(38, 18)))
    Path("amounts.pickle").write_bytes(pickle.dumps(amounts))
    Path("decimals.pickle").write_bytes(pickle.dumps(decimals))
    for count in (SMALL * TOKENS, WALLETS * TOKENS):
        holdings[["amount"]].head(count).to_csv(f"amounts-{count}.csv", index=False)
    holdings.head(SMALL * TOKENS).wf.to_csv("small.csv")
    wallets.head(SMALL).wf.to_csv("small.wallets.csv")


def executed(folder, *command):
    """Run a command in a folder, and return its error output."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "WALLETFRAME_")
    kept = {name: each for name, each in os.environ.items() if not name.startswith(dropped)}
    own = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    own |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
    done = subprocess.run(
        command, cwd=folder, env=kept | own, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


def counted(folder, *arguments):
    """Run Python. Return the instruction counts of the process and its forks, by process id."""
    errors = executed(folder, *VALGRIND, sys.executable, *arguments)
    counts = re.findall(r"==(\d+)== I +refs: +([\d,]+)", errors)
    return {int(pid): int(count.replace(",", "")) for pid, count in counts}


def counted_process(folder, *arguments):
    """Run Python twice, first to write bytecode. Return the second instruction count."""
    executed(folder, sys.executable, *arguments)
    [count] = counted(folder, *arguments).values()
    return count


def counted_forks(folder, names, jobs):
    """Return the instruction count of each measure, or the text of its failure."""
    child = (__file__, "--forks", "--jobs", str(jobs), *names)
    executed(folder, sys.executable, *child)  # writes bytecode
    counts = counted(folder, *child)
    forks = json.loads((Path(folder) / "forks.json").read_text(encoding="utf-8"))
    return {
        name: each if isinstance(each, str) else counts[each[1]] - counts[each[0]]
        for name, each in forks.items()
    }


def other_versions():
    """Return the installed packages whose versions differ from those of the recorded figures."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", PINS.read_text(encoding="utf-8"), re.MULTILINE))
    installed = {each.name: each.version for each in importlib.metadata.distributions()}
    versions = {re.sub("[-_.]+", "-", name).lower(): each for name, each in installed.items()}
    others = [(name, versions.get(name)) for name, pin in pins.items() if versions.get(name) != pin]
    return [f"{name} {version}" for name, version in others]


def compare(names, jobs):
    """Measure, print a table, and return the ratios, and the measures that grew or failed."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        executed(folder, sys.executable, __file__, "--prepare")
        pandas = pool.submit(counted_process, folder, *PANDAS)
        whole = {
            name: pool.submit(counted_process, folder, *PROCESSES[name])
            for name in names
            if name in PROCESSES
        }
        counts = {name: each.result() for name, each in whole.items()}
        forks = [name for name in names if name not in PROCESSES]
        if forks := [*forks, *filter(None, map(rival, forks))]:
            counts |= counted_forks(folder, forks, jobs)
    result, grown, failed = {}, [], []
    print(f"{'measure':22}{'ratio':>8}{'recorded':>10}{'of rival':>10}  since")
    for name in names:
        count, before = counts[name], recorded.get(name, {})
        if isinstance(count, str):
            failed.append(name)
            print(f"{name:22}{'-':>8}{before.get('ratio', '-'):>10}{'':10}  {count}")
            continue
        ratio = float(f"{count / pandas.result():.4g}")
        result[name] = {"ratio": ratio}
        if other := rival(name):
            result[name]["of rival"] = float(f"{count / counts[other]:.3g}")
        if before and ratio > GROWTH * before["ratio"]:
            grown.append(name)
        print(
            f"{name:22}{ratio:8}{before.get('ratio', '-'):>10}"
            f"{result[name].get('of rival', ''):>10}  {before.get('since', '')}"
            f"{' (has grown)' if name in grown else ''}"
        )
    return result, grown, failed


def write(result, grown, feature):
    """Write the ratios. Measures that have grown or are new get the feature."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for name, each in result.items():
        since = feature if name in grown or name not in recorded else recorded[name]["since"]
        recorded[name] = each | {"since": since}
    RECORDED.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")


def main():
    """Run all measures, or those that are named in the arguments."""
    every = [*PROCESSES, *FETCHED, *AMOUNTS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(every)}")
    parser.add_argument("--write", metavar="FEATURE", nargs="?", const="0.1.0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--forks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare()
    elif options.forks:
        run_forks(options.names, options.jobs)
    else:
        if others := other_versions():
            parser.error(f"pip install -r {PINS}: other versions are {', '.join(others)}")
        result, grown, failed = compare(options.names or every, options.jobs)
        if failed:
            sys.exit(f"These measures did not run: {', '.join(failed)}")
        if options.write:
            write(result, grown, options.write)
        elif grown and (grown := compare(grown, options.jobs)[1]):
            sys.exit(f"More than 3 % more instructions than recorded: {', '.join(grown)}")


if __name__ == "__main__":
    main()
