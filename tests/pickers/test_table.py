"""The table's rows as Python sends them: any order, exactly; search, groups, harmless texts."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, cmp_to_key

import numpy as np
import pandas as pd
import pytest
from addresses import UPPER_A, A, B, C, whole
from fetches import failed, fetched, made_up_details, token
from hostile_symbols import SYMBOLS, hostile_holdings
from hypothesis import given
from hypothesis import strategies as st
from table_widget import TableWidget

from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import PricesError
from walletframe.frames.assembly import assemble
from walletframe.frames.positions import read_positions
from walletframe.pandas_versions import TEXT
from walletframe.pickers.table import HoldingsTable

AMOUNTS = st.one_of(
    st.none(),
    st.sampled_from(["0", "1", "1.000000000000000001", "-1", str(2**256 - 1), "1e-77"]),
    st.decimals(allow_nan=False, allow_infinity=False, places=18, min_value=-9, max_value=9).map(
        str
    ),
)
FLOATS = st.one_of(st.just(float("nan")), st.floats(allow_nan=False))


def holdings_of(count, **columns):
    """Return balances of one wallet, each of a token of its own, with other columns."""
    return _many().iloc[:count].assign(**columns)


@cache
def _many():
    tokens = [token(f"TK{n}", n + 1, 0, contract=f"0x{n:040x}") for n in range(20)]
    return fetched({f"ETH.{UPPER_A}": tokens}).holdings


def table_of(holdings, wallets=None):
    """Return the table of holdings and, if given, of all requested wallets."""
    return HoldingsTable(read_positions(holdings, wallets))


def rows_of(holdings, /, **query):
    """Return the first rows of an answer, as lists of parts by column."""
    return holdings.answer_rows({"count": 400, **query})


def numbers(answer, column):
    """Return exact numbers of a column, None for a note or an empty cell."""
    cells = answer["cells"][column]
    return [
        f"{integer}.{fraction}" if fraction else integer or None
        for integer, fraction in zip(cells["integer"], cells["fraction"], strict=True)
    ]


def by_hand(keys, *, down):
    """Return the positions of keys in order: missing ones last, equal ones unchanged."""
    present = [place for place, key in enumerate(keys) if key is not None]

    def compared(one, other):
        less, more = keys[one] < keys[other], keys[one] > keys[other]
        return (int(less) - int(more)) * (1 if down else -1) or one - other

    return sorted(present, key=cmp_to_key(compared)) + [
        place for place, key in enumerate(keys) if key is None
    ]


def order(answer):
    """Return the numbers of the tokens, in the order of the rows."""
    return [int(text.removeprefix("TK")) for text in answer["cells"]["token"]["text"]]


@given(st.lists(AMOUNTS, min_size=1, max_size=20), st.booleans())
def test_amounts_are_ordered_exactly(texts, down):
    """Rows have the order of fractions, stable both ways, unknown ones last."""
    table = table_of(holdings_of(len(texts), amount=pd.array(texts, dtype="amount")))
    keys = [None if text is None else Fraction(text) for text in texts]
    answer = rows_of(table, sort="amount", down=down)
    assert order(answer) == by_hand(keys, down=down)
    shown = [None if text is None else Fraction(text) for text in numbers(answer, "amount")]
    assert shown == [keys[place] for place in order(answer)]


@given(st.lists(FLOATS, min_size=1, max_size=20), st.booleans())
def test_values_are_ordered(values, down):
    """Floats, infinite ones too; NaN is last."""
    table = table_of(holdings_of(len(values), value=values))
    keys = [None if np.isnan(value) else value for value in values]
    assert order(rows_of(table, sort="value", down=down)) == by_hand(keys, down=down)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        pd.array([3, None, 2**62 + 1, 2**62, 3], dtype="Int64"),
        pd.array([2**64 - 1, 0, 2**63, 5, 5], dtype="uint64"),
        pd.array([True, None, False, True, False], dtype="boolean"),
        [Decimal("0.1"), None, Decimal("0.10000000000000000000000000001"), Decimal(-1), Decimal(9)],
        pd.array(["2026-01-31T05:59:59", None, "2026-01-31T05:59:58", "2025", "2027"], "M8[s]"),
        pd.Categorical(["low", "high", None, "low", "high"], ["low", "high"], ordered=True),
        ["b", "A", None, "a", "B"],
    ],
    ids=["Int64", "uint64", "boolean", "Decimal", "time", "category", "text"],
)
def test_a_users_columns_are_ordered_by_their_values(values, down):
    """The order is pandas's or Python's, for any dtype; text ignores case."""
    column = pd.Series(values)
    table = table_of(holdings_of(5, own=column))
    name = rows_of(table)["columns"][-1]["name"]
    keys = [None if pd.isna(each) else each for each in column]
    if isinstance(column.dtype, pd.CategoricalDtype):
        keys = [None if key is None else ["low", "high"].index(key) for key in keys]
    elif any(isinstance(key, str) for key in keys):
        keys = [None if key is None else (key.casefold(), key) for key in keys]
    assert order(rows_of(table, sort=name, down=down)) == by_hand(keys, down=down)


def test_values_without_an_order_are_ordered_as_text():
    """Lists, and values of several types: never an error."""
    for values in ([[2], [1], None], ["a", 1, (2,)]):
        table = table_of(holdings_of(3, own=pd.Series(values, dtype=object)))
        name = rows_of(table)["columns"][-1]["name"]
        result = rows_of(table, sort=name)["cells"][name]["text"]
        assert result == sorted(result, key=lambda text: (text == "", text))


def test_windows_are_parts_of_one_order():
    """For any start and length."""
    table = table_of(made_up_details(5_000, wallets=50, tokens=200).holdings)
    requested = {"sort": "amount", "down": True}
    result = []
    for start in range(0, 5_000, 400):
        result += numbers(rows_of(table, start=start, **requested), "amount")
    assert result == sorted(result, key=Fraction, reverse=True)
    assert len(result) == 5_000
    beyond = rows_of(table, start=9_999, **requested)
    assert (beyond["start"], beyond["count"], beyond["total"]) == (5_000, 0, 5_000)
    assert table.answer_rows({"count": 10**9})["count"] == 400


def test_columns_are_sent_once():
    """Until the table or the group changes."""
    table = table_of(holdings_of(2))
    first = rows_of(table)
    assert [column["name"] for column in first["columns"]] == [
        *("wallet", "token", "blockchain", "contract", "amount")
    ]
    assert "columns" not in rows_of(table, table=first["table"])
    assert "columns" in rows_of(table, table=first["table"], by="wallet")
    assert "columns" in rows_of(table_of(holdings_of(2)), table=first["table"])


def test_it_opens_with_the_largest_values():
    """Without values the order is unchanged. A missing column sorts nothing."""
    plain = holdings_of(3)
    assert rows_of(table_of(plain))["sort"] == ""
    valued = table_of(plain.assign(value=[1.0, 3.0, float("nan")], currency="USD"))
    answer = rows_of(valued, sort="gone", by="gone")
    assert (answer["sort"], answer["down"], answer["by"]) == ("value", True, "")
    assert order(answer) == [1, 0, 2]
    assert answer["columns"][-1]["label"] == "value (USD)"


def test_different_currencies_are_beside_the_values():
    """A sum of them is refused, with the reason."""
    table = table_of(holdings_of(2, value=[1.0, 2.0], currency=["USD", "EUR"]))
    answer = rows_of(table)
    assert [column["label"] for column in answer["columns"]][-2:] == ["value", "currency"]
    with pytest.raises(PricesError, match="2 currencies"):
        rows_of(table, by="wallet")


def test_words_are_found_in_any_text():
    """All of them, in any order and case: name, address, symbol, contract, a user's column."""
    dai = token("DAI", contract="0xDa")
    details = fetched(
        {f"ETH.{whole('Ab')}": [token("USDC"), dai], f"BSC.{whole('Cd')}": [token("usdc")]}
    )
    named = details.wallets.assign(name=["Ada", None], owner=["Fund", "fünd"])
    table = table_of(details.holdings, named)

    def found(words):
        answer = rows_of(table, find=words)
        assert "3 balances" in answer["counted"]
        assert len(answer["cells"]["token"]["text"]) == answer["total"]
        return answer["total"]

    assert found("usdc") == 2
    assert found("  USDC ada ") == 1
    assert found(whole("cd")) == 1
    assert found("FÜND") == 1
    assert found("fund usdc") == 1
    assert found("nothing") == 0
    assert found("") == 3


