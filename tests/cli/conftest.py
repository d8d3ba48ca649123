"""What several commands need: a command line to run, and the sandbox in its environment."""

import pytest
from click.testing import CliRunner

from walletframe.cli import main


@pytest.fixture
def run():
    """Give a function that runs the command line."""
    return lambda *words, **more: CliRunner().invoke(main, words, catch_exceptions=False, **more)


@pytest.fixture
def reachable(service, monkeypatch):
    """Let the environment name the sandbox."""
    monkeypatch.setenv("WALLETFRAME_API_KEY", service.settings().api_key.reveal())
    monkeypatch.setenv("WALLETFRAME_KEY_KIND", "private")
    monkeypatch.setenv("WALLETFRAME_BASE_URL", service.base_url)
    monkeypatch.setenv("WALLETFRAME_SERVICE", "sandbox")
