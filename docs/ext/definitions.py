"""The directive ``definitions``: a table of names that the package defines, with their meanings.

The argument is the dotted name of the definitions: a schema (columns and dtypes), the values of a
column, or reasons with weights. The content has one line per name, ``name: meaning``. A missing or
an unknown name is an error.
"""

from importlib import import_module
from typing import Any

import pandas as pd
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class DefinitionTable(SphinxDirective):
    """The table of the defined names and the meanings that the page states."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Check that the page explains all defined names, and return the table."""
        module, _, name = self.arguments[0].rpartition(".")
        headers, defined = _definitions(getattr(import_module(module), name))
        meanings = dict(line.split(": ", 1) for line in self.content if line)
        if list(meanings) != list(defined):
            difference = sorted(meanings.keys() ^ defined.keys()) or "the order"
            raise self.error(
                f"the page and the definitions in {self.arguments[0]} differ: {difference}"
            )
        rows = [f"| `{name}` | {defined[name]} | {text} |" for name, text in meanings.items()]
        lines = [f"| {headers[0]} | {headers[1]} | meaning |", "|---|---|---|", *rows]
        if not any(defined.values()):
            lines = [line.replace("|  |", "|", 1) for line in lines]
            lines[:2] = [f"| {headers[0]} | meaning |", "|---|---|"]
        return self.parse_text_to_nodes("\n".join(lines))


def _definitions(definitions: Any) -> tuple[tuple[str, str], dict[str, str]]:
    """Return the headers and the cells of the first two columns."""
    if isinstance(definitions, pd.CategoricalDtype):
        return ("value", ""), dict.fromkeys(definitions.categories, "")
    if isinstance(definitions, dict) and isinstance(next(iter(definitions.values())), tuple):
        return ("reason", "weight"), {name: f"{each[0]:g}" for name, each in definitions.items()}
    if isinstance(definitions, dict):
        return ("column", "dtype"), {name: f"`{dtype}`" for name, dtype in definitions.items()}
    return ("value", ""), dict.fromkeys([each.value for each in definitions], "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("definitions", DefinitionTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
