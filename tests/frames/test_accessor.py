"""``df.wf`` and ``series.wf``."""

import inspect
from inspect import Parameter
from operator import attrgetter

import pandas as pd
import pytest
from addresses import ONE, TWO, whole

from walletframe.accessor import FrameAccessor, SeriesAccessor
from walletframe.accessor.delegation import Delegate
from walletframe.accessor.folder import StoredAccessor
from walletframe.accessor.holdings import DetailsAccessor, PlotAccessor
from walletframe.errors import AddressError, ColumnsError, InputWarning, WalletframeError
from walletframe.frames.assembly import assemble
from walletframe.pandas_versions import TEXT

FRAME = pd.DataFrame(
    {"blockchain": [" ETH", "NEAR"], "address": [whole("AB"), "alice.near "], "note": [1, 2]},
    index=["x", "y"],
)


def test_series_of_dotted_strings_is_parsed_on_its_index():
    """Each string becomes blockchain and address, repeats included, on the same index."""
    series = pd.Series(
        [f"ETH.{whole('AB')}", "NEAR.alice.near", f"ETH.{whole('AB')}"], index=[5, 3, 5]
    )
    parsed = series.wf.parse()
    assert parsed.columns.tolist() == ["blockchain", "address"]
    assert parsed.dtypes.tolist() == [TEXT, TEXT]
    assert parsed.index.tolist() == [5, 3, 5]
    assert parsed.address.tolist() == [whole("AB"), "alice.near", whole("AB")]


def test_frame_of_columns_is_parsed_on_its_index():
    """The two columns are parsed, without the others."""
    parsed = FRAME.wf.parse()
    assert parsed.to_dict("list") == {
        "blockchain": ["ETH", "NEAR"],
        "address": [whole("AB"), "alice.near"],
    }
    assert parsed.index.tolist() == ["x", "y"]


def test_parse_result_joins_back():
    """The parsed columns can be joined to their source."""
    series = pd.Series([f"ETH.{ONE}", f"BSC.{TWO}"], name="wallet")
    joined = series.to_frame().join(series.wf.parse())
    assert joined.columns.tolist() == ["wallet", "blockchain", "address"]


def test_empty_input_is_parsed():
    """An empty frame has both columns."""
    assert pd.Series([], dtype=TEXT).wf.parse().shape == (0, 2)
    assert FRAME.head(0).wf.parse().dtypes.tolist() == [TEXT, TEXT]


def test_missing_column_is_named():
    """The error names the missing columns, and the existing ones."""
    with pytest.raises(ColumnsError, match=r"'blockchain'.*note") as caught:
        FRAME.drop(columns="blockchain").wf.parse()
    assert caught.value.missing == ("blockchain",)
    with pytest.raises(ColumnsError):
        pd.DataFrame().wf.fetch()


def test_bad_rows_are_reported_by_position():
    """Unreadable ones; missing values are empty rows."""
    with pytest.raises(AddressError) as caught:
        pd.Series([f"ETH.{ONE}", None, "y", float("nan"), "x"]).wf.parse()
    assert [place for place, _, _ in caught.value.problems] == [2, 4]


def test_parsed_rows_keep_their_index():
    """Empty and, on request, unreadable rows are dropped, with a warning."""
    series = pd.Series([f"eth.{ONE}", None, "x", f"ETH.{ONE.upper()}"], index=list("abcd"))
    counts = "kept: 1 duplicate row; left out: 1 empty row, 1 unreadable row"
    where = r"\(listed by position, counted from 0\)"
    with pytest.warns(InputWarning, match=f"found 1 wallet in 4 rows; {counts} {where}"):
        parsed = series.wf.parse(on_unreadable="drop")
    assert parsed.index.tolist() == ["a", "d"]
    assert parsed.blockchain.tolist() == ["ETH", "ETH"]


def test_fetch_is_the_helper(client):
    """Fetching from a frame or a Series is fetching its wallets."""
    frame = pd.DataFrame({"blockchain": ["NEAR"], "address": ["alice.near"]})
    by_frame = frame.wf.fetch(client=client)
    by_series = pd.Series(["NEAR.alice.near"]).wf.fetch(client=client, offline=True)
    assert by_frame.holdings.equals(by_series.holdings)
    assert by_series.wallets.source.item() == "cache"


