"""What is left of an explorer in a saved notebook: HTML and text, written by Python.

A page without a kernel shows it: GitHub, nbconvert, a notebook that is opened again. It has no
script, no picture and hardly a style, since such pages take these away; bars are letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from IPython.display import publish_display_data

from walletframe.frames import (
    given_names,
    holdings_table,
    summary_html,
    summary_lines,
    table_html,
    token_names,
    wallet_names,
)
from walletframe.frames.display import without_mathematics
from walletframe.frames.plain import table_text
from walletframe.frames.tables import Cell, Table
from walletframe.numerals import money, percent
from walletframe.pickers.summary import dust_words, spam_words, summarize
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt
    import pandas as pd

    from walletframe.frames import Codes
    from walletframe.pickers.portfolio import Selected

    Sizes = npt.NDArray[np.float64]
    Names = Callable[[Codes], list[str]]

_LARGEST, _ROWS, _WIDE, _LINE = 8, 10, 20, 200
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_CHILD = ".jp-OutputArea-child"
_VIEW = '[data-mime-type="application/vnd.jupyter.widget-view+json"]'
# JupyterLab shows a widget's view wherever an output has one, and "model not found" where its
# kernel is gone, whatever else the output has. So the saved form is an output of its own, before
# that of the view; of the two the page shows the one that is alive.
_ONE_OF_TWO = f"""<style>
{_CHILD}:has(.wf-saved):has(+ {_CHILD} .wf-live),
{_CHILD}:has(.wf-saved) + {_CHILD}:has({_VIEW}):not(:has(.wf-live)) {{ display: none !important }}
</style>"""
_AGAIN = "Run the cell again for the explorer itself."


@dataclass(frozen=True, slots=True)
class Saved:
    """What is seen without a kernel; texts are as strangers may have written them."""

    line: str  # what it is worth; empty where nothing is valued
    more: tuple[str, ...]
    tables: tuple[Table, ...]
    selected: Selected

    def html(self) -> str:
        """Write it as HTML."""
        strong = f"<div><strong>{as_html(self.line, _LINE)}</strong></div>" if self.line else ""
        lines = [f"<div>{as_html(line, _LINE)}</div>" for line in self.more]
        summary = summary_html(self.selected.wallets, self.selected.held.holdings)
        tables = [table_html(table) for table in self.tables if table.total]
        parts = [strong, *lines, summary, *tables, f"<div><em>{_AGAIN}</em></div>"]
        return without_mathematics(f'<div class="wf-saved">{"".join(parts)}</div>')

    def text(self) -> str:
        """Write it as plain text."""
        summary = summary_lines(self.selected.wallets, self.selected.held.holdings)
        tables = [f"{table.name}\n{table_text(table)}" for table in self.tables if table.total]
        lines = [*[self.line] * bool(self.line), *self.more, *summary]
        return "\n\n".join(["\n".join(lines), *tables])


def saved(selected: Selected) -> Saved:
    """Write down what matters of what is selected: what it is worth, and the largest of it."""
    summary, held, names = summarize(selected), selected.held, selected.wallets
    folded = "" if selected.selection.dust else dust_words(selected)
    more = (spam_words(selected), folded, summary.unpriced)
    sizes, unit = np.ones(len(held.holdings)), "balances"
    if selected.portfolio.row_values is not None:
        sizes = held.holdings["value"].to_numpy(np.float64, na_value=np.nan)
        sizes, unit = np.where(sizes > 0, sizes, 0), "value"
    largest = np.argsort(-sizes, kind="stable")[:_ROWS]
    rows = holdings_table(held.holdings.iloc[largest], wallets=names)
    wallets = partial(wallet_names, held.wallets, names=given_names(held.wallets, names))
    tokens = partial(token_names, held.holdings, held.tokens)
    bars = [
        _bars("wallets", held.wallet_codes, sizes, wallets, unit),
        _bars("tokens", held.tokens.codes, sizes, tokens, unit),
    ]
    return Saved(
        line=f"{summary.value} at {summary.prices}" if summary.value and summary.prices else "",
        more=tuple(part for part in more if part),
        tables=(*bars, Table("balances", rows.columns, len(held.holdings))),
        selected=selected,
    )


def _bars(name: str, codes: Codes, sizes: Sizes, names: Names, unit: str) -> Table:
    """Show the largest, each with a bar and its share of all."""
    sums = np.bincount(codes, sizes)
    held = int((sums > 0).sum())
    places = np.argsort(-sums, kind="stable")[: min(_LARGEST, held)]
    top, total, largest = float(sums.max(initial=0)), float(sums.sum()), sums[places].tolist()
    texts = {
        name.removesuffix("s"): names(places),
        unit: [money(size) if unit == "value" else f"{size:,.0f}" for size in largest],
        "share": [percent(size / total) for size in largest],
        "": [_bar(size / top) for size in largest],  # last: a narrow page cuts them, not numbers
    }
    return Table(name, {head: [Cell(each) for each in texts[head]] for head in texts}, held)


def _bar(share: float) -> str:
    """Draw a bar of letters, to an eighth of one."""
    whole, rest = divmod(round(share * _WIDE * 8), 8)
    return "█" * whole + _EIGHTHS[rest].strip()


def show_stored(wallets: pd.DataFrame, bundle: Any) -> None:
    """Show a widget behind what is known of a folder before it is read."""
    lines, (data, metadata) = [*summary_lines(wallets), _AGAIN], bundle
    divs = "".join(f"<div>{as_html(line, _LINE)}</div>" for line in lines)
    html = f'{_ONE_OF_TWO}<div class="wf-saved">{divs}</div>'
    publish_display_data({"text/html": html, "text/plain": "\n".join(lines)})
    publish_display_data(data, metadata)


def show_saved(selected: Selected, bundle: Any) -> None:
    """Show a widget, as its ``_repr_mimebundle_`` gives it, behind what stands in for it."""
    found, (data, metadata) = saved(selected), bundle
    publish_display_data({"text/html": _ONE_OF_TWO + found.html(), "text/plain": found.text()})
    publish_display_data(data, metadata)
