"""Pickers in a real browser, on an otherwise empty page: typed into, clicked, driven by keys."""

import pandas as pd
import pytest
from addresses import ONE, whole
from axe import violations
from bare_page import BarePage
from hostile_symbols import SYMBOLS
from playwright.sync_api import expect

from walletframe.pickers import BlockchainPicker, TokenPicker, WalletPicker

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
SOME = MANY.head(2_000)
FEW = MANY.head(3).assign(
    symbol=["USDC", "ETH", "WIF"],
    token_address=pd.array([CONTRACTS[0], None, CONTRACTS[2]], dtype="str"),
    amount=pd.Series(["10", "2", "1000"]).astype("amount"),
    price=[1.0, 3_000.0, None],
)
WIDTHS = (240, 360, 600, 900, 1280, 1600)
WIDER = """() => [...document.querySelectorAll('main *')].filter(
    each => each.scrollWidth > each.clientWidth + 1
        && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
).length + (document.documentElement.scrollWidth > innerWidth ? 1 : 0)"""


@pytest.fixture
def show(shared_tab):
    """Return a function that shows pickers on a page, and check that no error occurs."""
    opened = []

    def show_pickers(*pickers):
        opened.extend(pickers)
        return BarePage(shared_tab.page, *pickers)

    yield show_pickers
    assert (shared_tab.outside_requests, shared_tab.messages) == ([], [])
    for picker in opened:
        picker.close()


def search(page, things="tokens"):
    """Return the search field."""
    return page.get_by_role("combobox", name=f"Find {things}")


def option(page, text):
    """Return the first option that holds a text."""
    return page.get_by_role("option").filter(has_text=text).first


def active(page, things="tokens"):
    """Return the marked option."""
    return page.locator(f"#{search(page, things).get_attribute('aria-activedescendant')}")


def test_typing_finds_among_twenty_thousand(show):
    """Words match in any order and case, exact names first; only visible rows are on the page."""
    shown = show(TokenPicker(MANY))
    page = shown.page
    expect(page.locator(".wf-picker")).to_contain_text("20,000 to choose from")
    requested = len(shown.sent)
    search(page).press_sequentially("tk19")
    expect(page.locator(".wf-picker")).to_contain_text("1,111 of 20,000 match")
    expect(page.get_by_role("option").first).to_contain_text("TK19BSC")
    expect(page.get_by_role("option").first).to_have_attribute("aria-setsize", "1111")
    assert page.get_by_role("option").count() < 40
    search(page).fill("bsc 0x00000000000000000000000000000000000000FF")
    expect(page.get_by_role("option")).to_have_count(1)
    search(page).fill("nothing of this kind")
    expect(page.locator(".wf-picker")).to_contain_text("No option matches")
    assert len(shown.sent) == requested  # the kernel gets no request for a key


def test_scrolling_shows_rows_at_once(show):
    """At any position, the visible rows are there when the page is painted."""
    page = show(TokenPicker(MANY)).page
    expect(page.get_by_role("option").first).to_be_visible()
    seen = page.evaluate("""async () => {
        const list = document.querySelector('[role=listbox]');
        const found = [];
        for (const part of [0.5, 0.99, 0.1, 1, 0]) {
            list.scrollTop = part * list.scrollHeight;
            await new Promise(requestAnimationFrame);
            await new Promise(requestAnimationFrame);
            const box = list.getBoundingClientRect();
            const rows = [...list.querySelectorAll('[role=option]')].map(
                row => row.getBoundingClientRect()).filter(
                row => row.bottom > box.top && row.top < box.bottom);
            found.push(rows.reduce((sum, row) => sum + Math.min(row.bottom, box.bottom)
                - Math.max(row.top, box.top), 0) / box.height);
        }
        return found;
    }""")
    assert min(seen) > 0.99


