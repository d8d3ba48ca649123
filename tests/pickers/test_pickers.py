"""Pickers with real widgets, without a page: options, selection, messages, and remains."""

import json
import threading
import time

import pandas as pd
import pytest
from addresses import ONE, A, B, C, whole
from fetches import failed, record
from hostile_symbols import SYMBOLS
from ipywidgets import IntText, interactive
from traitlets import dlink, link
from widgets import MODELS, Page, ask, send_state

from walletframe.errors import (
    AddressError,
    AmbiguousTokenError,
    ArgumentError,
    ColumnsError,
    UnknownBlockchainError,
    UnknownTokenError,
)
from walletframe.frames.assembly import assemble
from walletframe.pandas_versions import TEXT
from walletframe.pickers import (
    BlockchainPicker,
    FetchPanel,
    HoldingsExplorer,
    TokenPicker,
    WalletPicker,
)
from walletframe.pickers.widget import LOCK

HOSTILE = [*SYMBOLS.values()]
CONTRACTS = [f"0x{n:040X}" for n in range(20_000)]
MANY = pd.DataFrame(
    {
        "blockchain": ["ETH", "BSC"] * 10_000,
        "address": CONTRACTS,
        "symbol": [f"TK{n}" for n in range(20_000)],
        "token_blockchain": ["ETH", "BSC"] * 10_000,
        "token_address": CONTRACTS,
    }
).astype(TEXT)


@pytest.fixture(autouse=True)
def nothing_left():
    """Check that a test closes its models and threads."""
    before, models = set(threading.enumerate()), set(MODELS)
    yield
    assert set(MODELS) == models
    deadline = time.monotonic() + 5
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


@pytest.fixture
def opened():
    """Return a function whose pickers are closed after the test."""
    panes = []
    yield lambda pane: panes.append(pane) or pane
    for pane in panes:
        pane.close()


def mark(picker, *places):
    """Select the entries at some positions, as the page does."""
    Page(picker).pick(picker.description, *places)


def labels(picker):
    """Return the entries of the list."""
    return Page(picker).listed(picker.description)


def test_values_are_identities(opened):
    """Any spelling can be set; the value has each entry once, as offered."""
    assert opened(BlockchainPicker(["Eth", "ETH"], value=["eth", "ETH"])).value == ("Eth",)
    tokens = opened(TokenPicker(MANY))
    tokens.value = [("eth", CONTRACTS[10].lower()), "TK10"]
    assert tokens.value == (("ETH", CONTRACTS[10].lower()),)
    wallets = opened(
        WalletPicker([f"ETH.{whole('AB')}"], value=[f"eth.{whole('ab')}", "NEAR.bob.near"])
    )
    assert wallets.value == (f"ETH.{whole('AB')}", "NEAR.bob.near")


def test_a_text_is_one_value(opened):
    """An identifier alone is not read as its letters, in the list and as the value."""
    picker = opened(BlockchainPicker("ETH", value="eth"))
    assert (labels(picker), picker.value) == (["ETH"], ("ETH",))
    wallets = opened(WalletPicker(value="NEAR.bob.near"))
    wallets.value = [{"blockchain": "eth", "address": ONE}, ("NEAR", "bob.near")]
    assert wallets.value == (f"ETH.{ONE}", "NEAR.bob.near")


def test_native_coins_have_no_contract(opened):
    """The contract of a native coin is None."""
    frame = MANY.head(2).assign(token_address=pd.array([None, whole("AB")], dtype=TEXT))
    picker = opened(TokenPicker(frame, value=[("ETH", None)]))
    assert picker.value == (("ETH", None),)
    assert labels(picker)[0] == "TK0 · ETH · native coin"
    picker.value = []
    picker.value = [("eth", frame.token_address.iloc[0])]
    assert picker.value == (("ETH", None),)


def test_an_unknown_value_is_an_error(opened):
    """It changes nothing."""
    chains, tokens = opened(BlockchainPicker(["ETH"])), opened(TokenPicker(MANY))
    with pytest.raises(UnknownBlockchainError, match="choose from: ETH"):
        chains.value = ["SOLANA"]
    for token in [("ETH", ONE), ("ETH",), 5, None]:
        with pytest.raises(UnknownTokenError):
            tokens.value = [token]
    with pytest.raises(AddressError):
        opened(WalletPicker()).value = ["nonsense"]
    assert (chains.value, tokens.value) == ((), ())


