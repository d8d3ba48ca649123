"""The URL of a node: sent to the node alone, over a line that nobody reads, and seen nowhere."""

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
from walletframe.settings.key import ApiKey, NodeUrl

WALLET = "ETH.0x" + "a" * 40
SECRETS = ("path-secret-1", "query-secret-2", "user-secret-3", "word-secret-4")
PASSWORD = b64encode(b"user-secret-3:word-secret-4").decode()
SECRET_PARTS = "/v2/path-secret-1?key=query-secret-2"

pytestmark = pytest.mark.filterwarnings("ignore:.*not known:walletframe.errors.FetchWarning")


def secret(url):
    """Return a node's URL with secrets wherever there can be some."""
    return url.replace("://", "://user-secret-3:word-secret-4@") + SECRET_PARTS


def told(error):
    """Return all that a traceback can tell, local variables included, but for those of the test."""
    said = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert not error.__cause__
    assert not error.__context__
    frames = [frame for frame in said.stack if frame.filename != __file__]
    return f"{said}{error!r}{[(frame.line, frame.locals) for frame in frames]}"


def test_url_is_sent_whole(relay):
    """Path and query, and the password as a header."""
    frame = wf.token_balance(WALLET, None, rpc_url=secret(relay.url))
    assert frame.status.item() == "ok"
    path, headers = relay.lines[0]
    assert path == SECRET_PARTS
    assert headers["Authorization"] == f"Basic {PASSWORD}"
    assert headers["Host"] == relay.url.removeprefix("http://")


@pytest.mark.parametrize("status", [200, 401, 500, 302])
def test_url_is_seen_nowhere(teller, caplog, status):
    """No log, warning, frame or repr holds it, even where the node repeats it."""
    caplog.set_level("DEBUG")
    url = secret(teller.url)
    echo = f'{{"id":null,"error":{{"code":1,"message":"no: {url}"}}}}'.encode()
    teller.says = lambda _: (status, {"Location": url}, echo)
    with pytest.warns(FetchWarning) as warned:
        frame = wf.token_balance(WALLET, None, rpc_url=url)
    said = frame.to_string() + caplog.text + "".join(str(each.message) for each in warned)
    assert "urllib3" in caplog.text
    assert not [each for each in (*SECRETS, teller.url.removeprefix("http://")) if each in said]


def test_unreachable_host_is_seen_nowhere(caplog):
    """A host that carries the key in its name is hidden, too."""
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
def test_url_that_cannot_be_used_is_not_quoted(url):
    """The error says what is wrong, and no local variable of the library holds it."""
    with pytest.raises(SettingsError, match=r"^rpc_url (is not an|uses) http") as caught:
        wf.token_balance(WALLET, None, rpc_url=url)
    assert "path-secret-1" not in told(caught.value)
    holdings = wf.token_balance([], None, rpc_url="https://node.example")
    with pytest.raises(SettingsError, match=r"^rpc_url (is not an|uses) http") as caught:
        wf.crosscheck(holdings, rpc_url=url)
    assert "path-secret-1" not in told(caught.value)


def test_other_errors_do_not_show_it(teller):
    """Nor does a traceback with local variables."""
    with pytest.raises(SettingsError) as caught:
        wf.token_balance(WALLET, "USDC", rpc_url=secret(teller.url))
    assert not [each for each in SECRETS if each in told(caught.value)]


def test_interrupt_does_not_show_it(teller):
    """Ctrl-C while the node is waited for: at once, and without the frames that know the URL."""
    over = Event()

    def interrupting(_):
        os.kill(os.getpid(), signal.SIGINT)
        over.wait(60)

    teller.says = interrupting
    with pytest.raises(KeyboardInterrupt) as caught:
        wf.token_balance(WALLET, None, rpc_url=secret(teller.url))
    over.set()
    assert not [each for each in (*SECRETS, PASSWORD) if each in told(caught.value)]


def test_url_is_left_out_of_copies():
    """A pickle has none, a copy is the same, text is a mask."""
    url = NodeUrl("https://node.example/path-secret-1")
    assert copy.deepcopy(url) is copy.copy(url) is NodeUrl.of(url) is url
    assert b"secret" not in pickle.dumps(url)
    assert not pickle.loads(pickle.dumps(url))
    assert (str(url), repr(NodeUrl(""))) == ("<node URL, hidden>", "<node URL, left out>")
    assert url == NodeUrl("https://node.example/path-secret-1") != ApiKey(url.reveal())


def test_environment_names_the_node(relay, monkeypatch):
    """Where no URL is given; the settings of the service don't mind the variable."""
    with pytest.raises(SettingsError, match="WALLETFRAME_RPC_URL"):
        wf.token_balance(WALLET, None)
    monkeypatch.setenv("WALLETFRAME_RPC_URL", f" {secret(relay.url)}\n")
    assert wf.token_balance(WALLET, None).status.item() == "ok"
    assert wf.Settings().base_url is None


def test_redirect_is_not_followed(teller):
    """Another server never hears of the URL."""
    with Canned() as other:
        teller.says = lambda _: (307, {"Location": other.base_url}, b"")
        frame = wf.token_balance(WALLET, None, rpc_url=teller.url)
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


def test_proxy_is_told_the_host_alone(teller, monkeypatch):
    """Path and query go through its tunnel, where it can't read them."""
    monkeypatch.setenv("https_proxy", teller.url)
    frame = wf.token_balance(WALLET, None, rpc_url=secret("https://node.example"))
    assert frame.error.item() == "the proxy did not let the request through"
    [(place, headers)] = teller.lines
    assert place == "node.example:443"
    assert "Authorization" not in headers
