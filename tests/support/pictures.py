"""Make the pictures of README and site: ``python tests/support/pictures.py`` (needs chromium)."""

import re
import shutil
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from bare_page import BarePage
from chromium import FLAGS
from copied_code import executed
from lab_server import notebook_of, open_and_run, running_lab
from PIL import Image
from playwright.sync_api import sync_playwright

import walletframe as wf

ROOT = Path(__file__).parents[2]
FOLDER, START = ROOT / ".github" / "pictures", ROOT / "docs" / "index.md"
GALLERY = ROOT / "docs" / "gallery.md"
CHAINS = ("ETH", "BSC", "POLYGON", "ARBITRUM")
OWNERS = [sha256(bytes([number])).hexdigest()[:40] for number in range(6)]  # easy to distinguish
ADDRESSES = [f"{chain}.0x{owner:0>40}" for chain in CHAINS for owner in OWNERS]
SETUP = f"""import warnings
import walletframe as wf
warnings.simplefilter("ignore", wf.errors.SpamWarning)
service = wf.sandbox(seed=18, failure_share=0.05)
client = service.client(cache="memory")
details = wf.fetch_wallets({ADDRESSES}, client=client, progress=False, on_failure="ignore")"""
SHOW = """wf.HoldingsExplorer(
    details,
    client=client,
    prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD"),
)"""


def take_chart(page, folder):
    """Take a picture of the chart on the site's first page, for a light page and a dark one."""
    block = re.search(r"```python\n(.*?)```", START.read_text(encoding="utf-8"), re.DOTALL)
    made = executed(block[1], source=START.name)
    path = folder / "treemap.html"
    page.set_viewport_size({"width": 1000, "height": 560})
    for name, template in (("light", "plotly"), ("dark", "plotly_dark")):
        made["figure"].update_layout(template=template).write_html(path)
        page.goto(path.as_uri())
        page.wait_for_selector(".treemaplayer")
        page.locator(".js-plotly-plot").screenshot(path=FOLDER / f"treemap-{name}.png")


def take_report(page, before, details, folder):
    """Take a picture of the first screen of a report by owner, with changes."""
    teams = ["Treasury", "Operations", "Market making", "Grants"]
    owners = [teams[place % 5 % 4] for place in range(len(details.wallets))]
    before, owned = (
        each._replace(
            wallets=each.wallets.assign(
                owner=owners, fetched_at=each.wallets["fetched_at"] - pd.Timedelta(days=days)
            ),
            holdings=each.holdings.wf.value(currency="USD"),
        )
        for each, days in ((before, 30), (details, 0))
    )
    path = wf.report(owned, folder / "report.html", before=before, title="Team wallets")
    page.set_viewport_size({"width": 1280, "height": 760})
    page.goto(path.as_uri())
    page.wait_for_selector(".js-plotly-plot .main-svg")
    page.screenshot(path=FOLDER / "report.png")


def take_explorer(page, folder):
    """Take a picture of the explorer in JupyterLab."""
    (folder / "explorer.ipynb").write_text(notebook_of(SETUP, SHOW))
    page.set_viewport_size({"width": 1100, "height": 2400})
    with running_lab(folder) as address:
        open_and_run(page, address, "explorer.ipynb")
        output = page.locator(".jp-Cell-outputArea").last
        output.locator(".treemaplayer").wait_for()
        output.screenshot(path=FOLDER / "explorer.png")


def take_gallery(browser, folder):
    """Run the gallery's code, and take a picture of each result with at most 96 colours."""
    names = {}
    for section in GALLERY.read_text(encoding="utf-8").split("\n## "):
        with chdir(folder):
            executed(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], names)
        if picture := re.search(r"gallery-(\w+)\.png", section):
            path = FOLDER / picture[0]
            if show := {"explorer": show_explorer, "report": show_report}.get(picture[1]):
                page = browser.new_page(
                    viewport={"width": 960, "height": 760}, device_scale_factor=1.5
                )
                show(page, names, folder)
                page.screenshot(path=path)
                page.close()
            else:
                names["figure"].write_image(path, width=960, scale=1.5)
            Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


def show_explorer(page, names, _folder):
    """Show the explorer in a page without JupyterLab."""
    BarePage(page, names["explorer"])
    page.wait_for_selector(".treemaplayer")


def show_report(page, names, folder):
    """Show the first screen of the report."""
    page.set_viewport_size({"width": 960, "height": 850})
    page.goto((folder / names["report"]).as_uri())
    page.wait_for_selector(".js-plotly-plot .main-svg")


def main():
    """Take all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    fetches = []
    for seed in (17, 18):
        with wf.sandbox(seed=seed, failure_share=0.05) as service, service.client() as client:
            fetched = wf.fetch_wallets(ADDRESSES, client=client, refresh=True, on_failure="ignore")
            fetches.append(fetched)
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        take_chart(page, Path(made))
        take_report(page, *fetches, Path(made))
        take_explorer(page, Path(made))
        take_gallery(browser, Path(made))
        browser.close()


if __name__ == "__main__":
    main()
