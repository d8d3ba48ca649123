"""Count the instructions of what people wait for, as multiples of those of ``import pandas``.

Instructions hardly vary from run to run, on whatever else a machine is busy with, as seconds do.
Each measure is a process of its own under valgrind's cachegrind. Of the shell and of imports the
whole process counts; of anything else what it takes beyond a process that only prepares.

``python tests/benchmarks/instructions.py`` fails where a measure has grown by more than 3 % beyond
``instructions.json``; ``--write FEATURE`` writes the file, with the feature that a measure has
grown for. PYTHONPATH selects the tree that is measured.
"""

# ruff: noqa: PLC0415 - what counts, loads nothing of what is counted

import argparse
import functools
import importlib.metadata
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")
PINS = Path(__file__).parents[2] / ".ci" / "instructions.txt"
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
GROWTH = 1.03
WALLETS, TOKENS, SMALL = 500, 100, 5
BASE_URL = "https://api.example"
PANDAS = ("-c", "import pandas")
PROCESSES = {
    "import walletframe": ("-c", "import walletframe"),
    "walletframe --help": ("-m", "walletframe", "--help"),
    "walletframe settings": ("-m", "walletframe", "settings"),
    "walletframe totals": ("-m", "walletframe", "totals", "small.csv"),
}
FETCHED, AMOUNTS = {}, {}  # what is measured, by what prints its name


def of_fetch(function):
    """Register a measure of a fetch, which yields when it has prepared."""
    FETCHED[function.__name__] = function
    return function


def of_amounts(function):
    """Register a measure of a DataFrame of amounts, for which there is nothing to prepare."""
    AMOUNTS[function.__name__] = function
    return function


@of_fetch
def cached(wallets):
    """Read wallets from the cache, and assemble both frames."""
    from walletframe.client import Client

    with Client(base_url=BASE_URL, cache=Path("cache.sqlite")) as client:
        yield
        assert len(client.fetch(wallets, offline=True).holdings) == len(wallets) * TOKENS


@of_fetch
def decoded(wallets):
    """Decode answers."""
    from walletframe.address.lists import parse_wallets
    from walletframe.wire.answer import read_answer

    bodies = answers(wallets).values()
    asked = [[wallet] for wallet in parse_wallets(wallets)]
    yield
    for body, each in zip(bodies, asked, strict=True):
        read_answer(body, each)


@of_fetch
def totals(wallets):
    """Add up by token."""
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
    """Make a table of wallets by tokens."""
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
    """Leave out what looks like spam."""
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
def explorer(wallets):
    """Open the explorer, whose page asks for what it shows first."""
    from walletframe import HoldingsExplorer

    details = read_details(wallets)
    yield
    opened = HoldingsExplorer(details)
    for kind in ("status", "chart", "rows"):
        opened._handlers[kind]({})


@of_amounts
def groupby(frame):
    """Add up by token."""
    frame.groupby("token_address")["amount"].sum()


