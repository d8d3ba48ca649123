"""``walletframe demo``: the whole way once, on simulated data."""

from __future__ import annotations

import click

from walletframe.cli.fetch import show
from walletframe.cli.screen import say
from walletframe.frames import known_wallets
from walletframe.numerals import many
from walletframe.service import SHOWCASE
from walletframe.service import sandbox as start_sandbox


@click.command()
@click.option("--refresh", is_flag=True, help="Ask the sandbox again, whatever is in the cache.")
def demo(*, refresh: bool) -> None:
    """Fetch simulated wallets from a sandbox on this machine.

    The second time, the answers come from the cache.
    """
    with start_sandbox(latency_s=0.1) as service, service.client() as client:
        say(f"Simulated data: a sandbox at {service.base_url} stands in for the service.\n")
        details = client.fetch(SHOWCASE, refresh=refresh, progress=False, on_failure="ignore")
        show(details, None)
        failed = details.wallets[~known_wallets(details.wallets, stale=True)]
        for row in failed.itertuples():
            say(f"Failed: {row.blockchain}.{row.address}: {row.error}")
        cached = int((details.wallets["source"] == "cache").sum())
        say(
            f"{cached} of {many(len(details.wallets), 'answer')} came from the cache, "
            f"{client.settings.cache}"
        )
        if not cached:
            say("Run it again: what is ok is answered from there.")
