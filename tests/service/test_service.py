"""The sandbox as an HTTP service: requests by requests, fields by the names of the spec."""

import asyncio
import dataclasses
import logging
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
import requests
from addresses import ONE, whole

from walletframe.errors import MissingExtraError, SettingsError, TestKeyWarning
from walletframe.service import SANDBOX_KEYS, SHOWCASE, Sandbox, sandbox
from walletframe.settings.values import Settings

PRIVATE, PUBLIC, TEST = (SANDBOX_KEYS[kind].key for kind in ("private", "public", "test"))
COIN = {"token_address": None, "symbol": "ETH", "raw_amount": "1500", "decimals": 18}
DOMAIN = "https://notebook.example"
ETH, EXTREME = (str(wallet) for wallet in SHOWCASE[:2])
EMPTY, UNKNOWN, FAILING = (str(wallet) for wallet in SHOWCASE[5:8])


@pytest.fixture(scope="module")
def document(service):
    """Return the OpenAPI document as served."""
    return requests.get(service.openapi_url, timeout=10).json()


def ask(base_url, *addresses, key=PRIVATE, method="GET", **options):
    """Send one request to the endpoint."""
    query = {"address": addresses, "apiKey": key}
    url = f"{base_url}/wallets/details"
    return requests.request(method, url, params=query, timeout=10, **options)


