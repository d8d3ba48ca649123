"""A local blockchain: the node anvil, contracts compiled by solc, and a relay to the node."""

import json
import os
import shutil
import subprocess
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryFile
from urllib.request import Request, urlopen

import pytest
from eth_abi.abi import encode

_HERE = Path(__file__).parents[1] / "node_chain"
_INSTALLED = _HERE / "node_modules"
MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"


def require_anvil():
    """Return anvil's path. Without anvil, skip the test, or fail if WF_TEST_NO_SKIP is set."""
    result = sorted(_INSTALLED.glob("@foundry-rs/anvil-*/bin/anvil*"))
    if result and shutil.which("node"):  # it compiles the contracts
        return result[0]
    missing = "no node: npm install --prefix tests/node_chain (.ci/run does it, and skips nothing)"
    if "WF_TEST_NO_SKIP" in os.environ:
        pytest.fail(missing)
    return pytest.skip(missing)


def compiled_contracts():
    """Compile the contracts offline, and return them by name."""
    requested = {
        "language": "Solidity",
        "sources": {"Tokens": {"content": (_HERE / "Tokens.sol").read_text()}},
        "settings": {
            "outputSelection": {"*": {"*": ["evm.bytecode.object", "evm.methodIdentifiers"]}}
        },
    }
    words = ["node", str(_INSTALLED / "solc" / "solc.js"), "--standard-json"]
    with TemporaryFile("w+", encoding="utf-8") as sink:  # node truncates its output into a pipe
        subprocess.run(words, input=json.dumps(requested), stdout=sink, text=True, check=True)
        sink.seek(0)
        output = sink.read()
    answer = json.loads(output[output.index("{") :])
    assert "errors" not in answer, answer["errors"]
    return answer["contracts"]["Tokens"]


class Contract:
    """A contract on a chain."""

    def __init__(self, chain, address, selectors):
        self.address = address
        self._chain = chain
        self._selectors = selectors

    def send(self, signature, *args):
        """Call a function from the rich account. Return the number of the transaction's block."""
        kinds = signature.removesuffix(")").partition("(")[2].split(",")
        data = self._selectors[signature] + encode(kinds, args).hex()
        return int(self._chain.transact(f"0x{data}", to=self.address)["blockNumber"], 16)


class Chain:
    """A context manager for a node of a new blockchain with one rich account."""

    def __init__(self, log, *options):
        words = [str(require_anvil()), "--port", "0", "--chain-id", "1", *options]
        self._contracts = None
        with log.open("w") as sink:
            self._process = subprocess.Popen(words, stdout=sink, stderr=sink)
        while "Listening on " not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            time.sleep(0.02)
        self.url = f"http://{log.read_text().partition('Listening on ')[2].split()[0]}"
        self.rich = self.call("eth_accounts")[0]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._process.terminate()
        self._process.wait(10)

    @property
    def block(self):
        """The number of the latest block."""
        return int(self.call("eth_blockNumber"), 16)

    def call(self, method, *params):
        """Call a JSON-RPC method of the node."""
        requested = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = json.loads(post(self.url, json.dumps(requested).encode()))
        assert "error" not in answer, answer
        return answer["result"]

    def transact(self, data, **more):
        """Send a transaction from the rich account, and return its receipt."""
        sent = self.call("eth_sendTransaction", {"from": self.rich, "data": data} | more)
        receipt = None
        while receipt is None:  # the receipt is available shortly after
            receipt = self.call("eth_getTransactionReceipt", sent)
        assert receipt["status"] == "0x1", receipt
        return receipt

    def deploy(self, name, *args, kinds=()):
        """Deploy the contract with this name. `kinds` are the types of its arguments."""
        self._contracts = self._contracts or compiled_contracts()
        made = self._contracts[name]["evm"]
        code = made["bytecode"]["object"] + encode(kinds, args).hex()
        address = self.transact(f"0x{code}")["contractAddress"]
        return Contract(self, address, made["methodIdentifiers"])

    def token(self, owners=(), amount=0, *, symbol="TKN", decimals=18):
        """Deploy a token. The first owner holds the amount, the second twice the amount, etc."""
        token = self.deploy("Token", symbol, decimals, kinds=("string", "uint8"))
        token.send("mint(address[],uint256)", owners, amount)
        return token

    def fund(self, owner, wei):
        """Set an account's balance of the native coin."""
        self.call("anvil_setBalance", owner, hex(wei))

    def set_code(self, address, name=None, *args, kinds=()):
        """Copy a contract's code to an address; without a name, remove the code there."""
        made = self.deploy(name, *args, kinds=kinds).address if name else "0x" + "0" * 40
        self.call("anvil_setCode", address, self.call("eth_getCode", made, "latest"))


def post(url, body):
    """Send a body to a node of the tests, and return the reply."""
    request = Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - on loopback
    with urlopen(request) as answer:  # noqa: S310 - the same
        return answer.read()


class Relay(ThreadingHTTPServer):
    """A server that forwards requests to a node, and records them.

    A test can set `reply`, a function of the request. It returns a body, or status, headers and
    body, or None to forward the request.
    """

    daemon_threads = True

    def __init__(self, node=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.node = node
        self.requests = []
        self.lines = []
        self.reply = lambda _request: None

    @property
    def url(self):
        """The URL of the relay."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *args):
        """Ignore clients that closed the connection."""

    def forward(self, requested):
        """Return the node's reply."""
        return post(self.node, json.dumps(requested).encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send the test's reply, or forward the request."""
        server = self.server
        requested = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append(requested)
        server.lines.append((self.path, dict(self.headers)))
        text = server.reply(requested)
        if text is None:
            text = server.forward(requested)
        status, headers, body = (200, {}, text) if isinstance(text, bytes) else text
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self):
        """Reject the request, since the relay is not a proxy."""
        self.server.lines.append((self.path, dict(self.headers)))
        self.send_error(403)

    def log_message(self, *args):
        """Log nothing."""
