"""The table of wallets and tokens, the labels of its columns, and pairs of wallets."""

from itertools import combinations

import pandas as pd
import pytest
from drawn_fetches import details_of, fetches, fractions, key, known_of, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from walletframe.analysis.distribution import overlap, pivot, token_labels
from walletframe.analysis.valuation import value
from walletframe.errors import ColumnsError, SettingsError
from walletframe.frames.identity import encode_tokens
from walletframe.pandas_versions import TEXT

ETHER = ("ETH", None, "ETH")
USDC = ("ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC")
TRAP = ("ETH", "0xa0b8" + "0" * 32 + "eb48", "USDC")
FETCH = [
    (("ETH", "0x01"), [(ETHER, 1, 0), (USDC, 2, 0)]),
    (("ETH", "0x02"), [(ETHER, 3, 0), (ETHER, 0, None)]),
    (("ETH", "0x03"), []),
    (("ETH", "0x04"), "failed"),
]


def expected_cell(fetch, wallet, token):
    """Return the sum of a wallet's known amounts of a token; None where none is known."""
    amounts = [row.amount for row in rows_of(fetch) if (row.wallet, row.token) == (wallet, token)]
    read = [amount for amount in amounts if amount is not None]
    return sum(read) if read or (not amounts and known_of(fetch)[wallet]) else None


@settings(max_examples=60, deadline=None)
@given(fetch=fetches, requested=st.booleans())
def test_every_cell_matches_plain_python(fetch, requested):
    """All requested wallets, or all with a row, beside all tokens, to the last digit."""
    wallets, holdings = details_of(fetch)
    table = pivot(holdings, None, by="token", wallets=wallets if requested else None)
    keys = encode_tokens(holdings).keys
    labels = dict(zip(token_labels(holdings), encode_tokens(holdings).codes, strict=True))
    rows = [key(*pair) for pair in table.index]
    held = [row.wallet for row in rows_of(fetch)]
    assert rows == (list(known_of(fetch)) if requested else list(dict.fromkeys(held)))
    assert set(table.columns) == set(labels)
    for label in table.columns:
        token = keys[labels[label]]
        assert fractions(table[label]) == [expected_cell(fetch, wallet, token) for wallet in rows]


def test_unheld_tokens_are_zero_and_unknown_amounts_are_na():
    """A failed wallet is NA, and a balance of unknown amount may add to a known one."""
    wallets, holdings = details_of(FETCH)
    table = pivot(holdings, wallets=wallets)
    assert table.columns.tolist() == ["ETH", "USDC"]
    assert (table.index.names, table.columns.name) == (["blockchain", "address"], "asset")
    assert pivot(holdings, by="token", wallets=wallets).columns.name == "token"
    assert table["ETH"].fillna(-1).tolist() == [1, 3, 0, -1]
    assert table["USDC"].fillna(-1).tolist() == [2, 0, 0, -1]
    assert {str(dtype) for dtype in table.dtypes} == {"amount"}


def test_foremost_tokens_come_first():
    """Tokens are sorted by number of holders, or by value, unpriced ones last."""
    holdings = details_of(FETCH).holdings
    assert pivot(holdings, 1).columns.tolist() == ["ETH"]
    priced = value(holdings, {USDC[:2]: 100, ETHER[:2]: 1})
    assert pivot(priced, 1).columns.tolist() == ["USDC"]
    assert pivot(value(holdings, {ETHER[:2]: 0.001})).columns.tolist() == ["ETH", "USDC"]
    with pytest.raises(SettingsError, match="n must be 1 or more, not 0"):
        pivot(holdings, 0)


def test_no_rows_give_an_empty_table():
    """The requested wallets are still there."""
    assert pivot(details_of([]).holdings).shape == (0, 0)
    wallets, holdings = details_of(FETCH[2:])
    assert pivot(holdings, wallets=wallets).shape == (2, 0)


def labels_of(*tokens):
    """Return the labels of tokens that one wallet holds."""
    held = [(token, 1, 0) for token in tokens]
    return token_labels(details_of([(("ETH", "0x01"), held)]).holdings).tolist()


@pytest.mark.parametrize(
    "tokens,labels",
    [
        ([ETHER, USDC], ["ETH", "USDC"]),
        ([USDC, ("eth", USDC[1].upper().replace("X", "x"), "usdc")], ["USDC", "USDC"]),
        (
            [USDC, ("BSC", None, "USDC")],
            ["USDC (ETH 0xa0b8…eb48)", "USDC (BSC native coin)"],
        ),
        ([USDC, TRAP], [f"USDC (ETH {USDC[1]})", f"USDC (ETH {TRAP[1]})"]),
        (
            [USDC, ("ETH", "0xbad", "USDC (ETH 0xa0b8…eb48)")],
            ["USDC", "USDC (ETH 0xa0b8…eb48) (ETH 0xbad)"],
        ),
        ([("ETH", "0x12", "\u202e\u3164")], ["(ETH 0x12)"]),
        ([USDC, ("ETH", "0x12", "USD\u0421")], ["USDC", "USD\u0421 (ETH 0x12)"]),
        ([(None, "0x12", "USDC"), USDC], ["USDC (unknown token)", "USDC (ETH 0xa0b8…eb48)"]),
    ],
)
def test_labels_distinguish_tokens(tokens, labels):
    """The label is a unique symbol, or else the contract, shortened unless that is a trap."""
    assert labels_of(*tokens) == labels


def test_equal_looking_labels_are_numbered():
    """Two contracts whose hostile symbols look alike have two labels."""
    assert labels_of(("ETH", "x\u200b", "A"), ("ETH", "x", "A")) == ["A (ETH x)", "A (ETH x) #2"]