@given(st.text("abc ", max_size=4), st.lists(st.text("abcABC", max_size=3), min_size=1, max_size=9))
def test_matches_contain_all_words(words, texts):
    """The result is that of a search of each row by hand; the order stays."""
    table = table_of(holdings_of(len(texts), own=texts))
    # the words don't occur in the other columns but in "0xa", the wallet
    other = f"eth.{A} tk eth 0x"
    wanted = [
        place
        for place, text in enumerate(texts)
        if all(word in text.lower() or word in other for word in words.split())
    ]
    assert order(rows_of(table, find=words)) == wanted


def test_numbers_are_sent_in_parts_and_whole():
    """Amounts to the last digit; values to the cent, and exactly if that differs."""
    largest = str(2**256 - 1)
    amounts = pd.array([largest, "1234.5678900", "-0.5", None], dtype="amount")
    values = [1234.5, 0.004, 1e22, float("nan")]
    prices = [1.8e-05, 3100.0, float("inf"), float("nan")]
    holdings = holdings_of(4, amount=amounts, value=values, unit_price=prices)
    holdings["raw_amount"] = ["1", "1", "1", "77"]
    cells = rows_of(table_of(holdings), sort="token")["cells"]
    assert cells["amount"]["integer"] == [largest, "1234", "-0", ""]
    assert cells["amount"]["fraction"] == ["", "56789", "5", ""]
    assert cells["amount"]["note"] == [None, None, None, "77 base units"]
    assert cells["value"]["integer"] == ["1234", "<0", "1" + "0" * 22, ""]
    assert cells["value"]["fraction"] == ["50", "01", "00", ""]
    assert cells["value"]["copy"] == ["1234.5", "0.004", "1" + "0" * 22, None]
    assert cells["value"]["bar"] == [0, 0, 1, 0]
    assert cells["price"]["integer"] == ["0", "3100", "Infinity", ""]
    assert cells["price"]["fraction"] == ["000018", "", "", ""]


