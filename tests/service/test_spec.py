"""The service's document, sentence by sentence: the sandbox as server, the library as client.

The server is tested with plain requests and the names of the document; the client by the requests
that a server of canned answers gets. If the document says "not shown", the test checks the choice
that walletframe made and documents.
"""

import re
import time
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from addresses import A, B, C
from canned_service import KEY, answer, balance, wallet

from walletframe.bulk.run import fetch_to_parquet
from walletframe.client import Client, fetch_wallets
from walletframe.errors import AnswerWarning, InputWarning, SettingsError, TestKeyWarning
from walletframe.service import SANDBOX_KEYS, SHOWCASE, sandbox
from walletframe.service.ledger import SHOWCASE_KINDS, ShowcaseKind
from walletframe.settings.values import Settings

PRIVATE, PUBLIC, TEST = (SANDBOX_KEYS[kind].key for kind in ("private", "public", "test"))
GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "keys.md"
ETH = "ETH.0x1111111111111111111111111111111111111111"
DOMAIN = "https://notebook.example"


def promised(promise):
    """Return the first showcase wallet with this property."""
    return str(next(one for one in SHOWCASE if SHOWCASE_KINDS[one.canonical] is promise))


EMPTY, UNKNOWN, FAILING, EXTREME = map(
    promised, (ShowcaseKind.EMPTY, ShowcaseKind.UNKNOWN, ShowcaseKind.FAILING, ShowcaseKind.EXTREME)
)


def ask(base, *addresses, key=PRIVATE, **headers):
    """Send the request of the document's endpoint table."""
    query = {"address": addresses, "apiKey": key}
    return requests.get(f"{base}/wallets/details", params=query, headers=headers, timeout=10)


def details(base, *addresses):
    """Return the WalletDetail entries of an answer."""
    reply = ask(base, *addresses)
    assert reply.status_code == 200, reply.text
    return reply.json()["wallets"]


def balances(base, address=ETH):
    """Return the AssetAndAmount entries of one wallet."""
    return details(base, address)[0]["balances"]


def fetch(canned, *wallets, requested=f"ETH.{A}"):
    """Fetch through the library the canned server's answer."""
    canned.default = (200, {}, answer(*wallets))
    with canned.client() as client:
        return client.fetch(requested, on_failure="ignore")


def without(entry, *path):
    """Return an entry without the field at the end of a path."""
    *way, last = path
    inner = entry
    for name in way:
        inner = inner[name]
    del inner[last]
    return entry


def queries(canned):
    """Return the query parameters of every request, decoded."""
    return [parse_qs(urlsplit(path).query, strict_parsing=True) for path in canned.paths]


class TestWhatTheServiceDoes:
    """The section "What the service does"."""

    def test_what_the_service_does_intro_list_of_wallets(self, service, client):
        """For a list of addresses: every token, the balance of each, a link to an explorer."""
        for entry in details(service.base_url, ETH, "NEAR.alice.near"):
            assert entry["balances"]
            assert entry["explorerUrl"].startswith("https://")
        wallets, holdings = client.fetch([ETH, "NEAR.alice.near"])
        assert wallets["explorer_url"].str.startswith("https://").all()
        assert set(holdings["blockchain"]) == {"ETH", "NEAR"}

    def test_what_the_service_does_1_all_tokens_and_balances(self, service, client):
        """Every token of an answer becomes a row, in the answer's order, with its balance."""
        sent = balances(service.base_url)
        _, holdings = client.fetch(ETH)
        assert len(sent) > 1
        assert holdings["symbol"].tolist() == [one["asset"]["symbol"] for one in sent]
        assert holdings["raw_amount"].tolist() == [one["amount"]["amount"] for one in sent]

    def test_what_the_service_does_2_slow_is_no_empty_wallet(self):
        """An operation that exceeds the timeout is a timeout, never an empty wallet."""
        with (
            sandbox(latency_s=0.6) as slow,
            slow.client(cache=False, timeout_s=0.1, deadline_s=0) as client,
        ):
            wallets, holdings = client.fetch(ETH, on_failure="ignore")
        assert wallets["status"].tolist() == ["timeout"]
        assert wallets["tokens"].isna().all()
        assert holdings.empty

    def test_what_the_service_does_2_default_wait(self, home):
        """The default timeout allows for a slow operation."""
        assert Settings().timeout_s >= 30

    def test_what_the_service_does_3_key_and_limits(self):
        """A request needs a key, and is counted against default limits."""
        with sandbox(requests_per_second=0.1) as limited:
            assert ask(limited.base_url, ETH, key="").status_code == 401
            assert ask(limited.base_url, ETH).status_code == 429

    def test_what_the_service_does_4_dedicated_endpoint(self, canned):
        """Any base address can be set, with a path; the request's path is below it."""
        canned.default = (200, {}, answer(wallet()))
        with canned.client(base_url=f"{canned.base_url}/dedicated/acme/") as client:
            client.fetch(f"ETH.{A}")
        assert canned.paths == [f"/dedicated/acme/wallets/details?address=ETH.{A}&apiKey={KEY}"]

    def test_what_the_service_does_4_isolated_calls(self, canned, home):
        """Answers of one endpoint are not used for another."""
        canned.default = (200, {}, answer(wallet()))
        for path in ("/one", "/two", "/one"):
            with canned.client(base_url=canned.base_url + path, cache=home / "c.db") as client:
                client.fetch(f"ETH.{A}")
        assert [path.split("/")[1] for path in canned.paths] == ["one", "two"]


