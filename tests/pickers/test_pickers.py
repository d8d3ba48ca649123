"""Pickers with real widgets, without a page: what is found, chosen, told, and left behind."""

import threading
import time

import pandas as pd
import pytest
from hostile_symbols import SYMBOLS
from ipywidgets import IntText, interactive
from ipywidgets.widgets.widget import _instances
from traitlets import dlink, link
from widgets import Page, wait

from walletframe.errors import (
    AddressError,
    AmbiguousTokenError,
    ColumnsError,
    UnknownBlockchainError,
    UnknownTokenError,
)
from walletframe.pickers import BlockchainPicker, FetchPanel, TokenPicker, WalletPicker
from walletframe.pickers.chooser import Option, Options

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
).astype("str")


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes what it opens, models and threads."""
    before, models = set(threading.enumerate()), set(_instances)
    yield
    assert set(_instances) == models
    deadline = time.monotonic() + 5
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


@pytest.fixture
def opened():
    """Close what a test opens."""
    panes = []
    yield lambda pane: panes.append(pane) or pane
    for pane in panes:
        pane.close()


def type_in(picker, text):
    """Type into the search, and wait until the list follows."""
    Page(picker).type(f"Find {picker.description.lower()}", text)
    wait()


def labels(picker):
    """Return what the list shows."""
    return Page(picker).listed(picker.description)


def marked(picker):
    """Return the places that are marked in the list."""
    return Page(picker).marked(picker.description)


def mark(picker, *places):
    """Click in the list, so that the marks of some places remain."""
    Page(picker).mark(picker.description, *places)


def removers(picker):
    """Return what stands on the buttons that remove one thing."""
    return [name for name in Page(picker).buttons() if name.endswith(" ✕")]


def test_typing_finds_among_twenty_thousand(opened):
    """Words in any order and case; the name itself comes first; the first 200 are shown."""
    picker = opened(TokenPicker(MANY))
    assert "20,000 to choose from, first 200 shown, 0 chosen" in Page(picker).html()
    type_in(picker, "tk19")
    assert "1,111 of 20,000 match, first 200 shown" in Page(picker).html()
    assert labels(picker)[0].startswith("TK19 · BSC")
    assert len(labels(picker)) == 200
    type_in(picker, "bsc 0x00000000000000000000000000000000000000FF")
    assert len(labels(picker)) == 1


def test_typing_waits_for_a_pause(opened):
    """Twenty keys in a row change the list once."""
    picker = opened(TokenPicker(MANY))
    changes = []
    page = Page(picker)
    page.on_list_change("Tokens", changes.append)
    for end in range(1, 6):
        page.type("Find tokens", "TK199"[:end])
    assert changes == []
    type_in(picker, "TK1999")
    assert len(changes) == 1


def test_what_the_list_does_not_show_stays_chosen(opened):
    """Choosing under one search keeps what was chosen under another."""
    picker = opened(TokenPicker(MANY))
    type_in(picker, "tk19999")
    mark(picker, 0)
    type_in(picker, "tk12345")
    mark(picker, 0)
    chains = [chain for chain, _ in picker.value]
    assert chains == ["BSC", "BSC"]
    assert [tip[:14] for tip in Page(picker).tooltips()] == ["Remove TK19999", "Remove TK12345"]
    type_in(picker, "")
    assert marked(picker) == (0, 1)  # what is chosen comes first


@pytest.mark.parametrize("words", ["", "tk"])
def test_a_click_in_the_list_loses_no_choice(opened, words):
    """A plain click unmarks all others, which stay chosen, whatever is searched for."""
    picker = opened(TokenPicker(MANY.head(5)))
    if words:
        type_in(picker, words)
    for place in (0, 1, 3):
        mark(picker, place)
    assert [chain for chain, _ in picker.value] == ["ETH", "BSC", "BSC"]
    assert marked(picker) == (0, 1, 3)
    mark(picker, 0)  # a click on what is chosen already
    assert marked(picker) == (0, 1, 3)
    assert len(picker.value) == 3


def test_ctrl_and_click_takes_away(opened):
    """One mark that is gone while others stay, or the last one, was taken away on purpose."""
    picker = opened(BlockchainPicker(["ETH", "BSC", "NEAR"], value=["ETH", "BSC", "NEAR"]))
    mark(picker, 0, 2)
    assert picker.value == ("ETH", "NEAR")
    picker.value = ["BSC"]
    mark(picker)
    assert picker.value == ()


def test_enter_chooses_the_first_that_is_found(opened):
    """Typing and Enter are enough, even where the page sends Enter before the last letters."""
    picker = opened(TokenPicker(MANY))
    page = Page(picker)
    page.press_enter("Find tokens")
    page.type("Find tokens", "tk77")
    wait()
    assert picker.value == (("BSC", CONTRACTS[77].lower()),)
    assert page.typed("Find tokens") == ""
    page.press_enter("Find tokens")
    wait()
    assert len(picker.value) == 1


def test_a_chip_takes_its_own_away(opened):
    """A button for each, and one for all."""
    picker = opened(BlockchainPicker(["ETH", "BSC", "NEAR"], value=["ETH", "BSC"]))
    Page(picker).click("ETH")
    assert picker.value == ("BSC",)
    assert marked(picker) == (0,) or labels(picker)[marked(picker)[0]] == "BSC"
    picker.value = ["NEAR", "ETH"]
    Page(picker).click("Remove all")
    assert picker.value == ()


def test_chips_are_few_however_many_are_chosen(opened):
    """Eight buttons, and how many more."""
    picker = opened(WalletPicker(MANY.head(500)))
    picker.choose_all()
    assert len(removers(picker)) == 8
    assert "and 492 more" in Page(picker).html()
    assert len(picker.value) == 500


def test_values_are_identities(opened):
    """Any spelling can be set; what comes out is one per thing, as offered."""
    assert opened(BlockchainPicker(["Eth", "ETH"], value=["eth", "ETH"])).value == ("Eth",)
    tokens = opened(TokenPicker(MANY))
    tokens.value = [("eth", CONTRACTS[10].lower()), "TK10"]
    assert tokens.value == (("ETH", CONTRACTS[10].lower()),)
    wallets = opened(WalletPicker(["ETH.0xAB"], value=["eth.0xab", "NEAR.bob.near"]))
    assert wallets.value == ("ETH.0xAB", "NEAR.bob.near")


def test_a_text_is_one_value(opened):
    """An identifier alone is not taken for its letters, in the list and as the value."""
    picker = opened(BlockchainPicker("ETH", value="eth"))
    assert (labels(picker), picker.value) == (["ETH"], ("ETH",))
    wallets = opened(WalletPicker(value="NEAR.bob.near"))
    wallets.value = [{"blockchain": "eth", "address": "0x1"}, ("NEAR", "bob.near")]
    assert wallets.value == ("ETH.0x1", "NEAR.bob.near")


def test_native_coins_have_no_contract(opened):
    """The contract of a native coin is None."""
    frame = MANY.head(2).assign(token_address=pd.array([None, "0xAB"], dtype="str"))
    picker = opened(TokenPicker(frame, value=[("ETH", None)]))
    assert picker.value == (("ETH", None),)
    assert labels(picker)[0] == "TK0 · ETH · native coin"
    picker.value = []
    picker.value = [("eth", frame.token_address.iloc[0])]
    assert picker.value == (("ETH", None),)


def test_what_is_not_offered_is_an_error(opened):
    """A value that is not there says so, and changes nothing."""
    chains, tokens = opened(BlockchainPicker(["ETH"])), opened(TokenPicker(MANY))
    with pytest.raises(UnknownBlockchainError, match="choose from: ETH"):
        chains.value = ["SOLANA"]
    for token in [("ETH", "0x1"), ("ETH",), 5, None]:
        with pytest.raises(UnknownTokenError):
            tokens.value = [token]
    with pytest.raises(AddressError):
        opened(WalletPicker()).value = ["nonsense"]
    assert (chains.value, tokens.value) == ((), ())


@pytest.mark.parametrize("wrong", [{"blockchain": "ETH"}, None, 1])
def test_what_names_no_wallet_is_told(opened, wrong):
    """Whatever it is, by the error that tells of wallets."""
    picker = opened(WalletPicker())
    with pytest.raises(AddressError):
        picker.value = [wrong]


def test_a_picker_that_fails_leaves_nothing():
    """A value that is not there is told before there is any widget."""
    with pytest.raises(UnknownBlockchainError):
        BlockchainPicker(["ETH"], value=["SOLANA"])
    with pytest.raises(AddressError):
        FetchPanel(["nonsense"])


def test_symbol_of_several_tokens_is_refused(opened):
    """A symbol tells a token only where one alone has it."""
    picker = opened(TokenPicker(MANY.head(4).assign(symbol="USDC")))
    with pytest.raises(AmbiguousTokenError):
        picker.value = ["USDC"]


def test_a_symbol_is_no_beginning_of_another(opened):
    """A symbol tells the token that has it as written, as everywhere; else it is unknown."""
    frame = MANY.head(2).assign(symbol=["USD Coin", "TK1"])
    picker = opened(TokenPicker(frame))
    for wrong in ("USD", "usd coin", "tk1"):
        with pytest.raises(UnknownTokenError):
            picker.value = [wrong]
    picker.value = ["USD Coin"]
    assert len(picker.value) == 1


def test_symbols_are_those_of_the_offer(opened):
    """What becomes of the caller's frame later is nothing to the picker."""
    frame = MANY.head(2).assign(symbol=["TK1", "TK2"])
    picker = opened(TokenPicker(frame))
    frame.loc[len(frame)] = frame.loc[1]
    frame.columns = frame.columns.str.replace("symbol", "ticker")
    picker.value = ["TK1"]
    assert picker.value == (("ETH", CONTRACTS[0]),)


