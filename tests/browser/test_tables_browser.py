"""Untrusted text in JupyterLab, in a real browser: no mathematics, no links."""

import pytest
from lab_server import SUPPORT, notebook_of, open_and_run

NOTEBOOK = "loaded.ipynb"
SETUP = """
import sys
sys.path.insert(0, {support!r})
import warnings
import pandas as pd
from fetches import fetched, token
from hostile_symbols import SYMBOLS
import walletframe as wf
TEX = {tex!r}
PATHS = {paths!r}
symbols = [*TEX, *PATHS, *PATHS, *SYMBOLS.values()]
tokens = [token(each, 10**9 + n, contract=f"0x{{n:040x}}") for n, each in enumerate(symbols)]
details = fetched({{"ETH.0x000000000000000000000000000000000000000A": tokens}})
holdings = details.holdings
pd.set_option("display.max_rows", 200)
"""
TEX = [
    r"$\rlap{\kern29em 9{,}999{,}999}$DAI",
    r"$\href{https://evil.example}{USDC}$",
    r"$\def\sum{\text{paid}}$",
    r"$$\def\int{\text{paid}}$$",
    r"\(\href{https://evil.example}{x}\)",
]
PATHS = [
    *("/", "~/", "./loaded.ipynb", "/loaded.ipynb", "x/loaded.ipynb", "x/..", "../x", "USDC / ETH"),
    *("https://loaded.ipynb", "https://../loaded.ipynb", "(x)/./", "\u00e9/\u00e9"),
]
TABLES = [
    "holdings",
    "holdings.wf.totals(by='token', wallets=details.wallets)",
    "holdings.wf.totals(wallets=details.wallets)",
    "holdings.wf.explain_spam()",
    "holdings.wf.flag_spam()",
    "holdings[['symbol']].style.format(escape='html')",
    "details",
]
LATER = r"from IPython.display import Latex; Latex(r'$\sum \int$')"
LINKED = """
warnings.warn(holdings.wf.explain_spam()["text"].str.cat(sep=" "))
print(*holdings.wf.token_labels(), file=sys.stderr)
print(details)
pd.set_option("display.max_colwidth", None)
holdings.wf.token_labels()
"""
FAILED = """
for each in PATHS:
    for fault in (
        lambda: holdings.wf.share(each),
        lambda: holdings.wf.share(each + "/.."),
        lambda: wf.WalletAddress.parse(each),
    ):
        try:
            fault()
        except wf.errors.WalletframeError:
            get_ipython().showtraceback(exception_only=True)
"""
A_PATH = "print('a / b', file=sys.stderr)"
A_PATH_CELL = ".jp-CodeCell:nth-last-child(4)"
UNLOADED = "%unload_ext walletframe\npd.reset_option('display.max_colwidth')"
OUTPUTS = ".jp-OutputArea-output"
LINKS = f"""() => [...document.querySelectorAll('.jp-CodeCell:not(:last-child) {OUTPUTS} a[href]')]
    .map(each => each.outerHTML).filter(each => !each.includes('explorer.example'))"""
TEXTS = f"() => [...document.querySelectorAll('{OUTPUTS} table')].map(each => each.textContent)"
FORMULAS = f"""() => [...document.querySelectorAll('.jp-CodeCell')].map(cell =>
    [...cell.querySelectorAll('{OUTPUTS} mjx-container')].map(each => each.outerHTML))"""


@pytest.fixture(scope="module")
def lab(lab_server):
    """Serve a notebook that shows hostile frames with the extension, and finally without it."""
    setup = SETUP.format(support=str(SUPPORT), tex=TEX, paths=PATHS)
    cells = [LATER, "%load_ext walletframe\n" + setup, *TABLES, LINKED, FAILED, A_PATH, LATER]
    with lab_server.serving(loaded=notebook_of(*cells, UNLOADED, "holdings")) as address:
        yield address


def test_untrusted_text_is_escaped(lab, visit):
    """With the extension it is no mathematics and no link, in tables, warnings or text.

    Later cells keep their meaning, too: no symbol's definition is in force. The effect of
    JupyterLab on a plain table of pandas, and on a path, is checked as well, since without it
    the test would prove little.
    """
    page = visit.page
    open_and_run(page, lab, NOTEBOOK)
    page.wait_for_selector(f".jp-CodeCell:last-child {OUTPUTS} mjx-container", state="attached")
    page.wait_for_selector(f"{A_PATH_CELL} a[href]", state="attached")
    page.wait_for_load_state("networkidle")  # each path is looked up by the server
    first, *shown, again, _, without_it = page.evaluate(FORMULAS)
    assert again == first
    assert [formulas for formulas in shown if formulas] == []
    assert len(without_it) >= len(TEX)
    [path] = page.evaluate(LINKS)
    assert path.endswith(">/</a>")
    assert all(TEX[0] in text for text in page.evaluate(TEXTS)[:2])
    message = page.locator(f"{OUTPUTS} pre").all_inner_texts()
    assert sum("https[:]\u2215\u2215ev" in text for text in message) >= 3
    assert page.evaluate("window.__ran || 0") == 0
    assert visit.outside_requests == []