@pytest.mark.parametrize("wrong", [{"blockchain": "ETH"}, None, 1])
def test_an_unreadable_wallet_is_an_error(opened, wrong):
    """The error is that of wallets."""
    picker = opened(WalletPicker())
    with pytest.raises(AddressError):
        picker.value = [wrong]


def test_a_picker_that_fails_leaves_nothing():
    """An unknown value raises before there is any widget."""
    with pytest.raises(UnknownBlockchainError):
        BlockchainPicker(["ETH"], value=["SOLANA"])
    with pytest.raises(AddressError):
        FetchPanel(["nonsense"])


def test_symbol_of_several_tokens_is_refused(opened):
    """A symbol has to belong to one token alone."""
    picker = opened(TokenPicker(MANY.head(4).assign(symbol="USDC")))
    with pytest.raises(AmbiguousTokenError):
        picker.value = ["USDC"]


def test_a_symbol_matches_whole(opened):
    """A symbol matches the token that has it exactly; otherwise it is unknown."""
    frame = MANY.head(2).assign(symbol=["USD Coin", "TK1"])
    picker = opened(TokenPicker(frame))
    for wrong in ("USD", "usd coin", "tk1"):
        with pytest.raises(UnknownTokenError):
            picker.value = [wrong]
    picker.value = ["USD Coin"]
    assert len(picker.value) == 1


def test_symbols_are_those_of_the_options(opened):
    """Later changes of the caller's frame have no effect."""
    frame = MANY.head(2).assign(symbol=["TK1", "TK2"])
    picker = opened(TokenPicker(frame))
    frame.loc[len(frame)] = frame.loc[1]
    frame.columns = frame.columns.str.replace("symbol", "ticker")
    picker.value = ["TK1"]
    assert picker.value == (("ETH", CONTRACTS[0]),)


def test_a_token_has_the_name_of_charts(opened):
    """A unique symbol, or else blockchain and contract; in the list in full."""
    picker = opened(TokenPicker(MANY.head(3).assign(symbol=["USDC", "USDC", "USD\u0421"])))
    picker.value = [(chain, CONTRACTS[n]) for n, chain in enumerate(["ETH", "BSC", "ETH"])]
    short = ["USDC (ETH 0x0000…0000)", "USDC (BSC 0x0000…0001)", "USD\u0421 (ETH 0x0000…0002)"]
    assert [picker._options[value].short for value in picker.value] == short
    assert labels(picker)[0] == f"USDC · ETH · {CONTRACTS[0]}"


def test_frames_without_the_columns_are_refused():
    """The error names the missing columns."""
    with pytest.raises(ColumnsError, match="'blockchain'"):
        BlockchainPicker(pd.DataFrame({"x": [1]}))
    with pytest.raises(ArgumentError, match="not a list of blockchain identifiers"):
        BlockchainPicker([1])
    with pytest.raises(ColumnsError, match="'symbol'"):
        TokenPicker(pd.DataFrame({"x": [1]}))


def test_pasted_wallets_are_selected_and_bad_lines_stay(opened):
    """Each unreadable line is reported with its number and kept for correction."""
    picker = opened(WalletPicker())
    page = Page(picker)
    page.paste(f"ETH.{ONE}\n<b>x</b>\nNEAR.alice.near, ETH.{ONE.upper()}\nETH.0x2…3")
    page.add_pasted()
    assert picker.value == (f"ETH.{ONE}", "NEAR.alice.near")
    assert page.pasted() == "<b>x</b>\nETH.0x2…3"
    alert = page.alert()
    assert "Line 1: b>x</b" in alert
    assert "Line 2: ETH.0x2…3: it is shortened: write the full address" in alert
    page.paste("")
    page.add_pasted()
    assert page.alert() == ""


