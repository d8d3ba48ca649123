"""A real blockchain for one machine: anvil, contracts compiled by solc, and a relay before it."""

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
    """Skip loudly where the node is not installed; fail where nothing may be skipped."""
    found = sorted(_INSTALLED.glob("@foundry-rs/anvil-*/bin/anvil*"))
    if found and shutil.which("node"):  # which compiles the contracts
        return found[0]
    missing = "no node: npm install --prefix tests/node_chain (.ci/run does it, and skips nothing)"
    if "WF_TEST_NO_SKIP" in os.environ:
        pytest.fail(missing)
    return pytest.skip(missing)


def compiled():
    """Compile the contracts, offline; by name."""
    asked = {
        "language": "Solidity",
        "sources": {"Tokens": {"content": (_HERE / "Tokens.sol").read_text()}},
        "settings": {
            "outputSelection": {"*": {"*": ["evm.bytecode.object", "evm.methodIdentifiers"]}}
        },
    }
    words = ["node", str(_INSTALLED / "solc" / "solc.js"), "--standard-json"]
    with TemporaryFile("w+", encoding="utf-8") as sink:  # node cuts off what it writes into a pipe
        subprocess.run(words, input=json.dumps(asked), stdout=sink, text=True, check=True)
        sink.seek(0)
        said = sink.read()
    answer = json.loads(said[said.index("{") :])
    assert "errors" not in answer, answer["errors"]
    return answer["contracts"]["Tokens"]


class Contract:
    """A contract on a chain."""

    def __init__(self, chain, address, selectors):
        self.address = address
        self._chain = chain
        self._selectors = selectors

    def send(self, signature, *args):
        """Let the rich account call a function; return the block in which it did."""
        kinds = signature.removesuffix(")").partition("(")[2].split(",")
        data = self._selectors[signature] + encode(kinds, args).hex()
        return int(self._chain.transact(f"0x{data}", to=self.address)["blockNumber"], 16)


class Chain:
    """A node of a new blockchain with one rich account; a context manager."""

    def __init__(self, log, *options):
        words = [str(require_anvil()), "--port", "0", "--chain-id", "1", *options]
        self._contracts = None
        with log.open("w") as sink:
            self._process = subprocess.Popen(words, stdout=sink, stderr=sink)
        while "Listening on " not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            time.sleep(0.02)
        self.url = f"http://{log.read_text().partition('Listening on ')[2].split()[0]}"
        self.rich = self.ask("eth_accounts")[0]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._process.terminate()
        self._process.wait(10)

    @property
    def block(self):
        """The number of the latest block."""
        return int(self.ask("eth_blockNumber"), 16)

    def ask(self, method, *params):
        """Ask the node anything."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = json.loads(post(self.url, json.dumps(asked).encode()))
        assert "error" not in answer, answer
        return answer["result"]

    def transact(self, data, **more):
        """Let the rich account make a transaction; return its receipt."""
        sent = self.ask("eth_sendTransaction", {"from": self.rich, "data": data} | more)
        receipt = None
        while receipt is None:  # it is mined at once, and told a little later
            receipt = self.ask("eth_getTransactionReceipt", sent)
        assert receipt["status"] == "0x1", receipt
        return receipt

    def deploy(self, name, *args, kinds=()):
        """Deploy a contract of this name; `kinds` are the types of its arguments."""
        self._contracts = self._contracts or compiled()
        made = self._contracts[name]["evm"]
        code = made["bytecode"]["object"] + encode(kinds, args).hex()
        address = self.transact(f"0x{code}")["contractAddress"]
        return Contract(self, address, made["methodIdentifiers"])

    def token(self, owners=(), amount=0, *, symbol="TKN", decimals=18):
        """Deploy a token of which the first owner holds an amount, the second twice that, …."""
        token = self.deploy("Token", symbol, decimals, kinds=("string", "uint8"))
        token.send("mint(address[],uint256)", owners, amount)
        return token

    def give(self, owner, wei):
        """Let somebody have so much of the native coin."""
        self.ask("anvil_setBalance", owner, hex(wei))

    def put(self, address, name=None, *args, kinds=()):
        """Put the code of a contract at an address; that of none where none is named."""
        made = self.deploy(name, *args, kinds=kinds).address if name else "0x" + "0" * 40
        self.ask("anvil_setCode", address, self.ask("eth_getCode", made, "latest"))


def post(url, body):
    """Return what a node of the tests answers."""
    request = Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - on loopback
    with urlopen(request) as answer:  # noqa: S310 - the same
        return answer.read()


class Relay(ThreadingHTTPServer):
    """Passes requests on to a node, counts them, and says something else where a test wants it.

    `says` is given what was asked, and returns None to pass it on, a body, or status, headers and
    body.
    """

    daemon_threads = True

    def __init__(self, node=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.node = node
        self.asked = []
        self.lines = []
        self.says = lambda _asked: None

    @property
    def url(self):
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *args):
        """Keep quiet about those who hung up."""

    def forward(self, asked):
        """Return what the node answers."""
        return post(self.node, json.dumps(asked).encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Pass on, or say what the test wants."""
        server = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(asked)
        server.lines.append((self.path, dict(self.headers)))
        said = server.says(asked)
        if said is None:
            said = server.forward(asked)
        status, headers, body = (200, {}, said) if isinstance(said, bytes) else said
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self):
        """Refuse to be a proxy."""
        self.server.lines.append((self.path, dict(self.headers)))
        self.send_error(403)

    def log_message(self, *args):
        """Keep quiet."""
