"""Settings: argument before environment before default, and wrong values are refused."""

import copy
import dataclasses
import math
import pickle
from pathlib import Path

import pytest
from addresses import A
from canned_service import KEY
from requests_cache import BaseCache

from walletframe.client import Client
from walletframe.errors import SettingsError
from walletframe.settings.key import ApiKey
from walletframe.settings.sources import PREFIX
from walletframe.settings.values import Settings, endpoint_and_key, require_service

PRIVATE, PUBLIC = "https://private.example/v1", "https://public.example"
FIELDS = [field.name for field in dataclasses.fields(Settings)]
WRONG = {
    "api_key": ["", "  ", "two\nlines", "bell\a", 5, b"bytes"],
    "key_kind": ["secret", "PUBLIC", 5, ["public"]],
    "base_url": ["", "api.example", "ftp://h", "https://", "https://h:x", "https://h?a=b", 5],
    "public_base_url": ["nothing", "https://h:99999", "https://h/#top", b"https://h"],
    "service": ["", " ", 5],
    "cache": [True, "redis://:a-password@h/0", "s3://bucket/a.sqlite", "redis://"],
    "cache_max_bytes": [0, 999_999, 1.5e6 + 0.5, "1 GB"],
    "expire_after_s": [-1, "soon", math.nan, True, [1]],
    "stale_if_error": ["maybe", 2, ""],
    "batch_size": [0, 101, 2.5, "many", True],
    "workers": [0, 65, 2.5, "2.5", "many", True, 10**400, math.inf],
    "requests_per_second": [0, -1, math.inf, "fast"],
    "retry_after_max_s": [-1, math.inf, "1 s"],
    "timeout_s": [0, -1, math.inf, "1e9", "1 s"],
    "deadline_s": [-1, math.inf, "soon"],
}
TEXTS = {
    "api_key": ("k", ApiKey("k")),
    "key_kind": ("test", "test"),
    "base_url": (PRIVATE, PRIVATE),
    "public_base_url": (PUBLIC, PUBLIC),
    "service": ("mine", "mine"),
    "cache": ("false", False),
    "cache_max_bytes": ("2000000", 2_000_000),
    "expire_after_s": ("inf", math.inf),
    "stale_if_error": ("no", False),
    "batch_size": ("20", 20),
    "workers": ("3", 3),
    "requests_per_second": ("0.5", 0.5),
    "retry_after_max_s": ("10", 10.0),
    "timeout_s": ("2.5", 2.5),
    "deadline_s": ("90", 90.0),
}


def wrong(**options):
    """Return the error of refused settings."""
    with pytest.raises(SettingsError) as caught:
        Settings(**options)
    return caught.value


def is_about(error, name):
    """Return whether a message is a sentence on a setting, with one of the verbs in use."""
    verbs = ("is not valid", "is not a ", "contains ", "uses http ")
    return str(error).startswith(tuple(f"{name} {verb}" for verb in verbs))


def secret(**options):
    """Return settings that hold the key."""
    return Settings(api_key=KEY, key_kind="private", base_url=PRIVATE, **options)