def test_malformed_addresses_are_not_selected(opened):
    """The reason is that of a fetch."""
    picker = opened(WalletPicker())
    page = Page(picker)
    page.paste("ETH.0x12\nNEAR.alice.near")
    page.add_pasted()
    assert picker.value == ("NEAR.alice.near",)
    assert "Line 1: ETH.0x12: an address on ETH is 0x and 40 hex digits" in page.alert()
    with pytest.raises(AddressError, match="an address on ETH is 0x and 40 hex digits"):
        picker.value = ["ETH.0x12"]
    for source in (["ETH.0x12"], pd.DataFrame({"wallet": ["ETH.0x12"]})):
        with pytest.raises(AddressError, match="an address on ETH is 0x and 40 hex digits"):
            picker.offer(source)


def test_malformed_addresses_of_a_fetch_are_options(opened):
    """They were requested with on_unreadable="ask"."""
    details = assemble([failed("0x12")])
    for source in (details, details.wallets):
        assert opened(WalletPicker(source, value=["ETH.0x12"])).value == ("ETH.0x12",)


def test_lines_are_counted_not_words(opened):
    """A line with two bad words is one line, reported once."""
    picker = opened(WalletPicker())
    page = Page(picker)
    page.paste("bad one\n" + "\n".join(f"x{n}" for n in range(11)))
    page.add_pasted()
    alert = page.alert()
    assert "12 lines can't be read" in alert
    assert "Line 1: bad, one: there is no dot" in alert
    assert "and 2 more lines" in alert
    assert len(picker._problems) == 12  # a heading, ten lines, and the number of the others


def test_options_can_be_replaced(opened):
    """The selection stays as far as it is still offered."""
    picker = opened(BlockchainPicker(["ETH", "BSC"], value=["ETH", "BSC"]))
    picker.offer(["BSC", "NEAR"])
    assert picker.value == ("BSC",)
    assert labels(picker) == ["BSC", "NEAR"]
    tokens = opened(TokenPicker(MANY.head(2)))
    tokens.offer(MANY.head(5))
    assert len(labels(tokens)) == 5
    wallets = opened(WalletPicker(paste=False))
    assert wallets.take_pasted()
    wallets.offer(MANY.head(3))
    assert len(labels(wallets)) == 3


@pytest.mark.filterwarnings("ignore:.ipykernel.pylab.backend_inline:DeprecationWarning")  # older
def test_values_can_be_observed_linked_and_used_in_interact(opened):
    """A picker works as any widget does."""
    one, other = opened(BlockchainPicker(["ETH", "BSC"])), opened(BlockchainPicker(["ETH", "BSC"]))
    seen, count = [], IntText()
    one.observe(lambda change: seen.append(change["new"]), "value")
    linked = link((one, "value"), (other, "value"))
    counted = dlink((one, "value"), (count, "value"), len)
    other.value = ["BSC"]
    assert (seen, count.value) == ([("BSC",)], 1)
    linked.unlink()
    counted.unlink()
    box = interactive(lambda chains: chains, chains=one)
    box.update()
    assert box.result == ("BSC",)
    for widget in (box.out, box, count):
        widget.layout.close()
        widget.close()
    count.style.close()


def test_hostile_symbols_are_shown_as_text(opened):
    """Labels are one line, short, and without invisible characters."""
    frame = pd.DataFrame(
        {
            "symbol": pd.array(HOSTILE, dtype=TEXT),
            "token_blockchain": "ETH",
            "token_address": [f"0x{n}" for n in range(len(HOSTILE))],
        }
    )
    picker = opened(TokenPicker(frame))
    picker.value = [("ETH", f"0x{n}") for n in range(len(HOSTILE))]
    texts = [*labels(picker), *(option.short for option in picker._options.values())]
    assert all(text.isprintable() and len(text) < 100 for text in texts)
    assert any(label.startswith("no symbol · ETH") for label in labels(picker))


def test_errors_are_shown_in_the_widget(opened):
    """An exception in a callback is one line with the role of an alert."""
    picker = opened(BlockchainPicker(["ETH"]))

    def fail(_):
        raise RuntimeError("<b>boom</b>")

    picker.observe(fail, "value")
    mark(picker, 0)
    assert Page(picker).alert() == "RuntimeError: <b>boom</b>"
    picker.unobserve(fail, "value")
    mark(picker)
    assert Page(picker).alert() == ""


