"""The front end of the widgets: modules and style sheets, joined into texts for anywidget."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import [^;]*? from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


@cache
def script(*names: str) -> str:
    """Join modules and their imports, imports first; names must be unique across modules."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in joined:
            text = _text(f"{name}.js")
            for imported in _IMPORT.findall(text):
                add(imported)
            joined[name] = _EXPORT.sub("", _IMPORT.sub("", text)).strip()

    for name in names:
        add(name)
    return "\n\n".join(joined.values()) + "\n"


@cache
def styles(*names: str) -> str:
    """Join style sheets, after that of the theme."""
    return "\n".join(_text(f"{name}.css") for name in ("theme", *names))


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
