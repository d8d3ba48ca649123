"""The tree of errors and warnings, as its docstring draws it, with every class."""

import builtins
import copy
import inspect
import pickle
import re
import warnings

import pandas as pd
import pytest
from addresses import A, whole
from canned_service import answer, wallet

import walletframe
from walletframe import errors
from walletframe.errors import (
    ColumnsError,
    FetchError,
    FetchInterrupted,
    WalletframeError,
    WalletframeWarning,
)

CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, BaseException)
}
ERRORS = [kind for kind in CLASSES.values() if not issubclass(kind, Warning)]
WARNINGS = [kind for kind in CLASSES.values() if issubclass(kind, Warning)]
NODE = re.compile(r"^(?P<lead>[ │]*[├└]── )(?P<name>\w+)(?: +\((?P<builtin>\w+)\))?", re.MULTILINE)
ROOT = re.compile(r"^(?P<lead> {4})(?P<name>\w+)$", re.MULTILINE)
ARGUMENTS = {
    "message": "it broke",
    "hint": "mend it",
    "problems": [(3, "ETH", "no dot")],
    "missing": ["amount"],
    "present": ["symbol"],
    "details": "what was fetched",
    "extra": "sandbox",
    "purpose": "the sandbox",
    "lacking": "a browser",
    "where": "by line",
    "token": ("ETH", whole("ab")),
    "what": "token",
    "notes": {("ETH", whole("ab")): "known"},
    "contracts": {"USDC": [("ETH", whole("ab")), ("ETH", None)]},
    "wallet": f"ETH.{whole('ab')}",
    "blockchain": "SOLANA",
    "known": ["ETH", "BSC"],
    "fixes": [(4, "Ethereum", "ETH")],
    "malformed": False,
}


def drawn():
    """Return class name to the names of its bases, as the docstring draws them."""
    roots, nodes = ROOT.finditer(errors.__doc__), NODE.finditer(errors.__doc__)
    above, tree = {}, {}
    for node in sorted([*roots, *nodes], key=re.Match.start):
        column = len(node["lead"])
        above[column] = node["name"]
        if node.re is NODE:
            tree[node["name"]] = [above[column - 4], *filter(None, [node["builtin"]])]
    return tree


def make(kind):
    """Return an error with a value for each of its parameters."""
    if issubclass(kind, Warning):
        return kind("it broke")
    return kind(**{name: ARGUMENTS[name] for name in inspect.signature(kind).parameters})


def unpickled(error, protocol=pickle.DEFAULT_PROTOCOL):
    """Return an error after pickling."""
    return pickle.loads(pickle.dumps(error, protocol))


every_class = pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
every_error = pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
every_warning = pytest.mark.parametrize("kind", WARNINGS, ids=lambda kind: kind.__name__)


class TestTree:
    """The tree in the docstring."""

    def test_it_draws_the_existing_classes(self):
        """No class is missing, and none is drawn that does not exist."""
        assert drawn().keys() == CLASSES.keys()
        assert len(CLASSES) > 10

    @every_class
    def test_bases_are_as_drawn(self, kind):
        """The parent, and the builtin in brackets, are the class's bases."""
        assert [base.__name__ for base in kind.__bases__] == drawn()[kind.__name__]

    @every_class
    def test_one_tree_each(self, kind):
        """Every error has one root, every warning another; an interrupt has neither."""
        root = WalletframeWarning if kind in WARNINGS else WalletframeError
        assert issubclass(kind, KeyboardInterrupt if kind is FetchInterrupted else root)

    @every_error
    def test_caught_as_the_builtin(self, kind):
        """Code that expects the builtin error catches it."""
        expected = [name for name in drawn()[kind.__name__] if name in vars(builtins)]
        for name in expected or ["Exception"]:
            with pytest.raises(getattr(builtins, name)):
                raise make(kind)

    @every_error
    def test_leaves_have_a_builtin(self, kind):
        """Every class but the root is also an expected builtin error."""
        plain = {object, BaseException, Exception}
        expected = [base for base in kind.__mro__ if base.__module__ == "builtins"]
        assert kind is WalletframeError or set(expected) - plain

    @every_class
    def test_exported(self, kind):
        """Each can be caught by its name in `wf.errors`."""
        assert kind.__name__ in walletframe.errors.__all__
        assert getattr(walletframe.errors, kind.__name__) is kind

    @every_class
    def test_documented(self, kind):
        """The docstring's first line is a sentence."""
        assert kind.__doc__.splitlines()[0].endswith(".")


