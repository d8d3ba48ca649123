"""Failing nodes: each balance has a status with its reason, and none is ever zero."""

import json
from threading import Event

import pytest
from anvil import Chain

import walletframe as wf
from walletframe.errors import FetchWarning

OWNERS = [f"0x{number:040x}" for number in range(0x2000, 0x2003)]
WALLETS = [f"ETH.{owner}" for owner in OWNERS]


def partly_unknown(url, wallets=WALLETS, token=None, **terms):
    """Request balances, some of which are unknown; check that those are not zero."""
    with pytest.warns(FetchWarning, match="not known"):
        frame = wf.token_balance(wallets, token, rpc_url=url, **terms)
    unknown = frame[frame.status != "ok"]
    assert unknown.error.notna().all()
    assert unknown.error.map(str.isprintable).all()
    assert unknown.amount.isna().all()
    return frame


def batches(change):
    """Return a function that makes a relay change a node's answer to a batch."""

    def change_replies(relay):
        def reply(request):
            if not isinstance(request, list):
                return None
            return json.dumps(change(json.loads(relay.forward(request)))).encode()

        return reply

    return change_replies


def instead_of_a_block(answer):
    """Return a function that replaces a relay's answer about a block."""

    def reply(request):
        is_of_block = request["method"] == "eth_getBlockByNumber"
        return json.dumps({"id": request["id"]} | answer).encode() if is_of_block else None

    return reply


def test_node_that_is_down(scripted_node):
    """The port is closed."""
    scripted_node.server_close()
    frame = partly_unknown(scripted_node.url)
    assert frame.status.tolist() == ["unreachable"] * 3
    assert frame.error[0] == "the node could not be reached"


def test_slow_node_has_one_time_limit(relay):
    """One for a thousand wallets, not one for each request."""
    over = Event()

    def reply(request):
        if isinstance(request, list):
            over.wait(60)

    relay.reply = reply
    wallets = [f"ETH.0x{number:040x}" for number in range(1_000)]
    frame = partly_unknown(relay.url, wallets, timeout_s=1.5)
    over.set()
    assert frame.status.value_counts()["timeout"] == 1_000
    assert sum(isinstance(each, list) for each in relay.requests) == 1


@pytest.mark.parametrize(
    "answer,status",
    [
        ((500, {}, b"out of order"), "node_error"),
        ((503, {}, b""), "node_error"),
        ((429, {}, b"slow down"), "rate_limited"),
        ((401, {}, b"who are you"), "rejected"),
        ((404, {}, b""), "rejected"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "rejected"),
        (b"<html>\x1b[2J\xe2\x80\xae</html>", "invalid"),
        (b"", "invalid"),
        (b"\xff\xfe", "invalid"),
        (b"[" * 100_000, "invalid"),
        (b"5", "invalid"),
        (b"[]", "invalid"),
        (b"{}", "invalid"),
        (b'{"id":0,"result":null}', "invalid"),
        (b'{"id":0,"result":"0x"}', "invalid"),
        (b'{"id":0,"result":"-0x1"}', "invalid"),
        (b'{"id":0,"result":NaN}', "invalid"),
        (b'{"id":0,"result":"0x1%s"}' % (b"0" * 40), "invalid"),
        (b'{"id":0,"error":"no"}', "node_error"),
        (b'{"id":0,"error":{"code":-32601,"message":"\\u001b[2Jno such method"}}', "node_error"),
        (b'{"id":0,"error":{"code":-32005,"message":"enough"}}', "rate_limited"),
        (b'{"id":0,"error":{"code":-32000,"message":"Too Many Requests"}}', "rate_limited"),
    ],
)
def test_bad_first_answers(scripted_node, answer, status):
    """An error, a redirect or nonsense: one status for all, and no more requests."""

    def reply(request):
        own = b'"id":%d' % request["id"]
        return answer.replace(b'"id":0', own) if isinstance(answer, bytes) else answer

    scripted_node.reply = reply
    frame = partly_unknown(scripted_node.url)
    assert frame.status.tolist() == [status] * 3
    assert len(scripted_node.requests) == 1


@pytest.mark.parametrize(
    "message,status",
    [
        ("missing trie node 5e1f (path ) state 0x5e1f is not available", "no_block"),
        ("header not found", "no_block"),
        ("daily request count exceeded, request rate limited", "rate_limited"),
        ("VM execution error: Reverted 0x", "reverted"),
        ("out of gas", "reverted"),
        ("EVM error InvalidFEOpcode", "reverted"),
        ("execution aborted (timeout = 5s)", "node_error"),
    ],
)
def test_error_for_one_wallet_is_classified_by_its_message(relay, message, status):
    """The words of geth and others; the other wallets are complete."""

    def spoiled(answers):
        answers[1] = {"id": answers[1]["id"], "error": {"code": -32000, "message": message}}
        return answers

    relay.reply = batches(spoiled)(relay)
    frame = partly_unknown(relay.url)
    assert frame.status.tolist() == ["ok", status, "ok"]
    assert message in frame.error[1]


