"""What can be taken away of what the explorer shows: the code that makes it, and files of it."""

from __future__ import annotations

import ast
import inspect
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from walletframe.address import WalletAddress
from walletframe.client import default_client
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_excel, to_parquet
from walletframe.frames import HOLDING_DTYPES, is_unknown, kept_names
from walletframe.pickers.pictures import VALUE
from walletframe.pickers.portfolio import DUST, MOST_ROWS, VALUED, Selection
from walletframe.reports import report
from walletframe.service import latest_choices

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import WalletDetails
    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Prepare

FORMATS = {
    "CSV": ("holdings.csv", "text/csv"),
    "Parquet": ("holdings.parquet", "application/vnd.apache.parquet"),
    "Excel": (
        "holdings.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "Report": ("report.html", "text/html"),
}
_WRITERS = {"CSV": to_csv, "Parquet": to_parquet, "Excel": to_excel}
HERE = "# What the explorer shows"
_UNKNOWN = "wallets, holdings = details  # fill in: details = what fetch_wallets returned\n"
_NAMES = '''
def names(chain, address):
    """Spell alike what is the same: hex addresses are compared without case."""
    is_hex = address.str.fullmatch("0[xX][ -~]*", na=False)
    return chain.str.upper() + "." + address.where(~is_hex, address.str.lower()).fillna("")
'''


def contents(kind: str, shown: WalletDetails) -> bytes:
    """Return a file of some kind: all rows exactly, or the report."""
    if kind not in FORMATS:
        raise ArgumentError(f"{kind!r} is not a file format", hint=f"one of {', '.join(FORMATS)}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / FORMATS[kind][0]
        if kind == "Report":
            report(shown, path)
        elif len(shown.holdings) > MOST_ROWS:
            raise WalletframeError(
                f"{len(shown.holdings):,} rows are too many for a download by the browser",
                hint="run the pandas code, then shown.wf.to_parquet(path)",
            )
        else:
            _WRITERS[kind](shown.holdings, path)
        return path.read_bytes()


def require_as_fetched(details: WalletDetails) -> None:
    """Refuse holdings to which something was done that a new answer would undo."""
    wallets, holdings = details
    hint = (
        "give the explorer what was fetched, and what you did to it as prepare=, such as "
        'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
    )
    added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
    if added:
        raise WalletframeError(f"Refresh would lose the columns {', '.join(added)}", hint=hint)
    if len(holdings) != wallets["tokens"].sum():
        said = "the holdings have other rows than were fetched, and Refresh would undo that"
        raise WalletframeError(said, hint=hint)


def code(picture: Picture) -> str:
    """Write lines that fetch again, from the cache, and make rows and figure that are shown."""
    portfolio, selection = picture.selected.portfolio, picture.selected.selection
    if picture.selected.summed:
        return _summing(portfolio, selection)
    kind, given = picture.options.type, picture.arguments
    colored = kind.colored and given is not None
    parts = ["import pandas as pd", "import walletframe as wf"]
    parts += ["from walletframe.charts import token_colors\n" if colored else ""]
    parts += [portfolio.reading or _fetching(portfolio.fetched), HERE]
    parts += _preparing(portfolio.prepare)
    parts += [_NAMES, ""] if selection.wallets or selection.tokens or selection.labels else []
    parts += ["holdings = prepare(holdings)"] * (portfolio.prepare is not None)
    if portfolio.priced_by == "service":
        parts.append("holdings = holdings.wf.value()  # at the service's prices")
    if selection.spam or not portfolio.spam.any():
        parts.append("shown = holdings\n")
    elif portfolio.judged:  # by more rows than these
        known = portfolio.held.tokens.take(np.flatnonzero(portfolio.spam)).keys
        keys = [key for key in known if not is_unknown(key)]
        parts.append(f"shown = holdings.wf.without_spam(deny={keys!a}, threshold=1.0)\n")
    elif "is_spam" in portfolio.details.holdings:
        parts.append('shown = holdings[~holdings["is_spam"].fillna(value=False).astype(bool)]\n')
    else:
        parts.append("shown = holdings.wf.without_spam()\n")
    parts += _filters(selection)
    if not selection.dust and portfolio.row_values is not None:
        parts.append(f'shown = shown[~(shown["value"] < {DUST!r})]\n')
    if given is not None:
        counted = picture.options.measure != VALUE and kind.takes != "a token"
        dropped = f'.drop(columns={VALUED!r}, errors="ignore")' * counted
        arguments = [f"{name}={value!a}" for name, value in given.items()]
        arguments += ["wallets=wallets", *["colors=token_colors(holdings)"] * colored]
        parts.append(f"figure = shown{dropped}.wf.plot.{kind.function}({', '.join(arguments)})")
        parts.append("figure")  # as the last line of a cell, it is displayed
    return "\n".join(parts).rstrip()


def _summing(portfolio: Portfolio, selection: Selection) -> str:
    """Write how a folder is summed; by whom and of what, if not of all, is a line to fill in."""
    asked = ".wf.value()" * (portfolio.priced_by == "service")
    asked += ".wf.without_spam()" * (not selection.spam)
    is_all = selection == Selection(spam=selection.spam)
    less = "# fill in: this is of all, and not of what is picked\n" * (not is_all)
    totals = f'{less}shown = stored{asked}.wf.totals(by=["blockchain", "token"])'
    return f"import walletframe as wf\n\n{portfolio.reading}{HERE}\n{totals}"


def _fetching(details: WalletDetails) -> str:
    """Write how a fetch is done again; where that can't be told, a line to fill in."""
    wallets = details.wallets
    services = [*wallets["service"].dropna().unique()]
    try:
        require_as_fetched(details)
        if services == ["sandbox"]:
            return _asking(wallets, _sandboxed(), ", client=client")
        if services == [default_client().settings.service]:
            return _asking(wallets, "", "")
    except WalletframeError:
        return _UNKNOWN
    return _UNKNOWN


def _sandboxed() -> str:
    """Write how a sandbox is made that answers as the one of this process."""
    given, before = latest_choices(), ""
    if "ledger" in given and not isinstance(given["ledger"], str | Path):
        before = "ledger = None  # fill in: the holdings that the sandbox served\n"
    texts = {name: ascii(value) for name, value in given.items()}
    if "ledger" in given:
        texts["ledger"] = "ledger" if before else ascii(str(given["ledger"]))
    call = ", ".join(f"{name}={text}" for name, text in texts.items())
    return f"{before}with wf.sandbox({call}) as service, service.client() as client:\n    "


def _asking(wallets: pd.DataFrame, opened: str, client: str) -> str:
    keep = kept_names(wallets)
    asked = wallets[["blockchain", "address", *keep]]
    columns = [f"    {name!a}: {_literals(asked[name])!a}," for name in asked]
    kept = f", keep={keep!a}" * bool(keep)
    call = f'wf.fetch_wallets(asked{kept}{client}, on_failure="ignore")'
    made = "\n".join(["asked = pd.DataFrame({", *columns, "})"])
    return f"{made}\n{opened}wallets, holdings = {call}\n"


def _literals(column: pd.Series) -> list[object]:
    """Give values that Python reads as they are written: None for what is missing, or texts."""
    is_known = column.notna()
    values = column.astype(object).where(is_known, None).tolist()
    texts = column.astype("str").astype(object).where(is_known, None).tolist()
    becomes_floats = not is_known.all() and any(type(value) is int for value in values)
    return texts if becomes_floats or not all(map(_is_written, values)) else values


def _is_written(value: object) -> bool:
    """Tell whether Python reads a value as it writes it: no time, no infinity."""
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return is_finite and isinstance(value, str | int | float | None)


def _preparing(prepare: Prepare | None) -> list[str]:
    """Write the function by its source, where it has one that needs nothing else."""
    if prepare is None:
        return []
    name = getattr(prepare, "__name__", "")
    unknown = "# fill in: prepare = the function that the explorer got\n"
    try:
        needed = inspect.getclosurevars(prepare)
        source = dedent(inspect.getsource(prepare))
    except (OSError, TypeError, ValueError):
        return [unknown]
    others = {key: each for key, each in needed.globals.items() if key not in ("wf", "pd")}
    if needed.nonlocals or not all(isinstance(each, ModuleType) for each in others.values()):
        return [unknown]
    imports = [f"import {each.__name__} as {key}" for key, each in others.items()]
    if name == "<lambda>":
        written = _lambda(source)
        return [*imports, f"prepare = {written}\n"] if written else [unknown]
    return [*imports, f"\n{source}\n", f"prepare = {name}"][: None if name != "prepare" else -1]


def _lambda(source: str) -> str:
    """Return the one lambda of a piece of source; empty where there are several, or none."""
    piece = source.strip().rstrip(",")
    # A line may be a part of a call, or of a mapping.
    for text in (source, piece, f"({piece})", f"f({piece}", f"{{{piece}}}"):
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        return (ast.get_source_segment(text, found[0]) or "") if len(found) == 1 else ""
    return ""


def _filters(selection: Selection) -> list[str]:
    parts: list[str] = []
    if selection.blockchains:
        parts += _listed("chains", [name.upper() for name in selection.blockchains])
        parts.append('wallets = wallets[wallets["blockchain"].str.upper().isin(chains)]')
        parts.append('shown = shown[shown["blockchain"].str.upper().isin(chains)]\n')
    if selection.wallets:
        keys = [str(WalletAddress.parse(name).canonical) for name in selection.wallets]
        parts += _listed("chosen", keys)
        named = '{0} = {0}[names({0}["blockchain"], {0}["address"]).isin(chosen)]'
        parts += [named.format("wallets"), named.format("shown"), ""]
    for name in {column: None for column, _ in selection.labels}:
        texts = [text for column, text in selection.labels if column == name]
        parts += _listed("labels", texts)
        parts.append(f'texts = wallets[{name!a}].astype("str").fillna("")')
        parts.append("wallets = wallets[texts.isin(labels)]")
    if selection.labels:
        parts.append('labelled = names(wallets["blockchain"], wallets["address"])')
        parts.append('shown = shown[names(shown["blockchain"], shown["address"]).isin(labelled)]\n')
    if selection.tokens:
        keys = [f"{chain}.{contract or ''}" for chain, contract in selection.tokens]
        parts += _listed("tokens", keys)
        parts.append('held = names(shown["token_blockchain"], shown["token_address"])')
        parts.append("shown = shown[held.isin(tokens)]\n")
    return parts


def _listed(name: str, values: list[str]) -> list[str]:
    return [f"{name} = [", *(f"    {value!a}," for value in values), "]"]
