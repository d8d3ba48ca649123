"""The URL of a node: sent to the node alone, over an encrypted line, and hidden everywhere."""

import copy
import os
import pickle
import signal
import ssl
import traceback
from base64 import b64encode
from threading import Event

import pytest
import trustme
from canned_service import Canned

import walletframe as wf
from walletframe.errors import FetchWarning, SettingsError
from walletframe.settings.key import ApiKey, RpcUrl

WALLET = "ETH.0x" + "a" * 40
SECRETS = ("path-secret-1", "query-secret-2", "user-secret-3", "word-secret-4")
PASSWORD = b64encode(b"user-secret-3:word-secret-4").decode()
SECRET_PARTS = "/v2/path-secret-1?key=query-secret-2"

pytestmark = pytest.mark.filterwarnings("ignore:.*not known:walletframe.errors.FetchWarning")


def secret(url):
    """Return a node's URL with secrets in every part."""
    return url.replace("://", "://user-secret-3:word-secret-4@") + SECRET_PARTS


def traceback_text(error):
    """Return all text of a traceback, local variables included, but for those of the test."""
    text = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert not error.__cause__
    assert not error.__context__
    frames = [frame for frame in text.stack if frame.filename != __file__]
    return f"{text}{error!r}{[(frame.line, frame.locals) for frame in frames]}"


def test_url_is_sent_whole(relay):
    """Path and query, and the password as a header."""
    frame = wf.token_balance(WALLET, None, rpc_url=secret(relay.url))
    assert frame.status.item() == "ok"
    path, headers = relay.lines[0]
    assert path == SECRET_PARTS
    assert headers["Authorization"] == f"Basic {PASSWORD}"
    assert headers["Host"] == relay.url.removeprefix("http://")


@pytest.mark.parametrize("status", [200, 401, 500, 302])
def test_url_leaks_nowhere(scripted_node, caplog, status):
    """No log, warning, frame or repr holds it, even if the node repeats it."""
    caplog.set_level("DEBUG")
    url = secret(scripted_node.url)
    echo = f'{{"id":null,"error":{{"code":1,"message":"no: {url}"}}}}'.encode()
    scripted_node.reply = lambda _: (status, {"Location": url}, echo)
    with pytest.warns(FetchWarning) as warned:
        frame = wf.token_balance(WALLET, None, rpc_url=url)
    text = frame.to_string() + caplog.text + "".join(str(each.message) for each in warned)
    assert "urllib3" in caplog.text
    assert not [
        each for each in (*SECRETS, scripted_node.url.removeprefix("http://")) if each in text
    ]


def test_unreachable_host_leaks_nowhere(caplog):
    """A host with the key in its name is hidden, too."""
    caplog.set_level("DEBUG")
    url = "https://secret-of-mine.invalid/v2"
    frame = wf.token_balance(WALLET, None, rpc_url=url)
    assert frame.status.item() == "unreachable"
    assert "secret-of-mine" not in frame.to_string() + caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "path-secret-1",
        "ftp://node.example/path-secret-1",
        "http://node.example/path-secret-1",
        "https://node.example:path-secret-1/",
        "https://[path-secret-1/",
        "https://node.example/path-secret-1\u202e",
        ["https://node.example/path-secret-1"],
    ],
)
def test_unusable_url_is_not_quoted(url):
    """The error names the fault, and no local variable of the library holds it."""
    with pytest.raises(SettingsError, match=r"^rpc_url (is not a valid|uses) http") as caught:
        wf.token_balance(WALLET, None, rpc_url=url)
    assert "path-secret-1" not in traceback_text(caught.value)
    holdings = wf.token_balance([], None, rpc_url="https://node.example")
    with pytest.raises(SettingsError, match=r"^rpc_url (is not a valid|uses) http") as caught:
        wf.crosscheck(holdings, rpc_url=url)
    assert "path-secret-1" not in traceback_text(caught.value)


def test_other_errors_do_not_show_it(scripted_node):
    """Tracebacks with local variables don't, either."""
    with pytest.raises(SettingsError) as caught:
        wf.token_balance(WALLET, "USDC", rpc_url=secret(scripted_node.url))
    assert not [each for each in SECRETS if each in traceback_text(caught.value)]


def test_interrupt_does_not_show_it(scripted_node):
    """Ctrl-C during a request is immediate, and has no frames that hold the URL."""
    over = Event()

    def interrupting(_):
        os.kill(os.getpid(), signal.SIGINT)
        over.wait(60)

    scripted_node.reply = interrupting
    with pytest.raises(KeyboardInterrupt) as caught:
        wf.token_balance(WALLET, None, rpc_url=secret(scripted_node.url))
    over.set()
    assert not [each for each in (*SECRETS, PASSWORD) if each in traceback_text(caught.value)]


def test_url_is_left_out_of_copies():
    """A pickle has none, a copy is the same, text is a mask."""
    url = RpcUrl("https://node.example/path-secret-1")
    assert copy.deepcopy(url) is copy.copy(url) is RpcUrl.from_argument(url) is url
    assert b"secret" not in pickle.dumps(url)
    assert not pickle.loads(pickle.dumps(url))
    assert (str(url), repr(RpcUrl(""))) == ("<node URL, hidden>", "<node URL, empty>")
    assert url == RpcUrl("https://node.example/path-secret-1") != ApiKey(url.reveal())


def test_environment_names_the_node(relay, monkeypatch):
    """Without a URL as an argument; the service's settings ignore the variable."""
    with pytest.raises(SettingsError, match="WALLETFRAME_RPC_URL"):
        wf.token_balance(WALLET, None)
    monkeypatch.setenv("WALLETFRAME_RPC_URL", f" {secret(relay.url)}\n")
    assert wf.token_balance(WALLET, None).status.item() == "ok"
    assert wf.Settings().base_url is None


def test_redirect_is_not_followed(scripted_node):
    """Another server never gets the URL."""
    with Canned() as other:
        scripted_node.reply = lambda _: (307, {"Location": other.base_url}, b"")
        frame = wf.token_balance(WALLET, None, rpc_url=scripted_node.url)
        assert other.paths == []
    assert frame.status.item() == "rejected"
    assert "redirect" in frame.error.item()


def test_https_is_verified_for_the_real_host(relay, tmp_path, monkeypatch):
    """A certificate of a known authority for that host, and for no other."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    relay.socket = context.wrap_socket(relay.socket, server_side=True)
    url = relay.url.replace("http:", "https:")
    known = url.replace("127.0.0.1", "localhost")
    unknown_authority = wf.token_balance(WALLET, None, rpc_url=known)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    assert wf.token_balance(WALLET, None, rpc_url=known).status.item() == "ok"
    for frame in (unknown_authority, wf.token_balance(WALLET, None, rpc_url=url)):
        assert frame.error.item() == "the node's certificate could not be verified"


def test_proxy_gets_the_host_alone(scripted_node, monkeypatch):
    """Path and query go through its tunnel, where it can't read them."""
    monkeypatch.setenv("https_proxy", scripted_node.url)
    frame = wf.token_balance(WALLET, None, rpc_url=secret("https://node.example"))
    assert frame.error.item() == "the proxy did not let the request through"
    [(place, headers)] = scripted_node.lines
    assert place == "node.example:443"
    assert "Authorization" not in headers
