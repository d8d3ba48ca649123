"""The gallery's headings agree with its data, and its pictures are small."""

import re
from pathlib import Path

import pytest
from copied_code import executed
from test_gates import python_of

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
PAGE = GALLERY.read_text(encoding="utf-8")
PICTURE_BYTES, BYTES = 80_000, 1_000_000


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Run the code that fetches the gallery's data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("gallery"))
        return executed(python_of(GALLERY)[0])


def values(holdings, *by):
    """Return the values by some columns, with assets that include bridged versions."""
    totals = holdings.wf.totals(by=[*by], bridged="asset" in by)
    return totals.set_index([*by])["value"]


def findings(names):
    """Return the headings that the data supports."""
    valued, history, before = names["valued"], names["history"], names["before"]
    owners, chains = values(valued, "owner"), values(valued, "blockchain")
    places = values(valued, "owner", "blockchain").groupby("owner")
    assets = values(valued, "owner", "asset").reset_index()
    holders = {asset: [*rows["owner"]] for asset, rows in assets.groupby("asset")}
    desk = values(valued.wf.where(name="Desk B"), "asset")
    ether = valued.wf.share("ETH", bridged=True)["share"].nlargest(2)
    months = values(history, "snapshot", "asset").unstack()
    first, *_, last = months[["USDC", "USDT"]].sum(axis=1) / months.sum(axis=1)
    treasury = values(history, "snapshot", "owner").unstack()["Treasury"].iloc[[0, -1]]
    changes = names["wf"].history.compare(
        before, names["after"], asset="USDC", by="owner", bridged=True
    )
    (spender,) = changes.loc[changes["change"] == "decreased", "owner"]
    top, largest = owners.nlargest(2), chains.nlargest(2)
    assert (places.max() / places.sum() > 1 / 2).all()
    assert len(holders["USDC"]) == len(owners)
    return [
        f"{top.index[0]} has {top.iloc[0] / owners.sum():.0%} of the value",
        f"{' and '.join(largest.index)} have {largest.sum() / chains.sum():.0%} of the value",
        f"{top.index[0]} has {top.iloc[0] / top.iloc[1]:.1f} times the next owner's value",
        "Each owner is mostly on one blockchain",
        f"All hold USDC, only {' and '.join(holders['GMX'])} holds GMX",
        f"{desk.idxmax()} is {desk.max() / desk.sum():.0%} of the value of the wallet Desk B",
        f"Two wallets hold {ether.sum():.0%} of the ETH",
        f"USDC and USDT rose from {first:.0%} to {last:.0%} of the value",
        f"Treasury gained {treasury.diff().iloc[1] / 1e6:.1f}M USD in five months",
        f"Only {spender} holds less USDC than in January",
        f"The explorer shows the chart and every balance of {len(valued.wallets)} wallets",
        "A report opens with the total, its change and the owners",
    ]


def test_headings_are_true(names):
    """Each heading is a finding that the data supports, and the title of its chart."""
    headings = re.findall(r"^## (.*)", PAGE, re.MULTILINE)
    assert headings == findings(names)
    assert re.findall('title="(.*?)"', PAGE)[:10] == headings[:10]


def test_pictures_are_small():
    """The gallery shows twelve pictures, which load fast."""
    pictures = re.findall(r"\((\S+\.png)\)", PAGE)
    sizes = [(GALLERY.parent / each).stat().st_size for each in pictures]
    assert len(set(pictures)) == 12
    assert (max(sizes) <= PICTURE_BYTES, sum(sizes) <= BYTES) == (True, True)