def test_values_of_the_page_are_checked(opened):
    """An outdated one is reported, and the page gets the current selection."""
    picker = opened(BlockchainPicker(["ETH", "BSC"], value=["BSC"]))
    send_state(picker, value=["BSC", "SOLANA"])
    assert "SOLANA" in Page(picker).alert()
    assert picker.value == ("BSC",)
    tokens = opened(TokenPicker(MANY.head(2)))
    send_state(tokens, value=[["ETH", CONTRACTS[0].lower()]])
    assert tokens.value == (("ETH", CONTRACTS[0].lower()),)


def test_the_collector_waits_for_no_handler():
    """A closed widget may be collected on any thread, also one that a handler waits for."""
    picker = BlockchainPicker(["ETH"])
    picker.close()
    thread = threading.Thread(target=picker.__del__)
    with LOCK:
        thread.start()
        thread.join(5)
        assert not thread.is_alive()


def test_closing_ends_everything():
    """A closed picker does nothing more; closing again is no error."""
    picker = TokenPicker(MANY.head(3))
    picker.close()
    picker.close()
    mark(picker, 0)
    assert picker.value == ()
    assert picker.is_closed()


def test_a_callback_may_close_its_picker(opened):
    """While the page waits for its value."""
    picker = opened(TokenPicker(MANY.head(3)))
    picker.observe(lambda _: picker.close(), "value")
    mark(picker, 1)
    assert picker.is_closed()
    assert len(picker.value) == 1


def test_a_picker_closed_during_a_click_ignores_it(opened):
    """Another thread may close it in between."""
    picker = opened(BlockchainPicker(["ETH"]))
    click = threading.Thread(target=mark, args=(picker, 0))
    with LOCK:
        click.start()
        picker.close()
    click.join()
    assert picker.value == ()


def test_errors_of_pasted_text_are_harmless_lines(opened):
    """One each, for text of any length and content."""
    picker = opened(WalletPicker())
    page = Page(picker)
    lines = [text[:200] for text in HOSTILE if "\n" not in text]
    page.paste("\n".join(lines))
    page.add_pasted()
    assert "lines can't be read" in page.alert()
    assert all(line.isprintable() and len(line) < 300 for line in picker._problems)


def test_options_are_sorted_by_value(opened):
    """By the service's prices, or by values of holdings; without either by balances."""
    raw = pd.Series(["1", "2", "3", "4"]).astype("amount")
    held = MANY.head(4).assign(amount=raw, price=[1.0, 5.0, None, -1.0])
    held["token_address"] = held["token_address"].where([True] * 3 + [False], CONTRACTS[2])
    held["token_blockchain"] = ["ETH", "BSC", "ETH", "ETH"]
    picker = opened(TokenPicker(held))
    assert [label[:3] for label in labels(picker)] == ["TK1", "TK0", "TK2"]
    columns = picker._options.to_lists()
    assert columns["value_texts"] == ["10", "1", ""]
    assert columns["balances"] == [1, 1, 2]
    assert columns["sorted"] == "value at the service's prices"
    valued = opened(TokenPicker(held.assign(value=[7.0, 0.001, 2.0, 2.0], currency="USD")))
    columns = valued._options.to_lists()
    assert (columns["value_texts"], columns["sorted"]) == (["7", "4", "<0.01"], "value in USD")
    mixed = held.assign(value=1.0, currency=["USD", "EUR", "USD", "USD"])
    assert labels(opened(TokenPicker(mixed)))[0][:3] == "TK2"
    assert opened(TokenPicker(mixed))._options.to_lists()["sorted"] == ""