def wallets_of(base_url, *addresses, **options):
    """Return the entries of an answer."""
    answer = ask(base_url, *addresses, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()["wallets"]


def wallet_of(base_url, address, **options):
    """Return the only entry of an answer."""
    [wallet] = wallets_of(base_url, address, **options)
    return wallet


def problem_of(answer):
    """Return status and code of a refusal, whose form is checked."""
    assert answer.headers["Content-Type"] == "application/json"
    problem = answer.json()["error"]
    assert problem.keys() == {"status", "code", "message"}
    assert problem["status"] == answer.status_code
    return answer.status_code, problem["code"]


def answer_to_host(service, path, host):
    """Return status and body of a raw answer to a request for a host."""
    port = int(service.base_url.rpartition(":")[2].partition("/")[0])
    mark = "&" if "?" in path else "?"
    lines = [f"GET {path}{mark}apiKey={PRIVATE} HTTP/1.{0 if host is None else 1}"]
    lines += [] if host is None else [f"Host: {host.format(port=port)}"]
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        head, _, body = b"".join(iter(lambda: line.recv(65536), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), body


class TestAnswer:
    """Answers to valid requests."""

    def test_every_field_has_the_name_and_the_type_of_the_spec(self, service):
        """An ordinary wallet is answered field by field as the spec names them."""
        wallet = wallet_of(service.base_url, ETH)
        names = {"failed", "blockChain", "address", "balances", "explorerUrl"}
        assert wallet.keys() == names
        assert wallet["failed"] is False
        assert wallet["explorerUrl"] == f"https://etherscan.io/address/{ETH[4:]}"
        for balance in wallet["balances"]:
            assert balance.keys() <= {"asset", "amount", "price"}
            assert balance["asset"].keys() == {"blockchain", "address", "symbol"}
            assert balance["amount"].keys() == {"amount", "decimals"}
            assert balance["amount"]["amount"].isdigit()
            assert type(balance["amount"]["decimals"]) is int

    def test_only_the_native_coin_has_no_address(self, service):
        """The native coin comes first, with address null; every other token has a contract."""
        coin, *tokens = wallet_of(service.base_url, ETH)["balances"]
        assert coin["asset"] == {"blockchain": "ETH", "address": None, "symbol": "ETH"}
        assert tokens
        assert all(token["asset"]["address"] for token in tokens)

    def test_an_unknown_price_is_left_out(self, service):
        """A spam token has no price field at all, not one of null."""
        *_, spam = wallet_of(service.base_url, EXTREME)["balances"]
        assert spam.keys() == {"asset", "amount"}

    def test_the_wallet_is_echoed_as_requested(self, service):
        """The address has its spelling, the blockchain the service's."""
        wallet = wallet_of(service.base_url, "eth.0xABCDEF0000000000000000000000000000000000")
        assert wallet["blockChain"] == "ETH"
        assert wallet["address"] == "0xABCDEF0000000000000000000000000000000000"

    def test_an_address_is_split_at_the_first_dot(self, service):
        """The address is the text after the first dot, dots included."""
        wallet = wallet_of(service.base_url, "NEAR.alice.near")
        assert (wallet["blockChain"], wallet["address"]) == ("NEAR", "alice.near")

    def test_several_wallets_are_in_the_requested_order(self, service):
        """Repeated address parameters return one entry each, equal ones once."""
        requested = [EXTREME, ETH, EXTREME, "NEAR.alice.near"]
        result = [
            f"{w['blockChain']}.{w['address']}" for w in wallets_of(service.base_url, *requested)
        ]
        assert result == [EXTREME, ETH, "NEAR.alice.near"]

    def test_two_spellings_are_two_entries_of_one_wallet(self, service):
        """A hex address in another case is echoed apart and holds the same."""
        one, other = wallets_of(service.base_url, f"ETH.{whole('abc')}", f"ETH.{whole('ABC')}")
        assert (one["address"], other["address"]) == (whole("abc"), whole("ABC"))
        assert one["balances"] == other["balances"]

    def test_an_unknown_blockchain_fails_alone(self, service):
        """A wallet on an unknown blockchain is failed in an answer whose other wallets are fine."""
        lost, fine = wallets_of(service.base_url, f"NOWHERE.{ONE}", ETH)
        assert (lost["failed"], lost["balances"]) == (True, None)
        assert lost["explorerUrl"].startswith("https://")
        assert fine["failed"] is False

    def test_answers_have_the_header_of_simulated_data(self, service):
        """Every answer, refusals included."""
        for answer in (ask(service.base_url, ETH), ask(service.base_url, ETH, key="x")):
            assert answer.headers["X-Walletframe-Simulated"] == "true"


class TestShowcase:
    """Properties of the showcase wallets."""

    def test_it_covers_many_blockchains(self):
        """There are at least twelve wallets on at least eight blockchains."""
        assert len(SHOWCASE) >= 12
        assert len({wallet.blockchain for wallet in SHOWCASE}) >= 8

    @pytest.mark.parametrize("seed", [0, 1, 12345])
    def test_its_properties_hold_for_any_seed(self, seed):
        """One fails, one is empty, one unknown, one extreme, and all others are ordinary."""
        requested = [str(wallet) for wallet in SHOWCASE]
        with sandbox(seed=seed) as service:
            result = dict(zip(requested, wallets_of(service.base_url, *requested), strict=True))
        assert result.pop(FAILING)["failed"] is True
        assert result.pop(EMPTY)["balances"] == []
        assert result.pop(UNKNOWN)["balances"] is None
        largest = result[EXTREME]["balances"][-1]["amount"]["amount"]
        assert largest == str(2**256 - 1)
        assert all(wallet["balances"] and not wallet["failed"] for wallet in result.values())


class TestKeys:
    """Keys and their base addresses."""

    @pytest.mark.parametrize(
        "base, key, expected",
        [
            ("base_url", "", (401, "no_key")),
            ("base_url", "nobody's", (401, "unknown_key")),
            ("base_url", PUBLIC, (403, "wrong_base")),
            ("public_base_url", PRIVATE, (403, "wrong_base")),
        ],
    )
    def test_a_wrong_key_is_refused(self, service, base, key, expected):
        """A missing or unknown key is 401, a key at the other base 403; no body repeats it."""
        answer = ask(getattr(service, base), ETH, key=key)
        assert problem_of(answer) == expected
        assert not key or key not in answer.text

    def test_no_key_at_all_is_401(self, service):
        """Without any apiKey parameter the status is 401 too."""
        url = f"{service.base_url}/wallets/details"
        assert problem_of(requests.get(url, timeout=10)) == (401, "no_key")

    def test_public_and_test_keys_pass_at_their_bases(self):
        """The public key passes at the public base, the test key at both."""
        with sandbox() as service:
            for base, key in [("public", PUBLIC), ("public", TEST), ("private", TEST)]:
                url = {"public": service.public_base_url, "private": service.base_url}[base]
                assert wallet_of(url, ETH, key=key)["failed"] is False


class TestRefusals:
    """Requests that are not valid."""

    @pytest.mark.parametrize("address", ["ETH", ".0x1", "ETH.", f"ETH.{ONE} 0x2", "ETH.0x1…2", ""])
    def test_a_malformed_address_is_400(self, service, address):
        """No dot, an empty part, white space inside: status 400, naming the position."""
        answer = ask(service.base_url, ETH, address)
        assert problem_of(answer) == (400, "bad_address")
        assert "parameter 1" in answer.json()["error"]["message"]

    def test_a_missing_address_is_400(self, service):
        """A request for no wallet is refused."""
        assert problem_of(ask(service.base_url)) == (400, "no_address")

    @pytest.mark.parametrize(
        "path", ["/", "/wallets/details", "/private/wallets/details/", "/docs"]
    )
    def test_an_unknown_path_is_404(self, service, path):
        """Nothing else is served, no redirect is sent, and there are no pages from a CDN."""
        origin = service.openapi_url.removesuffix("/openapi.json")
        answer = requests.get(origin + path, timeout=10, allow_redirects=False)
        assert problem_of(answer) == (404, "no_such_path")

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
    def test_another_method_is_405(self, service, method):
        """Only GET is allowed, and the answer has that header."""
        answer = ask(service.base_url, ETH, method=method)
        assert problem_of(answer) == (405, "not_allowed")
        assert answer.headers["Allow"] == "GET"

    def test_a_ledger_that_raises_is_500(self):
        """A fault in a user's ledger is answered like any refusal, and not logged."""

        class Broken:
            fingerprint = "broken"

            def detail(self, wallet):
                raise RuntimeError(wallet)

        with sandbox(ledger=Broken()) as service:
            answer = ask(service.base_url, ETH, key=service.settings().api_key.reveal())
            assert problem_of(answer) == (500, "broken")


class TestForeignRequests:
    """Other users of this machine, and web pages in its browser."""

    @pytest.mark.parametrize("kind", ["private", "public", "test"])
    def test_a_users_ledger_has_its_own_keys(self, kind):
        """The published keys are refused; those of its settings pass, and are new each time."""
        held = pd.DataFrame([{"blockchain": "ETH", "address": whole("aa"), **COIN}])
        keys = set()
        for _ in range(2):
            with sandbox(ledger=held) as service:
                base_url = service.public_base_url if kind == "public" else service.base_url
                unknown = ask(base_url, f"ETH.{whole('aa')}", key=SANDBOX_KEYS[kind].key)
                assert problem_of(unknown) == (401, "unknown_key")
                keys.add(service.settings(kind).api_key.reveal())
                with service.client(kind, cache=False) as client, warnings.catch_warnings():
                    warnings.simplefilter("ignore", TestKeyWarning)
                    details = client.fetch(f"ETH.{whole('aa')}")
                assert details.holdings.symbol.tolist() == ["ETH"]
                assert not [key for key in keys if key in repr([service, vars(service)])]
        assert len(keys) == 2

    @pytest.mark.parametrize("path", [f"/private/wallets/details?address={ETH}", "/openapi.json"])
    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.1", "", "@"],
    )
    def test_a_foreign_host_name_is_421(self, service, host, path):
        """A web page whose own name leads to this machine (DNS rebinding) gets nothing."""
        status, body = answer_to_host(service, path, host)
        assert status == 421
        assert b"wrong_host" in body
        assert b"balances" not in body

    @pytest.mark.parametrize(
        "host", ["localhost", "localhost:{port}", "127.0.0.1:1", "[::1]:{port}"]
    )
    def test_this_machines_names_are_served(self, service, host):
        """With any port, which may be forwarded."""
        status, body = answer_to_host(service, f"/private/wallets/details?address={ETH}", host)
        assert status == 200
        assert b"balances" in body

    def test_a_request_without_a_host_is_refused(self, service):
        """HTTP/1.0 allows it."""
        assert answer_to_host(service, "/openapi.json", None)[0] == 421


class TestLimits:
    """Rate limits."""

    def test_the_test_key_has_a_fixed_low_limit(self):
        """The third request within a second is refused; after its Retry-After, it passes."""
        with sandbox() as service:
            took_s = 1
            while took_s >= 1:  # a busy machine may need longer for three
                began = time.monotonic()
                answers = [ask(service.public_base_url, ETH, key=TEST) for _ in range(3)]
                took_s = time.monotonic() - began
            assert [answer.status_code for answer in answers] == [200, 200, 429]
            assert problem_of(answers[-1]) == (429, "limited_key")
            assert answers[-1].headers["Retry-After"] == "1"
            time.sleep(1)
            assert ask(service.public_base_url, ETH, key=TEST).status_code == 200

    def test_a_limit_holds_for_the_ip_address(self):
        """Requests with no key at all count against the address they come from."""
        with sandbox(requests_per_second=0.1) as service:
            assert ask(service.base_url, ETH, key="").status_code == 401
            answer = ask(service.base_url, ETH)
        assert problem_of(answer) == (429, "limited_ip")
        assert 1 <= int(answer.headers["Retry-After"]) <= 10

    def test_an_ordinary_key_is_not_limited_by_default(self, service):
        """Without that option, a burst passes."""
        with ThreadPoolExecutor(4) as pool:
            requested = pool.map(lambda _: ask(service.base_url, ETH).status_code, range(40))
            assert set(requested) == {200}


class TestCors:
    """Web pages and CORS."""

    @pytest.mark.parametrize(
        "base, key, origin, expected",
        [
            ("public_base_url", PUBLIC, DOMAIN, DOMAIN),
            ("public_base_url", PUBLIC, "https://other.example", None),
            ("base_url", PRIVATE, DOMAIN, None),
            ("public_base_url", "nobody's", DOMAIN, None),
        ],
    )
    def test_only_a_registered_domain_is_allowed(self, service, base, key, origin, expected):
        """The CORS header names the domain of the key, and is there for that origin only."""
        answer = ask(getattr(service, base), ETH, key=key, headers={"Origin": origin})
        assert answer.headers.get("Access-Control-Allow-Origin") == expected

    def test_a_refusal_can_be_read_by_the_registered_domain(self, service):
        """A page can read the reason of a refusal, and the time to wait."""
        answer = ask(service.public_base_url, key=PUBLIC, headers={"Origin": DOMAIN})
        assert answer.status_code == 400
        assert answer.headers["Access-Control-Allow-Origin"] == DOMAIN
        assert "Retry-After" in answer.headers["Access-Control-Expose-Headers"]

    def test_a_preflight_passes_for_the_registered_domain(self, service):
        """OPTIONS from the domain is 204 and allows GET with the requested headers."""
        headers = {"Origin": DOMAIN, "Access-Control-Request-Headers": "x-trace"}
        url = service.public_base_url
        answer = ask(url, ETH, key=PUBLIC, method="OPTIONS", headers=headers)
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["Access-Control-Allow-Methods"] == "GET"
        assert answer.headers["Access-Control-Allow-Headers"] == "x-trace"

    def test_a_plain_preflight_names_no_headers(self, service):
        """A preflight without headers is granted none."""
        options = {"key": PUBLIC, "method": "OPTIONS", "headers": {"Origin": DOMAIN}}
        answer = ask(service.public_base_url, ETH, **options)
        assert answer.status_code == 204
        assert "Access-Control-Allow-Headers" not in answer.headers

    def test_a_preflight_from_elsewhere_is_405(self, service):
        """OPTIONS from another origin is refused without CORS headers."""
        options = {"key": PUBLIC, "method": "OPTIONS", "headers": {"Origin": "https://a.example"}}
        answer = ask(service.public_base_url, ETH, **options)
        assert answer.status_code == 405
        assert "Access-Control-Allow-Origin" not in answer.headers


class TestBehaviour:
    """Latency and failures, with their options."""

    def test_latency_grows_with_the_wallets(self):
        """An answer takes the latency once for each wallet."""
        with sandbox(latency_s=0.1) as service:
            began = time.monotonic()
            wallets_of(service.base_url, ETH, EMPTY, UNKNOWN)
            assert time.monotonic() - began >= 0.3

    def test_slow_answers_do_not_wait_for_each_other(self):
        """Ten slow requests at once take about as long as one."""
        with sandbox(latency_s=1) as service, ThreadPoolExecutor(10) as pool:
            began = time.monotonic()
            list(pool.map(lambda _: wallets_of(service.base_url, ETH), range(10)))
            assert time.monotonic() - began < 9

    def test_about_the_requested_share_fails(self):
        """Failed wallets have no balances, and have their explorer page."""
        requested = [f"ETH.0x{n:040x}" for n in range(300)]
        with sandbox(failure_share=0.2) as service:
            result = wallets_of(service.base_url, *requested)
        failed = [wallet for wallet in result if wallet["failed"]]
        assert 40 <= len(failed) <= 80
        assert all(wallet["balances"] is None for wallet in failed)
        assert all(wallet["explorerUrl"].startswith("https://etherscan.io/") for wallet in failed)

    def test_failures_repeat_in_a_second_sandbox(self):
        """Equal seeds fail equally, also in the second request, which fails otherwise."""
        requested = [f"ETH.0x{n:040x}" for n in range(50)]
        runs = []
        for _ in range(2):
            with sandbox(failure_share=0.5, seed=3) as service:
                runs.append([wallets_of(service.base_url, *requested) for _ in range(2)])
        assert runs[0] == runs[1]
        assert runs[0][0] != runs[0][1]

    def test_retries_succeed_in_the_end(self):
        """A wallet that failed by chance is answered on one of the next tries."""
        with sandbox(failure_share=0.5) as service:
            tries = [wallet_of(service.base_url, ETH)["failed"] for _ in range(20)]
        assert set(tries) == {True, False}

    @pytest.mark.parametrize("share", [0, 1])
    def test_none_and_all_are_exact(self, share):
        """A share of 0 never fails, of 1 always."""
        requested = [f"ETH.0x{n:040x}" for n in range(100)]
        with sandbox(failure_share=share) as service:
            result = wallets_of(service.base_url, *requested)
        assert {wallet["failed"] for wallet in result} == {bool(share)}

    @pytest.mark.parametrize(
        "option",
        [
            {"latency_s": -1},
            {"latency_s": "soon"},
            {"failure_share": 1.5},
            {"failure_share": float("nan")},
            {"failure_share": True},
            {"requests_per_second": 0},
            {"seed": "lucky"},
            {"seed": 1.5},
            {"seed": 10**400},
        ],
        ids=lambda option: str(option)[:30],
    )
    def test_an_option_out_of_range_is_named(self, option):
        """A wrong number is a SettingsError with its name, before anything is started."""
        with pytest.raises(SettingsError, match=next(iter(option))):
            sandbox(**option)


class TestDocument:
    """The OpenAPI document."""

    def test_it_describes_both_base_addresses(self, document):
        """The endpoint is there twice, each with its own name, and there is no other."""
        assert document["openapi"].startswith("3.")
        assert document["paths"].keys() == {"/private/wallets/details", "/public/wallets/details"}
        assert all(path.keys() == {"get"} for path in document["paths"].values())
        names = {path["get"]["operationId"] for path in document["paths"].values()}
        assert len(names) == 2

    def test_it_describes_the_parameters(self, document):
        """Both query parameters are required; addresses may be repeated."""
        operation = document["paths"]["/private/wallets/details"]["get"]
        address, key = operation["parameters"]
        assert (address["name"], key["name"]) == ("address", "apiKey")
        assert [address["required"], key["required"], address["explode"]] == [True] * 3

    def test_it_describes_the_shapes(self, document):
        """The schemas carry the names of the spec, and every reference leads somewhere."""
        schemas = document["components"]["schemas"]
        fields = schemas["WalletDetail"]["properties"].keys()
        assert fields == {"failed", "blockChain", "address", "balances", "explorerUrl"}
        assert {"AssetAndAmount", "Asset", "Amount", "ProblemAnswer"} <= schemas.keys()
        assert set(schemas["WalletDetail"]["required"]) == fields
        assert set(schemas["AssetAndAmount"]["required"]) == {"asset", "amount"}
        assert set(schemas["Asset"]["required"]) == {"blockchain", "address", "symbol"}
        targets = [text.split('"')[0] for text in str(document).replace("'", '"').split("schemas/")]
        assert set(targets[1:]) <= schemas.keys()
        assert not any("\n" in schema["description"] for schema in schemas.values())

    def test_it_marks_the_sandboxes_own_statuses(self, document):
        """Every status but 200 is documented as the sandbox's own choice."""
        responses = document["paths"]["/public/wallets/details"]["get"]["responses"]
        own = {
            status
            for status, text in responses.items()
            if "the sandbox defines it" in text["description"]
        }
        assert own == {"400", "401", "403", "404", "405", "421", "429", "500"}
        assert responses.keys() - own == {"200"}
        assert "Retry-After" in responses["429"]["headers"]


class TestSettings:
    """Settings of a client."""

    @pytest.mark.parametrize("kind", ["private", "public", "test"])
    def test_they_reach_this_sandbox(self, service, kind):
        """The settings have both bases, the service, and the key of the requested kind."""
        settings = service.settings(kind)
        assert settings.api_key.reveal() == SANDBOX_KEYS[kind].key
        assert (settings.key_kind, settings.service) == (kind, "sandbox")
        assert settings.base_url == service.base_url
        assert settings.public_base_url == service.public_base_url

    def test_the_environment_is_ignored(self, service, monkeypatch):
        """Settings of the real service change nothing here."""
        before = service.settings()
        for field in dataclasses.fields(Settings):
            monkeypatch.setenv(f"WALLETFRAME_{field.name.upper()}", "not for the sandbox")
        assert service.settings() == before

    def test_its_client_reaches_it(self, service):
        """The client uses this sandbox, with the key of the requested kind."""
        with service.client("public", cache=False) as client:
            wallets, holdings = client.fetch([ETH, EMPTY])
        assert list(wallets["status"]) == ["ok", "ok"]
        assert set(wallets["service"]) == {"sandbox"}
        assert len(holdings) == len(wallet_of(service.base_url, ETH)["balances"])

    def test_an_override_wins(self, service):
        """Any setting can be overridden; None overrides nothing."""
        settings = service.settings(api_key="other", cache=False, service="mine", workers=None)
        assert settings.api_key.reveal() == "other"
        assert settings.cache is False
        assert settings.service == "mine"
        assert settings.workers == service.settings().workers

    def test_each_ledger_has_its_own_cache(self, service):
        """Equal ledgers share a cache file on any port; others never do."""
        with sandbox() as same, sandbox(seed=1) as other:
            paths = [one.settings().cache for one in (service, same, other)]
        assert paths[0] == paths[1] != paths[2]
        assert paths[0].name.startswith("sandbox-")


class TestLife:
    """From start to stop."""

    def test_stop_frees_the_port_and_the_threads(self):
        """After stop nothing listens and no thread is left; a second stop does nothing."""
        before = set(threading.enumerate())
        service = sandbox()
        assert wallet_of(service.base_url, ETH)
        service.stop()
        service.stop()
        assert set(threading.enumerate()) <= before
        with pytest.raises(requests.ConnectionError):
            ask(service.base_url, ETH)

    def test_a_slow_answer_does_not_delay_stop(self):
        """A request under way is aborted after a second."""
        service = sandbox(latency_s=60)
        with ThreadPoolExecutor(1) as pool:
            pending = pool.submit(ask, service.base_url, ETH)
            time.sleep(0.3)
            began = time.monotonic()
            service.stop()
            assert time.monotonic() - began < 30
            assert pending.exception(10) or pending.result().status_code == 500

    def test_several_run_at_once(self):
        """Two sandboxes answer side by side, each from its own seed."""
        with sandbox(seed=1) as one, sandbox(seed=2) as two:
            assert one.base_url != two.base_url
            assert wallet_of(one.base_url, ETH) != wallet_of(two.base_url, ETH)

    def test_it_runs_inside_a_running_event_loop(self):
        """A notebook's own loop is neither needed nor disturbed."""

        async def cell():
            with sandbox() as service:
                return await asyncio.to_thread(wallet_of, service.base_url, ETH)

        assert asyncio.run(cell())["failed"] is False

    def test_a_port_can_be_chosen_and_is_refused_when_taken(self):
        """A fixed port can be used again after stop, and not while it is in use."""
        with Sandbox() as first:
            port = int(first.base_url.split(":")[2].split("/")[0])
            with pytest.raises(OSError, match="in use"):
                Sandbox(port=port)
        with Sandbox(port=port) as again:
            assert again.base_url == first.base_url

    def test_wait_ends_with_stop(self):
        """In the foreground, wait returns when another thread stops the sandbox."""
        service = Sandbox()
        waiting = threading.Thread(target=service.wait)
        waiting.start()
        service.stop()
        waiting.join(5)
        assert not waiting.is_alive()

    def test_the_repr_has_no_key(self):
        """It says simulated and the address, or stopped."""
        with sandbox() as service:
            assert "simulated" in repr(service)
            assert service.base_url.removesuffix("/private") in repr(service)
            assert not any(key in repr(service) for key in (PRIVATE, PUBLIC, TEST))
        assert "stopped" in repr(service)

    def test_nothing_is_logged(self, service, caplog):
        """Neither requests nor rubbish on the socket leave a log line of the server's."""
        port = int(service.base_url.split(":")[2].split("/")[0])
        with caplog.at_level(logging.DEBUG, logger="uvicorn"):
            ask(service.base_url, ETH)
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"rubbish\r\n\r\n")
                assert b"400" in connection.recv(1000)
        assert not [record for record in caplog.records if record.name.startswith("uvicorn")]

    def test_a_forgotten_one_ends_with_the_process(self):
        """A process that never calls stop ends by itself, without output."""
        code = (
            "import requests; from walletframe.service import sandbox; s = sandbox();"
            "assert requests.get(s.openapi_url, timeout=10).status_code == 200"
        )
        run = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
        done = subprocess.run(run, capture_output=True, timeout=30, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def test_an_unknown_kind_of_key_is_refused(self, service):
        """The error quotes it, and lists the kinds."""
        with pytest.raises(SettingsError, match="key_kind is not valid: 'secret'") as caught:
            service.settings("secret")
        assert caught.value.hint == "use one of private, public, test"

    @pytest.mark.parametrize("package", ["fastapi", "limits", "uvicorn"])
    def test_a_missing_package_names_the_extra(self, monkeypatch, package):
        """The error of a missing package has the command that installs it."""
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, "walletframe.service.app", raising=False)
        with pytest.raises(MissingExtraError, match="the sandbox needs") as caught:
            sandbox()
        assert caught.value.hint.startswith('pip install "fastapi>=')