def test_answers_are_matched_by_id(relay, bare_chain):
    """A node may answer a batch in any order."""
    for place, owner in enumerate(OWNERS):
        bare_chain.fund(owner, place + 1)
    relay.reply = batches(lambda answers: answers[::-1])(relay)
    frame = wf.token_balance(WALLETS, None, rpc_url=relay.url)
    assert frame.raw_amount.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    "change,statuses",
    [
        (lambda answers: answers[1:], ["invalid", "ok", "ok"]),
        (lambda answers: [*answers, answers[0] | {"result": "0x9"}], ["invalid", "ok", "ok"]),
        (lambda answers: [*answers, answers[0], {"id": [0]}, None], ["ok", "ok", "ok"]),
        (lambda answers: [each | {"id": None} for each in answers], ["invalid"] * 3),
        (lambda answers: answers[0], ["ok", "invalid", "invalid"]),
        (lambda answers: [each | {"id": str(each["id"])} for each in answers], ["invalid"] * 3),
        (lambda answers: [each | {"id": each["id"] - 3} for each in answers], ["invalid"] * 3),
        (lambda answers: [each | {"id": True} for each in answers], ["invalid"] * 3),
        (lambda answers: [answers[0] | {"result": "10"}, *answers[1:]], ["invalid", "ok", "ok"]),
        (lambda answers: [answers[0] | {"result": "0x_1"}, *answers[1:]], ["invalid", "ok", "ok"]),
        (lambda answers: [answers[0] | {"result": " 0x1"}, *answers[1:]], ["invalid", "ok", "ok"]),
        (lambda answers: [answers[0] | {"result": {}}, *answers[1:]], ["invalid", "ok", "ok"]),
        (lambda answers: [answers[0] | {"result": "0xg"}, *answers[1:]], ["invalid", "ok", "ok"]),
        (lambda _: {"error": {"code": -32600, "message": "batch too large"}}, ["node_error"] * 3),
    ],
)
@pytest.mark.filterwarnings("ignore:.*not known:walletframe.errors.FetchWarning")
def test_odd_answers_to_a_batch(relay, change, statuses):
    """Missing or contradicting answers, and those without an id, are not guessed."""
    relay.reply = batches(change)(relay)
    assert wf.token_balance(WALLETS, None, rpc_url=relay.url).status.tolist() == statuses


def test_decimals_that_the_node_refuses(relay, bare_chain):
    """Unlike a contract without decimals: the status says so, base units are kept."""
    token = bare_chain.token(OWNERS, 4).address

    def spoiled(answers):
        decimals = answers[len(OWNERS)]
        decimals["error"] = {"code": -32000, "message": "too many requests"}
        return answers

    relay.reply = batches(spoiled)(relay)
    frame = partly_unknown(relay.url, token=token)
    assert frame.status.tolist() == ["rate_limited"] * 3
    assert frame.raw_amount.tolist() == ["4", "8", "12"]
    assert frame.error[0].startswith("decimals: ")


def test_answer_of_a_contract_without_bytes(relay, bare_chain):
    """It harms its own wallet alone."""
    token = bare_chain.token(OWNERS, 4).address

    def spoiled(answers):
        answers[0]["result"], answers[1]["result"] = 5, "0xzz"
        return answers

    relay.reply = batches(spoiled)(relay)
    assert partly_unknown(relay.url, token=token).status.tolist() == ["invalid", "invalid", "ok"]


def test_node_that_refuses_its_block(relay):
    """Its error is that of every wallet."""
    relay.reply = instead_of_a_block({"error": {"code": -32603, "message": "busy"}})
    frame = partly_unknown(relay.url)
    assert frame.status.tolist() == ["node_error"] * 3
    assert frame.error[0] == "the node answered: 'busy'"


def test_node_that_returns_another_block(relay):
    """It is not mistaken for the requested one."""
    relay.reply = instead_of_a_block({"result": {"number": "0x1"}})
    frame = partly_unknown(relay.url, block=7)
    assert frame.status.tolist() == ["no_block"] * 3
    assert frame.error[0] == "the node answered for block 1 instead of 7"


@pytest.mark.tools
def test_node_that_forgot_the_state_of_a_block(tmp_path):
    """It knows the block, but no longer its balances."""
    with Chain(tmp_path / "log", "--prune-history", "1") as forgetful:
        forgetful.token(OWNERS, 5)
        forgetful.call("anvil_mine", "0x8")
        frame = partly_unknown(forgetful.url, block=1)
    assert frame.status.tolist() == ["no_block"] * 3