def test_clicks_select_and_deselect(show):
    """Each click affects one entry; entries out of sight stay selected."""
    picker = TokenPicker(SOME)
    page = show(picker).page
    search(page).fill("tk1999")
    option(page, "TK1999").click()
    search(page).fill("tk1235")
    option(page, "TK1235").click()
    search(page).fill("")
    for name in ("TK0", "TK1"):
        page.get_by_role("option").filter(has_text=name).first.click()
    chips = page.get_by_role("group", name="Selected tokens").get_by_role("button")
    expect(chips).to_have_text(["TK1999 ✕", "TK1235 ✕", "TK0 ✕", "TK1 ✕", "Remove all"])
    assert [contract for _, contract in picker.value] == [
        CONTRACTS[place].lower() for place in (1_999, 1_235, 0, 1)
    ]
    expect(page.get_by_role("option", selected=True)).to_have_count(2)
    option(page, "TK0").click()
    assert len(picker.value) == 3
    page.get_by_role("button", name="Remove TK1235 · BSC").click()
    assert len(picker.value) == 2
    chips.last.click()
    expect(chips).to_have_count(0)
    assert picker.value == ()


def test_enter_selects_the_match(show):
    """After Enter, the next name can be typed."""
    picker = TokenPicker(SOME)
    page = show(picker).page
    search(page).press("Enter")
    assert picker.value == ()
    for name in ("tk77", "tk78"):
        search(page).press_sequentially(name)
        expect(active(page)).to_contain_text(name.upper())
        search(page).press("Enter")
        expect(search(page)).to_have_value("")
    assert [contract for _, contract in picker.value] == [
        CONTRACTS[77].lower(),
        CONTRACTS[78].lower(),
    ]
    page.keyboard.down("Backspace")  # the line is empty: only the last is removed
    page.keyboard.down("Backspace")
    page.keyboard.up("Backspace")
    assert len(picker.value) == 1
    search(page).press_sequentially("tk77")  # it is selected: the next match is marked
    expect(active(page)).to_contain_text("TK770")


def test_the_whole_list_by_keys(show):
    """Arrows, pages, Home and End move; Enter selects and deselects; Backspace and Esc undo."""
    picker = TokenPicker(SOME)
    page = show(picker).page
    search(page).focus()
    for key, name in {
        "ArrowDown": "TK0",
        "PageDown": "TK7",
        "ArrowUp": "TK6",
        "End": "TK1999",
        "Home": "TK0",
    }.items():
        page.keyboard.press(key)
        expect(active(page)).to_contain_text(f"{name}{'BSC' if int(name[2:]) % 2 else 'ETH'}")
        expect(active(page)).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert len(picker.value) == 2
    page.keyboard.press("Enter")
    assert [contract for _, contract in picker.value] == [CONTRACTS[0].lower()]
    page.keyboard.press("Escape")
    assert search(page).get_attribute("aria-activedescendant") is None
    page.keyboard.press("Backspace")
    assert picker.value == ()
    page.keyboard.type("tk5")
    page.keyboard.press("Home")  # belongs to the text
    page.keyboard.type("x")
    expect(search(page)).to_have_value("xtk5")
    page.keyboard.press("Escape")
    expect(search(page)).to_have_value("")
    page.keyboard.press("Tab")  # to the button for all, not through two thousand rows
    expect(page.get_by_role("button", name="Select all 2,000")).to_be_focused()


def test_all_matches_are_selected_at_once(show):
    """One button selects them all, and deselects them; a few chips stand for many."""
    picker = TokenPicker(SOME)
    page = show(picker).page
    search(page).fill("tk199")
    page.get_by_role("button", name="Select all 11 that match").click()
    assert len(picker.value) == 11
    chips = page.get_by_role("group", name="Selected tokens")
    expect(chips.get_by_role("button", name="Remove TK")).to_have_count(8)
    search(page).fill("")
    chips.get_by_role("button", name="and 3 more").click()
    expect(page.get_by_role("option")).to_have_count(11)
    chips.get_by_role("button", name="Show all").click()
    search(page).fill("tk199")
    page.get_by_role("button", name="Remove all 11 that match").click()
    assert picker.value == ()


