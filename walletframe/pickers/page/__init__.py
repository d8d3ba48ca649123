"""The widgets' front end: modules joined into one text, and style sheets into another."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import [^;]*? from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


@cache
def join_js(*names: str) -> str:
    """Join modules and their imports, imports first. Top-level names must be unique."""
    joined: dict[str, str] = {}

    def add_module(name: str) -> None:
        if name not in joined:
            text = _read_text(f"{name}.js")
            for imported in _IMPORT.findall(text):
                add_module(imported)
            joined[name] = _EXPORT.sub("", _IMPORT.sub("", text)).strip()

    for name in names:
        add_module(name)
    return "\n\n".join(joined.values()) + "\n"


@cache
def join_css(*names: str) -> str:
    """Join the theme and other style sheets."""
    return "\n".join(_read_text(f"{name}.css") for name in ("theme", *names))


def _read_text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
