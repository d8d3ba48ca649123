"""The directive ``contract``: a table of what the package defines, and what the page says of it.

Its argument is where a contract is: columns and their dtypes, words of a column, or weights. Its
content has a line for each of these, ``name: meaning``; what is missing or too much is an error.
"""

from importlib import import_module
from typing import Any

import pandas as pd
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Contract(SphinxDirective):
    """Draw the table."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Compare what is said with what is defined, and draw both."""
        module, _, name = self.arguments[0].rpartition(".")
        kind, defined = _defined(getattr(import_module(module), name))
        said = dict(line.split(": ", 1) for line in self.content if line)
        if list(said) != list(defined):
            odd = sorted(said.keys() ^ defined.keys()) or "in another order"
            raise self.error(f"{self.arguments[0]} and what is said of it differ: {odd}")
        rows = [f"| `{name}` | {defined[name]} | {meaning} |" for name, meaning in said.items()]
        lines = [f"| {kind[0]} | {kind[1]} | meaning |", "|---|---|---|", *rows]
        if not any(defined.values()):
            lines = [line.replace("|  |", "|", 1) for line in lines]
            lines[:2] = [f"| {kind[0]} | meaning |", "|---|---|"]
        return self.parse_text_to_nodes("\n".join(lines))


def _defined(contract: Any) -> tuple[tuple[str, str], dict[str, str]]:
    """Give what the first two columns are, and their cells."""
    if isinstance(contract, pd.CategoricalDtype):
        return ("word", ""), dict.fromkeys(contract.categories, "")
    if isinstance(contract, dict) and isinstance(next(iter(contract.values())), tuple):
        return ("reason", "weight"), {name: f"{each[0]:g}" for name, each in contract.items()}
    if isinstance(contract, dict):
        return ("column", "dtype"), {name: f"`{dtype}`" for name, dtype in contract.items()}
    return ("word", ""), dict.fromkeys([each.value for each in contract], "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.add_directive("contract", Contract)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