class TestPrecedence:
    """Argument, environment, default."""

    def test_defaults(self):
        """Without arguments, all but the address and the key is set."""
        settings = Settings()
        assert settings.api_key is settings.key_kind is settings.endpoint is None
        assert (settings.expire_after_s, settings.workers) == (3600.0, 8)
        assert (settings.stale_if_error, settings.timeout_s) == (True, 60.0)

    @pytest.mark.parametrize("name, pair", TEXTS.items(), ids=TEXTS)
    def test_environment_before_default(self, monkeypatch, name, pair):
        """Every setting is read from the variable of its name, which is text."""
        text, expected = pair
        monkeypatch.setenv(PREFIX + name.upper(), text)
        assert getattr(Settings(), name) == expected

    def test_argument_before_environment(self, monkeypatch):
        """An argument wins."""
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        assert Settings(workers=4).workers == 4

    def test_none_is_no_argument(self, monkeypatch):
        """None stands for the environment's value, and then for the default."""
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        assert Settings(workers=None).workers == 3
        assert Settings(timeout_s=None).timeout_s == 60

    def test_an_empty_variable_is_not_set(self, monkeypatch):
        """An empty variable counts as none."""
        monkeypatch.setenv("WALLETFRAME_WORKERS", "")
        assert Settings().workers == 8

    def test_false_is_a_value(self, monkeypatch):
        """False and 0 are values, not their absence."""
        monkeypatch.setenv("WALLETFRAME_EXPIRE_AFTER_S", "5")
        monkeypatch.setenv("WALLETFRAME_CACHE", "memory")
        settings = Settings(expire_after_s=0, stale_if_error=False, cache=False)
        assert (settings.expire_after_s, settings.stale_if_error, settings.cache) == (
            0,
            False,
            False,
        )

    def test_read_when_made(self, monkeypatch):
        """A later change of the environment changes no settings."""
        settings = Settings()
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        assert settings.workers == 8
        assert Settings().workers == 3

    def test_client_takes_overrides(self, monkeypatch):
        """A client's overrides win over its settings."""
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        assert Client(Settings(workers=4), workers=5).settings.workers == 5
        assert Client(Settings(workers=4)).settings.workers == 4
        assert Client().settings.workers == 3


class TestUnknown:
    """A typo fails."""

    @pytest.mark.parametrize(
        "name, near",
        [("apikey", "api_key"), ("base_uri", "base_url"), ("timeout", "timeout_s")],
    )
    def test_argument(self, name, near):
        """An unknown argument is named, with the nearest setting, and without its value."""
        error = wrong(**{name: KEY})
        assert f"there is no setting '{name}'" in str(error)
        assert error.hint == f"did you mean {near}?"
        assert KEY not in str(error)

    def test_argument_near_to_none(self):
        """If none is similar, all settings are listed."""
        assert all(name in wrong(zzz=1).hint for name in FIELDS)

    def test_variable(self, monkeypatch):
        """An unknown variable is named as such, with the nearest one."""
        monkeypatch.setenv("WALLETFRAME_APIKEY", KEY)
        error = wrong()
        assert "'WALLETFRAME_APIKEY'" in str(error)
        assert error.hint == "did you mean WALLETFRAME_API_KEY?"
        assert KEY not in str(error)

    def test_other_variables_are_left_alone(self, monkeypatch):
        """Only variables with the prefix are read."""
        monkeypatch.setenv("WALLETFRAMES_X", "1")
        monkeypatch.setenv("MY_WALLETFRAME_X", "1")
        assert Settings() == Settings()

    def test_replace_and_client_too(self):
        """The typo fails in every function with settings."""
        for refused in (Settings().replace, Client):
            with pytest.raises(SettingsError, match=r"did you mean workers\?"):
                refused(worker=1)

    def test_keyword_only(self):
        """A positional value is a TypeError."""
        with pytest.raises(TypeError):
            Settings(KEY)


