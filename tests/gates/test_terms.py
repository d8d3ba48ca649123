"""The words of docstrings, names and messages: a first check, which readers complete."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(ROOT.glob("walletframe/**/*.py")) + sorted(ROOT.glob("tests/**/*.py"))
FIRST_WORDS = {"Be", "Do", "Give", "Have", "Leave", "Let", "Put", "Say", "Tell"}
NAME_PARTS = {
    "anew": "the verb",
    "crowded": "locked",
    "shelf": "store",
    "spelled": "normalized",
    "stranger": "untrusted",
    "strangers": "untrusted",
    "told": "the thing: options, message, warnings",
    "ways": "spellings",
    "whom": "the noun",
}
PHRASES = {
    r"can't be (?:\{|')": "name={value!r} is not supported",
    r"\bkeeps? the pace\b": "the rate limit",
    r"\bbase address": "base URL",
    r"\bsuch as are\b": "the noun",
    r"\bwas to be had\b": "was available",
    r"\bnobody had\b|\bwhoever\b": "the noun",
    r"\bdisarm": "escape",
}


@cache
def syntax(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def docstrings(path):
    """Return the docstrings of a module, with their lines."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(syntax(path)) if isinstance(node, kinds)]
    return [
        (getattr(node, "lineno", 1), text) for node in nodes if (text := ast.get_docstring(node))
    ]


def names(path):
    """Return the names that a module defines, with their lines."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def place(path, line):
    """Return where a finding is."""
    return f"{path.relative_to(ROOT)}:{line}"


def test_docstrings_begin_with_the_usual_verbs():
    """*Return*, *Read*, *Count* or a noun, not *Give*, *Tell* or *Let*."""
    found = [
        f"{place(path, line)}: {text.splitlines()[0]}"
        for path in SOURCES
        for line, text in docstrings(path)
        if text.split(maxsplit=1)[0] in FIRST_WORDS
    ]
    assert found == []


def test_names_are_the_fields_terms():
    """No name contains a word of the glossary's left column."""
    found = [
        f"{place(path, line)}: {name}: {NAME_PARTS[part.lower()]}"
        for path in SOURCES
        for line, name in names(path)
        for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", name)
        if part.lower() in NAME_PARTS
    ]
    assert found == []


@pytest.mark.parametrize("phrase,instead", PHRASES.items())
def test_texts_avoid(phrase, instead):
    """Phrases over which readers stumbled are in no code and on no page."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]
    pages += ROOT.glob("notebooks/*.ipynb")
    for suffix in ("py", "toml", "json"):
        pages += ROOT.glob(f"walletframe/**/*.{suffix}")
    found = [
        f"{place(path, number)}: {line.strip()}"
        for path in pages
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(phrase, line)
    ]
    assert found == [], instead
