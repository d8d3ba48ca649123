"""The scripts of the widgets: linted, tested in node, joined, and packed with the package."""

import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from walletframe.frames.assembly import assemble
from walletframe.pickers import FetchPanel, HoldingsExplorer, widget
from walletframe.pickers.page import join_css, join_js

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "walletframe" / "pickers" / "page"
MODULES = sorted(path.stem for path in PAGE.glob("*.js"))
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


def run(*words):
    """Run a tool on the repository and return its complaints."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_eslint_finds_nothing(npm):
    """No markup of data, no requests, no eval, short functions."""
    config = HERE / "eslint.config.js"
    assert run(npm / "eslint", "--config", config, "--max-warnings=0", PAGE, HERE) == ""


def test_scripts_are_formatted(npm):
    """Prettier decides the format."""
    words = ["--check", "--config", HERE / ".prettierrc", f"{PAGE}/*.js", f"{HERE}/*.js"]
    assert run(npm / "prettier", *words) == ""


def test_scripts_work_in_node(npm):
    """Tests of code without a page: order, windows, numbers, the keyboard's state."""
    assert run("node", "--test", *map(str, sorted(HERE.glob("*.test.js")))) == ""


def test_names_are_unique():
    """Modules are joined into one text, where each name is declared once."""
    texts = [(PAGE / f"{name}.js").read_text() for name in MODULES]
    names = Counter(name for text in texts for name in DECLARED.findall(text))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", MODULES)
def test_joined_scripts_import_nothing(name):
    """An imported module precedes its importers, and is there once."""
    joined = join_js(name)
    lines = joined.splitlines()
    assert not [line for line in lines if re.match(r"import\b|export (?!default)", line)]
    declared = DECLARED.findall(joined)
    assert len(declared) == len(set(declared))
    own = (PAGE / f"{name}.js").read_text()
    imported = re.findall(
        r"\w+", " ".join(re.findall(r"^import {(.*?)}", own, re.MULTILINE | re.DOTALL))
    )
    assert set(imported) <= set(declared)


def test_messages_are_in_one_table():
    """The table lists the scripts' messages, their files, and Python's handlers."""
    row = r"^(\w+) .*?  (\w+\.js(?:, \w+\.js)*|pushed) +`"
    table = re.findall(row, widget.__doc__, re.MULTILINE)
    requested = {
        (kind, path.name)
        for path in PAGE.glob("*.js")
        for kind in re.findall(r'\.(?:request|send)\(\s*[`"](\w+)', path.read_text())
    }
    assert {(kind, name) for kind, names in table for name in names.split(", ")} == {
        *requested,
        ("narrowed", "pushed"),
    }
    widgets = [FetchPanel(), HoldingsExplorer(assemble([]))]
    answered = {kind.split()[0] for each in widgets for kind in each._handlers}
    for each in widgets:
        each.close()
    assert answered == {kind for kind, _ in requested}


def test_styles_begin_with_the_theme():
    """Every colour is a variable of the theme."""
    assert join_css().startswith("/* Colours")
    for path in PAGE.glob("*.css"):
        if path.stem != "theme":
            assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(", path.read_text()) == []


def test_scripts_are_packed(tmp_path):
    """In the wheel and in the source archive."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    wanted = {f"walletframe/pickers/page/{path.name}" for path in PAGE.glob("*.[cj]s*")}
    [wheel], [source] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(source) as archive:
        assert wanted <= {name.partition("/")[2] for name in archive.getnames()}
