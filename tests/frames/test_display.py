"""`WalletDetails` as a person sees it: text, HTML and Markdown, complete and harmless."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from addresses import ZERO, A, B, whole
from canned_service import balance
from fetches import ANSWERED_AT, failed, record
from hostile_symbols import SYMBOLS
from IPython.core.formatters import DisplayFormatter

from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.details import WalletDetails
from walletframe.frames.display import details_html
from walletframe.frames.schema import AnswerSource
from walletframe.pandas_versions import TEXT
from walletframe.text import abbreviate

TOP = str(2**256 - 1)
TABLE = {"ul", "li", "table", "thead", "tbody", "tr", "th", "td", "a"}
HOSTILE = [*SYMBOLS.values()]
TAGS = TABLE | {"div", "strong", "caption", "span"}


class Page(HTMLParser):
    """The elements, attributes and text of a piece of HTML."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = set(), [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Record an element."""
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        """Record text."""
        self.texts.append(data)


@pytest.fixture(scope="module")
def hostile():
    """Return a wallet that holds every hostile symbol, and a failed one with a hostile reason."""
    balances = [balance(symbol=text, address=f"0x{n:040x}") for n, text in enumerate(HOSTILE)]
    wallets, holdings = assemble([record(balances=balances), failed(B)])
    return WalletDetails(wallets, holdings)


def test_jupyter_gets_three_forms():
    """IPython finds text, HTML and Markdown."""
    forms, _ = DisplayFormatter().format(assemble([record()]))
    assert {"text/plain", "text/html", "text/markdown"} <= set(forms)


@pytest.mark.parametrize("form", ["__repr__", "_repr_html_", "_repr_markdown_"])
def test_every_form_has_the_essentials(form):
    """Counts, the failure and its reason, the exact amount, and the simulation."""
    records = [record(balances=[balance(TOP, 18)], service="sandbox"), failed(B, error="gone")]
    text = getattr(assemble(records), form)().replace("&#58;", ":")
    for texts in ("1 ok, 1 failed", "1 balance of 1 token", "1 failed: gone", "Simulated data"):
        assert texts in text
    assert f"{TOP[:-18]}.{TOP[-18:]}" in text


@pytest.mark.parametrize("form", ["__repr__", "_repr_html_", "_repr_markdown_"])
def test_an_empty_fetch_is_a_sentence(form):
    """It has no tables."""
    text = getattr(assemble([]), form)()
    assert "0 wallets on 0 blockchains" in text
    assert "<table" not in text


def test_failed_wallets_come_first_and_the_rest_is_counted():
    """Failed wallets are among the few rows; captions have the total."""
    records = [record(f"0x{n:0>40}") for n in range(50)] + [failed(whole("bad"))]
    html = assemble(records)._repr_html_()
    assert html.index(f"ETH.{abbreviate(whole('bad'))}") < html.index(f"ETH.{abbreviate(ZERO)}<")
    assert "Wallets: 10 of 51" in html
    assert "Holdings: 10 of 50" in html
    assert "and 41 more" in repr(assemble(records))


def test_reasons_beyond_three_are_counted():
    """Many reasons don't fill the page."""
    records = [failed(f"0x{n:0>40}", error=f"reason {n}") for n in range(9)]
    assert "6 wallets for other reasons" in assemble(records)._repr_html_()


def test_html_of_hostile_text_has_only_our_elements(hostile):
    """Symbols and reasons make no element, no attribute and no link."""
    html = details_html(hostile.wallets, hostile.holdings)
    for start in range(0, len(HOSTILE), 10):
        html += details_html(hostile.wallets, hostile.holdings.iloc[start:])
    page = Page(html)
    assert page.tags <= TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert {value for name, value in page.attributes if name == "href"} <= {
        f"https://explorer.example/{A}"
    }
    assert "$" not in html
    assert len(html) < 200_000


def test_markdown_of_hostile_text_is_only_our_table(hostile):
    """A Markdown reader makes no link, image, emphasis or HTML of a symbol."""
    from nbconvert.filters import markdown2html  # noqa: PLC0415 - slow to load

    text = hostile._repr_markdown_()
    for start in range(0, len(HOSTILE), 10):
        text += (
            "\n\n"
            + WalletDetails(*hostile)
            ._replace(holdings=hostile.holdings.iloc[start:])
            ._repr_markdown_()
        )
    page = Page(markdown2html(text))
    assert page.tags <= TABLE | {"p"}
    assert {value for name, value in page.attributes if name == "href"} == {
        f"https://explorer.example/{A}"
    }
    assert "$" not in text


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " https://a.example",
        'https://a.example/" onclick="x',
        "data:text/html,x",
        "https://a.example/\u202e",
        "//a.example",
        "",
        None,
    ],
)
def test_only_the_web_is_linked(url):
    """Other schemes, and text that could leave its attribute, are no link."""
    assert "<a " not in assemble([record(explorerUrl=url)])._repr_html_()


def test_links_have_no_referrer():
    """A link's page learns nothing of this one."""
    html = assemble([record(explorerUrl="https://a.example/?a=1&b=2")])._repr_html_()
    assert 'href="https://a.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer"' in html


def test_a_pipe_in_a_link_stays_in_its_cell():
    """A Markdown table keeps its columns."""
    text = assemble([record(explorerUrl="https://a.example/|$x")])._repr_markdown_()
    assert "(<https://a.example/%7C%24x>)" in text


def test_colours_are_those_of_the_page():
    """There is no background and no fixed colour, in a light or dark theme."""
    html = assemble([record(service="sandbox"), failed(B)])._repr_html_()
    assert "background" not in html
    assert "#" not in html


def test_unknown_amounts_are_labelled():
    """An amount without decimals is shown in base units, not as zero."""
    html = assemble([record(balances=[balance("7", decimals=None)])])._repr_html_()
    assert ">7 base units<" in html


def test_values_are_shown_with_their_currency():
    """Values are in the tables, to the cent; an unpriced balance has none."""
    details = assemble([record(balances=[balance("1234500"), balance("1", address=B)])])
    values = {"value": [1234.5, float("nan")], "currency": pd.array(["<b>USD"] * 2, dtype=TEXT)}
    valued = details._replace(holdings=details.holdings.assign(**values))
    assert re.search(r"1,234\.50 +<b>USD\n.* - +<b>USD", repr(valued))
    assert ">1,234.50<" in valued._repr_html_()
    assert "&lt;b&gt;USD" in valued._repr_html_()
    nameless = valued.holdings.assign(currency=pd.array([None] * 2, dtype=TEXT))
    assert "currency" not in repr(valued._replace(holdings=nameless))


def test_stale_wallets_come_before_fresh_ones():
    """They have their reason."""
    fresh = record(A)
    old = WalletRecord(
        fresh.wallet, fresh.outcome, "s", ANSWERED_AT, AnswerSource.STALE, "no network"
    )
    text = repr(assemble([record(B), old]))
    assert text.index(f"ETH.{abbreviate(A)}") < text.index(f"ETH.{abbreviate(B)}")
    assert "no network" in text


def test_forms_are_of_bounded_length():
    """The page stays small with any number of rows and any length of text."""
    details = assemble([record(balances=[balance(symbol="x" * 9_999)] * 5_000)])
    assert isinstance(details.holdings, pd.DataFrame)
    assert all(len(form()) < 30_000 for form in (details.__repr__, details._repr_html_))