def test_what_is_pasted_whole_is_found(opened):
    """Long addresses, and contracts with the characters that links have."""
    address, contract = "addr1q" + "x" * 97, "factory/neutron1abc/astro.cw20"
    wallets = opened(WalletPicker([("CARDANO", address), ("CARDANO", address[:-1] + "y")]))
    assert wallets._options.find(address, 10)[1] == 1
    frame = MANY.head(2).assign(token_address=[contract, "0x1"])
    assert opened(TokenPicker(frame))._options.find(contract, 10)[1] == 1


def test_a_token_is_called_as_in_charts(opened):
    """By its symbol where no other has it, else with blockchain and contract; in the list whole."""
    picker = opened(TokenPicker(MANY.head(3).assign(symbol=["USDC", "USDC", "USD\u0421"])))
    picker.value = [(chain, CONTRACTS[n]) for n, chain in enumerate(["ETH", "BSC", "ETH"])]
    short = ["USDC (ETH 0x0000…0000)", "USDC (BSC 0x0000…0001)", "USD\u0421 (ETH 0x0000…0002)"]
    assert removers(picker) == [f"{name} ✕" for name in short]
    assert Page(picker).tooltips()[0] == f"Remove USDC · ETH · {CONTRACTS[0]}"


def test_frames_without_the_columns_are_refused():
    """What is missing is named."""
    with pytest.raises(ColumnsError, match="'blockchain'"):
        BlockchainPicker(pd.DataFrame({"x": [1]}))
    with pytest.raises(ColumnsError, match="'symbol'"):
        TokenPicker(pd.DataFrame({"x": [1]}))