class TestText:
    """Messages of errors."""

    @every_error
    def test_hint_after_a_blank_line(self, kind):
        """The text is a message, a blank line, and a hint."""
        error = make(kind)
        message, _, hint = str(error).partition("\n\nHint: ")
        assert message.strip() == message != ""
        assert hint == error.hint != ""

    def test_an_invalid_token_is_quoted(self):
        """Any object is quoted."""
        error = errors.UnknownTokenError(("ETH", "0x1", "more"))
        assert str(error).startswith("no row has the token ('ETH', '0x1', 'more')")

    def test_without_a_hint(self):
        """Without a hint, the text is the message alone."""
        error = WalletframeError("it broke")
        assert str(error) == "it broke"
        assert error.hint == ""

    def test_a_key_error_is_not_quoted(self):
        """The text of the KeyError is text, not the repr of one."""
        text = str(ColumnsError(["amount", "price"], ["a", "b"], hint="rename"))
        lead = "the table lacks 'amount', 'price'; its columns are: 'a', 'b'"
        assert text == f"{lead}\n\nHint: rename"

    def test_a_frame_without_columns(self):
        """The message says "none"."""
        assert "its columns are: none" in str(ColumnsError(["amount"], []))

    def test_extra_is_named(self):
        """A missing extra is named, and its packages as pip takes them."""
        error = errors.MissingExtraError("sandbox", "the sandbox")
        assert "walletframe[sandbox]" in error.message
        assert re.fullmatch(
            r'pip install "fastapi>=\S+" "limits>=\S+" "starlette>=\S+" "uvicorn>=\S+"', error.hint
        )

    def test_unknown_extra_is_named(self):
        """In a checkout that is not installed, the hint names the extra instead of its packages."""
        error = errors.MissingExtraError("future", "it")
        assert error.hint == 'pip install "walletframe[future]"'


class TestCopies:
    """Errors in other processes."""

    @every_class
    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, unpickled])
    def test_with_all_data(self, kind, again):
        """A copy is of the same class, with the same text and the same data."""
        error = make(kind)
        result = again(error)
        assert type(result) is kind
        assert str(result) == str(error)
        assert result.args == error.args
        assert vars(result) == vars(error)

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_every_protocol(self, protocol):
        """Old pickle protocols keep the data as well."""
        error = make(errors.AddressError)
        result = unpickled(error, protocol)
        assert result.problems == error.problems
        assert result.problems == ((3, "ETH", "no dot"), (4, "Ethereum", "write ETH instead"))

    def test_notes_are_kept(self):
        """A note that was added survives too."""
        error = make(errors.SettingsError)
        error.add_note("in cell 3")
        assert unpickled(error).__notes__ == ["in cell 3"]

    def test_a_fetch_error_keeps_its_frames(self, canned):
        """The wallets of the fetch are copied with the error."""
        canned.default = (200, {}, answer(wallet(failed=True)))
        with canned.client() as client, pytest.raises(FetchError) as caught:
            client.fetch(f"ETH.{A}", on_failure="raise")
        result = unpickled(caught.value)
        pd.testing.assert_frame_equal(result.details.wallets, caught.value.details.wallets)
        assert result.details.wallets["status"].tolist() == ["failed"]


class TestWarnings:
    """Filters of warnings."""

    @every_warning
    def test_ignored_one_by_one(self, kind):
        """A filter for one class leaves its siblings alone."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", kind)
            for other in WARNINGS:
                warnings.warn(other("x"), stacklevel=1)
        assert {one.category for one in seen} == {
            other for other in WARNINGS if not issubclass(other, kind)
        }


LINK = "https://evil.example"


@pytest.mark.parametrize(
    "error",
    [
        errors.AmbiguousTokenError({LINK: [("ETH", LINK), ("ETH", None)]}),
        errors.UnknownTokenError(LINK),
        errors.AddressError([(0, LINK, "no dot")]),
        errors.PricesError("odd", problems=[(0, "1", f"its key is {LINK!r}")]),
        errors.TokenListError([(0, LINK, "no contract")]),
        errors.ColumnsError(["amount"], [LINK]),
        errors.UnknownWalletError(LINK),
        errors.UnknownBlockchainError("ETH", [LINK]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_untrusted_text_is_no_link_in_a_message(error):
    """JupyterLab makes links of text in tracebacks, too; the data are unchanged."""
    assert "https[:]\u2215\u2215evil.example" in str(error)
    assert LINK not in str(error)