class TestReaders:
    """Readers of each setting."""

    def test_every_setting_is_tried(self):
        """The tables of this module have every setting."""
        assert set(FIELDS) <= WRONG.keys() == TEXTS.keys()

    @pytest.mark.parametrize("name, value", [(n, v) for n, vs in WRONG.items() for v in vs])
    def test_wrong_value(self, name, value):
        """A wrong value is named by its setting, with a hint."""
        error = wrong(**{name: value})
        assert is_about(error, name)
        assert error.hint

    @pytest.mark.parametrize(
        "name, text", [("workers", "two"), ("key_kind", "x"), ("base_url", "x")]
    )
    def test_wrong_variable(self, monkeypatch, name, text):
        """A wrong variable is named as the variable."""
        monkeypatch.setenv(PREFIX + name.upper(), text)
        assert is_about(wrong(), f"{PREFIX}{name.upper()}")

    @pytest.mark.parametrize("value", [f"{KEY}\n{KEY}", f"{KEY}\u202e", f"{KEY}\x00"])
    def test_a_wrong_key_is_not_shown(self, value):
        """An unreadable key is not repeated."""
        assert KEY not in str(wrong(api_key=value))

    @pytest.mark.parametrize(
        "url", [f"https://u:{KEY}@h", f"https://{KEY}@h", f"https://h?k={KEY}"]
    )
    def test_a_key_in_the_address_is_not_shown(self, url):
        """An address with a key in it is refused without repeating it."""
        assert KEY not in str(wrong(base_url=url))

    @pytest.mark.parametrize("url", ["https://exa mple", "https://a\u202eb", "https://h/a b"])
    def test_an_address_holds_no_space_or_invisible_character(self, url):
        """An impossible address is refused at once."""
        assert str(wrong(base_url=url)).startswith("base_url is not a valid base URL")

    @pytest.mark.parametrize(
        "argument, read",
        [
            (" https://H.Example/ ", "https://h.example"),
            ("https://h.example:443", "https://h.example"),
            ("https://h:8443/a/b//", "https://h:8443/a/b"),
            ("HTTPS://h/V1", "https://h/V1"),
            ("http://localhost:80/", "http://localhost"),
        ],
    )
    def test_one_address_one_spelling(self, argument, read):
        """Spellings of one address are one service."""
        assert Settings(base_url=argument).base_url == read
        assert Settings(base_url=argument).service == read

    @pytest.mark.parametrize("text", ["true", "True", "1", "yes", "ON", True])
    def test_true(self, text):
        """Every usual text of a flag is read."""
        assert Settings(stale_if_error=text).stale_if_error is True

    @pytest.mark.parametrize("text", ["false", "False", "0", "no", "OFF", False])
    def test_false(self, text):
        """Every usual text of a flag is read."""
        assert Settings(stale_if_error=text).stale_if_error is False


class TestHttps:
    """The key goes over https, unless it stays on this machine."""

    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "127.1.2.3", "LOCALHOST"])
    @pytest.mark.parametrize("port", ["", ":8080"])
    def test_loopback(self, host, port):
        """Every form of loopback may do without."""
        assert Settings(base_url=f"http://{host}{port}").endpoint == f"http://{host}{port}".lower()

    @pytest.mark.parametrize(
        "host",
        [
            "api.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil-localhost",
            "0.0.0.0",  # noqa: S104 - it is refused
            "10.0.0.1",
            "128.0.0.1",
            "127.1",
            "[::2]",
        ],
    )
    @pytest.mark.parametrize("name", ["base_url", "public_base_url"])
    def test_elsewhere(self, name, host):
        """Every other host needs https, at either address."""
        error = wrong(**{name: f"http://{host}/"})
        assert str(error).startswith(f"{name} uses http, which exposes the key")
        assert "https" in error.hint


class TestCache:
    """The cache setting."""

    def test_default(self):
        """The default is the file in the user's cache folder, named on first use."""
        assert Settings().cache is None

    @pytest.mark.parametrize("argument", ["answers.sqlite", Path("answers.sqlite")])
    def test_path(self, argument):
        """A path as text or Path."""
        assert Settings(cache=argument).cache == Path("answers.sqlite")

    def test_home(self):
        """A tilde is the user's home."""
        assert Settings(cache="~/answers.sqlite").cache == Path.home() / "answers.sqlite"

    def test_memory(self, monkeypatch):
        """The word memory is not a path."""
        monkeypatch.setenv("WALLETFRAME_CACHE", "memory")
        assert Settings().cache == "memory"

    @pytest.mark.parametrize("text", ["false", "False", "0", "no", "off"])
    def test_none_at_all(self, monkeypatch, text):
        """False, also as the environment writes it."""
        monkeypatch.setenv("WALLETFRAME_CACHE", text)
        assert Settings().cache is False
        assert Settings(cache=False).cache is False

    @pytest.mark.parametrize("text", ["true", "1", "yes"])
    def test_true_as_a_variable(self, monkeypatch, text):
        """True names no place, in the environment as in Python."""
        monkeypatch.setenv("WALLETFRAME_CACHE", text)
        assert str(wrong()).startswith(f"WALLETFRAME_CACHE is not valid: '{text}'")

    def test_backend(self):
        """A backend of requests-cache is used unchanged."""
        backend = BaseCache()
        assert Settings(cache=backend).cache is backend

    @pytest.mark.parametrize("argument", [5, 0, ["a"], object()])
    def test_anything_else(self, argument):
        """Any other value is refused, at the latest on first use."""
        with pytest.raises(SettingsError, match="cache"):
            Client(base_url=PRIVATE, cache=argument).fetch(f"ETH.{A}", offline=True)