def test_columns_have_their_width():
    """Digits before the point of usual values, and decimals of all."""
    table = table_of(
        holdings_of(3, amount=pd.array(["123456.5", "0.125", str(2**256)], dtype="amount"))
    )
    amount = next(each for each in rows_of(table)["columns"] if each["name"] == "amount")
    assert amount["characters_and_decimals"] == (9, 3)  # a rounded number takes nine
    small = table_of(holdings_of(2, amount=pd.array(["-12", "7"], dtype="amount")))
    assert rows_of(small)["columns"][-1]["characters_and_decimals"] == (3, 0)
    empty = table_of(holdings_of(1).iloc[:0].assign(value=[]).astype({"value": "float64"}))
    assert [each["characters_and_decimals"] for each in rows_of(empty)["columns"]][-2:] == [
        (1, 0),
        (1, 2),
    ]


def test_amounts_of_one_token_have_bars():
    """Amounts of several tokens can't be compared."""
    details = fetched({f"ETH.{UPPER_A}": [token(raw=4 * 10**6)], f"ETH.{B}": [token(raw=10**6)]})
    cells = rows_of(table_of(details.holdings), sort="amount", down=True)["cells"]
    assert cells["amount"]["bar"] == [1, 0.25]
    assert "bar" not in rows_of(table_of(holdings_of(2)))["cells"]["amount"]
    none = table_of(details.holdings.assign(amount=pd.array([None, "0"], dtype="amount")))
    assert rows_of(none, sort="amount")["cells"]["amount"]["bar"] == [0, 0]


