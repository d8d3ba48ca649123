"""The display of tables, and result tables with notes about their coverage.

Tables are displayed as in pandas, with values as money. Result tables round amounts to six digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pandas import get_option
from pandas.api.types import is_float_dtype
from pandas.io.formats.format import (  # type: ignore[attr-defined]  # missing in pandas-stubs
    get_dataframe_repr_params,
)

from walletframe.amounts import AmountDtype
from walletframe.frames.extra_columns import RESULT_COLUMNS
from walletframe.frames.names import user_wallet_names
from walletframe.numerals import counted_noun, money, plain_number, six_digit_text, stale_message
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.frames.positions import Positions

COVERAGE: Final = "coverage"
"""The key of the coverage in the ``attrs`` of a table."""
_ANSWERS = ["amount", "share", "value", "currency"]
_COUNTS = ["contracts", "blockchains", "balances"]
_GAPS = ["amount_na", "unpriced", "wallets_stale"]
_COMPLETENESS = ["wallets_ok", "wallets_asked"]
CHANGE_COLUMNS: Final = ("difference", "from_prices", "from_amounts")
_MONEY = ["value", "before", "after", *CHANGE_COLUMNS]
_FORMATTERS: dict[Any, Callable[[Any], str]] = {"price": plain_number, "unit_price": plain_number}
_FORMATTERS |= dict.fromkeys(_MONEY, money)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts of the wallets and balances that a table includes or leaves out.

    ``str(coverage)`` summarizes omitted wallets and balances in one line.

    Parameters
    ----------
    wallets_asked : int
        The number of requested wallets, or 0 if `wallets` was not passed. In a table of one token
        or asset, or of selected tokens, only wallets that could hold one of them are counted.
    wallets_ok : int
        The number of requested wallets with known balances in all snapshots.
    wallets_stale : int
        The number of requested wallets with an out-of-date answer in any snapshot.
    balances : int
        The number of counted balances, including balances of unknown amount.
    amount_na : int
        The number of balances with an unknown amount.
    unpriced : int
        The number of balances with a known amount, but no value.
    filtered : int
        The number of dropped balances, such as spam. Unknown tokens that a selection drops are not
        included.
    filtered_reasons : str
        What `without_spam` and `where` dropped, such as ``16 spam balances (930.00 USD)``. Empty if
        rows were dropped in another way.
    bridged : int
        For a table of one asset, the number of held bridged versions that the table leaves out.
    bridged_amount : str
        The exact sum of the known amounts of these bridged versions; empty for several snapshots.
        For `compare`, the sum in `after`.
    bridged_before : str
        For `compare`, the sum of these bridged versions in `before`; empty for all other tables.
    stale_unknown : int
        For `compare` and `total_timeline`, the number of wallets that count as unknown because the
        answer is out of date.
    unknown_tokens : int
        For a table of one token or asset, and for `total_timeline`, the number of balances of
        unknown tokens. Such a balance may be of any token.
    bridged_separate : int
        For a table of all assets, the number of bridged versions in separate rows or columns.
    selected : str
        The conditions of `where` that selected these rows, such as ``owner='Ada'``; empty if none.
    beyond_limit : int
        The number of balances that the limit `n` of `pivot` or `top` leaves out.
    partial_cells : int
        The number of cells of `pivot` whose amount may be too low, since a wallet or a balance is
        unknown.
    omitted_rows : int
        The number of rows that `top` leaves out. For `totals`, `beyond_limit` counts balances.
    unknown_once : str
        For `compare`, the balances above 0 that are known at only one time, such as ``2 balances
        of 1 wallet``. Differences exclude these balances. Empty if there are none.
    not_compared : str
        The wallets and balances that `compare_values` does not compare, and why; empty if none.
    unfinished : str
        The wallets that an unfinished fetch lacks, such as ``1,873 of 2,000 wallets``; empty if
        none.
    prices : str
        The number of tokens from each source of prices, such as ``mine.csv for 2 tokens, the
        service for 118 tokens``. Empty unless a list of sources was passed.
    as_of : str
        The time of the oldest answer, such as ``2026-01-31 05:59 UTC``; empty if unknown.
    snapshots : int
        The number of snapshots whose balances are counted together, usually 1.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near"])
    >>> print(details.wf.coverage())
    All 4 balances of 1 wallet are counted. As of ... UTC.
    >>> len(details.wf.coverage().sentences())
    2
    """

    wallets_asked: int
    wallets_ok: int
    wallets_stale: int
    balances: int
    amount_na: int
    unpriced: int
    filtered: int
    filtered_reasons: str = ""
    bridged: int = 0
    bridged_amount: str = "0"
    bridged_before: str = ""
    stale_unknown: int = 0
    unknown_tokens: int = 0
    bridged_separate: int = 0
    selected: str = ""
    beyond_limit: int = 0
    partial_cells: int = 0
    omitted_rows: int = 0
    unknown_once: str = ""
    not_compared: str = ""
    unfinished: str = ""
    prices: str = ""
    as_of: str = ""
    snapshots: int = 1

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the sentences of the summary.

        Returns
        -------
        list of str
            Sentences about the selection, about what is not counted or not compared, and about the
            time and the prices.
        """
        times = f" at {self.snapshots:,} times" * (self.snapshots > 1)
        wallets = counted_noun(self.wallets_asked, "wallet") + times
        counted = f"All {counted_noun(self.balances, 'balance')} of {wallets} are counted."
        counted = f"The only balance of {wallets} is counted." if self.balances == 1 else counted
        sentences = [f"Selected: {self.selected}."] * bool(self.selected)
        not_counted = self.not_counted
        if not_counted or not self.not_compared:
            sentences.append(f"Not counted: {not_counted}." if not_counted else counted)
        sentences += [f"Not compared: {self.not_compared}."] * bool(self.not_compared)
        if self.partial_cells:
            cells = counted_noun(self.partial_cells, "cell")
            sentences.append(f"{cells} may be larger, since a wallet or a balance is unknown.")
        if self.wallets_stale:
            sentences.append(f"{stale_message(self.wallets_stale)}.")
        if self.as_of:
            sentences.append(f"As of {self.as_of}.")
        sentences += [f"Prices: {self.prices}."] * bool(self.prices)
        if self.bridged_separate:
            versions, is_one = bridged_text(self.bridged_separate), self.bridged_separate == 1
            verb, adds = ("is", "it to its asset") if is_one else ("are", "them to their assets")
            sentences.append(f"{versions} {verb} listed separately (bridged=True adds {adds}).")
        return sentences

    @property
    def not_counted(self) -> str:
        """What is not counted, such as ``1 of 3 wallets unknown``; empty if all is counted."""
        unknown, unpriced = self.wallets_asked - self.wallets_ok, self.unpriced
        if self.not_compared:
            unknown = unpriced = 0
        wallets = counted_noun(self.wallets_asked, "wallet")
        tokens = counted_noun(self.unknown_tokens, "balance")
        stale = f" ({self.stale_unknown:,} with an older answer)" * bool(self.stale_unknown)
        bridged = bridged_text(self.bridged, self.bridged_amount, self.bridged_before)
        summed = self.unknown_tokens, self.amount_na, unpriced, self.filtered
        times = " at some times" * (self.snapshots > 1)
        together = f" at {self.snapshots:,} times together" * bool(times and any(summed))
        left_out = {
            f"{self.unfinished} not fetched yet (the fetch has not finished)": self.unfinished,
            f"{bridged} (bridged=True)": self.bridged,
            f"{unknown:,} of {wallets} unknown{times}{stale}": unknown,
            f"{tokens} whose token is unknown": self.unknown_tokens,
            f"{self.unknown_once} not known at both times": self.unknown_once,
            f"{counted_noun(self.amount_na, 'balance')} of unknown amount": self.amount_na,
            f"the value of {counted_noun(unpriced, 'balance')} without a price": unpriced,
            self.filtered_reasons or counted_noun(self.filtered, "dropped balance"): self.filtered,
            f"{counted_noun(self.beyond_limit, 'balance')} beyond the limit": self.beyond_limit,
            f"{counted_noun(self.omitted_rows, 'row')} beyond the limit": self.omitted_rows,
            "failed wallets, if any (pass wallets=…)": self.balances and not self.wallets_asked,
        }
        parts = [text for text, count in left_out.items() if count]
        return f"{'; '.join(parts)}{together}" if parts else ""


def bridged_text(versions: int, amount: str = "", before: str = "") -> str:
    """Return a text such as ``1,200.5 in 2 bridged versions``. Omit empty amounts."""
    text = counted_noun(versions, "bridged version")
    sums = [six_digit_text(Decimal(each)) for each in (before, amount) if each]
    return f"{' before and '.join(sums)}{' after' * (len(sums) > 1)} in {text}" if sums else text


class ResultTable(pd.DataFrame):
    """A DataFrame whose display omits some columns, adds wallet names, and has notes below.

    All operations return plain DataFrames. After rows are added or dropped in place, the table is
    displayed as a plain DataFrame.
    """

    _named_wallets: pd.DataFrame | None = None  # the frame that contains the names of wallets

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        return frame_text(self)

    def _repr_html_(self) -> str | None:
        return frame_html(self)


def frame_html(frame: Any) -> str | None:
    """Return the notebook HTML of a frame or a Styler."""
    displayed, formatters, notes = _prepare_display(frame)
    html: str | None
    if not formatters or not get_option("display.notebook_repr_html"):
        html = displayed._repr_html_()
    else:
        maximum, minimum = get_option("display.max_rows"), get_option("display.min_rows")
        html = displayed.to_html(
            formatters=[*map(formatters.get, displayed)],
            notebook=True,
            max_rows=minimum if maximum and minimum and len(frame) > maximum else maximum,
            max_cols=get_option("display.max_columns"),
            show_dimensions=get_option("display.show_dimensions"),
        )
    return html and html + "".join(f"<p>{note}</p>" for note in notes if note)


def frame_text(frame: Any) -> str:
    """Return the text of a frame for a terminal."""
    displayed, formatters, notes = _prepare_display(frame)
    params = get_dataframe_repr_params()
    if notes and displayed.columns.name is None:
        params["max_cols"] = params["max_cols"] or None  # pandas would omit columns for 0
    if formatters or (notes and get_option("display.large_repr") == "truncate"):
        by_column = [*map(formatters.get, displayed)]  # pandas 2 misplaces the formatters of a dict
        text = displayed.to_string(formatters=by_column, **params)
    else:
        text = repr(displayed)
    return "\n".join([text, "", *filter(None, notes)]) if notes else text


def _prepare_display(frame: Any) -> tuple[Any, dict[Any, Callable[[Any], str]], list[str]]:
    """Return the displayed columns, their formatters, and the notes below the table."""
    if not isinstance(frame, ResultTable):
        return frame, _formatters(frame), []
    table = pd.DataFrame(frame)
    is_changed = frame.attrs.get(COVERAGE, {}).get("rows") != len(frame)
    if is_changed or table.columns.nlevels > 1 or not table.columns.is_unique:
        return table, _formatters(table), []
    table = _add_wallet_names(table, frame._named_wallets)  # noqa: SLF001 - our own class
    formatters = _formatters(table, amounts=six_digit_text)
    hidden = []
    if table.columns.name is None:  # otherwise the columns are tokens or assets
        hidden = [name for name in _COUNTS if name in table]
        hidden += [name for name in _GAPS if name in table and not table[name].any()]
    if {*_COMPLETENESS} <= {*table.columns}:
        counts = table[_COMPLETENESS].drop_duplicates()
        is_complete = (counts["wallets_ok"] == counts["wallets_asked"]).all()
        hidden += _COMPLETENESS if is_complete or len(counts) == 1 < len(table) else []
    notes = []
    if six_digit_text in formatters.values():
        notes.append("Amounts are rounded for display.")
    if hidden:
        notes.append(f"Columns not displayed: {', '.join(hidden)}.")
    coverage = str(coverage_from_attrs(frame))
    shown = [name for name in table.columns if name not in hidden]
    if table.columns.name is None:
        first = next((index for index, name in enumerate(shown) if name in RESULT_COLUMNS), 0)
        answers = [name for name in _ANSWERS if name in shown]
        shown = [*dict.fromkeys([*shown[:first], *answers, *shown])]
    return table[shown], formatters, [coverage, " ".join(notes)]


def _add_wallet_names(table: pd.DataFrame, wallets: pd.DataFrame | None) -> pd.DataFrame:
    is_indexed = "address" in table.index.names
    keys = table.index.to_frame() if is_indexed else table
    if wallets is None or not {"blockchain", "address"} <= {*keys} or "name" in keys:
        return table
    names = [*map(safe_line, user_wallet_names(keys, wallets))]
    if is_indexed:
        return table.set_index(pd.Index(names, name="name"), append=True)
    table = table.assign(name=names)
    start = table.columns.get_loc("blockchain")
    return table[[*table.columns[:start], "name", *table.columns[start:-1]]]


def _formatters(
    frame: Any, amounts: Callable[[Any], str] | None = None
) -> dict[Any, Callable[[Any], str]]:
    """Return formatters by column. If the user set a format in pandas, return {}."""
    custom = get_option("display.float_format") or get_option("display.large_repr") != "truncate"
    if custom or not isinstance(frame, pd.DataFrame):
        return {}
    if frame.columns.nlevels > 1 or not frame.columns.is_unique:
        return {}
    formatters = {
        name: amounts if isinstance(dtype, AmountDtype) else _FORMATTERS.get(name)
        for name, dtype in frame.dtypes.items()
        if is_float_dtype(dtype)
    }
    return {name: formatter for name, formatter in formatters.items() if formatter}


def coverage_from_attrs(table: pd.DataFrame) -> Coverage:
    """Return the coverage in the ``attrs`` of a table."""
    stated = table.attrs[COVERAGE]
    return Coverage(**{name: stated[name] for name in Coverage.__slots__})


def with_coverage(
    table: pd.DataFrame | dict[str, Any], coverage: Coverage, positions: Positions | None = None
) -> ResultTable:
    """Return a result table with coverage in ``attrs``, and with wallet names from `positions`."""
    result = ResultTable(table, copy=False)
    if positions is not None and "name" in positions.extra_column_names:
        result._named_wallets = positions.wallet_frame  # noqa: SLF001 - our own class
    counts = {name: getattr(coverage, name) for name in Coverage.__slots__}
    result.attrs[COVERAGE] = counts | {"rows": len(result)}
    return result
