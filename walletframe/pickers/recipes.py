"""The code that makes what the explorer shows: it runs as it is, wherever that can be."""

from __future__ import annotations

import ast
import inspect
import math
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING

from walletframe.address import WalletAddress
from walletframe.client import default_client
from walletframe.errors import WalletframeError
from walletframe.frames import kept_names
from walletframe.pickers.pictures import CHARTS, VALUE
from walletframe.pickers.selection import require_as_fetched
from walletframe.pickers.stock import VALUED
from walletframe.service import latest_choices

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import WalletDetails
    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.selection import Prepare, Selection
    from walletframe.pickers.stock import Stock

HERE = "# What the explorer shows"
_UNKNOWN = "wallets, holdings = details  # fill in: details = what fetch_wallets returned\n"
_NAMES = '''
def names(chain, address):
    """Spell alike what is the same: hex addresses are compared without case."""
    is_hex = address.str.fullmatch("0[xX][ -~]*", na=False)
    return chain.str.upper() + "." + address.where(~is_hex, address.str.lower()).fillna("")
'''


def code(stock: Stock, selection: Selection, picture: Picture) -> str:
    """Write lines that fetch again, from the cache, and make rows and figure that are shown."""
    chart, given = CHARTS[picture.look.chart], picture.arguments
    colored = chart.colored and given is not None
    parts = ["import pandas as pd", "import walletframe as wf"]
    parts += ["from walletframe.charts import token_colors\n" if colored else ""]
    parts += [_fetching(stock.fetched), HERE]
    parts += _preparing(stock.prepare)
    parts += [_NAMES, ""] if selection.wallets or selection.tokens or selection.labels else []
    parts += ["holdings = prepare(holdings)"] * (stock.prepare is not None)
    if stock.priced_by == "service":
        parts.append("holdings = holdings.wf.value()  # at the service's prices")
    parts += [_sieved(stock, picture), *_filters(selection)]
    if picture.look.sieve.dust and stock.worth is not None:
        parts.append(f'shown = shown[~(shown["value"] < {picture.look.sieve.limit!r})]\n')
    if given is not None:
        counted = picture.look.measure != VALUE and chart.takes != "a token"
        dropped = f'.drop(columns={VALUED!r}, errors="ignore")' * counted
        arguments = [f"{name}={value!a}" for name, value in given.items()]
        arguments += ["wallets=wallets", *["colors=token_colors(holdings)"] * colored]
        parts.append(f"figure = shown{dropped}.wf.plot.{chart.function}({', '.join(arguments)})")
    return "\n".join(parts).rstrip()


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
    told = {name: ascii(value) for name, value in given.items()}
    if "ledger" in given:
        told["ledger"] = "ledger" if before else ascii(str(given["ledger"]))
    call = ", ".join(f"{name}={text}" for name, text in told.items())
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


def _sieved(stock: Stock, picture: Picture) -> str:
    if not picture.look.sieve.spam or not stock.spam.any():
        return "shown = holdings\n"
    if "is_spam" in stock.details.holdings:
        return 'shown = holdings[~holdings["is_spam"].fillna(value=False).astype(bool)]\n'
    return "shown = holdings.wf.without_spam()\n"


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
        parts.append(f'told = wallets[{name!a}].astype("str").fillna("")')
        parts.append("wallets = wallets[told.isin(labels)]")
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
