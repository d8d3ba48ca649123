"""Docstrings are complete on all that users reach, and one sentence elsewhere."""

import ast
import inspect
import re
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pandas as pd
import pytest
from numpydoc.validate import validate

import walletframe as wf
from walletframe.accessor import FrameAccessor, SeriesAccessor
from walletframe.accessor.delegation import Delegate
from walletframe.accessor.folder import StoredAccessor
from walletframe.accessor.holdings import DetailsAccessor, PlotAccessor
from walletframe.amounts.columns import Rolling
from walletframe.amounts.scalar import Amount
from walletframe.analysis import ParquetPrices, PriceHistorySource, PriceSource, read_token_list
from walletframe.dask import ClusterWallets, divisions, open_wallets
from walletframe.dask import FrameAccessor as ClusterFrameAccessor
from walletframe.dask.frames import ClusterAccessor
from walletframe.frames.results import Coverage
from walletframe.service.sandbox import Sandbox

PACKAGE = Path(wf.__file__).parent
# GL08 is a missing docstring; the others check that the summary is a sentence, that
# parameters match the signature, and that sections are in order.
CHECKS = (
    {"GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10", "SS01", "SS02", "SS03"}
    | {f"PR{number:02}" for number in range(1, 11)}
    | {"RT01", "RT03", "YD01"}
)
REACHABLE = (FrameAccessor, SeriesAccessor, DetailsAccessor, PlotAccessor, Sandbox, Amount, Rolling)
REACHABLE += (
    StoredAccessor,
    PriceSource,
    PriceHistorySource,
    ParquetPrices,
    divisions,
    read_token_list,
)
REACHABLE += (ClusterAccessor, ClusterFrameAccessor, ClusterWallets, open_wallets, Coverage)
"""What people reach without a name at the root: by ``.wf``, from a call, or by the README."""

RAISE_NOTHING = {
    "walletframe.accessor.FrameAccessor": "made by pandas, of any DataFrame",
    "walletframe.accessor.SeriesAccessor": "made by pandas, of any Series",
    "walletframe.accessor.holdings.PlotAccessor": "made by FrameAccessor.plot, of any DataFrame",
    "walletframe.amounts.array.AmountArray": "made of checked values, by pandas or from_raw",
    "walletframe.amounts.array.AmountArray.to_decimal": "every amount is one",
    "walletframe.amounts.array.AmountArray.exact": "what there is",
    "walletframe.amounts.array.AmountDtype": "it has no parameters",
    "walletframe.amounts.scalar.Amount.of": "every integer is an amount",
    "walletframe.analysis.prices.ParquetPrices": "its files are looked for when it is asked",
    "walletframe.analysis.prices.PriceHistorySource": "a protocol, of which nothing is made",
    "walletframe.analysis.prices.PriceSource": "a protocol, of which nothing is made",
    "walletframe.client.engine.Client.reset_after_fork": "closes what is open, which never fails",
    "walletframe.client.engine.Client.close": "may be called again",
    "walletframe.frames.schema.blockchains": "a table of this package's own",
    "walletframe.frames.results.Coverage": "made of counted numbers",
    "walletframe.frames.results.Coverage.sentences": "made of counted numbers",
    **dict.fromkeys(
        (
            "walletframe.pickers.explorer.HoldingsExplorer.refresh",
            "walletframe.pickers.explorer.HoldingsExplorer.save",
            "walletframe.pickers.fetching.FetchingWidget.cancel",
            "walletframe.pickers.fetching.FetchPanel.fetch",
            "walletframe.pickers.fetching.FetchPanel.retry",
            "walletframe.pickers.picker.WalletPicker.choose_all",
        ),
        "what goes wrong is shown in the widget",
    ),
    "walletframe.pickers.widget.MessageHandlingWidget.is_closed": "reads a flag",
    "walletframe.pickers.picker.WalletPicker.take_pasted": "what can't be read is shown",
    "walletframe.service.sandbox.Sandbox.stop": "may be called again",
}
"""What can't raise, and why; all else that is reached says what it raises."""

DRAWN = {
    "walletframe": "shows the six lines to begin with",
    "walletframe.client": "lists the order of operations",
    "walletframe.errors": "draws the tree",
    "walletframe.pickers.view": "lists the steps of a click",
    "walletframe.pickers.widget": "has the table of messages",
}
"""Modules whose docstring is longer than others', and what it shows."""

LINES, LINES_OF_A_MODULE = 4, 6  # a sentence, and facts beyond its types
SECTION = re.compile(r"^\s*[A-Z][A-Za-z ]+\n\s*-{3,}\s*$", re.MULTILINE)
DESCRIBED = (FunctionType, classmethod, staticmethod, property)


def is_ours(thing):
    """Return whether a class or function is defined in the package."""
    return thing.__module__.partition(".")[0] == "walletframe"


def overrides(owner, name):
    """Return whether another library documents a method: pandas, traitlets, Python itself."""
    if owner is wf.AmountArray and hasattr(pd.Series, name):
        return True  # users call a column's methods on its Series
    return any(name in vars(base) for base in owner.__mro__ if not is_ours(base))