def test_the_accessor_hides_only_its_own_name():
    """Other columns are attributes; one named wf is reached by its key."""
    frame = FRAME.assign(wallet=1, wf=2)
    assert (frame.wallet.tolist(), frame["wf"].tolist()) == ([1, 1], [2, 2])
    assert isinstance(frame.wf, FrameAccessor)


def delegates():
    """Return the methods that each accessor makes from a function."""
    accessors = (FrameAccessor, SeriesAccessor, DetailsAccessor, PlotAccessor, StoredAccessor)
    return [
        pytest.param(accessor, name, id=f"{accessor.__name__}.{name}")
        for accessor in accessors
        for base in accessor.__mro__
        for name, member in vars(base).items()
        if isinstance(member, Delegate)
    ]


@pytest.mark.parametrize("accessor, name", delegates())
def test_methods_are_documented_as_the_functions_behind_them(accessor, name):
    """The docstring and the signature are equal, but for the frame and the method's name."""
    method = getattr(accessor, name)
    behind = inspect.unwrap(method)
    first, *_ = inspect.signature(behind).parameters
    lines, own = inspect.getdoc(behind).splitlines(), inspect.getdoc(method).splitlines()
    assert [line for line in lines if line in own] == own
    assert not [line for line in own if line.startswith(f"{first} : ")]
    taken, wanted = (list(inspect.signature(each).parameters.values()) for each in (method, behind))
    assert (taken[0].name, taken[1:]) == ("self", wanted[1:])
    assert method.__name__ == name


ROWS = pd.DataFrame(
    {
        "blockchain": "NEAR",
        "address": ["alice.near", "bob.near"],
        "symbol": "NEAR",
        "token_blockchain": "NEAR",
        "token_address": None,
        "amount": pd.array(["1", "3"], dtype="amount"),
        "snapshot": pd.Timestamp("2026-01-31", tz="UTC"),
    }
)
VALUED = ROWS.assign(value=[1.0, 2.0], currency=["USD", "EUR"])
NOBODY = assemble([]).wallets.assign(snapshot=pd.Timestamp("2026-01-31", tz="UTC"))
ARGUMENTS = {"token": "NEAR", "wallet": "NEAR.alice.near"}
BAD = {
    "wallets of no kind": (ROWS, {"wallets": 5}),
    "wallets without a status": (ROWS, {"wallets": NOBODY.drop(columns="status")}),
    "wallets of another fetch": (ROWS, {"wallets": NOBODY}),
    "no token of that name": (ROWS, {"token": "ETH"}),
    "no wallet of that name": (ROWS, {"wallet": "NEAR.carol.near"}),
    "no largest ones": (ROWS, {"top": 0, "n": 0, "top_tokens": 0}),
    "no groups": (ROWS, {"by": "colour"}),
    "no score": (ROWS, {"threshold": 2}),
    "two currencies": (VALUED, {}),
    "no columns": (pd.DataFrame(), {}),
    "floats": (ROWS.assign(amount=1.5), {}),
}


def methods_of_holdings():
    """Return the methods of holdings, with their required arguments."""
    result = []
    for prefix, accessor in (("", FrameAccessor), ("plot.", PlotAccessor)):
        for name, method in inspect.getmembers(accessor, inspect.isfunction):
            taken = inspect.signature(method).parameters.values()
            needed = {each.name for each in taken if each.default is Parameter.empty} - {"self"}
            if name[0] != "_" and needed <= {*ARGUMENTS} and name not in {"parse", "fetch"}:
                result.append(pytest.param(prefix + name, needed, id=prefix + name))
    return result


def raised(method, argument):
    """Return the name of a call's error, or an empty text."""
    try:
        method(**argument)
    except WalletframeError as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name, needed", methods_of_holdings())
def test_errors_of_bad_calls_are_documented(name, needed, bad):
    """Each error is named in the method's Raises, and is one of this package's."""
    rows, changed = BAD[bad]
    method = attrgetter(name)(rows.wf)
    taken = inspect.signature(method).parameters
    options = {each: ARGUMENTS[each] for each in needed}
    options |= {each: value for each, value in changed.items() if each in taken}
    raises = inspect.getdoc(method).partition("Raises\n---")[2].partition("\n\n")[0]
    assert raised(method, options) in raises
