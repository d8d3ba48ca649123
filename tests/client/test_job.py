"""Work on a thread of its own: its news come whole, whenever it ends."""

import time

import pytest

from walletframe.client import Job


@pytest.mark.parametrize("attempt", range(24))
def test_no_news_is_lost_at_the_end(attempt):
    """News that come, with the end behind them, just as a wait for news runs out are handed out."""

    def work(report):
        time.sleep(0.09)
        end = time.perf_counter() + 0.006 + attempt * 0.0004
        while time.perf_counter() < end:  # busy, so that the other thread has to wait for its turn
            pass
        report("first")
        report("last")
        return "done"

    job = Job(work)
    assert (list(job.statuses()), job.result()) == (["first", "last"], "done")
    assert job.ended.is_set()