class TestFields:
    """The section "Resources and their fields", row by row."""

    def test_field_response_wallets(self, service, canned):
        """The answer is an object with the array wallets; without it, it is no answer."""
        body = ask(service.base_url, ETH).json()
        assert body.keys() == {"wallets"}
        assert isinstance(body["wallets"], list)
        canned.default = (200, {}, b'{"Wallets": []}')
        with canned.client() as client:
            wallets, _ = client.fetch(f"ETH.{A}", on_failure="ignore")
        assert wallets["status"].tolist() == ["invalid"]

    def test_field_walletdetail_failed(self, service, client):
        """A boolean; true is a status of its own, without tokens and without holdings."""
        assert [one["failed"] for one in details(service.base_url, ETH, FAILING)] == [False, True]
        wallets, holdings = client.fetch([ETH, FAILING], on_failure="ignore")
        assert wallets["status"].tolist() == ["ok", "failed"]
        assert wallets["tokens"].isna().tolist() == [False, True]
        assert set(holdings["blockchain"]) == {"ETH"}

    def test_field_walletdetail_failed_balances_beside(self, canned):
        """Balances that come with failed true are not trusted."""
        wallets, holdings = fetch(canned, wallet(failed=True))
        assert wallets["status"].tolist() == ["failed"]
        assert holdings.empty

    @pytest.mark.parametrize("sent", [None, 0, "false"])
    def test_field_walletdetail_failed_type(self, canned, sent):
        """Another type breaks the contract, and is not read as a boolean."""
        wallets, holdings = fetch(canned, wallet(failed=sent))
        assert wallets["status"].tolist() == ["invalid"]
        assert holdings.empty

    def test_field_walletdetail_block_chain(self, service, canned):
        """A string, written with the capital C; the lower-case spelling is another field."""
        [entry] = details(service.base_url, ETH)
        assert entry["blockChain"] == "ETH"
        assert "blockchain" not in entry
        misspelt = without(wallet(blockchain="ETH"), "blockChain") | {"blockchain": "ETH"}
        assert fetch(canned, misspelt).wallets["status"].tolist() == ["invalid"]

    def test_field_walletdetail_block_chain_matches(self, canned):
        """Two wallets of one address differ by it, in any order."""
        canned.default = (200, {}, answer(wallet(blockchain="BSC", balances=[]), wallet()))
        with canned.client() as client, pytest.warns(match="unrequested wallet"):
            wallets, _ = client.fetch(f"ETH.{A}")
        assert wallets["tokens"].tolist() == [1]

    def test_field_walletdetail_address(self, service, canned):
        """A string, as requested; an answer for another address is not this wallet's."""
        [entry] = details(service.base_url, ETH)
        assert entry["address"] == ETH.removeprefix("ETH.")
        with pytest.warns(match="unrequested wallet"):
            wallets, holdings = fetch(canned, wallet(address=B))
        assert wallets["status"].tolist() == ["missing"]
        assert holdings.empty

    def test_field_walletdetail_balances(self, service, client):
        """An array of the tokens held; its length is the wallet's tokens."""
        sent = balances(service.base_url)
        wallets, holdings = client.fetch(ETH)
        assert isinstance(sent, list)
        assert wallets["tokens"].tolist() == [len(sent)] == [len(holdings)]

    def test_field_walletdetail_balances_null(self, service, client):
        """Null means that they are unavailable, an empty array that there are none."""
        sent = [one["balances"] for one in details(service.base_url, UNKNOWN, EMPTY)]
        assert sent == [None, []]
        wallets, holdings = client.fetch([UNKNOWN, EMPTY], on_failure="ignore")
        assert wallets["status"].tolist() == ["failed", "ok"]
        assert wallets["error"][0] == "the service sent no list of balances"
        assert wallets["tokens"].isna().tolist() == [True, False]
        assert wallets["tokens"][1] == 0
        assert holdings.empty

    def test_field_walletdetail_balances_null_is_asked_again(self, canned):
        """Own choice: it is never cached, so that a second fetch requests it again."""
        canned.add_reply(answer(wallet(balances=None)))
        canned.add_reply(answer(wallet()))
        with canned.client() as client:
            seen = [client.fetch(f"ETH.{A}", on_failure="ignore") for _ in range(3)]
        assert [one.wallets["status"].item() for one in seen] == ["failed", "ok", "ok"]
        assert len(canned.paths) == 2

    def test_field_walletdetail_explorer_url(self, service, canned):
        """A string: the wallet's page on an explorer; kept as sent."""
        [entry] = details(service.base_url, ETH)
        assert re.fullmatch(r"https://[^/]+/.*0x1{40}", entry["explorerUrl"])
        wallets, _ = fetch(canned, wallet(explorerUrl="https://x.example/A?b=ü#c"))
        assert wallets["explorer_url"].tolist() == ["https://x.example/A?b=ü#c"]

    def test_field_assetandamount_asset(self, service, canned):
        """Every balance has an Asset of the three fields; without it its token is unknown."""
        names = {"blockchain", "address", "symbol"}
        assert all(one["asset"].keys() == names for one in balances(service.base_url))
        with pytest.warns(AnswerWarning, match="1 of 2 balances, in 1 wallet, could not be read"):
            odd = fetch(canned, wallet(balances=[balance(), without(balance(), "asset")]))
        assert odd.wallets["status"].tolist() == ["ok"]
        assert odd.wallets["error"].tolist() == ["1 of 2 balances could not be read"]
        assert odd.holdings["token_blockchain"].isna().tolist() == [False, True]

    def test_field_assetandamount_amount(self, service, canned):
        """Every balance has an Amount of the two fields; without it its amount is NA."""
        sent = balances(service.base_url)
        assert all(one["amount"].keys() == {"amount", "decimals"} for one in sent)
        with pytest.warns(AnswerWarning):
            odd = fetch(canned, wallet(balances=[balance(), without(balance(), "amount")]))
        assert odd.wallets["status"].tolist() == ["ok"]
        assert odd.holdings["amount"].isna().tolist() == [False, True]

    def test_field_asset_blockchain(self, service, canned):
        """A string in lower-case spelling, the token's own; it may differ from the wallet's."""
        assert {one["asset"]["blockchain"] for one in balances(service.base_url)} == {"ETH"}
        _, holdings = fetch(canned, wallet(balances=[balance(blockchain="BASE")]))
        assert holdings["blockchain"].tolist() == ["ETH"]
        assert holdings["token_blockchain"].tolist() == ["BASE"]

    def test_field_asset_blockchain_spelling(self, canned):
        """With the capital C of WalletDetail it is another field, and this one is missing."""
        misspelt = balance(blockChain="ETH")
        with pytest.warns(AnswerWarning):
            odd = fetch(canned, wallet(balances=[without(misspelt, "asset", "blockchain")]))
        assert odd.holdings["token_blockchain"].isna().all()

    def test_field_asset_address(self, canned):
        """The contract address as sent, or null, which is NA."""
        sent = [balance(address="0xAbC"), balance(address=None)]
        _, holdings = fetch(canned, wallet(balances=sent))
        assert holdings["token_address"][0] == "0xAbC"
        assert holdings["token_address"].isna().tolist() == [False, True]

    def test_field_asset_symbol(self, service, canned):
        """A string, kept as sent; NA if it is empty or null."""
        assert all(type(one["asset"]["symbol"]) is str for one in balances(service.base_url))
        odd = ["=A1", "<b>", " ", "\u202eCDSU", "", None]
        _, holdings = fetch(canned, wallet(balances=[balance(symbol=text) for text in odd]))
        assert holdings["symbol"][:4].tolist() == odd[:4]
        assert holdings["symbol"][4:].isna().all()

    def test_field_amount_amount(self, service, client):
        """An integer as a decimal string, in the smallest unit, exact up to 2**256 - 1."""
        sent = balances(service.base_url, EXTREME)
        assert all(re.fullmatch(r"[0-9]+", one["amount"]["amount"]) for one in sent)
        assert sent[-1]["amount"]["amount"] == str(2**256 - 1)
        _, holdings = client.fetch(EXTREME)
        assert holdings["raw_amount"].iloc[-1] == str(2**256 - 1)
        decimals = sent[-1]["amount"]["decimals"]
        assert Fraction(holdings["amount"].iloc[-1]) == Fraction(2**256 - 1, 10**decimals)

    @pytest.mark.parametrize("sent", [1.5, "1.5", "-1", "1e6", "0x10", "", " 1", None])
    def test_field_amount_amount_type(self, canned, sent):
        """Another type costs its own amount, and is not read as another number."""
        with pytest.warns(AnswerWarning):
            wallets, holdings = fetch(canned, wallet(balances=[balance(sent), balance()]))
        assert wallets["status"].tolist() == ["ok"]
        assert holdings["amount"].isna().tolist() == [True, False]
        assert holdings["raw_amount"][0] == str(sent) or sent is None

    def test_field_amount_amount_integer(self, canned):
        """Own choice: an integer of any size is read like its digits."""
        _, holdings = fetch(canned, wallet(balances=[balance(2**256 - 1)]))
        assert holdings["raw_amount"].tolist() == [str(2**256 - 1)]
        assert Fraction(str(holdings["amount"].item())) == Fraction(2**256 - 1, 10**6)

    def test_field_amount_decimals(self, service, canned):
        """An integer: the number of digits after the point."""
        assert all(type(one["amount"]["decimals"]) is int for one in balances(service.base_url))
        _, holdings = fetch(canned, wallet(balances=[balance("1500000", 6), balance("7", 0)]))
        assert holdings["decimals"].tolist() == [6, 0]
        assert holdings["amount"].tolist() == [Decimal("1.5"), Decimal(7)]

    @pytest.mark.parametrize("sent, kept", [(None, []), (-1, [-1]), (78, [78]), (10**30, [])])
    def test_field_amount_decimals_unknown(self, canned, sent, kept):
        """Without usable decimals the amount is NA; both are kept as sent if the dtype can."""
        with pytest.warns(AnswerWarning):
            wallets, holdings = fetch(canned, wallet(balances=[balance("15", sent)]))
        assert wallets["status"].tolist() == ["ok"]
        assert holdings["amount"].isna().all()
        assert holdings["decimals"].dropna().tolist() == kept
        assert holdings["raw_amount"].tolist() == ["15"]

    @pytest.mark.parametrize("sent", [6.5, True, "6.0", {}])
    def test_field_amount_decimals_type(self, canned, sent):
        """Decimals of another type cost their own amount."""
        with pytest.warns(AnswerWarning):
            wallets, holdings = fetch(canned, wallet(balances=[balance("15", sent), balance()]))
        assert wallets["status"].tolist() == ["ok"]
        assert holdings["amount"].isna().tolist() == [True, False]

    def test_field_amount_decimals_text(self, canned):
        """Own choice: the text of an integer is read like it."""
        _, holdings = fetch(canned, wallet(balances=[balance("15", "1")]))
        assert str(holdings["amount"].item()) == "1.5"

    def test_field_request_item_blockchain(self, canned):
        """A string: the part before the dot of the address parameter, as the service writes it."""
        fetch(canned, wallet(blockchain="eth"), requested={"blockchain": "eth", "address": A})
        assert queries(canned)[0]["address"] == [f"ETH.{A}"]

    def test_field_request_item_address(self, canned):
        """A string: the part after the dot, as written, dots and capitals included."""
        item = {"blockchain": "TON", "address": "Alice.ton"}
        fetch(canned, wallet("Alice.ton", "TON"), requested=[item])
        assert queries(canned)[0]["address"] == ["TON.Alice.ton"]

    def test_field_not_shown_fields_are_ignored(self, canned):
        """Own choice: fields that the document does not have are ignored."""
        entry = wallet(balances=[balance() | {"new": {}}], another=[1])
        wallets, holdings = fetch(canned, entry)
        assert wallets["status"].tolist() == ["ok"]
        assert len(holdings) == 1

    def test_field_not_shown_price(self, canned):
        """Own choice: price beside asset and amount fills a column, NA if it is missing."""
        sent = [balance() | {"price": 1.25}, balance() | {"price": None}, balance()]
        _, holdings = fetch(canned, wallet(balances=sent))
        assert holdings["price"][0] == 1.25
        assert holdings["price"].isna().tolist() == [False, True, True]

    def test_field_not_shown_allowed_blockchains(self, canned, service):
        """Own choice: any identifier is sent as written; the sandbox fails unknown ones."""
        with pytest.warns(InputWarning, match="New_Chain-2: this blockchain is not known"):
            fetch(canned, wallet(A, "New_Chain-2"), requested=f"New_Chain-2.{A}")
        assert queries(canned)[0]["address"] == [f"New_Chain-2.{A}"]
        [entry] = details(service.base_url, f"New_Chain-2.{A}")
        assert entry["failed"] is True