@of_amounts
def merge(frame):
    """Merge by amount."""
    frame.merge(frame.head(len(frame) // 10), on="amount")


@of_amounts
def sort(frame):
    """Sort by amount."""
    frame.sort_values("amount")


@of_amounts
def to_list(frame):
    """Make a list of Decimals."""
    frame["amount"].to_list()


@of_amounts
def to_csv(frame):
    """Write CSV."""
    frame[["amount"]].to_csv(io.StringIO())


@of_amounts
def read_csv(frame):
    """Read CSV."""
    import pandas as pd

    pd.read_csv(f"amounts-{len(frame)}.csv", dtype={"amount": "amount"})


def prepared(name, wallets):
    """Return a measure of some wallets that has prepared."""
    if name in FETCHED:
        measure = FETCHED[name](wallets)
        next(measure)
        return functools.partial(next, measure, None)
    holdings = read_details(wallets).holdings
    return functools.partial(AMOUNTS[name], holdings[["token_address", "amount"]])


def run(name, *, only_prepare):
    """Run a measure on little, so that all is loaded, and on 500 wallets."""
    wallets = list(pickle.loads(Path("answers.pickle").read_bytes()))
    prepared(name, wallets[:SMALL])()
    work = prepared(name, wallets)
    if not only_prepare:
        work()


def answers(wallets):
    """Return the answer of each wallet."""
    every = pickle.loads(Path("answers.pickle").read_bytes())
    return {wallet: every[wallet] for wallet in wallets}


def read_details(wallets):
    """Return a fetch of the first of the wallets."""
    from walletframe import WalletDetails

    frames = pickle.loads(Path("details.pickle").read_bytes())
    rows = (len(wallets), len(wallets) * TOKENS)
    return WalletDetails(*(frame.head(count) for frame, count in zip(frames, rows, strict=True)))


def prepare():
    """Write what the measures read into this folder."""
    from walletframe.address.lists import parse_wallets
    from walletframe.client import Client
    from walletframe.transport import AnswerStore, Kept

    rng = random.Random(20_260_101)
    tokens = [
        (
            {"blockchain": "ETH", "address": f"0x{rng.randrange(16**40):040x}", "symbol": f"T{n}"},
            rng.choice([6, 8, 18, 18, 18]),
        )
        for n in range(5_000)
    ]
    bodies = {}
    for _ in range(WALLETS):
        address = f"0x{rng.randrange(16**40):040x}"
        balances = [
            {
                "asset": asset,
                "amount": {"amount": str(rng.randrange(10**24)), "decimals": decimals},
                "price": 1.5,
            }
            for asset, decimals in rng.sample(tokens, TOKENS)
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
    kept = [(*parse_wallets(wallet), Kept(body, now)) for wallet, body in bodies.items()]
    with AnswerStore(Path("cache.sqlite"), BASE_URL) as store:
        store.write_many(kept)
    with Client(base_url=BASE_URL, cache=Path("cache.sqlite")) as client:
        wallets, holdings = client.fetch(list(bodies), offline=True)
    Path("answers.pickle").write_bytes(pickle.dumps(bodies))
    Path("details.pickle").write_bytes(pickle.dumps((wallets, holdings)))
    for rows in (SMALL * TOKENS, WALLETS * TOKENS):
        holdings[["amount"]].head(rows).to_csv(f"amounts-{rows}.csv", index=False)
    holdings.head(SMALL * TOKENS).wf.to_csv("small.csv")
    wallets.head(SMALL).wf.to_csv("small.wallets.csv")


class FailedError(Exception):
    """A measure that the measured tree can't run."""


def executed(folder, *command):
    """Run a command in the folder of what is measured; return what it wrote as errors."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "WALLETFRAME_")
    kept = {name: each for name, each in os.environ.items() if not name.startswith(dropped)}
    own = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    own |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
    done = subprocess.run(
        command, cwd=folder, env=kept | own, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FailedError((done.stderr.strip() or "failed").splitlines()[-1])
    return done.stderr


def counted(folder, *arguments):
    """Return the instructions of Python with some arguments."""
    executed(folder, sys.executable, *arguments)  # writes bytecode
    errors = executed(folder, *VALGRIND, sys.executable, *arguments)
    [count] = re.findall(r"I +refs: +([\d,]+)", errors)
    return int(count.replace(",", ""))


def measured(folder, name):
    """Return the instructions of a measure; or, as text, why it does not run."""
    try:
        if name in PROCESSES:
            return counted(folder, *PROCESSES[name])
        child = (__file__, "--run", name)
        return counted(folder, *child) - counted(folder, *child, "--only-prepare")
    except FailedError as error:
        return str(error)


def other_versions():
    """Return which installed packages have another version than the figures were made with."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", PINS.read_text(encoding="utf-8"), re.MULTILINE))
    installed = {each.name: each.version for each in importlib.metadata.distributions()}
    versions = {re.sub("[-_.]+", "-", name).lower(): each for name, each in installed.items()}
    others = [(name, versions.get(name)) for name, pin in pins.items() if versions.get(name) != pin]
    return [f"{name} {version}" for name, version in others]


def compare(names, jobs):
    """Measure, print a table, and return the ratios and which have grown."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    ratios, grown = {}, []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        executed(folder, sys.executable, __file__, "--prepare")
        pandas = pool.submit(counted, folder, *PANDAS)
        counts = pool.map(functools.partial(measured, folder), names)
        print(f"{'measure':22}{'ratio':>8}{'recorded':>10}  since", flush=True)
        for name, count in zip(names, counts, strict=True):
            before = recorded.get(name, {})
            if isinstance(count, str):
                print(f"{name:22}{'-':>8}{before.get('ratio', '-'):>10}  {count}", flush=True)
                continue
            ratios[name] = ratio = float(f"{count / pandas.result():.4g}")
            if before and ratio > GROWTH * before["ratio"]:
                grown.append(name)
            print(
                f"{name:22}{ratio:8}{before.get('ratio', '-'):>10}  {before.get('since', '')}"
                f"{' (has grown)' if name in grown else ''}",
                flush=True,
            )
    return ratios, grown


def write(ratios, grown, feature):
    """Write the ratios, with the feature for those that have grown or are new."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for name, ratio in ratios.items():
        since = feature if name in grown or name not in recorded else recorded[name]["since"]
        recorded[name] = {"ratio": ratio, "since": since}
    RECORDED.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")


def main():
    """Measure all, or what is named."""
    every = [*PROCESSES, *FETCHED, *AMOUNTS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(every)}")
    parser.add_argument("--write", metavar="FEATURE", nargs="?", const="0.1.0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--only-prepare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare()
    elif options.run:
        run(options.run, only_prepare=options.only_prepare)
    else:
        if others := other_versions():
            parser.error(f"pip install -r {PINS}: other versions are {', '.join(others)}")
        ratios, grown = compare(options.names or every, options.jobs)
        if options.write:
            write(ratios, grown, options.write)
        elif grown:
            sys.exit(f"More than 3 % more instructions than recorded: {', '.join(grown)}")


if __name__ == "__main__":
    main()