def test_pasted_wallets_are_chosen_and_bad_lines_stay(opened):
    """Each line that can't be read is told with its number and kept to be mended."""
    picker = opened(WalletPicker())
    page = Page(picker)
    page.type("Paste wallets", "ETH.0x1\n<b>x</b>\nNEAR.alice.near, ETH.0X1\nETH.0x2…3")
    page.click("Add wallets")
    assert picker.value == ("ETH.0x1", "NEAR.alice.near")
    assert page.typed("Paste wallets") == "<b>x</b>\nETH.0x2…3"
    told = page.alert()
    assert 'role="alert"' in told
    assert "Line 1: b&gt;x&lt;/b" in told
    assert "Line 2: ETH.0x2…3: shortened" in told
    page.type("Paste wallets", "")
    page.click("Add wallets")
    assert page.alert() == ""


def test_lines_are_counted_not_words(opened):
    """A line with two bad words is one line, told once."""
    picker = opened(WalletPicker())
    page = Page(picker)
    page.type("Paste wallets", "bad one\n" + "\n".join(f"x{n}" for n in range(11)))
    page.click("Add wallets")
    told = page.alert()
    assert "12 lines can't be read" in told
    assert "Line 1: bad, one: no dot" in told
    assert "and 2 more lines" in told
    assert told.count("<li>") == 11


def test_other_things_can_be_offered(opened):
    """What is chosen stays so where it is still offered."""
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