class TestStates:
    """The section "States and transitions"."""

    def test_states_failed_is_the_only_one(self, service):
        """No other field of an entry is a status."""
        names = {"failed", "blockChain", "address", "balances", "explorerUrl"}
        assert all(one.keys() == names for one in details(service.base_url, ETH, FAILING, EMPTY))

    def test_states_transitions_not_shown(self, canned):
        """Own choice: failed is never cached, so that a second fetch requests it again."""
        canned.add_reply(answer(wallet(failed=True, balances=None)))
        canned.add_reply(answer(wallet()))
        with canned.client() as client:
            seen = [client.fetch(f"ETH.{A}", on_failure="ignore") for _ in range(3)]
        assert [one.wallets["status"].item() for one in seen] == ["failed", "ok", "ok"]
        assert len(canned.paths) == 2


class TestGetWalletDetails:
    """The section "Get wallet details"."""

    def test_get_wallet_details_method(self, service, canned):
        """GET is sent, and GET alone is answered."""
        url = f"{service.base_url}/wallets/details"
        query = {"address": ETH, "apiKey": PRIVATE}
        assert requests.post(url, params=query, timeout=10).status_code == 405
        assert ask(service.base_url, ETH).status_code == 200
        fetch(canned, wallet())
        assert len(canned.paths) == 1  # no other method reaches it

    def test_get_wallet_details_path(self, service, canned):
        """The path is /wallets/details below the base address, and no other."""
        query = {"address": ETH, "apiKey": PRIVATE}
        for path in ("/wallets", "/wallets/details/", "/wallet/details"):
            assert (
                requests.get(service.base_url + path, params=query, timeout=10).status_code == 404
            )
        fetch(canned, wallet())
        assert urlsplit(canned.paths[0]).path == "/wallets/details"

    def test_get_wallet_details_purpose(self, service):
        """It returns all tokens and balances, and the explorer URL, for the requested addresses."""
        [entry] = details(service.base_url, "NEAR.alice.near")
        assert entry["balances"][0]["asset"]["symbol"] == "NEAR"
        assert entry["explorerUrl"] == "https://nearblocks.io/address/alice.near"

    @pytest.mark.parametrize(
        "written", [f"ETH.{A}", "NEAR.alice.near", "TON.a&b=c", "TON.é/?#%+", "TON.EQ-_:0"]
    )
    def test_get_wallet_details_parameter_address(self, canned, written):
        """Identifier and address joined by a dot arrive as they were written, encoded once."""
        fetch(canned, requested=written)
        assert queries(canned)[0]["address"] == [written]
        assert canned.paths[0].isascii()

    def test_get_wallet_details_parameter_address_form(self, canned):
        """The query is literally address=<BLOCKCHAIN>.<WALLET_ADDRESS>&apiKey=<API_KEY>."""
        fetch(canned, wallet())
        assert urlsplit(canned.paths[0]).query == f"address=ETH.{A}&apiKey={KEY}"

    @pytest.mark.parametrize("text", ["ETH", "ETH.", ".0xa", ""])
    def test_get_wallet_details_parameter_address_refused(self, service, text):
        """The sandbox refuses other texts than <BLOCKCHAIN>.<WALLET_ADDRESS>."""
        assert ask(service.base_url, text).status_code == 400

    def test_get_wallet_details_parameter_address_required(self, service):
        """Without the parameter, or under another name, the request is refused."""
        url = f"{service.base_url}/wallets/details"
        for query in ({}, {"addresses": ETH}, {"Address": ETH}):
            reply = requests.get(url, params=query | {"apiKey": PRIVATE}, timeout=10)
            assert reply.status_code == 400

    def test_get_wallet_details_parameter_api_key_required(self, service):
        """Without the parameter, or under another name, the request is refused."""
        url = f"{service.base_url}/wallets/details"
        for query in ({}, {"apikey": PRIVATE}, {"api_key": PRIVATE}, {"apiKey": ""}):
            reply = requests.get(url, params=query | {"address": ETH}, timeout=10)
            assert reply.status_code == 401

    @pytest.mark.parametrize("key", ["plain-key-1", "a&b=c+d e%41/?#é"])
    def test_get_wallet_details_parameter_api_key(self, canned, key):
        """The key arrives unchanged, encoded once."""
        canned.default = (200, {}, answer(wallet()))
        with canned.client(api_key=key) as client:
            client.fetch(f"ETH.{A}")
        assert queries(canned) == [{"address": [f"ETH.{A}"], "apiKey": [key]}]

    def test_get_wallet_details_no_body(self, canned):
        """The request has no body, and announces none."""
        fetch(canned, wallet())
        names = {name.lower() for name in canned.headers_seen[0]}
        assert not names & {"content-length", "content-type", "transfer-encoding"}

    def test_get_wallet_details_response(self, service):
        """The response is a JSON object."""
        reply = ask(service.base_url, ETH)
        assert reply.headers["Content-Type"] == "application/json"
        assert isinstance(reply.json(), dict)

    @pytest.mark.parametrize("body", [b"[]", b"null", b'"wallets"', b"<html>", b""])
    def test_get_wallet_details_response_of_another_shape(self, canned, body):
        """Another shape is invalid, not empty."""
        canned.default = (200, {}, body)
        with canned.client() as client:
            wallets, _ = client.fetch(f"ETH.{A}", on_failure="ignore")
        assert wallets["status"].tolist() == ["invalid"]

    def test_get_wallet_details_rule_1_one_per_wallet(self, service, client):
        """One WalletDetail for each requested address; one row for each requested wallet."""
        requested = [str(one) for one in SHOWCASE]
        entries = details(service.base_url, *requested)
        assert [f"{one['blockChain']}.{one['address']}" for one in entries] == requested
        wallets, _ = client.fetch(requested, on_failure="ignore")
        assert (wallets["blockchain"] + "." + wallets["address"]).tolist() == requested

    def test_get_wallet_details_rule_1_left_out(self, canned):
        """A wallet that is missing in the answer has its row, with a status of its own."""
        wallets, _ = fetch(canned)
        assert wallets["status"].tolist() == ["missing"]
        assert wallets["tokens"].isna().all()

    def test_get_wallet_details_rule_2_native_coin(self, service, client):
        """The native coin, and it alone, has asset.address null."""
        native = [one["asset"] for one in balances(service.base_url) if not one["asset"]["address"]]
        assert native == [{"blockchain": "ETH", "address": None, "symbol": "ETH"}]
        _, holdings = client.fetch(ETH)
        assert holdings.loc[holdings["token_address"].isna(), "symbol"].tolist() == ["ETH"]

    def test_get_wallet_details_rule_3_other_tokens(self, service, client):
        """Every other token has its contract address."""
        sent = [one["asset"]["address"] for one in balances(service.base_url)]
        tokens = [address for address in sent if address is not None]
        assert tokens
        assert all(re.fullmatch(r"0x[0-9a-fA-F]{40}", address) for address in tokens)
        _, holdings = client.fetch(ETH)
        assert holdings["token_address"].dropna().tolist() == tokens

    def test_get_wallet_details_rule_4_list_of_objects(self, canned):
        """A list of objects, one per wallet, becomes the address parameter of the HTTP form."""
        items = [{"blockchain": "ETH", "address": A}, {"blockchain": "BSC", "address": B}]
        fetch(canned, requested=items)
        assert sorted(one["address"][0] for one in queries(canned)) == [f"BSC.{B}", f"ETH.{A}"]

    def test_get_wallet_details_several_addresses_not_shown(self, canned, service):
        """Own choice: one address for each request; the sandbox reads repeated ones as well."""
        fetch(canned, requested=[f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"])
        assert [len(one["address"]) for one in queries(canned)] == [1, 1, 1]
        assert len(details(service.base_url, ETH, EMPTY, ETH)) == 2

    def test_get_wallet_details_other_endpoints_not_shown(self, service):
        """Own choice: the sandbox's document describes this operation and no other."""
        document = requests.get(service.openapi_url, timeout=10).json()
        assert {path.split("/", 2)[2] for path in document["paths"]} == {"wallets/details"}
        assert all(set(methods) == {"get"} for methods in document["paths"].values())


class TestAuthentication:
    """The section "Authentication"."""

    def test_authentication_1_every_request(self, canned):
        """Every request has the key once, as the query parameter alone."""
        fetch(canned, requested=[f"ETH.0x{n:0>40}" for n in range(9)])
        assert [one["apiKey"] for one in queries(canned)] == [[KEY]] * 9
        assert KEY not in str(canned.headers_seen)

    def test_authentication_1_not_as_a_header(self, service):
        """A key in a header is no key."""
        bearer = {"Authorization": f"Bearer {PRIVATE}", "X-API-Key": PRIVATE}
        assert ask(service.base_url, ETH, key=None, **bearer).status_code == 401

    def test_authentication_1_no_key_no_request(self, canned):
        """Without a key no request is sent."""
        client = Client(key_kind="private", base_url=canned.base_url, cache=False)
        with client, pytest.raises(SettingsError, match="WALLETFRAME_API_KEY"):
            client.fetch(f"ETH.{A}")
        assert canned.paths == []

    def test_authentication_2_keys_carry_kind_and_domain(self):
        """The sandbox's keys have the data of a ticket: their kind, and a website's domain."""
        assert {name: one.kind for name, one in SANDBOX_KEYS.items()} == {
            "private": "private",
            "public": "public",
            "test": "test",
        }
        assert SANDBOX_KEYS["public"].origin == DOMAIN

    @pytest.mark.parametrize(
        "base, key, origin, granted",
        [
            ("public_base_url", PUBLIC, DOMAIN, DOMAIN),
            ("public_base_url", PUBLIC, "https://elsewhere.example", None),
            ("public_base_url", PUBLIC, f"{DOMAIN}.evil.example", None),
            ("base_url", PRIVATE, DOMAIN, None),
        ],
    )
    def test_authentication_2_cors(self, service, base, key, origin, granted):
        """CORS headers are sent for the domain registered for the key, and for no other."""
        reply = ask(getattr(service, base), ETH, key=key, Origin=origin)
        assert reply.status_code == 200
        assert reply.headers.get("Access-Control-Allow-Origin") == granted

    @pytest.mark.parametrize("word", ["ticket", "application", "blockchain", "domain", "CORS"])
    def test_authentication_2_guide_says_how(self, word):
        """The documentation explains how to obtain a key, and what the ticket has to describe."""
        assert word.lower() in GUIDE.read_text(encoding="utf-8").lower()

    def test_authentication_3_public_key_goes_to_the_public_base(self, canned):
        """With both addresses set, a public key goes to the public one."""
        bases = {name: f"{canned.base_url}/{name}" for name in ("base_url", "public_base_url")}
        with canned.client(key_kind="public", **bases) as client:
            client.fetch(f"ETH.{A}", on_failure="ignore")
        assert [path.split("/")[1] for path in canned.paths] == ["public_base_url"]

    def test_authentication_3_public_key_without_its_base(self, canned):
        """A public key and only the private address are refused before any request."""
        with pytest.raises(SettingsError, match="public_base_url"):
            canned.client(key_kind="public").fetch(f"ETH.{A}")
        assert canned.paths == []

    def test_authentication_3_sandbox_refuses_the_private_base(self, service):
        """A public key is answered at the public base address only."""
        assert ask(service.public_base_url, ETH, key=PUBLIC).status_code == 200
        assert ask(service.base_url, ETH, key=PUBLIC).status_code == 403

    def test_authentication_4_private_key_goes_to_the_private_base(self, canned):
        """With both addresses set, a private key goes to the private one."""
        bases = {name: f"{canned.base_url}/{name}" for name in ("base_url", "public_base_url")}
        with canned.client(key_kind="private", **bases) as client:
            client.fetch(f"ETH.{A}", on_failure="ignore")
        assert [path.split("/")[1] for path in canned.paths] == ["base_url"]

    def test_authentication_4_private_key_without_its_base(self, canned):
        """A private key and only the public address are refused before any request."""
        with pytest.raises(SettingsError, match=r"key_kind is 'private', but base_url is not set"):
            Client(api_key=KEY, key_kind="private", public_base_url=canned.base_url).fetch("E.a")
        assert canned.paths == []

    def test_authentication_4_sandbox_refuses_the_public_base(self, service):
        """A private key is answered at the private base address only."""
        assert ask(service.base_url, ETH, key=PRIVATE).status_code == 200
        assert ask(service.public_base_url, ETH, key=PRIVATE).status_code == 403

    def test_authentication_3_4_kind_has_to_be_said(self, canned):
        """A key of unknown kind is not sent."""
        client = Client(api_key=KEY, base_url=canned.base_url, cache=False)
        with client, pytest.raises(SettingsError, match="WALLETFRAME_KEY_KIND"):
            client.fetch(f"ETH.{A}")
        assert canned.paths == []

    @pytest.mark.parametrize("kind", ["private", "public"])
    def test_authentication_3_4_library_reaches_the_sandbox(self, service, kind):
        """Client and sandbox have the same rules for keys and addresses."""
        with service.client(kind, cache=False) as client:
            assert client.fetch(ETH).wallets["status"].tolist() == ["ok"]

    def test_authentication_5_test_key_warns(self):
        """The test key works, and warns that it is for testing only: once for each client."""
        with (
            sandbox() as own,
            own.client("test", cache=False) as client,
            pytest.warns(TestKeyWarning, match="testing only") as caught,
        ):
            seen = [client.fetch(EMPTY).wallets["status"].item() for _ in range(2)]
        assert seen == ["ok", "ok"]
        assert (len(caught), caught[0].filename) == (1, __file__)

    def test_authentication_5_test_key_warns_before_it_is_sent(self, canned, tmp_path):
        """If the warning is an error, no request is sent, of a list or into a folder."""
        for into in ({}, {"folder": tmp_path / "folder"}):
            fetch_all = fetch_to_parquet if into else fetch_wallets
            with canned.client(key_kind="test") as client, warnings.catch_warnings():
                warnings.simplefilter("error", TestKeyWarning)
                with pytest.raises(TestKeyWarning):
                    fetch_all([f"ETH.{A}"], client=client, **into)
                assert canned.paths == []

    def test_authentication_5_test_key_that_is_not_sent_needs_no_warning(self, canned):
        """Neither offline nor without a key."""
        with canned.client(key_kind="test") as client:
            assert client.fetch(f"ETH.{A}", offline=True, on_failure="ignore").holdings.empty
        with canned.client(key_kind="test", api_key=None) as client, pytest.raises(SettingsError):
            client.fetch(f"ETH.{A}")
        assert canned.paths == []

    @pytest.mark.parametrize("name", ["base_url", "public_base_url"])
    def test_authentication_5_test_key_goes_where_an_address_is(self, canned, name):
        """The test key goes to the private address, or to the public one if only that is set."""
        client = Client(api_key=KEY, key_kind="test", cache=False, **{name: canned.base_url})
        with client, pytest.warns(TestKeyWarning):
            client.fetch(f"ETH.{A}", on_failure="ignore")
        assert len(canned.paths) == 1

    def test_authentication_5_test_key_without_any_address(self):
        """The test key is not sent if no address is set."""
        client = Client(api_key=KEY, key_kind="test", service="named", cache=False)
        with client, pytest.raises(SettingsError, match="base_url"):
            client.fetch(f"ETH.{A}")

    def test_authentication_5_limit_is_fixed(self):
        """The test key is stopped after a few requests, with any limit of other keys."""
        with sandbox(requests_per_second=1000) as generous:
            statuses = [ask(generous.base_url, EMPTY, key=TEST).status_code for _ in range(9)]
        assert statuses[0] == 200
        assert 429 in statuses

    def test_authentication_6_request_form(self, canned):
        """The form is GET {base_url}/path/to/resource?apiKey=<API_KEY>."""
        fetch(canned, wallet())
        assert re.fullmatch(rf"/wallets/details\?(\S+&)?apiKey={KEY}(&\S+)?", canned.paths[0])

    def test_authentication_private_key_additions_not_shown(self, service):
        """Own choice: a private key gets the same answer as a public one."""
        private = ask(service.base_url, ETH).json()
        assert private == ask(service.public_base_url, ETH, key=PUBLIC).json()


class TestEvents:
    """The section "Events"."""

    def test_events_not_shown(self, service):
        """Own choice: there are none, neither callbacks nor webhooks."""
        document = requests.get(service.openapi_url, timeout=10).text
        assert "callbacks" not in document
        assert "webhooks" not in document


class TestErrors:
    """The section "Errors"."""

    @pytest.mark.parametrize(
        "status, expected",
        [
            (401, "rejected"),
            (403, "rejected"),
            (404, "rejected"),
            (429, "rate_limited"),
            (500, "service_error"),
            (503, "service_error"),
            (302, "rejected"),
        ],
    )
    def test_errors_status_codes_not_shown(self, canned, status, expected):
        """Own choice: a status is mapped by its class, and nothing is read from the body."""
        canned.default = (status, {"Location": "/elsewhere"}, answer(wallet()))
        with canned.client() as client:
            wallets, holdings = client.fetch(f"ETH.{A}", on_failure="ignore")
        assert {urlsplit(path).path for path in canned.paths} == {"/wallets/details"}
        assert wallets["status"].tolist() == [expected]
        assert str(status) in wallets["error"].item()
        assert holdings.empty

    def test_errors_body_not_shown(self, canned):
        """Own choice: an error's body is quoted short, on one line, without the key."""
        canned.default = (400, {}, f"bad\n\x1b[31m {KEY} ".encode() * 999)
        with canned.client() as client:
            [text] = client.fetch(f"ETH.{A}", on_failure="ignore").wallets["error"]
        assert "bad" in text
        assert KEY not in text
        assert text.isprintable()
        assert len(text) < 200

    def test_errors_codes_not_shown(self, service):
        """Own choice: the sandbox's refusals are one JSON object, without the request's texts."""
        reply = ask(service.base_url, ETH, key="a-wrong-key")
        assert reply.json()["error"]["status"] == reply.status_code == 401
        assert "a-wrong-key" not in reply.text

    def test_errors_failed_comes_in_a_successful_response(self, service):
        """The failure of one wallet is no failure of the request, or of other wallets."""
        reply = ask(service.base_url, FAILING, ETH)
        assert reply.status_code == 200
        assert [one["failed"] for one in reply.json()["wallets"]] == [True, False]

    def test_errors_unknown_blockchain_not_shown(self, service):
        """Own choice: the sandbox answers an unknown blockchain with failed true."""
        [entry] = details(service.base_url, f"NOWHERE.{A}")
        assert (entry["failed"], entry["balances"]) == (True, None)


class TestLimits:
    """The section "Limits"."""

    def test_limits_1_per_ip_address(self):
        """Requests with different keys, or none, from one IP address are counted together."""
        with sandbox(requests_per_second=0.1) as limited:
            replies = [
                ask(limited.base_url, ETH),
                ask(limited.public_base_url, ETH, key=PUBLIC),
                ask(limited.base_url, ETH, key=""),
            ]
        assert [one.status_code for one in replies] == [200, 429, 429]
        assert replies[1].json()["error"]["code"] == "limited_ip"

    def test_limits_1_per_key(self):
        """Requests with one key are counted separately from those with another."""
        with sandbox() as own:
            replies = [ask(own.base_url, EMPTY, key=TEST) for _ in range(9)]
            assert ask(own.base_url, EMPTY).status_code == 200
        refused = next(one for one in replies if one.status_code == 429)
        assert refused.json()["error"]["code"] == "limited_key"

    def test_limits_2_test_key(self):
        """The test key's limit is low and fixed, at both base addresses together."""
        with sandbox(requests_per_second=1000) as generous:
            bases = [generous.base_url, generous.public_base_url] * 5
            statuses = [ask(base, EMPTY, key=TEST).status_code for base in bases]
        assert statuses[0] == 200
        assert 429 in statuses

    def test_limits_2_not_for_other_keys(self, service):
        """An ordinary key passes beyond the test key's limit."""
        assert {ask(service.base_url, EMPTY).status_code for _ in range(9)} == {200}

    def test_limits_3_higher_limits(self):
        """A sandbox can have a higher limit, as the provider grants one on request."""
        with sandbox(requests_per_second=100) as higher:
            assert {ask(higher.base_url, EMPTY).status_code for _ in range(9)} == {200}

    def test_limits_3_guide_says_so(self):
        """The documentation says that higher limits are granted on request, by the same ticket."""
        text = GUIDE.read_text(encoding="utf-8").lower()
        assert "ticket" in text
        assert "limit" in text

    def test_limits_4_slow_per_wallet(self):
        """The sandbox adds its latency for every wallet of a request."""
        with sandbox(latency_s=0.15) as slow:
            begun = time.monotonic()
            details(slow.base_url, ETH, EMPTY)
            assert time.monotonic() - begun >= 0.3

    def test_limits_4_library_waits_for_several_at_once(self):
        """Twelve slow wallets take much less than twelve times as long."""
        with sandbox(latency_s=1) as slow, slow.client(cache=False, workers=12) as client:
            begun = time.monotonic()
            wallets, _ = client.fetch([f"ETH.0x{n:0>40}" for n in range(12)])
            assert time.monotonic() - begun < 10
        assert set(wallets["status"]) == {"ok"}

    def test_limits_numbers_not_shown(self):
        """Own choice: an exceeded limit is 429 with whole seconds in Retry-After."""
        with sandbox(requests_per_second=0.1) as limited:
            ask(limited.base_url, ETH)
            reply = ask(limited.base_url, ETH)
        assert reply.status_code == 429
        assert 1 <= int(reply.headers["Retry-After"]) <= 11


class TestVersioning:
    """The section "Versioning"."""

    def test_versioning_not_shown(self, canned):
        """Own choice: no version is sent; one in the base address is kept."""
        canned.default = (200, {}, answer(wallet()))
        with canned.client(base_url=f"{canned.base_url}/v2") as client:
            client.fetch(f"ETH.{A}")
        assert canned.paths == [f"/v2/wallets/details?address=ETH.{A}&apiKey={KEY}"]
        assert "version" not in str(canned.headers_seen).lower()