@given(st.data())
def test_some_rows_are_shown_as_alone(data):
    """In any order, searched and grouped; but names of tokens, and columns, stay."""
    details = _some()
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=60, max_size=60)))
    table = _part_of(table_of(*details[::-1]), details.holdings, marks, details.wallets)
    apart = table_of(details.holdings[marks], details.wallets)
    for requested in (
        {"sort": "amount", "down": True},
        {"sort": "token", "find": "tk1"},
        {"by": "wallet", "sort": "balances"},
        {"by": "token", "sort": "amount", "down": True},
    ):
        part, own = rows_of(table, **requested), rows_of(apart, **requested)
        numbered = ["amount"] if "amount" in own["cells"] else ["balances"]
        assert part["counted"] == own["counted"]
        assert numbers(part, *numbered) == numbers(own, *numbered)
        cell = {**requested, "column": "wallet", "row": 0}
        assert table.selection_field_and_key(cell) == apart.selection_field_and_key(cell)


def _part_of(table, holdings, chosen, wallets=None):
    mask = np.array(chosen)
    return HoldingsTable(read_positions(holdings[mask], wallets), (table, mask))


@cache
def _some():
    return made_up_details(60, wallets=6, tokens=12)


def test_bars_have_the_scale_of_the_shown_rows():
    """A filter or a search that hides the largest value makes the other bars longer."""
    holdings = holdings_of(3, value=[1000.0, 10.0, 5.0], symbol=["A", "BB", "BBB"])
    whole = table_of(holdings)
    part = _part_of(whole, holdings, [False, True, True])
    answers = rows_of(whole), rows_of(part), rows_of(whole, find="bb")
    bars = [answer["cells"]["value"]["bar"] for answer in answers]
    assert bars == [[1, 0.01, 0.005], [1, 0.5], [1, 0.5]]


def test_rows_of_one_token_have_bars():
    """The largest shown amount has the full length."""
    held = [token("DAI", 9 * 10**6, contract="0xda"), token(raw=10**6)]
    details = fetched({f"ETH.{UPPER_A}": held, f"ETH.{B}": [token(raw=4 * 10**6)]})
    whole = table_of(details.holdings, details.wallets)
    part = _part_of(whole, details.holdings, [False, True, True])
    answer = rows_of(part, sort="amount", down=True)
    assert answer["cells"]["amount"]["bar"] == [1, 0.25]
    assert "bar" not in rows_of(whole)["cells"]["amount"]
    assert (answer["total"], answer["counted"]) == (2, "2 balances")
    again = _part_of(whole, details.holdings, [True, True, False])
    assert rows_of(again)["total"] == 2
    assert rows_of(again)["cells"]["token"]["text"] == ["DAI", "TKN"]


def test_wallets_and_contracts_link_to_their_explorer():
    """By the service's link of a wallet; only of its blockchain, and only by http."""
    contract = "0x" + "c" * 40
    tokens = [token(contract=contract), token(contract=None), token(contract="0x1/../x")]
    elsewhere = token(contract=contract, blockchain="BSC")
    details = fetched({f"ETH.{whole('Ab')}": [*tokens, elsewhere], f"BSC.{whole('Ab')}": []})
    links = [
        f"https://scan.example/address/{whole('AB')}",
        f"javascript:alert(1)//{whole('Ab')}",
    ]
    wallets = details.wallets.assign(explorer_url=links)
    cells = rows_of(table_of(details.holdings, wallets))["cells"]
    assert cells["wallet"]["link"] == [links[0]] * 4
    assert cells["contract"]["link"] == [f"https://scan.example/address/{contract}", *[None] * 3]
    without = rows_of(table_of(details.holdings))["cells"]
    assert "link" not in without["wallet"]
    assert without["contract"]["link"] == [None] * 4


