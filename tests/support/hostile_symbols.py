"""Symbols that do harm if they are not escaped, and holdings with these symbols."""

import pandas as pd

from walletframe.pandas_versions import TEXT

SCRIPT = "window.__ran = (window.__ran || 0) + 1"
SYMBOLS = {
    "bold": "<b>USDC</b>",
    "link": "<a href='https://evil.example/claim'>USDC</a>",
    "link in new window": '<a href="https://evil.example" target="_blank">claim</a>',
    "script link": f'<a href="javascript:{SCRIPT}">x</a>',
    "data link": "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "script": f"<script>{SCRIPT}</script>",
    "image": f'<img src="https://evil.example/pixel.png" onerror="{SCRIPT}">',
    "svg": f"<svg onload='{SCRIPT}'></svg>",
    "frame": "<iframe src='https://evil.example'></iframe>",
    "style": "<style>body{display:none}</style>",
    "styled": "<span style='font-size:900px;background:url(https://evil.example/x)'>USDC</span>",
    "end of script": f"</script><script>{SCRIPT}</script>",
    "end of title": f"</title></textarea><script>{SCRIPT}</script>",
    "comment": "<!-- USDC",
    "unclosed": "<a href='https://evil.example",
    "break": "US<br>DC",
    "entity": "&lt;a href='https://evil.example'&gt;x&lt;/a&gt;",
    "numeric entity": "&#60;b&#62;x",
    "formula": "$E=mc^2$",
    "two dollars": "$WIF vs $BONK",
    "TeX": r"\(\href{https://evil.example}{x}\) $\frac{1}{0}$",
    "right to left": "\u202ecdsu drawer",
    "isolate": "\u2066USDC\u2069",
    "zero width": "US\u200bDC",
    "soft hyphen": "US\u00adDC",
    "tag characters": "USDC\U000e0041\U000e0042",
    "look-alike": "U\u0405D\u0421",
    "combining": "U\u0336S\u0336D\u0336C\u0336" * 10,
    "slash": "USDC/ETH/..",
    "10 MB": "<a href='https://evil.example'>" * 330_000,
    "lines": "USDC\r\n\u2028paid\u0085here",
    "controls": "\x00\x07\x1b[31mUSDC\x7f\x9b",
    "formula of sheets": '=HYPERLINK("https://evil.example","claim")',
    "command of sheets": "@SUM(1+1)*cmd|' /C calc'!A0",
    "template": "%{customdata} %{x} %{meta[0]} {{7*7}} ${7*7}",
    "prototype": "__proto__",
    "root": "",
    "blank": "\u3164",
    "lone surrogate": "US\ufffdDC",
    "number": "1e309",
}


def hostile_holdings():
    """Return holdings of two wallets; each token's symbol, contract and owner are hostile."""
    count = len(SYMBOLS)
    owner = ["0x" + "1" * 40, "<a/href='https://evil.example'>$x$_$y$</a>"]
    rows = 2 * count
    text = {
        "blockchain": ["ETH", "<b>$B$_$S$</b>"] * count,
        "address": owner * count,
        "symbol": [symbol for symbol in SYMBOLS.values() for _ in range(2)],
        "token_address": [f"0x{row:038x}<a href='https://evil.example'>" for row in range(rows)],
        "token_blockchain": ["ETH", "<b>$B$_$S$</b>"] * count,
    }
    amounts = pd.array([str(10 + row) for row in range(rows)], dtype="amount")
    return pd.DataFrame(text, dtype=TEXT).assign(amount=amounts)