def test_remaining_options(opened):
    """A part of the options has its own figures; the selection stays."""
    raw = pd.Series(["1", "2", "3"]).astype("amount")
    held = MANY.head(3).assign(amount=raw, price=1.0)
    chains, wallets = opened(BlockchainPicker(held, value=["BSC"])), opened(WalletPicker(held))
    assert ask(chains, "options")["remaining"] is None
    for picker in (chains, wallets):
        picker.narrow(held.iloc[[0]])
    left = {"indices": [0], "balances": [1], "value_texts": ["1"]}
    assert ask(chains, "options")["remaining"] == left
    assert chains.value == ("BSC",)
    assert ask(wallets, "options")["remaining"] == left | {"indices": [2]}
    chains.narrow(["BSC", "NEAR"])
    left = {"indices": [1], "balances": [None], "value_texts": [""]}
    assert ask(chains, "options")["remaining"] == left
    chains.narrow([])
    assert ask(chains, "options")["remaining"]["indices"] == []
    chains.narrow()
    assert ask(chains, "options")["remaining"] is None
    chains.narrow(["ETH"])
    chains.offer(["ETH", "NEAR"])
    assert ask(chains, "options")["remaining"] is None


def test_wallets_that_are_known_to_be_empty(opened):
    """They have no balances; a wallet that is not ok has no figure."""
    details = assemble([record(), record(B, balances=[]), failed(C)])
    answer = ask(opened(WalletPicker(details)), "options")
    assert answer["values"] == [f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"]
    assert answer["balances"] == [1, 0, None]
    assert answer["full_texts"] == [None] * 3


def test_wallets_have_the_users_names(opened):
    """The name comes first; shortened, it is found whole all the same."""
    frame = MANY.head(2).assign(name=["Ada", "B" * 30])
    theirs = {"blockchain": "blockChain", "address": "walletAddress"}  # the service's names
    for source in (frame, frame.rename(columns=theirs)):
        answer = ask(opened(WalletPicker(source)), "options")
        assert answer["names"] == ["Ada", "B" * 23 + "…"]
        assert answer["short"]["0"] == "Ada · ETH.0x0000…0000"
        assert answer["search_text"] == {"1": "B" * 30}


def test_the_whole_address_is_sent_and_found(opened):
    """Long addresses, and contracts with the characters of links."""
    address, contract = "addr1q" + "x" * 97, "factory/neutron1abc/astro.cw20"
    answer = ask(opened(WalletPicker([("CARDANO", address)])), "options")
    assert (answer["values"], answer["full_texts"]) == ([f"CARDANO.{address}"], [None])
    answer = ask(opened(TokenPicker(MANY.head(1).assign(token_address=[contract]))), "options")
    assert contract in [
        answer["full_texts"][0],
        answer["search_text"].get("0"),
        answer["values"][0][1],
    ]


def test_twenty_thousand_options_are_a_small_message(opened):
    """It has all that a page shows and searches."""
    held = MANY.assign(token_address=MANY.token_address.str.lower())
    assert len(json.dumps(ask(opened(TokenPicker(held)), "options"))) < 2e6


def test_a_failed_request_is_reported(opened):
    """The page learns that no answer will come, and the widget shows the reason."""
    picker = opened(BlockchainPicker(["ETH"]))
    picker._options = None
    assert ask(picker, "options")["failed"]
    assert "AttributeError" in Page(picker).alert()
    picker._handle_custom_msg({"kind": "unheard"}, [])


def test_some_tokens_remain(opened):
    """Those of a frame, by identity."""
    picker = opened(TokenPicker(MANY.head(3)))
    picker.narrow(MANY.iloc[[2]])
    assert ask(picker, "options")["remaining"]["indices"] == [2]
    with pytest.raises(ColumnsError, match="'symbol'"):
        picker.narrow(pd.DataFrame({"x": [1]}))


def test_a_message_may_need_no_answer(opened):
    """Its error is shown in the widget alone."""
    picker = opened(WalletPicker())
    picker.value = [f"ETH.{ONE}"]
    picker._handlers["paste"] = lambda _: 1 / 0
    Page(picker).add_pasted()
    assert Page(picker).alert() == "ZeroDivisionError: division by zero"


def test_an_invisible_picker_has_a_hint(opened):
    """In place of its page, in a console or a reopened notebook."""
    picker, explorer = opened(BlockchainPicker(["ETH"])), opened(HoldingsExplorer(assemble([])))
    assert repr(picker) == "<BlockchainPicker: run this cell again to see it>"
    assert repr(explorer) == "<HoldingsExplorer: run this cell again to see it>"
