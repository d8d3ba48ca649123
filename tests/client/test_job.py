"""Work on a thread of its own: its news arrive whole, whenever it ends."""

import time

import pytest

from walletframe.client import Job


@pytest.mark.parametrize("attempt", range(24))
def test_no_news_is_lost_at_the_end(attempt):
    """News and the end that arrive just as a wait for news times out are returned."""

    def work(report):
        time.sleep(0.09)
        end = time.perf_counter() + 0.006 + attempt * 0.0004
        while time.perf_counter() < end:  # busy, so that the other thread has to wait
            pass
        report("first")
        report("last")
        return "done"

    job = Job(work)
    assert (list(job.statuses()), job.result()) == (["first", "last"], "done")
    assert job.ended.is_set()