def test_values_can_be_observed_linked_and_used_in_interact(opened):
    """A picker is as good a widget as any."""
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
    """Labels are one line, short, and without characters that can't be seen."""
    frame = pd.DataFrame(
        {
            "symbol": pd.array(HOSTILE, dtype="str"),
            "token_blockchain": "ETH",
            "token_address": [f"0x{n}" for n in range(len(HOSTILE))],
        }
    )
    picker = opened(TokenPicker(frame))
    picker.value = [("ETH", f"0x{n}") for n in range(len(HOSTILE))]
    said = [*labels(picker), *Page(picker).buttons()]
    assert all(text.isprintable() and len(text) < 100 for text in said)
    assert any(label.startswith("no symbol · ETH") for label in labels(picker))


def test_faults_are_told_where_they_happen(opened):
    """An exception in a callback is one line with the role of an alert."""
    picker = opened(BlockchainPicker(["ETH"]))

    def fail(_):
        raise RuntimeError("<b>boom</b>")

    picker.observe(fail, "value")
    mark(picker, 0)
    assert "RuntimeError: &lt;b&gt;boom&lt;/b&gt;" in Page(picker).alert()


def test_every_input_has_a_name(opened):
    """What a screen reader says of each."""
    picker = opened(TokenPicker(MANY.head(3)))
    assert Page(picker).labels() == ["Find tokens", "Tokens"]
    assert 'role="status"' in Page(picker).html()
    picker.description = "Coins"
    assert Page(picker).labels() == ["Find coins", "Coins"]


def test_closing_ends_everything():
    """A closed picker does nothing more; closing again is no error."""
    picker = TokenPicker(MANY.head(3))
    Page(picker).type("Find tokens", "tk1")
    picker.close()
    picker.close()
    mark(picker, 0)
    assert picker.value == ()
    assert picker.is_closed()


def test_a_choice_may_close_its_picker(opened):
    """On the thread of the search, too."""
    picker = opened(TokenPicker(MANY.head(3)))
    picker.observe(lambda _: picker.close(), "value")
    page = Page(picker)
    page.type("Find tokens", "tk1")
    page.press_enter("Find tokens")
    wait()
    assert picker.is_closed()
    assert len(picker.value) == 1


def test_what_is_closed_while_a_click_waits_takes_no_click(opened, monkeypatch):
    """Another thread may close it in between."""
    picker = opened(BlockchainPicker(["ETH"]))
    with monkeypatch.context() as between:
        between.setattr(picker, "is_closed", iter([False, True]).__next__)
        mark(picker, 0)
    assert picker.value == ()


def test_only_enter_chooses(opened):
    """Other messages of a page do nothing."""
    picker = opened(BlockchainPicker(["ETH"]))
    page = Page(picker)
    page.type("Find blockchains", "eth")
    page.send("Find blockchains", "focus")
    wait()
    assert picker.value == ()


def test_many_threads_choose_at_once(opened):
    """Callbacks of several threads don't lose what was chosen."""
    picker = opened(TokenPicker(MANY.head(50)))
    type_in(picker, "tk")  # in an order that stays
    threads = [
        threading.Thread(target=picker._take_marks, args=[{"new": (place,)}]) for place in range(50)
    ]
    for thread in threads:
        thread.start()
    for number in range(20):
        Page(picker).type("Find tokens", ("tk", "TK")[number % 2])
    for thread in threads:
        thread.join()
    wait()
    assert len(picker.value) == 50
    assert len(marked(picker)) == 50


def test_options_are_found_by_any_words():
    """Those whose name is the text come first, then those that begin with it, then the others."""
    names = ["ausd", "usdc eth", "usd near", "usdt"]
    options = Options(Option(name, name, name, name, name) for name in names)
    found = [option.value for option in options.find(" USD ", 10)[0]]
    assert found == ["usd near", "usdc eth", "usdt", "ausd"]
    assert options.find("eth usdc", 10)[1] == 1


def test_html_never_holds_a_script(opened):
    """No widget that takes HTML gets what a stranger wrote as it is."""
    picker = opened(WalletPicker())
    page = Page(picker)
    lines = [text[:200] for text in HOSTILE if "\n" not in text]
    page.type("Paste wallets", "\n".join(lines))
    page.click("Add wallets")
    assert "lines can't be read" in page.html()
    assert not [tag for tag in ("<script", "<img") if tag in page.html(hidden=True)]