@given(st.lists(st.tuples(*[st.text(max_size=4)] * 3), min_size=1, max_size=8))
def test_labels_are_one_to_one_and_harmless(tokens):
    """Labels are distinct and safe for any text."""
    frame = pd.DataFrame(
        tokens, columns=["token_blockchain", "token_address", "symbol"], dtype=TEXT
    )
    labels, codes = token_labels(frame), encode_tokens(frame).codes
    assert len(set(zip(labels, codes, strict=True))) == len(set(labels)) == len(set(codes))
    assert all(label and label.isprintable() for label in labels)


def test_pivot_uses_the_labels():
    """A lookalike letter, a shared symbol and an unknown token are included."""
    tokens = [USDC, ("ETH", "0x12", "USD\u0421"), ("BSC", None, "USDC"), (None, None, "X")]
    holdings = details_of([(("ETH", "0x01"), [(token, 1, 0) for token in tokens])]).holdings
    labels = token_labels(holdings).tolist()
    assert pivot(holdings, by="token").columns.tolist() == labels
    assert pivot(holdings).columns.tolist() == ["USDC", labels[1], "BNB", labels[3]]


def test_labels_keep_the_index():
    """They can be assigned to their frame."""
    holdings = details_of(FETCH).holdings.iloc[::-1]
    assert token_labels(holdings).index.equals(holdings.index)
    with pytest.raises(ColumnsError, match="'symbol'"):
        token_labels(holdings.drop(columns="symbol"))


def expected_pairs(fetch):
    """Return each pair of wallets with a common token, and how many they have."""
    sets = {}
    for row in rows_of(fetch):
        sets.setdefault(row.wallet, set()).update([row.token] if row.amount else [])
    return {
        (one, other): (len(sets[one] & sets[other]), len(sets[one] | sets[other]))
        for one, other in combinations(sets, 2)
        if sets[one] & sets[other]
    }


def pairs_of(table):
    """Read a table of pairs."""
    return [
        ((key(*row[:2]), key(*row[2:4])), (row[4], row[5])) for row in table.itertuples(index=False)
    ]


@settings(max_examples=60, deadline=None)
@given(fetch=fetches)
def test_pairs_match_set_arithmetic(fetch):
    """Every pair with something in common, the most similar first."""
    table = overlap(details_of(fetch).holdings, None, by="token")
    assert dict(pairs_of(table)) == expected_pairs(fetch)
    assert table["jaccard"].tolist() == [both / either for _, (both, either) in pairs_of(table)]
    ranks = [(-row.jaccard, -row.tokens_both) for row in table.itertuples()]
    assert ranks == sorted(ranks)


@settings(max_examples=50, deadline=None)
@given(
    sets=st.lists(st.sets(st.integers(0, 8), max_size=6), max_size=12),
    n=st.integers(1, 20),
    block=st.integers(1, 60),
)
def test_the_first_pairs_do_not_depend_on_the_block_size(sets, n, block):
    """Blocks of any size, and a limit, return the head of the whole list."""
    fetch = [
        (("ETH", f"0x{n:02}"), [(("ETH", f"0xc{token}", "T"), 1, 0) for token in tokens])
        for n, tokens in enumerate(sets)
    ]
    holdings = details_of(fetch).holdings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("walletframe.analysis.distribution._BLOCK_PAIRS", block)
        some = overlap(holdings, n)
    pd.testing.assert_frame_equal(some, overlap(holdings, None).head(n))


def test_overlap_of_the_most_similar_pair():
    """The foremost pair alone, where three have something in common."""
    one, other = ("ETH", "0xA0", "USDC"), ("ETH", "0xB0", "DAI")
    sets = {"0x1": [one, other], "0x2": [one, other], "0x3": [one]}
    fetch = [(("ETH", name), [(each, 1, 0) for each in held]) for name, held in sets.items()]
    table = overlap(details_of(fetch).holdings, 1)
    assert pairs_of(table) == [((("ETH", "0x1"), ("ETH", "0x2")), (2, 2))]


def test_overlap_refuses_huge_tables(monkeypatch):
    """The error has the size, and a way to reduce it."""
    token = ("ETH", "0xA0", "USDC")
    holdings = details_of([(("ETH", f"0x{n}"), [(token, 1, 0)]) for n in range(3)]).holdings
    monkeypatch.setattr("walletframe.analysis.distribution._MAX_STEPS_ALL_PAIRS", 11)
    hint = r'pass n=100 for the 100 largest.*"owner"\), select fewer wallets, or drop tokens'
    with pytest.raises(SettingsError, match=hint):
        overlap(holdings, None)
    assert len(overlap(holdings)) == 3
    monkeypatch.setattr("walletframe.analysis.distribution._MAX_STEPS", 11)
    with pytest.raises(
        SettingsError, match="pairs of 3 wallets takes 12 steps; the limit is 11"
    ) as result:
        overlap(holdings)
    assert 'by="owner"' in str(result.value)
    assert "n=100" not in str(result.value)
    by_chain = pd.concat([holdings.assign(blockchain=f"CHAIN{n}") for n in range(4)])
    with pytest.raises(SettingsError, match="pairs of 4 groups takes") as result:
        overlap(by_chain, by="blockchain")
    assert 'by="owner"' not in str(result.value)


def test_overlap_counts_the_wallets():
    """Failed wallets are in no pair, and are counted."""
    wallets, holdings = details_of(FETCH)
    table = overlap(holdings, wallets=wallets)
    assert table[["wallets_ok", "wallets_asked"]].to_numpy().tolist() == [[3, 4]]
    assert overlap(holdings.head(0), wallets=wallets).dtypes.equals(table.dtypes)
    with pytest.raises(SettingsError, match="n must be 1 or more, not 0"):
        overlap(holdings, 0)