class TestSecret:
    """The key is masked unless it is revealed by name."""

    @pytest.mark.parametrize(
        "show",
        [
            repr,
            str,
            "{}".format,
            lambda value: f"{value!s:>60} {value!r} {value!a}",
            lambda value: "%s %r" % (value, value),  # noqa: UP031 - as old code does
            lambda value: repr([value]),
        ],
    )
    def test_text(self, show):
        """No way to show settings, a client or the key shows the key."""
        for value in (secret(), secret().api_key, Client(secret())):
            assert KEY not in show(value)
            assert "hidden" in show(value)

    def test_asdict(self):
        """The key stays masked as a dict or a tuple, and is still there."""
        settings = secret()
        assert KEY not in repr(dataclasses.asdict(settings))
        assert KEY not in repr(dataclasses.astuple(settings))
        assert dataclasses.asdict(settings)["api_key"].reveal() == KEY

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle_leaves_it_out(self, protocol):
        """A pickle holds everything but the key."""
        pickled = pickle.dumps(secret(workers=3), protocol)
        result = pickle.loads(pickled)
        assert KEY.encode() not in pickled
        assert not result.api_key
        assert (result.workers, result.base_url) == (3, PRIVATE)
        assert "<API key, empty>" in repr(result)

    def test_unpickled_needs_a_key(self):
        """Pickled settings need their key again before a request."""
        result = pickle.loads(pickle.dumps(secret()))
        with pytest.raises(SettingsError, match="api_key is not set"):
            endpoint_and_key(result)

    def test_unpickled_can_be_used(self):
        """Unpickled settings make a client, and can get the key again."""
        result = pickle.loads(pickle.dumps(secret()))
        assert Client(result, api_key="again").settings.api_key.reveal() == "again"
        assert Client(result).settings == result.replace() == result

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
    def test_copies_keep_it(self, again):
        """A copy within the process is equal, key included."""
        assert again(secret()) == secret()
        assert again(secret()).api_key.reveal() == KEY

    def test_equality_and_hash(self):
        """Keys are compared by value, never with text."""
        assert ApiKey(KEY) == ApiKey(KEY) != ApiKey("other")
        assert hash(ApiKey(KEY)) == hash(ApiKey(KEY))
        assert ApiKey(KEY) != KEY
        assert secret() != secret().replace(api_key="other")

    def test_truth(self):
        """An empty key is none."""
        assert ApiKey(KEY)
        assert not ApiKey("")