def test_entries_left_by_other_filters(show):
    """The list has their number, sorted by their counts; the selection stays."""
    picker = TokenPicker(FEW, value=["USDC"])
    shown = show(picker)
    box = shown.page.locator(".wf-picker")
    rows = shown.page.get_by_role("option")
    expect(rows).to_contain_text(["ETH", "USDC", "WIF"])
    expect(rows.first).to_contain_text("6k")
    expect(box).to_contain_text("by value at the service's prices")
    picker.narrow(FEW.iloc[[1, 2]])
    shown.send_changes()
    expect(box).to_contain_text("2 of 3 available")
    expect(rows).to_contain_text(["ETH", "WIF"])
    expect(box.get_by_role("button", name="Remove USDC")).to_have_class("wf-chip wf-chip-away")
    picker.narrow(FEW.iloc[:0])
    shown.send_changes()
    expect(box).to_contain_text("No option matches the other filters")
    picker.narrow()
    shown.send_changes()
    expect(box).to_contain_text("3 to choose from")
    assert len(picker.value) == 1


def test_the_page_follows_python(show):
    """Values, options and names set in Python are visible, even new ones."""
    wallets, chains = (
        WalletPicker([f"ETH.{whole('AB')}"], paste=False),
        BlockchainPicker(["ETH", "BSC"]),
    )
    shown = show(wallets, chains)
    page = shown.page
    wallets.value = ["NEAR.alice.near"]
    chains.value = ["BSC"]
    shown.send_changes()
    expect(page.get_by_role("button", name="Remove NEAR.alice.near")).to_be_visible()
    expect(page.get_by_role("option", name="NEAR")).to_have_attribute("aria-selected", "true")
    chains.offer(["NEAR", "SOLANA", "BASE"])
    chains.description = "Chains"
    shown.send_changes()
    expect(page.get_by_role("listbox", name="Chains").get_by_role("option")).to_have_count(3)
    expect(page.get_by_role("button", name="Remove BSC")).to_have_count(0)
    assert search(page, "chains").is_visible()
    ids = page.evaluate("[...document.querySelectorAll('main [id]')].map(each => each.id)")
    assert len(ids) == len(set(ids)) > 0


def test_wallets_are_found_by_name(show):
    """Their buttons have the name."""
    picker = WalletPicker(FEW.assign(name=["Ada", "St. Dee", None]))
    page = show(picker).page
    search(page, "wallets").fill("dee")
    expect(page.get_by_role("option")).to_contain_text(["St. Dee"])
    search(page, "wallets").press("Enter")
    expect(page.get_by_role("button", name="Remove St. Dee")).to_contain_text(
        "St. Dee · BSC.0x0000"
    )
    assert picker.value == (f"BSC.{CONTRACTS[1]}",)


def test_pasted_wallets(show):
    """Pasted lines go into the field; unreadable ones stay, with the reason."""
    picker = WalletPicker([f"ETH.{ONE}"])
    page = show(picker).page
    field = page.get_by_label("Paste wallets")
    field.fill(f"ETH.{ONE}\nnonsense\nNEAR.alice.near")
    page.get_by_role("button", name="Add wallets").click()
    expect(
        page.get_by_role("alert").filter(has_text="Line 1: nonsense: there is no dot")
    ).to_be_visible()
    expect(field).to_have_value("nonsense")
    assert picker.value == (f"ETH.{ONE}", "NEAR.alice.near")
    field.fill("")
    page.get_by_role("button", name="Add wallets").wait_for(state="hidden")
    page.evaluate("""() => {
        const given = new DataTransfer();
        given.setData('text', 'NEAR.bob.near\\nNEAR.carol.near');
        document.querySelector('[role=combobox]').dispatchEvent(
            new ClipboardEvent('paste', { clipboardData: given, bubbles: true, cancelable: true }));
    }""")
    expect(field).to_have_value("NEAR.bob.near\nNEAR.carol.near")
    page.get_by_role("button", name="Add wallets").click()
    expect(page.get_by_role("alert").filter(has_text="Line")).to_be_hidden()
    assert picker.value[2:] == ("NEAR.bob.near", "NEAR.carol.near")
    expect(page.get_by_role("option")).to_have_count(4)


def test_buttons_of_the_selection_keep_the_focus(show):
    """If a button is removed the next has the focus, or at last the search."""
    page = show(TokenPicker(FEW, value=["USDC", "WIF"])).page
    page.get_by_role("button", name="Remove USDC").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove WIF")).to_be_focused()
    page.keyboard.press("Enter")
    expect(search(page)).to_be_focused()


