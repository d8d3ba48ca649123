"""Exported files in LibreOffice: every row, and no formula, link or error.

It needs LibreOffice: without it the tests are skipped, and fail with WF_TEST_NO_SKIP.
"""

import os
import shutil
import subprocess
from datetime import datetime

import openpyxl
import pandas as pd
import pytest
from hostile_symbols import SYMBOLS

import walletframe as wf
from walletframe.pandas_versions import TEXT

pytestmark = pytest.mark.stress

_MISSING = "no LibreOffice on this machine: apt-get install libreoffice-calc"
RETYPED = {  # LibreOffice's conversions of texts in a CSV file
    "1e5": 100_000,
    "2026-01-01": datetime(2026, 1, 1),  # noqa: DTZ001 - a sheet knows no zone
    "TRUE": True,
    "007": 7,
}
TEXTS = [
    *("x\r=1+1", "x\n=1+1", "x;=1+1;y", "x,=1+1", "x\t=1+1", "x|=1+1", "\r\n=1", "'=1", "\t=1"),
    *("=1+1", "+1", "-1", "@a", '=1"', '"=1"', "=cmd|'/C calc'!A0", "{=1}", "\uff1d1", "\ufeff=1"),
    *("#REF!", "#N/A", "NA", "null", "https://evil.example", "mailto:a@evil.example"),
    *(r"\\host\x", "\\", 'x\\"', "file:///etc/passwd"),
    *(text for text in SYMBOLS.values() if 0 < len(text) < 1_000 and text != "1e309"),
]
HOLDINGS = pd.DataFrame(
    {
        "blockchain": "ETH",
        "address": [f"0x{row:040x}" for row in range(len(TEXTS) + len(RETYPED))],
        "symbol": pd.array([*TEXTS, *RETYPED], dtype=TEXT),
        "token_address": [f"0x{row:040x}" for row in range(len(TEXTS) + len(RETYPED))],
        "amount": pd.array(["1.5"] * (len(TEXTS) + len(RETYPED)), dtype="amount"),
        "token_blockchain": "ETH",
    }
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Return a function that opens a file in LibreOffice, and returns the saved sheet."""
    program = shutil.which("soffice")
    if program is None:
        if "WF_TEST_NO_SKIP" in os.environ:
            pytest.fail(_MISSING)
        pytest.skip(_MISSING)
    profile = tmp_path_factory.mktemp("profile")

    def convert(path, *options):
        words = [program, "--headless", f"-env:UserInstallation={profile.as_uri()}", *options]
        folder = path.parent / "saved"
        words += ["--convert-to", "xlsx", "--outdir", str(folder), str(path)]
        subprocess.run(words, capture_output=True, check=True, timeout=100)
        return folder / f"{path.stem}.xlsx"

    return convert


def cells_of(path):
    """Return the cells below the heads, by row, after checking each of the sheet."""
    [sheet] = openpyxl.load_workbook(path).worksheets
    rows = list(sheet.iter_rows())
    assert len(rows) == 1 + len(HOLDINGS)
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if cell.data_type in "fe" or cell.hyperlink] == []
    return rows[1:]


def test_a_csv_has_all_its_rows(opened, tmp_path):
    """Texts are unchanged, except numbers, dates and booleans of LibreOffice."""
    path = tmp_path / "holdings.csv"
    HOLDINGS.wf.to_csv(path)
    rows = cells_of(opened(path, "--infilter=CSV:44,34,76,1"))
    written = pd.read_csv(path, dtype="str", keep_default_na=False)["symbol"].tolist()
    shown = [row[2].value for row in rows]
    assert shown[: len(TEXTS)] == written[: len(TEXTS)]
    assert shown[len(TEXTS) :] == list(RETYPED.values())
    assert [row[1].value for row in rows] == HOLDINGS["address"].tolist()


def test_a_csv_split_at_semicolons_is_harmless(opened, tmp_path):
    """Many spreadsheets use that separator."""
    HOLDINGS.wf.to_csv(tmp_path / "holdings.csv")
    rows = cells_of(opened(tmp_path / "holdings.csv", "--infilter=CSV:59,34,76,1"))
    assert all(row[0].value.startswith("ETH,0x") for row in rows)


def test_an_excel_file_keeps_its_texts(opened, tmp_path):
    """LibreOffice saves all of them unchanged."""
    HOLDINGS.wf.to_excel(tmp_path / "holdings.xlsx")
    saved = opened(tmp_path / "holdings.xlsx")
    cells_of(saved)
    assert wf.read_holdings(saved).equals(HOLDINGS)