class TestKeyKind:
    """Keys and their addresses."""

    @pytest.mark.parametrize(
        "kind, endpoint",
        [("public", PUBLIC), ("private", PRIVATE), ("test", PRIVATE), (None, None)],
    )
    def test_both_addresses(self, kind, endpoint):
        """The kind decides; without one it stays open."""
        result = Settings(key_kind=kind, base_url=PRIVATE, public_base_url=PUBLIC)
        assert result.endpoint == endpoint

    @pytest.mark.parametrize("kind, endpoint", [("private", PRIVATE), ("test", PRIVATE)])
    def test_private_address_only(self, kind, endpoint):
        """A private key and a test key have their address."""
        assert Settings(key_kind=kind, base_url=PRIVATE).endpoint == endpoint

    @pytest.mark.parametrize("kind, endpoint", [("public", PUBLIC), ("test", PUBLIC)])
    def test_public_address_only(self, kind, endpoint):
        """A public key and a test key have their address."""
        assert Settings(key_kind=kind, public_base_url=PUBLIC).endpoint == endpoint

    @pytest.mark.parametrize(
        "kind, other, needed",
        [("public", "base_url", "public_base_url"), ("private", "public_base_url", "base_url")],
    )
    def test_mismatch(self, kind, other, needed):
        """A key without its own address is an error at once, though the other is set."""
        error = wrong(api_key=KEY, key_kind=kind, **{other: PRIVATE})
        assert str(error).startswith(f"key_kind is {kind!r}, but {needed} is not set")
        assert needed in error.hint

    @pytest.mark.parametrize("kind", ["public", "private", "test"])
    def test_no_address_yet(self, kind):
        """Settings may lack an address, which is reported on first use."""
        settings = Settings(api_key=KEY, key_kind=kind)
        needed = "public_base_url" if kind == "public" else "base_url"
        with pytest.raises(SettingsError, match=f"^{needed} is not set"):
            endpoint_and_key(settings)

    def test_everything_missing(self):
        """All missing settings are named together, with the variables and the sandbox."""
        with pytest.raises(
            SettingsError, match="api_key, key_kind, base_url are not set"
        ) as caught:
            endpoint_and_key(Settings())
        for name in ("API_KEY", "KEY_KIND", "BASE_URL"):
            assert f"WALLETFRAME_{name}" in caught.value.hint
        assert "walletframe.sandbox()" in caught.value.hint

    def test_nothing_missing(self):
        """The address comes with the key that belongs to it."""
        assert endpoint_and_key(secret()) == (PRIVATE, ApiKey(KEY))


class TestService:
    """The name under which answers are cached."""

    def test_after_the_address(self):
        """By default it is the key's address."""
        assert secret().service == PRIVATE
        both = Settings(key_kind="public", base_url=PRIVATE, public_base_url=PUBLIC)
        assert both.service == PUBLIC

    def test_named(self):
        """A name is kept with any address."""
        assert secret(service=" mine ").service == "mine"

    def test_neither(self):
        """Without name and address no answers can be found."""
        with pytest.raises(SettingsError, match=r"^base_url is not set") as caught:
            require_service(Settings())
        assert "walletframe.sandbox()" in caught.value.hint
        assert require_service(Settings(service="mine")) == "mine"


class TestReplace:
    """Settings with some changes."""

    def test_the_rest_stays(self):
        """Only the named settings change, in a new value."""
        before = secret(workers=3, cache=False)
        after = before.replace(workers=4)
        assert (after.workers, before.workers) == (4, 3)
        assert after.replace(workers=3) == before

    def test_is_checked(self):
        """A wrong value, or a key without its address, is refused as always."""
        for override in ({"workers": 0}, {"key_kind": "public"}):
            with pytest.raises(SettingsError):
                secret().replace(**override)

    def test_service_follows_the_address(self):
        """A service that was named after the address follows it; a name of its own stays."""
        assert secret().replace(base_url=PUBLIC).service == PUBLIC
        assert secret(service="mine").replace(base_url=PUBLIC).service == "mine"

    def test_is_unaffected_by_later_environments(self, monkeypatch):
        """Missing settings are not filled in later."""
        before = secret()
        monkeypatch.setenv("WALLETFRAME_CACHE", "memory")
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        monkeypatch.setenv("WALLETFRAME_SERVICE", "named later")
        assert before.replace(timeout_s=60) == before

    def test_frozen(self):
        """Settings can't be changed in place."""
        with pytest.raises(AttributeError):
            secret().workers = 1