def test_no_list_without_options(show):
    """The picker is a field to paste into."""
    page = show(WalletPicker(), BlockchainPicker([])).page
    expect(page.get_by_role("group", name="Blockchains")).to_contain_text("There are no options")
    expect(page.get_by_label("Paste wallets")).to_be_visible()
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_addresses_are_copied_in_full(show):
    """By a click beside them, which selects nothing, and by keys; they are displayed shortened."""
    picker = TokenPicker(FEW)
    page = show(picker).page
    row = option(page, "USDC")
    expect(row).to_contain_text("0x0000…0000")
    assert row.locator("[title]", has_text="0x").get_attribute("title") == CONTRACTS[0]
    row.hover()
    row.locator(".wf-copy").click()
    expect(page.locator(".wf-picker")).to_contain_text("Copied 0x0000…0000")
    assert picker.value == ()
    search(page).press("Control+v")
    expect(search(page)).to_have_value(CONTRACTS[0])
    search(page).fill("wif")
    search(page).press("Control+c")
    expect(page.locator(".wf-picker")).to_contain_text("Copied 0x0000…0002")
    expect(option(page, "WIF").locator(".wf-copy")).to_be_visible()
    search(page).fill("eth")
    expect(option(page, "native coin").locator(".wf-copy")).to_be_hidden()


def test_errors_are_shown_in_the_picker(show):
    """An exception of the user's handler is shown."""

    def fail(_):
        raise RuntimeError("<b>boom</b>")

    picker = BlockchainPicker(["ETH"])
    page = show(picker).page
    picker.observe(fail, "value")
    page.get_by_role("option").click()
    expect(page.get_by_role("alert")).to_have_text("RuntimeError: <b>boom</b>")


def test_hostile_symbols_are_text(show):
    """No untrusted element, script or formula appears, wherever a name is shown."""
    symbols = pd.array([*SYMBOLS.values()], dtype="str")
    frame = MANY.head(len(symbols)).assign(symbol=symbols)
    picker = TokenPicker(frame)
    page = show(picker).page
    page.get_by_role("button", name="Select all").click()
    expect(page.get_by_role("group", name="Selected tokens")).to_be_visible()
    assert (
        page.locator("main :is(a, b, img, script, iframe, svg, math, marquee, style)").count() == 0
    )
    assert page.evaluate("window.__ran || 0") == 0
    search(page).fill("<b>usdc</b>")
    expect(option(page, "<b>USDC</b>")).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_truncated_at_any_width(show, width):
    """There is no horizontal scrollbar, and numbers are complete, for any selection."""
    picker = TokenPicker(FEW, value=["USDC", "WIF", "ETH"])
    wallets = WalletPicker([("CARDANO", "addr1q" + "x" * 97)])
    shown = show(picker, wallets, BlockchainPicker(FEW))
    shown.page.set_viewport_size({"width": width, "height": 800})
    expect(shown.page.get_by_role("option")).to_have_count(6)
    assert shown.page.evaluate(WIDER) == 0
    for part in shown.page.locator(":is(.wf-option-worth, .wf-option-count)").all():
        assert part.evaluate("each => each.scrollWidth <= each.clientWidth + 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(show, scheme):
    """Axe finds no violation of WCAG 2.2 AA, in light and dark, for any selection."""
    tokens = TokenPicker(FEW, value=["USDC", "WIF"])
    shown = show(tokens, WalletPicker(FEW), BlockchainPicker(FEW), WalletPicker())
    page = shown.page
    page.emulate_media(color_scheme=scheme)
    tokens.narrow(FEW.iloc[[0, 1]])
    shown.send_changes()
    page.get_by_label("Paste wallets").first.fill("nonsense")
    page.get_by_role("button", name="Add wallets").click()
    search(page).fill("e")
    search(page).press("ArrowDown")
    assert violations(page) == []


def test_a_removed_widget_leaves_nothing_behind(show):
    """No element and no listener is left."""
    picker = BlockchainPicker(["ETH"])
    shown = show(picker)
    expect(shown.page.get_by_role("option")).to_have_count(1)
    shown.page.evaluate("models[0].end()")
    assert shown.page.locator("main > div > *").count() == 0
    picker.value = ["ETH"]
    shown.send_changes()
    assert shown.page.locator(".wf-chip").count() == 0
