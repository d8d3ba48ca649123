"""A type checker's messages for users of the package."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import walletframe as wf
from walletframe.settings.sources import TABLE_SETTINGS
from walletframe.settings.tables import TableDefaults
from walletframe.settings.values import SettingsKwargs

ROOT = Path(__file__).parents[2]
SCRIPT = """
import pandas as pd
import walletframe as wf
from walletframe.amounts.scalar import Amount
from walletframe.pickers import BlockchainPicker, FetchPanel, HoldingsExplorer, TokenPicker

column = wf.AmountArray.from_raw([1, 2], 0)
reveal_type(column == 1)  # BooleanArray
reveal_type(column <= 1)  # BooleanArray
reveal_type(column + 1)  # AmountArray
reveal_type(1 - column)  # AmountArray
reveal_type(column.mean())  # float64
reveal_type(Amount("1") + 1)  # Amount
reveal_type(sum([Amount("1")]))  # Amount | Literal[0]
reveal_type(Amount("1") / 2)  # float
frame = wf.FrameAccessor(pd.DataFrame())
reveal_type(frame.totals())  # DataFrame
reveal_type(frame.where(owner="Ada", spam=False))  # DataFrame
reveal_type(wf.SeriesAccessor(pd.Series(["1"], dtype="amount")).top())  # Series[Any]
try:
    reveal_type(wf.fetch_wallets("NEAR.alice.near"))  # WalletDetails
except wf.errors.FetchError as error:
    reveal_type(error.details)  # DetailsOrSummary
    reveal_type(error.hint)  # str
panel = FetchPanel()
reveal_type(panel.value)  # tuple[str, ...]
panel.value = ["NEAR.alice.near"]
reveal_type(panel.details)  # WalletDetails
reveal_type(HoldingsExplorer(panel.details).details)  # WalletDetails | Any
reveal_type(BlockchainPicker("ETH").value)  # tuple[str, ...]
reveal_type(TokenPicker(panel.details).value)  # tuple[tuple[str, str | None], ...]
BlockchainPicker("ETH").value = [1]  # List item 0 has incompatible type "int"
wf.configure(workers=4, key_kind="private")
frame.totols()  # "FrameAccessor" has no attribute "totols"
frame.totals(bi="token")  # Unexpected keyword argument "bi"
frame.where(spam="no")  # Argument "spam" has incompatible type "str"
column + 1.5  # Unsupported operand types for + ("AmountArray" and "float")
wf.configure(worker=4)  # Unexpected keyword argument "worker" for "configure"
wf.configure(workers="4")  # Argument "workers" to "configure" has incompatible type "str"
wf.Client(key_kind="secret")  # Argument "key_kind" to "Client" has incompatible type
"""

pytestmark = pytest.mark.timeout(600)  # mypy without a cache, on a busy machine


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Run mypy, strict, once: on the package and on a script of a user's."""
    script = tmp_path_factory.mktemp("typed") / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "walletframe", script]
    result = subprocess.run(mypy, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.stderr == ""
    return result.stdout.splitlines()[:-1]  # the last one counts


@pytest.mark.system
def test_types_are_strict(lines):
    """There is no message about the package."""
    assert [line for line in lines if "script.py:" not in line] == []


@pytest.mark.system
def test_every_public_name_has_a_type(npm, tmp_path, monkeypatch):
    """Pyright counts them, apart from untyped ones of other packages."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}", prepend=os.pathsep)  # its Python
    pyright = [npm / "pyright", "--verifytypes", "walletframe", "--ignoreexternal", "--outputjson"]
    result = subprocess.run(pyright, capture_output=True, text=True, check=False, cwd=tmp_path)
    report = json.loads(result.stdout)["typeCompleteness"]
    untyped = [each["name"] for each in report["symbols"] if not each["isTypeKnown"]]
    assert (report["completenessScore"], untyped) == (1, []), result.stdout
    assert len(report["symbols"]) > 1_000  # it found the package


@pytest.mark.system
def test_pyright_refuses_a_wrong_keyword_of_a_delegate(npm, tmp_path, monkeypatch):
    """Both checkers do, though neither sees a signature there."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}", prepend=os.pathsep)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [npm / "pyright", "--outputjson", script]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    messages = [each["message"] for each in json.loads(result.stdout)["generalDiagnostics"]]
    assert 'No parameter named "bi"' in messages


@pytest.mark.system
def test_a_checker_reveals_types_and_mistakes(lines):
    """Operators, accessors, errors and settings, in a script of a user's."""
    texts = re.findall(r"script.py:(\d+): (?:error|note): (.*)", "\n".join(lines))
    revealed = {}
    for number, text in texts:
        short = re.sub(r'Revealed type is "(.*)"', r"\1", text)
        short = re.sub(r"tuple\[.*?, fallback=(.*?)\]", r"\1", short)
        revealed.setdefault(int(number), re.sub(r"[a-z_]+\.(?=\w)", "", short))
    expected = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(SCRIPT.splitlines(), 1)
        if "  # " in line
    }
    assert {number: revealed[number][: len(text)] for number, text in expected.items()} == expected
    assert revealed.keys() == expected.keys()


def test_settings_as_keywords_are_the_settings():
    """A checker accepts the keywords of `Settings` for `configure`."""
    taken = inspect.signature(wf.Settings).parameters
    assert {*get_type_hints(SettingsKwargs), "unknown"} == taken.keys()
    configured = inspect.signature(wf.configure).parameters
    assert configured.keys() - taken.keys() == {*TABLE_SETTINGS}
    assert TableDefaults._fields == TABLE_SETTINGS