@pytest.mark.parametrize("by", ["wallet", "token", "asset", "blockchain", "owner", "own"])
def test_groups_are_the_librarys_own_totals(by):
    """The same sums, and their completeness."""
    details = made_up_details(300, wallets=20, tokens=30)
    wallets = details.wallets.assign(owner=["Ada", None] * 10, level=1.5)
    own = ["<b>x</b>", "y", None] * 100
    details = details._replace(wallets=wallets, holdings=value(details.holdings).assign(own=own))
    table = table_of(details.holdings, details.wallets)
    groups = [group["name"] for group in rows_of(table)["groups"]]
    assert groups == ["", "wallet", "token", "asset", "blockchain", "owner", "level", "own"]
    answer = rows_of(table, by=by, sort="balances", down=False)
    sums = totals(details.holdings, by, wallets=details.wallets)
    sums = sums.sort_values("balances", kind="stable")
    assert numbers(answer, "balances") == sums["balances"].astype(str).tolist()
    assert answer["cells"]["known"]["text"] == [
        f"{ok} of {requested}"
        for ok, requested in zip(sums.wallets_ok, sums.wallets_asked, strict=True)
    ]
    exact = answer["cells"]["value"]["copy"]
    shown = numbers(answer, "value")
    result = [float(one or other) for one, other in zip(exact, shown, strict=True)]
    assert result == sums["value"].tolist()
    if by in {"token", "asset"}:
        assert numbers(answer, "amount") == sums["amount"].astype(str).tolist()
    assert answer["total"] == len(sums)


def test_rows_are_counted_in_words():
    """Their kind, and their total."""
    table = table_of(holdings_of(2, own=["x", "x"]))
    assert rows_of(table)["counted"] == "2 balances"
    assert rows_of(table, by="wallet", find="no")["counted"] == "0 of 1 wallet match"
    assert rows_of(table, by="own")["counted"] == "1 group"


def test_groups_mark_unknown_and_stale_wallets():
    """An unknown group has no sums; old answers are counted."""
    details = fetched(
        {f"ETH.{UPPER_A}": [token(decimals=None)], f"ETH.{B}": [token()]}, source="stale"
    )
    lost = assemble([failed(C)])
    both = [pd.concat(pair, ignore_index=True) for pair in zip(details, lost, strict=True)]
    answer = rows_of(table_of(both[1], both[0]), by="wallet", sort="wallet")
    cells = answer["cells"]
    assert cells["balances"]["integer"] == ["1", "1", ""]
    assert cells["amount_na"]["integer"] == ["1", "0", ""]
    assert cells["known"]["text"] == ["1 of 1, 1 stale", "1 of 1, 1 stale", "0 of 1"]
    assert [each["label"] for each in answer["columns"]][-1] == "wallets known"


def test_wallets_have_the_users_names():
    """The name is shown, found and ordered by; the address is copied."""
    details = fetched({"ETH.0x" + "b" * 40: [token()], "ETH.0x" + "a" * 40: [token()]})
    wallets = details.wallets.assign(name=["Ada", "<i>Bob</i>"], owner=["x", "y"])
    cells = rows_of(table_of(details.holdings, wallets), sort="wallet")["cells"]
    assert cells["wallet"]["text"] == ["<i>Bob</i>", "Ada"]
    assert cells["wallet"]["aside"] == [["ETH.0xaaaa…aaaa"], ["ETH.0xbbbb…bbbb"]]
    assert cells["wallet"]["full"] == ["ETH.0x" + "a" * 40, "ETH.0x" + "b" * 40]
    [own] = [name for name in cells if name.startswith("own")]
    assert cells[own]["text"] == ["y", "x"]