def bare(member):
    """Return the function of a method or property."""
    function = member.fget if isinstance(member, property) else member
    return inspect.unwrap(getattr(function, "__func__", function))


@cache
def reached():
    """Return the objects that users reach, by the names under which they are defined."""
    things = [getattr(wf, name) for name in wf.__all__]
    for module in [each for each in things if isinstance(each, ModuleType)]:
        things.remove(module)
        things += [getattr(module, name) for name in module.__all__]
    result = {}
    for thing in [*things, *REACHABLE]:
        result[named(inspect.unwrap(thing))] = thing
        for base in thing.__mro__ if isinstance(thing, type) else ():
            for name, member in vars(base).items() if is_ours(base) else ():
                if isinstance(member, Delegate):
                    result[f"{named(thing)}.{name}"] = getattr(thing, name)
                plain = name[0] == "_" or not isinstance(member, DESCRIBED)
                if not plain and not overrides(thing, name):
                    result[named(bare(member))] = member
    return result


def named(thing):
    """Return the dotted name of a class or function."""
    return f"{thing.__module__}.{thing.__qualname__}"


def is_delegated(thing):
    """Return whether a method is documented at the function that it calls."""
    return isinstance(thing, FunctionType) and hasattr(thing, "__wrapped__")


def is_made_as_its_base(thing):
    """Return whether a class inherits its documented constructor, or has none."""
    is_protocol = getattr(thing, "_is_protocol", False)
    return isinstance(thing, type) and (is_protocol or "__init__" not in vars(thing))


def sections(thing):
    """Return the titles of a docstring's sections."""
    return {result.split()[0] for result in SECTION.findall(inspect.getdoc(thing) or "")}


def runs(thing):
    """Return whether calling it runs code of the package: a plain record's constructor doesn't."""
    if not isinstance(thing, type):
        return not isinstance(thing, property)
    makers = ("__post_init__",) if is_dataclass(thing) else ("__init__", "__new__")
    own = any(name in vars(base) for base in thing.__mro__ if is_ours(base) for name in makers)
    return own and not issubclass(thing, BaseException | tuple)


def is_shown(name, thing):
    """Return whether it has an example of its own, or one in its class that calls it."""
    if "Examples" in sections(thing):
        return True
    owner, _, method = name.rpartition(".")
    example = (inspect.getdoc(reached().get(owner)) or "").partition("Examples\n---")[2]
    return f".{method}(" in example


@pytest.mark.filterwarnings("ignore:Widget.*is deprecated")  # numpydoc reads old names, too
@pytest.mark.parametrize("name", sorted(reached()))
def test_public_docstrings_are_complete(name):
    """A summary, parameters, the result, errors, and an example."""
    thing = reached()[name]
    checks = CHECKS - {"PR01"} if is_made_as_its_base(thing) else CHECKS
    assert [fault for fault in validate(name)["errors"] if fault[0] in checks] == []
    if runs(thing):
        assert ("Raises" in sections(thing)) is (name not in RAISE_NOTHING)
        assert is_shown(name, thing)


def docstrings(module):
    """Return the docstrings of a module's functions and classes, by name, with their nodes."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    result = {}

    def walk(node, prefix):
        for child in ast.iter_child_nodes(node):
            kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
            if isinstance(child, kinds):
                name = f"{prefix}.{child.name}"
                result[name] = (ast.get_docstring(child) or "", child)
                inner = name if isinstance(child, ast.ClassDef) else f"{name}.<locals>"
                walk(child, inner)
            else:
                walk(child, prefix)

    tree = ast.parse(path.read_text(encoding="utf-8"))
    walk(tree, module)
    return ast.get_docstring(tree) or "", result


def is_help(node):
    """Return whether a docstring is shown by the shell's ``--help``."""
    written = [ast.unparse(each) for each in node.decorator_list]
    return any(re.search(r"\b(command|group|magic_arguments)\(", each) for each in written)


MODULES = [
    ".".join(["walletframe", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
        ".__init__"
    )
    for path in sorted(PACKAGE.rglob("*.py"))
]


@pytest.mark.parametrize("module", MODULES)
def test_other_docstrings_are_short(module):
    """One short paragraph without sections; a module's is a few lines."""
    whole, result = docstrings(module)
    if module not in DRAWN:
        assert len(whole.splitlines()) <= LINES_OF_A_MODULE
        assert not SECTION.search(whole)
    behind = {named(inspect.unwrap(each)) for each in reached().values() if is_delegated(each)}
    long = {
        name: text
        for name, (text, node) in result.items()
        if name not in reached().keys() | behind
        and not is_help(node)
        and (len(text.splitlines()) > LINES or SECTION.search(text))
    }
    assert long == {}


@pytest.mark.parametrize("name", sorted({**RAISE_NOTHING, **DRAWN}))
def test_exceptions_are_needed(name):
    """An exception without an object is removed."""
    assert name in reached() or import_module(name)
