"""Proxies and certificates: the environment's way to the service."""

import os
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from addresses import A
from canned_service import KEY
from certificates import certified
from fault_server import FaultServer
from socks_server import SocksProxy

import walletframe as wf
from walletframe.client import Client

pytestmark = pytest.mark.timeout(120)

NAMED = "https://api.example"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Return a service that speaks TLS as api.example and as 127.0.0.1, and is trusted."""
    context, path = certified(tmp_path, "api.example", "127.0.0.1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", path)
    monkeypatch.setenv("no_proxy", "")
    with FaultServer(None, None, context=context) as running:
        yield running


def address_of(server):
    """Return host and port."""
    parts = urlsplit(server.base_url)
    return parts.hostname, parts.port


def fetch(base_url, wallets=f"ETH.{A}"):
    """Fetch once."""
    own = {"api_key": KEY, "key_kind": "private", "cache": "memory", "deadline_s": 0}
    with Client(base_url=base_url, timeout_s=5, **own) as client:
        return client.fetch(wallets, on_failure="ignore", progress=False).wallets


@pytest.mark.parametrize("scheme, by_name", [("socks5h", True), ("socks5", False)])
def test_a_socks_proxy_leads_to_the_service(server, monkeypatch, scheme, by_name):
    """It looks up the name for socks5h, and gets nothing but TLS's encrypted bytes."""
    base_url = NAMED if by_name else server.base_url
    with SocksProxy(address_of(server)) as proxy:
        monkeypatch.setenv("https_proxy", f"{scheme}://{proxy.address}")
        wallets = fetch(base_url, [f"ETH.0x{each:0>40}" for each in range(20)])
        assert wallets.status.tolist() == ["ok"] * 20
        assert {host for host, _ in proxy.targets} == {"api.example" if by_name else "127.0.0.1"}
        assert len(server.requested) == 20
    assert KEY.encode() not in proxy.received
    assert b"address=" not in proxy.received


def test_a_socks5_proxy_looks_up_no_name(server, monkeypatch):
    """The name is looked up here, and the proxy gets an address."""
    base_url = server.base_url.replace("127.0.0.1", "localhost")
    with SocksProxy(address_of(server)) as proxy:
        monkeypatch.setenv("all_proxy", f"socks5://{proxy.address}")
        fetch(base_url)
        assert proxy.targets == [address_of(server)]


def test_a_socks_proxy_gets_its_login(server, monkeypatch):
    """A right one is sent, and a wrong one reported."""
    with SocksProxy(address_of(server), login=("me", "a-pass")) as proxy:
        for password, status in [("a-pass", "ok"), ("another", "unreachable")]:
            monkeypatch.setenv("https_proxy", f"socks5h://me:{password}@{proxy.address}")
            wallets = fetch(NAMED)
            assert wallets.status.item() == status
    assert wallets.error.item() == "the proxy did not let the request through"


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks4", "socks4a"])
def test_a_missing_socks_proxy_is_reported(monkeypatch, scheme):
    """For every version, the port is closed."""
    monkeypatch.setenv("https_proxy", f"{scheme}://127.0.0.1:9")
    assert "proxy" in fetch("https://127.0.0.1").error.item()


def test_a_refusing_socks_proxy_is_reported(monkeypatch, server):
    """Its own rule set forbids the connection."""
    with SocksProxy(address_of(server), reply_code=2) as proxy:
        monkeypatch.setenv("https_proxy", f"socks5h://{proxy.address}")
        assert fetch(NAMED).error.item() == "the proxy did not let the request through"
    assert server.requested == []


def test_a_node_is_reached_through_a_socks_proxy(scripted_node, tmp_path, monkeypatch):
    """The proxy gets the node's host, and nothing else of its URL."""
    context, path = certified(tmp_path, "node.example")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", path)
    scripted_node.reply = lambda _: (401, {}, b"no")
    place = scripted_node.server_address[:2]
    scripted_node.socket = context.wrap_socket(scripted_node.socket, server_side=True)
    with SocksProxy(place) as proxy:
        monkeypatch.setenv("https_proxy", f"socks5h://{proxy.address}")
        with pytest.warns(wf.errors.FetchWarning):
            frame = wf.token_balance(
                "ETH.0x" + "1" * 40, None, rpc_url="https://node.example/v1/a-secret-of-nobody"
            )
        assert proxy.targets == [("node.example", 443)]
    assert frame.status.item() == "rejected"
    assert b"a-secret" not in proxy.received


WITHOUT = """
import sys
sys.modules["socks"] = None  # as if it were not installed
import warnings
warnings.simplefilter("ignore")
from walletframe.client import Client
client = Client(api_key="a-key-of-nobody-1", key_kind="private", base_url="https://api.example")
print(client.fetch("NEAR.alice.near", on_failure="ignore").wallets.error.item())
"""


def test_without_pysocks_the_error_names_the_package():
    """The wallet's error is a sentence."""
    own = os.environ | {"https_proxy": "socks5h://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], env=own, capture_output=True, text=True, check=True
    )
    assert "pip install pysocks" in done.stdout


@pytest.mark.parametrize("proxy", ["socks6://127.0.0.1:9", "nonsense://127.0.0.1:9", "http://:9"])
def test_an_invalid_proxy_is_reported(monkeypatch, proxy):
    """Its address is impossible."""
    monkeypatch.setenv("https_proxy", proxy)
    assert "proxy" in fetch(NAMED).error.item()


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_invalid_file_of_certificates_is_reported(server, monkeypatch, tmp_path, name, content):
    """It is missing, empty, or another file."""
    path = tmp_path / "other.pem"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.setenv(name, str(path))
    wallets = fetch(server.base_url)
    assert wallets.status.item() == "unreachable"
    assert "REQUESTS_CA_BUNDLE" in wallets.error.item()