def test_cells_have_pickers_values():
    """A wallet, a token or a blockchain as pickers name it, in any order; else nothing."""
    details = fetched(
        {f"ETH.{whole('Ab')}": [token("USDC", contract="0xA0"), (None, None, "?", 1, 0)]}
    )
    table = table_of(details.holdings, details.wallets)

    def meant(column, place=0, **query):
        return table.selection_field_and_key(
            {"sort": "amount", "column": column, "row": place, **query}
        )

    assert meant("wallet") == ("wallets", f"ETH.{whole('Ab')}")
    assert meant("wallet", by="wallet") == ("wallets", f"ETH.{whole('Ab')}")
    usdc = ("tokens", ("ETH", "0xa0"))
    assert meant("token", 1) == meant("contract", 1) == meant("token", 1, by="token") == usdc
    assert meant("blockchain", 1) == meant("blockchain", by="blockchain") == ("blockchains", "ETH")
    for column, place in [("token", 0), ("blockchain", 0), ("amount", 1), ("gone", 1)]:
        assert meant(column, place) is None
    for place in (-1, 2):
        assert meant("wallet", place) is None


def test_an_address_may_be_missing():
    """A user's own frame may lack one."""
    answer = rows_of(table_of(holdings_of(1, address=pd.array([None], dtype=TEXT))))
    assert answer["cells"]["wallet"]["text"] == ["ETH."]


def test_two_columns_may_have_one_name():
    """Each column of a user's odd frame is shown."""
    holdings = pd.concat(
        [holdings_of(2), pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": "a"}, [0, 1])], axis=1
    )
    answer = rows_of(table_of(holdings))
    assert [column["label"] for column in answer["columns"]][-2:] == ["x", "x"]
    assert answer["columns"][-1]["name"] != answer["columns"][-2]["name"]
    assert [group["name"] for group in answer["groups"]][-1] == "blockchain"


def test_times_are_shown_to_the_minute_and_copied_whole():
    """They are ordered as times."""
    times = pd.to_datetime([datetime(2026, 1, 31, 5, 59, 7, tzinfo=UTC)] * 1)
    answer = rows_of(table_of(holdings_of(1, seen=times)))
    cells = answer["cells"][answer["columns"][-1]["name"]]
    assert cells["text"] == ["2026-01-31 05:59"]
    assert cells["full"] == ["2026-01-31 05:59:07+00:00"]


def test_hostile_texts_are_lines_of_text():
    """Without line ends or invisible characters, short, and no formula for a spreadsheet."""
    table = table_of(hostile_holdings())
    answer = rows_of(table)
    for name in ("wallet", "token", "blockchain", "contract"):
        cells = answer["cells"][name]
        for texts in (cells["text"], cells.get("full", []), cells.get("copy", [])):
            for text in filter(None, texts):
                assert text == " ".join(text.split())
                assert len(text) <= 1_010
                assert not set(text) & set("\u202e\u2066\x00\x1b\u200b\u2028")
        copied = [
            copy or whole or text
            for text, whole, copy in zip(
                cells["text"],
                cells.get("full", [None] * 80),
                cells.get("copy", [None] * 80),
                strict=True,
            )
        ]
        assert not [text for text in copied if text.startswith(("=", "+", "-", "@"))]
    assert rows_of(table, find="hyperlink")["total"] == 2
    assert rows_of(table, find=SYMBOLS["10 MB"][:40])["total"] >= 2


def test_a_widget_answers_its_page():
    """By kind and number; other holdings are announced, and failures are shown."""
    pane = TableWidget(holdings_of(3))
    text = []
    pane.send = lambda content, buffers=None: text.append(content)
    pane._handle_custom_msg({"kind": "rows", "n": 7, "sort": "amount", "down": True}, [])
    assert (text[-1]["kind"], text[-1]["n"], order(text[-1])) == ("rows", 7, [2, 1, 0])
    pane.show(holdings_of(2, value=[1.0, 2.0], currency=["USD", "EUR"]))
    assert text[-1] == {"kind": "table"}
    pane._handle_custom_msg({"kind": "rows", "n": 8, "by": "wallet"}, [])
    assert text[-1]["failed"]
    assert "2 currencies" in pane._alert
    pane.close()
