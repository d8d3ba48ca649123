"""Fixtures of several commands: a command line to run, and the sandbox in its environment."""

import pytest
from click.testing import CliRunner

from walletframe.cli import main


@pytest.fixture(scope="session")
def run():
    """Return a function that runs the command line."""
    return lambda *words, **more: CliRunner().invoke(main, words, catch_exceptions=False, **more)


@pytest.fixture(scope="session")
def variables(service):
    """Return the environment that names the sandbox."""
    return {
        "WALLETFRAME_API_KEY": service.settings().api_key.reveal(),
        "WALLETFRAME_KEY_KIND": "private",
        "WALLETFRAME_BASE_URL": service.base_url,
        "WALLETFRAME_SERVICE": "sandbox",
    }


@pytest.fixture
def reachable(variables, monkeypatch):
    """Name the sandbox in the environment."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
