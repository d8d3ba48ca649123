"""Images of charts with a broken browser cause an error, and no file."""

import time

import pytest
from addresses import A, B
from fetches import fetched, token

import walletframe as wf
from walletframe.errors import MissingExtraError

SOME = {f"ETH.{A}": [token(), token("B", contract=B)], f"BSC.{B}": [token()]}
FAULTS = {
    "dies at once": "exit 1",
    "dies soon": "sleep 0.5; exit 0",
    "says nonsense, and dies": "printf 'nonsense\\0' >&4; exit 1",
}


@pytest.fixture
def browser(tmp_path, monkeypatch):
    """Return a function that uses a shell script as the browser, and returns its path."""

    def make(script):
        path = tmp_path / "browser" / "chromium"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        monkeypatch.setenv("BROWSER_PATH", str(path))
        return path

    return make


@pytest.mark.parametrize("fault", FAULTS)
def test_a_browser_that_ends_is_an_error(browser, tmp_path, fault):
    """The error comes long before the time limit and names the browser; nothing is written."""
    path = browser(FAULTS[fault])
    began = time.monotonic()
    with pytest.raises(MissingExtraError, match="ended before it had drawn all charts") as caught:
        wf.report(fetched(SOME), tmp_path / "r.html", images="static")
    assert time.monotonic() - began < 60
    assert str(path) in caught.value.message
    assert 'images="interactive"' in caught.value.hint
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("ignored", ["", "trap '' TERM"])
def test_a_browser_that_hangs_is_ended(browser, tmp_path, monkeypatch, ignored):
    """After the time limit, the browser is killed, and an error names the limit."""
    monkeypatch.setattr("walletframe.reports.document._IMAGE_TIMEOUT_S", 2.0)
    beats = tmp_path / "beats"
    browser(f"{ignored}\nwhile true; do echo >> {beats}; sleep 0.05; done")
    with pytest.raises(MissingExtraError, match="did not answer within 2 s"):
        wf.report(fetched(SOME), tmp_path / "r.html", images="static")
    counted = beats.stat().st_size
    time.sleep(1)
    assert beats.stat().st_size == counted > 0
    assert not (tmp_path / "r.html").exists()
