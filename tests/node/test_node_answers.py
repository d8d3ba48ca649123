"""Answers to another request: a raw socket mixes them up, and no wallet gets one.

Each wallet holds as many wei as its address says, so that another's balance is detected at once.
"""

import json
import socket
from contextlib import suppress
from threading import Thread

import pytest

import walletframe as wf

WALLETS = [f"ETH.0x{number:040x}" for number in range(1, 301)]
RESULTS = {"eth_chainId": "0x1", "eth_getBlockByNumber": {"number": "0x5"}, "eth_call": "0x"}


class RawNode:
    """A node without the contract Multicall3 that sends the output of `twist` for an answer.

    `twist` gets the body of an answer, and the previous one on the same connection, None at
    first; it returns the bodies to be sent in a row.
    """

    def __init__(self, twist):
        self.ids = []
        self.requests = self.connections = 0
        self._twist = twist
        self._open = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://{}:{}".format(*self._listener.getsockname())

    def __enter__(self):
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc):
        for each in [self._listener, *self._open]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def balances(self):
        """Request all wallets; return the wei of each, or its status if they are unknown."""
        frame = wf.token_balance(WALLETS, None, rpc_url=self.url)
        return frame.raw_amount.fillna(frame.status.astype("str")).tolist()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection = self._listener.accept()[0]
                self._open.append(connection)
                self.connections += 1
                Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        before = None
        with suppress(OSError), connection.makefile("rb") as stream:
            while requested := _request(stream):
                self.requests += 1
                questions = requested if isinstance(requested, list) else [requested]
                self.ids += [each["id"] for each in questions]
                answers = [{"id": each["id"], "result": _result(each)} for each in questions]
                body = answers if isinstance(requested, list) else answers[0]
                connection.sendall(b"".join(map(_sent, self._twist(body, before))))
                before = body


def _request(stream):
    """Read the JSON of a request; None at the end of the connection."""
    length = 0
    while (line := stream.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return json.loads(stream.read(length)) if length else None


def _result(requested):
    """Return the honest result."""
    if requested["method"] == "eth_getBalance":
        return hex(int(requested["params"][0], 16))
    return RESULTS[requested["method"]]


def _sent(body):
    """Return an answer as it is sent; bytes are returned unchanged."""
    if isinstance(body, bytes):
        return body
    text = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


OWN = [str(number) for number in range(1, 301)]


@pytest.mark.parametrize(
    "surplus",
    [lambda body: [body], lambda _: [b"HTTP/1.1 200 O"], lambda _: [b"\r\n"]],
    ids=["the answer again", "the start of another one", "a line"],
)
def test_surplus_answers_end_the_connection(surplus):
    """They are never read as the next answer: the next request has a new connection."""
    with RawNode(lambda body, _: [body, *surplus(body)]) as node:
        assert node.balances() == OWN
        assert node.connections == node.requests == 6


def test_connection_is_kept():
    """If each request has its answer, one connection is enough."""
    with RawNode(lambda body, _: [body]) as node:
        assert node.balances() == OWN
        assert (node.connections, node.requests) == (1, 6)


@pytest.mark.filterwarnings("ignore:.*not known:walletframe.errors.FetchWarning")
def test_a_repeated_answer_before_the_next_one():
    """It answers none of the current wallets; later ones have their own."""

    def twist(body, before):
        is_second = isinstance(body, list) and isinstance(before, list)
        return [before, body] if is_second else [body]

    with RawNode(twist) as node:
        assert node.balances() == OWN[:100] + ["invalid"] * 100 + OWN[200:]
        assert node.connections == 2


def test_answers_in_any_order():
    """Ids decide, not positions."""
    with RawNode(lambda body, _: [body[::-1] if isinstance(body, list) else body]) as node:
        assert node.balances() == OWN


@pytest.mark.filterwarnings("ignore:.*not known:walletframe.errors.FetchWarning")
@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer | {"id": answer["id"] + 1_000},
        lambda answer: answer | {"id": answer["id"] - 100},
        lambda answer: answer | {"id": str(answer["id"])},
        lambda answer: answer | {"id": float(answer["id"])},
        lambda answer: answer | {"id": None},
        lambda answer: {"result": answer["result"]},
    ],
    ids=["of another", "of an earlier one", "a text", "a float", "null", "none"],
)
@pytest.mark.parametrize("kind", [list, dict], ids=["in batches", "alone"])
def test_answer_with_another_id(change, kind):
    """Its content is ignored."""

    def twist(body, _):
        if not isinstance(body, kind):
            return [body]
        return [change(body) if kind is dict else [*map(change, body)]]

    with RawNode(twist) as node:
        assert node.balances() == ["invalid"] * 300


def test_ids_never_repeat():
    """No two requests of a process have the same id."""
    with RawNode(lambda body, _: [body]) as node:
        node.balances()
        node.balances()
        assert len(node.ids) == len({*node.ids}) == 2 * 303
