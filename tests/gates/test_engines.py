"""The how-to page's code for Spark and Ray, which .ci/engines installs: half a gigabyte."""

import json
import os
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pytest
from test_gates import ENGINES, ROOT, engine_of, python_of

import walletframe as wf
from walletframe.service import SHOWCASE

pytestmark = pytest.mark.engines

BLOCKS = {engine_of(block): block for block in python_of(ROOT / "docs" / "howto" / "cluster.md")}
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
PRINTED_SUMS = """
import json
found = [list(row.values() if isinstance(row, dict) else row) for row in rows]
print(json.dumps(found, default=str))
"""


@pytest.fixture
def exact(tmp_path, client):
    """Write two shards; return each contract's sum of rounded decimals of 38 digits, or None."""
    shards = [tmp_path / "bulk" / f"shard-{number}" for number in range(2)]
    for number, shard in enumerate(shards):
        wf.fetch_to_parquet(SHOWCASE[number::2], shard, client=client, on_failure="ignore")
    holdings = pd.concat(wf.read_wallets(shard).holdings for shard in shards)
    holdings["amount"] = holdings["amount"].round(18)
    holdings["contract"] = holdings["token_address"].fillna("")
    held = holdings["amount"].astype("str").str.fullmatch(r"\d{1,20}(\.\d{1,18})?")
    sums = holdings[held].groupby("contract")["amount"].sum().astype("str")
    return {name: sums.get(name) for name in holdings["contract"]}


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_are_summed_exactly(engine, exact, tmp_path):
    """An engine's sums equal ours; amounts that no decimal holds are in none of them."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[engine] + PRINTED_SUMS],
        cwd=tmp_path,
        env=os.environ | LOCAL | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert None in exact.values()
    assert {name or "": total and Decimal(total) for name, total in result} == {
        name: total and Decimal(total) for name, total in exact.items()
    }
