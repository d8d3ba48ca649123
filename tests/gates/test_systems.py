"""Differences of other systems, as far as they can be tested here."""

import ast
import os
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from addresses import base58, whole
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

import walletframe as wf

ROOT = Path(__file__).parents[2]
OPENING = {"open", "read_text", "write_text"}
NOT_ON_WINDOWS = re.compile(
    r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE
)


def misnamed(folder, paths):
    """Return the names that Windows refuses, and those that differ by case alone."""
    inner = [path.relative_to(folder) for path in paths]
    alike = Counter(str(path).casefold() for path in inner)
    return [
        str(path)
        for path in inner
        if alike[str(path).casefold()] > 1 or any(map(NOT_ON_WINDOWS.search, path.parts))
    ]


def test_files_of_the_repository_fit_any_system():
    """Their names work in a file system without case, and by Windows's rules."""
    result = chain(*((ROOT / name).rglob("*") for name in ("walletframe", "notebooks", "docs")))
    tests = [path for path in (ROOT / "tests").rglob("*") if "node_modules" not in path.parts]
    assert misnamed(ROOT, {*result, *tests}) == []


def test_written_files_fit_any_system(home):
    """Cache, rate limit, snapshots, a run into a folder, an export and a report."""
    with wf.sandbox() as service, service.client() as client:
        wallets = [f"ETH.{whole('AB')}", f"SOLANA.{base58('aB')}", f"SOLANA.{base58('Ab')}"]
        details = wf.fetch_wallets(wallets, client=client)
        wf.history.save(details, folder=home / "history")
        wf.history.save(details, folder=home / "history", at="2026-01-31T06:00:00Z")
        wf.fetch_to_parquet(wallets, home / "bulk", client=client)
    details.holdings.wf.to_csv(home / "holdings.csv")
    wf.report(details, home / "report.html")
    made = [*home.rglob("*")]
    assert len([path for path in made if path.is_file()]) >= 9
    assert misnamed(home, made) == []


@pytest.mark.parametrize("system", [Unix, MacOS, Windows])
def test_tests_leave_the_users_folders_alone(home, monkeypatch, system):
    """By the variables of each system, which a child inherits."""
    if system is Windows:  # it needs a drive
        monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", f"C:{os.environ['XDG_DATA_HOME']}")
    folders = system("walletframe")
    for path in (folders.user_cache_path, folders.user_data_path):
        assert home.as_posix() in path.as_posix()


def test_text_files_name_their_encoding():
    """The system's default is another one on Windows."""
    unnamed = []
    for path in Path(wf.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", None))
                arguments = [each.value for each in node.args if isinstance(each, ast.Constant)]
                is_binary = any(
                    re.fullmatch("[rwax+]+b[+]?|ascii", str(each)) for each in arguments
                )
                is_named = any(each.arg == "encoding" for each in node.keywords)
                is_low = ast.unparse(node.func) == "os.open"
                if name in OPENING and not (is_binary or is_named or is_low):
                    unnamed.append(f"{path.name}:{node.lineno}")
    assert unnamed == []
